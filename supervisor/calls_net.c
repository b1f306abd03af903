#include "supervisor/on_syscall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/mem.h"
#include "supervisor/access.h"
#include "supervisor/calls_internal.h"
#include "supervisor/hold.h"
#include "supervisor/procfs.h"

enum {
	CONTROL_MAX = 64 << 10, /* above net.core.optmem_max's default, which bounds it */
	MSGS_MAX = 1024,        /* UIO_MAXIOV */
};

/* "10.0.0.1", "::1", "unix:/path", "unix:@name" into @out; port or 0. */
static void address_text(const void *raw, size_t n, char *out, size_t room, unsigned *port)
{
	sa_family_t family = AF_UNSPEC;

	*port = 0;
	if (n >= sizeof(family))
		memcpy(&family, raw, sizeof(family));
	if (family == AF_INET && n >= sizeof(struct sockaddr_in)) {
		struct sockaddr_in in;

		memcpy(&in, raw, sizeof(in));
		inet_ntop(AF_INET, &in.sin_addr, out, (socklen_t)room);
		*port = ntohs(in.sin_port);
	} else if (family == AF_INET6 && n >= sizeof(struct sockaddr_in6)) {
		struct sockaddr_in6 in;

		memcpy(&in, raw, sizeof(in));
		inet_ntop(AF_INET6, &in.sin6_addr, out, (socklen_t)room);
		*port = ntohs(in.sin6_port);
	} else if (family == AF_UNIX) {
		const char *path = (const char *)raw + offsetof(struct sockaddr_un, sun_path);
		size_t len = n - offsetof(struct sockaddr_un, sun_path);

		if (len && !path[0])
			snprintf(out, room, "unix:@%.*s", (int)(len - 1), path + 1);
		else
			snprintf(out, room, "unix:%.*s", (int)len, path);
	} else {
		snprintf(out, room, "family %u", (unsigned)family);
	}
}

void calls_addr_entry(struct sup *s, struct tracee *t)
{
	char raw[sizeof(struct sockaddr_un) + 8];
	size_t n = (uint32_t)t->call.arg[2] < sizeof(raw) ? (uint32_t)t->call.arg[2] : sizeof(raw);
	char text[160];
	unsigned port;

	(void)s; /* one signature for all handlers */
	t->want_exit = true;
	t->unread = pt_read(t->tid, (struct remote){ t->call.arg[1] }, raw, n) != (ssize_t)n;
	t->racy = t->unread || t->proc->threads > 1 || !procfs_private(t->tid, t->call.arg[1], n);
	address_text(raw, t->unread ? 0 : n, text, sizeof(text), &port);
	t->path = mem_strdup(text);
	t->len = port;
}

static bool is_local(const char *addr)
{
	return strncmp(addr, "unix:", 5) == 0 || strncmp(addr, "127.0.0.", 8) == 0 ||
	       strcmp(addr, "::1") == 0 || strncmp(addr, "family ", 7) == 0;
}

/* The address that the kernel took, where somebody could have changed it since we looked. */
static void ask_socket(struct tracee *t)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage room;
	} u;
	auto_fd int fd = procfs_borrow(t->tid, (int)t->call.arg[0]);
	socklen_t n = sizeof(u);
	char text[160];
	unsigned port;

	if (fd < 0 || getpeername(fd, &u.any, &n) < 0 ||
	    (u.any.sa_family != AF_INET && u.any.sa_family != AF_INET6))
		return; /* the names of UNIX sockets are what their owners called them */
	address_text(&u, n, text, sizeof(text), &port);
	free(t->path);
	t->path = mem_strdup(text);
	t->len = port;
}

void calls_addr_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	bool is_connect = t->row->op == OP_CONNECT, refused;
	static const char rule[] = "network.mode no-network";
	struct buf *b;

	if (!t->path || (t->unread && ret == -EFAULT))
		return;
	if (is_connect && t->racy && ret == 0)
		ask_socket(t);
	refused = is_connect && (ret == -ENETUNREACH || ret == -EHOSTUNREACH) &&
		  strncmp(t->path, "unix:", 5) != 0;
	b = sup_record(s, is_connect ? TK_CONNECT : TK_BIND, t);
	tracerec_str(b, "addr", t->path, strlen(t->path));
	if (t->len)
		tracerec_u64(b, "port", t->len);
	tracerec_i64(b, "ret", ret);
	/* What leaves the box is decided by the gateway, which records it itself. */
	if (!is_connect || refused || s->plan->profile->net == NET_NONE || is_local(t->path))
		tracerec_str(b, "verdict", refused ? "denied" : "allowed", refused ? 6 : 7);
	if (refused)
		tracerec_str(b, "rule", rule, sizeof(rule) - 1);
	sink_end(s->sink);
	if (refused) {
		auto_free char *what =
			mem_printf("connect %s port %llu", t->path, (unsigned long long)t->len);

		sup_denied(s, what, rule);
		b = sup_record(s, TK_DENY, t);
		tracerec_str(b, "what", what, strlen(what));
		tracerec_str(b, "rule", rule, sizeof(rule) - 1);
		sink_end(s->sink);
	}
}

