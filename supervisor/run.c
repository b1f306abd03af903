#include "supervisor/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/gateway.h"
#include "sandbox/filter.h"
#include "sandbox/imagecache.h"
#include "sandbox/janitor.h"
#include "supervisor/checkpoint.h"
#include "supervisor/effects.h"
#include "supervisor/gwlink.h"
#include "supervisor/forkpoint.h"
#include "supervisor/gwsim.h"
#include "supervisor/lastwords.h"
#include "supervisor/loop.h"
#include "supervisor/procfs.h"
#include "supervisor/runpatch.h"
#include "supervisor/runplace.h"
#include "supervisor/runsteps.h"
#include "supervisor/services.h"
#include "supervisor/steer.h"
#include "supervisor/steps.h"
#include "supervisor/summary.h"
#include "supervisor/sup.h"
#include "supervisor/userproc.h"

enum { UNREAPED = 16 };

/* Everything one run owns; torn down by run_free() from any state. */
struct run {
	const struct plan *plan;
	const struct run_options *opt;
	char id[64];
	char *dir;
	int dir_fd;     /* owned: dir */
	int reserve_fd; /* owned: room on the disk of the run directory for what comes last */
	struct lastwords *lw;
	struct janitor *jan;
	struct workspace *ws;
	struct imagecache_root root; /* what the box stands on */
	struct sock_fprog filter_b;
	struct box *box;
	struct gateway *gw;
	struct relay *relay;
	struct sink sink;
	struct engine *engine;
	struct sup sup;
	struct capture patch;
	bool begun; /* run.json is there and is ours */
	bool have_patch, loop_open, box_started;
	struct phases ph;
};

static struct summary summary_of(struct run *r, bool running)
{
	return (struct summary){
		.id = r->id,
		.dir = r->dir,
		.plan = r->plan,
		.ws = r->ws,
		.box = r->box,
		.sup = r->box_started ? &r->sup : NULL,
		.patch = r->have_patch ? &r->patch : NULL,
		.phases = &r->ph,
		.running = running,
		.request = r->opt->request,
	};
}

static int make_workspace(struct run *r, struct err *err)
{
	const struct task *task = r->plan->task;
	int rc = workspace_new(r->jan, &r->ws, err);

	if (rc < 0)
		return rc;
	if (task->file)
		rc = workspace_from_task(r->ws, task, err);
	else
		rc = workspace_from_directory(r->ws, task->source, err);
	if (rc < 0)
		return err_wrap(err, "preparing the workspace");
	rc = imagecache_root(r->plan->rootfs, r->plan->image, NULL, &r->root, err);
	if (rc < 0)
		return rc;
	if (r->plan->profile->workspace == WORKSPACE_OVERLAY)
		lastwords_workspace(r->lw, r->ws);
	r->ph.workspace = clock_mono();
	return 0;
}

static enum trace_level level_of(const struct plan *p)
{
	/* Files cannot be watched below that level. */
	if ((p->scenario || p->profile->watch == WATCH_WORKSPACE) && p->profile->trace == TRACE_OFF)
		return TRACE_FILES;
	return (enum trace_level)p->profile->trace;
}

static bool sends_messages(const struct scenario *sc)
{
	for (size_t i = 0; sc && i < sc->n_interventions; i++) {
		for (size_t k = 0; k < sc->interventions[i].n_effects; k++) {
			if (sc->interventions[i].effects[k].kind == EFFECT_MESSAGE)
				return true;
		}
	}
	return false;
}

/* What an effect starts is a process among the others of the box: the agent may end it. */
static bool changes_runtime(const struct scenario *sc)
{
	for (size_t i = 0; sc && i < sc->n_interventions; i++) {
		for (size_t k = 0; k < sc->interventions[i].n_effects; k++) {
			if (sc->interventions[i].effects[k].kind == EFFECT_RUNTIME)
				return true;
		}
	}
	return false;
}

/* The kernel counts processes that have exited and wait for their parent, the tracer does not: with
 * some room for them the tracer sees the limit first and can say so. */
