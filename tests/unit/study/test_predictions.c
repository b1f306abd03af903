/* Predictions: the forms, bytes that are kept, records that are refused, what comes back. */
#include "study/predictions.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static int parse(const char *text, struct predictions *p, struct err *err)
{
	*p = (struct predictions){ .v = NULL };
	*err = (struct err){ .code = ERR_NONE };
	return predictions_parse("f", text, strlen(text), p, err);
}

static void form_is(const char *text, const char *form, size_t n, const char *id, const char *model,
		    const char *patch)
{
	struct predictions p, again;
	struct err err;
	auto_buf out = BUF_INIT(1u << 20);

	tap_ok(parse(text, &p, &err) == 0, "%s: %.60s %s", form, text, err.text);
	tap_is_str(p.form, form, "its form");
	tap_is_u64(p.n, n, "how many");
	if (p.n) {
		tap_is_str(p.v[0].instance_id, id, "instance");
		tap_is_str(p.v[0].model, model, "model");
		tap_is_str(p.v[0].patch, patch, "patch");
	}
	predictions_jsonl(&p, &out);
	tap_ok(parse(buf_str(&out), &again, &err) == 0 && again.n == p.n, "written and read again");
	for (size_t i = 0; i < again.n && i < p.n; i++) {
		tap_is_str(again.v[i].patch, p.v[i].patch, "the same patch");
		tap_is_str(again.v[i].model, p.v[i].model, "the same model");
		tap_is_str(again.v[i].rest, p.v[i].rest, "the same rest");
	}
	predictions_done(&again);
	predictions_done(&p);
}

static void test_forms(void)
{
	form_is("{\"instance_id\":\"a__b-1\",\"model_name_or_path\":\"m\",\"model_patch\":\"x\"}\n"
		"\n{\"instance_id\":\"a__b-2\",\"model_name_or_path\":\"m\",\"model_patch\":null}",
		"jsonl", 2, "a__b-1", "m", "x");
	form_is("{\"instance_id\":\"a\",\"model_patch\":null}", "jsonl", 1, "a", NULL, NULL);
	form_is("{\"instance_id\":\"a\",\"model_patch\":\"\"}", "jsonl", 1, "a", NULL, "");
	form_is("{\"instance_id\":\"a\"}", "jsonl", 1, "a", NULL, NULL);
	form_is("{\"instance_id\":\"a\",\"model_patch\":\"l1\\r\\nl2\"}", "jsonl", 1, "a", NULL,
		"l1\r\nl2");
	form_is("{\"instance_id\":\"a\",\"model_patch\":\"\xff\\udcfe\\n\"}", "jsonl", 1, "a", NULL,
		"\xff\xfe\n");
	form_is("[{\"instance_id\":\"a\",\"model_name_or_path\":\"m\",\"model_patch\":\"x\"}]",
		"list", 1, "a", "m", "x");
	form_is("{\"a\":{\"model_name_or_path\":\"m\",\"model_patch\":\"x\"},"
		"\"b\":{\"instance_id\":\"b\",\"model_patch\":\"y\"}}",
		"map", 2, "a", "m", "x");
	form_is("{\"instance_id\":{\"model_patch\":\"x\"}}", "map", 1, "instance_id", NULL, "x");
	form_is("{\"org\":\"ac-me\",\"repo\":\"c_a__lc\",\"number\":12,\"fix_patch\":\"x\"}",
		"multi-swe-bench", 1, "ac-me__c_a__lc-12", NULL, "x");
	form_is("[{\"instance_id\":\"a\",\"patch\":\"x\",\"prefix\":\"p\"}]", "pro", 1, "a", "p",
		"x");
	form_is("[{\"instance_id\":\"a\",\"model_patch\":\"x\",\"prefix\":\"p\",\"patch\":\"reference\"}]",
		"pro", 1, "a", "p", "x");
}

static void test_rest(void)
{
	struct predictions p;
	struct err err;

	tap_ok(parse("[{\"cost\": 0.10, \"instance_id\":\"a\",\"info\":\n{\"k\":[1,\n2]},\"patch\":\"ref\","
		     "\"model_patch\":\"x\"}]",
		     &p, &err) == 0,
	       "other fields");
	tap_is_str(p.v[0].rest, "{\"cost\": 0.10, \"info\": {\"k\":[1, 2]}, \"patch\": \"ref\"}",
		   "are kept, in one line");
	predictions_done(&p);
	tap_ok(parse("{\"org\":\"o\",\"repo\":\"r\",\"number\":\"7\",\"fix_patch\":\"x\"}", &p,
		     &err) == 0,
	       "a number in a string");
	tap_is_str(p.v[0].instance_id, "o__r-7", "its name");
	tap_is_str(p.v[0].rest, "{\"org\": \"o\", \"repo\": \"r\", \"number\": \"7\"}",
		   "its parts are kept");
	predictions_done(&p);
}

