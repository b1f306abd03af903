/* What is seen of a connection to a PostgreSQL server: who comes, what is asked, what is refused, byte by byte as well as at
 * once; what is no such protocol. */
#include "services/pgwire_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

#define HELLO    "\0\0\0\x2a\0\3\0\0user\0app\0database\0shop\0options\0x\0\0"
#define BYTES(s) s, sizeof(s) - 1

/* Everything that happens when @n bytes come in pieces of @piece; "!" is a refusal, "N" denied encryption. */
static void run(bool front, const char *bytes, size_t n, size_t piece, struct buf *log,
		size_t *ret_passed)
{
	struct pgwire *w = mem_zalloc(1, sizeof(*w));
	size_t have = 0, at = 0;

	*ret_passed = 0;
	w->started = !front;
	for (;;) {
		const uint8_t *p = (const uint8_t *)bytes + at;
		struct pgwire_event ev = { 0 };
		size_t take = 0;
		enum pgwire_does does = front ? pgwire_front(w, p, have - at, &take, &ev)
					      : pgwire_back(w, p, have - at, &take, &ev);

		if (does == PGWIRE_BAD) {
			buf_adds(log, "!");
			break;
		}
		if (does == PGWIRE_MORE && have == n)
			break;
		if (does == PGWIRE_MORE)
			have = have + piece < n ? have + piece : n;
		if (does == PGWIRE_DENY)
			buf_adds(log, "N");
		if (does == PGWIRE_TELL)
			buf_addf(log, "[%s %s %s%s]", ev.name, ev.method, ev.text,
				 ev.mutating ? " *" : "");
		at += take;
		*ret_passed += does == PGWIRE_DENY ? 0 : take;
	}
	free(w);
}

static void both(bool front, const char *bytes, size_t n, const char *want, size_t passed)
{
	static const size_t pieces[] = { 1, 3, 4096, 1 << 20 };

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		auto_buf log = BUF_INIT(4096);
		size_t got;

		run(front, bytes, n, pieces[i], &log, &got);
		tap_is_str(buf_str(&log), want, "what is told");
		tap_is_u64(got, passed, "what is passed on");
	}
}

static void test_front(void)
{
	both(true, BYTES(HELLO), "[connect CONNECT app to shop]", 42);
	both(true, BYTES("\0\0\0\x8\4\xd2\x16\x2f" HELLO), "N[connect CONNECT app to shop]", 42);
	both(true, BYTES("\0\0\0\x8\4\xd2\x16\x30\0\0\0\x8\4\xd2\x16\x2f"), "NN", 0);
	both(true, BYTES("\0\0\0\x10\4\xd2\x16\x2e\0\0\0\1\0\0\0\2"), "", 16);
	both(true, BYTES("\0\0\0\x10\4\xd2\x16\x2e\0\0\0\1\0\0\0\2Q"), "!", 16);
	both(true, BYTES(HELLO "p\0\0\0\x9pass\0Q\0\0\0\xdSELECT 1\0X\0\0\0\4"),
	     "[connect CONNECT app to shop][query SELECT SELECT 1]", 42 + 10 + 14 + 5);
	/* parsed once, bound and run twice; a portal of its own name; one that nobody knows */
	both(true,
	     BYTES(HELLO "P\0\0\0\x16s\0DELETE FROM t\0\0\0"
			 "B\0\0\0\xd\0s\0\0\0\0\0\0\0"
			 "E\0\0\0\x9\0\0\0\0\0E\0\0\0\x9\0\0\0\0\0"
			 "B\0\0\0\xep\0s\0\0\0\0\0\0\0E\0\0\0\xap\0\0\0\0\0"
			 "E\0\0\0\xaq\0\0\0\0\0"),
	     "[connect CONNECT app to shop][query DELETE DELETE FROM t *][query DELETE DELETE FROM t "
	     "*][query DELETE DELETE FROM t *][query EXECUTE EXECUTE q *]",
	     42 + 23 + 14 + 20 + 15 + 11 + 11);
}