static struct limits kernel_limits(const struct plan *p)
{
	struct limits l = p->profile->limits;

	if (l.max[LIMIT_PROCESSES])
		l.max[LIMIT_PROCESSES] += UNREAPED;
	return l;
}

static int start_box(struct run *r, struct err *err)
{
	const struct plan *p = r->plan;
	const struct box_bind agent_dir = { .host = p->agent_dir, .box = AGENT_DIR };
	bool direct = p->profile->workspace == WORKSPACE_DIRECT;
	struct box_spec spec = {
		.rootfs = r->root.rootfs,
		.profile = p->profile,
		.workdir = p->task->workdir,
		.ws_lower = r->ws->lower,
		.ws_upper = direct ? NULL : r->ws->upper,
		.ws_work = direct ? NULL : r->ws->work,
		.scratch = r->ws->scratch,
		.home = p->home,
		.home_files = &p->home_files,
		.home_texts = &p->home_texts,
		.binds = &agent_dir,
		.n_binds = p->agent_dir ? 1 : 0,
		.argv = p->argv.v,
		.env = p->env.v,
		.filter_b = r->filter_b.len ? &r->filter_b : NULL,
		.wait_for_tracer = true,
		.limits = kernel_limits(p),
		.cpus = (unsigned)p->task->limits.cpus,
		.no_cgroup = r->opt->no_cgroup,
		.signal_beside = changes_runtime(p->scenario),
		.janitor = r->jan,
	};
	bool native = steer_wanted(p), keep_in = native;
	bool tty = !r->opt->no_tty && !r->opt->quiet_output && !native;
	int rc;

	if (p->agent->via == VIA_STDIN || p->agent->via == VIA_PTY)
		keep_in = sends_messages(p->scenario);
	rc = relay_open(r->relay, r->dir, r->sup.epfd, tty, r->opt->quiet_output, keep_in,
			p->profile->limits.max[LIMIT_OUTPUT], err);
	if (rc < 0)
		return rc;
	steer_open(&r->sup);
	memcpy(spec.stdio, r->relay->child, sizeof(spec.stdio));
	spec.new_tty = r->relay->tty;
	rc = filter_observe(r->sup.level, &r->filter_b, err);
	if (rc < 0)
		return rc;
	spec.filter_b = r->filter_b.len ? &r->filter_b : NULL;
	rc = box_start(&spec, &r->box, err);
	if (rc < 0)
		return rc;
	r->ph.box = clock_mono();
	return 0;
}

/* A new file of the run directory, to be appended to. 0 or negative. */
static int make_record(const struct run *r, const char *name, int *ret, struct err *err)
{
	auto_free char *path = path_join(r->dir, name);

	*ret = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return *ret < 0 ? err_sys(err, "cannot make %s", path) : 0;
}

static int start_gateway(struct run *r, struct err *err)
{
	auto_fd int record = -1, simulator = -1;
	struct gateway_spec spec = {
		.plan = r->plan,
		.net_fd = r->box->net_fd,
		.user_fd = r->box->user_fd,
		.key = r->opt->key,
		.simulator_key = r->opt->simulator_key,
		.start = clock_mono(),
	};
	int rc = r->plan->model ? make_record(r, "model.jsonl", &record, err) : 0;

	if (rc == 0 && r->plan->simulator)
		rc = make_record(r, "simulator.jsonl", &simulator, err);
	if (rc < 0)
		return rc;
	spec.record_fd = record;
	spec.simulator_fd = simulator;
	rc = gateway_start(&spec, &r->gw, err);
	if (rc < 0 && !gateway_needed(r->plan)) {
		log_info("no record of names that are asked for: %s", err->text);
		return 0;
	}
	if (rc < 0)
		return rc;
	r->sup.gw = r->gw;
	return loop_gateway(&r->sup, err);
}

static bool follows_all(const struct run *r)
{
	return r->plan->profile->watch == WATCH_WORKSPACE;
}

/* Profile: watch workspace. */
static int follow_everything(struct run *r, struct err *err)
{
	r->sup.watch.everything = true;
	/* A plain directory may have no rules: then all of it is work. */
	if (!r->plan->task->file)
		return 0;
	return wsrules_new(r->ws, &r->sup.rules, err);
}

