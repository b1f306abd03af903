/* The result channel: honest witnesses, and senders that break each of its rules; on a real socket, from
 * real processes, and record by record. Then the rows of the witnesses. */
#include "verifier/channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/lib/tap.h"
#include "verifier/witness.h"

#define NONCE "0123456789abcdef0123456789abcdef"

static void open_plain(struct channel *ch, bool unique)
{
	*ch = (struct channel){
		.fd = -1, .reader = "pytest", .root = "/workspace", .unique = unique
	};
	memcpy(ch->nonce, NONCE, sizeof(NONCE));
}

/* One record; "|" in @text stands for the NUL between fields. */
static void feed(struct channel *ch, int64_t pid, const char *text)
{
	auto_free char *copy = mem_strdup(text);
	size_t n = strlen(copy);

	for (size_t i = 0; i < n; i++)
		if (copy[i] == '|')
			copy[i] = '\0';
	channel_feed(ch, pid, copy, n);
}

/* A row: records of process 7 ("N:" in front: of process N, "!" in front: with no nonce added), what the
 * settled channel says. Each gets the nonce and the text as it stands. */
struct row {
	const char *name;
	const char *records[8];
	int exit_status;
	bool plain;
	bool complete;
	const char *note;   /* holds; NULL = none */
	const char *tamper; /* the first row begins so; NULL = none */
};

#define OTHER "ffffffffffffffffffffffffffffffff"

/* The key of every session here is the nonce itself, but where a row says otherwise. */
#define HELLO "0|hello|pytest|7.2|" NONCE

