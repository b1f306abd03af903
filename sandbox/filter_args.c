/* Rules of filter A beyond names. Two forms, both 32 bits wide, because the kernel looks at the low
 * half of these arguments only: a comparison of 64 bits would be passed by garbage above
 * (CVE-2019-10063).
 *  - bits or values that are refused: rows for libseccomp, masked compares;
 *  - values of which one must match, and call numbers without a name: a hand-made head in front of
 *    libseccomp's program, since it can express neither. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "sandbox/filter.h"
#include "sandbox/filter_internal.h"

#define X32_BIT           0x40000000u
#define CLONE_NEWTIME_BIT 0x00000080u /* unshare(2) only, Linux 5.6 */
#define LOW               0xffffffffull
#define HEAD_MAX          160

/* clang-format off */
/* Newer calls that are allowed: the number is the same on all architectures from 424 on. */
static const struct {
	const char *name;
	int nr;
} new_calls[] = {
	{ "cachestat",        451 },
	{ "fchmodat2",        452 },
	{ "map_shadow_stack", 453 },
	{ "futex_wake",       454 },
	{ "futex_wait",       455 },
	{ "futex_requeue",    456 },
	{ "mseal",            462 },
};

/* Refuse call @name when (argument & mask) == value. */
static const struct {
	const char *name;
	unsigned arg;
	uint64_t mask, value;
	int error;
	bool nested_ok;
} refused[] = {
	{ "clone", 0, CLONE_UNTRACED, CLONE_UNTRACED, EPERM, false },
	{ "clone", 0, CLONE_NEWUSER, CLONE_NEWUSER, EPERM, true },
	{ "clone", 0, CLONE_NEWNS, CLONE_NEWNS, EPERM, true },
	{ "clone", 0, CLONE_NEWPID, CLONE_NEWPID, EPERM, true },
	{ "clone", 0, CLONE_NEWNET, CLONE_NEWNET, EPERM, true },
	{ "clone", 0, CLONE_NEWIPC, CLONE_NEWIPC, EPERM, true },
	{ "clone", 0, CLONE_NEWUTS, CLONE_NEWUTS, EPERM, true },
	{ "clone", 0, CLONE_NEWCGROUP, CLONE_NEWCGROUP, EPERM, true },
	{ "unshare", 0, CLONE_NEWUSER, CLONE_NEWUSER, EPERM, true },
	{ "unshare", 0, CLONE_NEWNS, CLONE_NEWNS, EPERM, true },
	{ "unshare", 0, CLONE_NEWPID, CLONE_NEWPID, EPERM, true },
	{ "unshare", 0, CLONE_NEWNET, CLONE_NEWNET, EPERM, true },
	{ "unshare", 0, CLONE_NEWIPC, CLONE_NEWIPC, EPERM, true },
	{ "unshare", 0, CLONE_NEWUTS, CLONE_NEWUTS, EPERM, true },
	{ "unshare", 0, CLONE_NEWCGROUP, CLONE_NEWCGROUP, EPERM, true },
	{ "unshare", 0, CLONE_NEWTIME_BIT, CLONE_NEWTIME_BIT, EPERM, true },
	/* Terminals: typing for others, console control, line disciplines. */
	{ "ioctl", 1, LOW, TIOCSTI, EPERM, false },
	{ "ioctl", 1, LOW, TIOCLINUX, EPERM, false },
	{ "ioctl", 1, LOW, TIOCSETD, EPERM, false },
	{ "ioctl", 1, LOW, TIOCCONS, EPERM, false },
	{ "mknod", 1, S_IFMT, S_IFCHR, EPERM, false },
	{ "mknod", 1, S_IFMT, S_IFBLK, EPERM, false },
	{ "mknodat", 2, S_IFMT, S_IFCHR, EPERM, false },
	{ "mknodat", 2, S_IFMT, S_IFBLK, EPERM, false },
	{ "prctl", 0, LOW, PR_SET_MM, EPERM, false },
	/* A listener of the agent's own would answer before our trace filter is asked (USER_NOTIF
	 * beats TRACE, seccomp(2)); EBUSY is what the kernel says where one exists already. */
	{ "seccomp", 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_FILTER_FLAG_NEW_LISTENER, EBUSY, false },
	/* A lease would make our own open of the file wait until the agent gives it back (fcntl(2)). */
	{ "fcntl", 1, LOW, F_SETLEASE, EPERM, false },
	/* TCP Fast Open connects without connect(2), and so without a record; programs fall back to that. */
	{ "sendto", 3, MSG_FASTOPEN, MSG_FASTOPEN, EOPNOTSUPP, false },
	{ "sendmsg", 2, MSG_FASTOPEN, MSG_FASTOPEN, EOPNOTSUPP, false },
	{ "sendmmsg", 3, MSG_FASTOPEN, MSG_FASTOPEN, EOPNOTSUPP, false },
	/* PID 1 is ours: without descriptors it could not start what an effect asks for. */
	{ "prlimit64", 0, LOW, 1, EPERM, false },
	/* The kernel turns this old form into AF_PACKET (packet(7)). */
	{ "socket", 1, 0xf, SOCK_PACKET, EAFNOSUPPORT, false },
};