void calls_kill_entry(struct sup *s, struct tracee *t)
{
	bool tg = t->call.nr == SYS_tgkill;
	struct buf *b = sup_record(s, TK_KILL, t);

	tracerec_i64(b, "to", (int)t->call.arg[0]); /* as the box numbers it */
	tracerec_i64(b, "signal", (int)t->call.arg[tg ? 2 : 1]);
	sink_end(s->sink);
}

/* Descriptor numbers of one control message whose data is at @data. */
static unsigned each_right(struct sup *s, struct tracee *t, const struct cmsghdr *c,
			   const char *data, bool (*fn)(struct sup *s, struct tracee *t, int fd))
{
	unsigned yes = 0;

	if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	for (size_t k = 0; k + sizeof(int) <= c->cmsg_len - CMSG_LEN(0); k += sizeof(int)) {
		int fd;

		memcpy(&fd, data + k, sizeof(fd));
		yes += fn(s, t, fd);
	}
	return yes;
}

/* Call @fn for every descriptor number in SCM_RIGHTS of message @i of the call; returns how many
 * times it said yes. */
static unsigned each_passed_fd(struct sup *s, struct tracee *t, uint64_t header,
			       bool (*fn)(struct sup *s, struct tracee *t, int fd))
{
	auto_free char *control = NULL;
	unsigned yes = 0;
	struct msghdr mh;
	size_t n;

	if (pt_read(t->tid, (struct remote){ header }, &mh, sizeof(mh)) != sizeof(mh) ||
	    !mh.msg_control || !mh.msg_controllen)
		return 0;
	n = mh.msg_controllen < CONTROL_MAX ? mh.msg_controllen : CONTROL_MAX;
	control = mem_alloc(n);
	if (pt_read(t->tid, (struct remote){ (uint64_t)(uintptr_t)mh.msg_control }, control, n) !=
	    (ssize_t)n)
		return 0;
	for (size_t at = 0; at + sizeof(struct cmsghdr) <= n;) {
		struct cmsghdr c;

		memcpy(&c, control + at, sizeof(c));
		if (c.cmsg_len < sizeof(c) || c.cmsg_len > n - at)
			break;
		yes += each_right(s, t, &c, control + at + CMSG_LEN(0), fn);
		at += CMSG_ALIGN(c.cmsg_len);
	}
	return yes;
}

static unsigned each_message(struct sup *s, struct tracee *t, int64_t count,
			     bool (*fn)(struct sup *s, struct tracee *t, int fd))
{
	unsigned yes = 0;

	if (t->call.nr == SYS_sendmsg || t->call.nr == SYS_recvmsg)
		return each_passed_fd(s, t, t->call.arg[1], fn);
	for (int64_t i = 0; i < count && i < MSGS_MAX; i++)
		yes += each_passed_fd(s, t, t->call.arg[1] + (uint64_t)i * sizeof(struct mmsghdr),
				      fn);
	return yes;
}

static bool is_region_fd(struct sup *s, struct tracee *t, int fd)
{
	(void)s; /* one signature for both directions */
	return fdtab_get(t->proc->fds, fd) != NULL;
}

/* Can the numbers in the message change between our look and the kernel's? */
static bool message_may_change(struct tracee *t)
{
	return t->proc->threads > 1 || tracee_vm_shared(t->proc) ||
	       !procfs_private(t->tid, t->call.arg[1], sizeof(struct mmsghdr));
}

void calls_sendmsg_entry(struct sup *s, struct tracee *t)
{
	t->len = 0;
	if (!t->proc->fds->n)
		return;
	/* From here on whoever receives a message is looked through. */
	s->passed_unread |= message_may_change(t);
	t->len = each_message(s, t, (int64_t)t->call.arg[2], is_region_fd);
	if (!t->len)
		return;
	/* Whoever receives it must be watched before the message leaves. */
	t->want_exit = true;
	s->zoom_all += (unsigned)t->len;
	hold_stop(s, NULL, t->tid);
	hold_release(s);
}

void calls_sendmsg_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	if (ret < 0 && t->len)
		s->zoom_all -= (unsigned)t->len;
}

static bool receive_fd(struct sup *s, struct tracee *t, int fd)
{
	int file = watch_fd(&s->watch, t->tid, fd);

	if (file < 0)
		return false;
	fdtab_put(t->proc->fds, fd, file, true);
	return true;
}

void calls_recvmsg_entry(struct sup *s, struct tracee *t)
{
	if (s->passed_unread)
		t->want_exit = true;
}

void calls_recvmsg_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	unsigned got;

	if (ret < 0 || !watch_on(&s->watch))
		return;
	got = each_message(s, t, ret, receive_fd);
	if (s->passed_unread && access_find_fds(s, t->proc, t->tid))
		on_syscall_zoom(s, t->proc, t->tid);
	if (t->call.arg[t->call.nr == SYS_recvmsg ? 2 : 3] & MSG_PEEK)
		return; /* a copy: the message is still under way */
	s->zoom_all -= got < s->zoom_all ? got : s->zoom_all;
}