/* clang-format off */
static const struct row rows[] = {
	{ "all passed", { HELLO, "1|test|passed|a", "2|end|1|0|0" }, 0, true, true, NULL, NULL },
	{ "a failure", { HELLO, "1|test|failed|a", "2|end|1|1|1" }, 1, true, true, NULL, NULL },
	{ "the status is not the runner's", { HELLO, "1|test|failed|a", "2|end|1|1|1" }, 0, false, true, NULL, NULL },
	{ "a canary that failed", { HELLO, "1|canary|c|failed|failed", "2|end|0|0|0" }, 0, true, true, NULL, NULL },
	{ "a canary in error", { HELLO, "1|canary|c|failed|error", "2|end|0|0|0" }, 0, true, true, NULL, NULL },
	{ "a passing canary that failed", { HELLO, "1|canary|c|passed|failed", "2|end|0|0|0" }, 0, true, true, NULL, NULL },
	{ "two runs in one process", { HELLO, "1|test|passed|a", "2|end|1|0|0", HELLO, "1|test|passed|b", "2|end|1|0|0" }, 0, true, true, NULL, NULL },
	{ "two processes", { HELLO, "8:" HELLO, "1|test|passed|a", "8:1|test|passed|b", "2|end|1|0|0", "8:2|end|1|0|0" }, 0, true, true, NULL, NULL },
	{ "unknown exit status", { HELLO, "1|end|0|0|-1" }, 4, false, true, NULL, NULL },

	{ "no end", { HELLO, "1|test|passed|a" }, 0, true, false, "was ended before its report was", NULL },
	{ "an end of another process is none of this one's", { HELLO, "8:" HELLO, "8:1|end|0|0|0" }, 0, true, false, "was ended before", NULL },
	{ "failures and status 0, by the command", { HELLO, "1|test|failed|a", "2|end|1|1|1" }, 0, true, false, "command ended with status 0", NULL },
	{ "no failure and status 1, by the command", { HELLO, "1|test|passed|a", "2|end|1|0|0" }, 1, true, false, "command ended with status 1", NULL },
	{ "failures and status 0, by the runner", { HELLO, "1|test|failed|a", "2|end|1|1|0" }, 1, false, false, "1 failures and ended with status 0", NULL },
	{ "no failure and status 1, by the runner", { HELLO, "1|test|passed|a", "2|end|1|0|1" }, 1, false, false, "no failure and ended with status 1", NULL },
	{ "a canary that passed", { HELLO, "1|canary|c|failed|passed", "2|end|0|0|0" }, 0, true, false, "failing tests as passed", "canary c" },
	{ "a canary that is expected to fail", { HELLO, "1|canary|c|failed|xfail", "2|end|0|0|0" }, 0, true, false, "failing tests as passed", "canary c" },
	{ "a canary that is missing", { HELLO, "1|canary|c|failed|missing", "2|end|0|0|0" }, 0, true, false, "failing tests as passed", "canary c" },
	{ "a function of the runner was replaced", { HELLO, "1|broken|TestCase.run", "2|end|0|0|0" }, 0, true, false, "failing tests as passed", "witness TestCase.run" },
	{ "a changed report", { HELLO, "1|changed|a", "2|test|failed|a", "3|end|1|1|1" }, 1, true, true, NULL, "report-hook a" },

	{ "wrong nonce", { HELLO, "!0|1|test|passed|a" }, 0, true, false, "without its witness' word", "channel " },
	{ "nothing at all", { HELLO, "!" }, 0, true, false, "a record that is none", "channel " },
	{ "a hello with another word", { "!0000|0|hello|pytest|7|" NONCE }, 0, true, true, NULL, "channel " },
	{ "a hello without a key", { "0|hello|pytest|7" }, 0, true, true, NULL, "channel " },
	{ "a hello with a short key", { "0|hello|pytest|7|abc" }, 0, true, true, NULL, "channel " },
	{ "the nonce where the key is due", { "0|hello|pytest|7|" OTHER, "1|test|passed|a" }, 0, true, false, "without its witness' word", "channel " },
	{ "the key of another process", { HELLO, "8:0|hello|pytest|7|" OTHER, "8:1|test|passed|a" }, 0, true, false, "without its witness' word", "channel " },
	{ "a process without a hello", { HELLO, "8:1|test|passed|a" }, 0, true, false, "is no witness", "channel " },
	{ "hello twice", { HELLO, HELLO }, 0, true, false, "hello twice", "channel " },
	{ "a hello that is not the first", { "3|hello|pytest|7|" NONCE }, 0, true, true, NULL, "channel " },
	{ "a record that is sent again", { HELLO, "1|test|passed|a", "1|test|passed|a" }, 0, true, false, "record 1 came where 2 was due", "channel " },
	{ "a record that is left out", { HELLO, "2|test|passed|a" }, 0, true, false, "record 2 came where 1 was due", "channel " },
	{ "behind the end", { HELLO, "1|end|0|0|0", "2|test|passed|a" }, 0, true, false, "after the end", "channel " },
	{ "a second end", { HELLO, "1|end|0|0|0", "2|end|0|0|0" }, 0, true, false, "after the end", "channel " },
	{ "another count than arrived", { HELLO, "1|test|passed|a", "2|end|2|0|0" }, 0, true, false, "counted 2 results, but 1 arrived", "channel " },
	{ "an unknown kind", { HELLO, "1|grant|all" }, 0, true, false, "a record that is none (\"grant\")", "channel " },
	{ "an unknown status", { HELLO, "1|test|great|a" }, 0, true, false, "unknown status \"great\"", "channel " },
	{ "missing is no status to send", { HELLO, "1|test|missing|a" }, 0, true, false, "unknown status", "channel " },
	{ "too few fields", { HELLO, "1|test|passed" }, 0, true, false, "a record that is none (\"test\")", "channel " },
	{ "a number that is none", { HELLO, "one|test|passed|a" }, 0, true, false, "a record that is none", "channel " },
	{ "a huge number", { HELLO, "99999999999999999999999|test|passed|a" }, 0, true, false, "a record that is none", "channel " },
	{ "nothing behind the number", { HELLO, "1" }, 0, true, false, "a record that is none", "channel " },
};
/* clang-format on */

static void send_row(struct channel *ch, const char *r)
{
	int64_t pid = 7;
	auto_free char *text = NULL;

	if (r[0] == '8' && r[1] == ':') {
		pid = 8;
		r += 2;
	}
	text = r[0] == '!' ? mem_strdup(r + 1) : mem_printf("%s|%s", NONCE, r);
	feed(ch, pid, text);
}

