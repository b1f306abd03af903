/* Both algorithms on invented trajectories, all their fallbacks, and the pieces they are made of. */
#include "study/mine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "study/mine_internal.h"
#include "tests/lib/tap.h"

/* Trajectories in one text: "model: e path a-b, r path a-b, ...; model: ..." A path alone is the whole file;
 * "!model" did not finish; "s" is a scan; "f" a final edit. */
static void build(struct trajs *t, const char *text)
{
	auto_free char *copy = mem_strdup(text);
	char *save = NULL;

	*t = (struct trajs){ 0 };
	for (char *m = strtok_r(copy, ";", &save); m; m = strtok_r(NULL, ";", &save)) {
		char *colon = strchr(m, ':'), *inner = NULL;
		struct traj *v;

		m += strspn(m, " ");
		*colon = '\0';
		MEM_GROW(t->v, t->cap, t->n + 1);
		v = &t->v[t->n++];
		*v = (struct traj){ .file = mem_printf("%s.json", m + (*m == '!')),
				    .format = mem_strdup("normalised"),
				    .instance_id = mem_strdup("acme__clock-7"),
				    .model = mem_strdup(m + (*m == '!')),
				    .finished = *m != '!' };
		for (char *e = strtok_r(colon + 1, ",", &inner); e;
		     e = strtok_r(NULL, ",", &inner)) {
			struct traj_event ev = { 0 };
			char kind, path[64];
			unsigned a = 0, b = 0;

			if (sscanf(e, " %c %63s %u-%u", &kind, path, &a, &b) < 2)
				continue;
			ev.edit = kind == 'e' || kind == 'f';
			ev.final = kind == 'f';
			ev.scan = kind == 's';
			ev.path = path;
			ev.first = ev.base_first = a;
			ev.last = ev.base_last = b;
			traj_add(v, &ev);
		}
	}
}

static char *regions(const struct mine_result *r)
{
	auto_buf b = BUF_INIT(1u << 16);

	buf_addf(&b, "%s:", r->file.tier ? r->file.tier : "none");
	for (size_t i = 0; i < r->file.n; i++) {
		const struct regionfile_region *v = &r->file.region[i];

		buf_addf(&b, " %s %llu-%llu/", v->path, (unsigned long long)v->start,
			 (unsigned long long)v->end);
		for (size_t k = 0; k < v->models.n; k++)
			buf_addf(&b, "%s%s", k ? "+" : "", v->models.v[k]);
		buf_addf(&b, "/%llu", (unsigned long long)v->support);
	}
	return buf_steal(&b, NULL);
}

static void mined(const struct mine_options *o, const char *text, const char *want)
{
	struct mine_options opt = *o;
	struct mine_result r = { .used = 0 };
	auto_free char *got = NULL;
	struct trajs t;
	struct err err;
	int rc;

	build(&t, text);
	opt.max = opt.max ? opt.max : 8;
	rc = mine_regions(&t, &opt, &r, &err);
	if (tap_ok(rc == 0, "mined: %.60s", rc < 0 ? err.text : text)) {
		got = regions(&r);
		tap_is_str(got, want, want);
	}
	mine_result_done(&r);
	trajs_done(&t);
}

#define REFERENCE                                                                                  \
	"--- a/r.c\n+++ b/r.c\n@@ -5,4 +5,5 @@\n a\n-b\n+B\n+C\n c\n d\n--- a/tests/t.c\n"         \
	"+++ b/tests/t.c\n@@ -1 +1 @@\n-x\n+y\n"

