/* cell.json there and back; what is seen of a run that is under way; the local engine: a process that begins when it may, one that
 * is taken over, one that is ended. */
#include "study/attempt.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/engine.h"
#include "study/live.h"
#include "tests/lib/tap.h"

static void there_and_back(void)
{
	struct attempt a = { .end = ATTEMPT_DONE,
			     .why = mem_strdup("a\\b \xff"),
			     .figures = { .steps = 3,
					  .tokens = 9,
					  .has_tokens = true,
					  .wall_ns = 5,
					  .verdict = mem_strdup("resolved"),
					  .result = mem_strdup("{\"x\":\"\\u0041\"}") } };
	struct attempt b = { .end = 0 };
	auto_buf text = BUF_INIT(4096);
	struct err err = { 0 };

	attempt_print(&a, &text);
	tap_ok(attempt_parse("x", buf_str(&text), text.len, &b, &err) == 0, "cell.json is read");
	tap_is_str(b.why, "a\\b \xff", "with every byte");
	tap_is_str(b.figures.result, "{\"x\":\"\\u0041\"}", "a line of results as it was");
	tap_ok(b.end == ATTEMPT_DONE && b.figures.tokens == 9 && b.figures.has_tokens &&
		       !b.figures.cost_known,
	       "what is not known is not zero");
	attempt_done(&a);
	attempt_done(&b);
	tap_ok(attempt_parse("x", "{\"schema\":\"proctor.attempt/1\",\"outcome\":\"open\"}", 48, &b,
			     &err) == -ERR_INPUT,
	       "an open one has not ended");
}

static void sees(void)
{
	static const char model[] =
		"{\"purpose\":\"main\",\"source\":\"live\",\"usage\":{\"input\":100,\"cached\":0,\"output\":20},"
		"\"micro_dollars\":7,\"request\":\"\\\"usage\\\":{\\\"input\\\":9999\"}\n"
		"{\"purpose\":\"side\",\"source\":\"live\",\"usage\":{\"input\":10,\"output\":1},\"micro_dollars\":null}\n"
		"{\"purpose\":\"main\",\"source\":\"replay\",\"usage\":{\"input\":5000,\"output\":1}}\n"
		"{\"purpose\":\"main\",\"cut";
	static const char trace[] =
		"{\"n\":1,\"k\":\"spawn\",\"child\":5,\"child_cmd\":1}\n"
		"{\"n\":2,\"k\":\"touch\",\"event\":\"read\",\"lines\":[3,9],\"path\":\"src/a.c\"}\n"
		"{\"n\":3,\"k\":\"touch\",\"scan\":\"many\",\"event\":\"read\",\"lines\":[1,2],\"path\":\"b\"}\n";
	struct live l = { .steps = 0 };
	uint64_t took = live_model(&l.run[0], model, sizeof(model) - 1);

	tap_is_u64(took, strlen(model) - strlen("{\"purpose\":\"main\",\"cut"),
		   "a line without its end is left for the next look");
	tap_ok(l.run[0].calls == 2 && l.run[0].tokens == 131 && l.run[0].micro_dollars == 7 &&
		       l.run[0].unknown,
	       "calls, tokens, dollars, and that one price is unknown; what a record gives again is free");
	live_trace(&l, &l.run[0], trace, sizeof(trace) - 1);
	tap_is_u64(l.run[0].commands, 1, "commands");
	tap_is_str(l.touch, "read src/a.c:3-9", "the last touch; a scan is none");
}

static int open_engine(const char *dir, void **ret)
{
	static const char *const command[] = { "/bin/sh", "-c",
					       "echo ran >$0/ran; exec cat $0/fifo >$0/got", NULL };
	static struct engine_options o;
	struct err err = { 0 };

	o = (struct engine_options){ .study = dir, .command = command };
	return engine_local.open(&o, ret, &err);
}

static bool is_there(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);

	return access(path, F_OK) == 0;
}

/* Wait until the engine has news. */
static void await(void *e)
{
	struct pollfd pfd = { .fd = engine_local.fd(e), .events = POLLIN };

	(void)poll(&pfd, 1, 20000);
}

/* An engine that starts one and dies: before the process may begin, or behind that. Its handle comes through a pipe. */
static struct engine_handle orphan(const char *dir, bool release)
{
	struct engine_handle h = { .start = 0 };
	int pipefd[2];
	pid_t pid;

	if (pipe(pipefd) < 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0) {
		const struct engine_job job = { .study = dir, .key = "k", .dir = "try" };
		struct err err = { 0 };
		void *e = NULL;

		if (open_engine(dir, &e) < 0 || engine_local.start(e, &job, &h, &err) < 0)
			_exit(1);
		if (release)
			(void)engine_local.release(e, &h, &err);
		_exit(write(pipefd[1], &h, sizeof(h)) != (ssize_t)sizeof(h));
	}
	if (read(pipefd[0], &h, sizeof(h)) != (ssize_t)sizeof(h))
		abort();
	close(pipefd[0]);
	close(pipefd[1]);
	waitpid(pid, NULL, 0);
	return h;
}

static void local(const char *dir)
{
	auto_free char *try = path_join(dir, "try"), *fifo = path_join(try, "fifo");
	struct engine_handle h, wrong;
	struct engine_status st;
	struct err err = { 0 };
	bool lives = true;
	void *e = NULL;

	if (fd_mkdirs(try, 0755, NULL) < 0 || mkfifo(fifo, 0600) < 0)
		abort();
	tap_ok(open_engine(dir, &e) == 0, "an engine");
	h = orphan(dir, false);
	if (engine_local.adopt(e, &h, &lives, &err) == 0 && lives)
		await(e);
	tap_ok(!is_there(try, "ran"), "what the journal does not know never begins");
	if (lives)
		(void)engine_local.poll(e, &h, &st, &err);
	h = orphan(dir, true);
	tap_ok(engine_local.adopt(e, &h, &lives, &err) == 0 && lives,
	       "a process of a dead study is taken over");
	tap_ok(engine_local.poll(e, &h, &st, &err) == 0 && st.state == ENGINE_RUNNING, "it runs");
	tap_ok(engine_local.memory(e, &h) > 0, "and has memory");
	tap_ok(engine_local.cancel(e, &h, false, &err) == 0, "it is asked to end");
	await(e);
	tap_ok(engine_local.poll(e, &h, &st, &err) == 0 && st.state == ENGINE_ENDED,
	       "and has ended");
	wrong = h;
	wrong.start++;
	snprintf(wrong.id, sizeof(wrong.id), "%d", (int)getpid());
	tap_ok(engine_local.adopt(e, &wrong, &lives, &err) == 0 && !lives,
	       "another process that has the number is none of ours");
	snprintf(wrong.boot, sizeof(wrong.boot), "another");
	tap_ok(engine_local.adopt(e, &wrong, &lives, &err) == 0 && !lives,
	       "nor one of another boot");
	engine_local.close(e);
}

int main(void)
{
	char dir[] = "/tmp/attempt-XXXXXX";

	there_and_back();
	sees();
	if (!mkdtemp(dir))
		return 1;
	local(dir);
	(void)fd_remove_tree(AT_FDCWD, dir);
	return tap_done();
}
