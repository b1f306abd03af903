/* Shared between the table and its printers. */
#ifndef STUDY_TABLE_INTERNAL_H
#define STUDY_TABLE_INTERNAL_H

#include "base/str.h"
#include "study/table.h"

struct table_column {
	char *group, *key, *head; /* owned; group may be NULL */
	enum table_kind kind;
	unsigned decimals, flags;
};

struct table_cell {
	char *words; /* owned, NULL = none */
	double v, sd;
	unsigned rank;
};

struct table_line {
	struct table_cell *cell; /* owned: one for each column */
	bool apart;
};

struct table {
	char *name, *caption; /* owned */
	struct table_column *col;
	size_t n_cols, cap_cols;
	struct table_line *row;
	size_t n_rows, cap_rows;
	struct strv notes;
};

/* Is column @c for people's eyes (TABLE_QUIET)? */
bool table_shown(const struct table *t, size_t c);

/* What a cell says to people, as UTF-8 with ± and arrows; words are not escaped yet. */
void table_cell_text(const struct table *t, size_t row, size_t col, struct buf *out);

/* Write @v (under @key) in the shortest form that reads back, whole numbers without an exponent; null when
 * it is no number. */
void table_put_number(struct json_w *w, const char *key, double v);

/* The printers. */
void table_print_text(const struct table *t, struct buf *out);     /* see table_print() */
void table_print_csv(const struct table *t, struct buf *out);      /* see table_print() */
void table_print_markdown(const struct table *t, struct buf *out); /* see table_print() */
void table_print_latex(const struct table *t, struct buf *out);    /* see table_print() */
void table_print_html(const struct table *t, struct buf *out);     /* see table_print() */

/* Title for people: "Table 3. Caption" for a number, else the caption. */
void table_title(const struct table *t, struct buf *out);

#endif