static void test_edits(void)
{
	struct mine_options o = { .algorithm = MINE_EDITS };

	mined(&o, "a: e x.c 10-12; b: e x.c 12-14; c: e y.c 1-1",
	      "edited_by_several: x.c 12-12/a+b/2");
	/* models of a region: all that have one of its lines; support: the fewest */
	mined(&o, "a: e x.c 1-5, e y.c 3-3; b: e x.c 1-5, e y.c 3-3; c: e x.c 4-9",
	      "edited_by_several: x.c 1-5/a+b+c/2 y.c 3-3/a+b/2");
	mined(&o, "a: e b.c 1-2; b: e a.c 7-7", "edited_by_one: a.c 7-7/b/1 b.c 1-2/a/1");
	/* strictly adjacent lines only */
	mined(&o, "a: e x.c 1-1, e x.c 2-2, e x.c 4-4; b: e x.c 1-4",
	      "edited_by_several: x.c 1-2/a+b/2 x.c 4-4/a+b/2");
	/* two runs of one model are one model */
	mined(&o, "a: e x.c 1-1; a: e x.c 1-3", "edited_by_one: x.c 1-3/a/1");
	/* an edit of unknown lines may be all of them; lines that others know limit it */
	mined(&o, "a: e x.c; b: e x.c 6-8", "edited_by_several: x.c 6-8/a+b/2");
	mined(&o, "a: e x.c; b: e x.c", "none:");
	mined(&o, "a: r x.c 1-9; b: r x.c 1-9", "none:");
	/* the final diff counts alone, unless all edits are asked for */
	mined(&o, "a: e x.c 1-9, f x.c 4-4; b: f x.c 4-5, e y.c 1-1",
	      "edited_by_several: x.c 4-4/a+b/2");
	o.all_edits = true;
	mined(&o, "a: e x.c 1-9, f x.c 4-4; b: f x.c 4-5", "edited_by_several: x.c 4-5/a+b/2");
	o.all_edits = false;
	o.merge_gap = 1;
	mined(&o, "a: e x.c 1-1, e x.c 3-3; b: e x.c 1-3", "edited_by_several: x.c 1-3/a+b/2");
	o.merge_gap = 0;
	o.min_models = 3;
	mined(&o, "a: e x.c 1-4; b: e x.c 2-4; c: e x.c 3-9", "edited_by_several: x.c 3-4/a+b+c/3");
	o.min_models = 0;
	o.reference = REFERENCE;
	mined(&o, "a: r q.c; b: r q.c",
	      "reference_patch: r.c 6-6/reference_patch/1 tests/t.c 1-1/reference_patch/1");
	o.lines = MINE_FINAL;
	mined(&o, "a: r q.c",
	      "reference_patch: r.c 6-7/reference_patch/1 tests/t.c 1-1/reference_patch/1");
}

static void test_order_and_maximum(void)
{
	struct mine_options o = { .algorithm = MINE_EDITS };

	mined(&o,
	      "a: e z.c 9-9, e b.c 5-5, e b.c 1-1, e a.c 1-1, e a.c 3-3, e a.c 5-5, e a.c 7-7, e a.c 9-9, e a.c 11-11;"
	      "b: e z.c 9-9, e b.c 5-5, e b.c 1-1, e a.c 1-1, e a.c 3-3, e a.c 5-5, e a.c 7-7, e a.c 9-9, e a.c 11-11;"
	      "c: e z.c 9-9",
	      "edited_by_several: z.c 9-9/a+b+c/3 a.c 1-1/a+b/2 a.c 3-3/a+b/2 a.c 5-5/a+b/2 a.c 7-7/a+b/2 "
	      "a.c 9-9/a+b/2 a.c 11-11/a+b/2 b.c 1-1/a+b/2");
	o.max = 1;
	mined(&o, "a: e z.c 9-9, e a.c 1-1; b: e z.c 9-9, e a.c 1-1",
	      "edited_by_several: a.c 1-1/a+b/2");
}

