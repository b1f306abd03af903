#include "study/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/journal_internal.h"

#define FORMAT  "proctor.journal/1"
#define WAIT_MS 30000 /* for a reader that holds the log */

const char *const journal_states[] = { "waiting", "running", "done", "infra", "given-up", NULL };
const char *const journal_ends[] = { "open", "done",    "infra",  "bad",
				     "lost", "stopped", "budget", NULL };

/* The schema is part of the documentation: people may ask it anything. Times are nanoseconds since 1970. */
static const char schema[] =
	"CREATE TABLE study(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE cell(id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, key TEXT NOT NULL UNIQUE,"
	" kind TEXT NOT NULL, task TEXT NOT NULL, agent TEXT NOT NULL, condition TEXT NOT NULL,"
	" position TEXT, repeat INTEGER NOT NULL, after TEXT, plan_digest TEXT, spec TEXT NOT NULL,"
	" max_micro_dollars INTEGER NOT NULL, max_tokens INTEGER NOT NULL,"
	" state TEXT NOT NULL, why TEXT, infra INTEGER NOT NULL DEFAULT 0,"
	" not_before INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE attempt(id INTEGER PRIMARY KEY, cell INTEGER NOT NULL REFERENCES cell(id),"
	" n INTEGER NOT NULL, engine TEXT NOT NULL, handle TEXT, start_time INTEGER, boot TEXT,"
	" began INTEGER NOT NULL, ended INTEGER, outcome TEXT NOT NULL, why TEXT, verdict TEXT,"
	" steps INTEGER, tokens INTEGER, micro_dollars INTEGER, wall_ns INTEGER, memory INTEGER,"
	" disk INTEGER, result TEXT, UNIQUE(cell, n));"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, what TEXT NOT NULL,"
	" text TEXT NOT NULL);"
	"CREATE VIEW result AS SELECT c.key, c.task, c.agent, c.condition, c.position, c.repeat,"
	" c.state, a.n AS attempts, a.outcome, a.verdict, a.steps, a.tokens, a.micro_dollars,"
	" a.wall_ns, a.memory, a.disk FROM cell c LEFT JOIN attempt a ON a.cell = c.id AND a.n ="
	" (SELECT max(n) FROM attempt WHERE cell = c.id);";

