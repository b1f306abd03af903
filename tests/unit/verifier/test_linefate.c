/* What became of the lines of an edit: small files, one letter a line. */
#include "verifier/linefate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

enum { STATES = 6 };

/* States are texts in which each letter is a line ('}' and '.' are bare ones, '.' the empty line); NULL ends
 * the chain, "-" is no file. */
struct row {
	const char *name, *before;
	const char *chain[STATES];
	const char *fates; /* per added line: k kept, c changed, r removed */
	unsigned deleted, restored;
	const char *flags; /* R reverted, P replaced */
	const char *steps; /* per added line: where it was lost, NULL = not asked */
};

/* clang-format off */
static const struct row rows[] = {
	{ "nothing follows",                      "abc",  { "aXbc" }, "k", 0, 0, "", "0" },
	{ "the agent works elsewhere",            "abc",  { "aXbc", "aXbQ" }, "k", 0, 0, "", "0" },
	{ "two lines kept among new ones",        "abc",  { "aXYbc", "QaXYbcQ" }, "kk", 0, 0, "", "00" },
	{ "new lines between ours",               "abc",  { "aXYbc", "aXQYbc" }, "kk", 0, 0, "P", "00" },
	{ "reverted",                             "abc",  { "aXbc", "abc" }, "r", 0, 0, "R", "1" },
	{ "reverted in the second step",          "abc",  { "aXbc", "aXbQ", "abQ" }, "r", 0, 0, "R", "2" },
	{ "reverted, with a fix elsewhere",       "abcdef", { "aXbcdef", "abcdQf" }, "r", 0, 0, "R", "1" },
	{ "reverted beside a rewritten line",     "abc",  { "aXbc", "Qbc" }, "r", 0, 0, "R", "1" },
	{ "replaced by another line",             "abc",  { "aXbc", "aQbc" }, "c", 0, 0, "P", "1" },
	{ "replaced by two lines",                "abc",  { "aXbc", "aQPbc" }, "c", 0, 0, "P", "1" },
	{ "two lines replaced by one",            "abc",  { "aXYbc", "aQbc" }, "cr", 0, 0, "P", "11" },
	{ "one of two removed",                   "abc",  { "aXYbc", "aXbc" }, "kr", 0, 0, "", "01" },
	{ "one of two changed",                   "abc",  { "aXYbc", "aXQbc" }, "kc", 0, 0, "P", "01" },
	{ "one after the other",                  "abc",  { "aXYbc", "aYbc", "abc" }, "rr", 0, 0, "R", "12" },
	{ "taken out and put back",               "abc",  { "aXbc", "abc", "aXbc" }, "k", 0, 0, "", "0" },
	{ "taken out and half put back",          "abc",  { "aXYbc", "abc", "aYbc" }, "rk", 0, 0, "", "10" },
	{ "taken out twice",                      "abc",  { "aXbc", "abc", "aXbc", "abc" }, "r", 0, 0, "R", "3" },
	{ "moved past another line: lost",        "abc",  { "aXYbc", "aYXbc" }, "rk", 0, 0, "P", "10" },
	{ "the file is rewritten, ours in it",    "abc",  { "aXbc", "QWXbE" }, "k", 0, 0, NULL, "0" },
	{ "the file is emptied",                  "abc",  { "aXbc", "" }, "r", 0, 0, "", "1" },
	{ "the file is removed",                  "abc",  { "aXbc", "-" }, "r", 0, 0, "", "1" },
	{ "removed and made again as before",     "abc",  { "aXbc", "-", "abc" }, "r", 0, 0, "R", "1" },
	{ "a replacing edit kept",                "abc",  { "aXc" }, "k", 1, 0, "", "0" },
	{ "a replacing edit undone",              "abc",  { "aXc", "abc" }, "c", 1, 1, "R", "1" },
	{ "a replacing edit replaced",            "abc",  { "aXc", "aQc" }, "c", 1, 0, "P", "1" },
	{ "old line back beside ours",            "abc",  { "aXc", "aXbc" }, "k", 1, 1, NULL, "0" },
	{ "a deleting edit kept",                 "abcd", { "ad" }, "", 2, 0, "", NULL },
	{ "a deleting edit undone",               "abcd", { "ad", "abcd" }, "", 2, 2, "R", NULL },
	{ "a deleting edit half undone",          "abcd", { "ad", "acd" }, "", 2, 1, "", NULL },
	{ "other lines where some were deleted",  "abcd", { "ad", "aQd" }, "", 2, 0, "P", NULL },
	{ "undone with a fix on the border",      "abcd", { "ad", "aQbcd" }, "", 2, 2, "R", NULL },
	{ "two places, one undone",               "abcdef", { "aXbcdeYf", "abcdeYf" }, "rk", 0, 0, "", "10" },
	{ "two places, both undone",              "abcdef", { "aXbcdeYf", "abcdef" }, "rr", 0, 0, "R", "11" },
	{ "two places, one replaced",             "abcdef", { "aXbcdeYf", "aQbcdef" }, "cr", 0, 0, "P", "11" },
	{ "a block with a brace undone: which brace went is nobody's choice",
						  "ab}c", { "ab}XY}c", "ab}c" }, "rrr", 0, 0, "R", "111" },
	{ "the same, with a fix elsewhere",       "ab}cdef", { "ab}XY}cdef", "ab}cdQf" }, "rrr", 0, 0, "R", "111" },
	{ "a brace of it stays, the rest goes",   "ab}c", { "ab}XY}c", "ab}}c" }, "rrk", 0, 0, "", "110" },
	{ "an empty line stays",                  "abc",  { "a.Xbc", "a.bc" }, "kr", 0, 0, "", "01" },
	{ "a new file kept",                      "-",    { "XY" }, "kk", 0, 0, "", "00" },
	{ "a new file removed",                   "-",    { "XY", "-" }, "rr", 0, 0, "R", "11" },
	{ "a new file rewritten",                 "-",    { "XY", "Q" }, "cr", 0, 0, "P", "11" },
	{ "an edit that deletes the file",        "ab",   { "-" }, "", 2, 0, "", NULL },
	{ "an edit that deletes the file, undone","ab",   { "-", "ab" }, "", 2, 2, "R", NULL },
	{ "an edit of nothing",                   "abc",  { "abc", "aQc" }, "", 0, 0, "", NULL },
	{ "equal lines: ours goes, the old one stays", "aXb", { "aXXb", "aXb" }, "r", 0, 0, "R", "1" },
};
/* clang-format on */