static void test_reads_edits(void)
{
	struct mine_options o = { .algorithm = MINE_READS_EDITS };

	mined(&o,
	      "a: r x.c 1-50, e x.c 10-12, e y.c 1-1; b: r x.c 5-20, e x.c 11-13, e y.c 1-1;"
	      "c: r x.c, e x.c 9-12, e y.c 1-1",
	      "modified_main_non_noise: x.c 11-12/a+b+c/3");
	/* nobody read it: any file; tests are no main files */
	mined(&o, "a: r t.c 1-9, e x.c 1-4, e tests/t.c 2-2; b: e x.c 3-5, e tests/t.c 2-2",
	      "modified_any_non_noise: x.c 3-4/a+b/2");
	mined(&o, "a: e tests/t.c 2-2, e x.c 1-1; b: e tests/t.c 2-3, e x.c 9-9",
	      "modified_any: tests/t.c 2-2/a+b/2");
	/* edits that do not meet; a file that both edited and read */
	mined(&o, "a: r x.c 1-30, e x.c 2-2; b: r x.c 20-40, e x.c 33-33",
	      "read_main_non_noise: x.c 20-30/a+b/2");
	mined(&o,
	      "a: r x.c 1-30, r tests/t.c 1-3, e z.c 2-2; b: r x.c 20-40, r tests/t.c 1-3, e y.c 33-33",
	      "read_any_non_noise: x.c 20-30/a+b/2");
	mined(&o, "a: s x.c 1-30; b: s x.c 1-30", "none:"); /* scans are no attention */
	mined(&o, "a: e z.c 2-2; b: e y.c 3-3, e docs/y.md 1-1",
	      "modified_by_one: y.c 3-3/b/1 z.c 2-2/a/1");
	mined(&o, "a: e docs/z.md 2-2; b: e tests/y.c 3-3",
	      "modified_by_one: docs/z.md 2-2/a/1 tests/y.c 3-3/b/1");
	/* a model that edited nothing does not empty the intersection of edits */
	mined(&o, "a: r x.c 1-5, e x.c 2-3; b: r x.c 1-5, e x.c 3-4; c: r x.c 2-9",
	      "modified_main_non_noise: x.c 3-3/a+b/2");
	/* all read everything: the lines that somebody edited are better than the file */
	mined(&o, "a: r x.c, e x.c 4-5; b: r x.c, e x.c 9-9",
	      "read_main_non_noise: x.c 4-5/a+b/2 x.c 9-9/a+b/2");
	o.min_models = 2;
	mined(&o, "a: r x.c 1-50, e x.c 10-12; b: r x.c 5-20, e x.c 12-13; c: r x.c, e x.c 30-31",
	      "modified_main_non_noise: x.c 12-12/a+b/2");
	o.min_models = 0;
	/* more visits first */
	mined(&o,
	      "a: r a.c 1-9, r b.c 1-9, r b.c 3-4, e a.c 2-2, e b.c 4-4; b: r a.c, r b.c, e a.c 2-2, e b.c 4-4",
	      "modified_main_non_noise: b.c 4-4/a+b/2 a.c 2-2/a+b/2");
	o.merge_gap = 3;
	mined(&o, "a: r x.c, e x.c 1-1, e x.c 5-5, e x.c 10-10; b: r x.c, e x.c 1-10",
	      "modified_main_non_noise: x.c 1-5/a+b/2 x.c 10-10/a+b/2");
	o.reference = REFERENCE;
	mined(&o, "a: e z.c 2-2; b: e y.c 3-3", "reference_patch: r.c 6-6/reference_patch/1");
}

static int source(void *arg, const char *path, struct buf *out, struct err *err)
{
	(void)err;
	if (strcmp(path, "x.py") != 0)
		return 0;
	buf_adds(out, arg);
	return 1;
}

static void test_contents(void)
{
	static char text[] =
		"import os\n\n@deco\ndef f(a):\n    if a:\n        return 1\n\n    return 2\n\nx = 1\n";
	struct mine_io io = { source, text };
	struct mine_options o = { .io = &io };

	mined(&o, "a: e x.py; b: e x.py", "edited_by_several: x.py 1-10/a+b/2");
	mined(&o, "a: e x.py 10-11; b: e x.py 10-11", "edited_by_several: x.py 10-10/a+b/2");
	o.enclosing = true;
	mined(&o, "a: e x.py 6-6; b: e x.py 6-6", "edited_by_several: x.py 3-8/a+b/2");
	mined(&o, "a: e x.py 4-4, e x.py 6-6; b: e x.py 4-6", "edited_by_several: x.py 3-8/a+b/2");
	mined(&o, "a: e x.py 1-1; b: e x.py 1-1", "edited_by_several: x.py 1-1/a+b/2");
	mined(&o, "a: e x.py 4-5; b: e x.py 4-5", "edited_by_several: x.py 4-5/a+b/2");
}

