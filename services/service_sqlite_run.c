#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/b64.h"
#include "base/mem.h"
#include "base/str.h"
#include "services/service_sqlite_internal.h"

#define EXACT 9007199254740992.0 /* 2^53: whole numbers of JSON up to here are whole */

/* HTTP status of a result code. */
static const struct {
	int code, status;
} statuses[] = {
	{ SQLITE_AUTH, 403 },   { SQLITE_READONLY, 403 }, { SQLITE_CONSTRAINT, 409 },
	{ SQLITE_BUSY, 423 },   { SQLITE_LOCKED, 423 },   { SQLITE_INTERRUPT, 408 },
	{ SQLITE_TOOBIG, 413 }, { SQLITE_NOMEM, 507 },    { SQLITE_FULL, 507 },
};

static bool failed(struct sqlite_db *d, struct service_answer *out)
{
	int code = sqlite3_errcode(d->db) & 0xff, status = 400;

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		status = statuses[i].code == code ? statuses[i].status : status;
	service_error(out, status, "%.400s",
		      code == SQLITE_INTERRUPT ? "the statement takes too long"
					       : sqlite3_errmsg(d->db));
	return false;
}

/* --- parameters ---------------------------------------------------------------------------------- */

/* {"base64": "..."} */
static int bind_bytes(sqlite3_stmt *st, int i, const cJSON *v)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(v, "base64"));
	auto_buf b = BUF_INIT(SQLITE_DB_VALUE);

	if (!text || b64_read(&b, text, strlen(text)) < 0)
		return SQLITE_MISMATCH;
	return sqlite3_bind_blob64(st, i, buf_str(&b), b.len, SQLITE_TRANSIENT);
}

static int bind_number(sqlite3_stmt *st, int i, double v)
{
	if (v == floor(v) && fabs(v) <= EXACT)
		return sqlite3_bind_int64(st, i, (sqlite3_int64)v);
	return sqlite3_bind_double(st, i, v);
}

static int bind_one(sqlite3_stmt *st, int i, const cJSON *v)
{
	if (cJSON_IsNull(v))
		return sqlite3_bind_null(st, i);
	if (cJSON_IsBool(v))
		return sqlite3_bind_int(st, i, cJSON_IsTrue(v));
	if (cJSON_IsNumber(v))
		return bind_number(st, i, v->valuedouble);
	if (cJSON_IsString(v))
		return sqlite3_bind_text(st, i, v->valuestring, -1, SQLITE_TRANSIENT);
	return bind_bytes(st, i, v);
}

/* The value for parameter @i: by its name without the sign in front, or by its place. */
static const cJSON *value_of(sqlite3_stmt *st, int i, const cJSON *params)
{
	const char *name = sqlite3_bind_parameter_name(st, i);

	if (cJSON_IsObject(params))
		return name ? cJSON_GetObjectItemCaseSensitive(params, name + 1) : NULL;
	return cJSON_GetArrayItem(params, i - 1);
}

static bool bind_all(struct sqlite_db *d, sqlite3_stmt *st, const cJSON *params,
		     struct service_answer *out)
{
	int n = sqlite3_bind_parameter_count(st), rc;

	if (params && !cJSON_IsArray(params) && !cJSON_IsObject(params)) {
		service_error(out, 400, "params must be an array, or an object of names");
		return false;
	}
	if (cJSON_IsArray(params) && cJSON_GetArraySize(params) != n) {
		service_error(out, 400, "the statement has %d parameters, params %d", n,
			      cJSON_GetArraySize(params));
		return false;
	}
	for (int i = 1; i <= n; i++) {
		const cJSON *v = value_of(st, i, params);

		if (!v) {
			service_error(out, 400, "params: nothing for parameter %d", i);
			return false;
		}
		rc = bind_one(st, i, v);
		if (rc == SQLITE_MISMATCH) {
			service_error(out, 400,
				      "params: parameter %d must be a string, a number, true, "
				      "false, null or {\"base64\": ...}",
				      i);
			return false;
		}
		if (rc != SQLITE_OK)
			return failed(d, out);
	}
	return true;
}

/* --- results ------------------------------------------------------------------------------------- */

static cJSON *as_bytes(const void *p, size_t n)
{
	auto_buf b = BUF_INIT(2 * SQLITE_DB_SCRIPT);
	cJSON *o = cJSON_CreateObject();

	(void)b64_add(&b, p, n, false); /* no value is as large */
	cJSON_AddStringToObject(o, "base64", buf_str(&b));
	return o;
}

/* Text that JSON cannot hold as it is comes as bytes. */
static cJSON *as_text(const char *s, size_t n)
{
	size_t bad;

	return memchr(s, 0, n) || !str_utf8(s, n, &bad) ? as_bytes(s, n) : cJSON_CreateString(s);
}

