/* Harbor's reward files: what decides, what is no result. */
#include "tests/unit/verifier/readers.h"

static const struct row {
	const char *name, *txt, *json, *ctrf; /* NULL = not there */
	int status;
	const char *key, *want;
	unsigned leftovers;
} rows[] = {
	/* clang-format off */
	{ "one", "1\n", NULL, NULL, 0, NULL, "reward=passed\n", 0 },
	{ "one with a fraction", " 1.0 \r\n", NULL, NULL, 0, NULL, "reward=passed\n", 0 },
	{ "more than one", "2e0", NULL, NULL, 0, NULL, "reward=passed\n", 0 },
	{ "zero", "0", NULL, NULL, 0, NULL, "reward=failed\n", 0 },
	{ "zero and a status", "0", NULL, NULL, 1, NULL, "reward=failed\n", 0 },
	{ "nearly", "0.999", NULL, NULL, 0, NULL, "reward=failed\n", 0 },
	{ "minus one is no zero", "-1", NULL, NULL, 0, NULL, "reward=error\n! the reward is negative: the test script says that it crashed\n", 0 },
	{ "nothing", NULL, NULL, NULL, 0, NULL, "! the test script wrote neither reward.txt nor reward.json\n", 0 },
	{ "empty", "", NULL, NULL, 0, NULL, "! reward.txt is empty\n", 0 },
	{ "words", "1 passed", NULL, NULL, 0, NULL, "! reward.txt is no number\n", 0 },
	{ "two lines", "0\n1\n", NULL, NULL, 0, NULL, "! reward.txt is no number\n", 0 },
	{ "not a number", "nan", NULL, NULL, 0, NULL, "! reward.txt is no number\n", 0 },
	{ "infinity", "1e999", NULL, NULL, 0, NULL, "! reward.txt is no number\n", 0 },
	{ "hex", "0x1", NULL, NULL, 0, NULL, "! reward.txt is no number\n", 0 },
	{ "one, but the script failed", "1", NULL, NULL, 1, NULL, "reward=passed\n! the reward is 1, but the test script ended with status 1\n", 0 },
	{ "one, but somebody was left", "1", NULL, NULL, 0, NULL,
	  "reward=passed\n! the reward is 1, but 2 processes outlived the test script: it could be theirs (test.leftovers allows them)\n", 2 },
	{ "zero, and somebody was left", "0", NULL, NULL, 0, NULL, "reward=failed\n", 2 },
	{ "an object", NULL, "{\"reward\": 1.0, \"speed\": 0}", NULL, 0, NULL, "reward=passed\n", 0 },
	{ "another key", NULL, "{\"reward\": 0, \"speed\": 1}", NULL, 0, "speed", "reward=passed\n", 0 },
	{ "the only number", NULL, "{\"score\": 1, \"why\": \"x\"}", NULL, 0, NULL, "reward=passed\n", 0 },
	{ "no such number", NULL, "{\"a\": 1, \"b\": 1}", NULL, 0, NULL, "! reward.json has no number \"reward\"\n", 0 },
	{ "a key twice", NULL, "{\"reward\": 0, \"reward\": 1}", NULL, 0, NULL, "! reward.json has \"reward\" more than once\n", 0 },
	{ "a key that is no number", NULL, "{\"reward\": \"1\", \"b\": 1}", NULL, 0, NULL, "! reward.json has no number \"reward\"\n", 0 },
	{ "no object", NULL, "[1]", NULL, 0, NULL, "! reward.json is no object of numbers\n", 0 },
	{ "no JSON", NULL, "{\"reward\": 1", NULL, 0, NULL, "! reward.json is no object of numbers\n", 0 },
	{ "both agree", "1", "{\"reward\": 1}", NULL, 0, NULL, "reward=passed\n", 0 },
	{ "both do not", "1", "{\"reward\": 0}", NULL, 0, NULL, "reward=failed\n! reward.txt and reward.json do not agree\n", 0 },
	{ "single tests", "0", NULL, "{\"results\": {\"summary\": {\"tests\": 4}, \"tests\": ["
	  "{\"name\": \"/workspace/t.py::a [b]\", \"status\": \"passed\"}, {\"name\": \"b\", \"status\": \"failed\"}, "
	  "{\"name\": \"b\", \"status\": \"skipped\"}, {\"name\": \"c\\n\", \"status\": \"other\"}]}}", 0, NULL,
	  "reward=failed\nt.py::a [b]=passed\nb=failed\nb #2=skipped\nc\n=error\n", 0 },
	{ "a test called reward comes second", "0", NULL, "{\"results\": {\"tests\": [{\"name\": \"reward\", \"status\": \"passed\"}]}}", 0, NULL,
	  "reward=failed\nreward #2=passed\n", 0 },
	{ "a summary of other tests", "1", NULL, "{\"results\": {\"summary\": {\"tests\": 2}, \"tests\": [{\"name\": \"a\", \"status\": \"passed\"}]}}", 0, NULL,
	  "reward=passed\na=passed\n! ctrf.json: the summary counts other tests than are listed\n", 0 },
	{ "an unknown status", "1", NULL, "{\"results\": {\"tests\": [{\"name\": \"a\", \"status\": \"ok\"}]}}", 0, NULL,
	  "reward=passed\n! ctrf.json: test 1 has no name or no known status\n", 0 },
	{ "a broken report", "1", NULL, "{", 0, NULL, "reward=passed\n! ctrf.json is no JSON, or larger than 16777216 bytes\n", 0 },
	/* clang-format on */
};

static void nul(void)
{
	struct testlog_file f = { "reward.txt", "1\0", 2 };
	struct testlog_input in = { .log = "", .files = &f, .n_files = 1 };
	auto_free char *got = readers_run("reward", &in);

	tap_is_str(got, "! reward.txt is no number\n", "a NUL byte is no blank");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct testlog_file f[] = {
			{ "reward.txt", r->txt, r->txt ? strlen(r->txt) : 0 },
			{ "reward.json", r->json, r->json ? strlen(r->json) : 0 },
			{ "ctrf.json", r->ctrf, r->ctrf ? strlen(r->ctrf) : 0 },
		};
		/* What is printed counts for nothing. */
		struct testlog_input in = { .log = "reward: 1\n",
					    .log_len = 10,
					    .exit_status = r->status,
					    .root = "/workspace",
					    .files = f,
					    .n_files = ARRAY_SIZE(f),
					    .reward = r->key,
					    .leftovers = r->leftovers };
		auto_free char *got = readers_run("reward", &in);

		tap_is_str(got, r->want, r->name);
	}
	nul();
	return tap_done();
}