static void test_unfinished(void)
{
	struct mine_options o = { .max = 8 };
	struct mine_result r = { .used = 0 };
	struct trajs t;
	struct err err;

	mined(&o, "a: e x.c 1-3; !b: e x.c 2-4; c: e x.c 3-5", "edited_by_several: x.c 3-3/a+c/2");
	o.unfinished = true;
	mined(&o, "a: e x.c 1-3; !b: e x.c 2-4", "edited_by_several: x.c 2-3/a+b/2");
	o.unfinished = false;
	build(&t, "!a: e x.c 1-3");
	tap_ok(mine_regions(&t, &o, &r, &err) == 0 && r.used == 0 && r.file.n == 0,
	       "nothing counts when nobody finished");
	tap_ok(r.notes.n == 1 && strstr(r.notes.v[0], "a.json did not come"), "and a note says so");
	mine_result_done(&r);
	free(t.v[0].instance_id);
	t.v[0].instance_id = mem_strdup("t");
	trajs_done(&t);
	build(&t, "a: e x.c 1-1; b: e x.c 1-1");
	free(t.v[1].instance_id);
	t.v[1].instance_id = mem_strdup("acme__clock-8");
	tap_ok(mine_regions(&t, &o, &r, &err) == -ERR_INPUT && strstr(err.text, "acme__clock-8"),
	       "two tasks: %s", err.text);
	trajs_done(&t);
}

