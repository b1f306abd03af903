/* go.mod: which module stands in for which ("replace") and by which tool chain it is built are the base's, what is
 * required is the patch's. The form: go.dev/ref/mod, "go.mod files". */
#include <string.h>

#include "base/mem.h"
#include "verifier/protect_internal.h"

/* One directive: a line, or "word (" to ")". */
struct directive {
	const char *p;
	size_t n;
	bool ours; /* the runner's */
};

struct reader {
	const char *p, *end;
	const char *const *words;
	bool open; /* the last block has no end */
};

static bool listed(const char *const *words, const char *p, size_t n)
{
	for (; *words; words++)
		if (strlen(*words) == n && memcmp(*words, p, n) == 0)
			return true;
	return false;
}

static size_t line_len(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? (size_t)(nl + 1 - p) : (size_t)(end - p);
}

static size_t blanks(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && strchr(" \t\r", p[i]))
		i++;
	return i;
}

/* Does the line, without a comment, end with "("? */
static bool opens(const char *p, size_t n)
{
	const char *comment = memmem(p, n, "//", 2);

	if (comment)
		n = (size_t)(comment - p);
	while (n && strchr(" \t\r\n", p[n - 1]))
		n--;
	return n && p[n - 1] == '(';
}

/* The next directive; false at the end. */
static bool next(struct reader *r, struct directive *ret)
{
	size_t n, skip, word = 0;

	if (r->p >= r->end)
		return false;
	ret->p = r->p;
	n = line_len(r->p, r->end);
	skip = blanks(r->p, n);
	while (skip + word < n && !strchr(" \t\r\n(/", r->p[skip + word]))
		word++;
	ret->ours = listed(r->words, r->p + skip, word);
	if (opens(r->p, n)) {
		bool closed = false;

		r->p += n;
		while (r->p < r->end && !closed) {
			n = line_len(r->p, r->end);
			skip = blanks(r->p, n);
			closed = skip < n && r->p[skip] == ')';
			r->p += n;
		}
		r->open = !closed;
	} else {
		r->p += n;
	}
	ret->n = (size_t)(r->p - ret->p);
	return true;
}

/* Directives that are the runner's, or all others. False when a block has no end: what is put behind it would
 * be a part of it. */
static bool put(const char *text, size_t n, const char *const *words, bool ours, struct buf *out)
{
	struct reader r = { text, text + n, words, false };
	struct directive d;

	while (next(&r, &d)) {
		if (d.ours != ours)
			continue;
		if (out->len && out->data[out->len - 1] != '\n')
			buf_addc(out, '\n');
		buf_add(out, d.p, d.n);
	}
	return !r.open;
}

int protect_merge_gomod(const struct protect_file *f, const void *arg, bool all, struct buf *out)
{
	const char *before = f->before ? f->before : "";
	auto_buf old = BUF_INIT(2u * PROTECT_MERGE_MAX), new = BUF_INIT(2u * PROTECT_MERGE_MAX);

	(void)all;
	if (!put(before, f->before_len, arg, true, &old) ||
	    !put(f->after, f->after_len, arg, true, &new))
		return 0;
	if (old.len == new.len && memcmp(buf_str(&old), buf_str(&new), old.len) == 0) {
		buf_add(out, f->after, f->after_len);
		return 1;
	}
	(void)put(f->after, f->after_len, arg, false, out);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
	buf_add(out, buf_str(&old), old.len);
	return 1;
}
