/* Both seccomp programs in the interpreter, by the rows of tests/tables/filter.tsv; and the
 * interpreter itself against the kernel's rules. */
#include "sandbox/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

enum { F_STD, F_NESTED, F_DENY, F_FILES, F_FULL, F_OFF, F_MAX };

static const char *const filter_names[F_MAX] = { "std", "nested", "deny", "files", "full", "off" };

static struct sock_fprog progs[F_MAX];

static const struct {
	const char *name;
	unsigned arch;
} arches[] = {
	{ "native", SCMP_ARCH_NATIVE },
	{ "i386", AUDIT_ARCH_I386 },
	{ "aarch64", AUDIT_ARCH_AARCH64 },
	{ "arm", AUDIT_ARCH_ARM },
};

static const struct {
	const char *name;
	unsigned word;
} actions[] = {
	{ "ALLOW", SECCOMP_RET_ALLOW },
	{ "EPERM", SECCOMP_RET_ERRNO | EPERM },
	{ "ENOSYS", SECCOMP_RET_ERRNO | ENOSYS },
	{ "EAFNOSUPPORT", SECCOMP_RET_ERRNO | EAFNOSUPPORT },
	{ "EOPNOTSUPP", SECCOMP_RET_ERRNO | EOPNOTSUPP },
	{ "TRACE", SECCOMP_RET_TRACE },
	{ "KILL_PROCESS", SECCOMP_RET_KILL_PROCESS },
};

static void build(void)
{
	struct profile deny = { 0 }, nested = { .nested_userns = true }, std = { 0 };
	static const char *const names[] = { "kill",  "socket",    "clone",          "personality",
					     "ioctl", "fchmodat2", "io_uring_setup", "ptrace" };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		strv_add(&deny.deny, names[i]);
	/* "io_uring_setup" refuses with ENOSYS already; EPERM from the profile may not weaken it.
	 */
	tap_ok(filter_policy(&std, &progs[F_STD], &err) == 0, "policy filter: %s", err.text);
	tap_ok(filter_policy(&nested, &progs[F_NESTED], &err) == 0, "nested filter: %s", err.text);
	tap_ok(filter_policy(&deny, &progs[F_DENY], &err) == 0, "deny filter: %s", err.text);
	tap_ok(filter_observe(TRACE_FILES, &progs[F_FILES], &err) == 0, "files filter");
	tap_ok(filter_observe(TRACE_FULL, &progs[F_FULL], &err) == 0, "full filter");
	tap_ok(filter_observe(TRACE_OFF, &progs[F_OFF], &err) == 0 && progs[F_OFF].len == 0,
	       "off filter is empty");
	tap_diag("instructions: std %u, nested %u, deny %u, files %u, full %u", progs[F_STD].len,
		 progs[F_NESTED].len, progs[F_DENY].len, progs[F_FILES].len, progs[F_FULL].len);
	strv_done(&deny.deny);
}

static bool row(const char *line, unsigned no)
{
	char filter[16], arch[16], call[64], args[160], action[32];
	unsigned long long arg[6] = { 0 };
	unsigned f = 0, a = 0, w = 0, got;
	char *p = args;
	int nr;

	if (sscanf(line, "%15s %15s %63s %159s %31s", filter, arch, call, args, action) != 5)
		return false;
	while (f < F_MAX && strcmp(filter_names[f], filter) != 0)
		f++;
	while (a < ARRAY_SIZE(arches) && strcmp(arches[a].name, arch) != 0)
		a++;
	while (w < ARRAY_SIZE(actions) && strcmp(actions[w].name, action) != 0)
		w++;
	if (f == F_MAX || a == ARRAY_SIZE(arches) || w == ARRAY_SIZE(actions))
		return false;
	nr = call[0] == '#' ? (int)strtoul(call + 1, NULL, 0) : seccomp_syscall_resolve_name(call);
	for (int i = 0; i < 6 && *p && *p != '-'; i++) {
		arg[i] = strtoull(p, &p, 0);
		p += *p == ',';
	}
	got = filter_eval(&progs[f], a == 0 ? seccomp_arch_native() : arches[a].arch, nr, arg);
	if (got == actions[w].word)
		return true;
	tap_diag("line %u: %s -> %#x, expected %#x", no, line, got, actions[w].word);
	return false;
}

static void table(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned no = 0, rows = 0, bad = 0;
	char line[512];

	if (!tap_ok(f != NULL, "table %s", path))
		return;
	while (fgets(line, sizeof(line), f)) {
		no++;
		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		rows++;
		bad += !row(line, no);
	}
	fclose(f);
	tap_ok(rows > 500 && bad == 0, "%u rows of the table, %u wrong", rows, bad);
}

static void unknown_name(void)
{
	struct sock_fprog prog = { 0 };
	struct profile pr = { 0 };
	struct err err = { 0 };

	strv_add(&pr.deny, "ptrase");
	tap_ok(filter_policy(&pr, &prog, &err) == -ERR_INPUT, "unknown name is an input error");
	tap_ok(strstr(err.text, "\"ptrase\"") && strstr(err.text, "\"ptrace\""),
	       "and names the nearest: %s", err.text);
	tap_ok(!prog.filter, "output untouched on failure");
	strv_done(&pr.deny);
}

static unsigned eval(struct sock_filter *code, unsigned short n)
{
	struct sock_fprog p = { n, code };
	unsigned long long args[6] = { 0x1122334455667788ull };

	return filter_eval(&p, 7, 42, args);
}

#define EVAL(...)                                                                                  \
	eval((struct sock_filter[]){ __VA_ARGS__ },                                                \
	     sizeof((struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter))

static void machine(void)
{
	unsigned kill = SECCOMP_RET_KILL_PROCESS;
	struct sock_filter ret_a = BPF_STMT(BPF_RET | BPF_A, 0);

	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), ret_a) == 42, "load nr");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16), ret_a) == 0x55667788, "low half");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 20), ret_a) == 0x11223344, "high half");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), ret_a) == kill, "load past the end");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), ret_a) == kill, "unaligned load");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), ret_a) == kill, "indirect load");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_IMM, 9)) == kill, "runs off the end");
	tap_ok(EVAL(BPF_STMT(BPF_JMP | BPF_JA, 1000), ret_a) == kill, "jumps off the end");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_IMM, 6), BPF_STMT(BPF_ST, 3),
		    BPF_STMT(BPF_LD | BPF_IMM, 0), BPF_STMT(BPF_LDX | BPF_MEM, 3),
		    BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), ret_a) == 6,
	       "memory and x");
	tap_ok(EVAL(BPF_STMT(BPF_ST, BPF_MEMWORDS), ret_a) == kill, "memory bound");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_IMM, 1), BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), ret_a) ==
		       kill,
	       "division by zero");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_IMM, 1), BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 40),
		    ret_a) == 0,
	       "shift too far");
	tap_ok(EVAL(BPF_STMT(BPF_LD | BPF_IMM, 5), BPF_STMT(BPF_ALU | BPF_NEG, 0), ret_a) ==
		       (unsigned)-5,
	       "negate");
}

int main(int argc, char **argv)
{
	const char *table_path = argc > 1 ? argv[1] : "tests/tables/filter.tsv";

	build();
	if (seccomp_arch_native() == SCMP_ARCH_X86_64)
		table(table_path);
	else
		tap_skip("table", "numbers of the table are x86-64's");
	unknown_name();
	machine();
	for (int i = 0; i < F_MAX; i++)
		filter_free(&progs[i]);
	return tap_done();
}