static int attach(struct run *r, struct err *err)
{
	struct sup *s = &r->sup;
	struct process *root;
	int rc;

	s->upper = r->plan->profile->workspace == WORKSPACE_OVERLAY ? r->ws->upper : NULL;
	rc = engine_new(r->plan->scenario, &effects_ops, s, &r->engine, err);
	if (rc < 0)
		return err_wrap(err, "reading the scenario's regions");
	engine_set_workdir(r->engine, r->plan->task->workdir);
	s->engine = r->plan->scenario || follows_all(r) ? r->engine : NULL;
	/* What is read before the model has said anything is nobody's wish. */
	engine_arm(r->engine, !r->plan->model);
	rc = watch_init(&s->watch, r->engine, r->box->ws_fd, s->upper, r->plan->task->workdir, err);
	/* Its own mounts give a file names that no call ever made. */
	s->watch.all |= r->plan->profile->nested_userns;
	if (rc == 0 && follows_all(r))
		rc = follow_everything(r, err);
	if (rc < 0)
		return rc;
	s->root = s->lead = r->box->agent_pid;
	root = tracee_process(&s->ts, s->root, NULL, false);
	(void)tracee_add(&s->ts, s->root, root); /* owned by the table */
	if (pt_seize(s->root, s->engine != NULL) < 0)
		return err_set(
			err, ERR_HOST,
			"cannot trace the agent: %s; see 'proctor doctor' for what forbids it",
			strerror(errno));
	r->box->posture[LAYER_PTRACE] = "on";
	return 0;
}

static int supervise(struct run *r, struct err *err)
{
	struct summary m;
	int rc;

	r->box_started = true;
	m = summary_of(r, true);
	rc = summary_write(&m, err);
	if (rc < 0)
		return rc;
	rc = box_release(r->box, err);
	if (rc < 0)
		return rc;
	r->ph.agent = clock_mono();
	r->sink.start = r->ph.agent;
	rc = relay_started(r->relay, err);
	if (rc < 0)
		return rc;
	steer_begin(&r->sup);
	return loop_run(&r->sup, err);
}

/* Supervision failed half-way: nothing may write the workspace any more. */
static void end_box(struct run *r)
{
	int status;

	box_kill(r->box);
	while (!r->box->reaped) {
		pid_t pid = wait4(-1, &status, __WALL, NULL);

		if (pid == r->box->init_pid)
			box_reaped(r->box, status);
		if (r->gw && pid == r->gw->pid)
			r->sup.gw_reaped = true;
		if (pid > 0 && pid == services_pid(&r->sup))
			services_died(&r->sup);
		if (pid > 0 && pid == services_server_pid(&r->sup))
			services_server_reaped(&r->sup, status);
		if (pid > 0 && pid == userproc_pid(&r->sup))
			userproc_reaped(&r->sup, status);
		/* A stop on its way out, as that of PTRACE_O_TRACEEXIT, ends when its tracer says so. */
		if (pid > 0 && WIFSTOPPED(status))
			(void)pt_cont(pid, 0); /* dead meanwhile: the next wait says so */
		if (pid < 0 && errno != EINTR)
			break;
	}
}

/* Did the command ever run? */
static int exec_failed(struct run *r, struct err *err)
{
	int rc = box_exec_error(r->box, true, err);

	return rc < 0 ? rc : 0;
}

static void put_end_record(struct run *r)
{
	char why[64];
	struct buf *b;

	b = sink_begin(&r->sink, TK_END, 0, 0, 0, r->sup.epoch);
	summary_reason(&r->sup, why);
	tracerec_str(b, "reason", why, strlen(why));
	sink_end(&r->sink);
}

