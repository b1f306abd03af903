/* The JSON reader: every field kind, every class of error with its exact place. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

struct inner {
	uint64_t n;
	char *name;
};

struct sample {
	char *s, *raw;
	bool flag;
	uint64_t u, size, ns, money;
	double d;
	struct strv list, env;
	int choice, custom;
	struct inner in;
	struct json_array arr, nums;
};

static int parse_custom(const struct json_src *src, const char *where, const cJSON *item,
			void *field, struct err *err)
{
	if (!cJSON_IsNumber(item))
		return json_complain(src, where, err, "custom wants a number");
	*(int *)field = item->valueint * 2;
	return 0;
}

static const char *const choices[] = { "files", "full", "off", NULL };

#define AT(field) offsetof(struct sample, field)
/* clang-format off */
static const struct json_field inner_rows[] = {
	{ "n",    JSON_U64, offsetof(struct inner, n), .required = true, .doc = "a count" },
	{ "name", JSON_STR, offsetof(struct inner, name) },
	{ NULL },
};

static const struct json_field rows[] = {
	{ "s",      JSON_STR,      AT(s) },
	{ "raw",    JSON_RAW,      AT(raw) },
	{ "flag",   JSON_BOOL,     AT(flag) },
	{ "u",      JSON_U64,      AT(u) },
	{ "size",   JSON_SIZE,     AT(size) },
	{ "ns",     JSON_DURATION, AT(ns) },
	{ "money",  JSON_MONEY,    AT(money) },
	{ "d",      JSON_DOUBLE,   AT(d) },
	{ "list",   JSON_STRV,     AT(list) },
	{ "env",    JSON_ENV,      AT(env) },
	{ "enum",   JSON_ENUM,     AT(choice), .choices = choices },
	{ "custom", JSON_CUSTOM,   AT(custom), .parse = parse_custom },
	{ "in",     JSON_OBJECT,   AT(in), .rows = inner_rows },
	{ "arr",    JSON_ARRAY,    AT(arr), .rows = inner_rows, .size = sizeof(struct inner) },
	{ "nums",   JSON_U64V,     AT(nums) },
	{ NULL },
};
/* clang-format on */

