/* The shipped agent's parts: answers over HTTP and their odd forms, what a request looks like, and the four
 * tools, in a scratch directory. */
#include "profiles/data/actor/actor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

#define HEAD "HTTP/1.1 200 OK\r\n"

/* --- HTTP --- */

static void urls(void)
{
	static const struct {
		const char *text, *host, *path;
		unsigned port; /* 0 = refused */
	} rows[] = {
		{ "http://127.0.0.1:8791/v1", "127.0.0.1", "/v1", 8791 },
		{ "http://127.0.0.1:8791/v1/", "127.0.0.1", "/v1", 8791 },
		{ "http://localhost", "localhost", "", 80 },
		{ "http://localhost/", "localhost", "", 80 },
		{ "https://127.0.0.1/v1", "", "", 0 },
		{ "http://127.0.0.1:0/v1", "", "", 0 },
		{ "http://127.0.0.1:65536/v1", "", "", 0 },
		{ "http://127.0.0.1:x/v1", "", "", 0 },
		{ "http://:80/", "", "", 0 },
		{ "http://127.0.0.1/a b", "", "", 0 },
		{ "http://127.0.0.1/a\r\nX: y", "", "", 0 },
		{ "", "", "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct actor_url u;
		char why[ACTOR_WHY_MAX] = "";
		bool good = actor_url(rows[i].text, &u, why) == 0;

		if (!rows[i].port) {
			tap_ok(!good && why[0], "base URL %zu is refused: %s", i, why);
			continue;
		}
		tap_ok(good && u.port == rows[i].port && str_eq(u.host, rows[i].host) &&
			       str_eq(u.path, rows[i].path),
		       "%s", rows[i].text);
	}
}

static void answers(void)
{
	static const struct {
		const char *raw, *body;
		int status;
	} rows[] = {
		{ HEAD "Content-Length: 2\r\n\r\nab", "ab", 200 },
		{ HEAD "content-length:2\r\n\r\nabc", "ab", 200 },
		{ HEAD "\r\nab", "ab", 200 },
		{ "HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", "", 429 },
		{ HEAD
		  "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
		  "ab0123456789", 200 },
		/* cut, or no answer at all */
		{ HEAD "Content-Length: 3\r\n\r\nab", NULL, -1 },
		{ HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nab", NULL, -1 },
		{ HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", NULL, -1 },
		{ HEAD "Transfer-Encoding: chunked\r\n\r\nx\r\nab\r\n0\r\n\r\n", NULL, -1 },
		{ HEAD "Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\nab\r\n0\r\n\r\n", NULL, -1 },
		{ HEAD "Transfer-Encoding: chunked\r\n\r\n0FFFFFFFF\r\nab\r\n", NULL, -1 },
		{ "HTTP/1.1 abc\r\n\r\n", NULL, -1 },
		{ "HTTP/1.1 20\r\n\r\n", NULL, -1 },
		{ "SSH-2.0-x\r\n\r\n", NULL, -1 },
		{ HEAD, NULL, -1 },
		{ "", NULL, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf body = BUF_INIT(4096);

		tap_ok(actor_answer(rows[i].raw, strlen(rows[i].raw), &body) == rows[i].status,
		       "answer %zu: status %d", i, rows[i].status);
		if (rows[i].body)
			tap_is_str(buf_str(&body), rows[i].body, "its body");
	}
}

/* A server for one connection: takes the request, sends @reply in pieces, and keeps the connection open
 * until the client goes. */
static pid_t serve(const char *reply, uint16_t *ret_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(a);
	pid_t pid;

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		abort();
	*ret_port = ntohs(a.sin_port);
	pid = fork();
	if (pid == 0) {
		int c = accept(fd, NULL, NULL);
		char part[65536];

		if (c < 0 || read(c, part, sizeof(part)) <= 0)
			_exit(1);
		for (size_t i = 0; reply[i]; i += 3)
			(void)!write(c, reply + i, strnlen(reply + i, 3));
		while (read(c, part, sizeof(part)) > 0)
			;
		_exit(0);
	}
	return pid;
}

static void posts(void)
{
	auto_buf body = BUF_INIT(4096), reply = BUF_INIT(4096);
	struct actor_url u = { .host = "127.0.0.1", .path = "/v1" };
	char why[ACTOR_WHY_MAX];
	pid_t pid;

	buf_adds(&body, "{}");
	pid = serve(HEAD "Content-Length: 5\r\n\r\nhello", &u.port);
	tap_ok(actor_post(&u, "/x", "key", &body, &reply, why) == 200,
	       "a server that keeps the connection open is not waited for");
	tap_is_str(buf_str(&reply), "hello", "what it said");
	waitpid(pid, NULL, 0);
	tap_ok(actor_post(&u, "/x", NULL, &body, &reply, why) == -1 &&
		       strstr(why, "cannot reach 127.0.0.1:"),
	       "nobody there: %s", why);
	tap_ok(actor_post(&u, "/x", "a\r\nX: y", &body, &reply, why) == -1,
	       "a key with line ends goes nowhere");
	strcpy(u.host, "example.invalid");
	tap_ok(actor_post(&u, "/x", NULL, &body, &reply, why) == -1 && strstr(why, "IPv4"),
	       "names are not looked up: %s", why);
}

/* --- the conversation --- */

static void request_of(const char *reply, struct buf *out)
{
	auto_buf talk = BUF_INIT(1u << 20), result = BUF_INIT(64);
	struct actor_message m;

	actor_add_text(&talk, "user", "say \"hi\"");
	if (actor_message(reply, strlen(reply), &m) < 0)
		abort();
	actor_add_message(&talk, &m);
	buf_adds(&result, "a\nb");
	for (size_t i = 0; i < m.n_calls; i++)
		actor_add_result(&talk, m.calls[i].id, &result);
	actor_message_done(&m);
	if (actor_request("m", &talk, out) < 0)
		abort();
}

#define MESSAGE(text) "{\"choices\":[{\"message\":" text "}]}"
#define BEGIN         "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"say \\\"hi\\\"\"}"
#define RESULT(id)    ",{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"a\\nb\"}"
#define CALL(id, n, a)                                                                             \
	"{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" n                     \
	"\",\"arguments\":" a "}}"
#define SAID(content, more) ",{\"role\":\"assistant\",\"content\":" content more "}"

static void requests(void)
{
	static const struct {
		const char *name, *reply, *talk;
	} rows[] = {
		{ "text", MESSAGE("{\"content\":\"yes\"}"), SAID("\"yes\"", "") },
		{ "parts", MESSAGE("{\"content\":[{\"text\":\"y\"},{\"text\":\"es\"},3]}"),
		  SAID("\"yes\"", "") },
		{ "nothing", MESSAGE("{}"), SAID("null", "") },
		{ "a call",
		  MESSAGE("{\"content\":null,\"tool_calls\":[" CALL("a", "read", "\"{}\"") "]}"),
		  SAID("null", ",\"tool_calls\":[" CALL("a", "read", "\"{}\"") "]") RESULT("a") },
		{ "two calls",
		  MESSAGE("{\"content\":\"\",\"tool_calls\":[" CALL("a", "read", "\"{}\"") "," CALL(
			  "b", "shell", "\"{}\"") "]}"),
		  SAID("\"\"", ",\"tool_calls\":[" CALL("a", "read", "\"{}\"") "," CALL(
				       "b", "shell", "\"{}\"") "]") RESULT("a") RESULT("b") },
		{ "arguments as an object",
		  MESSAGE("{\"tool_calls\":[" CALL("a", "read", "{\"path\":\"x\"}") "]}"),
		  SAID("null",
		       ",\"tool_calls\":[" CALL("a", "read", "\"{\\\"path\\\":\\\"x\\\"}\"") "]")
			  RESULT("a") },
		{ "a call of nothing", MESSAGE("{\"tool_calls\":[3]}"),
		  SAID("null", ",\"tool_calls\":[" CALL("call_1", "unknown", "\"{}\"") "]")
			  RESULT("call_1") },
		{ "calls that are no array", MESSAGE("{\"tool_calls\":{\"id\":3}}"),
		  SAID("null", "") },
	};
	static const char *const none[] = { "",
					    "{",
					    "[]",
					    "{\"choices\":{}}",
					    "{\"choices\":[]}",
					    "{\"choices\":[{}]}",
					    "{\"choices\":[{\"message\":3}]}" };
	struct actor_message m;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf got = BUF_INIT(1u << 20), want = BUF_INIT(1u << 20);

		request_of(rows[i].reply, &got);
		buf_addf(&want, BEGIN "%s],\"tools\":%s,\"stream\":false}", rows[i].talk,
			 actor_tools);
		tap_is_str(buf_str(&got), buf_str(&want), rows[i].name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		tap_ok(actor_message(none[i], strlen(none[i]), &m) == -1, "no message: %s",
		       none[i]);
}

static void many_calls(void)
{
	auto_buf reply = BUF_INIT(1u << 20);
	struct actor_message m;

	buf_adds(&reply, "{\"choices\":[{\"message\":{\"tool_calls\":[1");
	for (unsigned i = 0; i < 2 * ACTOR_CALLS_MAX; i++)
		buf_adds(&reply, ",1");
	buf_adds(&reply, "]}}]}");
	tap_ok(actor_message(buf_str(&reply), reply.len, &m) == 0, "many calls");
	tap_is_u64(m.n_calls, ACTOR_CALLS_MAX, "are bounded");
	actor_message_done(&m);
}

/* --- tools --- */

/* Result of a tool, checked to be what a request may hold. Caller frees. */
static char *tool(const char *name, const char *args)
{
	auto_buf out = BUF_INIT(2 * ACTOR_OUTPUT_MAX);
	size_t bad;

	actor_tool(name, args, &out);
	if (out.len > ACTOR_OUTPUT_MAX || memchr(buf_str(&out), '\0', out.len) ||
	    !str_utf8(buf_str(&out), out.len, &bad))
		tap_ok(false, "%s %s: no text of a request", name, args);
	return buf_steal(&out, NULL);
}

static void files(void)
{
	static const struct {
		const char *tool, *args, *want;
	} rows[] = {
		{ "write", "{\"path\":\"d/e/f.txt\",\"content\":\"one\\ntwo\\nthree\\n\"}",
		  "wrote 14 bytes\n" },
		{ "read", "{\"path\":\"d/e/f.txt\"}", "one\ntwo\nthree\n" },
		{ "read", "{\"path\":\"d/e/f.txt\",\"first\":2,\"last\":2}", "two\n" },
		{ "read", "{\"path\":\"d/e/f.txt\",\"first\":\"2\",\"last\":3.0}", "two\nthree\n" },
		{ "read", "{\"path\":\"d/e/f.txt\",\"first\":9}", "[no such lines]\n" },
		{ "read", "{\"path\":\"none\"}",
		  "error: cannot read none: No such file or directory\n" },
		{ "read", "{\"path\":\"d\"}", "error: cannot read d: it is no file\n" },
		{ "read", "{\"path\":\"fifo\"}", "error: cannot read fifo: it is no file\n" },
		{ "read", "{}", "error: read needs \"path\", a string\n" },
		{ "read", "{\"path\":\"a\\u0000b\"}", "error: read needs \"path\", a string\n" },
		{ "read", "[]", "error: the arguments are no JSON object\n" },
		{ "read", "{\"path\":", "error: the arguments are no JSON object\n" },
		{ "edit", "{\"path\":\"d/e/f.txt\",\"old\":\"two\\n\",\"new\":\"2\\n\"}",
		  "edited\n" },
		{ "read", "{\"path\":\"d/e/f.txt\"}", "one\n2\nthree\n" },
		{ "edit", "{\"path\":\"d/e/f.txt\",\"old\":\"e\",\"new\":\"\"}",
		  "error: cannot edit d/e/f.txt: the text old stands in it more than once\n" },
		{ "edit", "{\"path\":\"d/e/f.txt\",\"old\":\"zz\",\"new\":\"\"}",
		  "error: cannot edit d/e/f.txt: the text old does not stand in it\n" },
		{ "edit", "{\"path\":\"d/e/f.txt\",\"old\":\"\",\"new\":\"x\"}",
		  "error: cannot edit d/e/f.txt: the text old does not stand in it\n" },
		{ "edit", "{\"path\":\"none\",\"old\":\"a\",\"new\":\"b\"}",
		  "error: cannot read none: No such file or directory\n" },
		{ "edit", "{\"path\":\"d\"}",
		  "error: edit needs \"path\", \"old\" and \"new\", strings\n" },
		{ "write", "{\"path\":\"d\",\"content\":\"\"}",
		  "error: cannot write d: Is a directory\n" },
		{ "write", "{\"content\":\"\"}",
		  "error: write needs \"path\" and \"content\", strings\n" },
		{ "shell", "{}", "error: shell needs \"command\", a string\n" },
		{ "dance", "{}",
		  "error: there is no such tool; take shell, read, edit or write\n" },
	};

	if (mkfifo("fifo", 0600) < 0)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = tool(rows[i].tool, rows[i].args);

		tap_is_str(got, rows[i].want, rows[i].args);
	}
}

static void shells(void)
{
	static const struct {
		const char *args, *want;
	} rows[] = {
		{ "{\"command\":\"echo out; echo err >&2\"}", "out\nerr\n" },
		{ "{\"command\":\"printf x; exit 3\"}", "x\n[exit status 3]\n" },
		{ "{\"command\":\"true\"}", "[no output]\n" },
		{ "{\"command\":\"kill -9 $$\"}", "[killed by signal 9]\n" },
		{ "{\"command\":\"cat\"}", "[no output]\n" }, /* standard input is empty */
		{ "{\"command\":\"printf 'a\\\\377b\\\\000c'\"}", "a?b?c\n" },
	};
	auto_free char *background = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = tool("shell", rows[i].args);

		tap_is_str(got, rows[i].want, rows[i].args);
	}
	/* holds the pipe for longer than any test may last */
	background = tool("shell", "{\"command\":\"sleep 100000 & echo $! >pid; echo started\"}");
	tap_is_str(background, "started\n", "what is left running is not waited for");
}

static void end_background(void)
{
	auto_buf b = BUF_INIT(64);
	uint64_t pid = 0;

	if (fd_read_file("pid", &b, NULL) < 0)
		abort();
	b.data[strcspn(b.data, "\n")] = '\0';
	tap_ok(str_u64(b.data, &pid) == 0 && kill((pid_t)pid, SIGKILL) == 0, "it was running");
}

static void long_output(void)
{
	static const char args[] =
		"{\"command\":\"echo begin; i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo end\"}";
	auto_free char *got = tool("shell", args), *again = tool("shell", args);

	tap_ok(str_starts(got, "begin\nline 0\n"), "long output: its beginning");
	tap_ok(str_ends(got, "line 19999\nend\n"), "long output: its end");
	tap_ok(strstr(got, " bytes left out]\n"), "long output: what was left out is said");
	tap_is_str(again, got, "long output: the same again");
}

int main(void)
{
	char dir[] = "/tmp/actor-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	urls();
	answers();
	posts();
	requests();
	many_calls();
	files();
	shells();
	end_background();
	long_output();
	if (chdir("/") < 0)
		return 1;
	tap_ok(fd_remove_tree(AT_FDCWD, dir) == 0, "the scratch directory goes");
	return tap_done();
}
