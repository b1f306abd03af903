/* The apply ladder: hand-made cases, then random edits judged by diff(1), git-apply(1) and
 * patch(1). */
#include "triggers/apply.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

/* A little tree in memory. */
struct mem_file {
	const char *path, *data;
	size_t n;
	uint32_t mode;
};

struct mem_tree {
	struct mem_file f[4];
	size_t n;
	bool broken;
};

static int mem_read(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err)
{
	const struct mem_tree *t = arg;

	if (t->broken)
		return err_set(err, ERR_SYS, "reading %s failed", path);
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->f[i].path, path)) {
			buf_add(out, t->f[i].data, t->f[i].n);
			*mode = t->f[i].mode ? t->f[i].mode : 0100644;
			return 1;
		}
	return 0;
}

static struct mem_tree one(const char *path, const char *data)
{
	struct mem_tree t = { .n = 1 };

	t.f[0] = (struct mem_file){ path, data, strlen(data), 0 };
	return t;
}

/* Parse and apply. As apply_patch(); a diff that cannot be parsed is -100. */
static int run(const char *diff, struct mem_tree *t, enum apply_method most, struct apply_result *r)
{
	struct err err = { ERR_NONE, 0, "" };
	struct apply_io io = { mem_read, t };
	struct apply_options opt = { most };
	struct patch *p = NULL;
	int rc;

	*r = (struct apply_result){ 0 };
	if (patch_parse(diff, strlen(diff), &p, &err) < 0) {
		tap_diag("%s", err.text);
		return -100;
	}
	rc = apply_patch(p, &io, &opt, r, &err);
	patch_free(p);
	return rc;
}

struct ladder_case {
	const char *name, *diff, *before, *after; /* after NULL = must not apply */
	enum apply_method method;
	bool unchanged;
};

#define HEAD "diff --git a/f.c b/f.c\n--- a/f.c\n+++ b/f.c\n"
#define BODY "@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+FIVE\n six\n seven\n eight\n"