/* Calls whose argument must be one of few values. */
static const struct one_of {
	const char *name;
	unsigned arg;
	uint32_t value[8];
	unsigned n;
	int error;
} one_of[] = {
	/* Families beyond these are where most kernel holes of recent years began. */
	{ "socket", 0, { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK }, 4, EAFNOSUPPORT },
	{ "socketpair", 0, { AF_UNIX }, 1, EAFNOSUPPORT },
	/* PER_LINUX, PER_LINUX32, UNAME26, both with ADDR_NO_RANDOMIZE (gdb, setarch -R), query. */
	{ "personality", 0, { 0, 0x8, 0x20000, 0x20008, 0x40000, 0x40008, 0xffffffff }, 7, EPERM },
};
/* clang-format on */

int filter_new_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(new_calls); i++) {
		if (strcmp(new_calls[i].name, name) == 0)
			return new_calls[i].nr;
	}
	return -1;
}

static int add(scmp_filter_ctx ctx, const char *name, int error, unsigned n,
	       const struct scmp_arg_cmp *cmp, struct err *err)
{
	int nr = seccomp_syscall_resolve_name(name);
	int rc;

	if (nr < 0)
		return 0; /* this architecture has no such call */
	rc = seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((unsigned)error), nr, n, cmp);
	if (rc < 0 && rc != -EEXIST)
		return err_set(err, filter_code(rc), "cannot add seccomp argument rule for %s: %s",
			       name, strerror(-rc));
	return 0;
}

int filter_add_args(scmp_filter_ctx ctx, const char *name, bool nested, struct err *err)
{
	/* Netlink is for interface lists only: no XFRM, netfilter, audit, ... */
	const struct scmp_arg_cmp netlink[] = {
		SCMP_A0(SCMP_CMP_MASKED_EQ, LOW, AF_NETLINK),
		SCMP_A2(SCMP_CMP_NE, 0),
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct scmp_arg_cmp cmp = SCMP_CMP(refused[i].arg, SCMP_CMP_MASKED_EQ,
						   refused[i].mask, refused[i].value);
		int rc;

		if (strcmp(refused[i].name, name) != 0 || (nested && refused[i].nested_ok))
			continue;
		rc = add(ctx, name, refused[i].error, 1, &cmp, err);
		if (rc < 0)
			return rc;
	}
	if (strcmp(name, "socket") == 0)
		return add(ctx, name, EAFNOSUPPORT, ARRAY_SIZE(netlink), netlink, err);
	return 0;
}

struct head {
	struct sock_filter code[HEAD_MAX];
	unsigned n;
};

