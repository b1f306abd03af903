/* A database: what it answers, its bounds, what is not allowed, effects, and that it can be played again. */
#include "services/service.h"

#include "base/mem.h"
#include "tests/unit/services/play.h"

static const char text[] =
	"{\"name\":\"db\",\"kind\":\"sqlite\",\"port\":8083,\"version\":\"v1\",\"sql\":\"CREATE TABLE t(id INTEGER PRIMARY "
	"KEY, name TEXT NOT NULL, p REAL);\\nINSERT INTO t VALUES (1,'a',0.5),(2,'b',NULL);\","
	"\"versions\":[{\"name\":\"v2\",\"sql\":\"ALTER TABLE t RENAME COLUMN name TO title;\"}]}";

#define QUERY(body, code, mutating, says)                                                          \
	{                                                                                          \
		"POST", "/query", NULL, NULL, body, code, mutating, says                           \
	}

static void test_queries(void)
{
	struct service *s = made(text);

	/* clang-format off */
	PLAY(s,
	     { "GET", "/schema", NULL, NULL, NULL, 200, false, "p REAL)\"],\"version\":\"v1\",\"read_only\":false}" },
	     { "GET", "/query", NULL, NULL, NULL, 404, false, "POST /query" },
	     QUERY("[]", 400, false, "no JSON object"),
	     QUERY("{}", 400, false, "send {"),
	     QUERY("{\"statements\":{}}", 400, false, "statements: 1 to"),
	     QUERY("{\"statements\":[]}", 400, false, "statements: 1 to"),
	     QUERY("{\"sql\":\"SELECT * FROM t ORDER BY id\"}", 200, false, "\"columns\":[\"id\",\"name\",\"p\"],\"rows\":[[1,\"a\",0.5],[2,\"b\",null]],\"changes\":0"),
	     QUERY("{\"sql\":\"SELECT name FROM t WHERE id = ? -- one\",\"params\":[2]}", 200, false, "[[\"b\"]]"),
	     QUERY("{\"sql\":\"SELECT name FROM t WHERE id = :id\",\"params\":{\"id\":1}}", 200, false, "[[\"a\"]]"),
	     QUERY("{\"sql\":\"SELECT ?,?,?,?,?\",\"params\":[true,null,1.5,9007199254740993,{\"base64\":\"AP8=\"}]}", 200, false, "[[1,null,1.5,9007199254740992,{\"base64\":\"AP8=\"}]]"),
	     QUERY("{\"sql\":\"SELECT 9223372036854775807, 1e999, CAST(x'ff' AS TEXT)\"}", 200, false, "[[9223372036854775807,null,{\"base64\":\"/w==\"}]]"),
	     QUERY("{\"sql\":\"SELECT ?\",\"params\":[]}", 400, false, "has 1 parameters, params 0"),
	     QUERY("{\"sql\":\"SELECT :x\",\"params\":{\"y\":1}}", 400, false, "nothing for parameter 1"),
	     QUERY("{\"sql\":\"SELECT ?\",\"params\":[[]]}", 400, false, "must be a string"),
	     QUERY("{\"sql\":\"SELECT ?\",\"params\":\"x\"}", 400, false, "must be an array"),
	     QUERY("{\"sql\":\"SELEC 1\"}", 400, false, "syntax error"),
	     QUERY("{\"sql\":\" -- nothing\"}", 400, false, "no statement"),
	     QUERY("{\"sql\":\"SELECT 1; SELECT 2\"}", 400, false, "one statement at a time"),
	     QUERY("{\"sql\":\"SELECT 1; SELEC\"}", 400, false, "one statement at a time"),
	     QUERY("{\"sql\":\"SELECT 1;  \"}", 200, false, "[[1]]"),
	     QUERY("{\"sql\":\"INSERT INTO t(name) VALUES ('c') RETURNING id\"}", 200, true, "\"rows\":[[3]],\"changes\":1,\"last_id\":3"),
	     QUERY("{\"sql\":\"INSERT INTO t(name) VALUES (NULL)\"}", 409, false, "NOT NULL constraint"),
	     QUERY("{\"statements\":[{\"sql\":\"DELETE FROM t\"},{\"sql\":\"INSERT INTO t VALUES (1,NULL,1)\"}]}", 409, false, "NOT NULL"),
	     QUERY("{\"statements\":[{\"sql\":\"DELETE FROM t WHERE id > 1\"},{\"sql\":\"SELECT count(*) FROM t\"}]}", 200, true, "{\"results\":[{\"columns\":[],\"rows\":[],\"changes\":2"));
	/* clang-format on */
	service_free(s);
}

