/* Records of runs: lines, arrays, run directories; what is wrong is named with its place. */
#include "study/result.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "tests/lib/tap.h"

#define SCHEMA "\"schema\":\"proctor.result/1\","
#define NEEDED                                                                                     \
	"\"instance_id\":\"t-1\",\"model\":\"m\",\"mode\":\"vanilla\",\"verdict\":\"resolved\""

static int parse(const char *text, struct results *out, struct err *err)
{
	return results_parse("r.jsonl", text, strlen(text), out, err);
}

/* What is printed reads back as it was. */
static void test_round(void)
{
	static const char *const lines[] = {
		"{\"schema\":\"proctor.result/1\",\"benchmark\":\"b\",\"instance_id\":\"t-1\",\"model\":\"m\","
		"\"agent\":\"a\",\"mode\":\"edit+message\",\"k\":3,\"repeat\":2,\"verdict\":\"unresolved\","
		"\"completed\":true,\"steps\":12,\"input_tokens\":1000,\"cached_tokens\":10,"
		"\"output_tokens\":20,\"micro_dollars\":7,\"fired\":3,\"refused\":1,\"patch_lines\":9,"
		"\"patch_files\":2,\"pair_digest\":\"aa\",\"plan_digest\":\"bb\","
		"\"label\":\"retained_conflict\",\"label_by\":\"human\",\"response\":\"kept\","
		"\"revised\":true,\"reads_after\":1,\"edits_after\":2,\"tests_after\":3}\n",
		"{\"schema\":\"proctor.result/1\",\"instance_id\":\"t-1\",\"model\":\"m\\\\\\\\\\\\xff\","
		"\"agent\":\"\",\"mode\":\"vanilla\",\"k\":0,\"repeat\":1,\"verdict\":\"none\","
		"\"completed\":false,\"steps\":0,\"input_tokens\":null,\"cached_tokens\":null,"
		"\"output_tokens\":null,\"micro_dollars\":null,\"fired\":0,\"refused\":0,"
		"\"patch_lines\":0,\"patch_files\":0,\"pair_digest\":\"\",\"plan_digest\":\"\","
		"\"label\":\"\",\"label_by\":\"\",\"response\":\"\",\"revised\":false,"
		"\"reads_after\":null,\"edits_after\":null,\"tests_after\":null}\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		auto_buf out = BUF_INIT(1u << 20);
		struct results r = { 0 };
		struct err err = { 0 };

		tap_ok(parse(lines[i], &r, &err) == 0 && r.n == 1, "one record: %s", err.text);
		if (r.n)
			result_print(r.v, &out);
		tap_is_str(buf_str(&out), lines[i], "printed as it was read");
		if (r.n && i)
			tap_is_str(r.v->model, "m\\\xff", "bytes that are not UTF-8");
		results_done(&r);
	}
}

static void test_defaults(void)
{
	struct results r = { 0 };
	struct err err = { 0 };
	char cond[48];

	tap_ok(parse("\n{" SCHEMA NEEDED "}\r\n\n// a remark\n", &r, &err) < 0,
	       "a remark is no record");
	tap_ok(parse("\n{" SCHEMA NEEDED "}\r\n\n{" SCHEMA
		     "\"instance_id\":\"t-2\",\"agent\":\"a\","
		     "\"mode\":\"edit\",\"k\":5,\"verdict\":\"infra\"}",
		     &r, &err) == 0,
	       "blank lines, no newline at the end: %s", err.text);
	tap_ok(r.n == 3, "%zu records", r.n);
	if (r.n == 3) {
		tap_is_str(r.v[1].source, "r.jsonl:2", "place");
		tap_is_str(r.v[2].source, "r.jsonl:4", "place of the other");
		tap_is_u64(r.v[1].repeat, 1, "first repeat");
		tap_is_str(r.v[2].model, "a", "the agent is the model");
		tap_ok(!r.v[1].has_tokens && !r.v[1].cost_known && !r.v[1].has_after,
		       "what is not said is not known");
		tap_is_str(result_condition(r.v + 1, cond), "vanilla", "condition");
		tap_is_str(result_condition(r.v + 2, cond), "edit (K=5)", "condition with K");
	}
	results_done(&r);
	tap_ok(parse("[ {" SCHEMA NEEDED "},\n {" SCHEMA NEEDED "} ]", &r, &err) == 0 && r.n == 2,
	       "an array: %s", err.text);
	tap_is_str(r.n == 2 ? r.v[1].source : NULL, "r.jsonl:$[1]", "place in an array");
	results_done(&r);
	tap_ok(parse("", &r, &err) == 0 && !r.n, "an empty file holds none");
}