static void emit(struct head *h, uint16_t op, uint8_t jt, uint8_t jf, uint32_t k)
{
	ensure(h->n < HEAD_MAX, "seccomp head fits");
	h->code[h->n++] = (struct sock_filter){ op, jt, jf, k };
}

static void emit_load(struct head *h, size_t off)
{
	emit(h, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)off);
}

static void emit_ret(struct head *h, uint32_t action)
{
	emit(h, BPF_RET | BPF_K, 0, 0, action);
}

/* Numbers from SYS_FIRST_UNKNOWN on: denied by name, allowed by name, all others ENOSYS so that
 * libc and runtimes fall back. The number is in the accumulator. */
static void emit_unknown(struct head *h, const struct filter_prefix *prefix)
{
	unsigned jump = h->n;

	emit(h, BPF_JMP | BPF_JGE | BPF_K, 0, 0, SYS_FIRST_UNKNOWN);
	emit(h, BPF_JMP | BPF_JGE | BPF_K, 0, 0, X32_BIT);
	for (size_t i = 0; i < ARRAY_SIZE(new_calls); i++) {
		bool deny = prefix->denied & (1ull << (new_calls[i].nr - SYS_FIRST_UNKNOWN));

		emit(h, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)new_calls[i].nr);
		emit_ret(h, deny ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
	}
	emit_ret(h, SECCOMP_RET_ERRNO | ENOSYS);
	/* Below the first unknown number: past this block. x32 and -1: past it, too; libseccomp's
	 * program kills the former. */
	h->code[jump].jf = (uint8_t)(h->n - jump - 1);
	h->code[jump + 1].jt = (uint8_t)(h->n - jump - 2);
}

/* One row of one_of. The number is in the accumulator before and after. */
static void emit_one_of(struct head *h, const struct one_of *row)
{
	int nr = seccomp_syscall_resolve_name(row->name);
	unsigned jump = h->n;

	if (nr < 0)
		return;
	emit(h, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)nr);
	emit_load(h, offsetof(struct seccomp_data, args) + row->arg * sizeof(uint64_t));
	for (unsigned i = 0; i < row->n; i++)
		emit(h, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(row->n - i), 0, row->value[i]);
	emit_ret(h, SECCOMP_RET_ERRNO | (uint32_t)row->error);
	emit_load(h, offsetof(struct seccomp_data, nr));
	h->code[jump].jf = (uint8_t)(h->n - jump - 1);
}

int filter_prepend(const struct filter_prefix *prefix, const struct profile *profile,
		   const struct sock_fprog *body, struct sock_fprog *ret, struct err *err)
{
	struct head h = { .n = 0 };
	struct sock_filter *code;
	unsigned jump;
	size_t total;

	/* A foreign ABI goes straight to libseccomp's program, which kills it. */
	emit_load(&h, offsetof(struct seccomp_data, arch));
	jump = h.n;
	emit(&h, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, seccomp_arch_native());
	emit(&h, BPF_JMP | BPF_JA, 0, 0, 0);
	emit_load(&h, offsetof(struct seccomp_data, nr));
	emit_unknown(&h, prefix);
	for (size_t i = 0; i < ARRAY_SIZE(one_of); i++) {
		/* A call that the profile denies altogether must not be let out here earlier. */
		if (!profile || !strv_has(&profile->deny, one_of[i].name))
			emit_one_of(&h, &one_of[i]);
	}
	h.code[jump + 1].k = h.n - jump - 2;
	total = h.n + body->len;
	if (total > BPF_MAXINSNS)
		return err_set(err, ERR_BUG, "the seccomp filter has %zu instructions", total);
	code = mem_alloc(total * sizeof(*code));
	memcpy(code, h.code, h.n * sizeof(*code));
	memcpy(code + h.n, body->filter, body->len * sizeof(*code));
	ret->filter = code;
	ret->len = (unsigned short)total;
	return 0;
}
