#include "study/table_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define CELL_MAX 65536u
#define PAD_MAX  4096u /* blanks put into one place */

/* Bytes of the valid UTF-8 sequence at @s, 0 when there is none. */
static size_t sequence(const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	return len <= n && str_utf8(s, len, NULL) ? len : 0;
}

static uint32_t code_point(const char *s, size_t len)
{
	static const unsigned char mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t v = (unsigned char)s[0] & mask[len];

	for (size_t i = 1; i < len; i++)
		v = v << 6 | ((unsigned char)s[i] & 0x3f);
	return v;
}

struct range {
	uint32_t first, last;
};

static bool within(uint32_t v, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v >= r[i].first && v <= r[i].last)
			return true;
	}
	return false;
}

/* clang-format off */
/* Controls, and marks that turn the direction of what follows: shown as bytes. */
static const struct range obeyed[] = {
	{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfeff, 0xfeff },
};

/* Combining marks and joiners (Unicode blocks). */
static const struct range none[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff }, { 0x200b, 0x200d }, { 0x20d0, 0x20f0 }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};

/* East Asian wide ones and pictures. */
static const struct range wide[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff },
	{ 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};
/* clang-format on */

void table_safe(struct buf *out, const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0, len; i < n; i += len) {
		len = sequence(s + i, n - i);
		if (len && !within(code_point(s + i, len), obeyed, ARRAY_SIZE(obeyed))) {
			buf_add(out, s + i, len);
			continue;
		}
		len = len ? len : 1;
		for (size_t k = 0; k < len; k++)
			buf_addf(out, "\\x%02x", (unsigned)(unsigned char)s[i + k]);
	}
}

size_t table_width(const char *s)
{
	size_t n = strlen(s), width = 0;

	for (size_t i = 0, len; i < n; i += len) {
		uint32_t v;

		len = sequence(s + i, n - i);
		if (!len) {
			len = 1;
			width++;
			continue;
		}
		v = code_point(s + i, len);
		if (!within(v, none, ARRAY_SIZE(none)))
			width += within(v, wide, ARRAY_SIZE(wide)) ? 2 : 1;
	}
	return width;
}

/* A cell as text that may be printed. Caller frees. */
static char *cell_safe(const struct table *t, size_t r, size_t c)
{
	auto_buf raw = BUF_INIT(CELL_MAX), safe = BUF_INIT(CELL_MAX * 4);

	table_cell_text(t, r, c, &raw);
	table_safe(&safe, buf_str(&raw));
	return buf_steal(&safe, NULL);
}

static char *safe_copy(const char *s)
{
	auto_buf safe = BUF_INIT(CELL_MAX * 4);

	table_safe(&safe, s);
	return buf_steal(&safe, NULL);
}

/* The columns that people see: their numbers into @ret (room for all). Returns how many. */
static size_t shown(const struct table *t, size_t *ret)
{
	size_t n = 0;

	for (size_t c = 0; c < t->n_cols; c++) {
		if (table_shown(t, c))
			ret[n++] = c;
	}
	return n;
}

/* First place behind the group that begins with the @i-th shown column. */
static size_t group_end(const struct table *t, const size_t *cols, size_t n, size_t i)
{
	size_t end = i + 1;

	while (t->col[cols[i]].group && end < n &&
	       str_eq(t->col[cols[end]].group, t->col[cols[i]].group))
		end++;
	return end;
}

static bool has_groups(const struct table *t, const size_t *cols, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (t->col[cols[i]].group)
			return true;
	}
	return false;
}

/* --- text --- */

static void pad(struct buf *out, size_t n)
{
	for (n = n < PAD_MAX ? n : PAD_MAX; n; n--)
		buf_addc(out, ' ');
}

/* Blanks at the end of a line say nothing. */
static void end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	buf_addc(out, '\n');
}

