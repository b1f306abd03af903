/* What shell text and its output say: the released rule (triggers/swetouch.h) with, on top, the ranges
 * that known tools show and the diffs and numbered lines that were printed. */
#include "verifier/traj_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "triggers/argvrange.h"
#include "triggers/scan.h"
#include "triggers/shwords.h"
#include "triggers/swetouch.h"

/* As many lines as no file has: a range that reaches so far has no known end. */
#define LINES_UNKNOWN (1ull << 40)
#define NO_END        (1ull << 39)
#define HINTS_MAX     4096u
#define LOOKS_MAX     64u /* simple commands of one text whose ranges are worked out */

/* What one simple command shows of a file. */
struct hint {
	char *path; /* owned, as swetouch.h writes it */
	bool scan;
	bool known; /* range says which lines */
	struct argvrange range;
};

struct hints {
	struct hint *v; /* owned */
	size_t n, cap;
	char *cwd; /* owned: set by cd in the text */
};

static void hints_done(struct hints *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i].path);
	free(h->v);
	free(h->cwd);
}

/* The range as far as it has an end: false when it is all lines. */
static bool usable(const struct argvrange *a)
{
	return a->n && a->v[a->n - 1].last < NO_END && a->v[a->n - 1].first < NO_END;
}

static char *in_cwd(const struct hints *h, const char *path)
{
	auto_free char *joined = h->cwd ? path_join(h->cwd, path) : mem_strdup(path);

	return path_normal(joined);
}

static void hint(struct hints *h, const char *path, bool scan, const struct argvrange *range)
{
	struct hint *v;

	if (h->n >= HINTS_MAX)
		return;
	MEM_GROW(h->v, h->cap, h->n + 1);
	v = &h->v[h->n++];
	*v = (struct hint){ .path = in_cwd(h, path), .scan = scan, .known = range != NULL };
	if (range)
		v->range = *range;
}

/* The one operand of a tool that looks like a file. NULL when there are none or several. */
static const char *one_file(char *const *argv)
{
	const char *found = NULL;

	for (size_t i = 1; argv[i]; i++) {
		if (argv[i][0] == '-' || !strpbrk(argv[i], "./") || strpbrk(argv[i], "{}()$^* "))
			continue;
		if (found)
			return NULL;
		found = argv[i];
	}
	return found;
}

/* One simple command of @text. Files that it shows by a range that the released rule does not know are added
 * to @more. */
static void look(struct hints *h, char *const *argv, const char *text, struct swetouch *more)
{
	char *const whole[] = { (char *)"sh", (char *)"-c", (char *)text, NULL };
	struct swetouch own = { 0 };
	struct argvrange range = { .n = 0 };
	const char *name = path_base(argv[0]), *file;
	bool scan = scan_program(argv, name) != NULL;
	bool known = argvrange_in(argv, name, whole, LINES_UNKNOWN, &range) == 1 && usable(&range);
	bool sed_or_awk = str_eq(name, "sed") || str_eq(name, "awk");

	if (str_eq(name, "cd") && argv[1] && !argv[2] && argv[1][0] != '-') {
		char *next = in_cwd(h, argv[1]);

		free(h->cwd);
		h->cwd = next;
		return;
	}
	swetouch_command(&own, argv);
	for (size_t i = 0; i < own.n; i++)
		if (!own.v[i].edit && !own.v[i].first)
			hint(h, own.v[i].path, scan, known ? &range : NULL);
	file = known && !own.n && sed_or_awk ? one_file(argv) : NULL;
	for (size_t i = 0; file && i < range.n && more->n < SWETOUCH_EVENTS_MAX; i++) {
		MEM_GROW(more->v, more->cap, more->n + 1);
		more->v[more->n++] = (struct swetouch_event){ false, in_cwd(h, file),
							      range.v[i].first, range.v[i].last };
	}
	swetouch_done(&own);
}

static void look_all(struct hints *h, const struct shwords *s, const char *text,
		     struct swetouch *more)
{
	for (size_t i = 0; i < s->n && i < LOOKS_MAX; i++) {
		const struct strv *w = &s->v[i].words;
		size_t at = shwords_start(w);

		if (at < w->n)
			look(h, w->v + at, text, more);
	}
}

static const struct hint *find_hint(const struct hints *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (str_eq(h->v[i].path, path))
			return &h->v[i];
	return NULL;
}

static void edited(struct traj_rec *r, const char *path)
{
	auto_free char *rel = traj_rec_path(r, path);

	traj_rec_add(r, true, path, 0, 0);
	if (rel)
		traj_seen_edit(r->seen, rel, 0, 0, "");
}

