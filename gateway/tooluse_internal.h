/* The agent file's tool rows read in reverse, for tooluse.c. */
#ifndef GATEWAY_TOOLUSE_INTERNAL_H
#define GATEWAY_TOOLUSE_INTERNAL_H

#include "gateway/jedit.h"
#include "gateway/tooluse.h"

/* Fill @u from JSON arguments @args by the rows of @agent (NULL is fine) that name tool @name: rows of
 * reading and editing first, a shell only when none of them fits. u->kind stays TOOLUSE_NONE when
 * no row fits. */
void tooluse_rows(const struct agent *agent, const char *name, const struct jdoc *args,
		  struct tooluse *u);

/* The same for a custom tool whose argument is plain text. */
void tooluse_text(const struct agent *agent, const char *name, const char *text, struct tooluse *u);

/* A line number, as number or as text; false when it is none or above TOOLUSE_LINE_MAX. */
bool tooluse_number(const struct jdoc *d, uint32_t at, uint64_t *ret);

/* Set u->path; false when it is empty or too long. */
bool tooluse_path(const char *s, struct tooluse *u);

/* Set the lines; line 0 counts as 1; without @has_last to the end of the file. False when they are
 * no range. */
bool tooluse_range(struct tooluse *u, bool has_first, uint64_t first, bool has_last, uint64_t last);

#endif
