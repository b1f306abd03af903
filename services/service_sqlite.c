/* A database on SQLite behind HTTP: POST /query {sql, params}, or {statements: [...]} in one transaction; GET /schema.
 * It lives in memory, and the same requests get the same answers: clock and random() are its own. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "services/service_sqlite_internal.h"

enum { VERSIONS_MAX = 16, TABLES_SHOWN = 20 };

struct version_decl {
	char *name, *sql;
};

struct sqlite_decl {
	char *name, *kind, *version, *sql;
	uint64_t port;
	bool read_only;
	struct json_array versions;
};

struct database {
	struct sqlite_db *d;    /* owned */
	char *sql, *version;    /* owned: what it begins with, and what that is called */
	struct json_array next; /* owned: struct version_decl, that effects lead to */
	uint64_t writes;
};

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field version_rows[] = {
	{ "name", JSON_STR, OFF(version_decl, name), true },
	{ "sql", JSON_STR, OFF(version_decl, sql), true, .doc = "what leads to it; a name that ends in .sql is a file" },
	{ NULL },
};

static const struct json_field sqlite_rows[] = {
	{ "name", JSON_STR, OFF(sqlite_decl, name), true },
	{ "kind", JSON_STR, OFF(sqlite_decl, kind), true },
	{ "port", JSON_U64, OFF(sqlite_decl, port), true },
	{ "sql", JSON_STR, OFF(sqlite_decl, sql), .doc = "schema and rows; a name that ends in .sql is a file" },
	{ "version", JSON_STR, OFF(sqlite_decl, version), .doc = "what the schema is called at first, default 1" },
	{ "versions", JSON_ARRAY, OFF(sqlite_decl, versions), .rows = version_rows, .size = sizeof(struct version_decl) },
	{ "read_only", JSON_BOOL, OFF(sqlite_decl, read_only) },
	{ NULL },
};
/* clang-format on */

static void sqlite_free(void *state)
{
	struct database *b = state;
	struct version_decl *v = b->next.v;

	service_sqlite_db_close(b->d);
	free(b->d);
	for (size_t i = 0; i < b->next.n; i++) {
		free(v[i].name);
		free(v[i].sql);
	}
	free(b->next.v);
	free(b->sql);
	free(b->version);
	free(b);
}

static int sqlite_open(const struct json_src *src, const char *where, const cJSON *item, void **ret,
		       struct err *err)
{
	struct sqlite_decl f = { 0 };
	struct database *b;
	int rc = json_read(src, where, item, sqlite_rows, &f, err);

	if (rc == 0 && f.versions.n > VERSIONS_MAX)
		rc = json_complain(src, where, err, "versions: at most %d", VERSIONS_MAX);
	if (rc == 0 && f.sql && strlen(f.sql) > SQLITE_DB_SCRIPT)
		rc = json_complain(src, where, err, "sql: more than 1 MiB");
	if (rc == 0) {
		b = mem_zalloc(1, sizeof(*b));
		b->d = mem_zalloc(1, sizeof(*b->d));
		b->sql = take_ptr(&f.sql);
		b->version = f.version ? take_ptr(&f.version) : mem_strdup("1");
		b->next = f.versions;
		f.versions = (struct json_array){ 0 };
		b->d->read_only = f.read_only;
		*ret = b;
	}
	json_release(sqlite_rows, &f);
	return rc;
}

static int sqlite_begin(void *state, struct err *err)
{
	struct database *b = state;
	int rc = service_sqlite_db_open(b->d, err);

	if (rc == 0 && b->sql)
		rc = service_sqlite_db_script(b->d, b->sql, false, err);
	return rc;
}

/* --- requests ------------------------------------------------------------------------------------ */

/* @sql in one line, for the record. */
static void say(struct service_answer *out, const char *sql)
{
	size_t n = strlen(out->what);

	for (; *sql && n + 1 < sizeof(out->what); sql++) {
		bool blank = isspace((unsigned char)*sql);

		if (!blank)
			out->what[n++] = *sql;
		else if (n && out->what[n - 1] != ' ')
			out->what[n++] = ' ';
	}
	out->what[n] = '\0';
}

