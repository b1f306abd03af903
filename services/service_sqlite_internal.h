/* A database: between its declaration and requests (service_sqlite.c) and SQLite (service_sqlite_db.c,
 * service_sqlite_run.c). */
#ifndef SERVICES_SERVICE_SQLITE_INTERNAL_H
#define SERVICES_SERVICE_SQLITE_INTERNAL_H

#include <sqlite3.h>

#include "services/service_internal.h"

enum {
	SQLITE_DB_STEPS = 20000000,  /* instructions of SQLite's machine that a request may take */
	SQLITE_DB_SECONDS = 10,      /* and, whatever these do, no longer than that */
	SQLITE_DB_PAGES = 16384,     /* of 4096 bytes: 64 MiB */
	SQLITE_DB_STATEMENTS = 100,  /* of one request */
	SQLITE_DB_TEXT = 64 << 10,   /* bytes of a statement of the agent */
	SQLITE_DB_VALUE = 256 << 10, /* bytes of a value */
	SQLITE_DB_SCRIPT = 1 << 20,  /* bytes of a declaration's SQL, and of its values */
	SQLITE_DB_HEAP = 256 << 20,  /* bytes of SQLite's memory in this process */
};

/* One database in memory, with a clock and a chance of its own that give the same at the same request. */
struct sqlite_db {
	sqlite3 *db;     /* owned */
	sqlite3_vfs vfs; /* registered while db is open */
	char vfs_name[32];
	uint64_t clock, chance;   /* requests so far; numbers drawn so far */
	uint64_t steps, deadline; /* left of this request; clock_mono() */
	bool trusted;             /* what runs now is the scenario's, or our own */
	bool control;             /* and may begin and end transactions */
	bool read_only, locked;   /* writes of the agent are refused */
};

/* Open an empty one. 0 or -ERR_SYS. Close with service_sqlite_db_close(). */
int service_sqlite_db_open(struct sqlite_db *d, struct err *err);

/* Close; {0} is fine. */
void service_sqlite_db_close(struct sqlite_db *d);

/* A new request: its clock goes on by a second, its bounds begin. */
void service_sqlite_db_begin(struct sqlite_db *d);

/* Run statements of the scenario in one transaction of our own (@whole), or as they stand. 0, or -ERR_INPUT with
 * SQLite's words; with @whole nothing is changed then. */
int service_sqlite_db_script(struct sqlite_db *d, const char *sql, bool whole, struct err *err);

/* Run one of our own statements without result. SQLite's result code. */
int service_sqlite_db_own(struct sqlite_db *d, const char *sql);

/* Run one statement of the agent: @sql with @params (array, object of names, or NULL). *@ret: object with columns, rows,
 * changes, last_id; the caller owns it. @room: bytes that results may still have, made less. True, or false with
 * code and text in @out. */
bool service_sqlite_run(struct sqlite_db *d, const char *sql, const cJSON *params, size_t *room,
			cJSON **ret, struct service_answer *out);

#endif
