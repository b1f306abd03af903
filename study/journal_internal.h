/* Shared between the files of the journal. */
#ifndef STUDY_JOURNAL_INTERNAL_H
#define STUDY_JOURNAL_INTERNAL_H

#include <sqlite3.h>

#include "study/journal.h"

struct journal {
	sqlite3 *db;
	char *path;     /* for messages */
	char *settings; /* NULL = nothing was entered yet */
};

/* Say that the journal could not be read or written (@what). Returns -ERR_SYS. */
int journal_complain(const struct journal *j, const char *what, struct err *err);

/* Statements without results, and one that is made ready. 0 or -ERR_SYS. */
int journal_exec(struct journal *j, const char *sql, struct err *err);
int journal_prepare(struct journal *j, const char *sql, sqlite3_stmt **ret,
		    struct err *err); /* see journal_exec() */

/* Set parameter @n (from 1); NULL becomes null. */
void journal_bind_text(sqlite3_stmt *s, int n, const char *text);
void journal_bind(sqlite3_stmt *s, int n, uint64_t v); /* see journal_bind_text() */

/* Carry @s out and free it. 0 or -ERR_SYS. */
int journal_done(struct journal *j, sqlite3_stmt *s, struct err *err);

/* End a transaction: commit when @rc is 0, else take everything back. Returns @rc, or what the commit came to. */
int journal_finish(struct journal *j, int rc, struct err *err);

/* Value of a column: a copy that the caller frees (NULL for null), a number (0 for null). */
char *journal_text(sqlite3_stmt *s, int column);
uint64_t journal_number(sqlite3_stmt *s, int column); /* see journal_text() */

/* Write a value of table study. 0 or -ERR_SYS. */
int journal_put(struct journal *j, const char *name, const char *value, struct err *err);

/* Index of @name in @names, 0 when it is none of them. */
int journal_index(const char *name, const char *const *names);

#endif
