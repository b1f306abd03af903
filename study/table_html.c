/* A table for a page of HTML. */
#include <stdlib.h>

#include "base/mem.h"
#include "study/table_internal.h"

#define CELL_MAX 65536u

void table_html(struct buf *out, const char *s)
{
	auto_buf safe = BUF_INIT(CELL_MAX * 4);

	table_safe(&safe, s);
	for (const char *p = buf_str(&safe); *p; p++) {
		switch (*p) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addc(out, *p);
		}
	}
}

void table_page_begin(const char *title, struct buf *out)
{
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	table_html(out, title);
	buf_adds(out,
		 "</title>\n<style>\n"
		 "body { font: 15px/1.5 sans-serif; margin: 2em; color: #222; background: #fff }\n"
		 "table { border-collapse: collapse; margin: 1em 0 }\n"
		 "caption { text-align: left; font-weight: bold; padding: .4em 0 }\n"
		 "th, td { padding: .15em .7em; text-align: left }\n"
		 "thead tr:last-child th { border-bottom: 1px solid #888 }\n"
		 "th.g { text-align: center; border-bottom: 1px solid #ccc }\n"
		 ".n { text-align: right; font-variant-numeric: tabular-nums }\n"
		 "tr.a td { border-top: 1px solid #ccc }\n"
		 "p.note { margin: .2em 0; color: #555; font-size: 13px }\n"
		 "svg { display: block; margin: 1em 0 }\n"
		 "</style>\n</head>\n<body>\n");
}

void table_page_end(struct buf *out)
{
	buf_adds(out, "</body>\n</html>\n");
}

static const char *class_of(const struct table *t, size_t c)
{
	return t->col[c].kind == TABLE_WORDS ? "" : " class=\"n\"";
}

/* Names over neighbouring columns of one group. */
static void put_groups(const struct table *t, struct buf *out)
{
	bool any = false;

	for (size_t c = 0; c < t->n_cols; c++)
		any |= table_shown(t, c) && t->col[c].group;
	if (!any)
		return;
	buf_adds(out, "<tr>");
	for (size_t c = 0, end; c < t->n_cols; c = end) {
		const char *group = t->col[c].group;
		size_t span = 0;

		for (end = c;
		     end < t->n_cols && (end == c || (group && str_eq(t->col[end].group, group)));
		     end++)
			span += table_shown(t, end);
		if (!span)
			continue;
		buf_addf(out, "<th class=\"g\" colspan=\"%zu\">", span);
		table_html(out, group ? group : "");
		buf_adds(out, "</th>");
	}
	buf_adds(out, "</tr>\n");
}

static void put_row(const struct table *t, size_t r, struct buf *out)
{
	buf_adds(out, t->row[r].apart ? "<tr class=\"a\">" : "<tr>");
	for (size_t c = 0; c < t->n_cols; c++) {
		auto_buf cell = BUF_INIT(CELL_MAX);

		if (!table_shown(t, c))
			continue;
		table_cell_text(t, r, c, &cell);
		buf_addf(out, "<td%s>", class_of(t, c));
		table_html(out, buf_str(&cell));
		buf_adds(out, "</td>");
	}
	buf_adds(out, "</tr>\n");
}

void table_print_html(const struct table *t, struct buf *out)
{
	auto_buf title = BUF_INIT(CELL_MAX);

	table_title(t, &title);
	buf_adds(out, "<table>\n<caption>");
	table_html(out, buf_str(&title));
	buf_adds(out, "</caption>\n<thead>\n");
	put_groups(t, out);
	buf_adds(out, "<tr>");
	for (size_t c = 0; c < t->n_cols; c++) {
		if (!table_shown(t, c))
			continue;
		buf_addf(out, "<th%s>", class_of(t, c));
		table_html(out, t->col[c].head);
		buf_adds(out, "</th>");
	}
	buf_adds(out, "</tr>\n</thead>\n<tbody>\n");
	for (size_t r = 0; r < t->n_rows; r++)
		put_row(t, r, out);
	buf_adds(out, "</tbody>\n</table>\n");
	strv_each (i, &t->notes) {
		buf_adds(out, "<p class=\"note\">");
		table_html(out, t->notes.v[i]);
		buf_adds(out, "</p>\n");
	}
}
