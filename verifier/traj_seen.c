/* What an agent was shown of files, line by line, so that a replacement of text by text can be put
 * down to lines, and lines can be followed back over the replacements. */
#include "verifier/traj_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FILES_MAX 256u
#define LINES_MAX 100000u     /* of one file */
#define BYTES_MAX (64u << 20) /* of all of them */
#define EDITS_MAX 1000u       /* of one file */
#define FIND_MAX  50000000u   /* line comparisons of one record */

/* Lines [first, first + old_n) became [first, first + new_n). */
struct edit {
	uint64_t first, old_n, new_n;
};

struct file {
	char *path;  /* owned */
	char **text; /* owned, of owned: text[i] is line i + 1, NULL = not shown */
	size_t n, cap;
	struct edit *edit; /* owned, in order */
	size_t n_edits, cap_edits;
	bool lost; /* an edit could not be located */
};

struct traj_seen {
	struct file *file; /* owned */
	size_t n, cap;
	size_t bytes;
	uint64_t work; /* comparisons so far */
};

struct traj_seen *traj_seen_new(void)
{
	return mem_zalloc(1, sizeof(struct traj_seen));
}

void traj_seen_free(struct traj_seen *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->file[i].n; k++)
			free(s->file[i].text[k]);
		free(s->file[i].text);
		free(s->file[i].edit);
		free(s->file[i].path);
	}
	free(s->file);
	free(s);
}

static struct file *find(const struct traj_seen *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->file[i].path, path))
			return &s->file[i];
	return NULL;
}

static struct file *make(struct traj_seen *s, const char *path)
{
	struct file *f = find(s, path);

	if (f || s->n >= FILES_MAX)
		return f;
	MEM_GROW(s->file, s->cap, s->n + 1);
	f = &s->file[s->n++];
	*f = (struct file){ .path = mem_strdup(path) };
	return f;
}

/* Room for lines 1 to @n. */
static void grow(struct file *f, size_t n)
{
	if (n <= f->n)
		return;
	MEM_GROW(f->text, f->cap, n);
	while (f->n < n)
		f->text[f->n++] = NULL;
}

void traj_seen_put(struct traj_seen *s, const char *path, uint64_t line, const char *text, size_t n)
{
	struct file *f =
		line && line <= LINES_MAX && s->bytes + n < BYTES_MAX ? make(s, path) : NULL;

	if (!f)
		return;
	if (n && text[n - 1] == '\r')
		n--;
	grow(f, (size_t)line);
	free(f->text[line - 1]);
	f->text[line - 1] = mem_strndup(text, n);
	s->bytes += n + 1;
}

/* The text looked for, cut into lines. */
static void cut(const char *text, struct strv *out)
{
	while (*text && out->n < LINES_MAX) {
		size_t n = strcspn(text, "\n");

		strv_take(out, mem_strndup(text, n));
		text += n + (text[n] == '\n');
	}
}

/* Does the text begin at line index @at? Its first line may begin, its last one may end inside of one. */
static bool stands(const struct file *f, size_t at, const struct strv *want, bool whole_end)
{
	for (size_t i = 0; i < want->n; i++) {
		const char *have = at + i < f->n ? f->text[at + i] : NULL;
		bool first = i == 0, last = i + 1 == want->n && !whole_end;

		if (!have || !(first && last ? strstr(have, want->v[i]) != NULL
			       : first       ? str_ends(have, want->v[i])
			       : last        ? str_starts(have, want->v[i])
					     : str_eq(have, want->v[i])))
			return false;
	}
	return true;
}

bool traj_seen_find(struct traj_seen *s, const char *path, const char *old, uint64_t *first,
		    uint64_t *last)
{
	const struct file *f = find(s, path);
	auto_strv want = { 0 };
	size_t hits = 0;

	if (!f || !*old || s->work > FIND_MAX)
		return false;
	cut(old, &want);
	s->work += f->n;
	for (size_t at = 0; at < f->n && hits < 2; at++)
		if (stands(f, at, &want, str_ends(old, "\n"))) {
			hits++;
			*first = at + 1;
			*last = at + want.n;
		}
	return hits == 1;
}

/* One line number from behind an edit to before it; @end: of the end of a range. */
static uint64_t before(const struct edit *e, uint64_t line, bool end)
{
	if (line < e->first)
		return line;
	if (line >= e->first + e->new_n)
		return line - e->new_n + e->old_n;
	if (!e->old_n)
		return end || e->first == 1 ? e->first : e->first - 1;
	return end ? e->first + e->old_n - 1 : e->first;
}

bool traj_seen_back(const struct traj_seen *s, const char *path, uint64_t *first, uint64_t *last)
{
	const struct file *f = find(s, path);

	if (!f)
		return true;
	if (f->lost)
		return false;
	for (size_t i = f->n_edits; *first && i-- > 0;) {
		*first = before(&f->edit[i], *first, false);
		*last = before(&f->edit[i], *last, true);
		if (*last < *first)
			*last = *first;
	}
	return true;
}

/* Put the lines of @text in place of @old_n lines from @first on. */
static void splice(struct file *f, size_t first, size_t old_n, const char *text)
{
	auto_strv lines = { 0 };
	size_t tail;

	cut(text, &lines);
	if (first > f->n)
		grow(f, first);
	old_n = old_n < f->n - (first - 1) ? old_n : f->n - (first - 1);
	tail = f->n - (first - 1) - old_n;
	for (size_t i = 0; i < old_n; i++)
		free(f->text[first - 1 + i]);
	MEM_GROW(f->text, f->cap, f->n - old_n + lines.n);
	memmove(f->text + first - 1 + lines.n, f->text + first - 1 + old_n,
		tail * sizeof(*f->text));
	for (size_t i = 0; i < lines.n; i++) {
		f->text[first - 1 + i] = lines.v[i];
		lines.v[i] = NULL;
	}
	f->n = first - 1 + lines.n + tail;
	lines.n = 0; /* moved */
}

static uint64_t count(const char *text)
{
	uint64_t n = 0;

	for (const char *p = text; *p; n++) {
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return n;
}

void traj_seen_edit(struct traj_seen *s, const char *path, uint64_t first, uint64_t old_n,
		    const char *text)
{
	struct file *f = make(s, path);
	uint64_t new_n = first ? count(text) : 0;

	if (!f)
		return;
	if (!first || first > LINES_MAX || f->n + new_n > LINES_MAX || f->n_edits >= EDITS_MAX ||
	    s->bytes + strlen(text) > BYTES_MAX) {
		f->lost = true;
		for (size_t i = 0; i < f->n; i++)
			free(f->text[i]);
		f->n = 0; /* what was shown may be somewhere else now */
		return;
	}
	MEM_GROW(f->edit, f->cap_edits, f->n_edits + 1);
	f->edit[f->n_edits++] = (struct edit){ first, old_n, new_n };
	s->bytes += strlen(text);
	splice(f, (size_t)first, (size_t)old_n, text);
}
