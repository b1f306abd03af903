/* For tests that make real boxes: a scratch with workspace layers, a box around a shell script with
 * its output captured, and running the same test program again as an ordinary user. */
#ifndef TESTS_UNIT_SANDBOX_BOX_HELP_H
#define TESTS_UNIT_SANDBOX_BOX_HELP_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/box.h"
#include "tests/lib/tap.h"

#define HELP_TIMEOUT (60 * CLOCK_SEC)

/* One world: directories, description, box. */
struct help {
	char *scratch, *lower, *upper, *work;
	struct profile profile;
	struct box_spec spec;
	struct box *box;
	struct buf out; /* what the command wrote */
	int status;
	struct err err;
};

static char *const help_env[] = {
	(char *)(uintptr_t) "PATH=/usr/local/bin:/usr/bin:/bin",
	(char *)(uintptr_t) "HOME=/home/agent",
	(char *)(uintptr_t) "LC_ALL=C",
	/* The leak checker traces, which is refused inside. */
	(char *)(uintptr_t) "ASAN_OPTIONS=detect_leaks=0",
	NULL,
};

static inline void help_put(const char *dir, const char *name, const char *text)
{
	auto_free char *path = mem_printf("%s/%s", dir, name);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		tap_diag("cannot write %s: %s", path, strerror(errno));
}

/* Contents of @dir/@name, "" when it is not there. Borrowed from @b. */
static inline const char *help_get(struct buf *b, const char *dir, const char *name)
{
	auto_free char *path = mem_printf("%s/%s", dir, name);

	buf_clear(b);
	(void)fd_read_file(path, b, NULL);
	return buf_str(b);
}

static inline void help_open(struct help *h)
{
	memset(h, 0, sizeof(*h));
	h->out.max = 1u << 20;
	h->scratch = mem_strdup("/var/tmp/proctor-test.XXXXXX");
	if (!mkdtemp(h->scratch))
		tap_diag("mkdtemp: %s", strerror(errno));
	h->lower = mem_printf("%s/lower", h->scratch);
	h->upper = mem_printf("%s/upper", h->scratch);
	h->work = mem_printf("%s/work", h->scratch);
	if (mkdir(h->lower, 0755) < 0 || mkdir(h->upper, 0755) < 0 || mkdir(h->work, 0755) < 0)
		tap_diag("mkdir: %s", strerror(errno));
	help_put(h->lower, "file", "lower\n");
	h->spec = (struct box_spec){
		.rootfs = "host",
		.profile = &h->profile,
		.workdir = "/workspace",
		.ws_lower = h->lower,
		.ws_upper = h->upper,
		.ws_work = h->work,
		.scratch = h->scratch,
		.home = "/home/agent",
		.env = help_env,
		.stdio = { 0, 1, 2 },
	};
}

static inline void help_close(struct help *h)
{
	h->box = box_free(h->box);
	if (fd_remove_tree(AT_FDCWD, h->scratch) < 0)
		tap_diag("%s is left: %s", h->scratch, strerror(errno));
	free(h->scratch);
	free(h->lower);
	free(h->upper);
	free(h->work);
	buf_done(&h->out);
	strv_done(&h->profile.read);
	strv_done(&h->profile.write);
	strv_done(&h->profile.hide);
	strv_done(&h->profile.deny);
	strv_done(&h->profile.require);
}

/* box_start() in place of the box that was there. */
static inline int help_box(struct help *h)
{
	h->box = box_free(h->box);
	memset(&h->err, 0, sizeof(h->err));
	return box_start(&h->spec, &h->box, &h->err);
}

/* Run h->spec.argv with output captured until the command ends and the pipe closes or the box is
 * killed. h->box stays for the caller. 0 or what box_start() gave. */
static inline int help_start(struct help *h)
{
	auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	auto_fd int in = -1;
	auto_fd int out = -1;
	uint64_t end = clock_mono() + HELP_TIMEOUT;
	int p[2], rc;

	if (pipe2(p, O_CLOEXEC) < 0)
		return -ERR_SYS;
	in = p[0];
	out = p[1];
	h->spec.stdio[0] = null;
	h->spec.stdio[1] = h->spec.stdio[2] = out;
	buf_clear(&h->out);
	rc = help_box(h);
	if (rc < 0)
		return rc;
	mem_close(&out);
	for (;;) {
		struct pollfd pfd[2] = { { .fd = in, .events = POLLIN },
					 { .fd = h->box->status_fd, .events = POLLIN } };
		char text[4096];
		ssize_t n;

		if (clock_mono() > end || poll(pfd, 2, 1000) < 0)
			break;
		if (pfd[1].revents && !pfd[0].revents)
			break;
		if (!pfd[0].revents)
			continue;
		n = read(in, text, sizeof(text));
		if (n <= 0)
			break;
		(void)buf_add(&h->out, text, (size_t)n);
	}
	rc = box_wait(h->box, HELP_TIMEOUT, &h->err);
	h->status = h->box->status;
	return rc == 1 ? 0 : -1;
}

/* As help_start() for a shell script. Returns its output without the last newline. */
static inline const char *help_sh(struct help *h, const char *script)
{
	char *const argv[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
			       (char *)(uintptr_t)script, NULL };
	int rc;

	h->spec.argv = argv;
	rc = help_start(h);
	h->spec.argv = NULL;
	if (rc < 0)
		tap_diag("box: %s", h->err.text);
	while (h->out.len && h->out.data[h->out.len - 1] == '\n')
		h->out.data[--h->out.len] = '\0';
	return buf_str(&h->out);
}

/* Check the output of @script in a fresh world. */
static inline void help_is(const char *script, const char *want, const char *name)
{
	struct help h;

	help_open(&h);
	tap_is_str(help_sh(&h, script), want, name);
	help_close(&h);
}

/* Become the ordinary user of the tests. */
static inline int help_drop(void)
{
	const struct passwd *pw = getpwnam("proctor-test");
	uid_t uid = pw ? pw->pw_uid : 64321;
	gid_t gid = pw ? pw->pw_gid : 64321;

	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -1;
	/* As after a log-in: the change of ids made us undumpable. */
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Run @tests as we are and, when we are root, again in a child as an ordinary user, whose lines
 * appear with "user: " in front. Returns the exit status. */
static inline int help_main(void (*tests)(void))
{
	int p[2], status = 0;
	char line[1024];
	pid_t pid;
	FILE *f;

	tests();
	if (geteuid() != 0)
		return tap_done();
	fflush(stdout);
	if (pipe2(p, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return 1;
	if (pid == 0) {
		if (dup2(p[1], 1) < 0 || help_drop() < 0)
			_exit(99);
		tap_count_ = tap_failed_ = 0;
		tests();
		exit(tap_done());
	}
	close(p[1]);
	f = fdopen(p[0], "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *dash = strstr(line, " - ");

		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "ok ", 3) == 0 && dash && strstr(line, " # SKIP "))
			tap_skip("user", strstr(line, " # SKIP ") + 8);
		else if (strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0)
			tap_ok(line[0] == 'o', "user: %s", dash ? dash + 3 : line);
		else if (strncmp(line, "1..", 3) != 0)
			printf("# %s\n", line);
	}
	if (f)
		fclose(f);
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) != 99,
	       "user: ran to its end");
	return tap_done();
}

#endif