/* Texts of errors: where and what, word for word. */
static const struct {
	const char *text, *want;
} errors[] = {
	/* syntax, with line and column */
	{ "", "f:1:1: not valid JSON from here on" },
	{ "{", "f:1:2: not valid JSON from here on" },
	{ "{\n  \"s\": ,\n}", "f:2:8: not valid JSON from here on" },
	{ "{} x", "f:1:4: not valid JSON from here on" },
	{ "{\"s\": 'x'}", "f:1:7: not valid JSON from here on" },
	{ "/* never closed {", "f:1:18: not valid JSON from here on" },
	{ "{\"s\": \"\xff\"}", "f:1:8: this byte is not UTF-8; save the file as UTF-8" },
	{ "{\n\"s\": \"a\\u0000b\"}", "f:2:6: \\u0000 is not allowed in a string" },
	/* keys */
	{ "{\"flags\": true}", "f: $: unknown key \"flags\", did you mean \"flag\"?" },
	{ "{\"zzzzzzzz\": 1}", "f: $: unknown key \"zzzzzzzz\"" },
	{ "{\"u\": 1, \"u\": 2}", "f: $.u: key given twice" },
	{ "{\"schema\": 1, \"schema\": 1}", "f: $.schema: key given twice" },
	{ "{\"in\": {\"n\": 1, \"schema\": \"x\"}}", "f: $.in: unknown key \"schema\"" },
	{ "{\"in\": {\"n\": 1, \"n\": 1}}", "f: $.in.n: key given twice" },
	{ "{\"in\": {\"name\": \"x\"}}", "f: $.in: \"n\" is missing: a count" },
	{ "{\"env\": {\"A\": \"1\", \"A\": \"2\"}}", "f: $.env.A: key given twice" },
	/* types */
	{ "{\"s\": 1}", "f: $.s: expected a string" },
	{ "{\"flag\": \"true\"}", "f: $.flag: expected true or false" },
	{ "{\"u\": \"1\"}", "f: $.u: expected a whole number, 0 or more" },
	{ "{\"u\": -1}", "f: $.u: expected a whole number, 0 or more" },
	{ "{\"u\": 1.5}", "f: $.u: expected a whole number, 0 or more" },
	{ "{\"u\": 1e300}", "f: $.u: expected a whole number, 0 or more" },
	{ "{\"size\": \"4X\"}", "f: $.size: expected a size such as \"4G\" or a number of bytes" },
	{ "{\"size\": null}", "f: $.size: expected a size such as \"4G\" or a number of bytes" },
	{ "{\"ns\": \"soon\"}",
	  "f: $.ns: expected a duration such as \"30s\" or a number of seconds" },
	{ "{\"ns\": 1e15}", "f: $.ns: expected a duration such as \"30s\" or a number of seconds" },
	{ "{\"money\": \"$3\"}", "f: $.money: expected an amount such as \"3.00\"" },
	{ "{\"money\": -1}", "f: $.money: expected an amount such as \"3.00\"" },
	{ "{\"d\": \"x\"}", "f: $.d: expected a number" },
	{ "{\"list\": \"a\"}", "f: $.list: expected an array of strings" },
	{ "{\"list\": [\"a\", 1]}", "f: $.list: expected an array of strings" },
	{ "{\"env\": []}", "f: $.env: expected an object of strings" },
	{ "{\"env\": {\"A=B\": \"x\"}}",
	  "f: $.env: \"A=B\" must be a name without \"=\" with a string value" },
	{ "{\"env\": {\"\": \"x\"}}",
	  "f: $.env: \"\" must be a name without \"=\" with a string value" },
	{ "{\"enum\": \"fils\"}",
	  "f: $.enum: unknown value \"fils\", did you mean \"files\"?; choose "
	  "one of: files, full, off" },
	{ "{\"enum\": \"zzzzzzzzz\"}",
	  "f: $.enum: unknown value \"zzzzzzzzz\"; choose one of: files, full, off" },
	{ "{\"enum\": 1}", "f: $.enum: expected a string" },
	{ "{\"custom\": \"x\"}", "f: $.custom: custom wants a number" },
	{ "{\"in\": []}", "f: $.in: expected an object" },
	{ "{\"arr\": {}}", "f: $.arr: expected an array of objects" },
	{ "{\"arr\": [{\"n\": 1}, 2]}", "f: $.arr[1]: expected an object" },
	{ "{\"arr\": [{\"n\": 1}, {\"n\": 1, \"name\": 2}]}",
	  "f: $.arr[1].name: expected a string" },
	{ "{\"arr\": [{\"name\": \"x\"}]}", "f: $.arr[0]: \"n\" is missing: a count" },
	{ "{\"nums\": [1, -2]}", "f: $.nums[1]: expected a whole number, 0 or more" },
	{ "{\"nums\": 1}", "f: $.nums: expected an array of whole numbers" },
};

static int parse_and_read(const char *text, size_t n, struct sample *out, struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_parse("f", text, n, &src, err);

	if (rc == 0)
		rc = json_read(&src, "$", src.root, rows, out, err);
	json_src_done(&src);
	return rc;
}

static void wrong_files(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct sample out = { 0 };
		struct err err = { 0 };
		int rc = parse_and_read(errors[i].text, strlen(errors[i].text), &out, &err);

		if (rc != -ERR_INPUT)
			tap_ok(false, "row %zu is refused: %s", i, errors[i].want);
		else
			tap_is_str(err.text, errors[i].want, errors[i].want);
		json_release(rows, &out);
	}
}

static const char full[] =
	"// a comment\n"
	"{ \"schema\": \"proctor.test/1\", /* another { */\n"
	"  \"s\": \"a // b /* c */\", \"raw\": {\"k\": [1, null]}, \"flag\": true,\n"
	"  \"u\": 9007199254740992, \"size\": \"4G\", \"ns\": \"10m\", \"money\": 0.25,\n"
	"  \"d\": -0.5, \"list\": [\"x\", \"\"], \"env\": {\"B\": \"2\", \"A\": \"1=1\"},\n"
	"  \"enum\": \"full\", \"custom\": 21, \"in\": {\"n\": 3, \"name\": \"z\"},\n"
	"  \"arr\": [{\"n\": 1}, {\"n\": 2, \"name\": \"y\"}], \"nums\": [5, 6] }\n";