static cJSON *cell(sqlite3_stmt *st, int i)
{
	char number[32];
	double v;

	switch (sqlite3_column_type(st, i)) {
	case SQLITE_INTEGER:
		snprintf(number, sizeof(number), "%lld", (long long)sqlite3_column_int64(st, i));
		return cJSON_CreateRaw(number);
	case SQLITE_FLOAT:
		v = sqlite3_column_double(st, i);
		return isfinite(v) ? cJSON_CreateNumber(v) : cJSON_CreateNull();
	case SQLITE_TEXT: {
		const char *s = (const char *)sqlite3_column_text(st, i);

		return s ? as_text(s, (size_t)sqlite3_column_bytes(st, i)) : cJSON_CreateNull();
	}
	case SQLITE_BLOB: {
		const void *p = sqlite3_column_blob(st, i);

		return as_bytes(p ? p : "", (size_t)sqlite3_column_bytes(st, i));
	}
	default:
		return cJSON_CreateNull();
	}
}

/* Take @n bytes of the room that answers have. */
static bool charge(size_t *room, size_t n)
{
	if (*room < n)
		return false;
	*room -= n;
	return true;
}

static bool take_row(sqlite3_stmt *st, int columns, size_t *room, cJSON *rows)
{
	cJSON *row = cJSON_CreateArray();
	bool good = charge(room, 4);

	cJSON_AddItemToArray(rows, row);
	for (int i = 0; good && i < columns; i++) {
		/* Before it is copied; as JSON it may be longer, which the body's own bound sees. */
		good = charge(room, 8 + (size_t)sqlite3_column_bytes(st, i));
		if (good)
			cJSON_AddItemToArray(row, cell(st, i));
	}
	return good;
}

static bool step_all(struct sqlite_db *d, sqlite3_stmt *st, size_t *room, cJSON *o,
		     struct service_answer *out)
{
	int columns = sqlite3_column_count(st), rc;
	int before = sqlite3_total_changes(d->db);
	cJSON *names = cJSON_AddArrayToObject(o, "columns"), *rows;

	for (int i = 0; i < columns; i++) {
		const char *name = sqlite3_column_name(st, i);

		if (!name || !charge(room, strlen(name) + 8)) {
			service_error(out, 507, "the answer would be too large");
			return false;
		}
		cJSON_AddItemToArray(names, as_text(name, strlen(name)));
	}
	rows = cJSON_AddArrayToObject(o, "rows");
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (!take_row(st, columns, room, rows)) {
			service_error(out, 507,
				      "the answer would be too large; ask for fewer rows (LIMIT)");
			return false;
		}
	}
	if (rc != SQLITE_DONE)
		return failed(d, out);
	cJSON_AddNumberToObject(o, "changes", sqlite3_total_changes(d->db) - before);
	cJSON_AddNumberToObject(o, "last_id", (double)sqlite3_last_insert_rowid(d->db));
	return true;
}

/* --- a statement --------------------------------------------------------------------------------- */

/* One statement, and nothing but blanks and comments behind it. */
static bool prepare(struct sqlite_db *d, const char *sql, sqlite3_stmt **ret,
		    struct service_answer *out)
{
	sqlite3_stmt *more = NULL;
	const char *rest = NULL;

	if (strlen(sql) > SQLITE_DB_TEXT) {
		service_error(out, 413, "a statement has at most %d bytes", SQLITE_DB_TEXT);
		return false;
	}
	if (sqlite3_prepare_v2(d->db, sql, -1, ret, &rest) != SQLITE_OK)
		return failed(d, out);
	if (!*ret) {
		service_error(out, 400, "sql holds no statement");
		return false;
	}
	if (sqlite3_prepare_v2(d->db, rest, -1, &more, NULL) == SQLITE_OK && !more)
		return true;
	sqlite3_finalize(more);
	service_error(out, 400, "one statement at a time; send several as \"statements\"");
	return false;
}

static bool may_write(const struct sqlite_db *d, sqlite3_stmt *st, struct service_answer *out)
{
	if (sqlite3_stmt_readonly(st) || (!d->read_only && !d->locked))
		return true;
	if (d->locked)
		service_error(out, 423, "database is locked");
	else
		service_error(out, 403, "attempt to write a readonly database");
	return false;
}

bool service_sqlite_run(struct sqlite_db *d, const char *sql, const cJSON *params, size_t *room,
			cJSON **ret, struct service_answer *out)
{
	sqlite3_stmt *st = NULL;
	cJSON *o = cJSON_CreateObject();
	bool good;

	sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, SQLITE_DB_VALUE);
	good = prepare(d, sql, &st, out) && may_write(d, st, out) && bind_all(d, st, params, out);
	if (good) {
		good = step_all(d, st, room, o, out);
		out->mutating |= good && !sqlite3_stmt_readonly(st);
	}
	sqlite3_finalize(st);
	if (good)
		*ret = o;
	else
		cJSON_Delete(o);
	return good;
}