static char *text_of(const char *letters)
{
	char *out = mem_zalloc(2 * strlen(letters) + 1, 1), *p = out;

	for (const char *c = letters; *c; c++) {
		if (*c != '.')
			*p++ = *c;
		*p++ = '\n';
	}
	return out;
}

static struct linefate_image image_of(const char *letters, char **ret)
{
	*ret = text_of(letters);
	if (strcmp(letters, "-") == 0)
		return (struct linefate_image){ 0 };
	return (struct linefate_image){ *ret, strlen(*ret) };
}

static void check(const struct row *r, const struct linefate *f, const struct linefate_image *last)
{
	static const char names[] = {
		[FATE_KEPT] = 'k', [FATE_CHANGED] = 'c', [FATE_REMOVED] = 'r'
	};
	char fates[16] = "", steps[16] = "", flags[4] = "";

	for (size_t i = 0; i < f->n && i < 15; i++) {
		fates[i] = names[f->v[i].fate];
		steps[i] = (char)('0' + f->v[i].step);
		tap_ok((f->v[i].fate == FATE_KEPT) == (f->v[i].at != 0) && f->v[i].at <= last->len,
		       "%s: line %zu is somewhere when kept", r->name, i);
	}
	snprintf(flags, sizeof(flags), "%s%s", f->reverted ? "R" : "", f->replaced ? "P" : "");
	tap_is_str(fates, r->fates, r->name);
	if (r->steps)
		tap_is_str(steps, r->steps, "  when");
	if (r->flags)
		tap_is_str(flags, r->flags, "  flags");
	tap_ok(f->deleted == r->deleted && f->restored == r->restored,
	       "  %s: %u deleted, %u restored", r->name, (unsigned)f->deleted,
	       (unsigned)f->restored);
	tap_ok(f->kept + f->changed + f->removed == f->n && f->telling_kept <= f->telling &&
		       f->telling <= f->n && f->telling_restored <= f->telling_deleted,
	       "  counts");
}

static void run_row(const struct row *r)
{
	struct linefate_image chain[STATES], before;
	char *owned[STATES + 1];
	struct linefate f = { 0 };
	size_t n = 0;

	before = image_of(r->before, &owned[STATES]);
	for (; n < STATES && r->chain[n]; n++)
		chain[n] = image_of(r->chain[n], &owned[n]);
	linefate_of(&before, chain, n, &f);
	check(r, &f, &chain[n - 1]);
	linefate_done(&f);
	for (size_t i = 0; i < n; i++)
		free(owned[i]);
	free(owned[STATES]);
}

static void telling(void)
{
	struct linefate_image before = { "a\nb\n", 4 },
			      chain[] = { { "a\nif (x)\n\t}\n\nb\n", 15 }, { "a\n\t}\n\nb\n", 8 } };
	struct linefate f;

	linefate_of(&before, chain, 2, &f);
	tap_ok(f.n == 3 && !f.v[0].bare && f.v[1].bare && f.v[2].bare && f.telling == 1 &&
		       f.telling_kept == 0 && f.kept == 2,
	       "what is left are a brace and an empty line");
	linefate_done(&f);
}

static void ends(void)
{
	struct linefate_image before = { "a\r\nb", 4 },
			      chain[] = { { "a\r\nX\r\nb", 7 }, { "a\nX\nb", 5 } };
	struct linefate f;

	linefate_of(&before, chain, 2, &f);
	tap_ok(f.n == 1 && f.v[0].fate == FATE_KEPT, "other line ends keep a line");
	linefate_done(&f);
}

static void follow(void)
{
	struct linefate_image a = { "a\nb\nc\nd\n", 8 }, b = { "Q\na\nb\nc\nd\n", 10 },
			      c = { "a\nd\n", 4 }, none = { 0 };
	uint64_t first = 0, last = 0;

	tap_ok(linefate_follow(&a, &b, 2, 3, &first, &last) && first == 3 && last == 4,
	       "moved down");
	tap_ok(linefate_follow(&a, &c, 2, 3, &first, &last) && first == 2 && last == 2,
	       "gone: the line behind");
	tap_ok(linefate_follow(&b, &c, 5, 5, &first, &last) && first == 2 && last == 2, "moved up");
	tap_ok(!linefate_follow(&a, &none, 2, 3, &first, &last), "no file");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
	telling();
	ends();
	follow();
	return tap_done();
}
