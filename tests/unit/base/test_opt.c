/* Options as rows: parsing, errors, and the three texts made from the same rows. */
#include "base/opt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

struct options {
	bool quiet;
	const char *task;
	struct strv set;
	uint64_t jobs;
	int format;
};

static const char *const formats[] = { "text", "json", NULL };

/* clang-format off */
static const struct opt_row rows[] = {
	{ 'q', "quiet",  OPT_FLAG, offsetof(struct options, quiet),  NULL,  "say less" },
	{ 't', "task",   OPT_STR,  offsetof(struct options, task),   "FILE", "the task" },
	{ 0,   "set",    OPT_LIST, offsetof(struct options, set),    "KEY=VALUE", "override" },
	{ 'j', "jobs",   OPT_U64,  offsetof(struct options, jobs),   "N",   "how many" },
	{ 0,   "format", OPT_ENUM, offsetof(struct options, format), "FORM", "output form", formats },
	{ 0, NULL },
};
/* clang-format on */

static const struct opt_cmd plain = {
	.name = "demo",
	.summary = "show - a thing",
	.synopsis = "[options] FILE...",
	.text = ".starts with a dot\n'and a quote\nback\\slash\n",
	.rows = rows,
};

static const struct opt_cmd wrapper = {
	.name = "wrap",
	.summary = "w",
	.synopsis = "x",
	.rows = rows,
	.rest_is_command = true,
};

static int parse(const struct opt_cmd *cmd, const char *line, struct options *out,
		 struct strv *rest, struct err *err)
{
	auto_free char *copy = mem_strdup(line);
	char *argv[20] = { NULL }, *save = NULL;
	int argc = 0;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = mem_strdup(w);
	*out = (struct options){ 0 };
	strv_done(rest);
	/* Words outlive the call, as argv does; OPT_STR borrows them. */
	static char *kept[20];
	for (int i = 0; i < 20; i++) {
		free(kept[i]);
		kept[i] = argv[i];
	}
	return opt_parse(cmd, argc, argv, out, rest, err);
}

static void good_lines(void)
{
	auto_strv rest = { 0 };
	struct options o;
	struct err err = { 0 };

	tap_ok(parse(&plain, "demo -q --task a.json --set x=1 --set=y=2 -j4 --format json f g", &o,
		     &rest, &err) == 0,
	       "all kinds %s", err.text);
	tap_ok(o.quiet && o.jobs == 4 && o.format == 1, "flag, number, choice");
	tap_is_str(o.task, "a.json", "string");
	tap_ok(o.set.n == 2 && str_eq(o.set.v[0], "x=1") && str_eq(o.set.v[1], "y=2"), "list");
	tap_ok(rest.n == 2 && str_eq(rest.v[1], "g"), "operands");
	strv_done(&o.set);
	tap_ok(parse(&plain, "demo f -q -", &o, &rest, &err) == 0 && o.quiet && rest.n == 2 &&
		       str_eq(rest.v[1], "-"),
	       "options may follow operands; a lone dash is one");
	tap_ok(parse(&plain, "demo -- -q", &o, &rest, &err) == 0 && !o.quiet && rest.n == 1,
	       "-- ends options");
	tap_ok(parse(&wrapper, "wrap -q sh -c -q", &o, &rest, &err) == 0 && o.quiet &&
		       rest.n == 3 && str_eq(rest.v[2], "-q"),
	       "a command behind the options is left alone");
	tap_ok(parse(&wrapper, "wrap -- -odd --help", &o, &rest, &err) == 0 && rest.n == 2,
	       "also behind --");
	tap_ok(parse(&plain, "demo --help", &o, &rest, &err) == 1, "--help");
	tap_ok(parse(&plain, "demo -h", &o, &rest, &err) == 1, "-h");
	tap_ok(parse(&plain, "demo", &o, &rest, &err) == 0 && rest.n == 0, "nothing");
}

static void bad_lines(void)
{
	static const char *const table[][2] = {
		{ "demo --taks x",
		  "demo: unknown option --taks, did you mean --task?; see 'proctor demo --help'" },
		{ "demo -z", "demo: unknown option -z; see 'proctor demo --help'" },
		{ "demo --zzzzzzzz=1",
		  "demo: unknown option --zzzzzzzz=1; see 'proctor demo --help'" },
		{ "demo --task", "demo: --task needs a value: FILE" },
		{ "demo -t", "demo: --task needs a value: FILE" },
		{ "demo --quiet=yes", "demo: --quiet takes no value" },
		{ "demo --jobs many", "demo: --jobs: \"many\" is not a whole number" },
		{ "demo --jobs -1", "demo: --jobs: \"-1\" is not a whole number" },
		{ "demo --format xml",
		  "demo: --format: unknown value \"xml\"; choose one of: text, json" },
		{ "demo --tas x",
		  "demo: unknown option --tas, did you mean --task?; see 'proctor demo "
		  "--help'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		auto_strv rest = { 0 };
		struct options o;
		struct err err = { 0 };

		tap_ok(parse(&plain, table[i][0], &o, &rest, &err) == -ERR_USAGE, "%s",
		       table[i][0]);
		tap_is_str(err.text, table[i][1], "its text");
	}
}

static void texts(void)
{
	const struct opt_cmd *const all[] = { &plain, &wrapper, NULL };
	auto_buf help = BUF_INIT(65536), man = BUF_INIT(65536), comp = BUF_INIT(65536);

	opt_help(&plain, &help);
	opt_man(&plain, "1.2", &man);
	opt_completion(all, &comp);
	for (const struct opt_row *r = rows; r->name; r++) {
		auto_free char *h = mem_printf("--%s", r->name);
		auto_free char *m = mem_printf("\\fB\\-\\-%s\\fR", r->name);
		auto_free char *c = mem_printf("--%s ", r->name);

		tap_ok(strstr(buf_str(&help), h) && strstr(buf_str(&man), m) &&
			       strstr(buf_str(&comp), c),
		       "%s is in help, manual and completion", h);
	}
	tap_ok(strstr(buf_str(&help), "(text, json)") && strstr(buf_str(&man), "(text, json)"),
	       "choices are named");
	tap_ok(strstr(buf_str(&man), "\n\\&.starts") && strstr(buf_str(&man), "\n\\&'and") &&
		       strstr(buf_str(&man), "back\\eslash"),
	       "text cannot become a roff request");
	tap_ok(strstr(buf_str(&man), "show \\- a thing"), "dashes are dashes");
}

int main(void)
{
	good_lines();
	bad_lines();
	texts();
	return tap_done();
}
