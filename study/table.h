/* A table of figures: built once, printed as aligned text, CSV (RFC 4180), Markdown, LaTeX (booktabs), JSON
 * or HTML. Texts may stem from an agent: what a format gives a meaning to is escaped, and what a terminal
 * would obey is shown as \xNN. CSV and JSON hold the figures unrounded. */
#ifndef STUDY_TABLE_H
#define STUDY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define TABLE_BYTES_MAX (256u << 20) /* of one printed table */

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_MARKDOWN, TABLE_LATEX, TABLE_JSON, TABLE_HTML };

/* "text", "csv", "markdown", "latex", "json", "html", NULL. */
extern const char *const table_formats[];

enum table_kind {
	TABLE_WORDS, /* text, left aligned */
	TABLE_REAL,  /* number with decimals */
	TABLE_WHOLE, /* whole number, thousands apart */
	TABLE_MOVE   /* change of rank: an arrow and a number, a dash for none */
};

enum table_flag {
	TABLE_SIGN = 1,    /* "+" in front of positive ones */
	TABLE_SD = 2,      /* with standard deviation: "85.2±1.8" */
	TABLE_RANK = 4,    /* with rank: "85.2 (1)" */
	TABLE_QUIET = 8,   /* left out for people when every value is zero or unknown */
	TABLE_LEAST = 32,  /* what is above zero but rounds to it: "<0.0001" */
	TABLE_UNKNOWN = 16 /* "unknown" instead of a dash where there is no value */
};

struct table;

/* A new table. @name: short ("3", "failures"); @caption: one sentence. Both are copied. Free with
 * table_free(). */
struct table *table_new(const char *name, const char *caption);

/* Free; NULL is fine. Returns NULL. */
struct table *table_free(struct table *t);

/* Add a column before the first row. @group stands over neighbouring columns with the same group, NULL =
 * none. @key names it in CSV and JSON; it is made lower case with underscores, with the group in front,
 * and unique. @flags: enum table_flag. All texts are copied. Returns its number. */
size_t table_col(struct table *t, const char *group, const char *key, const char *head,
		 enum table_kind kind, unsigned decimals, unsigned flags);

/* Begin a row; @apart: a line stands in front of it (means, totals). */
void table_row(struct table *t, bool apart);

/* Fill a cell of the last row. NAN is no value. */
void table_words(struct table *t, size_t col, const char *text);     /* see table_words() */
void table_value(struct table *t, size_t col, double v);             /* see table_words() */
void table_spread(struct table *t, size_t col, double v, double sd); /* see table_words() */
void table_ranked(struct table *t, size_t col, unsigned rank);       /* adds the rank, 0 none */

/* A remark below the table. */
void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Rows so far. */
size_t table_rows(const struct table *t);

/* Its short name. Borrowed. */
const char *table_name(const struct table *t);

/* Print it. TABLE_JSON: one object; TABLE_HTML: one <table> for a page. */
void table_print(const struct table *t, enum table_format f, struct buf *out);

/* Begin and end a page of HTML that needs no other file: no script, no picture, no address. */
void table_page_begin(const char *title, struct buf *out);
void table_page_end(struct buf *out); /* see table_page_begin() */

/* Append @s as text of HTML: also inside quotes. What a terminal would obey is shown as bytes. */
void table_html(struct buf *out, const char *s);

/* The same object into an array or under a key that @w has open. */
void table_json(const struct table *t, struct json_w *w);

/* Append @s so that no terminal obeys it: control characters and bytes that are not UTF-8 as \xNN. */
void table_safe(struct buf *out, const char *s);

/* Columns that @s takes on a terminal: wide characters count two, combining ones none. */
size_t table_width(const char *s);

#endif
