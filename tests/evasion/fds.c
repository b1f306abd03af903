/* The file's descriptor gets to where nobody saw it being opened. */
#include "evasion.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCANNED = 24, HIGH_FD = 90 };

static int tracked(void)
{
	int fd = open(TRACKED, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail(TRACKED);
	return fd;
}

/* Duplicated by a call number whose upper half the kernel ignores. */
static int dup_high(long n)
{
	int fd = tracked();

	for (long i = 0; i < n; i++) {
		int to = (int)syscall(SYS_fcntl, HI(fd), HI(i % 2 ? F_DUPFD : F_DUPFD_CLOEXEC),
				      HI(HIGH_FD));

		if (i % 8 == 0) {
			close(fd);
			read_if_tracked(to);
			fd = tracked();
		} else {
			read_if_tracked(to);
		}
		close(to);
	}
	expect("read", "path", TRACKED, false, n);
	return 0;
}

static void send_fd(int sock, int fd, bool many)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = { .room = "" };
	struct iovec iov = { (char *)"x", 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &iov,
					  .msg_iovlen = 1,
					  .msg_control = u.room,
					  .msg_controllen = sizeof(u.room) } };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m.msg_hdr);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if ((many ? sendmmsg(sock, &m, 1, 0) : (int)sendmsg(sock, &m.msg_hdr, 0)) != 1)
		fail("send");
}

static int take_fd(int sock, bool many)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u;
	char x;
	struct iovec iov = { &x, 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &iov,
					  .msg_iovlen = 1,
					  .msg_control = u.room,
					  .msg_controllen = sizeof(u.room) } };
	int fd;

	if ((many ? recvmmsg(sock, &m, 1, 0, NULL) : (int)recvmsg(sock, &m.msg_hdr, 0)) != 1 ||
	    !CMSG_FIRSTHDR(&m.msg_hdr))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m.msg_hdr)), sizeof(fd));
	return fd;
}

/* By one message, by several at once, and inside another socket that is passed itself. */
static void pass(int sock, long n)
{
	for (long i = 0; i < n; i++) {
		int fd = tracked(), pair[2];

		if (i % 4 < 2) {
			send_fd(sock, fd, i % 2);
		} else {
			if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
				fail("socketpair");
			send_fd(pair[0], fd, i % 2);
			send_fd(sock, pair[1], i % 2);
			close(pair[0]);
			close(pair[1]);
		}
		close(fd);
	}
}

static void receive(int sock, long n)
{
	for (long i = 0; i < n; i++) {
		int fd = take_fd(sock, i % 2);

		if (i % 4 >= 2) {
			int inner = take_fd(fd, i % 2);

			close(fd);
			fd = inner;
		}
		read_if_tracked(fd);
		close(fd);
	}
}

/* The number in a message turns between a decoy's and the file's while it is sent. */
static void *turn_number(void *number)
{
	volatile int *fd = number;
	int decoy = open(DECOY, O_RDONLY | O_CLOEXEC), file = tracked();

	while (!shared->over) {
		*fd = decoy;
		*fd = file;
	}
	return NULL;
}

static void take_one(int sock)
{
	int fd = take_fd(sock, false);

	read_if_tracked(fd);
	close(fd);
	shared->opens++;
}

static int passed_race(long n)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = { .room = "" };
	struct iovec iov = { (char *)"x", 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = u.room,
			    .msg_controllen = sizeof(u.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	pthread_t thread;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		fail("socketpair");
	if (fork() == 0) {
		while (shared->opens < n)
			take_one(pair[1]);
		_exit(0);
	}
	*c = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	pthread_create(&thread, NULL, turn_number, CMSG_DATA(c));
	while (!*(volatile int *)CMSG_DATA(c))
		sched_yield();
	for (long i = 0; i < n; i++) {
		if (sendmsg(pair[0], &m, 0) != 1)
			fail("send");
	}
	reap();
	shared->over = true;
	pthread_join(thread, NULL);
	expect("read", "path", TRACKED, false, shared->reads);
	return 0;
}

static int passed(long n)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		fail("socketpair");
	if (fork() == 0) {
		receive(pair[1], n);
		_exit(0);
	}
	pass(pair[0], n);
	reap();
	expect("read", "path", TRACKED, false, n);
	return 0;
}

static void *open_and_close(void *arg)
{
	(void)arg;
	while (!shared->over)
		close(tracked());
	return NULL;
}

/* Forks of one thread while another opens: the child may have the descriptor before the open was told. */
static int fork_race(long n)
{
	pthread_t thread;

	pthread_create(&thread, NULL, open_and_close, NULL);
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int fd = 3; fd < SCANNED; fd++)
				read_if_tracked(fd);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("read", "path", TRACKED, false, shared->reads);
	expect("spawn", NULL, NULL, false, n);
	return 0;
}

