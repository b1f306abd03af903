/* The plan of a study: what is read and refused, what its cells are, in which order they are started. */
#include "study/studyplan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/cells.h"
#include "tests/lib/tap.h"

#define HEAD  "{\"schema\":\"proctor.study/1\",\"tasks\":[\"t*\"],"
#define AGENT "\"agents\":[{\"agent\":\"a.json\"}],"
#define ONE   "\"conditions\":[{\"name\":\"one\"}]"

static int parse(const char *text, struct study_plan *p, struct err *err)
{
	return studyplan_parse("dir/plan.json", text, strlen(text), "/dir", p, err);
}

/* A plan that is refused with @want in the message. */
static void refused(const char *text, const char *want, const char *name)
{
	struct study_plan p = { .file = NULL };
	struct err err = { 0 };
	int rc = parse(text, &p, &err);

	tap_ok(rc == -ERR_INPUT && strstr(err.text, want), "%s", name);
	if (rc == 0 || !strstr(err.text, want))
		tap_diag("rc %d: %s", rc, rc ? err.text : "");
	if (rc == 0)
		studyplan_done(&p);
}

static void reads(void)
{
	struct study_plan p = { .file = NULL };
	struct err err = { 0 };

	tap_ok(parse(HEAD AGENT ONE "}", &p, &err) == 0, "the smallest plan");
	tap_is_str(studyplan_agent(&p, 0)->name, "a", "an agent is called as its file");
	tap_is_str(p.out, "/dir/plan", "the study lies beside its plan");
	tap_ok(p.grade && !p.label && p.repeats == 1 && p.seed == 1 && p.retries.infra == 2,
	       "defaults");
	studyplan_done(&p);
	tap_ok(parse(HEAD "\"agents\":[{\"agent\":\"pi\",\"model\":\"https://h/v1#vendor/m-1\"},"
			  "{\"agent\":\"pi\",\"model\":\"script:x.json\"}]," ONE
			  ",\"limits\":{\"dollars\":\"2.50\",\"wall\":\"2h\"},\"out\":\"../o\"}",
		     &p, &err) == 0,
	       "models and limits");
	tap_is_str(studyplan_agent(&p, 0)->name, "pi@m-1", "named by its model");
	tap_is_str(studyplan_agent(&p, 1)->name, "pi", "a script is no model");
	tap_is_str(p.out, "/o", "out is relative to the plan");
	tap_is_u64(p.limits.dollars, 2500000, "dollars");
	tap_is_u64(p.limits.wall, 7200000000000u, "wall");
	studyplan_done(&p);
}

static void refuses(void)
{
	refused(HEAD AGENT "\"conditions\":[]}", "1 to", "no conditions");
	refused(HEAD AGENT "\"conditions\":[{\"name\":\"a/b\"}]}", "is no name",
		"a slash in a name");
	refused(HEAD AGENT "\"conditions\":[{\"name\":\"..\"}]}", "is no name", "dots as a name");
	refused(HEAD AGENT "\"conditions\":[{\"name\":\"x\",\"pair\":\"x\"}]}", "in front",
		"a pair with itself");
	refused(HEAD AGENT "\"conditions\":[{\"name\":\"a\"},{\"name\":\"f\",\"fork\":\"a\",\"at\":"
			   "[\"0.5\"]},{\"name\":\"g\",\"fork\":\"f\",\"at\":[\"0.5\"]}]}",
		"no run itself", "a fork of a fork");
	refused(HEAD AGENT "\"conditions\":[{\"name\":\"a\"},{\"name\":\"f\",\"fork\":\"a\",\"at\":"
			   "[\"0.5\",\"0.5\"]}]}",
		"twice", "a position twice");
	refused(HEAD AGENT "\"conditions\":[{\"name\":\"a\",\"at\":[\"0.5\"]}]}",
		"go with \"fork\"", "positions without a fork");
	refused(HEAD AGENT "\"conditions\":[{\"name\":\"a\",\"ladder\":\"A9\"}]}", "unknown ladder",
		"a step that is none");
	refused(HEAD AGENT ONE ",\"on_budget\":\"finsh\"}", "did you mean \"finish\"",
		"a choice, with the nearest");
	refused(HEAD AGENT ONE ",\"limits\":{\"dolars\":1}}", "did you mean \"dollars\"",
		"a key of an object");
	refused(HEAD AGENT ONE ",\"retries\":{\"infra\":1000}}", "at most", "too many retries");
	refused(HEAD "\"agents\":[{\"agent\":\"x/a.json\"},{\"agent\":\"y/a.json\"}]," ONE "}",
		"second agent", "two agents of one name");
}

static void put(const char *dir, const char *name, const char *text)
{
	auto_free char *path = path_join(dir, name), *up = path_dir(path);

	if (fd_mkdirs(up, 0755, NULL) < 0 || fd_replace_file(path, text, strlen(text), NULL) < 0)
		abort();
}