static void test_bad(void)
{
	both(true, BYTES("GET / HTTP/1.1\r\n\r\n"), "!", 0);
	both(true, BYTES("\0\0\0\7\0\3\0\0"), "!", 0);
	both(true, BYTES("\0\0\0\x8\0\2\0\0"), "!", 0);
	both(true, BYTES("\0\0\0\x9\4\xd2\x16\x2fx"), "!", 0);
	both(true, BYTES(HELLO "Q\0\0\0\3"), "[connect CONNECT app to shop]!", 42);
	both(true, BYTES(HELLO "Q\x7f\xff\xff\xff"), "[connect CONNECT app to shop]!", 42);
	both(false, BYTES("E\0\0\0\0"), "!", 0);
}

/* A statement that is longer than what is looked at is told by its beginning, and goes on whole. */
static void test_long(void)
{
	auto_buf all = BUF_INIT(1 << 20), log = BUF_INIT(4096);
	const uint32_t n = 100000;
	const char head[5] = { 'Q', 0, (char)(n >> 16), (char)(n >> 8 & 0xff), (char)(n & 0xff) };
	size_t passed;

	(void)buf_add(&all, HELLO, sizeof(HELLO) - 1);
	(void)buf_add(&all, head, sizeof(head));
	(void)buf_adds(&all, "UPDATE t SET a = '");
	while (all.len < 42 + 1 + n - 1)
		(void)buf_addc(&all, 'x');
	(void)buf_addc(&all, '\0');
	(void)buf_add(&all, "Q\0\0\0\x6;\0", 7);
	run(true, all.data, all.len, 4000, &log, &passed);
	tap_is_u64(passed, all.len, "all is passed on");
	tap_ok(strstr(buf_str(&log), "[query UPDATE UPDATE t SET a = 'xxx") &&
		       strstr(buf_str(&log), " *][query  ;]"),
	       "and told: %s", buf_str(&log));
}

static void test_back(void)
{
	both(false,
	     BYTES("R\0\0\0\x8\0\0\0\0"
		   "E\0\0\0\x22SERROR\0C42P01\0Mno\nsuch table\0\0"
		   "Z\0\0\0\5I"),
	     "[error ERROR 42P01 no such table]", 9 + 35 + 6);
	both(false, BYTES("E\0\0\0\4"), "[error ERROR  ]", 5);
	both(false, BYTES("E\0\0\0\7C42"), "[error ERROR 42 ]", 8);
}

static void test_statements(void)
{
	/* clang-format off */
	static const struct {
		const char *sql, *method;
		bool mutating;
	} rows[] = {
		{ "", "", false },
		{ "select 1", "SELECT", false },
		{ " /* DELETE */ -- DROP\n SELECT 'UPDATE', \"delete\", $$insert$$, $a$ drop $ $a$ FROM t", "SELECT", false },
		{ "SELECT 1; uPdate t set a = 1", "SELECT", true },
		{ "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "WITH", true },
		{ "SELECT * FROM t FOR UPDATE", "SELECT", false },
		{ "SELECT * FROM t FOR NO KEY UPDATE", "SELECT", false },
		{ "SELECT * INTO u FROM t", "SELECT", true },
		{ "COPY t TO STDOUT", "COPY", false },
		{ "COPY t FROM STDIN", "COPY", true },
		{ "SELECT updated, delete_me, $1 FROM t", "SELECT", false },
		{ "BEGIN", "BEGIN", false },
		{ "create table t(a int)", "CREATE", true },
		{ "SELECT 'never ends UPDATE", "SELECT", false },
		{ "SELECT $tag$ UPDATE", "SELECT", false },
		{ "SELECT /* UPDATE", "SELECT", false },
		{ "SELECT $", "SELECT", false },
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pgwire_event ev;

		pgwire_statement(rows[i].sql, strlen(rows[i].sql), &ev);
		tap_ok(strcmp(ev.method, rows[i].method) == 0 && ev.mutating == rows[i].mutating,
		       "%s %s: %s", ev.method, ev.mutating ? "changes" : "looks", ev.text);
	}
}

int main(void)
{
	test_front();
	test_bad();
	test_long();
	test_back();
	test_statements();
	return tap_done();
}