/* What an agent may not do, or not for ever. */
static void test_bounds(void)
{
	static const char loop[] =
		"{\"sql\":\"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT %s FROM c\"}";
	struct service *s = made(text);
	auto_free char *for_ever = mem_printf(loop, "count(*)");
	auto_free char *large = mem_printf(loop, "n");
	auto_buf sql = BUF_INIT(SERVICE_BODY_MAX);

	(void)buf_adds(&sql, "{\"sql\":\"SELECT 1 --");
	while (sql.len < 70000)
		(void)buf_addc(&sql, 'x');
	(void)buf_adds(&sql, "\"}");
	/* clang-format off */
	PLAY(s,
	     QUERY(for_ever, 408, false, "takes too long"),
	     QUERY(large, 507, false, "ask for fewer rows"),
	     QUERY(buf_str(&sql), 413, false, "a statement has at most"),
	     QUERY("{\"sql\":\"ATTACH '/etc/passwd' AS p\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"ATTACH ':memory:' AS p\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"VACUUM INTO '/tmp/x'\"}", 400, false, "error"),
	     QUERY("{\"sql\":\"BEGIN\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"COMMIT\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"SAVEPOINT x\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"PRAGMA max_page_count = 9999999\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"PRAGMA user_version = 3\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"PRAGMA table_info(t)\"}", 200, false, "[1,\"name\",\"TEXT\",1,null,0]"),
	     QUERY("{\"sql\":\"SELECT load_extension('x')\"}", 400, false, "not authorized"),
	     QUERY("{\"sql\":\"CREATE VIRTUAL TABLE v USING fts5(x)\"}", 403, false, "not authorized"),
	     QUERY("{\"sql\":\"SELECT randomblob(100000)\"}", 413, false, "too big"),
	     QUERY("{\"sql\":\"SELECT zeroblob(300000)\"}", 413, false, "too big"),
	     QUERY("{\"sql\":\"CREATE TABLE x AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c LIMIT 1000) SELECT zeroblob(200000) AS b FROM c\"}", 507, false, "full"),
	     QUERY("{\"sql\":\"SELECT count(*) FROM sqlite_schema\"}", 200, false, "[[1]]"));
	/* clang-format on */
	service_free(s);
}