/* Kept over an exec, by fork and by vfork. */
static int status_of_heir(int fd, bool quickly)
{
	char number[32];
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "-%d", fd);
	pid = quickly ? vfork() : fork();
	if (pid == 0) {
		exec_self("read", number);
		_exit(0);
	}
	close(fd);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int inherited(long n)
{
	for (long i = 0; i < n; i++)
		shared->reads += status_of_heir(open(TRACKED, O_RDONLY), i % 2);
	expect("read", "path", TRACKED, false, shared->reads);
	return shared->reads == n ? 0 : 1;
}

static int use_theirs(void *arg)
{
	(void)arg;
	while (!shared->over) {
		for (int fd = 3; fd < SCANNED; fd++) {
			char c;
			struct stat st, want;

			if (fstat(fd, &st) == 0 && stat(TRACKED, &want) == 0 &&
			    st.st_ino == want.st_ino && pread(fd, &c, 1, 0) == 1)
				shared->other++;
		}
	}
	_exit(0);
}

/* A process that shares the descriptors and nothing else. Reads that come as the file is closed may be told or not, so
 * the file is kept open. */
static int shared_table(long n)
{
	char *stack = malloc(STACK_SIZE);
	int fd = -1;

	if (clone(use_theirs, stack + STACK_SIZE, CLONE_FILES | SIGCHLD, NULL) < 0)
		fail("clone");
	for (long i = 0; i < n; i++) {
		long before = shared->other;

		fd = tracked();
		while (shared->other == before)
			sched_yield();
		close(fd);
	}
	shared->over = true;
	reap();
	expect("read", "path", TRACKED, false, shared->other);
	return 0;
}

/* A thread guesses the number of the next descriptor and reads before the open has returned. */
static void *guess(void *arg)
{
	(void)arg;
	while (!shared->over) {
		for (int fd = 3; fd < SCANNED / 4; fd++) {
			char c;

			if (pread(fd, &c, 1, 0) == 1)
				shared->other++;
		}
	}
	return NULL;
}

static int guessed(long n)
{
	pthread_t thread;

	pthread_create(&thread, NULL, guess, NULL);
	for (long i = 0; i < n; i++) {
		long before = shared->other;
		int fd = tracked();

		for (int k = 0; k < 100 && shared->other == before; k++)
			sched_yield();
		close(fd);
	}
	shared->over = true;
	pthread_join(thread, NULL);
	expect("read", "path", TRACKED, false, shared->other);
	return 0;
}

static void *table_of_its_own(void *arg)
{
	(void)arg;
	if (unshare(CLONE_FILES) < 0)
		fail("unshare");
	for (int fd = 3; fd < SCANNED; fd++)
		close(fd);
	shared->ready = true;
	while (!shared->over)
		sched_yield();
	return NULL;
}

/* A thread with a table of its own closes the number there; here it stays open. */
static int split_table(long n)
{
	int fd = tracked();
	pthread_t thread;

	pthread_create(&thread, NULL, table_of_its_own, NULL);
	while (!shared->ready)
		sched_yield();
	for (long i = 0; i < n; i++)
		read_if_tracked(fd);
	shared->over = true;
	pthread_join(thread, NULL);
	expect("read", "path", TRACKED, false, n);
	return 0;
}

/* Bytes that go from file to pipe to pipe to file, and never through the program. */
static int spliced(long n)
{
	int out = open("copy", O_RDWR | O_CREAT | O_CLOEXEC, 0644), a[2], b[2];

	if (out < 0 || pipe2(a, O_CLOEXEC) < 0 || pipe2(b, O_CLOEXEC) < 0)
		fail("pipe");
	for (long i = 0; i < n; i++) {
		int fd = tracked();
		off_t at = 0;
		ssize_t got = 0;
		char buf[64];

		lseek(out, 0, SEEK_SET);
		if (i % 3 == 0)
			got = splice(fd, &at, a[1], NULL, 64, 0);
		else if (i % 3 == 1)
			got = sendfile(a[1], fd, &at, 64);
		else
			got = copy_file_range(fd, &at, out, NULL, 64, 0);
		close(fd);
		if (got <= 0)
			fail("splice");
		if (i % 3 != 2 &&
		    (tee(a[0], b[1], 64, 0) != got || splice(b[0], NULL, out, NULL, 64, 0) != got ||
		     read(a[0], buf, sizeof(buf)) != got))
			fail("tee");
	}
	expect("read", "path", TRACKED, false, n);
	return 0;
}

const struct way ways_fds[] = {
	{ "dup-high", dup_high },       { "passed", passed },
	{ "passed-race", passed_race }, { "fork-race", fork_race },
	{ "inherited", inherited },     { "shared-table", shared_table },
	{ "split-table", split_table }, { "guessed", guessed },
	{ "spliced", spliced },         { NULL, NULL },
};
