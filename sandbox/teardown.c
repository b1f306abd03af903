/* The end of a box, in whatever state it is. */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/cgroup.h"

void box_kill(struct box *box)
{
	box->killed = true;
	if (box->init_pidfd >= 0)
		/* Fails only when it is gone already. */
		(void)syscall(SYS_pidfd_send_signal, box->init_pidfd, SIGKILL, NULL, 0);
	/* A frozen v1 group would hold the signal back. */
	if (box->cg)
		(void)cgroup_freeze(box->cg, false); /* -1 without freezer: nothing is frozen */
}

/* PID 1 is only gone when all its children are reaped, and a child that somebody traces waits for
 * its tracer first: reap those that are ours. The list is the kernel's (proc(5),
 * task/TID/children). */
static void reap_tracees(pid_t init)
{
	char path[64], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)init, (int)init);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (char *p = text; *p;) {
		char *end;
		long pid = strtol(p, &end, 10);
		int status;

		if (end == p)
			break;
		p = *end ? end + 1 : end;
		if (pid <= 0)
			continue;
		/* A tracee that reports its exit once more waits for us: SIGKILL lets it go on. */
		if (waitpid((pid_t)pid, &status, WNOHANG | __WALL) == pid && WIFSTOPPED(status))
			(void)kill((pid_t)pid, SIGKILL); /* gone meanwhile is fine */
	}
}

static void reap_init(struct box *box)
{
	struct pollfd pfd = { .fd = box->init_pidfd, .events = POLLIN };
	siginfo_t info;

	if (box->init_pid <= 0 || box->reaped)
		return;
	/* The pidfd is readable when PID 1 is dead, also when the caller's own loop reaped it. */
	while (poll(&pfd, 1, 5) == 0)
		reap_tracees(box->init_pid);
	/* ECHILD: the caller's loop was first. */
	(void)waitid((idtype_t)P_PIDFD, (id_t)box->init_pidfd, &info, WEXITED | __WALL);
	box->reaped = true;
}

struct box *box_free(struct box *box)
{
	if (!box)
		return NULL;
	mem_close(&box->gate_fd);
	box_kill(box);
	reap_init(box);
	mem_close(&box->init_pidfd);
	mem_close(&box->error_fd);
	mem_close(&box->status_fd);
	mem_close(&box->ws_fd);
	mem_close(&box->root_fd);
	mem_close(&box->net_fd);
	mem_close(&box->user_fd);
	mem_close(&box->ctl_fd);
	cgroup_free(box->cg);
	if (box->dir)
		/* What cannot be removed goes with the scratch directory. */
		(void)fd_remove_tree(AT_FDCWD, box->dir);
	free(box->dir);
	free(box->program);
	for (int l = 0; l < LAYER_MAX; l++)
		free(box->posture_text[l]);
	free(box);
	return NULL;
}
