#include "supervisor/studycell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "study/attempt.h"
#include "study/cells.h"

#define LOG_TAIL 4096u /* bytes of cell.log in which the last line is looked for */
#define ARGS_MAX 4096u

/* Life of one cell. */
struct work {
	const char *dir;
	struct cell_job job;
	struct attempt out;
	int sigfd;
	bool stopped;
};

/* The steps, in their order. */
struct step {
	const char *name;
	bool (*wanted)(const struct work *w);
	void (*args)(const struct work *w, struct strv *args);
	int good; /* largest exit status that is a result and no failure */
};

static bool wants_run(const struct work *w)
{
	return w->job.kind == CELL_RUN && !attempt_has_run(w->dir, false);
}

static bool wants_fork(const struct work *w)
{
	return w->job.kind == CELL_FORK;
}

static bool wants_grade(const struct work *w)
{
	return w->job.kind == CELL_RUN && w->job.grade;
}

static bool wants_judge(const struct work *w)
{
	return w->job.kind == CELL_RUN && w->job.judge;
}

static bool wants_label(const struct work *w)
{
	return w->job.kind == CELL_RUN && w->job.label;
}

static void add_all(struct strv *to, const struct strv *from)
{
	strv_each (i, from)
		strv_add(to, from->v[i]);
}

static void args_run(const struct work *w, struct strv *args)
{
	/* With --json the agent's output goes to the logs only. */
	strv_add(args, "-q");
	strv_add(args, "--no-tty");
	strv_add(args, "--json");
	strv_add(args, "--out");
	strv_add(args, w->dir);
	add_all(args, &w->job.args);
}

static void args_fork(const struct work *w, struct strv *args)
{
	strv_add(args, "-q");
	strv_add(args, "--out");
	strv_add(args, w->dir);
	add_all(args, &w->job.args);
}

static void args_grade(const struct work *w, struct strv *args)
{
	strv_add(args, "-q");
	strv_add(args, "--run");
	strv_add(args, w->dir);
	if (w->job.grade_profile) {
		strv_add(args, "--profile");
		strv_add(args, w->job.grade_profile);
	}
}

static void args_judge(const struct work *w, struct strv *args)
{
	strv_add(args, w->dir);
}

static void args_label(const struct work *w, struct strv *args)
{
	strv_add(args, "-q");
	strv_add(args, w->dir);
}

/* clang-format off */
static const struct step steps[] = {
	{ "run",	wants_run,	args_run,	0 },
	{ "fork",	wants_fork,	args_fork,	1 },
	{ "grade",	wants_grade,	args_grade,	1 },
	{ "judge",	wants_judge,	args_judge,	1 },
	{ "label",	wants_label,	args_label,	0 },
};
/* clang-format on */

/* Exit statuses after which another attempt would end the same: wrong usage, wrong input, a program that cannot be
 * started. */
static bool is_bad(int status)
{
	return status == ERR_USAGE || status == ERR_INPUT || status == ERR_CHILD;
}

/* In the child. What it prints for programs is not kept; what it says to people is in cell.log. */
static void become(char *const *argv, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	/* The parent may have died before the request: then nobody would ever tell us. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || null < 0 ||
	    dup2(null, 0) < 0 || dup2(null, 1) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(127);
	execv("/proc/self/exe", argv); /* this program, also when its file was replaced meanwhile */
	_exit(127);
}

