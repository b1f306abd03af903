/* Births, deaths and programs faster and odder than a tracer likes. */
#include "evasion.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DONE = 3 /* exit status of children that did what they should */ };

static void be_born(bool quickly)
{
	pid_t pid = quickly ? vfork() : fork();

	if (pid == 0)
		_exit(DONE);
	if (pid < 0)
		fail("fork");
	waitpid(pid, NULL, 0);
}

static int forks(long n)
{
	for (long i = 0; i < n; i++)
		be_born(i % 2);
	expect("spawn", NULL, NULL, false, n);
	expect("exit", "status", "3", false, n);
	return 0;
}

static void run_true(void)
{
	char *argv[] = { (char *)"true", NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		open("in-vfork", O_RDONLY);
		execv("/usr/bin/true", argv);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static int vfork_exec(long n)
{
	for (long i = 0; i < n; i++)
		run_true();
	expect("spawn", NULL, NULL, false, n);
	expect("exec", "path", "*/true", false, n);
	expect("open", "path", "*/in-vfork", false, n);
	return 0;
}

static void *exec_again(void *left)
{
	exec_self("exec-thread", left);
	fail("exec");
}

/* A thread that is not the first executes; the first disappears with all that was known of it. */
static int exec_thread(long n)
{
	const char *all = getenv("EVASION_ALL");
	char left[32];
	pthread_t thread;

	snprintf(left, sizeof(left), "%ld", n);
	if (!all)
		setenv("EVASION_ALL", left, 1);
	if (n == 0) {
		expect("exec", "argv", "*evasion exec-thread *", false, atol(all) + 1);
		return 0;
	}
	read_tracked(1);
	if (n == 1)
		expect("read", "path", TRACKED, false, all ? atol(all) : 1);
	fflush(stdout);
	snprintf(left, sizeof(left), "%ld", n - 1);
	pthread_create(&thread, NULL, exec_again, left);
	pthread_join(thread, NULL);
	return 1;
}

static void *open_forever(void *arg)
{
	char name[64];

	(void)arg;
	for (;;) {
		snprintf(name, sizeof(name), "exiting-%u", jitter(100));
		open(name, O_RDONLY);
		atomic_fetch_add(&shared->opens, 1);
	}
	return NULL;
}

/* The process ends while a thread of it is somewhere between entry and exit of a call. */
static int exit_in_stop(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();
		pthread_t thread;

		if (pid == 0) {
			pthread_create(&thread, NULL, open_forever, NULL);
			usleep(jitter(300));
			if (i % 2)
				raise(SIGKILL);
			_exit(DONE);
		}
		waitpid(pid, NULL, 0);
	}
	expect("open", "path", "*/exiting-*", true, shared->opens);
	expect("spawn", NULL, NULL, false, n);
	return 0;
}

static void open_in_handler(int sig)
{
	int kept = errno;

	(void)sig;
	open("in-handler", O_RDONLY);
	shared->other++;
	errno = kept;
}

static int signals(long n)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = open_in_handler, .sa_flags = SA_RESTART };
	char name[64];

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "signal-%ld", i);
		open(name, O_RDONLY);
		read_tracked(i % 8 == 0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	expect("open", "path", "*/signal-*", false, n);
	expect("open", "path", "*/in-handler", false, shared->other);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* Stops and goes on without end, in the middle of calls. */
static int stops(long n)
{
	pid_t pid = fork();
	char name[64];

	if (pid == 0) {
		for (long i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "stopped-%ld", i);
			open(name, O_RDONLY);
			read_tracked(i % 8 == 0);
		}
		shared->over = true;
		_exit(DONE);
	}
	while (!shared->over) {
		kill(pid, SIGSTOP);
		kill(pid, SIGCONT);
		if (jitter(4) == 0)
			usleep(100);
	}
	kill(pid, SIGCONT);
	reap();
	expect("open", "path", "*/stopped-*", false, n);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

/* A parent that is killed while it forks never tells of its child, which holds the file. */
static void bear_and_die(void)
{
	int fd = open(TRACKED, O_RDONLY);

	shared->ready = true;
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			atomic_fetch_add(&shared->born, 1);
			read_if_tracked(fd);
			_exit(DONE);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static int orphans(long n)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (long i = 0; i < n; i++) {
		pid_t pid;

		shared->ready = false;
		pid = fork();
		if (pid == 0)
			bear_and_die();
		while (!shared->ready)
			sched_yield();
		usleep(jitter(400));
		kill(pid, SIGKILL);
		reap();
	}
	expect("read", "path", TRACKED, false, shared->reads);
	expect("spawn", NULL, NULL, true, n + shared->born);
	return 0;
}

static void *turn_word(void *word)
{
	volatile char *c = word;

	while (!shared->over) {
		*c = 'a';
		*c = 'b';
	}
	return NULL;
}

/* The arguments of a program change until the kernel has copied them. */
static int argv_race(long n)
{
	char *argv[] = { (char *)"test", shared->name, (char *)"=", (char *)"a", NULL };
	pthread_t thread;

	strcpy(shared->name, "a");
	pthread_create(&thread, NULL, turn_word, shared->name);
	for (long i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			execv("/usr/bin/test", argv);
			_exit(2);
		}
		waitpid(pid, &status, 0);
		/* The program itself says what it was given. */
		if (WEXITSTATUS(status) == 0)
			shared->opens++;
		else
			shared->other++;
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("exec", "argv", "test a = a", false, shared->opens);
	expect("exec", "argv", "test b = a", false, shared->other);
	return 0;
}

const struct way ways_procs[] = {
	{ "forks", forks },
	{ "vfork-exec", vfork_exec },
	{ "exec-thread", exec_thread },
	{ "exit-in-stop", exit_in_stop },
	{ "signals", signals },
	{ "stops", stops },
	{ "orphans", orphans },
	{ "argv-race", argv_race },
	{ NULL, NULL },
};