static void test_effects(void)
{
	struct service *s = made(text);
	struct err err = { 0 };

	changed(s, "{\"name\":\"db\",\"sql\":\"UPDATE t SET name = 'z' WHERE id = 1;\"}");
	/* clang-format off */
	PLAY(s, QUERY("{\"sql\":\"SELECT name FROM t\"}", 200, false, "[[\"z\"],[\"b\"]]"));
	changed(s, "{\"name\":\"db\",\"version\":\"v2\",\"read_only\":true}");
	PLAY(s,
	     QUERY("{\"sql\":\"SELECT name FROM t\"}", 400, false, "no such column"),
	     QUERY("{\"sql\":\"SELECT title FROM t\"}", 200, false, "z"),
	     QUERY("{\"sql\":\"DELETE FROM t\"}", 403, false, "readonly"),
	     { "GET", "/schema", NULL, NULL, NULL, 200, false, "\"version\":\"v2\",\"read_only\":true" });
	changed(s, "{\"name\":\"db\",\"read_only\":false,\"lock\":true}");
	PLAY(s,
	     QUERY("{\"sql\":\"DELETE FROM t\"}", 423, false, "locked"),
	     QUERY("{\"sql\":\"SELECT count(*) FROM t\"}", 200, false, "[[2]]"));
	changed(s, "{\"name\":\"db\",\"lock\":false}");
	tap_ok(change(s, "{\"name\":\"db\",\"sql\":\"DELETE FROM t; SELEC;\"}", &err) == -ERR_INPUT && strstr(err.text, "syntax"), "refused: %s", err.text);
	tap_ok(change(s, "{\"name\":\"db\",\"sql\":\"DELETE FROM t; COMMIT;\"}", &err) < 0 && strstr(err.text, "not authorized"), "refused: %s", err.text);
	tap_ok(change(s, "{\"name\":\"db\",\"version\":\"v3\"}", &err) < 0 && strstr(err.text, "no version"), "refused: %s", err.text);
	PLAY(s, QUERY("{\"sql\":\"DELETE FROM t WHERE id = 2\"}", 200, true, "\"changes\":1"));
	changed(s, "{\"name\":\"db\",\"down\":true}");
	PLAY(s, QUERY("{\"sql\":\"SELECT 1\"}", 503, false, "down"));
	/* clang-format on */
	service_free(s);
}

/* Clock, chance and order: the same answers to the same requests, and chance that differs within one. */
static void test_again(void)
{
	struct buf said[2] = { BUF_INIT(4096), BUF_INIT(4096) };

	for (int i = 0; i < 2; i++) {
		struct service *s = made(text);
		struct json_w w = { .b = &said[i] };

		for (int k = 0; k < 3; k++) {
			struct service_answer a = { .body = BUF_INIT(SERVICE_BODY_MAX) };
			static const char body[] =
				"{\"sql\":\"SELECT datetime('now'), CURRENT_TIMESTAMP, random(), hex(randomblob(4)), "
				"unixepoch()\"}";
			struct service_request q = { .method = "POST",
						     .path = "/query",
						     .body = body,
						     .n = sizeof(body) - 1 };

			service_answer(s, &q, &a);
			(void)buf_add(&said[i], buf_str(&a.body), a.body.len);
			buf_done(&a.body);
		}
		json_open(&w, NULL, '{');
		service_summary(s, &w);
		json_close(&w, '}');
		service_free(s);
	}
	tap_is_str(buf_str(&said[0]), buf_str(&said[1]), "the same requests, the same answers");
	tap_ok(strstr(buf_str(&said[0]), "2024-01-01 00:00:03") &&
		       strstr(buf_str(&said[0]), "2024-01-01 00:00:05"),
	       "its clock goes by requests");
	tap_ok(strstr(buf_str(&said[0]), "\"tables\":[{\"name\":\"t\",\"rows\":2}]"),
	       "the state at the end");
	buf_done(&said[0]);
	buf_done(&said[1]);
}

static void test_refused(void)
{
	/* clang-format off */
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"sqlite\",\"sql\":\"CREATE\"}", "incomplete input" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"sqlite\",\"sql\":\"BEGIN;\"}", "not ended" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"sqlite\",\"sql\":\"ATTACH 'x' AS y;\"}", "not authorized" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"sqlite\",\"versons\":[]}", "versions" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"sqlite\",\"versions\":[{\"name\":\"x\"}]}", "sql" },
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct service *s = NULL;
		struct err err = { 0 };

		tap_ok(make(rows[i].text, &s, &err) == -ERR_INPUT && !s &&
			       strstr(err.text, rows[i].says),
		       "refused: %s", err.text);
	}
}

int main(void)
{
	test_queries();
	test_bounds();
	test_effects();
	test_again();
	test_refused();
	return tap_done();
}
