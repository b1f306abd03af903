/* Harbor's contract: the test script writes a number to reward.txt, or an object of numbers to reward.json, in
 * /logs/verifier; ctrf.json (Common Test Report Format) beside them may list single tests.
 *
 * One result is called "reward": passed when the number is 1 or more, failed from 0 up to that. Tests of ctrf.json
 * come under their names. A reward of 0 is a result; these are none and leave the results incomplete:
 *
 *   - no file, an empty one, one that is no number, infinity, "not a number";
 *   - a negative number: scripts write -1 when they crashed. Code under test can make them crash, so this is no
 *     fault of the host;
 *   - reward.txt and reward.json that do not agree; in reward.json no number of the task's key ("reward" unless the
 *     task says another) and more than one other number;
 *   - 1 or more from a script that did not end with status 0: its writing may have failed;
 *   - a ctrf.json that contradicts itself (its summary counts other tests than it lists).
 *
 *   - 1 or more while processes of the tests were still alive: one of them may have written it (test.leftovers).
 *
 * What this cannot tell: the tests run as the same user as the script, and often in its process. A program under test
 * that writes the number after the script's last write, and is gone before the script ends, is believed; so is one
 * that makes the verifier's own process write it. What holds: the place is empty when the script starts, is read when
 * every process is dead, and must be the same directory, with plain files that their owner may write
 * (verifier/grade_report.c); the script cannot be changed, it is bound read-only; what is written before the script's
 * own last write is lost. Where single tests matter, list those of ctrf.json beside "reward". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_internal.h"

#define TXT_MAX  64u         /* bytes of reward.txt */
#define JSON_MAX (1u << 20)  /* bytes of reward.json */
#define CTRF_MAX (16u << 20) /* bytes of ctrf.json */

const char *const testlog_reward_files[] = { "reward.txt", "reward.json", "ctrf.json", NULL };