static void put_aligned(struct buf *out, const char *s, size_t width, bool right)
{
	size_t have = table_width(s);

	if (right && have < width)
		pad(out, width - have);
	buf_adds(out, s);
	if (!right && have < width)
		pad(out, width - have);
}

static bool is_right(const struct table *t, size_t c)
{
	return t->col[c].kind != TABLE_WORDS;
}

static void widths(const struct table *t, const size_t *cols, size_t n, size_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *head = safe_copy(t->col[cols[i]].head);

		ret[i] = table_width(head);
		for (size_t r = 0; r < t->n_rows; r++) {
			auto_free char *cell = cell_safe(t, r, cols[i]);
			size_t w = table_width(cell);

			if (w > ret[i])
				ret[i] = w;
		}
	}
	/* A group's name may be longer than its columns. */
	for (size_t i = 0, end; i < n; i = end) {
		auto_free char *group =
			safe_copy(t->col[cols[i]].group ? t->col[cols[i]].group : "");
		size_t have = 0, need = table_width(group);

		end = group_end(t, cols, n, i);
		for (size_t k = i; k < end; k++)
			have += ret[k] + (k > i ? 2 : 0);
		if (need > have)
			ret[end - 1] += need - have;
	}
}

static void text_groups(const struct table *t, const size_t *cols, const size_t *w, size_t n,
			struct buf *out)
{
	for (size_t i = 0, end; i < n; i = end) {
		auto_free char *group =
			safe_copy(t->col[cols[i]].group ? t->col[cols[i]].group : "");
		size_t have = 0;

		end = group_end(t, cols, n, i);
		for (size_t k = i; k < end; k++)
			have += w[k] + (k > i ? 2 : 0);
		put_aligned(out, group, have, is_right(t, cols[i]) && end == i + 1);
		pad(out, 2);
	}
	end_line(out);
}

static void text_rule(const size_t *w, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < w[i] && k < PAD_MAX; k++)
			buf_addc(out, '-');
		pad(out, 2);
	}
	end_line(out);
}

void table_print_text(const struct table *t, struct buf *out)
{
	auto_free size_t *cols = mem_zalloc(t->n_cols, sizeof(*cols));
	auto_free size_t *w = mem_zalloc(t->n_cols, sizeof(*w));
	size_t n = shown(t, cols);

	widths(t, cols, n, w);
	table_title(t, out);
	buf_adds(out, "\n\n");
	if (has_groups(t, cols, n))
		text_groups(t, cols, w, n, out);
	for (size_t i = 0; i < n; i++) {
		auto_free char *head = safe_copy(t->col[cols[i]].head);

		put_aligned(out, head, w[i], is_right(t, cols[i]));
		pad(out, 2);
	}
	end_line(out);
	text_rule(w, n, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		if (t->row[r].apart)
			text_rule(w, n, out);
		for (size_t i = 0; i < n; i++) {
			auto_free char *cell = cell_safe(t, r, cols[i]);

			put_aligned(out, cell, w[i], is_right(t, cols[i]));
			pad(out, 2);
		}
		end_line(out);
	}
	strv_each (i, &t->notes) {
		buf_adds(out, i ? "" : "\n");
		table_safe(out, t->notes.v[i]);
		buf_addc(out, '\n');
	}
}

/* --- CSV --- */

static void csv_field(struct buf *out, const char *s, bool first)
{
	if (!first)
		buf_addc(out, ',');
	if (!s[strcspn(s, ",\"\r\n")] && *s != ' ' && !str_ends(s, " ")) {
		buf_adds(out, s);
		return;
	}
	buf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			buf_addc(out, '"');
		buf_addc(out, *s);
	}
	buf_addc(out, '"');
}

/* The shortest text that reads back as @v, as in JSON; empty for none. */
static void csv_number(struct buf *out, double v, bool first)
{
	auto_buf text = BUF_INIT(64);
	struct json_w w = { .b = &text };

	if (isfinite(v))
		table_put_number(&w, NULL, v);
	csv_field(out, buf_str(&text), first);
}