static void event(struct traj_rec *r, const struct hints *h, const struct swetouch_event *e)
{
	const struct hint *k = e->first ? NULL : find_hint(h, e->path);
	struct traj *t = traj_rec_traj(r);
	size_t before = t->n;

	if (e->edit) {
		edited(r, e->path);
		return;
	}
	if (k && k->known)
		for (size_t i = 0; i < k->range.n; i++)
			traj_rec_add(r, false, e->path, k->range.v[i].first, k->range.v[i].last);
	else
		traj_rec_add(r, false, e->path, e->first, e->last);
	for (size_t i = before; k && i < t->n; i++)
		t->v[i].scan = k->scan;
}

/* Diffs in the output show what was edited, unless they show history. */
static void printed_diffs(struct traj_rec *r, const char *text, const char *output)
{
	struct traj_diff d = { 0 };

	if (strstr(text, "git show") || strstr(text, "git log") || strstr(text, "git stash show") ||
	    !strstr(output, "\n@@ "))
		return;
	traj_diff_read(&d, output, strlen(output));
	for (size_t i = 0; i < d.n; i++) {
		const struct traj_diff_file *f = &d.file[d.v[i].file];
		struct traj_event e = {
			.edit = true, .path = f->path, .step = r->step, .born = f->born
		};

		traj_diff_new(&d, &d.v[i], &e.first, &e.last);
		traj_diff_old(&d, &d.v[i], &e.base_first, &e.base_last);
		if (path_is_tame(f->path))
			traj_add(traj_rec_traj(r), &e);
	}
	traj_diff_done(&d);
}

/* The output of a command without what harnesses put around it. */
static const char *inner(const char *output)
{
	static const char *const marks[] = { "<output>\n", "Output:\n" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = strstr(output, marks[i]);

		if (at && at - output < 400)
			return at + strlen(marks[i]);
	}
	return output;
}

/* One command that shows one file from one line on: its output is that part of the file. */
static void remember(struct traj_rec *r, const char *path, uint64_t first, const char *output)
{
	auto_free char *rel = traj_rec_path(r, path);
	const char *p = inner(output);

	for (uint64_t line = first; rel && *p; line++) {
		size_t n = strcspn(p, "\n");

		if (str_starts(p, "</output>"))
			break;
		traj_seen_put(r->seen, rel, line, p, n);
		p += n + (p[n] == '\n');
	}
}

/* The program that runs first but for cd, its base name; *ret_n: how many there are. NULL: none. */
static const char *first_program(const struct shwords *s, size_t *ret_n, bool *ret_numbers)
{
	const char *first = NULL;

	*ret_n = 0;
	*ret_numbers = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct strv *w = &s->v[i].words;
		size_t at = shwords_start(w);

		if (at >= w->n || str_eq(w->v[at], "cd"))
			continue;
		if ((*ret_n)++ == 0) {
			first = path_base(w->v[at]);
			*ret_numbers =
				str_eq(first, "nl") || (str_eq(first, "cat") && strv_has(w, "-n"));
		}
	}
	return first;
}

static void output_seen(struct traj_rec *r, const struct shwords *s, const struct swetouch *t,
			const struct hints *h, const char *output)
{
	const struct hint *k = h->n == 1 && !h->v[0].scan ? &h->v[0] : NULL;
	bool numbered;
	size_t programs;
	const char *first = first_program(s, &programs, &numbered);

	if (t->n != 1 || t->v[0].edit || !first)
		return;
	if (numbered)
		traj_listing(r, t->v[0].path, output);
	else if (programs == 1 && t->v[0].first)
		remember(r, t->v[0].path, t->v[0].first, output);
	else if (programs == 1 && k && k->known && k->range.n == 1)
		remember(r, t->v[0].path, k->range.v[0].first, output);
	else if (programs == 1 && k && str_eq(first, "cat"))
		remember(r, t->v[0].path, 1, output);
}

void traj_command(struct traj_rec *r, const char *text, const char *output)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)text, NULL };
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };
	__attribute__((cleanup(swetouch_done))) struct swetouch out = { .v = NULL };
	__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };
	__attribute__((cleanup(hints_done))) struct hints h = { .v = NULL };

	if (traj_patch_text(r, text))
		return;
	shwords_parse(&s, text);
	look_all(&h, &s, text, &t);
	swetouch_text(&t, text);
	for (size_t i = 0; i < t.n; i++)
		event(r, &h, &t.v[i]);
	if (!output || !*output)
		return;
	swetouch_output(&out, argv, output, strlen(output));
	for (size_t i = 0; i < out.n; i++)
		event(r, &h, &out.v[i]);
	output_seen(r, &s, &t, &h, output);
	printed_diffs(r, text, output);
}