static void test_noise(void)
{
	static const struct {
		const char *path, *kind;
	} rows[] = {
		{ "src/clock.py", NULL },
		{ "tests/test_clock.py", "tests" },
		{ "lib/sub/test/x.js", "tests" },
		{ "pkg/clock_test.go", "tests" },
		{ "src/test_help.py", "tests" },
		{ "src/latest.py", NULL },
		{ "contest/main.c", NULL },
		{ "docs/index.html", "docs" },
		{ "README.md", "docs" },
		{ "setup.py", "metadata" },
		{ ".github/workflows/ci.yml", "metadata" },
		{ "sub/.gitignore", "metadata" },
		{ "package-lock.json", "lock file" },
		{ "a/Cargo.lock", "lock file" },
		{ "dist/app.js", "build output" },
		{ "src/builder/x.c", NULL },
		{ "web/app.min.js", "generated" },
		{ "reproduce.py", "scratch" },
		{ "src/reproduce.py", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_is_str(mine_noise(rows[i].path), rows[i].kind, rows[i].path);
}

static void enclosing(const char *path, const char *text, uint64_t line, uint64_t a, uint64_t b)
{
	uint64_t first = line, last = line;
	bool found = mine_enclosing(path, text, strlen(text), &first, &last);

	tap_ok(found == (a != 0) && (!a || (first == a && last == b)), "%s line %llu: %llu-%llu",
	       path, (unsigned long long)line, (unsigned long long)first, (unsigned long long)last);
}

static void test_enclosing(void)
{
	static const char c[] =
		"#include <a.h>\n\nstruct s {\n\tint a;\n};\n\n/* { */\nstatic int f(int a,\n"
		"\t\t int b)\n{\n\tif (a) {\n\t\tputs(\"}\");\n\t}\n\treturn b;\n}\n\nint x;\n";
	static const char js[] =
		"class A {\n  run(x) {\n    return x.map(y => {\n      return y + '{';\n    });\n"
		"  }\n  b = 1;\n}\n";
	static const char py[] =
		"class A:\n    x = 1\n\n    def f(\n        self,\n    ):\n        y = 1\n"
		"        def g():\n            return y\n\n        return g\n\n    z = 2\n";

	enclosing("a.c", c, 1, 0, 0);
	enclosing("a.c", c, 4, 0, 0);
	enclosing("a.c", c, 8, 8, 15);
	enclosing("a.c", c, 12, 8, 15);
	enclosing("a.c", c, 14, 8, 15);
	enclosing("a.c", c, 17, 0, 0);
	enclosing("a.c", c, 99, 0, 0);
	enclosing("a.js", js, 3, 2, 6);
	enclosing("a.js", js, 4, 2, 6);
	enclosing("a.js", js, 7, 0, 0);
	enclosing("a.py", py, 2, 0, 0);
	enclosing("a.py", py, 7, 4, 11);
	enclosing("a.py", py, 9, 8, 9);
	enclosing("a.py", py, 11, 4, 11);
	enclosing("a.py", py, 13, 0, 0);
	enclosing("a.py", "", 1, 0, 0);
}

static void test_spans(void)
{
	struct spans a = { 0 }, b = { 0 }, out = { 0 };
	const struct spans *set[] = { &a, &b };
	uint64_t *counts = NULL;

	for (uint64_t i = 1; i < 400000; i += 2)
		mine_spans_add(&a, i, i);
	mine_spans_settle(&a);
	tap_ok(a.whole && a.n <= 2 * (size_t)SPANS_MAX, "too many places are the whole file");
	mine_spans_add(&b, UINT64_MAX, UINT64_MAX);
	mine_spans_add(&b, 5, 4);
	tap_is_u64(b.n, 0, "no such lines");
	mine_spans_add(&b, 7, 9);
	mine_spans_add(&b, 10, 10);
	mine_spans_add(&b, 8, UINT64_MAX);
	mine_spans_settle(&b);
	tap_ok(b.n == 1 && b.v[0].first == 7, "touching spans are one");
	mine_spans_count(set, 2, 2, &out, &counts);
	tap_ok(out.n == 1 && !out.whole && counts[0] == 2 && out.v[0].first == 7,
	       "the whole file and lines are the lines");
	free(counts);
	mine_spans_done(&out);
	mine_spans_done(&a);
	mine_spans_done(&b);
}

static void test_file(void)
{
	char path[] = "/tmp/test_mine-XXXXXX";
	int fd = mkstemp(path);
	struct mine_options o = { .max = 8 };
	struct mine_result r = { .used = 0 };
	struct regionfile back = { 0 };
	auto_buf one = BUF_INIT(1u << 16), two = BUF_INIT(1u << 16);
	struct trajs t;
	struct err err;

	build(&t, "a: e x\\y.c 1-3; b\xff: e x\\y.c 2-2");
	tap_ok(mine_regions(&t, &o, &r, &err) == 0, "mined");
	regionfile_print(&r.file, &one);
	tap_ok(fd_write_all(fd, buf_str(&one), one.len) == 0, "written");
	if (tap_ok(regionfile_load(path, &back, &err) == 0, "read back")) {
		regionfile_print(&back, &two);
		tap_is_str(buf_str(&two), buf_str(&one), "the same");
		tap_is_str(back.region[0].path, "x\\y.c", "a path with a backslash");
		tap_is_str(back.file, path, "where from");
	}
	regionfile_done(&back);
	mine_result_done(&r);
	trajs_done(&t);
	close(fd);
	unlink(path);
}

static void refused(const char *text, const char *want)
{
	char path[] = "/tmp/test_mine-XXXXXX";
	int fd = mkstemp(path);
	struct regionfile rf = { 0 };
	struct err err = { 0 };

	if (fd_write_all(fd, text, strlen(text)) < 0)
		tap_ok(false, "cannot write");
	tap_ok(regionfile_load(path, &rf, &err) == -ERR_INPUT && strstr(err.text, want), "%s",
	       err.text);
	regionfile_done(&rf);
	close(fd);
	unlink(path);
}

static void test_file_errors(void)
{
	static const char scenario[] =
		"{\"schema\":\"proctor.scenario/1\",\"id\":\"s\",\"instance_id\":\"acme__clock-7\",\"mode\":\"vanilla\","
		"\"regions\":[{\"path\":\"a.c\",\"start\":3,\"end\":4,\"evidence\":\"mine\"}]}";
	char path[] = "/tmp/test_mine-XXXXXX";
	int fd = mkstemp(path);
	struct regionfile rf = { 0 };
	struct err err = { 0 };

	refused("{\"schema\":\"proctor.regions/1\"}", "regions");
	refused("{\"schema\":\"proctor.regions/1\",\"regions\":[{\"path\":\"../a\",\"start\":1,\"end\":1}]}",
		"$.regions[0]: path");
	refused("{\"schema\":\"proctor.regions/1\",\"regions\":[{\"path\":\"a\",\"start\":2,\"end\":1}]}",
		"end is not before start");
	refused("{\"schema\":\"proctor.regions/1\",\"regions\":[],\"algoritm\":\"x\"}",
		"algorithm");
	if (fd_write_all(fd, scenario, strlen(scenario)) < 0)
		tap_ok(false, "cannot write");
	tap_ok(regionfile_load(path, &rf, &err) == 0, "of a scenario %s", err.text);
	tap_ok(rf.n == 1 && rf.region[0].start == 3 && str_eq(rf.instance_id, "acme__clock-7") &&
		       str_eq(rf.algorithm, "scenario"),
	       "its regions");
	regionfile_done(&rf);
	close(fd);
	unlink(path);
}

int main(void)
{
	test_edits();
	test_order_and_maximum();
	test_reads_edits();
	test_contents();
	test_unfinished();
	test_noise();
	test_enclosing();
	test_spans();
	test_file();
	test_file_errors();
	return tap_done();
}