static void test_errors(void)
{
	/* clang-format off */
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "{" SCHEMA NEEDED "}\n{", "r.jsonl:2:1:2: not valid JSON from here on" },
		{ "{" NEEDED "}", "r.jsonl:1: $: expected \"schema\": \"proctor.result/1\", found none" },
		{ "{\"schema\":\"proctor.run/1\"}", "r.jsonl:1: $: expected \"schema\": \"proctor.result/1\", found proctor.run/1" },
		{ "{" SCHEMA NEEDED ",\"verdic\":1}", "r.jsonl:1: $: unknown key \"verdic\", did you mean \"verdict\"?" },
		{ "{" SCHEMA "\"model\":\"m\",\"mode\":\"vanilla\",\"verdict\":\"none\"}", "r.jsonl:1: $: \"instance_id\" is missing: name of the task" },
		{ "{" SCHEMA NEEDED ",\"k\":1}", "r.jsonl:1: $: \"k\" must be 0 in vanilla and 1 or more otherwise" },
		{ "{" SCHEMA NEEDED ",\"repeat\":0}", "r.jsonl:1: $: \"repeat\" must be 1 to 1000000 and \"k\" at most 1000000" },
		{ "{" SCHEMA NEEDED ",\"steps\":-1}", "r.jsonl:1: $.steps: expected a whole number, 0 or more" },
		{ "{" SCHEMA NEEDED ",\"input_tokens\":1.5}", "r.jsonl:1: $.input_tokens: expected a whole number, 0 or more, or null" },
		{ "{" SCHEMA NEEDED ",\"micro_dollars\":\"1\"}", "r.jsonl:1: $.micro_dollars: expected a whole number, 0 or more, or null" },
		{ "{" SCHEMA NEEDED ",\"label\":\"retained_conflit\"}", "r.jsonl:1: $.label: unknown value \"retained_conflit\"; did you mean \"retained_conflict\"?" },
		{ "{" SCHEMA NEEDED ",\"response\":\"zzzzzzzzz\"}", "r.jsonl:1: $.response: unknown value \"zzzzzzzzz\"; choose one of docs/formats.md" },
		{ "{" SCHEMA "\"instance_id\":\"\",\"model\":\"m\",\"mode\":\"vanilla\",\"verdict\":\"none\"}", "r.jsonl:1: $: \"instance_id\" is empty" },
		{ "{" SCHEMA "\"instance_id\":\"x\",\"mode\":\"vanilla\",\"verdict\":\"none\"}", "r.jsonl:1: $: name the \"model\" or the \"agent\"" },
		{ "[ {" SCHEMA NEEDED "}, 3 ]", "r.jsonl: $[1]: expected an object" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct results r = { 0 };
		struct err err = { 0 };

		tap_is_u64((uint64_t)-parse(rows[i].text, &r, &err), ERR_INPUT, "refused");
		tap_is_str(err.text, rows[i].want, "with its place");
		results_done(&r);
	}
}

/* --- run directories --- */

static char *top; /* scratch directory of this test */

static void put(const char *dir, const char *name, const char *text)
{
	auto_free char *at = path_join(top, dir), *path = path_join(at, name);
	struct err err = { 0 };

	if (fd_mkdirs(at, 0755, &err) < 0 || fd_replace_file(path, text, strlen(text), &err) < 0)
		tap_ok(false, "cannot write: %s", err.text);
}

#define RUN(end, rest)                                                                             \
	"{\"schema\":\"proctor.run/1\",\"end\":{\"reason\":\"" end "\"},"                          \
	"\"task\":{\"instance_id\":\"t-1\"},\"agent\":\"careful\",\"commands\":7,"                 \
	"\"interventions\":{\"fired\":2,\"refused\":1},"                                           \
	"\"patch\":{\"files\":1,\"added\":4,\"removed\":3}," rest "}"