/* clang-format off */
static const struct ladder_case cases[] = {
	{ "exact", HEAD BODY, "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n",
	  "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n", APPLY_EXACT, false },
	{ "offset down", HEAD BODY, "x\ny\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n",
	  "x\ny\none\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n", APPLY_OFFSET, false },
	{ "offset up", HEAD BODY, "two\nthree\nfour\nfive\nsix\nseven\neight\n",
	  "two\nthree\nfour\nFIVE\nsix\nseven\neight\n", APPLY_OFFSET, false },
	{ "already there", HEAD BODY, "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n",
	  "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n", APPLY_EXACT, true },
	{ "already there, elsewhere", HEAD BODY, "a\nb\none\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n",
	  "a\nb\none\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n", APPLY_EXACT, true },
	{ "already there, a copy of its neighbours", HEAD "@@ -2,3 +2,5 @@\n x\n }\n+x\n+}\n end\n",
	  "new\nnew\na\nx\n}\nx\n}\nend\n", "new\nnew\na\nx\n}\nx\n}\nend\n", APPLY_EXACT, true },
	{ "a copy of its neighbours, with offset", HEAD "@@ -2,3 +2,5 @@\n x\n }\n+x\n+}\n end\n",
	  "new\nnew\na\nx\n}\nend\n", "new\nnew\na\nx\n}\nx\n}\nend\n", APPLY_OFFSET, false },
	{ "fuzz 1", HEAD BODY, "one\n2\nthree\nfour\nfive\nsix\nseven\n8\n",
	  "one\n2\nthree\nfour\nFIVE\nsix\nseven\n8\n", APPLY_FUZZ, false },
	{ "fuzz 2", HEAD BODY, "one\n2\n3\nfour\nfive\nsix\n7\n8\n",
	  "one\n2\n3\nfour\nFIVE\nsix\n7\n8\n", APPLY_FUZZ, false },
	{ "blanks do not count", HEAD BODY, "one\ntwo\n  three\nfour\n\tfive\nsix \nseven\neight\n",
	  "one\ntwo\n  three\nfour\nFIVE\nsix \nseven\neight\n", APPLY_FUZZ, false },
	{ "context: removed line rewritten by the agent", HEAD BODY,
	  "one\ntwo\nthree\nfour\ncinq\ncinq bis\nsix\nseven\neight\n",
	  "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n", APPLY_CONTEXT, false },
	{ "fuzz 3: the removed line is somewhere else, its surroundings are gone", HEAD BODY,
	  "a\nb\nc\nfive\nd\n", "a\nb\nc\nFIVE\nd\n", APPLY_FUZZ, false },
	{ "context: indentation of the file is taken over", HEAD BODY,
	  "a\nb\nc\n    five\nd\n", "a\nb\nc\n    FIVE\nd\n", APPLY_CONTEXT, false },
	{ "context: one line, twice equally near", HEAD BODY,
	  "a\nb\nc\nfive\nd\nfive\nx\n", NULL, 0, false },
	{ "context: window with an anchor", HEAD
	  "@@ -2,4 +2,5 @@\n two\n-three\n+drei\n+dreieinhalb\n four\n five\n",
	  "one\nTWO\nTHREE\nfour\nFUENF\nsix\n", "one\ntwo\ndrei\ndreieinhalb\nfour\nfive\nsix\n", APPLY_CONTEXT, false },
	{ "nothing left", HEAD BODY, "a\nb\nc\nd\n", NULL, 0, false },
	{ "ambiguous offset", HEAD "@@ -4,1 +4,1 @@\n-x\n+y\n", "a\nb\nx\nc\nx\nd\n", NULL, 0, false },
	{ "stated line wins over another copy", HEAD "@@ -3,1 +3,1 @@\n-x\n+y\n",
	  "x\na\nx\nb\nx\n", "x\na\ny\nb\nx\n", APPLY_EXACT, false },
	{ "two hunks, the second shifted", HEAD
	  "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n@@ -5,2 +5,2 @@\n five\n-six\n+SIX\n",
	  "one\ntwo\nthree\nnew\nfour\nfive\nsix\nseven\n", "ONE\ntwo\nthree\nnew\nfour\nfive\nSIX\nseven\n",
	  APPLY_OFFSET, false },
	{ "insertion without context", HEAD "@@ -1,0 +2,1 @@\n+x\n", "a\nb\n", "a\nx\nb\n", APPLY_EXACT, false },
	{ "insertion without context, again", HEAD "@@ -1,0 +2,1 @@\n+x\n", "a\nx\nb\n", "a\nx\nb\n", APPLY_EXACT, true },
	{ "deletion already done", HEAD "@@ -1,4 +1,3 @@\n a\n b\n-c\n d\n", "a\nb\nd\n", "a\nb\nd\n", APPLY_EXACT, true },
	{ "LF patch on CRLF file", HEAD "@@ -1,2 +1,3 @@\n a\n+x\n b\n", "a\r\nb\r\n", "a\r\nx\r\nb\r\n", APPLY_EXACT, false },
	{ "CRLF patch on LF file", "diff --git a/f.c b/f.c\r\n--- a/f.c\r\n+++ b/f.c\r\n@@ -1,2 +1,3 @@\r\n a\r\n+x\r\n b\r\n",
	  "a\nb\n", "a\nx\nb\n", APPLY_EXACT, false },
	{ "CRLF patch with an eaten blank", "--- a/f.c\r\n+++ b/f.c\r\n@@ -1,3 +1,4 @@\r\n a\r\n\r\n+x\r\n b\r\n",
	  "a\n\nb\n", "a\n\nx\nb\n", APPLY_EXACT, false },
	{ "ends changed by the patch itself", HEAD "@@ -1,2 +1,2 @@\n-a\n+a\r\n b\n", "a\nb\n", "a\r\nb\n", APPLY_EXACT, false },
	{ "newline at the end is taken away", HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n",
	  "a\nb\n", "a\nb", APPLY_EXACT, false },
	{ "newline at the end is added", HEAD "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
	  "a\nb", "a\nb\n", APPLY_EXACT, false },
	{ "lines behind a last line without newline", HEAD "@@ -2,0 +3,1 @@\n+c\n", "a\nb", "a\nb\nc\n", APPLY_EXACT, false },
	{ "no newline in the patch, more lines in the file", HEAD
	  "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
	  "a\nb\nz\n", "a\nc\nz\n", APPLY_FUZZ, false },
	{ "plain unified diff", "--- f.c\t2026-01-01 00:00:00.0 +0000\n+++ f.c\t2026-01-02 00:00:00.0 +0000\n@@ -1 +1 @@\n-a\n+b\n",
	  "a\n", "b\n", APPLY_EXACT, false },
	{ "plain unified diff with prefixes", "--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\n+b\n", "a\n", "b\n", APPLY_EXACT, false },
	{ "git diff without prefixes", "diff --git f.c f.c\nindex 1..2 100644\n--- f.c\n+++ f.c\n@@ -1 +1 @@\n-a\n+b\n",
	  "a\n", "b\n", APPLY_EXACT, false },
	{ "text around the diff", "From: me\nSubject: --- x\n\n---\n f.c | 2 +-\n\n" HEAD "@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n\n",
	  "a\n", "b\n", APPLY_EXACT, false },
	{ "last newline of the diff is missing", HEAD "@@ -1 +1 @@\n-a\n+b", "a\n", "b\n", APPLY_EXACT, false },
	{ "stated line far outside", HEAD "@@ -2000000000,1 +2000000000,1 @@\n-a\n+b\n", "a\n", "b\n", APPLY_OFFSET, false },
};
/* clang-format on */