static void right_file(void)
{
	static const char second[] = "{\"s\":\"new\",\"arr\":[],\"list\":[\"q\"]}";
	struct sample out = { 0 };
	struct err err = { 0 };

	tap_ok(parse_and_read(full, strlen(full), &out, &err) == 0, "every kind %s", err.text);
	tap_is_str(out.s, "a // b /* c */", "comments inside strings stay");
	tap_is_str(out.raw, "{\"k\":[1,null]}", "raw");
	tap_ok(out.flag && out.u == 1ull << 53 && out.size == 4ull << 30, "bool, number, size");
	tap_ok(out.ns == 600000000000ull && out.money == 250000 && out.d < -0.4,
	       "time, money, double");
	tap_ok(out.list.n == 2 && str_eq(out.list.v[0], "x") && str_eq(out.list.v[1], ""), "list");
	tap_ok(out.env.n == 2 && str_eq(out.env.v[0], "B=2") && str_eq(out.env.v[1], "A=1=1"),
	       "environment in file order");
	tap_ok(out.choice == 1 && out.custom == 42 && out.in.n == 3, "enum, custom, object");
	tap_ok(out.arr.n == 2 && str_eq(((struct inner *)out.arr.v)[1].name, "y") &&
		       ((uint64_t *)out.nums.v)[1] == 6,
	       "arrays");
	/* One file over another: what it does not name stays. */
	tap_ok(parse_and_read(second, strlen(second), &out, &err) == 0,
	       "a second file over the first %s", err.text);
	tap_ok(str_eq(out.s, "new") && out.arr.n == 0 && out.list.n == 1 && out.u == 1ull << 53,
	       "named fields are replaced, others stay");
	tap_ok(parse_and_read("{\"s\":null}", 10, &out, &err) == 0 && str_eq(out.s, "new"),
	       "null leaves a string alone");
	json_release(rows, &out);
	tap_ok(!out.s && !out.arr.v && !out.list.v, "release empties");
}

static void depth(void)
{
	char text[300] = { 0 };
	struct json_src src = { 0 };
	struct err err = { 0 };

	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	tap_ok(json_parse("f", text, strlen(text), &src, &err) == 0, "64 levels are allowed");
	json_src_done(&src);
	memset(text, '[', JSON_DEPTH_MAX + 1);
	tap_ok(json_parse("f", text, strlen(text), &src, &err) < 0, "65 are not");
	tap_is_str(err.text, "f:1:65: nested deeper than 64 levels", "with their place");
	tap_ok(json_parse("f", "{\"a\":\0}", 7, &src, &err) < 0, "a NUL byte is refused");
	tap_is_str(err.text, "f:1:6: NUL byte in a text file", "with its place");
}

static void schema(void)
{
	static const char *const wrong[][2] = {
		{ "[]", "f: $: expected an object with \"schema\": \"proctor.task/1\"" },
		{ "{}", "f: $: \"schema\" is missing; write \"schema\": \"proctor.task/1\"" },
		{ "{\"schema\": 1}", "f: $.schema: expected \"proctor.task/1\", found no string" },
		{ "{\"schema\": \"proctor.task/2\"}",
		  "f: $.schema: expected \"proctor.task/1\", found proctor.task/2" },
	};
	struct json_src src = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		json_parse("f", wrong[i][0], strlen(wrong[i][0]), &src, &err);
		tap_ok(json_check_schema(&src, "task", &err) == -ERR_INPUT, "schema row %zu", i);
		tap_is_str(err.text, wrong[i][1], "its text");
		json_src_done(&src);
	}
	json_parse("f", "{\"schema\":\"proctor.task/1\"}", 27, &src, &err);
	tap_ok(json_check_schema(&src, "task", &err) == 0, "the right schema");
	json_src_done(&src);
}

static void files(void)
{
	char name[] = "/tmp/proctor-json-XXXXXX";
	struct json_src src = { 0 };
	struct err err = { 0 };
	auto_fd int fd = mkstemp(name);

	tap_ok(fd >= 0 && write(fd, "{\"u\":1}", 7) == 7, "a file");
	tap_ok(json_load(name, &src, &err) == 0 && str_eq(src.name, name), "is read by name");
	json_src_done(&src);
	tap_ok(ftruncate(fd, JSON_FILE_MAX + 1) == 0 && json_load(name, &src, &err) == -ERR_INPUT,
	       "a file beyond 4 MiB is refused: %s", err.text);
	tap_ok(strstr(err.text, name) && strstr(err.text, "4194304"), "with name and limit");
	unlink(name);
	tap_ok(json_load(name, &src, &err) == -ERR_INPUT, "a missing file is bad input");
	tap_ok(json_load("/", &src, &err) == -ERR_INPUT, "a directory is bad input: %s", err.text);
	json_src_done(&src);
}

int main(void)
{
	wrong_files();
	right_file();
	depth();
	schema();
	files();
	return tap_done();
}
