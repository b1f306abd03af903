#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/systab.h"
#include "sandbox/filter_internal.h"

#define PROG_MAX 4096 /* BPF_MAXINSNS (bpf(4)) */

/* Refused by default, allowed where the profile lets agents sandbox themselves: everything here
 * needs a capability, which only a nested user namespace gives, over itself. */
/* clang-format off */
static const char *const nested_ok[] = {
	"mount", "umount2", "pivot_root", "chroot", "setns", "open_tree", "move_mount", "fsopen",
	"fsconfig", "fsmount", "fspick", "mount_setattr", "sethostname", "setdomainname",
};
/* clang-format on */

static bool listed(const char *const *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(v[i], name) == 0)
			return true;
	}
	return false;
}

/* The syscall name nearest to @name, NULL when none is near. Caller frees. */
static char *nearest(const char *name)
{
	auto_strv all = { 0 };

	for (int nr = 0; nr < SYSTAB_MAX; nr++) {
		char *s = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);

		if (s)
			strv_take(&all, s);
	}
	return all.n ? mem_strdup(str_nearest(name, (const char *const *)all.v)) : NULL;
}

static int unknown_name(const char *name, struct err *err)
{
	auto_free char *near = nearest(name);

	return err_set(err, ERR_INPUT,
		       "profile syscalls.deny: \"%s\" is not a system call of this machine%s%s%s",
		       name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

enum err_code filter_code(int rc)
{
	return rc == -EINVAL ? ERR_BUG : ERR_SYS;
}

/* One unconditional rule. A call that this architecture lacks has nothing to refuse. */
static int refuse(scmp_filter_ctx ctx, const char *name, unsigned action, struct err *err)
{
	int nr = seccomp_syscall_resolve_name(name);
	int rc;

	if (nr < 0)
		return 0;
	rc = seccomp_rule_add(ctx, action, nr, 0);
	if (rc < 0 && rc != -EEXIST)
		return err_set(err, filter_code(rc), "cannot add seccomp rule for %s: %s", name,
			       strerror(-rc));
	return 0;
}

/* Class bits of the row of @name, 0 without a row. */
static unsigned row_class(const char *name)
{
	unsigned n;
	const struct sysrow *rows = systab_rows(&n);

	for (unsigned i = 0; i < n; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].cls;
	}
	return 0;
}

static int add_deny(scmp_filter_ctx ctx, const struct profile *pr, struct filter_prefix *prefix,
		    struct err *err)
{
	if (!pr)
		return 0;
	strv_each (i, &pr->deny) {
		const char *name = pr->deny.v[i];
		int nr = filter_new_number(name), rc;

		if (nr >= 0) {
			prefix->denied |= 1ull << (nr - SYS_FIRST_UNKNOWN);
			continue;
		}
		nr = seccomp_syscall_resolve_name(name);
		if (nr == __NR_SCMP_ERROR)
			return unknown_name(name, err);
		if (row_class(name) & SYS_NOSYS)
			continue; /* refused already, and in the form that lets programs fall back
				   */
		rc = refuse(ctx, name, SCMP_ACT_ERRNO(EPERM), err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_rows(scmp_filter_ctx ctx, const struct profile *pr, struct err *err)
{
	bool nested = pr && pr->nested_userns;
	unsigned n;
	const struct sysrow *rows = systab_rows(&n);

	for (unsigned i = 0; i < n; i++) {
		unsigned action =
			rows[i].cls & SYS_DENY ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ERRNO(ENOSYS);
		int rc = 0;

		if (pr && !(rows[i].cls & SYS_NOSYS) && strv_has(&pr->deny, rows[i].name))
			continue; /* add_deny() did it; a condition would be weaker */
		if (nested && listed(nested_ok, ARRAY_SIZE(nested_ok), rows[i].name))
			continue;
		if (rows[i].cls & (SYS_DENY | SYS_NOSYS))
			rc = refuse(ctx, rows[i].name, action, err);
		else if (rows[i].cls & SYS_ARGS)
			rc = filter_add_args(ctx, rows[i].name, nested, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* libseccomp only writes programs to a descriptor. */
static int export_bpf(scmp_filter_ctx ctx, struct sock_fprog *ret, struct err *err)
{
	auto_fd int fd = memfd_create("filter", MFD_CLOEXEC);
	struct sock_filter *code;
	off_t len;
	int rc;

	if (fd < 0)
		return err_sys(err, "cannot make a memory file for the seccomp filter");
	rc = seccomp_export_bpf(ctx, fd);
	if (rc < 0)
		return err_set(err, filter_code(rc), "cannot build the seccomp filter: %s",
			       strerror(-rc));
	len = lseek(fd, 0, SEEK_END);
	if (len <= 0 || len % (off_t)sizeof(*code) != 0 || len / (off_t)sizeof(*code) > PROG_MAX)
		return err_set(err, ERR_BUG, "the seccomp filter has %lld bytes", (long long)len);
	code = mem_alloc((size_t)len);
	if (pread(fd, code, (size_t)len, 0) != len) {
		free(code);
		return err_sys(err, "cannot read the seccomp filter back");
	}
	ret->filter = code;
	ret->len = (unsigned short)((size_t)len / sizeof(*code));
	return 0;
}

static int new_context(scmp_filter_ctx *ret, struct err *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (!ctx)
		return err_set(err, ERR_SYS,
			       "libseccomp cannot make a filter; memory may be short");
	rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc < 0) {
		seccomp_release(ctx);
		return err_set(
			err, ERR_HOST,
			"libseccomp refuses a filter that ends a process: %s; Linux 4.14 and "
			"libseccomp 2.5 are needed",
			strerror(-rc));
	}
	*ret = ctx;
	return 0;
}

int filter_policy(const struct profile *profile, struct sock_fprog *ret, struct err *err)
{
	struct filter_prefix prefix = { .denied = 0 };
	struct sock_fprog body = { 0 };
	scmp_filter_ctx ctx = NULL;
	int rc = new_context(&ctx, err);

	if (rc < 0)
		return rc;
	rc = add_deny(ctx, profile, &prefix, err);
	if (rc == 0)
		rc = add_rows(ctx, profile, err);
	if (rc == 0)
		rc = export_bpf(ctx, &body, err);
	seccomp_release(ctx);
	if (rc == 0)
		rc = filter_prepend(&prefix, profile, &body, ret, err);
	filter_free(&body);
	return rc;
}

int filter_observe(enum trace_level level, struct sock_fprog *ret, struct err *err)
{
	unsigned want = level == TRACE_FULL ? SYS_FILES | SYS_FULL : SYS_FILES;
	struct sock_fprog prog = { 0 };
	scmp_filter_ctx ctx = NULL;
	const struct sysrow *rows;
	unsigned n;
	int rc;

	if (level == TRACE_OFF) {
		*ret = prog;
		return 0;
	}
	rc = new_context(&ctx, err);
	if (rc < 0)
		return rc;
	rows = systab_rows(&n);
	for (unsigned i = 0; i < n && rc == 0; i++) {
		if (rows[i].cls & want)
			rc = refuse(ctx, rows[i].name, SCMP_ACT_TRACE(0), err);
	}
	if (rc == 0)
		rc = export_bpf(ctx, &prog, err);
	seccomp_release(ctx);
	if (rc == 0)
		*ret = prog;
	return rc;
}

void filter_free(struct sock_fprog *prog)
{
	free(prog->filter);
	prog->filter = NULL;
	prog->len = 0;
}