static void test_ladder(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct ladder_case *c = &cases[i];
		struct mem_tree t = one("f.c", c->before);
		struct apply_result r;
		int rc = run(c->diff, &t, APPLY_CONTEXT, &r);
		bool good;

		if (!c->after) {
			tap_ok(rc == 0 && r.reason && r.n == 0, "%s: refused", c->name);
			if (r.reason)
				tap_diag("%s", r.reason);
			apply_result_done(&r);
			continue;
		}
		good = rc == 1 && r.n == 1 && r.file[0].after_len == strlen(c->after) &&
		       !memcmp(r.file[0].after, c->after, r.file[0].after_len) &&
		       r.method == c->method && r.changed == !c->unchanged;
		tap_ok(good, "%s", c->name);
		if (!good)
			tap_diag("rc %d method %s changed %d after \"%s\" reason %s", rc,
				 apply_method_name(r.method), r.changed, r.n ? r.file[0].after : "",
				 r.reason ? r.reason : "-");
		apply_result_done(&r);
	}
}

static void test_most(void)
{
	struct mem_tree t = one("f.c", "a\nb\nc\n    five\nd\n");
	struct apply_result r;

	tap_ok(run(HEAD BODY, &t, APPLY_FUZZ, &r) == 0 && r.reason,
	       "no context step when not allowed");
	apply_result_done(&r);
	t = one("f.c", "x\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
	tap_ok(run(HEAD BODY, &t, APPLY_EXACT, &r) == 1, "exact when only exact is allowed");
	apply_result_done(&r);
	t = one("f.c", "x\ny\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
	tap_ok(run(HEAD BODY, &t, APPLY_EXACT, &r) == 0,
	       "offset refused when only exact is allowed");
	apply_result_done(&r);
}

static void test_files(void)
{
	static const char add[] = "diff --git a/n.c b/n.c\nnew file mode 100755\nindex 0..1\n"
				  "--- /dev/null\n+++ b/n.c\n@@ -0,0 +1,2 @@\n+x\n+y\n";
	static const char del[] = "diff --git a/n.c b/n.c\ndeleted file mode 100644\nindex 1..0\n"
				  "--- a/n.c\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n";
	static const char mode[] = "diff --git a/n.c b/n.c\nold mode 100644\nnew mode 100755\n";
	static const char ren[] =
		"diff --git a/my old.c b/n.c\nsimilarity index 90%\n"
		"rename from my old.c\nrename to n.c\n--- a/my old.c\t\n+++ b/n.c\n"
		"@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
	struct mem_tree none = { .n = 0 }, has = one("n.c", "x\ny\n"), other = one("n.c", "q\n");
	struct mem_tree old = one("my old.c", "x\ny\n");
	struct apply_result r;

	tap_ok(run(add, &none, APPLY_CONTEXT, &r) == 1 && r.changed && r.file[0].mode == 0100755 &&
		       !r.file[0].existed && !strcmp(r.file[0].after, "x\ny\n"),
	       "a file is made");
	apply_result_done(&r);
	tap_ok(run(add, &other, APPLY_CONTEXT, &r) == 0 && r.reason, "a different file is there");
	apply_result_done(&r);
	tap_ok(run(add, &has, APPLY_CONTEXT, &r) == 1 && !r.changed, "the same file is there");
	apply_result_done(&r);
	tap_ok(run(del, &has, APPLY_CONTEXT, &r) == 1 && r.changed && r.file[0].mode == 0 &&
		       !r.file[0].after,
	       "a file is removed");
	apply_result_done(&r);
	tap_ok(run(del, &none, APPLY_CONTEXT, &r) == 1 && !r.changed, "it is gone already");
	apply_result_done(&r);
	tap_ok(run(del, &other, APPLY_CONTEXT, &r) == 0, "a different file is not removed");
	apply_result_done(&r);
	tap_ok(run(mode, &has, APPLY_CONTEXT, &r) == 1 && r.changed && r.file[0].mode == 0100755 &&
		       !strcmp(r.file[0].after, "x\ny\n"),
	       "a mode is changed");
	apply_result_done(&r);
	tap_ok(run(ren, &old, APPLY_CONTEXT, &r) == 1 && r.n == 2 && r.file[0].mode == 0 &&
		       !strcmp(r.file[1].path, "n.c") && !strcmp(r.file[1].after, "x\nz\n"),
	       "a file with a blank in its name is renamed and changed");
	apply_result_done(&r);
	tap_ok(run(HEAD BODY, &none, APPLY_CONTEXT, &r) == 0 && strstr(r.reason, "is not there"),
	       "a missing file is a reason");
	apply_result_done(&r);
	has.broken = true;
	tap_ok(run(del, &has, APPLY_CONTEXT, &r) == -ERR_SYS && !r.n, "a read error comes through");
	tap_ok(run(HEAD "@@ -1 +1 @@\n-a\n+b\n" HEAD "@@ -1 +1 @@\n-b\n+c\n",
		   &(struct mem_tree){ .n = 1, .f = { { "f.c", "a\n", 2, 0100600 } } },
		   APPLY_CONTEXT, &r) == 1 &&
		       r.n == 1 && !strcmp(r.file[0].after, "c\n") && r.file[0].mode == 0100600,
	       "two parts for one file build on each other, the mode stays");
	apply_result_done(&r);
}

static void test_parse(void)
{
	static const char *const bad[] = {
		"",
		"hello\n",
		"--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
		"--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n",
		"diff --git a/.git/config b/.git/config\n--- a/.git/config\n+++ b/.git/config\n"
		"@@ -1 +1 @@\n-a\n+b\n",
		HEAD "@@ -1 +1 @@\n-a\n+b\n+c\n",
		HEAD "@@ -1 +1 @@\n-a\n+b\n c\n",
		HEAD "@@ -1,9 +1 @@\n-a\n+b\n",
		HEAD "@@ -1 +1 @@\nxa\n+b\n",
		"diff --git \"a/x\\000y\" \"b/x\\000y\"\n@@ -1 +1 @@\n-a\n+b\n",
		"diff --git a/f b/f\nnew file mode 9999999999999\n",
	};
	static const char late[] = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -5 +5 @@\nbad\n";
	struct patch *p = NULL;
	uint64_t added, removed;
	struct err err = { ERR_NONE, 0, "" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int rc = patch_parse(bad[i], strlen(bad[i]), &p, &err);

		tap_ok(rc == -ERR_INPUT && !p, "bad diff %zu: %s", i, err.text);
		p = patch_free(p);
	}
	tap_ok(patch_parse(late, strlen(late), &p, &err) < 0 && strstr(err.text, "line 7"),
	       "the line of the error is the user's: %s", err.text);
	tap_ok(patch_parse(HEAD BODY, strlen(HEAD BODY), &p, &err) == 0, "a good one");
	tap_is_u64(patch_files(p), 1, "one file");
	tap_is_str(patch_path(p, 0), "f.c", "its name");
	patch_counts(p, &added, &removed);
	tap_ok(added == 1 && removed == 1, "counts");
	p = patch_free(p);
}

/* Random numbers that are the same everywhere. */
static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

struct doc {
	char line[400][24];
	size_t n;
	bool no_end;
};

static void doc_make(struct doc *d, size_t n, unsigned kinds)
{
	d->n = n;
	d->no_end = rnd(4) == 0;
	for (size_t i = 0; i < n; i++)
		snprintf(d->line[i], sizeof(d->line[i]), "l%" PRIu64, rnd(kinds));
}

/* Random line edits in [from, to). */
static void doc_edit(struct doc *d, size_t from, size_t to, size_t edits, unsigned kinds)
{
	for (size_t k = 0; k < edits && d->n < 390 && d->n > 2; k++) {
		size_t at = from + (size_t)rnd(to > from ? to - from : 1);

		if (at >= d->n)
			at = d->n - 1;
		switch (rnd(3)) {
		case 0:
			snprintf(d->line[at], sizeof(d->line[at]), "n%" PRIu64, rnd(kinds));
			break;
		case 1:
			memmove(d->line[at + 1], d->line[at], (d->n - at) * sizeof(d->line[0]));
			d->n++;
			snprintf(d->line[at], sizeof(d->line[at]), "i%" PRIu64, rnd(kinds));
			break;
		default:
			memmove(d->line[at], d->line[at + 1], (d->n - at - 1) * sizeof(d->line[0]));
			d->n--;
		}
	}
}

static char *doc_text(const struct doc *d)
{
	auto_buf b = BUF_INIT(1u << 20);

	for (size_t i = 0; i < d->n; i++)
		buf_addf(&b, "%s%s", d->line[i], i + 1 == d->n && d->no_end ? "" : "\n");
	return buf_steal(&b, NULL);
}

static char *slurp(const char *path)
{
	auto_buf b = BUF_INIT(1u << 20);

	if (fd_read_file(path, &b, NULL) < 0)
		return NULL;
	return buf_steal(&b, NULL);
}

static void spit(const char *path, const char *s)
{
	struct err err;

	if (fd_replace_file(path, s, strlen(s), &err) < 0)
		tap_diag("%s", err.text);
}

struct tally {
	unsigned same, differ, ours_only, theirs_only, neither;
};

/* Apply @diff to @text with us and with @tool; count agreement. */
static void compare(const char *diff, const char *text, const char *tool, struct tally *t)
{
	struct mem_tree tree = one("f.txt", text);
	struct apply_result r;
	auto_free char *theirs = NULL;
	int rc = run(diff, &tree, APPLY_OFFSET, &r), st;

	spit("f.txt", text);
	st = system(tool);
	theirs = slurp("f.txt");
	if (st == 0 && rc == 1 && theirs && !strcmp(theirs, r.file[0].after))
		t->same++;
	else if (st == 0 && rc == 1) {
		t->differ++;
		tap_diag("differ: %s\n--diff\n%s\n--before\n%s\n--ours\n%s\n--theirs\n%s", tool,
			 diff, text, r.file[0].after, theirs);
	} else if (rc == 1)
		t->ours_only++;
	else if (st == 0) {
		t->theirs_only++;
		tap_diag("theirs only: %s", r.reason);
	} else
		t->neither++;
	apply_result_done(&r);
}

static void test_random(unsigned rounds)
{
	struct tally exact = { 0 }, git = { 0 }, gnu = { 0 };

	for (unsigned i = 0; i < rounds; i++) {
		struct doc a, b, c;
		auto_free char *ta = NULL, *tb = NULL, *tc = NULL, *diff = NULL, *cmd = NULL;

		/* few kinds of lines first (many repeats), later all different */
		doc_make(&a, 20 + (size_t)rnd(100), i % 3 == 0 ? 12 : 1000000);
		b = a;
		doc_edit(&b, 30, 60, 1 + (size_t)rnd(8), 1000000);
		c = a;
		doc_edit(&c, 0, 20, 1 + (size_t)rnd(5), 1000000);
		ta = doc_text(&a);
		tb = doc_text(&b);
		tc = doc_text(&c);
		spit("a", ta);
		spit("b", tb);
		cmd = mem_printf("diff -U%u --label a/f.txt --label b/f.txt a b > d",
				 (unsigned)rnd(4));
		if (WEXITSTATUS(system(cmd)) > 1) /* 1 = they differ */
			tap_ok(false, "diff(1) works");
		diff = slurp("d");
		if (!diff || !*diff)
			continue;
		{
			struct mem_tree t = one("f.txt", ta);
			struct apply_result r;
			int rc = run(diff, &t, APPLY_EXACT, &r);

			if (rc == 1 && !strcmp(r.file[0].after, tb))
				exact.same++;
			else {
				exact.differ++;
				tap_diag("rc %d %s\n%s", rc, r.reason ? r.reason : "", diff);
			}
			apply_result_done(&r);
		}
		if (i % 3 == 0 || strstr(diff, " l") == NULL)
			continue;
		compare(diff, tc, "git apply -p1 d 2>/dev/null", &git);
		compare(diff, tc,
			"patch -s -p1 -F0 --no-backup-if-mismatch -r - <d >/dev/null 2>&1", &gnu);
	}
	tap_ok(exact.same > rounds / 2 && exact.differ == 0, "diff -u then apply: %u equal",
	       exact.same);
	tap_ok(git.differ == 0 && git.theirs_only == 0 && git.same > 10,
	       "as git apply after other edits: %u same, %u ours only, %u neither", git.same,
	       git.ours_only, git.neither);
	tap_ok(gnu.differ == 0 && gnu.theirs_only == 0 && gnu.same > 10,
	       "as patch after other edits: %u same, %u ours only, %u neither", gnu.same,
	       gnu.ours_only, gnu.neither);
}

/* Binary changes as git makes them: a literal and a delta. */
static void test_binary(void)
{
	static const char make[] =
		"git init -q r && cd r && printf 'a\\0b' >s.bin && printf '\\0' >big.bin && "
		"seq 3000 >>big.bin && git add . && git -c user.email=a -c user.name=a commit -qm 1 && "
		"printf 'a\\0c' >s.bin && echo x >>big.bin && printf 'n\\0' >'new one.bin' && git add -A && "
		"git diff --cached --binary >../bin.diff && cp s.bin ../s.new && cp big.bin ../big.new && "
		"git show HEAD:big.bin >../big.old";
	auto_buf old = BUF_INIT(1u << 20), new = BUF_INIT(1u << 20);
	auto_free char *diff = NULL;
	struct mem_tree t = { .n = 2 };
	struct apply_result r;

	if (!tap_ok(system(make) == 0, "git makes a binary diff"))
		return;
	diff = slurp("bin.diff");
	fd_read_file("big.old", &old, NULL);
	fd_read_file("big.new", &new, NULL);
	t.f[0] = (struct mem_file){ "big.bin", old.data, old.len, 0 };
	t.f[1] = (struct mem_file){ "s.bin", "a\0b", 3, 0 };
	tap_ok(run(diff, &t, APPLY_CONTEXT, &r) == 1 && r.n == 3, "it applies");
	if (r.n == 3) {
		tap_ok(r.file[0].after_len == new.len &&
			       !memcmp(r.file[0].after, new.data, new.len),
		       "delta");
		tap_ok(r.file[2].after_len == 3 && !memcmp(r.file[2].after, "a\0c", 3), "literal");
		tap_ok(!strcmp(r.file[1].path, "new one.bin") && r.file[1].after_len == 2,
		       "new file");
	}
	apply_result_done(&r);
	t.f[0] = (struct mem_file){ "big.bin", new.data, new.len, 0 };
	t.f[1].data = "a\0c";
	t.f[2] = (struct mem_file){ "new one.bin", "n\0", 2, 0 };
	t.n = 3;
	tap_ok(run(diff, &t, APPLY_CONTEXT, &r) == 1 && !r.changed, "it is there already");
	apply_result_done(&r);
	t.n = 2;
	t.f[0] = (struct mem_file){ "big.bin", old.data, old.len, 0 };
	t.f[1].data = "a\0x";
	tap_ok(run(diff, &t, APPLY_CONTEXT, &r) == 0 && r.reason, "not on other bytes: %s",
	       r.reason ? r.reason : "-");
	apply_result_done(&r);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/test-apply-XXXXXX";
	auto_free char *rm = NULL;

	test_ladder();
	test_most();
	test_files();
	test_parse();
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	setenv("GIT_CEILING_DIRECTORIES", "/tmp", 1);
	test_binary();
	test_random(argc > 1 ? (unsigned)atoi(argv[1]) : 60);
	rm = mem_printf("rm -rf %s", dir);
	tap_ok(system(rm) == 0, "clean up");
	return tap_done();
}
