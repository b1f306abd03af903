#include "sandbox/msg.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	char bytes[CMSG_SPACE(MSG_FDS * sizeof(int))];
	struct cmsghdr align;
};

int msg_send(int sock, const void *p, size_t n, const int *fd, size_t n_fd)
{
	union control ctl;
	struct iovec iov = { (void *)(uintptr_t)p, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c = &ctl.align;
	ssize_t rc;

	if (n_fd > MSG_FDS) {
		errno = EINVAL;
		return -1;
	}
	memset(&ctl, 0, sizeof(ctl));
	if (n_fd) {
		msg.msg_control = ctl.bytes;
		msg.msg_controllen = CMSG_SPACE(n_fd * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fd * sizeof(int));
		memcpy(CMSG_DATA(c), fd, n_fd * sizeof(int));
	}
	do {
		rc = sendmsg(sock, &msg, MSG_NOSIGNAL);
	} while (rc < 0 && errno == EINTR);
	return rc == (ssize_t)n ? 0 : -1;
}

ssize_t msg_recv(int sock, void *p, size_t n, int *fd, size_t n_fd, size_t *ret_n_fd, int flags)
{
	union control ctl;
	struct iovec iov = { p, n };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.bytes,
		.msg_controllen = sizeof(ctl.bytes),
	};
	int got[MSG_FDS];
	struct cmsghdr *c;
	size_t count;
	ssize_t rc;

	*ret_n_fd = 0;
	do {
		rc = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (rc < 0 && errno == EINTR);
	c = rc > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return rc;
	count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	if (count > MSG_FDS)
		count = MSG_FDS;
	memcpy(got, CMSG_DATA(c), count * sizeof(int));
	if (count == n_fd) {
		memcpy(fd, got, count * sizeof(int));
		*ret_n_fd = count;
		return rc;
	}
	for (size_t i = 0; i < count; i++)
		close(got[i]);
	return rc;
}