static const char *sql_of(const cJSON *item)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "sql"));
}

/* Every statement of @list, into @results. */
static bool run_list(struct database *b, const cJSON *list, cJSON *results,
		     struct service_answer *out)
{
	size_t room = SERVICE_BODY_MAX;
	const cJSON *one;
	cJSON *result;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) < 1 ||
	    cJSON_GetArraySize(list) > SQLITE_DB_STATEMENTS) {
		service_error(out, 400, "statements: 1 to %d", SQLITE_DB_STATEMENTS);
		return false;
	}
	cJSON_ArrayForEach (one, list) {
		if (!sql_of(one)) {
			service_error(out, 400, "send {\"sql\": \"...\", \"params\": [...]}");
			return false;
		}
		if (!service_sqlite_run(b->d, sql_of(one),
					cJSON_GetObjectItemCaseSensitive(one, "params"), &room,
					&result, out))
			return false;
		cJSON_AddItemToArray(results, result);
	}
	return true;
}

static void query(struct database *b, const cJSON *body, struct service_answer *out)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(body, "statements");
	cJSON *all = cJSON_CreateObject(), *results = cJSON_AddArrayToObject(all, "results");
	cJSON *single = cJSON_CreateArray();
	const cJSON *those = list ? list : single, *one;
	bool good;

	cJSON_AddItemReferenceToArray(single, (cJSON *)(uintptr_t)body);
	service_sqlite_db_begin(b->d);
	good = service_sqlite_db_own(b->d, "BEGIN") == SQLITE_OK &&
	       run_list(b, those, results, out);
	if (good)
		service_put(out, 200, list ? all : results->child);
	/* An answer that cannot be given, and a check that waits for the end of the transaction. */
	if (good && out->code == 200 && service_sqlite_db_own(b->d, "COMMIT") != SQLITE_OK) {
		buf_clear(&out->body);
		service_error(out, 409, "%.400s", sqlite3_errmsg(b->d->db));
	}
	if (!sqlite3_get_autocommit(b->d->db))
		service_sqlite_db_own(b->d, "ROLLBACK");
	out->mutating = out->mutating && out->code == 200;
	b->writes += out->mutating;
	out->what[0] = '\0';
	cJSON_ArrayForEach (one, those) {
		if (sql_of(one))
			say(out, sql_of(one));
		say(out, " ");
	}
	cJSON_Delete(single);
	cJSON_Delete(all);
}

static void schema(struct database *b, struct service_answer *out)
{
	size_t room = SERVICE_BODY_MAX;
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "schema"), *got = NULL;
	const cJSON *row;

	cJSON_AddStringToObject(o, "version", b->version);
	cJSON_AddBoolToObject(o, "read_only", b->d->read_only);
	service_sqlite_db_begin(b->d);
	if (service_sqlite_run(b->d,
			       "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY "
			       "rowid",
			       NULL, &room, &got, out)) {
		cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(got, "rows"))
			cJSON_AddItemToArray(list, cJSON_Duplicate(row->child, true));
		service_put(out, 200, o);
	}
	cJSON_Delete(got);
	cJSON_Delete(o);
}

static void sqlite_answer(void *state, const struct service_request *q, struct service_answer *out)
{
	struct database *b = state;
	bool post = strcmp(q->method, "POST") == 0;
	cJSON *body;

	out->version = b->version;
	if (strcmp(q->path, "/schema") == 0 && strcmp(q->method, "GET") == 0) {
		snprintf(out->route, sizeof(out->route), "/schema");
		schema(b, out);
	} else if (strcmp(q->path, "/query") == 0 && post) {
		snprintf(out->route, sizeof(out->route), "/query");
		body = cJSON_ParseWithLength(q->body, q->n);
		if (cJSON_IsObject(body))
			query(b, body, out);
		else
			service_error(out, 400, "the body is no JSON object");
		cJSON_Delete(body);
	} else {
		service_error(out, 404,
			      "POST /query with {\"sql\": \"...\", \"params\": [...]}, or GET "
			      "/schema");
	}
}

/* --- effects ------------------------------------------------------------------------------------- */

