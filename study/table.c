#include "study/table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/table_internal.h"

const char *const table_formats[] = { "text", "csv", "markdown", "latex", "json", "html", NULL };

#define CELL_MAX 65536u /* bytes of one cell */

struct table *table_new(const char *name, const char *caption)
{
	struct table *t = mem_zalloc(1, sizeof(*t));

	t->name = mem_strdup(name);
	t->caption = mem_strdup(caption);
	return t;
}

struct table *table_free(struct table *t)
{
	if (!t)
		return NULL;
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_cols; c++)
			free(t->row[r].cell[c].words);
		free(t->row[r].cell);
	}
	for (size_t c = 0; c < t->n_cols; c++) {
		free(t->col[c].group);
		free(t->col[c].key);
		free(t->col[c].head);
	}
	free(t->row);
	free(t->col);
	strv_done(&t->notes);
	free(t->name);
	free(t->caption);
	free(t);
	return NULL;
}

/* Letters and digits in lower case, one underscore for anything else. */
static void slug(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (isalnum((unsigned char)*s) && (unsigned char)*s < 0x80)
			buf_addc(out, (char)tolower((unsigned char)*s));
		else if (out->len && out->data[out->len - 1] != '_')
			buf_addc(out, '_');
	}
	while (out->len && out->data[out->len - 1] == '_')
		out->data[--out->len] = '\0';
}

static bool key_taken(const struct table *t, const char *key)
{
	for (size_t c = 0; c < t->n_cols; c++) {
		if (strcmp(t->col[c].key, key) == 0)
			return true;
	}
	return false;
}

static char *make_key(const struct table *t, const char *group, const char *key)
{
	auto_buf b = BUF_INIT(CELL_MAX);
	char *ret;

	if (group) {
		slug(&b, group);
		if (b.len)
			buf_addc(&b, '_');
	}
	slug(&b, key);
	if (!b.len)
		buf_adds(&b, "column");
	ret = mem_strdup(buf_str(&b));
	for (unsigned n = 2; key_taken(t, ret); n++) {
		free(ret);
		ret = mem_printf("%s_%u", buf_str(&b), n);
	}
	return ret;
}

size_t table_col(struct table *t, const char *group, const char *key, const char *head,
		 enum table_kind kind, unsigned decimals, unsigned flags)
{
	struct table_column col = {
		.group = mem_strdup(group),
		.key = make_key(t, group, key),
		.head = mem_strdup(head),
		.kind = kind,
		.decimals = decimals,
		.flags = flags,
	};

	ensure(!t->n_rows, "columns come before rows");
	MEM_GROW(t->col, t->cap_cols, t->n_cols + 1);
	t->col[t->n_cols] = col;
	return t->n_cols++;
}

void table_row(struct table *t, bool apart)
{
	struct table_line line = { .cell = mem_zalloc(t->n_cols, sizeof(struct table_cell)),
				   .apart = apart };

	for (size_t c = 0; c < t->n_cols; c++)
		line.cell[c].v = line.cell[c].sd = NAN;
	MEM_GROW(t->row, t->cap_rows, t->n_rows + 1);
	t->row[t->n_rows++] = line;
}

static struct table_cell *last_cell(struct table *t, size_t col)
{
	ensure(t->n_rows && col < t->n_cols, "the cell is in the table");
	return &t->row[t->n_rows - 1].cell[col];
}

void table_words(struct table *t, size_t col, const char *text)
{
	struct table_cell *cell = last_cell(t, col);

	free(cell->words);
	cell->words = mem_strndup(text, CELL_MAX / 8);
}

void table_value(struct table *t, size_t col, double v)
{
	last_cell(t, col)->v = v;
}

void table_spread(struct table *t, size_t col, double v, double sd)
{
	last_cell(t, col)->v = v;
	last_cell(t, col)->sd = sd;
}

void table_ranked(struct table *t, size_t col, unsigned rank)
{
	last_cell(t, col)->rank = rank;
}

void table_note(struct table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(&t->notes, mem_vprintf(fmt, ap));
	va_end(ap);
}

size_t table_rows(const struct table *t)
{
	return t->n_rows;
}

const char *table_name(const struct table *t)
{
	return t->name;
}

static bool says_something(const struct table_column *col, const struct table_cell *cell)
{
	if (col->kind == TABLE_WORDS)
		return cell->words && *cell->words;
	return !isnan(cell->v) && fabs(cell->v) > 0;
}

bool table_shown(const struct table *t, size_t c)
{
	if (!(t->col[c].flags & TABLE_QUIET))
		return true;
	for (size_t r = 0; r < t->n_rows; r++) {
		if (says_something(t->col + c, t->row[r].cell + c))
			return true;
	}
	return false;
}