static void csv_head(const struct table *t, struct buf *out)
{
	for (size_t c = 0; c < t->n_cols; c++) {
		const struct table_column *col = t->col + c;

		csv_field(out, col->key, !c);
		if (col->flags & TABLE_SD)
			buf_addf(out, ",%s_sd", col->key);
		if (col->flags & TABLE_RANK)
			buf_addf(out, ",%s_rank", col->key);
	}
	buf_adds(out, "\r\n");
}

void table_print_csv(const struct table *t, struct buf *out)
{
	csv_head(t, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_cols; c++) {
			const struct table_cell *cell = &t->row[r].cell[c];

			if (t->col[c].kind == TABLE_WORDS) {
				auto_free char *safe = safe_copy(cell->words ? cell->words : "");

				csv_field(out, safe, !c);
				continue;
			}
			csv_number(out, cell->v, !c);
			if (t->col[c].flags & TABLE_SD)
				csv_number(out, cell->sd, false);
			if (t->col[c].flags & TABLE_RANK)
				csv_number(out, cell->rank ? cell->rank : NAN, false);
		}
		buf_adds(out, "\r\n");
	}
}

/* --- Markdown --- */

static void markdown(struct buf *out, const char *s)
{
	auto_free char *safe = safe_copy(s);

	for (const char *p = safe; *p; p++) {
		if (strchr("\\|`*_[]<>~#&", *p))
			buf_addc(out, '\\');
		buf_addc(out, *p);
	}
}

static void markdown_head(const struct table *t, const size_t *cols, size_t n, struct buf *out)
{
	buf_addc(out, '|');
	for (size_t i = 0; i < n; i++) {
		const struct table_column *col = t->col + cols[i];

		buf_addc(out, ' ');
		if (col->group) {
			markdown(out, col->group);
			buf_adds(out, ": ");
		}
		markdown(out, col->head);
		buf_adds(out, " |");
	}
	buf_adds(out, "\n|");
	for (size_t i = 0; i < n; i++)
		buf_adds(out, is_right(t, cols[i]) ? " ---: |" : " --- |");
	buf_addc(out, '\n');
}

void table_print_markdown(const struct table *t, struct buf *out)
{
	auto_free size_t *cols = mem_zalloc(t->n_cols, sizeof(*cols));
	auto_buf title = BUF_INIT(CELL_MAX);
	size_t n = shown(t, cols);

	table_title(t, &title);
	buf_adds(out, "**");
	markdown(out, buf_str(&title));
	buf_adds(out, "**\n\n");
	markdown_head(t, cols, n, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		buf_addc(out, '|');
		for (size_t i = 0; i < n; i++) {
			auto_buf cell = BUF_INIT(CELL_MAX);

			table_cell_text(t, r, cols[i], &cell);
			buf_addc(out, ' ');
			markdown(out, buf_str(&cell));
			buf_adds(out, " |");
		}
		buf_addc(out, '\n');
	}
	strv_each (i, &t->notes) {
		buf_adds(out, "\n");
		markdown(out, t->notes.v[i]);
		buf_addc(out, '\n');
	}
}

/* --- LaTeX --- */

/* What LaTeX gives a meaning to, and what our own figures hold. */
/* clang-format off */
static const struct {
	const char *from, *to;
} latex_rows[] = {
	{ "\\", "\\textbackslash{}" },
	{ "{", "\\{" },
	{ "}", "\\}" },
	{ "$", "\\$" },
	{ "&", "\\&" },
	{ "#", "\\#" },
	{ "%", "\\%" },
	{ "_", "\\_" },
	{ "~", "\\textasciitilde{}" },
	{ "^", "\\textasciicircum{}" },
	{ "<", "\\textless{}" },
	{ ">", "\\textgreater{}" },
	{ "|", "\\textbar{}" },
	{ "\"", "{\\char34}" },
	{ "[", "{[}" }, /* behind the end of a row it would be an option */
	{ "*", "{*}" },
	{ "±", "$\\pm$" },
	{ "↑", "$\\uparrow$" },
	{ "↓", "$\\downarrow$" },
	{ "→", "$\\rightarrow$" },
	{ "Δ", "$\\Delta$" },
	{ "ρ", "$\\rho$" },
	{ "–", "--" },
};
/* clang-format on */