struct sqlite_change {
	char *name, *version, *sql;
	bool down, read_only, lock;
};

/* clang-format off */
static const struct json_field change_rows[] = {
	{ "name", JSON_STR, OFF(sqlite_change, name) },
	{ "down", JSON_BOOL, OFF(sqlite_change, down) },
	{ "version", JSON_STR, OFF(sqlite_change, version), .doc = "run the SQL of that version; the schema is called so from here on" },
	{ "sql", JSON_STR, OFF(sqlite_change, sql), .doc = "statements, in one transaction; a name that ends in .sql is a file" },
	{ "read_only", JSON_BOOL, OFF(sqlite_change, read_only), .doc = "true: writes are refused (403)" },
	{ "lock", JSON_BOOL, OFF(sqlite_change, lock), .doc = "true: somebody holds the lock, writes answer 423" },
	{ NULL },
};
/* clang-format on */

static const struct version_decl *find_version(const struct database *b, const char *name)
{
	const struct version_decl *v = b->next.v;

	for (size_t i = 0; i < b->next.n; i++) {
		if (str_eq(v[i].name, name))
			return &v[i];
	}
	return NULL;
}

static int sqlite_change_it(void *state, const struct json_src *src, const cJSON *change,
			    struct err *err)
{
	struct database *b = state;
	struct sqlite_change c = { .read_only = b->d->read_only, .lock = b->d->locked };
	const struct version_decl *v = NULL;
	int rc = json_read(src, "service", change, change_rows, &c, err);

	if (rc == 0 && c.version) {
		v = find_version(b, c.version);
		if (!v)
			rc = json_complain(src, "service.version", err,
					   "no version \"%s\" in \"versions\"", c.version);
	}
	if (rc == 0 && (v || c.sql)) {
		auto_free char *sql = mem_printf("%s\n;\n%s", v ? v->sql : "", c.sql ? c.sql : "");

		rc = service_sqlite_db_script(b->d, sql, true, err);
	}
	if (rc == 0) {
		b->d->read_only = c.read_only;
		b->d->locked = c.lock;
		if (v) {
			free(b->version);
			b->version = mem_strdup(v->name);
		}
	}
	json_release(change_rows, &c);
	return rc;
}

/* Rows of every table. */
static void tables(const struct database *b, struct json_w *w)
{
	struct sqlite_db *d = b->d;
	sqlite3_stmt *names = NULL;

	d->trusted = true;
	service_sqlite_db_begin(d);
	json_open(w, "tables", '[');
	if (sqlite3_prepare_v2(
		    d->db,
		    "SELECT name FROM sqlite_schema WHERE type = 'table' AND length(name) "
		    "< 100 AND name NOT LIKE 'sqlite%' ORDER BY name LIMIT ?1",
		    -1, &names, NULL) == SQLITE_OK)
		sqlite3_bind_int(names, 1, TABLES_SHOWN);
	while (names && sqlite3_step(names) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(names, 0);
		char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", name ? name : "");
		sqlite3_stmt *st = NULL;

		if (name && sql && sqlite3_prepare_v2(d->db, sql, -1, &st, NULL) == SQLITE_OK &&
		    sqlite3_step(st) == SQLITE_ROW) {
			json_open(w, NULL, '{');
			json_str(w, "name", name);
			json_i64(w, "rows", sqlite3_column_int64(st, 0));
			json_close(w, '}');
		}
		sqlite3_finalize(st);
		sqlite3_free(sql);
	}
	sqlite3_finalize(names);
	json_close(w, ']');
	d->trusted = false;
}

static void sqlite_summary(const void *state, struct json_w *w)
{
	const struct database *b = state;

	json_str(w, "version", b->version);
	json_bool(w, "read_only", b->d->read_only);
	json_bool(w, "locked", b->d->locked);
	json_u64(w, "writes", b->writes);
	if (b->d->db)
		tables(b, w);
}

const struct service_row service_sqlite = {
	.kind = "sqlite",
	.open = sqlite_open,
	.begin = sqlite_begin,
	.answer = sqlite_answer,
	.change = sqlite_change_it,
	.summary = sqlite_summary,
	.free = sqlite_free,
};
