#include "verifier/grade_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "profiles/image.h"
#include "profiles/task_bounds.h"
#include "sandbox/box.h"
#include "sandbox/imagecache.h"
#include "sandbox/workspace.h"
#include "verifier/grade.h"
#include "verifier/grade_channel_internal.h"

#define HOME_DIR         "/home/agent"    /* as the agent had it: ids and caches may hold it */
#define REAP_MAX         (30 * CLOCK_SEC) /* a killed PID namespace is gone long before */
#define LEFT_MAX         CLOCK_SEC        /* for what only has to come to its end */
#define SAMPLE_MS        500              /* between looks at resource use */
#define DISK_ENTRIES_MAX 1000000ull       /* files that one look at the disk counts */

/* Does @env set the variable that @assignment does? */
static bool is_set(const struct strv *env, const char *assignment)
{
	size_t n = strcspn(assignment, "=") + 1;

	strv_each (i, env) {
		if (strncmp(env->v[i], assignment, n) == 0)
			return true;
	}
	return false;
}

/* The tests' environment is made, never inherited: what the host or the agent exported does not
 * reach it. The image's variables win over ours, the task's over both. */
static void environment(const struct task *task, struct strv *env)
{
	static const char *const fixed[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		("HOME=" HOME_DIR),
		"USER=agent",
		"LOGNAME=agent",
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
		"TZ=UTC",
		"TERM=dumb",
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (!is_set(&task->env, fixed[i]) &&
		    !(task->image && is_set(&task->image->env, fixed[i])))
			strv_add(env, fixed[i]);
	}
	for (size_t i = 0; task->image && i < task->image->env.n; i++) {
		if (!is_set(&task->env, task->image->env.v[i]))
			strv_add(env, task->image->env.v[i]);
	}
	strv_each (k, &task->env)
		strv_add(env, task->env.v[k]);
}

struct run {
	struct box *box;                 /* owned */
	int out;                         /* read end of the tests' stdout and stderr */
	uint64_t deadline, wall, output; /* output: bytes allowed */
	uint64_t disk_next;              /* when to look at the disk again */
	const struct limits *limits;
	const char *upper;
	struct verdict *v;
	struct grade_end *end;
	uint64_t mem_now, sample_next;
	uint64_t cpu_before; /* of our reaped children, where no cgroup counts */
};

static uint64_t children_cpu(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_CHILDREN, &ru) < 0)
		return 0;
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * CLOCK_SEC +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
}

/* Highest values seen: without a cgroup only what lives can be asked. */
static void sample(struct run *r)
{
	uint64_t cpu = 0, mem = 0, tasks = 0;

	box_usage(r->box, &cpu, &mem, &tasks);
	if (cpu > r->v->cpu_ns)
		r->v->cpu_ns = cpu;
	r->mem_now = mem;
	if (mem > r->v->max_mem)
		r->v->max_mem = mem;
	if (tasks > r->v->max_tasks)
		r->v->max_tasks = tasks;
}

static bool over(struct run *r, enum limit_kind kind, uint64_t limit)
{
	r->end->stopped = true;
	r->end->over = kind;
	r->end->limit = limit;
	return true;
}

/* Bytes in the workspace's upper layer and in the box's own layers. Walking is not free: the more
 * time it took, the later is the next look. */
static uint64_t disk_used(struct run *r)
{
	uint64_t start = clock_mono(), took, used;

	used = fd_tree_bytes(AT_FDCWD, r->upper, DISK_ENTRIES_MAX);
	if (r->box->dir)
		used += fd_tree_bytes(AT_FDCWD, r->box->dir, DISK_ENTRIES_MAX);
	if (used > r->v->max_disk)
		r->v->max_disk = used;
	took = clock_mono() - start;
	r->disk_next = start + 20 * took + CLOCK_SEC;
	return used;
}

/* Is one of the watched limits passed? */
static bool over_limit(struct run *r)
{
	const uint64_t *max = r->limits->max;

	sample(r);
	if (max[LIMIT_CPU] && r->v->cpu_ns > max[LIMIT_CPU])
		return over(r, LIMIT_CPU, max[LIMIT_CPU]);
	if (max[LIMIT_MEMORY] && r->mem_now > max[LIMIT_MEMORY])
		return over(r, LIMIT_MEMORY, max[LIMIT_MEMORY]);
	if (max[LIMIT_DISK] && clock_mono() >= r->disk_next && disk_used(r) > max[LIMIT_DISK])
		return over(r, LIMIT_DISK, max[LIMIT_DISK]);
	return false;
}

/* Take what is in the pipe. 1 end of file, 0 nothing more now, -1 the limit was passed. */
static int drain(struct run *r)
{
	struct buf *log = &r->v->log;

	for (;;) {
		char part[65536];
		ssize_t n = read(r->out, part, sizeof(part));

		if (n == 0)
			return 1;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : 1;
		if ((uint64_t)n > r->output - log->len) {
			buf_add(log, part, (size_t)(r->output - log->len));
			return -1;
		}
		buf_add(log, part, (size_t)n);
	}
}