/* Wait for process @pid; signals to us are passed on to it. */
static int wait_for(struct work *w, pid_t pid, int pidfd, int *ret_status, struct err *err)
{
	struct pollfd pfd[2] = { { .fd = w->sigfd, .events = POLLIN },
				 { .fd = pidfd, .events = POLLIN } };
	struct signalfd_siginfo si;

	for (;;) {
		if (poll(pfd, 2, -1) < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for a step");
		while (read(w->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
			w->stopped = true;
			kill(pid, SIGTERM); /* it is our child and not waited for yet */
		}
		if (!pfd[1].revents)
			continue;
		while (waitpid(pid, ret_status, 0) < 0)
			if (errno != EINTR)
				return err_sys(err, "cannot wait for a step");
		return 0;
	}
}

static int carry_out(struct work *w, const struct step *st, int *ret_status, struct err *err)
{
	auto_strv args = { 0 };
	auto_fd int pidfd = -1;
	pid_t parent = getpid(), pid;

	strv_add(&args, "proctor");
	strv_add(&args, st->name);
	st->args(w, &args);
	if (args.n > ARGS_MAX)
		return err_set(err, ERR_INPUT, "%s: more than %u arguments", w->dir, ARGS_MAX);
	pid = fork();
	if (pid < 0)
		return err_sys(err, "cannot start a step");
	if (pid == 0)
		become(args.v, parent);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Linux 5.3; close-on-exec */
	if (pidfd < 0)
		return err_sys(err, "cannot watch a step");
	return wait_for(w, pid, pidfd, ret_status, err);
}

/* The last line of cell.log: what the step had to say. Caller frees; "" for none. */
static char *last_line(const char *dir)
{
	auto_free char *path = path_join(dir, "cell.log");
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[LOG_TAIL + 1], *line;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0 ? 0 : pread(fd, text, LOG_TAIL, size > LOG_TAIL ? size - LOG_TAIL : 0);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = '\0';
	line = strrchr(text, '\n');
	return mem_strdup(line ? line + 1 : text);
}

/* The step was no success. */
static void failed(struct work *w, const struct step *st, int status)
{
	auto_free char *said = last_line(w->dir);

	if (WIFEXITED(status) && is_bad(WEXITSTATUS(status)))
		w->out.end = ATTEMPT_BAD;
	else
		w->out.end = ATTEMPT_INFRA;
	free(w->out.why);
	if (WIFSIGNALED(status))
		w->out.why = mem_printf("%s was killed by signal %d", st->name, WTERMSIG(status));
	else
		w->out.why = mem_printf("%s ended with status %d: %s", st->name,
					WEXITSTATUS(status), said);
}

/* 0 go on, 1 the cell has ended, or negative. */
static int one_step(struct work *w, const struct step *st, struct err *err)
{
	int status = 0, rc;

	if (!st->wanted(w))
		return 0;
	rc = carry_out(w, st, &status, err);
	if (rc < 0)
		return rc;
	if (w->stopped) {
		w->out.end = ATTEMPT_STOPPED;
		w->out.why = mem_printf("stopped in %s", st->name);
		return 1;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) <= st->good)
		return 0;
	failed(w, st, status);
	return 1;
}

/* Why a pair is none of the agent's making; NULL when it is, or when it cannot be told. Caller frees. */
static char *pair_fault(const char *dir)
{
	auto_free char *path = path_join(dir, "pair.json");
	struct json_src src = { 0 };
	const char *reason = NULL, *detail = NULL;
	char *why = NULL;

	if (json_load(path, &src, NULL) == 0) {
		reason = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "reason"));
		detail = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "detail"));
	}
	if (reason && (strcmp(reason, "infra") == 0 || strcmp(reason, "run") == 0))
		why = mem_printf("%s: %s", reason, detail ? detail : "unknown");
	json_src_done(&src);
	return why;
}

/* All steps went well: what did they come to? */
static void judge(struct work *w)
{
	bool fork = w->job.kind == CELL_FORK;
	struct err err = { 0 };
	char *fault = NULL;

	attempt_figures_done(&w->out.figures);
	if (attempt_figures(w->dir, fork, &w->out.figures, &err) < 0 &&
	    w->out.end == ATTEMPT_DONE) {
		w->out.end = ATTEMPT_INFRA;
		fault = mem_printf("what it left cannot be read: %s", err.text);
	}
	if (w->out.end == ATTEMPT_DONE && fork)
		fault = pair_fault(w->dir);
	else if (w->out.end == ATTEMPT_DONE && str_eq(w->out.figures.verdict, "infra"))
		fault = mem_printf("the verdict is infra");
	if (fault) {
		w->out.end = ATTEMPT_INFRA;
		free(w->out.why);
		w->out.why = fault;
	}
}

static int write_result(const struct work *w, struct err *err)
{
	auto_free char *path = path_join(w->dir, ATTEMPT_FILE);
	auto_buf text = BUF_INIT(1u << 20);

	attempt_print(&w->out, &text);
	return fd_replace_file(path, buf_str(&text), text.len, err);
}

static int load_job(struct work *w, struct err *err)
{
	auto_free char *path = path_join(w->dir, "job.json");
	auto_buf text = BUF_INIT(JSON_FILE_MAX);
	int rc = fd_read_file(path, &text, err);

	return rc < 0 ? rc : cells_job(path, buf_str(&text), text.len, &w->job, err);
}

/* Whoever holds the directory of the cell is the only one that makes it, whatever started us twice. flock(2) */
static int take_lock(const char *dir, int *ret, struct err *err)
{
	auto_free char *cell = path_dir(dir);

	*ret = open(cell, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret < 0)
		return err_sys(err, "cannot open %s", cell);
	if (flock(*ret, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(err, ERR_REFUSED, "%s: another process works on this cell", cell);
	return 0; /* a file system without locks is used without */
}

static int take_signals(struct work *w, struct err *err)
{
	sigset_t take;

	sigemptyset(&take);
	sigaddset(&take, SIGINT);
	sigaddset(&take, SIGTERM);
	sigprocmask(SIG_BLOCK, &take, NULL);
	w->sigfd = signalfd(-1, &take, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->sigfd < 0 ? err_sys(err, "cannot take signals") : 0;
}

int studycell(const char *dir, struct err *err)
{
	struct work w = { .dir = dir, .out = { .end = ATTEMPT_DONE }, .sigfd = -1 };
	auto_fd int lock = -1;
	int rc = load_job(&w, err);

	if (rc == 0)
		rc = take_lock(dir, &lock, err);
	if (rc == 0)
		rc = take_signals(&w, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(steps); i++)
		rc = one_step(&w, &steps[i], err);
	if (rc >= 0) {
		judge(&w);
		rc = write_result(&w, err);
	}
	mem_close(&w.sigfd);
	cells_job_done(&w.job);
	attempt_done(&w.out);
	return rc;
}