static int init(struct run *r, struct err *err)
{
	struct janitor_ops ops = { .last_words = lastwords_say, .watch = lastwords_watch };
	struct summary m;
	int rc;

	r->ph.begun = clock_mono();
	r->ph.wall_start = clock_wall();
	runplace_id(r->id);
	rc = runplace_make(r->plan, r->opt->out, r->id, &r->dir, err);
	if (rc < 0)
		return rc;
	/* Before the first file: who finds a record of a run is told how it ended. */
	rc = lastwords_new(r->dir, &r->lw, err);
	if (rc < 0)
		return rc;
	ops.arg = r->lw;
	rc = janitor_start(&r->jan, &ops, err);
	if (rc < 0)
		return rc;
	m = summary_of(r, true);
	rc = summary_write(&m, err);
	r->begun = rc == 0;
	if (rc == 0)
		rc = summary_write_plan(r->dir, r->plan, err);
	r->reserve_fd = runplace_reserve(r->dir);
	return rc < 0 ? rc : sink_open(&r->sink, r->dir, r->plan->digest, r->id, err);
}

static int prepare(struct run *r, struct err *err)
{
	struct sup *s = &r->sup;
	int rc = simulator_check(r->plan->simulator, err);

	if (rc == 0)
		rc = services_check(r->plan, err);
	if (rc == 0)
		rc = make_workspace(r, err);
	if (rc < 0)
		return rc;
	s->plan = r->plan;
	s->dir = r->dir;
	s->lw = r->lw;
	s->dog.limit = watchdog_limit();
	s->fork = r->opt->fork;
	gwsim_open(s);
	s->sink = &r->sink;
	s->relay = r->relay;
	s->level = level_of(r->plan);
	systab_init(&s->tab);
	helpers_init(&s->helpers);
	holders_init(&s->holders);
	snprintf(s->base_commit, sizeof(s->base_commit), "%s", r->ws->history.head);
	budget_init(&s->budget, &r->plan->profile->limits);
	r->dir_fd = open(r->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->dir_fd < 0)
		return err_sys(err, "cannot open %s", r->dir);
	images_init(&s->images, r->dir_fd);
	rc = loop_open(s, err);
	if (rc < 0)
		return rc;
	r->loop_open = true;
	rc = start_box(r, err);
	if (rc == 0)
		rc = start_gateway(r, err);
	s->box = r->box;
	if (rc == 0)
		rc = services_start(s, r->ws, r->jan, err);
	if (rc == 0)
		rc = loop_services(s, err);
	if (rc == 0)
		rc = userproc_start(s, r->dir, r->ws, r->root.rootfs, r->jan, err);
	if (rc == 0)
		rc = loop_user(s, err);
	if (rc == 0)
		rc = runsteps_start(s, r->dir, r->ws, err);
	return rc < 0 ? rc : attach(r, err);
}

static void run_free(struct run *r)
{
	box_free(r->box);
	gateway_free(r->gw, r->sup.gw_reaped);
	strv_done(&r->sup.unmet);
	if (r->relay)
		relay_finish(r->relay);
	steer_done(&r->sup); /* behind the relay, which it reads along */
	gwsim_done(&r->sup);
	steps_free(r->sup.steps);
	checkpoint_done(&r->sup);
	services_done(&r->sup);
	userproc_done(&r->sup);
	free(r->relay);
	if (r->loop_open)
		loop_close(&r->sup);
	engine_free(r->engine);
	watch_done(&r->sup.watch);
	images_done(&r->sup.images);
	wsrules_free(r->sup.rules);
	mem_close(&r->dir_fd);
	tracees_done(&r->sup.ts);
	cmdtrack_done(&r->sup.cmds);
	if (r->sup.plan)
		helpers_done(&r->sup.helpers);
	if (r->sup.plan)
		holders_done(&r->sup.holders);
	for (size_t i = 0; i < r->sup.n_denied; i++) {
		free(r->sup.denied[i].what);
		free(r->sup.denied[i].rule);
	}
	free(r->sup.denied);
	free(r->sup.end_detail);
	free(r->sup.goal);
	free(r->sup.verifier);
	sink_close(&r->sink);
	capture_done(&r->patch);
	filter_free(&r->filter_b);
	imagecache_done(&r->root);
	workspace_free(r->ws);
	janitor_finish(r->jan);
	lastwords_free(r->lw);
	free(r->dir);
}

