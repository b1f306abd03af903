/* verdict.json comes back as it was written, bytes included; what is no verdict is refused. */
#include "verifier/verdict_read.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"
#include "verifier/verdict_internal.h"

static void test_back(void)
{
	struct task task = { .instance_id = (char *)"acme__calc-1", .test.reader = (char *)"tap" };
	struct verdict v = { .exit_status = 3, .complete = true, .log = BUF_INIT(100) };
	struct verdict_file f;
	auto_buf out = BUF_INIT(1u << 20);
	struct err err = { 0 };

	strv_add(&task.fail_to_pass, "a\\b \xff\n");
	strv_add(&task.pass_to_pass, "caf\xc3\xa9");
	verdict_fill(&v, &task, NULL);
	v.tests[1].status = TEST_XPASS;
	v.tests[1].from = 7;
	v.tests[1].to = 9;
	verdict_set(&v, VERDICT_UNRESOLVED, "because");
	strv_add(&v.tamper, "hidden-tests t/a b.c");
	strv_add(&v.dropped, "t/a b.c");
	v.patch_exists = v.patch_applied = true;
	v.method = "exact";
	v.wall_ns = 12345678901234ull;
	v.stages = mem_strdup("{\"valid\":true}");
	verdict_json(&task, &v, NULL, &out);
	tap_ok(verdict_parse("f", buf_str(&out), out.len, &f, &err) == 0, "read %s", err.text);
	tap_is_str(f.instance_id, "acme__calc-1", "instance");
	tap_ok(f.kind == VERDICT_UNRESOLVED && f.complete && f.exit_status == 3,
	       "kind, complete, exit status");
	tap_is_str(f.reason, "because", "reason");
	tap_is_u64(f.n_tests, 2, "tests");
	tap_is_str(f.tests[0].name, "a\\b \xff\n", "a name with any bytes");
	tap_ok(f.tests[0].f2p && f.tests[0].status == TEST_MISSING, "its list and status");
	tap_is_str(f.tests[1].name, "caf\xc3\xa9", "another");
	tap_ok(!f.tests[1].f2p && f.tests[1].status == TEST_XPASS && f.tests[1].from == 7 &&
		       f.tests[1].to == 9,
	       "its list, status and span");
	tap_ok(!verdict_passed(&f.tests[0]) && verdict_passed(&f.tests[1]),
	       "what counted as passed");
	tap_is_str(f.tamper.n ? f.tamper.v[0] : NULL, "hidden-tests t/a b.c", "tamper row");
	tap_is_str(f.dropped.n ? f.dropped.v[0] : NULL, "t/a b.c", "dropped path");
	tap_is_str(f.method, "exact", "method");
	tap_is_u64(f.wall_ns, 12345678901234ull, "wall time");
	tap_is_str(f.stages, "{\"valid\":true}", "stages");
	tap_ok(f.note == NULL, "null stays nothing");
	verdict_file_done(&f);
	verdict_done(&v);
	strv_done(&task.fail_to_pass);
	strv_done(&task.pass_to_pass);
}

static void refused(const char *text, const char *want)
{
	struct verdict_file f;
	struct err err = { 0 };

	tap_ok(verdict_parse("f", text, strlen(text), &f, &err) == -ERR_INPUT, "refused: %.60s",
	       text);
	tap_is_str(err.text, want, "why");
}

int main(void)
{
	test_back();
	refused("{}", "f: expected an object with \"schema\": \"proctor.verdict/1\"");
	refused("[]", "f: expected an object with \"schema\": \"proctor.verdict/1\"");
	refused("{\"schema\":\"proctor.verdict/1\",\"instance_id\":\"a\",\"verdict\":\"fine\"}",
		"f: \"instance_id\" or a known \"verdict\" is missing");
	refused("{\"schema\":\"proctor.verdict/1\",\"instance_id\":\"a\",\"verdict\":\"infra\",\"tests\":[{}]}",
		"f: $.tests: a test without \"name\" or a known \"status\"");
	return tap_done();
}