static void run_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct channel_facts facts = { .exit_status = r->exit_status, .plain = r->plain };
		struct channel ch;
		const char *note;

		open_plain(&ch, true);
		for (size_t k = 0; k < ARRAY_SIZE(r->records) && r->records[k]; k++)
			send_row(&ch, r->records[k]);
		channel_settle(&ch, &facts);
		note = ch.results.note ? ch.results.note : "";
		tap_ok(!ch.results.incomplete == (r->complete && !ch.fault) &&
			       (r->note ? strstr(note, r->note) != NULL : true),
		       "%s: %s", r->name, note[0] ? note : "complete");
		tap_ok(r->tamper ? ch.tamper.n == 1 && str_starts(ch.tamper.v[0], r->tamper)
				 : ch.tamper.n == 0,
		       "%s: tamper %s", r->name, ch.tamper.n ? ch.tamper.v[0] : "none");
		channel_done(&ch);
	}
}

/* Names: those of the task's reader where there are some, the root taken off, the worse status kept or
 * repetitions numbered. */
static void test_names(void)
{
	struct channel ch;
	struct test_result *t;

	open_plain(&ch, true);
	feed(&ch, 7, NONCE "|" HELLO);
	feed(&ch, 7, NONCE "|1|test|passed|/workspace/tests/a.py::t");
	feed(&ch, 7, NONCE "|2|test|passed|plain|junit-xml=j|pytest=one|pytest=two|pytestx=no");
	feed(&ch, 7, NONCE "|3|test|failed|one2|pytest=one");
	tap_ok(testlog_get(&ch.results, "tests/a.py::t"), "names: the root is taken off");
	tap_ok(!testlog_get(&ch.results, "plain") && testlog_get(&ch.results, "two") &&
		       !testlog_get(&ch.results, "j") && !testlog_get(&ch.results, "no"),
	       "names: those of the reader alone");
	t = testlog_get(&ch.results, "one");
	tap_ok(t && t->status == TEST_FAILED && !testlog_get(&ch.results, "one #2"),
	       "names: the worse status stays");
	channel_done(&ch);

	open_plain(&ch, false);
	feed(&ch, 7, NONCE "|" HELLO);
	feed(&ch, 7, NONCE "|1|test|passed|a");
	feed(&ch, 7, NONCE "|2|test|failed|a");
	t = testlog_get(&ch.results, "a #2");
	tap_ok(t && t->status == TEST_FAILED, "names: repetitions are numbered");
	channel_done(&ch);
}

