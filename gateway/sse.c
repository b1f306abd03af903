#include "gateway/sse.h"

#include <string.h>

#define BOM "\xef\xbb\xbf"

/* One line [line, line + n) without its end. False at the end of the text. */
static bool take_line(struct sse *s, const char **line, size_t *n)
{
	const char *p = s->text + s->at;
	size_t left = s->n - s->at, k = 0;

	if (!left)
		return false;
	while (k < left && p[k] != '\n' && p[k] != '\r')
		k++;
	*line = p;
	*n = k;
	if (k + 1 < left && p[k] == '\r' && p[k + 1] == '\n')
		k++;
	s->at += k < left ? k + 1 : left;
	return true;
}

/* The value of @field when the line is one ("data: x", "data:x", "data"). */
static bool is_field(const char *line, size_t n, const char *field, const char **v, size_t *vn)
{
	size_t k = strlen(field);

	if (n < k || memcmp(line, field, k) != 0 || (n > k && line[k] != ':'))
		return false;
	k += k < n;
	k += k < n && line[k] == ' ';
	*v = line + k;
	*vn = n - k;
	return true;
}

/* A byte order mark may stand in front of a stream. */
static void skip_bom(struct sse *s)
{
	if (s->at == 0 && s->n >= 3 && memcmp(s->text, BOM, 3) == 0)
		s->at = 3;
}

int sse_next(struct sse *s, struct buf *scratch, struct sse_event *ev, bool *cut)
{
	const char *line, *v, *type = "message";
	size_t n, vn, type_n = strlen(type), data_n;
	bool data = false, ended = false;

	buf_clear(scratch);
	skip_bom(s);
	while (!ended && take_line(s, &line, &n)) {
		if (n == 0) {
			ended = data;
		} else if (is_field(line, n, "data", &v, &vn)) {
			if (data)
				buf_addc(scratch, '\n');
			buf_add(scratch, v, vn);
			data = true;
		} else if (is_field(line, n, "event", &v, &vn) && vn) {
			type = v;
			type_n = vn;
		}
		/* a blank line without data forgets the type */
		if (n == 0 && !ended) {
			type = "message";
			type_n = strlen(type);
		}
	}
	if (!data)
		return 0;
	data_n = scratch->len;
	buf_addc(scratch, '\0');
	buf_add(scratch, type, type_n);
	if (!ended || scratch->full)
		*cut = true;
	ev->data = buf_str(scratch);
	ev->n = data_n;
	ev->type = scratch->len > data_n ? ev->data + data_n + 1 : "message";
	return 1;
}

int sse_clean(const char *text, size_t n, struct buf *out)
{
	struct sse s = { text, n, 0 };
	const char *line;
	size_t len;
	bool open = false, first = true;

	skip_bom(&s);
	while (take_line(&s, &line, &len)) {
		/* the blank line of an event that was nothing but comments goes too */
		if ((len && line[0] == ':') || (!len && !open))
			continue;
		/* no field begins with a mark; as the first line it would be taken for one */
		if (first && len >= 3 && memcmp(line, BOM, 3) == 0)
			continue;
		first = false;
		open = len > 0;
		/* one line end for all: CR and the LF behind a comment that went would become one */
		if (buf_add(out, line, len) < 0)
			return -1;
		if (line + len < text + n && buf_addc(out, '\n') < 0)
			return -1;
	}
	return 0;
}

void sse_write(struct buf *out, const char *type, const char *data)
{
	if (type)
		buf_addf(out, "event: %s\n", type);
	for (;;) {
		size_t n = strcspn(data, "\n");

		buf_adds(out, "data: ");
		buf_add(out, data, n);
		buf_addc(out, '\n');
		if (!data[n])
			break;
		data += n + 1;
	}
	buf_addc(out, '\n');
}
