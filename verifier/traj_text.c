/* Numbered listings, replacements of text by text, and the text form of codex's apply_patch. */
#include "verifier/traj_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LISTING_MAX (4u << 20) /* bytes of an output that are looked at */

/* "  12<tab>text", "12:text", "12: text", "12| text", "12→text": number and where the text begins. 0 when the
 * line is something else. */
static uint64_t numbered(const char *p, const char *end, const char **ret_text)
{
	static const char *const marks[] = { "\t", "\xe2\x86\x92", "|", ":" };
	uint64_t v = 0;
	const char *start;

	while (p < end && (*p == ' ' || *p == 'L'))
		p++;
	start = p;
	while (p < end && isdigit((unsigned char)*p) && v < 100000000)
		v = v * 10 + (uint64_t)(*p++ - '0');
	if (p == start || !v)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t n = strlen(marks[i]);

		if ((size_t)(end - p) < n || memcmp(p, marks[i], n) != 0)
			continue;
		p += n;
		p += i == 2 && p < end && *p == ' ';
		*ret_text = p;
		return v;
	}
	return 0;
}

bool traj_listing(struct traj_rec *r, const char *path, const char *output)
{
	auto_free char *rel = traj_rec_path(r, path);
	size_t len = strnlen(output, LISTING_MAX);
	const char *end = output + len, *text;
	uint64_t first = 0, last = 0;
	bool any = false;

	for (const char *p = output; rel && p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
		uint64_t v = numbered(p, stop, &text);

		if (v) {
			if (first && v != last + 1) {
				traj_rec_add(r, false, path, first, last);
				first = 0;
			}
			first = first ? first : v;
			last = v;
			any = true;
			traj_seen_put(r->seen, rel, v, text, (size_t)(stop - text));
		}
		p = stop + 1;
	}
	if (first)
		traj_rec_add(r, false, path, first, last);
	return any;
}

/* Bytes that both begin with, in whole lines; *lines counts them. */
static size_t same_head(const char *a, const char *b, uint64_t *lines)
{
	size_t at = 0;

	*lines = 0;
	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '\n') {
			at = i + 1;
			(*lines)++;
		}
	return at;
}

/* The same at the end, behind @head bytes. */
static uint64_t same_tail(const char *a, const char *b, size_t head)
{
	size_t n = strlen(a), m = strlen(b);
	uint64_t lines = 0;

	while (n > head && m > head && a[n - 1] == b[m - 1]) {
		n--;
		m--;
		lines += (n == head || a[n - 1] == '\n') && (m == head || b[m - 1] == '\n');
	}
	return lines;
}

static uint64_t line_count(const char *s)
{
	uint64_t n = 0;

	for (; *s; n++) {
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return n;
}

void traj_replace(struct traj_rec *r, const char *path, const char *old, const char *new)
{
	auto_free char *rel = traj_rec_path(r, path);
	uint64_t first, last, head, tail, old_n;
	size_t at;

	if (!rel || !traj_seen_find(r->seen, rel, old, &first, &last))
		return;
	/* what old and new have in common only says where: it is not edited */
	at = same_head(old, new, &head);
	tail = same_tail(old, new, at);
	old_n = line_count(old);
	if (head + tail >= old_n) {
		/* lines came in between two that stay */
		uint64_t gap = first + head;

		traj_rec_add(r, true, path, gap > 1 ? gap - 1 : gap, gap);
	} else {
		traj_rec_add(r, true, path, first + head, last - tail);
	}
	traj_seen_edit(r->seen, rel, first, last - first + 1, new);
}

/* One "@@" block of an apply_patch text: its old lines and its new ones. */
static void block(struct traj_rec *r, const char *path, struct buf *old, struct buf *new)
{
	auto_free char *rel = traj_rec_path(r, path);
	uint64_t first, last;

	if (rel && old->len && traj_seen_find(r->seen, rel, buf_str(old), &first, &last)) {
		traj_replace(r, path, buf_str(old), buf_str(new));
	} else if (rel && (old->len || new->len)) {
		traj_rec_add(r, true, path, 0, 0);
		traj_seen_edit(r->seen, rel, 0, 0, "");
	}
	buf_clear(old);
	buf_clear(new);
}

static void patch_line(struct buf *old, struct buf *new, const char *p, size_t n)
{
	char kind = n ? p[0] : ' ';
	const char *text = n ? p + 1 : p;

	n -= n > 0;
	if (kind != '+') {
		buf_add(old, text, n);
		buf_addc(old, '\n');
	}
	if (kind != '-') {
		buf_add(new, text, n);
		buf_addc(new, '\n');
	}
}

bool traj_patch_text(struct traj_rec *r, const char *text)
{
	static const char *const heads[] = { "*** Update File: ", "*** Add File: ",
					     "*** Delete File: " };
	const char *p = strstr(text, "*** Begin Patch");
	auto_buf old = BUF_INIT(1u << 20), new = BUF_INIT(1u << 20);
	auto_free char *path = NULL;
	bool update = false;

	if (!p)
		return false;
	while (*p) {
		size_t n = strcspn(p, "\n");
		bool star = str_starts(p, "*** ");

		if (path && update && (star || str_starts(p, "@@")))
			block(r, path, &old, &new);
		if (str_starts(p, "*** End Patch"))
			break;
		for (size_t i = 0; star && i < ARRAY_SIZE(heads); i++) {
			if (!str_starts(p, heads[i]))
				continue;
			free(path);
			path = mem_strndup(p + strlen(heads[i]), n - strlen(heads[i]));
			update = i == 0;
			if (!update)
				traj_rec_add(r, true, path, 0, 0);
		}
		if (path && update && !star && !str_starts(p, "@@"))
			patch_line(&old, &new, p, n);
		p += n + (p[n] == '\n');
	}
	if (path && update)
		block(r, path, &old, &new);
	return true;
}