static const struct testlog_file *find(const struct testlog_input *in, const char *name)
{
	for (size_t i = 0; i < in->n_files; i++)
		if (in->files[i].text && strcmp(in->files[i].name, name) == 0)
			return &in->files[i];
	return NULL;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A whole text that is one finite number, blanks around it. */
static bool number(const char *s, size_t n, double *ret)
{
	auto_free char *text = NULL;
	size_t len;
	char *end;

	while (n && blank(s[n - 1]))
		n--;
	while (n && blank(*s)) {
		s++;
		n--;
	}
	if (!n || n > TXT_MAX || memchr(s, 0, n))
		return false;
	text = mem_strndup(s, n);
	len = strspn(text, "+-.0123456789eE");
	*ret = strtod(text, &end);
	return len == n && !*end && isfinite(*ret);
}

/* What reward.txt says. False when it says nothing; then the results are incomplete. */
static bool from_text(const struct testlog_file *f, struct test_results *out, double *ret)
{
	if (number(f->text, f->len, ret))
		return true;
	testlog_incomplete(out, f->len ? "reward.txt is no number" : "reward.txt is empty");
	return false;
}

static bool from_json(const struct testlog_file *f, const char *key, struct test_results *out,
		      double *ret)
{
	const cJSON *e, *chosen = NULL, *only = NULL;
	struct json_src src = { 0 };
	size_t named = 0, numbers = 0;

	if (f->len > JSON_MAX || json_parse("reward.json", f->text, f->len, &src, NULL) < 0 ||
	    !cJSON_IsObject(src.root)) {
		testlog_incomplete(out, "reward.json is no object of numbers");
		json_src_done(&src);
		return false;
	}
	cJSON_ArrayForEach (e, src.root) {
		bool is = strcmp(e->string, key) == 0;

		named += is;
		if (!cJSON_IsNumber(e))
			continue;
		numbers++;
		only = e;
		if (is)
			chosen = e;
	}
	if (!named && numbers == 1)
		chosen = only;
	if (!chosen || named > 1 || !isfinite(chosen->valuedouble)) {
		testlog_incomplete(out,
				   named > 1 ? "reward.json has \"%s\" more than once"
					     : "reward.json has no number \"%s\"",
				   key);
		json_src_done(&src);
		return false;
	}
	*ret = chosen->valuedouble;
	json_src_done(&src);
	return true;
}

/* clang-format off */
static const struct testlog_word statuses[] = {
	{ "passed",  TEST_PASSED },
	{ "failed",  TEST_FAILED },
	{ "skipped", TEST_SKIPPED },
	{ "pending", TEST_SKIPPED },
	{ "other",   TEST_ERROR },
};
/* clang-format on */

static const cJSON *get(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static void ctrf_tests(const struct testlog_input *in, const cJSON *results,
		       struct test_results *out)
{
	const cJSON *tests = get(results, "tests"), *e,
		    *total = get(get(results, "summary"), "tests");
	size_t n = 0;

	cJSON_ArrayForEach (e, tests) {
		const cJSON *name = get(e, "name"), *status = get(e, "status");
		auto_free char *id = NULL;
		enum test_status s;

		n++;
		if (!cJSON_IsString(name) || !cJSON_IsString(status) ||
		    !testlog_word(statuses, ARRAY_SIZE(statuses), status->valuestring,
				  strlen(status->valuestring), &s)) {
			testlog_incomplete(out,
					   "ctrf.json: test %zu has no name or no known status", n);
			continue;
		}
		if (testlog_full(out))
			return;
		id = testlog_name(name->valuestring, strlen(name->valuestring), in->root);
		testlog_add(out, id, strlen(id), s, 0, 0);
	}
	if (!cJSON_IsArray(tests) || (cJSON_IsNumber(total) && total->valuedouble != (double)n))
		testlog_incomplete(out,
				   "ctrf.json: the summary counts other tests than are listed");
}

static void ctrf(const struct testlog_input *in, struct test_results *out)
{
	const struct testlog_file *f = find(in, "ctrf.json");
	struct json_src src = { 0 };

	if (!f)
		return;
	if (f->len > CTRF_MAX || json_parse("ctrf.json", f->text, f->len, &src, NULL) < 0)
		testlog_incomplete(out, "ctrf.json is no JSON, or larger than %u bytes", CTRF_MAX);
	else
		ctrf_tests(in, get(src.root, "results"), out);
	json_src_done(&src);
}

/* What reward @v says; a good one is believed only when nothing speaks against it. */
static void decide(const struct testlog_input *in, struct test_results *out, double v)
{
	if (v < 0)
		testlog_incomplete(out,
				   "the reward is negative: the test script says that it crashed");
	if (v >= 1 && in->exit_status != 0)
		testlog_incomplete(out, "the reward is 1, but the test script ended with status %d",
				   in->exit_status);
	if (v >= 1 && in->leftovers)
		testlog_incomplete(
			out,
			"the reward is 1, but %u processes outlived the test script: it could be theirs "
			"(test.leftovers allows them)",
			in->leftovers);
	testlog_add(out, "reward", strlen("reward"),
		    v < 0   ? TEST_ERROR
		    : v < 1 ? TEST_FAILED
			    : TEST_PASSED,
		    0, 0);
}

int testlog_read_reward(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	const struct testlog_file *txt = find(in, "reward.txt"), *json = find(in, "reward.json");
	double a = 0, b = 0;
	bool have_a = txt && from_text(txt, out, &a);
	bool have_b = json && from_json(json, in->reward ? in->reward : "reward", out, &b);

	(void)err; /* what the script wrote is data, never a mistake of the user */
	if (!txt && !json)
		testlog_incomplete(out, "the test script wrote neither reward.txt nor reward.json");
	if (have_a && have_b && a != b)
		testlog_incomplete(out, "reward.txt and reward.json do not agree");
	if (have_a || have_b)
		decide(in, out, have_a && have_b ? fmin(a, b) : have_a ? a : b);
	ctrf(in, out);
	return 0;
}
