/* Changes of a diff: places and text. */
#include "verifier/difflines.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

struct row {
	const char *name, *diff;
	const char *want; /* per change: path old_first,old_n new_first,new_n -removed+added */
};

#define HEAD "diff --git a/f.c b/f.c\nindex 1..2 100644\n--- a/f.c\n+++ b/f.c\n"

/* clang-format off */
static const struct row rows[] = {
	{ "added lines",    HEAD "@@ -3,2 +3,4 @@ int f(void)\n a\n+x\n+y\n b\n", "f.c 4,0 4,2 +x+y;" },
	{ "removed lines",  HEAD "@@ -3,3 +3,1 @@\n a\n-x\n-y\n", "f.c 4,2 4,0 -x-y;" },
	{ "two changes",    HEAD "@@ -1,3 +1,3 @@\n-x\n+y\n a\n-z\n+w\n", "f.c 1,1 1,1 -x+y;f.c 3,1 3,1 -z+w;" },
	{ "added before removed are two", HEAD "@@ -1,1 +1,1 @@\n+y\n-x\n", "f.c 1,0 1,1 +y;f.c 1,1 2,0 -x;" },
	{ "no context",     HEAD "@@ -3,0 +4,1 @@\n+x\n@@ -7 +8,0 @@\n-y\n", "f.c 4,0 4,1 +x;f.c 7,1 9,0 -y;" },
	{ "no end of line", HEAD "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n", "f.c 1,1 1,1 -x+y;" },
	{ "a new file",     "--- /dev/null\n+++ b/n.c\n@@ -0,0 +1,1 @@\n+x\n", "n.c 1,0 1,1 +x;" },
	{ "a file that goes", "--- a/n.c\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n", "n.c 1,1 1,0 -x;" },
	{ "a line that looks like a header", HEAD "@@ -1,2 +1,1 @@\n--- a/x\n a\n", "f.c 1,1 1,0 --- a/x;" },
	{ "a quoted name",  "--- \"a/\\303\\244 b\\\"c.c\"\n+++ \"b/\\303\\244 b\\\"c.c\"\n@@ -1 +1 @@\n-x\n+y\n", "\303\244 b\"c.c 1,1 1,1 -x+y;" },
	{ "a time behind the name", "--- f.c\t2020-01-01\n+++ f.c\t2020-01-02\n@@ -1 +1 @@\n-x\n+y\n", "f.c 1,1 1,1 -x+y;" },
	{ "CRLF",           "--- a/f.c\r\n+++ b/f.c\r\n@@ -1 +1 @@\r\n-x\r\n+y\r\n", "f.c 1,1 1,1 -x+y;" },
	{ "cut off",        HEAD "@@ -1,9 +1,9 @@\n a\n-x\n", "f.c 2,1 2,0 -x;" },
	{ "text behind a short hunk", HEAD "@@ -1,9 +1,9 @@\n-x\ndiff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n", "f.c 1,1 1,0 -x;g 1,1 1,1 -x+y;" },
	{ "a blank context line without its blank", HEAD "@@ -1,2 +1,3 @@\n a\n\n+x\n", "f.c 3,0 3,1 +x;" },
	{ "a hunk without a file", "@@ -1 +1 @@\n-x\n+y\n", "" },
	{ "a hunk of nonsense", HEAD "@@ -x +y @@\n-x\n", "" },
	{ "a hunk of a huge number", HEAD "@@ -99999999999999999999 +1 @@\n-x\n", "" },
	{ "nothing",        "", "" },
};
/* clang-format on */

static void print(const struct difflines *d, char *out, size_t room)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < d->n; i++) {
		const struct diffline_change *c = &d->v[i];

		n += (size_t)snprintf(out + n, room - n, "%s %u,%u %u,%u ", d->file[c->file].path,
				      (unsigned)c->old_first, (unsigned)c->old_n,
				      (unsigned)c->new_first, (unsigned)c->new_n);
		for (uint64_t k = 0; k < c->old_n; k++) {
			const struct diffline *l = difflines_removed(d, c, k);

			n += (size_t)snprintf(out + n, room - n, "-%.*s", (int)l->n, l->p);
		}
		for (uint64_t k = 0; k < c->new_n; k++) {
			const struct diffline *l = difflines_added(d, c, k);

			n += (size_t)snprintf(out + n, room - n, "+%.*s", (int)l->n, l->p);
		}
		n += (size_t)snprintf(out + n, room - n, ";");
	}
}

static void files(void)
{
	static const char text[] =
		"diff --git a/new.c b/new.c\nnew file mode 100644\n--- /dev/null\n+++ b/new.c\n"
		"@@ -0,0 +1 @@\n+x\ndiff --git a/pic b/pic\nBinary files a/pic and b/pic differ\n"
		"@@ -1 +1 @@\n-not of pic\ndiff --git a/old.c b/old.c\n--- a/old.c\n+++ /dev/null\n"
		"@@ -1 +0,0 @@\n-x\n";
	struct difflines d;

	difflines_read(text, sizeof(text) - 1, &d);
	tap_ok(d.n_files == 3 && d.n == 2, "three files, two with lines");
	tap_ok(d.file[0].born && !d.file[0].gone && strcmp(d.file[0].path, "new.c") == 0, "born");
	tap_ok(d.file[1].binary && strcmp(d.file[1].path, "pic") == 0, "binary");
	tap_ok(d.file[2].gone && strcmp(d.file[2].path, "old.c") == 0, "gone");
	difflines_done(&d);
}

static void texts(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{ "a b", "a b", true },   { "\ta  b ", "a b", true }, { "ab", "a b", false },
		{ "", "  ", true },       { "a", "a", true },         { "a", "ab", false },
		{ "a b", "a bc", false }, { "a ", "a", true },        { "x", "y", false },
		{ "a b", "a", false },
	};
	struct diffline brace = { "\t});", 4 }, word = { "\t9", 2 }, umlaut = { "\303\244", 2 };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct diffline a = { pairs[i].a, strlen(pairs[i].a) },
				b = { pairs[i].b, strlen(pairs[i].b) };

		tap_ok(diffline_same(&a, &b) == pairs[i].same &&
			       diffline_same(&b, &a) == pairs[i].same,
		       "\"%s\" and \"%s\"", pairs[i].a, pairs[i].b);
	}
	tap_ok(!diffline_telling(&brace) && diffline_telling(&word) && diffline_telling(&umlaut),
	       "telling lines");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct difflines d;
		char got[512];

		difflines_read(rows[i].diff, strlen(rows[i].diff), &d);
		print(&d, got, sizeof(got));
		tap_is_str(got, rows[i].want, rows[i].name);
		difflines_done(&d);
	}
	files();
	texts();
	return tap_done();
}
