#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "services/service_sqlite_internal.h"

/* 2024-01-01T00:00:00Z in milliseconds of Julian days. */
#define FIRST_DAY 212570827200000ll

enum { CALLBACK_STEPS = 1000, CHANCE_MAX = 64 << 10 };

/* --- a file system without files, a clock and a chance that can be played again ------------------ */

static int no_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret)
{
	(void)vfs;
	(void)name;
	(void)flags;
	(void)ret;
	file->pMethods = NULL;
	return SQLITE_CANTOPEN;
}

static int same_randomness(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	memset(out, 7, (size_t)n);
	return n;
}

static int clock_ms(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
	const struct sqlite_db *d = vfs->pAppData;

	*ret = FIRST_DAY + (sqlite3_int64)d->clock * 1000;
	return SQLITE_OK;
}

static int clock_days(sqlite3_vfs *vfs, double *ret)
{
	sqlite3_int64 ms;

	clock_ms(vfs, &ms);
	*ret = (double)ms / 86400000.0;
	return SQLITE_OK;
}

/* Numbers that look like chance (the finaliser of SplitMix64). */
static uint64_t draw(struct sqlite_db *d)
{
	uint64_t z = ++d->chance * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void sql_random(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	(void)argv;
	sqlite3_result_int64(ctx, (sqlite3_int64)draw(sqlite3_user_data(ctx)));
}

static void sql_randomblob(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	sqlite3_int64 n = sqlite3_value_int64(argv[0]);
	uint8_t *p;

	(void)argc;
	n = n < 1 ? 1 : n;
	if (n > CHANCE_MAX) {
		sqlite3_result_error_toobig(ctx);
		return;
	}
	p = mem_alloc((size_t)n);
	for (sqlite3_int64 i = 0; i < n; i++)
		p[i] = (uint8_t)draw(sqlite3_user_data(ctx));
	sqlite3_result_blob64(ctx, p, (sqlite3_uint64)n, free);
}

/* --- what the agent may ask ---------------------------------------------------------------------- */

static bool named(const char *const *v, const char *name)
{
	for (; name && *v; v++) {
		if (sqlite3_stricmp(*v, name) == 0)
			return true;
	}
	return false;
}

/* Pragmas that only look, the former with an argument. */
static bool pragma(const char *name, const char *arg)
{
	static const char *const of[] = { "table_info", "table_xinfo", "index_list",
					  "index_info", "index_xinfo", "foreign_key_list",
					  "table_list", NULL };
	static const char *const bare[] = { "user_version", "foreign_keys", "encoding", NULL };

	return named(of, name) || (!arg && named(bare, name));
}

/* sqlite3_set_authorizer(3): actions and their arguments. */
static int authorize(void *arg, int action, const char *a, const char *b, const char *db,
		     const char *trigger)
{
	static const int never[] = { SQLITE_ATTACH, SQLITE_DETACH, SQLITE_CREATE_VTABLE,
				     SQLITE_DROP_VTABLE };
	static const char *const functions[] = { "load_extension", "fts3_tokenizer", "sqlite_log",
						 NULL };
	const struct sqlite_db *d = arg;
	bool good = true;

	(void)db;
	(void)trigger;
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		good = good && action != never[i];
	if (action == SQLITE_FUNCTION)
		good = !named(functions, b);
	else if (!d->trusted && action == SQLITE_PRAGMA)
		good = pragma(a, b);
	else if (action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT)
		good = d->control;
	return good ? SQLITE_OK : SQLITE_DENY;
}

/* Counted in instructions, so that the same statement is broken off at the same place; the clock is for those whose
 * instructions are few and long. */
static int progress(void *arg)
{
	struct sqlite_db *d = arg;

	if (d->steps < CALLBACK_STEPS || clock_mono() > d->deadline)
		return 1;
	d->steps -= CALLBACK_STEPS;
	return 0;
}

/* --- life ---------------------------------------------------------------------------------------- */

static void bound(struct sqlite_db *d)
{
	static const int limits[][2] = {
		{ SQLITE_LIMIT_LENGTH, SQLITE_DB_SCRIPT },
		{ SQLITE_LIMIT_SQL_LENGTH, SQLITE_DB_SCRIPT },
		{ SQLITE_LIMIT_COLUMN, 200 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 50 },
		{ SQLITE_LIMIT_VDBE_OP, 250000 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 1000 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 20 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(d->db, limits[i][0], limits[i][1]);
	sqlite3_hard_heap_limit64(SQLITE_DB_HEAP);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_set_authorizer(d->db, authorize, d);
	sqlite3_progress_handler(d->db, CALLBACK_STEPS, progress, d);
	sqlite3_create_function(d->db, "random", 0, SQLITE_UTF8, d, sql_random, NULL, NULL);
	sqlite3_create_function(d->db, "randomblob", 1, SQLITE_UTF8, d, sql_randomblob, NULL, NULL);
}

int service_sqlite_db_open(struct sqlite_db *d, struct err *err)
{
	const sqlite3_vfs *base = sqlite3_vfs_find(NULL);
	auto_free char *pages = mem_printf("PRAGMA max_page_count = %d", SQLITE_DB_PAGES);

	if (!base)
		return err_set(err, ERR_SYS, "SQLite cannot begin");
	d->vfs = *base;
	snprintf(d->vfs_name, sizeof(d->vfs_name), "service-%p", (void *)d);
	d->vfs.zName = d->vfs_name;
	d->vfs.pNext = NULL;
	d->vfs.pAppData = d;
	d->vfs.xOpen = no_open;
	d->vfs.xRandomness = same_randomness;
	d->vfs.xCurrentTime = clock_days;
	d->vfs.xCurrentTimeInt64 = clock_ms;
	if (sqlite3_vfs_register(&d->vfs, 0) != SQLITE_OK ||
	    sqlite3_open_v2(":memory:", &d->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    d->vfs_name) != SQLITE_OK)
		return err_set(err, ERR_SYS, "SQLite cannot open a database in memory");
	bound(d);
	service_sqlite_db_begin(d);
	if (service_sqlite_db_own(d, "PRAGMA temp_store = MEMORY") != SQLITE_OK ||
	    service_sqlite_db_own(d, pages) != SQLITE_OK)
		return err_set(err, ERR_SYS, "SQLite: %s", sqlite3_errmsg(d->db));
	return 0;
}

void service_sqlite_db_close(struct sqlite_db *d)
{
	if (d->db)
		sqlite3_close(d->db);
	if (d->vfs.zName)
		sqlite3_vfs_unregister(&d->vfs);
	d->db = NULL;
	d->vfs.zName = NULL;
}

void service_sqlite_db_begin(struct sqlite_db *d)
{
	d->clock++;
	d->steps = SQLITE_DB_STEPS;
	d->deadline = clock_mono() + SQLITE_DB_SECONDS * CLOCK_SEC;
}

static int run(struct sqlite_db *d, const char *sql, bool control)
{
	int rc;

	d->trusted = true;
	d->control = control;
	rc = sqlite3_exec(d->db, sql, NULL, NULL, NULL);
	d->trusted = d->control = false;
	return rc;
}

int service_sqlite_db_own(struct sqlite_db *d, const char *sql)
{
	return run(d, sql, true);
}

int service_sqlite_db_script(struct sqlite_db *d, const char *sql, bool whole, struct err *err)
{
	int rc = 0;

	service_sqlite_db_begin(d);
	sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, SQLITE_DB_SCRIPT);
	if (whole && service_sqlite_db_own(d, "BEGIN") != SQLITE_OK)
		return err_set(err, ERR_SYS, "SQLite: %s", sqlite3_errmsg(d->db));
	if (run(d, sql, !whole) != SQLITE_OK)
		rc = err_set(err, ERR_INPUT, "sql: %.500s", sqlite3_errmsg(d->db));
	if (rc == 0 && whole && service_sqlite_db_own(d, "COMMIT") != SQLITE_OK)
		rc = err_set(err, ERR_INPUT, "sql: %.500s", sqlite3_errmsg(d->db));
	/* Whatever it left open would hold for the agent's statements. */
	if (!sqlite3_get_autocommit(d->db)) {
		if (service_sqlite_db_own(d, "ROLLBACK") == SQLITE_OK && rc == 0)
			rc = err_set(err, ERR_INPUT, "sql: a transaction is not ended");
	}
	return rc;
}