/* What looks like a mistake and is none. */
static void test_no_mistakes(void)
{
	static const char *const texts[] = {
		"{\"instance_id\":\"a\",\"model_patch\":\"x\",\"patch\":\"r\",\"test_patch\":\"y\"}",
		"{\"instance_id\":\"a\",\"prefix\":\"m\",\"patch\":\"x\",\"test_patch\":\"y\"}",
		"{\"instance_id\":\"a\",\"model_patch\":\"x\",\"model_patchs\":\"y\"}",
		"{\"instance_id\":\"a\",\"path\":\"x\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct predictions p;
		struct err err;

		tap_ok(parse(texts[i], &p, &err) == 0, "taken: %s %s", texts[i], err.text);
		predictions_done(&p);
	}
}

static void refused(const char *text, const char *want)
{
	struct predictions p;
	struct err err;

	tap_ok(parse(text, &p, &err) == -ERR_INPUT, "refused: %.70s", text);
	tap_is_str(err.text, want, "where and why");
	predictions_done(&p);
}

static void test_refusals(void)
{
	auto_free char *model = mem_printf("[{\"instance_id\":\"a\",\"prefix\":\"%01001d\"}]", 0);

	refused(model, "f: entry 1: a model's name of more than 1000 bytes");
	refused("{\"instance_id\":\"a\",\"patch\":\"x\",\"test_patch\":\"y\"}",
		"f: line 1: a row of the benchmark, not a prediction: it has \"test_patch\" and no "
		"\"model_patch\"; make a task of it with proctor import, and give the file that the "
		"agent's patches are in");
	refused("{\"instance_id\":\"a\",\"model_ptch\":\"x\"}",
		"f: line 1: unknown key \"model_ptch\" and no patch, did you mean \"model_patch\"?");
	refused("", "f: no prediction in it");
	refused("[]", "f: no prediction in it");
	refused("7", "f: predictions are JSON Lines, a list, or a map by instance_id");
	refused("[1]", "f: entry 1: expected an object with \"instance_id\"");
	refused("{\"a\":\"diff\"}", "f: entry 1: expected an object with \"instance_id\"");
	refused("[{\"model_patch\":\"x\"}]",
		"f: entry 1: \"instance_id\" is missing (or \"org\", \"repo\" and \"number\")");
	refused("{\"instance_id\":\"a\",\"model_patch\":\"x\"}\n\n{\"instance_id\":\"b\",\"model_patch\":7}",
		"f: line 3: \"model_patch\" is no text: it must be a string without NUL bytes, or null");
	refused("{\"instance_id\":\"a\",\"model_patch\":\"x\\u0000\"}",
		"f: line 1: \"model_patch\" is no text: it must be a string without NUL bytes, or null");
	refused("{\"instance_id\":\"../a\",\"model_patch\":\"x\"}",
		"f: line 1: \"instance_id\" is not a name: use 1 to 200 of A-Z a-z 0-9 . _ -, no dot in front");
	refused("{\"a\":{\"instance_id\":\"b\"}}",
		"f: entry 1: \"instance_id\" is not the key it stands under");
	refused("{\"instance_id\":\"a\"}\n{\"org\":\"o\",\"repo\":\"r\",\"number\":1}",
		"f: line 2: a record of another form than those before it");
	refused("{\"org\":\"o\",\"repo\":\"r\",\"number\":1.5}",
		"f: line 1: \"org\" and \"repo\" must be strings and \"number\" a number");
	refused("{\"instance_id\":\"a\",\"model_name_or_path\":\"m\"}\n"
		"{\"instance_id\":\"b\"}\n{\"instance_id\":\"a\",\"model_name_or_path\":\"m\"}",
		"f: line 3: a prediction for a by m stands in line 1 already");
	refused("[{\"instance_id\":\"a\"},{\"instance_id\":\"a\"}]",
		"f: entry 2: a prediction for a stands in entry 1 already");
	refused("{\"instance_id\":\"a\",\"instance_id\":\"b\"}",
		"f: line 1: key \"instance_id\" given twice");
	refused("[{\"instance_id\":\"a\"}]\n{}", "f:2: expected nothing behind the list or map");
	refused("{\"instance_id\":\"a\"}\n{\"instance_id\":\"b",
		"f:2:16: this string does not end: the text is cut off");
}

static void test_two_models(void)
{
	struct predictions p;
	struct err err;

	tap_ok(parse("{\"instance_id\":\"a\",\"model_name_or_path\":\"m\"}\n"
		     "{\"instance_id\":\"a\",\"model_name_or_path\":\"n\"}",
		     &p, &err) == 0,
	       "one instance by two models");
	tap_is_u64(p.v[1].line, 2, "line of the second");
	predictions_done(&p);
	tap_ok(predictions_load("/nonexistent", &p, &err) == -ERR_INPUT,
	       "a file that is not there");
}

int main(void)
{
	test_forms();
	test_rest();
	test_no_mistakes();
	test_refusals();
	test_two_models();
	return tap_done();
}
