/* For the tests of the readers: run one over a text and write its results as one string. */
#ifndef TESTS_UNIT_VERIFIER_READERS_H
#define TESTS_UNIT_VERIFIER_READERS_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/tap.h"
#include "verifier/testlog.h"

/* "name=status" per line, then "! note" when incomplete. Caller frees. */
static inline char *readers_dump(const struct test_results *r)
{
	struct buf b = BUF_INIT(64u << 20);

	for (size_t i = 0; i < r->n; i++)
		buf_addf(&b, "%s=%s\n", r->v[i].name, test_status_name(r->v[i].status));
	if (r->incomplete)
		buf_addf(&b, "! %s\n", r->note ? r->note : "(no note)");
	return buf_steal(&b, NULL);
}

/* Results of reader @name over @in; checks that the spans lie in the log. Caller frees. */
static inline char *readers_run(const char *name, const struct testlog_input *in)
{
	const struct testlog_reader *row = testlog_find(name);
	struct test_results r = { 0 };
	struct err err = { 0 };
	size_t limit = in->report && in->report_len > in->log_len ? in->report_len : in->log_len;
	char *text;

	if (!row || row->read(in, &r, &err) < 0)
		abort();
	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].from > r.v[i].to || r.v[i].to > limit)
			tap_ok(false, "span of %s: %llu..%llu", r.v[i].name,
			       (unsigned long long)r.v[i].from, (unsigned long long)r.v[i].to);
	text = readers_dump(&r);
	testlog_done(&r);
	return text;
}

/* Assert what reader @reader makes of @log, with exit status @status. */
static inline void readers_is(const char *reader, const char *log, int status, const char *want,
			      const char *name)
{
	struct testlog_input in = {
		.log = log, .log_len = strlen(log), .exit_status = status, .root = "/workspace"
	};
	auto_free char *got = readers_run(reader, &in);

	tap_is_str(got, want, name);
}

/* A fresh directory below /tmp. Caller frees (the path; remove with readers_rmdir()). */
static inline char *readers_mkdir(void)
{
	char *dir = mem_strdup("/tmp/proctor-test-XXXXXX");

	if (!mkdtemp(dir))
		abort();
	return dir;
}

static inline void readers_rmdir(const char *dir)
{
	if (fd_remove_tree(AT_FDCWD, dir) < 0)
		tap_diag("%s could not be removed", dir);
}

static inline void readers_write(const char *dir, const char *name, const char *text)
{
	auto_free char *path = mem_printf("%s/%s", dir, name);
	struct err err = { 0 };

	if (fd_replace_file(path, text, strlen(text), &err) < 0)
		abort();
}

/* Run @command with sh in @dir; stdout and stderr together into @out. Returns the exit status. */
static inline int readers_sh(const char *dir, const char *command, struct buf *out)
{
	int p[2], status;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(p[1], 1);
		dup2(p[1], 2);
		if (chdir(dir) == 0)
			execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(p[1]);
	if (fd_read_all(p[0], out) < 0)
		abort();
	close(p[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Run the real runner in @dir and read its output. Caller frees. */
static inline char *readers_live(const char *reader, const char *dir, const char *command)
{
	auto_buf out = BUF_INIT(16u << 20);
	int status = readers_sh(dir, command, &out);
	struct testlog_input in = {
		.log = buf_str(&out), .log_len = out.len, .exit_status = status, .root = dir
	};

	return readers_run(reader, &in);
}

#endif