static void make_runs(void)
{
	put("s/a", "run.json",
	    RUN("exited",
		"\"scenario\":null,\"condition\":{\"mode\":\"vanilla\",\"k\":0},\"repeat\":2,"
		"\"pair_digest\":\"pp\",\"verdict\":\"resolved\",\"model\":null"));
	put("s/b/deep", "run.json",
	    RUN("limit:wall",
		"\"scenario\":\"s\",\"condition\":{\"mode\":\"edit+message\",\"k\":3},\"verdict\":null,"
		"\"model\":{\"name\":\"gpt\",\"calls\":11,\"main_calls\":9,\"input_tokens\":100,\"cached_tokens\":5,"
		"\"output_tokens\":6,\"micro_dollars\":null}"));
	put("s/b/deep", "verdict.json",
	    "{\"schema\":\"proctor.verdict/1\",\"verdict\":\"unresolved\"}");
	put("s/b/deep", "behaviour.json",
	    "{\"schema\":\"proctor.behaviour/1\",\"landed\":true,\"reads\":1,\"edits\":2,\"tests\":3,"
	    "\"response\":\"revised\",\"revised\":true,"
	    "\"label\":{\"rule\":\"off_target\",\"human\":\"other_defect\"}}");
	put("s/c", "run.json",
	    RUN("error", "\"scenario\":\"s\",\"condition\":{\"mode\":\"co-edit\",\"k\":1},"
			 "\"verdict\":\"unresolved\",\"model\":null"));
	put("s/c", "behaviour.json",
	    "{\"schema\":\"proctor.behaviour/1\",\"landed\":false,\"reads\":0,\"edits\":0,\"tests\":0,"
	    "\"response\":\"none\",\"revised\":false,\"label\":{\"rule\":\"none\",\"human\":null}}");
	put("s/d", "other.txt", "x");
	put("cut", "run.json",
	    RUN("exited", "\"scenario\":\"s\",\"condition\":{\"mode\":\"edit\",\"k\":1},"
			  "\"verdict\":\"unresolved\",\"model\":null"));
	put("cut", "behaviour.json",
	    "{\"schema\":\"proctor.behaviour/1\",\"cut\":true,\"landed\":true,\"reads\":1,\"edits\":2,"
	    "\"tests\":3,\"response\":\"kept\",\"revised\":false,"
	    "\"label\":{\"rule\":\"insufficient_evidence\",\"human\":null}}");
	put("old", "run.json", RUN("exited", "\"scenario\":\"s\""));
	put("empty", "other.txt", "x");
	put("file", "results.jsonl", "{" SCHEMA NEEDED "}\n");
}

static void test_runs(void)
{
	auto_free char *s = path_join(top, "s"), *cut = path_join(top, "cut"),
		       *old = path_join(top, "old"), *empty = path_join(top, "empty"),
		       *file = path_join(top, "file");
	struct results r = { 0 };
	struct err err = { 0 };

	tap_ok(results_load(s, &r, &err) == 0 && r.n == 3, "three runs: %s", err.text);
	if (r.n == 3) {
		const struct result *a = r.v, *b = r.v + 1, *c = r.v + 2;

		tap_ok(a->mode == MODE_VANILLA && !a->k && a->repeat == 2 && a->completed &&
			       a->verdict == RESULT_RESOLVED && a->steps == 7 && !a->has_tokens &&
			       a->fired == 2 && a->refused == 1 && a->patch_lines == 7 &&
			       a->patch_files == 1,
		       "vanilla without a model");
		tap_is_str(a->model, "careful", "its row is the agent");
		tap_is_str(a->pair_digest, "pp", "its pair");
		tap_ok(b->mode == MODE_EDIT_MESSAGE && b->k == 3 && b->repeat == 1 &&
			       !b->completed && b->verdict == RESULT_UNRESOLVED && b->steps == 9 &&
			       b->has_tokens && b->input_tokens == 100 && !b->cost_known &&
			       b->revised && b->has_after && b->tests_after == 3,
		       "with a model, to its limit, verdict from verdict.json");
		tap_is_str(b->label, "other_defect", "a person's word counts");
		tap_is_str(b->label_by, "human", "and says so");
		tap_is_str(b->response, "revised", "response");
		tap_ok(c->verdict == RESULT_INFRA && !c->completed && !c->has_after,
		       "an error of ours is no result");
		tap_is_str(c->label, "", "no failure, no label");
		tap_is_str(c->response, "", "no edit, no response");
	}
	results_done(&r);
	tap_ok(results_load(cut, &r, &err) == 0 && r.n == 1 && !r.v->has_after && !*r.v->response,
	       "a cut trace tells nothing of what came after the edit: %s", err.text);
	tap_is_str(r.n ? r.v->label : "", "insufficient_evidence", "but has its label");
	results_done(&r);
	tap_ok(results_load(old, &r, &err) == -ERR_INPUT &&
		       strstr(err.text, "\"condition\" is missing"),
	       "a run of unknown condition: %s", err.text);
	tap_ok(results_load(empty, &r, &err) == -ERR_INPUT && strstr(err.text, "holds neither"),
	       "a directory without runs: %s", err.text);
	tap_ok(results_load("/does/not/exist", &r, &err) == -ERR_INPUT, "nothing there: %s",
	       err.text);
	results_done(&r);
	tap_ok(results_load(file, &r, &err) == 0 && r.n == 1, "results.jsonl of a study: %s",
	       err.text);
	results_done(&r);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *name = mem_printf("%s/result-XXXXXX", tmp ? tmp : "/var/tmp");

	test_round();
	test_defaults();
	test_errors();
	top = mkdtemp(name);
	if (tap_ok(top != NULL, "a scratch directory")) {
		make_runs();
		test_runs();
		tap_ok(fd_remove_tree(AT_FDCWD, top) == 0, "and it is gone");
	}
	return tap_done();
}
