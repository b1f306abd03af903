#include "supervisor/loop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/box.h"
#include "supervisor/gwlink.h"
#include "supervisor/hold.h"
#include "supervisor/on_process.h"
#include "supervisor/services.h"
#include "supervisor/tick.h"
#include "supervisor/userproc.h"

enum {
	TAG_SIGNALS = 1,
	TAG_TIMER = 2,
	TAG_GATEWAY = 3,
	TAG_SERVICES = 4,
	TAG_USER = 5,
	BATCH = 64,       /* stops between two looks at the descriptors */
	BUSY_MS = 3,      /* longest block in wait4() while busy */
	BUSY_STOPS = 8,   /* fewer in that time end the busy state */
	BUSY_STREAK = 32, /* stops without a pause that begin it */
	PAUSE_MS = 2,     /* a sleep of this length is a pause */
};

static void on_alarm(int sig)
{
	(void)sig; /* only there to interrupt wait4() */
}

static void our_signals(sigset_t *set)
{
	static const int sigs[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++)
		sigaddset(set, sigs[i]);
}

static int add(struct sup *s, int fd, uint32_t tag, struct err *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = tag };

	return epoll_ctl(s->epfd, EPOLL_CTL_ADD, fd, &ev) < 0
		       ? err_sys(err, "cannot watch a descriptor for the event loop")
		       : 0;
}

int loop_open(struct sup *s, struct err *err)
{
	struct itimerspec every = { { 0, TICK_MS * 1000000 }, { 0, TICK_MS * 1000000 } };
	struct sigaction sa = { .sa_handler = on_alarm }; /* no SA_RESTART: it must interrupt */
	sigset_t set, alarm_set;
	int rc;

	our_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || sigaction(SIGALRM, &sa, NULL) < 0)
		return err_sys(err, "cannot set up signals");
	/* What we inherit must not blind us: ignored children are never reported (wait(2)), and a
	 * blocked alarm would not break wait4(). */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &alarm_set, NULL); /* valid arguments: cannot fail */
	signal(SIGPIPE, SIG_IGN);
	s->epfd = epoll_create1(EPOLL_CLOEXEC);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epfd < 0 || s->signal_fd < 0 || s->timer_fd < 0)
		return err_sys(err, "cannot set up the event loop");
	if (timerfd_settime(s->timer_fd, 0, &every, NULL) < 0)
		return err_sys(err, "cannot start the timer");
	rc = add(s, s->signal_fd, TAG_SIGNALS, err);
	return rc < 0 ? rc : add(s, s->timer_fd, TAG_TIMER, err);
}

int loop_gateway(struct sup *s, struct err *err)
{
	return add(s, s->gw->link.fd, TAG_GATEWAY, err);
}

int loop_services(struct sup *s, struct err *err)
{
	return s->services ? add(s, services_fd(s), TAG_SERVICES, err) : 0;
}

int loop_user(struct sup *s, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < 2 && rc == 0; i++) {
		if (userproc_fd(s, i) >= 0)
			rc = add(s, userproc_fd(s, i), TAG_USER, err);
	}
	return rc;
}

void loop_close(struct sup *s)
{
	sigset_t set;

	mem_close(&s->epfd);
	mem_close(&s->signal_fd);
	mem_close(&s->timer_fd);
	our_signals(&set);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL); /* valid arguments: cannot fail */
}