/* "1,344.0": commas between thousands; a figure that rounds to zero has no sign. */
static void add_number(struct buf *out, double v, unsigned decimals, bool sign)
{
	char digits[512];
	size_t whole, n;
	bool zero;

	snprintf(digits, sizeof(digits), "%.*f", (int)decimals, fabs(v));
	zero = !digits[strspn(digits, "0.")];
	if (v < 0 && !zero)
		buf_addc(out, '-');
	else if (sign && !zero)
		buf_addc(out, '+');
	n = strlen(digits);
	whole = strcspn(digits, ".");
	for (size_t i = 0; i < n; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, digits[i]);
	}
}

static void add_move(struct buf *out, double v)
{
	if (fabs(v) < 0.5)
		buf_adds(out, "–");
	else
		buf_addf(out, "%s%.0f", v > 0 ? "↑" : "↓", fabs(v));
}

void table_cell_text(const struct table *t, size_t row, size_t col, struct buf *out)
{
	const struct table_cell *cell = &t->row[row].cell[col];
	const struct table_column *c = &t->col[col];

	if (c->kind == TABLE_WORDS) {
		buf_adds(out, cell->words ? cell->words : "");
		return;
	}
	if (isinf(cell->v)) {
		buf_adds(out, cell->v > 0 ? "inf" : "-inf");
		return;
	}
	if (isnan(cell->v)) {
		buf_adds(out, c->flags & TABLE_UNKNOWN ? "unknown" : "–");
		return;
	}
	if (c->kind == TABLE_MOVE) {
		add_move(out, cell->v);
		return;
	}
	if (c->flags & TABLE_LEAST && cell->v > 0 &&
	    cell->v < 0.5 * pow(10, -(double)c->decimals)) {
		buf_addf(out, "<%.*f", (int)c->decimals, pow(10, -(double)c->decimals));
		return;
	}
	add_number(out, cell->v, c->kind == TABLE_WHOLE ? 0 : c->decimals, c->flags & TABLE_SIGN);
	if (c->flags & TABLE_SD && !isnan(cell->sd)) {
		buf_adds(out, "±");
		add_number(out, cell->sd, c->decimals, false);
	}
	if (c->flags & TABLE_RANK && cell->rank)
		buf_addf(out, " (%u)", cell->rank);
}

void table_title(const struct table *t, struct buf *out)
{
	if (isdigit((unsigned char)t->name[0]))
		buf_addf(out, "Table %s. ", t->name);
	buf_adds(out, t->caption);
}

void table_print(const struct table *t, enum table_format f, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	switch (f) {
	case TABLE_TEXT:
		table_print_text(t, out);
		break;
	case TABLE_CSV:
		table_print_csv(t, out);
		break;
	case TABLE_MARKDOWN:
		table_print_markdown(t, out);
		break;
	case TABLE_LATEX:
		table_print_latex(t, out);
		break;
	case TABLE_JSON:
		table_json(t, &w);
		buf_addc(out, '\n');
		break;
	case TABLE_HTML:
		table_print_html(t, out);
		break;
	}
}

void table_put_number(struct json_w *w, const char *key, double v)
{
	if (fabs(v) < 9e15 && fabs(v - trunc(v)) <= 0)
		json_i64(w, key, (int64_t)v); /* 100, where the shortest form is 1e+02 */
	else
		json_dbl(w, key, v);
}

static void put_cell(struct json_w *w, const struct table_column *col,
		     const struct table_cell *cell)
{
	if (col->kind == TABLE_WORDS) {
		json_str(w, col->key, cell->words);
		return;
	}
	table_put_number(w, col->key, cell->v);
	if (col->flags & TABLE_SD) {
		auto_free char *key = mem_printf("%s_sd", col->key);

		table_put_number(w, key, cell->sd);
	}
	if (col->flags & TABLE_RANK) {
		auto_free char *key = mem_printf("%s_rank", col->key);

		if (cell->rank)
			json_u64(w, key, cell->rank);
		else
			json_null(w, key);
	}
}

void table_json(const struct table *t, struct json_w *w)
{
	json_open(w, NULL, '{');
	json_str(w, "table", t->name);
	json_str(w, "caption", t->caption);
	json_open(w, "columns", '[');
	for (size_t c = 0; c < t->n_cols; c++) {
		json_open(w, NULL, '{');
		json_str(w, "key", t->col[c].key);
		json_str(w, "head", t->col[c].head);
		json_str(w, "group", t->col[c].group);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_open(w, "rows", '[');
	for (size_t r = 0; r < t->n_rows; r++) {
		json_open(w, NULL, '{');
		for (size_t c = 0; c < t->n_cols; c++)
			put_cell(w, t->col + c, t->row[r].cell + c);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_strings(w, "notes", t->notes.v, t->notes.n);
	json_close(w, '}');
}