int journal_complain(const struct journal *j, const char *what, struct err *err)
{
	int code = sqlite3_extended_errcode(j->db);
	const char *do_what = "";

	if ((code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR)
		do_what = "; is there space left? Make room and start the study again: it goes on";
	return err_set(err, ERR_SYS, "%s: cannot %s the journal: %s%s", j->path, what,
		       sqlite3_errmsg(j->db), do_what);
}

int journal_exec(struct journal *j, const char *sql, struct err *err)
{
	return sqlite3_exec(j->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : journal_complain(j, "write", err);
}

int journal_prepare(struct journal *j, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	return sqlite3_prepare_v2(j->db, sql, -1, ret, NULL) == SQLITE_OK
		       ? 0
		       : journal_complain(j, "read", err);
}

void journal_bind_text(sqlite3_stmt *s, int n, const char *text)
{
	if (text)
		sqlite3_bind_text(s, n, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(s, n);
}

void journal_bind(sqlite3_stmt *s, int n, uint64_t v)
{
	sqlite3_bind_int64(s, n, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

int journal_done(struct journal *j, sqlite3_stmt *s, struct err *err)
{
	int rc = sqlite3_step(s) == SQLITE_DONE ? 0 : journal_complain(j, "write", err);

	sqlite3_finalize(s);
	return rc;
}

int journal_finish(struct journal *j, int rc, struct err *err)
{
	if (rc == 0)
		rc = journal_exec(j, "COMMIT", err);
	/* Nothing more can be done about a failure of this one: the log is ignored when it is opened again. */
	if (rc < 0 && !sqlite3_get_autocommit(j->db))
		(void)sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

char *journal_text(sqlite3_stmt *s, int column)
{
	return mem_strdup((const char *)sqlite3_column_text(s, column));
}

uint64_t journal_number(sqlite3_stmt *s, int column)
{
	int64_t v = sqlite3_column_int64(s, column);

	return v < 0 ? 0 : (uint64_t)v;
}

/* Value @name of table study; NULL when it has none. Caller frees. */
static int get(struct journal *j, const char *name, char **ret, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(j, "SELECT value FROM study WHERE name = ?", &s, err);

	if (rc < 0)
		return rc;
	journal_bind_text(s, 1, name);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*ret = journal_text(s, 0);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : journal_complain(j, "read", err);
}

int journal_put(struct journal *j, const char *name, const char *value, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(j, "INSERT OR REPLACE INTO study VALUES(?, ?)", &s, err);

	if (rc < 0)
		return rc;
	journal_bind_text(s, 1, name);
	journal_bind_text(s, 2, value);
	return journal_done(j, s, err);
}

/* Tables of a new journal. A kill in between leaves none of them. */
static int make_tables(struct journal *j, struct err *err)
{
	int rc = journal_exec(j, "BEGIN IMMEDIATE", err);

	if (rc == 0)
		rc = journal_exec(j, schema, err);
	if (rc == 0)
		rc = journal_put(j, "format", FORMAT, err);
	return journal_finish(j, rc, err);
}

static bool has_tables(struct journal *j)
{
	sqlite3_stmt *s = NULL;
	bool has;

	if (sqlite3_prepare_v2(j->db, "SELECT 1 FROM sqlite_master WHERE name = 'study'", -1, &s,
			       NULL) != SQLITE_OK)
		return false;
	has = sqlite3_step(s) == SQLITE_ROW;
	sqlite3_finalize(s);
	return has;
}

static int check(struct journal *j, bool write, struct err *err)
{
	auto_free char *format = NULL;
	int rc = 0;

	/* Every commit is on the disk before the next thing is done. */
	if (write)
		rc = journal_exec(j,
				  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
				  "PRAGMA foreign_keys = ON",
				  err);
	if (rc == 0 && write && !has_tables(j))
		rc = make_tables(j, err);
	if (rc == 0)
		rc = get(j, "format", &format, err);
	if (rc == 0 && (!format || strcmp(format, FORMAT) != 0))
		rc = err_set(err, ERR_INPUT, "%s is no journal of this version (%s), but %s",
			     j->path, FORMAT, format ? format : "none");
	if (rc == 0)
		rc = get(j, "settings", &j->settings, err);
	return rc;
}

int journal_open(const char *study, bool write, struct journal **ret, struct err *err)
{
	struct journal *j = mem_zalloc(1, sizeof(*j));
	int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	int rc = 0;

	j->path = path_join(study, JOURNAL_FILE);
	if (!write && access(j->path, R_OK) < 0)
		rc = err_set(err, ERR_INPUT, "%s is no study: %s: %s", study, j->path,
			     strerror(errno));
	else if (sqlite3_open_v2(j->path, &j->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		rc = err_set(err, ERR_INPUT, "%s: cannot open the journal: %s", j->path,
			     j->db ? sqlite3_errmsg(j->db) : "no memory");
	if (rc == 0)
		sqlite3_busy_timeout(j->db, WAIT_MS);
	if (rc == 0)
		rc = check(j, write, err);
	if (rc < 0)
		journal_close(j);
	else
		*ret = j;
	return rc;
}

struct journal *journal_close(struct journal *j)
{
	if (j) {
		sqlite3_close(j->db);
		free(j->path);
		free(j->settings);
		free(j);
	}
	return NULL;
}

bool journal_is_study(const char *path)
{
	auto_free char *file = path_join(path, JOURNAL_FILE);
	struct stat st;

	return stat(file, &st) == 0 && S_ISREG(st.st_mode);
}

int journal_lock(const char *study, struct err *err)
{
	int fd = open(study, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "cannot open %s", study);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return err_set(err, ERR_INPUT,
			       "%s: another call works on this study; wait for its end, or look at "
			       "it with proctor top",
			       study);
	}
	return fd; /* a file system without locks is used without */
}

const char *journal_settings(const struct journal *j)
{
	return j->settings;
}

int journal_event(struct journal *j, const char *what, const char *text, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(j, "INSERT INTO event(at, what, text) VALUES(?, ?, ?)", &s, err);

	if (rc < 0)
		return rc;
	journal_bind(s, 1, clock_wall());
	journal_bind_text(s, 2, what);
	journal_bind_text(s, 3, text);
	return journal_done(j, s, err);
}

int journal_worked(struct journal *j, uint64_t ns, struct err *err)
{
	auto_free char *text = NULL, *sum = NULL;
	uint64_t before = 0;
	int rc = get(j, "work_ns", &text, err);

	if (rc < 0)
		return rc;
	if (text && str_u64(text, &before) < 0)
		before = 0;
	sum = mem_printf("%llu", (unsigned long long)(before + ns));
	return journal_put(j, "work_ns", sum, err);
}

int journal_sums(struct journal *j, struct journal_sums *ret, struct err *err)
{
	auto_free char *text = NULL;
	sqlite3_stmt *s;
	int rc = get(j, "work_ns", &text, err), step;

	*ret = (struct journal_sums){ 0 };
	if (text && str_u64(text, &ret->work_ns) < 0)
		ret->work_ns = 0;
	if (rc == 0)
		rc = journal_prepare(j,
				     "SELECT outcome, count(*), total(micro_dollars), "
				     "total(tokens), sum(tokens > 0 AND micro_dollars IS NULL) "
				     "FROM attempt GROUP BY outcome",
				     &s, err);
	if (rc < 0)
		return rc;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		int end = journal_index((const char *)sqlite3_column_text(s, 0), journal_ends);

		ret->attempts[end] = journal_number(s, 1);
		ret->micro_dollars += journal_number(s, 2);
		ret->tokens += journal_number(s, 3);
		ret->unknown_cost += journal_number(s, 4);
	}
	sqlite3_finalize(s);
	if (step != SQLITE_DONE)
		return journal_complain(j, "read", err);
	rc = journal_prepare(j, "SELECT count(DISTINCT cell) FROM attempt", &s, err);
	if (rc < 0)
		return rc;
	if (sqlite3_step(s) == SQLITE_ROW)
		ret->started = journal_number(s, 0);
	sqlite3_finalize(s);
	return 0;
}

int journal_index(const char *name, const char *const *names)
{
	for (int i = 0; name && names[i]; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return 0;
}