static void latex(struct buf *out, const char *s)
{
	auto_free char *safe = safe_copy(s);

	for (const char *p = safe; *p;) {
		size_t i = 0;

		while (i < ARRAY_SIZE(latex_rows) && !str_starts(p, latex_rows[i].from))
			i++;
		if (i < ARRAY_SIZE(latex_rows)) {
			buf_adds(out, latex_rows[i].to);
			p += strlen(latex_rows[i].from);
		} else {
			buf_addc(out, *p++);
		}
	}
}

static void latex_cell(const struct table *t, size_t r, size_t c, struct buf *out)
{
	auto_buf cell = BUF_INIT(CELL_MAX);
	const char *text;

	table_cell_text(t, r, c, &cell);
	text = buf_str(&cell);
	if (t->col[c].kind != TABLE_WORDS && text[0] == '-') {
		buf_adds(out, "$-$"); /* a minus, not a hyphen */
		text++;
	}
	latex(out, text);
}

static void latex_groups(const struct table *t, const size_t *cols, size_t n, struct buf *out)
{
	for (size_t i = 0, end; i < n; i = end) {
		const char *group = t->col[cols[i]].group;

		end = group_end(t, cols, n, i);
		buf_adds(out, i ? " & " : "");
		if (!group)
			continue;
		buf_addf(out, "\\multicolumn{%zu}{c}{", end - i);
		latex(out, group);
		buf_addc(out, '}');
	}
	buf_adds(out, " \\\\\n");
	for (size_t i = 0, end; i < n; i = end) {
		end = group_end(t, cols, n, i);
		if (t->col[cols[i]].group)
			buf_addf(out, "\\cmidrule(lr){%zu-%zu}\n", i + 1, end);
	}
}

static void latex_label(const struct table *t, struct buf *out)
{
	buf_adds(out, "\\label{tab:");
	for (const char *p = t->name; *p; p++)
		buf_addc(out, strchr("abcdefghijklmnopqrstuvwxyz0123456789-", *p) ? *p : '-');
	buf_adds(out, "}\n");
}

void table_print_latex(const struct table *t, struct buf *out)
{
	auto_free size_t *cols = mem_zalloc(t->n_cols, sizeof(*cols));
	size_t n = shown(t, cols);

	buf_adds(out, "% \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{");
	latex(out, t->caption);
	buf_adds(out, "}\n");
	latex_label(t, out);
	buf_adds(out, "\\begin{tabular}{");
	for (size_t i = 0; i < n; i++)
		buf_addc(out, is_right(t, cols[i]) ? 'r' : 'l');
	buf_adds(out, "}\n\\toprule\n");
	if (has_groups(t, cols, n))
		latex_groups(t, cols, n, out);
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? " & " : "");
		latex(out, t->col[cols[i]].head);
	}
	buf_adds(out, " \\\\\n\\midrule\n");
	for (size_t r = 0; r < t->n_rows; r++) {
		if (t->row[r].apart)
			buf_adds(out, "\\midrule\n");
		for (size_t i = 0; i < n; i++) {
			buf_adds(out, i ? " & " : "");
			latex_cell(t, r, cols[i], out);
		}
		buf_adds(out, " \\\\\n");
	}
	buf_adds(out, "\\bottomrule\n\\end{tabular}\n");
	strv_each (i, &t->notes) {
		buf_adds(out, "\\par{\\footnotesize ");
		latex(out, t->notes.v[i]);
		buf_adds(out, "}\n");
	}
	buf_adds(out, "\\end{table}\n");
}