/* What is known goes into run.json, whether the run went well or not. */
static int conclude(struct run *r, int rc, struct err *err)
{
	struct summary m;
	struct err second;

	mem_close(&r->reserve_fd);
	if (!r->begun)
		return rc;
	if (r->sink.trace_fd >= 0 && r->box_started) {
		helpers_poll(&r->sup.helpers, &r->sink, r->sup.epoch);
		holders_poll(&r->sup.holders, &r->sink, r->sup.epoch);
		steer_ended(&r->sup);
		put_end_record(r);
	}
	sink_flush(&r->sink);
	if (rc == 0 && r->sink.error) {
		errno = r->sink.error;
		rc = err_sys(err, "%s: the trace could not be written in full", r->dir);
	}
	m = summary_of(r, false);
	m.failure = rc < 0 ? err->text : NULL;
	/* Without it the run would seem to go on for ever: what was in the way for a moment may be gone. */
	if (summary_write(&m, &second) < 0 && summary_write(&m, &second) < 0 && rc == 0) {
		*err = second;
		rc = -(int)second.code;
	}
	if (r->lw)
		lastwords_done(r->lw);
	return rc;
}

static void fill_outcome(struct run *r, struct run_outcome *o)
{
	uint64_t touches = 0, fired = 0, refused = 0;

	o->dir = mem_strdup(r->dir);
	o->status = r->sup.root_gone ? r->sup.root_status : -1;
	summary_reason(&r->sup, o->reason);
	if (r->sup.end == END_ERROR && r->sup.end_detail)
		err_set(&o->error, r->sup.end_code, "the run was broken off: %s",
			r->sup.end_detail);
	o->wall_ns = r->ph.ended && r->ph.agent ? r->ph.ended - r->ph.agent : 0;
	o->processes = r->sup.ts.made;
	if (r->sup.engine)
		engine_counts(r->sup.engine, &touches, &fired, &refused);
	o->touches = touches;
	o->fired = fired;
}

int run_execute(const struct plan *plan, const struct run_options *opt, struct run_outcome *ret,
		struct err *err)
{
	struct run r = {
		.plan = plan,
		.opt = opt,
		.sink = { .trace_fd = -1, .interventions_fd = -1 },
		.dir_fd = -1,
		.reserve_fd = -1,
		.root = { .use_fd = -1 },
	};
	struct err second;
	int rc, rc2;

	*ret = (struct run_outcome){ .status = -1 };
	r.sup.epfd = r.sup.signal_fd = r.sup.timer_fd = -1;
	r.sup.watch.ws_fd = r.sup.watch.upper_fd = -1;
	images_init(&r.sup.images, -1);
	rc = init(&r, err);
	if (rc == 0) {
		r.relay = mem_zalloc(1, sizeof(*r.relay));
		relay_init(r.relay);
		rc = prepare(&r, err);
	}
	if (rc == 0) {
		rc = supervise(&r, err);
		r.ph.ended = clock_mono();
		lastwords_beat(r.lw, 0);
		if (rc < 0)
			end_box(&r);
		/* Nobody writes any more: what was not seen to change is seen now. */
		if (r.sup.engine)
			engine_settle(r.sup.engine);
		gwlink_goodbye(&r.sup);
		services_goodbye(&r.sup);
		if (rc == 0)
			rc = exec_failed(&r, err);
		mem_close(&r.reserve_fd);
		/* Before our own reader is waited for: the patch is what must not be lost. */
		rc2 = runpatch_take(r.dir, r.plan, r.ws, &r.patch, &r.have_patch,
				    rc < 0 ? &second : err);
		if (rc == 0)
			rc = rc2;
		r.ph.captured = clock_mono();
		relay_finish(r.relay);
	}
	rc = conclude(&r, rc, err);
	if (r.dir)
		fill_outcome(&r, ret);
	run_free(&r);
	return rc;
}

void run_outcome_done(struct run_outcome *o)
{
	free(o->dir);
	o->dir = NULL;
}