/* Signals for us: pass them on to the agent as a terminal or caller meant them. */
static void on_signals(struct sup *s)
{
	struct signalfd_siginfo si;

	while (read(s->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		int sig = (int)si.ssi_signo;

		if (sig == SIGCHLD)
			continue;
		if (sig == SIGWINCH) {
			relay_winch(s->relay);
			continue;
		}
		/* First time: as the user meant it, to the agent. Second time: now. */
		if (s->end == END_INTERRUPTED || s->phase >= SUP_STOPPING) {
			sup_kill(s);
			continue;
		}
		s->end_signal = sig;
		sup_end(s, END_INTERRUPTED, false);
	}
}

/* Look at signals, timer and streams. True when it slept for as long as a pause. */
static bool look(struct sup *s, int timeout_ms)
{
	uint64_t begin = timeout_ms ? clock_mono() : 0;
	struct epoll_event ev[16];
	int n = epoll_wait(s->epfd, ev, ARRAY_SIZE(ev), timeout_ms);
	bool slept = timeout_ms && clock_mono() - begin >= PAUSE_MS * CLOCK_MS;

	for (int i = 0; i < n; i++) {
		uint64_t ticks;

		switch (ev[i].data.u32) {
		case TAG_SIGNALS:
			on_signals(s);
			break;
		case TAG_TIMER:
			if (read(s->timer_fd, &ticks, sizeof(ticks)) > 0)
				tick(s);
			break;
		case TAG_GATEWAY:
			gwlink_event(s);
			break;
		case TAG_SERVICES:
			services_event(s);
			break;
		case TAG_USER:
			userproc_event(s);
			break;
		default:
			relay_event(s->relay, (int)ev[i].data.u32);
			break;
		}
	}
	return slept;
}

/* Act on one wait status at once, or, in a crowd, put it in the queue. False when the box is over. */
static bool take(struct sup *s, pid_t tid, int status, const struct rusage *ru)
{
	struct tracee *t;

	if (tid == s->box->init_pid) {
		box_reaped(s->box, status);
		return false;
	}
	if (s->gw && tid == s->gw->pid) {
		gwlink_died(s);
		return true;
	}
	if (tid == services_pid(s)) {
		services_died(s);
		return true;
	}
	if (tid == services_server_pid(s)) {
		services_server_reaped(s, status);
		return true;
	}
	if (tid == userproc_pid(s)) {
		userproc_reaped(s, status);
		return true;
	}
	t = s->crowd ? tracee_get(&s->ts, tid) : NULL;
	if (t && t->proc) {
		hold_queue(s, t, status, ru);
		return true;
	}
	on_process(s, tid, status, ru);
	on_process_queued(s);
	return true;
}

/* Take up to BATCH stops; the first may be waited for when @block. wait4(2) always names the task
 * first in its list: when several are busy, all that have stopped are collected before the first
 * is let go, or the last in the list would starve. Returns how many, -1 when there is no child
 * left. */
static int drain(struct sup *s, bool block)
{
	unsigned changes = 0;
	pid_t last = 0;
	int n = 0;

	while (n < BATCH) {
		struct rusage ru;
		int status;
		bool wait = block && !(s->crowd && n);
		pid_t tid = wait4(-1, &status, __WALL | (wait ? 0 : WNOHANG), &ru);

		if (tid == 0 || (tid < 0 && errno == EINTR))
			break;
		if (tid < 0)
			return -1;
		n++;
		changes += tid != last;
		last = tid;
		if (!take(s, tid, status, &ru))
			break;
	}
	on_process_queued(s);
	s->crowd = n > 1 && changes > 1 + (unsigned)n / 4;
	return n;
}

/* Arm or disarm the signal that breaks a blocking wait4(). It repeats, so that one that arrives
 * just before the call is made up for by the next. */
static void alarm_every(timer_t timer, long ms)
{
	struct itimerspec every = { { 0, ms * 1000000 }, { 0, ms * 1000000 } };

	(void)timer_settime(timer, 0, &every, NULL); /* valid arguments: cannot fail */
}

int loop_run(struct sup *s, struct err *err)
{
	struct sigevent sev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	bool busy = false;
	int n, streak = 0;
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &sev, &timer) < 0)
		return err_sys(err, "cannot make a timer");
	/* PID 1 can be reaped only after every task of its namespace was (pid_namespaces(7)). */
	while (!s->box->reaped) {
		n = drain(s, busy);
		streak = n > 0 ? streak + n : streak;
		if (busy && n < BUSY_STOPS) {
			busy = false;
			streak = 0;
			alarm_every(timer, 0);
		} else if (!busy && streak >= BUSY_STREAK) {
			busy = true;
			alarm_every(timer, BUSY_MS);
		}
		if (look(s, busy || n > 0 ? 0 : -1))
			streak = 0;
	}
	timer_delete(timer);
	s->phase = SUP_DONE;
	return 0;
}