static void task(const char *dir, const char *id)
{
	auto_free char *name = mem_printf("%s/task.json", id);
	auto_free char *text = mem_printf(
		"{\"schema\":\"proctor.task/1\",\"instance_id\":\"%s\",\"problem_statement\":\"p\","
		"\"source\":\".\"}",
		id);

	put(dir, name, text);
}

static bool has(const struct cells *c, const char *key)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->v[i].key, key) == 0)
			return true;
	}
	return false;
}

/* Every number once, and not simply in order. */
static void order_is(const struct study_plan *p, size_t n)
{
	auto_free uint32_t *a = cells_order(p, n), *b = cells_order(p, n);
	auto_free bool *seen = mem_zalloc(n, sizeof(*seen));
	size_t once = 0, moved = 0;

	for (size_t i = 0; i < n; i++) {
		once += a[i] < n && !seen[a[i]];
		seen[a[i] < n ? a[i] : 0] = true;
		moved += a[i] != i;
	}
	tap_ok(once == n, "shuffled: every cell once");
	tap_ok(moved > n / 2, "shuffled: and not as written");
	tap_ok(memcmp(a, b, n * sizeof(*a)) == 0, "the same seed, the same order");
}

static void expands(const char *dir)
{
	struct study_plan p = { .file = NULL };
	struct cells c = { 0 };
	struct cell_job job = { .key = NULL };
	struct err err = { 0 };
	auto_free char *plan = path_join(dir, "plan.json");
	const char *spec;

	task(dir, "t1");
	task(dir, "t2");
	put(dir, "a.json",
	    "{\"schema\":\"proctor.agent/1\",\"name\":\"a\",\"command\":[\"true\"]}");
	put(dir, "plan.json",
	    HEAD
	    "\"agents\":[{\"agent\":\"a.json\"},{\"name\":\"b\",\"agent\":\"a.json\",\"tasks\":"
	    "[\"t2\"]}],\"conditions\":[{\"name\":\"one\"},{\"name\":\"two\",\"pair\":\"one\","
	    "\"set\":[\"limits.wall=9s\"]},{\"name\":\"fork\",\"fork\":\"one\",\"at\":[\"0.1\","
	    "\"start\"],\"model\":\"script:{task_dir}/s.json\"}],\"repeats\":2}");
	tap_ok(studyplan_load(plan, &p, &err) == 0 && cells_make(&p, &c, &err) == 0,
	       "a plan becomes cells");
	/* (t1: a, t2: a and b) x (one, two, fork at two) x 2 */
	tap_is_u64(c.n, 3 * 4 * 2, "as many as there must be");
	tap_ok(has(&c, "t1,a,one,r1") && has(&c, "t2,b,two,r2") && has(&c, "t2,b,fork,start,r2") &&
		       !has(&c, "t1,b,one,r1"),
	       "called by what they are");
	spec = c.v[2].spec;
	tap_ok(cells_job("spec", spec, strlen(spec), &job, &err) == 0, "a spec can be read");
	tap_is_str(job.after, "t1,a,one,r1", "a pair waits for its partner");
	tap_is_str(job.args.v[job.args.n - 3], "cells/t1,a,one,r1/run", "and is told where it is");
	tap_ok(job.plan_digest && strlen(job.plan_digest) == 64, "with the digest of its plan");
	cells_job_done(&job);
	order_is(&p, c.n);
	cells_done(&c);
	studyplan_done(&p);
}

/* Two tasks of one name in different places are refused; so is a bad file, with the cell that it is for. */
static void complains(const char *dir)
{
	auto_free char *plan = path_join(dir, "plan.json"), *other = path_join(dir, "u");
	struct study_plan p = { .file = NULL };
	struct cells c = { 0 };
	struct err err = { 0 };

	task(other, "t1");
	put(dir, "plan.json",
	    "{\"schema\":\"proctor.study/1\",\"tasks\":[\"t1\",\"u/t1\"]," AGENT ONE "}");
	tap_ok(studyplan_load(plan, &p, &err) == 0 && cells_make(&p, &c, &err) == -ERR_INPUT &&
		       strstr(err.text, "two tasks are called t1"),
	       "two tasks of one name");
	studyplan_done(&p);
	put(dir, "plan.json",
	    HEAD AGENT "\"conditions\":[{\"name\":\"x\",\"set\":[\"limits.wal=9s\"]}]}");
	tap_ok(studyplan_load(plan, &p, &err) == 0 && cells_make(&p, &c, &err) == -ERR_INPUT &&
		       strstr(err.text, "t1, a, x: ") && strstr(err.text, "limits.wall"),
	       "a wrong field is told with its cell and the nearest");
	tap_diag("%s", err.text);
	studyplan_done(&p);
}

int main(void)
{
	char dir[] = "/tmp/studyplan-XXXXXX";

	reads();
	refuses();
	if (!mkdtemp(dir))
		return 1;
	expands(dir);
	complains(dir);
	(void)fd_remove_tree(AT_FDCWD, dir);
	return tap_done();
}