/* Test programs whose output is read outside: status and lines must agree. */
static void test_logs(void)
{
	static const struct {
		const char *name, *log, *exit, *known, *note, *tamper;
	} v[] = {
		{ "passed", "ok 1 - a\n1..1\n", "0", "a", NULL, NULL },
		{ "failed", "not ok 1 - a\n1..1\n", "1", "a", NULL, NULL },
		{ "failed, status 0", "not ok 1 - a\n1..1\n", "0", "a",
		  "reported a failure and ended with status 0", NULL },
		{ "passed, status 1", "ok 1 - a\n1..1\n", "1", "a",
		  "reported no failure and ended with status 1", NULL },
		{ "lines in another's name", "--- PASS: TestX (0.00s)\nok 1 - a\n1..1\n", "0",
		  "TestA", NULL, "forged-line TestX" },
		{ "and marked as go test -json does",
		  "\026--- PASS: TestX (0.00s)\nok 1 - a\n1..1\n", "0", "TestA", NULL,
		  "forged-line TestX" },
		{ "lines in its own name", "--- PASS: TestA (0.00s)\nok 1 - a\n1..1\n", "0",
		  "TestA", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		struct channel_facts facts = { .reader = testlog_find("tap"), .plain = true };
		auto_free char *log = mem_printf(NONCE "|1|log|%s", v[i].log);
		auto_free char *known = mem_printf(NONCE "|2|known|%s", v[i].known);
		auto_free char *end = mem_printf(NONCE "|3|end|0|-1|%s", v[i].exit);
		struct channel ch;

		open_plain(&ch, true);
		feed(&ch, 7, NONCE "|0|hello|go|x.test|" NONCE);
		feed(&ch, 7, log);
		feed(&ch, 7, known);
		feed(&ch, 7, end);
		facts.exit_status = v[i].exit[0] - '0';
		channel_settle(&ch, &facts);
		tap_ok(v[i].note ? ch.results.note && strstr(ch.results.note, v[i].note)
				 : !ch.results.incomplete,
		       "log, %s: %s", v[i].name, ch.results.note ? ch.results.note : "complete");
		tap_ok(v[i].tamper ? ch.tamper.n == 1 && str_eq(ch.tamper.v[0], v[i].tamper)
				   : ch.tamper.n == 0,
		       "log, %s: tamper %s", v[i].name, ch.tamper.n ? ch.tamper.v[0] : "none");
		tap_ok(testlog_get(&ch.results, "a") != NULL, "log, %s: the result is there",
		       v[i].name);
		channel_done(&ch);
	}
}

/* The line that names a program's target stands in the command's log only. */
static void test_headers(void)
{
	static const char program[] =
		"a_test_target_with_a_name_that_is_quite_long_for_a_file-0123456789abcdef";
	static const char tests[] =
		"\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; "
		"0 measured; 0 filtered out; finished in 0.00s\n";
	auto_free char *line =
		mem_printf("     Running tests/long.rs (target/debug/deps/%s)\n", program);
	auto_free char *other =
		mem_printf("     Running tests/no.rs (target/debug/deps/%s)\n", program);
	auto_free char *hello = mem_printf(NONCE "|0|hello|cargo|%s|" NONCE, program);
	auto_free char *output = mem_printf(NONCE "|1|log|%s", tests);

	for (int forged = 0; forged < 2; forged++) {
		auto_free char *log =
			mem_printf("%s%s%s%s", line, tests, line, forged ? other : "");
		struct channel_facts facts = { .reader = testlog_find("libtest"),
					       .log = log,
					       .log_len = strlen(log),
					       .plain = true };
		struct channel ch;

		open_plain(&ch, true);
		feed(&ch, 7, hello);
		feed(&ch, 7, output);
		feed(&ch, 7, NONCE "|2|end|0|-1|0");
		channel_settle(&ch, &facts);
		tap_ok(ch.results.n == 1 && strstr(ch.results.v[0].name, "long"), "header: %s%s%s",
		       ch.results.n ? ch.results.v[0].name : "nothing", ch.results.note ? ", " : "",
		       ch.results.note ? ch.results.note : "");
		tap_ok(ch.tamper.n == (size_t)forged, "header: %zu forged lines", ch.tamper.n);
		channel_done(&ch);
	}
}

/* Hostile amounts: rows, sessions and records have an end, and nothing is lost of the verdict. */
static void test_floods(void)
{
	struct channel ch;

	open_plain(&ch, true);
	feed(&ch, 7, NONCE "|" HELLO);
	for (unsigned i = 0; i < CHANNEL_TAMPER_MAX + 50; i++) {
		auto_free char *r = mem_printf(NONCE "|%u|changed|t%u", i + 1, i);

		feed(&ch, 7, r);
	}
	tap_ok(ch.tamper.n == CHANNEL_TAMPER_MAX && ch.tamper_more == 50,
	       "flood: %zu rows, %u more are counted", ch.tamper.n, (unsigned)ch.tamper_more);
	channel_done(&ch);

	open_plain(&ch, true);
	for (unsigned i = 0; i <= CHANNEL_SESSIONS_MAX; i++)
		feed(&ch, 100 + i, NONCE "|" HELLO);
	tap_ok(ch.n == CHANNEL_SESSIONS_MAX && ch.fault, "flood: %zu processes: %s", ch.n,
	       ch.fault);
	channel_done(&ch);

	open_plain(&ch, true);
	feed(&ch, 7, NONCE "|" HELLO);
	ch.records = CHANNEL_RECORDS_MAX;
	feed(&ch, 7, NONCE "|1|test|passed|a");
	tap_ok(ch.fault && !testlog_get(&ch.results, "a"), "flood: records: %s", ch.fault);
	channel_done(&ch);
}

/* Send @text (its "|" as above) on @fd. */
static void send_text(int fd, const char *text)
{
	char bytes[512];
	size_t n = strlen(text);

	memcpy(bytes, text, n);
	for (size_t i = 0; i < n; i++)
		if (bytes[i] == '|')
			bytes[i] = '\0';
	if (send(fd, bytes, n, MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* A process that sends @first with the nonce, with key OTHER in it, and, when @fork_too, a child of it that sends @second. */
static void sender(int fd, const char *nonce, const char *first, const char *second, bool fork_too)
{
	pid_t pid = fork();
	char text[512];

	if (pid == 0) {
		snprintf(text, sizeof(text), "%s|%s", nonce, first);
		send_text(fd, text);
		if (fork_too && (pid = fork()) > 0) {
			waitpid(pid, NULL, 0);
			_exit(0);
		}
		snprintf(text, sizeof(text), "%s|%s", OTHER, second);
		send_text(fd, text);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void test_socket(void)
{
	struct err err = { 0 };
	struct channel ch = { .fd = -1, .reader = "pytest", .unique = true };
	int box = -1, extra;

	tap_ok(channel_open(&ch, &box, &err) == 0 && strlen(ch.nonce) == 32, "socket: open, %s",
	       ch.nonce);
	tap_ok(!channel_drain(&ch) && !ch.records, "socket: nothing there, nobody waits");
	sender(box, ch.nonce, "0|hello|pytest|7|" OTHER, "1|test|passed|a", false);
	channel_drain(&ch);
	tap_ok(ch.n == 1 && ch.records == 2 && !ch.fault && testlog_get(&ch.results, "a"),
	       "socket: a process speaks");
	sender(box, ch.nonce, "0|hello|pytest|7|" OTHER, "1|test|passed|b", true);
	channel_drain(&ch);
	tap_ok(ch.fault && !testlog_get(&ch.results, "b"), "socket: its child is somebody else: %s",
	       ch.fault ? ch.fault : "no");
	close(box);
	channel_drain(&ch);
	tap_ok(ch.fd == -1, "socket: its end is seen");
	channel_done(&ch);

	/* Descriptors that are sent along are not ours to keep. */
	ch = (struct channel){ .fd = -1, .reader = "pytest", .unique = true };
	channel_open(&ch, &box, &err);
	extra = dup(0);
	close(extra);
	for (int i = 0; i < 3; i++) {
		union {
			char bytes[CMSG_SPACE(sizeof(int))];
			struct cmsghdr align;
		} ctl = { { 0 } };
		struct iovec iov = { (char *)"x", 1 };
		struct msghdr m = { .msg_iov = &iov,
				    .msg_iovlen = 1,
				    .msg_control = ctl.bytes,
				    .msg_controllen = sizeof(ctl.bytes) };
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		int zero = 0;

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &zero, sizeof(zero));
		if (sendmsg(box, &m, 0) < 0)
			tap_diag("sendmsg failed");
	}
	channel_drain(&ch);
	tap_ok(ch.records == 3 && dup(0) == extra, "socket: descriptors are not taken");
	close(extra);
	close(box);
	channel_done(&ch);
}

static void test_choice(void)
{
	static const struct {
		const char *reader, *command, *channel,
			*want; /* want NULL = none, "!" = an error */
	} v[] = {
		{ "pytest", "pytest -rA tests", NULL, "pytest" },
		{ "pytest", "cd x && /usr/bin/python3 -m pytest -rA", "auto", "pytest" },
		{ "pytest", "make check", NULL, "pytest" },
		{ "pytest", "make check", "pytest", "pytest" },
		{ "pytest", "pytest", "log", NULL },
		{ "junit-xml", "python3 -m pytest --junit-xml=r.xml", NULL, "pytest" },
		{ "junit-xml", "mvn test", NULL, NULL },
		{ "tap", "node node_modules/mocha/bin/_mocha --reporter tap", NULL, "mocha" },
		{ "tap", "prove -v", NULL, NULL },
		{ "exit-code", "pytest", NULL, NULL },
		{ "gotest", "go test -v ./...", NULL, "go" },
		{ "pytest", "pytest", "pytset", "!" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		struct task task = { .instance_id = (char *)"x",
				     .test = { .command = (char *)(uintptr_t)v[i].command,
					       .reader = (char *)(uintptr_t)v[i].reader,
					       .channel = (char *)(uintptr_t)v[i].channel } };
		const struct witness *w = NULL;
		struct err err = { 0 };
		bool required = false;
		int rc = witness_choose(&task, &w, &required, &err);
		const char *got = rc < 0 ? "!" : w ? w->name : NULL;

		tap_ok(str_eq(got, v[i].want), "choice: %s, %s, %s: %s", v[i].reader, v[i].command,
		       v[i].channel ? v[i].channel : "none", got ? got : "the log");
		tap_ok(rc < 0 ? strstr(err.text, "did you mean \"pytest\"") != NULL
			      : required ==
					(v[i].channel && w && strcmp(v[i].channel, "auto") != 0),
		       "choice: required %d %s", required, err.text);
	}
}

static void test_plain(void)
{
	static const char *const yes[] = {
		"pytest -rA",       "make && pytest",       "pytest -k 'a;b|c'",     "pytest 2>&1",
		"pytest >log 2>&1", "X=1 pytest \"a & b\"", "pytest -k \"a\\\"; b\""
	};
	static const char *const no[] = { "pytest | tee log",
					  "pytest; true",
					  "pytest || true",
					  "pytest &",
					  "pytest\ntrue",
					  "! pytest",
					  "(pytest; true)",
					  "pytest $(x)",
					  "pytest `x`",
					  "if pytest; then :; fi",
					  "pytest -k \"a\\\"b\" ; true" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		tap_ok(witness_plain(yes[i]), "plain: %s", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		tap_ok(!witness_plain(no[i]), "not plain: row %zu", i);
}

static void test_environment(void)
{
	static const char *const set[] = { "NODE_OPTIONS=--max-old-space-size=100",
					   "PYTHONPATH=src", "GOFLAGS=-mod=vendor",
					   "PYTHONPATH2=x" };
	auto_strv env = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		strv_add(&env, set[i]);
	for (const struct witness *w = witnesses; w->name; w++)
		if (!str_eq(w->name, "unittest") && strcmp(w->name, "mocha") != 0 &&
		    strcmp(w->name, "tape") != 0 && strcmp(w->name, "jest") != 0 &&
		    strcmp(w->name, "vitest") != 0)
			witness_environment(w, "n", &env);
	tap_ok(strv_has(&env, "PYTHONPATH=" WITNESS_DIR "/python:src"),
	       "environment: in front of PYTHONPATH");
	tap_ok(strv_has(&env, "NODE_OPTIONS=--require=" WITNESS_DIR
			      "/node/start.cjs --max-old-space-size=100"),
	       "environment: in front of NODE_OPTIONS");
	tap_ok(strv_has(&env, "GOFLAGS=-exec=" WITNESS_EXEC " -mod=vendor"),
	       "environment: in front of GOFLAGS");
	tap_ok(strv_has(&env, "PYTHONPATH2=x"), "environment: others stay");
	tap_ok(strv_has(&env, "GRADE_CHANNEL=14:n:pytest"), "environment: the channel, once");
}

int main(void)
{
	run_rows();
	test_names();
	test_logs();
	test_headers();
	test_floods();
	test_socket();
	test_choice();
	test_plain();
	test_environment();
	return tap_done();
}