/* Wait for the command's end, the deadline or too much output. A process that the tests left behind
 * may hold the pipe open for ever, so the end of the pipe decides nothing. */
static int wait_end(struct run *r, struct err *err)
{
	bool open = true;

	for (;;) {
		struct channel *ch = &r->end->channel->ch;
		struct pollfd p[3] = { { .fd = r->box->status_fd, .events = POLLIN },
				       { .fd = open ? r->out : -1, .events = POLLIN },
				       { .fd = ch->fd, .events = POLLIN } };
		uint64_t now = clock_mono(), left;
		int rc;

		if (now >= r->deadline) {
			over(r, LIMIT_WALL, r->wall);
			return 0;
		}
		left = (r->deadline - now) / CLOCK_MS + 1;
		rc = poll(p, 3, left < SAMPLE_MS ? (int)left : SAMPLE_MS);
		if (rc < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for the tests");
		if (rc > 0 && p[1].revents) {
			rc = drain(r);
			if (rc < 0) {
				over(r, LIMIT_OUTPUT, r->output);
				return 0;
			}
			open = rc == 0;
		}
		if (rc >= 0 && p[2].revents)
			(void)channel_drain(ch); /* what is left wakes us again */
		rc = box_wait(r->box, 0, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		now = clock_mono();
		if (now >= r->sample_next) {
			r->sample_next = now + SAMPLE_MS * CLOCK_MS;
			if (over_limit(r))
				return 0;
		}
	}
}

/* How many processes outlive the command: what ends by itself within LEFT_MAX (a tee behind a process
 * substitution, children that PID 1 has yet to reap) does not count. Nothing tells the moment at which the last one is
 * gone, so the number is looked at again whenever output comes, and every 20 ms. */
static unsigned leftovers(struct run *r)
{
	uint64_t until = clock_mono() + LEFT_MAX;
	bool open = true;

	for (;;) {
		struct pollfd p = { .fd = open ? r->out : -1, .events = POLLIN };
		uint64_t cpu, mem, tasks;

		box_usage(r->box, &cpu, &mem, &tasks);
		if (!tasks || clock_mono() >= until)
			return (unsigned)tasks;
		/* Too much output is told later, by finish(). */
		if (poll(&p, 1, 20) > 0 && drain(r) != 0)
			open = false;
	}
}

/* Kill what is left and wait until PID 1 is gone: then the whole PID namespace is
 * (pid_namespaces(7)), nobody writes to the workspace any more, and the pipe has an end. */
static int bring_down(struct run *r, struct err *err)
{
	struct pollfd pfd = { .fd = r->box->init_pidfd, .events = POLLIN };
	uint64_t until = clock_mono() + REAP_MAX;
	int rc;

	sample(r);
	box_kill(r->box);
	do {
		uint64_t now = clock_mono();

		rc = poll(&pfd, 1, now < until ? (int)((until - now) / CLOCK_MS) + 1 : 0);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return err_sys(err, "cannot wait for the box of the tests");
	if (rc == 0)
		return err_set(err, ERR_SYS, "the box of the tests did not die within %d s",
			       (int)(REAP_MAX / CLOCK_SEC));
	return 0;
}

/* Box down, rest of the output taken, status and memory kills noted. */
static int finish(struct run *r, struct err *err)
{
	int rc = bring_down(r, err);

	if (rc == 0)
		rc = box_wait(r->box, CLOCK_SEC, err);
	if (rc < 0)
		return rc;
	sample(r);
	/* Nobody is left who could send: what waits is bounded by the socket's buffer. */
	while (channel_drain(&r->end->channel->ch))
		;
	if (!(r->end->stopped && r->end->over == LIMIT_OUTPUT) && drain(r) < 0)
		over(r, LIMIT_OUTPUT, r->output);
	r->v->exit_status = WIFEXITED(r->box->status) ? WEXITSTATUS(r->box->status)
						      : 128 + WTERMSIG(r->box->status);
	r->end->oom = box_oom(r->box);
	if (!r->end->stopped)
		(void)disk_used(r);
	/* What the tests said up to there is no result. Memory is a limit of the task's. */
	if (r->box->lost && !r->end->oom)
		return err_set(err, ERR_SYS,
			       "the box of the tests was killed from outside before they ended");
	return 0;
}

/* What the task puts in for grading only. Caller frees. */
static struct box_bind *task_files(const struct task *task)
{
	const struct task_file *f = task->test.files.v;
	struct box_bind *binds =
		mem_zalloc(task->test.files.n + GRADE_CHANNEL_BINDS, sizeof(*binds));

	for (size_t i = 0; i < task->test.files.n; i++)
		binds[i] = (struct box_bind){ f[i].from, f[i].to, f[i].copy, "test.files" };
	return binds;
}

static int start(const struct grade_request *req, const struct profile *profile,
		 struct workspace *ws, const char *rootfs, int out, struct grade_end *end,
		 struct box **ret, struct err *err)
{
	auto_free struct box_bind *binds = task_files(req->task);
	auto_strv dirs = { 0 };
	char *argv[] = { (char *)"sh", (char *)"-c", req->task->test.command, NULL };
	auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	auto_strv env = { 0 };
	struct box_spec spec = {
		.rootfs = rootfs,
		.profile = profile,
		.workdir = req->task->workdir,
		.ws_lower = ws->lower,
		.ws_upper = ws->upper,
		.ws_work = ws->work,
		.scratch = ws->scratch,
		.home = HOME_DIR,
		.argv = argv,
		.stdio = { null, out, out },
		.extra_fd = end->channel->box_end < 0 ? 0 : end->channel->box_end,
		.dirs = &dirs,
		.binds = binds,
		.n_binds = req->task->test.files.n,
		/* The report's place is cleared before anything of the box runs. */
		.wait_for_tracer = true,
		.limits = profile->limits,
		.cpus = (unsigned)req->task->limits.cpus,
		.no_cgroup = req->no_cgroup,
		.janitor = req->janitor,
	};
	int rc;

	if (null < 0)
		return err_sys(err, "cannot open /dev/null");
	environment(req->task, &env);
	spec.n_binds += grade_channel_dress(end->channel, &env, binds + spec.n_binds);
	spec.env = env.v;
	grade_report_dirs(req->task, testlog_find(req->task->test.reader), &dirs);
	rc = box_start(&spec, ret, err);
	/* Only the box may hold its end now, or that would never close. */
	mem_close(&end->channel->box_end);
	if (rc < 0)
		return rc;
	rc = grade_report_empty(*ret, req->task, testlog_find(req->task->test.reader), end, err);
	if (rc == 0)
		rc = box_release(*ret, err);
	if (rc == 0)
		rc = box_exec_error(*ret, true, err);
	return rc < 0 ? rc : 0;
}

static int run_box(const struct grade_request *req, const struct profile *profile,
		   struct workspace *ws, const char *rootfs, struct verdict *v,
		   struct grade_end *end, struct err *err)
{
	const struct testlog_reader *reader = testlog_find(req->task->test.reader);
	uint64_t began = clock_mono(), wall = req->task->test.timeout,
		 output = profile->limits.max[LIMIT_OUTPUT];
	struct run r = { .out = -1,
			 .v = v,
			 .end = end,
			 .limits = &profile->limits,
			 .upper = ws->upper,
			 .output = output && output < GRADE_LOG_MAX ? output : GRADE_LOG_MAX,
			 .cpu_before = children_cpu() };
	int p[2], rc;

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe for the tests' output");
	r.out = p[0];
	rc = fcntl(r.out, F_SETFL, O_NONBLOCK) < 0
		     ? err_sys(err, "cannot set up the pipe")
		     : start(req, profile, ws, rootfs, p[1], end, &r.box, err);
	/* Only the box may hold the write end now, or its end would never show. */
	close(p[1]);
	if (rc == 0) {
		r.wall = wall ? wall : GRADE_TIMEOUT_DEFAULT;
		r.deadline = clock_mono() + r.wall;
		rc = wait_end(&r, err);
	}
	if (rc == 0 && !end->stopped && reader && reader->files && req->task->test.report)
		end->leftovers = leftovers(&r);
	if (rc == 0)
		rc = finish(&r, err);
	if (rc == 0)
		grade_report_take(r.box, req->task, reader, end);
	v->wall_ns = clock_mono() - began;
	box_free(r.box);
	/* Without a cgroup: what the kernel added up when the box's PID 1 was reaped. */
	if (v->cpu_ns == 0)
		v->cpu_ns = children_cpu() - r.cpu_before;
	close(r.out);
	return rc;
}

int grade_box_run(const struct grade_request *req, const struct profile *profile,
		  struct workspace *ws, struct verdict *v, struct grade_end *end, struct err *err)
{
	struct imagecache_root root;
	/* Unpacking an image is no time of the tests. */
	int rc = imagecache_root(req->task->rootfs, req->task->image, NULL, &root, err);

	if (rc == 0)
		rc = run_box(req, profile, ws, root.rootfs, v, end, err);
	imagecache_done(&root);
	return rc;
}

int grade_box_command(const struct grade_request *req, bool agent, struct workspace *ws,
		      struct buf *log, int *ret_status, char **ret_why, struct err *err)
{
	struct grade_channel channel = { .ch.fd = -1, .box_end = -1 };
	struct grade_end end = { .report = BUF_INIT(0), .channel = &channel };
	struct verdict v = { .exit_status = -1, .log = BUF_INIT(GRADE_LOG_MAX) };
	struct profile bounded = *req->profile;
	char text[40];
	int rc;

	task_bounds_limits(req->task, agent, &bounded.limits);
	rc = grade_box_run(req, &bounded, ws, &v, &end, err);
	*ret_status = end.stopped ? -1 : v.exit_status;
	if (rc == 0 && end.stopped && ret_why)
		*ret_why =
			mem_printf("needed more than %s (%s)",
				   limits_text(end.over, end.limit, text), limits_name(end.over));
	buf_add(log, buf_str(&v.log), v.log.len);
	grade_end_done(&end);
	grade_channel_done(&channel);
	verdict_done(&v);
	return rc;
}
