/* Escape attempts, run inside the box by tests/run/escape.sh. Each row is one attempt and what must
 * come of it; every attempt runs in a process of its own, so that a kill is a result like any other.
 *
 *   escape probe HOST-PID PORT HOST-ADDRESS   all rows: "name TAB got TAB wanted", a skip as "skip:NAME"
 *   escape ids                                "uid euid gid egid"
 *   escape make | look                        leave marks for a second box, look for those of another
 *   escape run FILE                           programs started in ways that a trace could miss
 *   escape quiet FILE                         open FILE below a user notification
 *   escape aio FILE                           read FILE by Linux AIO
 *   escape names                              hostile file names and arguments
 *   escape packet                             a packet socket in a nested network namespace */
#include "escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HI(x)      (0x100000000ull | (x))
#define HI_ALL(x)  (0xffffffff00000000ull | (x))
#define PTR(x)     ((uintptr_t)(x))
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define OLD_PACKET 10 /* SOCK_PACKET: turns AF_INET into AF_PACKET in the kernel */

/* What a row wants beside 0 and an errno. */
enum {
	FAILS = 1000, /* any errno: several layers refuse, which of them comes first is no matter */
	ALLOWED,      /* anything but a refusal by the filter */
	KILLED,       /* SIGSYS */
};

static const char *arg_pid, *arg_port, *arg_address;

/* clang-format off */
static const struct call_row {
	const char *name;
	int want;
	uint64_t v[7]; /* number, arguments */
} calls[] = {
#define CALL(name, want, ...) { name, want, { __VA_ARGS__ } },
#define OPEN(...)
#include "escape_rows.inc"
#undef CALL
#undef OPEN
};

/* Numbers from 424 on are the same on all architectures. */
static const struct number_row {
	int from, to, want;
} numbers[] = {
	{ 424, 424, ALLOWED }, { 425, 427, ENOSYS },  { 428, 433, EPERM },   { 434, 434, ALLOWED },
	{ 435, 435, ENOSYS },  { 436, 437, ALLOWED }, { 438, 438, EPERM },   { 439, 439, ALLOWED },
	{ 440, 440, EPERM },   { 441, 441, ALLOWED }, { 442, 443, EPERM },   { 444, 446, ALLOWED },
	{ 447, 448, EPERM },   { 449, 456, ALLOWED }, { 457, 461, ENOSYS },  { 462, 462, ALLOWED },
	{ 463, 470, ENOSYS },
};

static const struct open_row {
	const char *path;
	int want, flags;
} opens[] = {
#define CALL(...)
#define OPEN(path, want, flags) { path, want, flags },
#include "escape_rows.inc"
#undef CALL
#undef OPEN
};

static const char *const dev_names[] = {
	"null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "ptmx",
	"core", "pts", "shm", "mqueue", "console", NULL,
};
static const char *const home_names[] = { "agent", NULL };
static const char *const run_names[] = { "lock", NULL };
static const char *const no_names[] = { NULL };
/* clang-format on */

/* The text of a small file of /proc, "" when there is none. */
static const char *text_of(const char *path)
{
	static char text[16384];
	int fd = open(path, O_RDONLY);
	size_t n = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	return text;
}

/* @dir holds nothing but @names. */
static long only(const char *dir, const char *const *names)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	long rc = 0;

	while (d && (de = readdir(d))) {
		bool good = strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0;

		for (size_t i = 0; names[i]; i++)
			good |= strcmp(de->d_name, names[i]) == 0;
		if (!good)
			rc = wrong(de->d_name);
	}
	return rc;
}

static long dev_only(void)
{
	return only("/dev", dev_names);
}

static long bare_directories(void)
{
	long rc[] = { only("/home", home_names), only("/root", no_names), only("/run", run_names),
		      only("/sys", no_names) };

	return rc[0] ? rc[0] : rc[1] ? rc[1] : rc[2] ? rc[2] : rc[3];
}

static long descriptors(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			return wrong("a descriptor beside 0, 1, 2 is open");
	}
	return 0;
}

static long status_lines(void)
{
	static const char *const lines[] = {
		"\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nCapBnd:\t0000000000000000\n",
		"\nCapAmb:\t0000000000000000\n",
		"\nNoNewPrivs:\t1\n",
		"\nSeccomp:\t2\n",
		"\nUid:\t1000\t1000\t1000\t1000\n",
		"\nGid:\t1000\t1000\t1000\t1000\n",
	};
	const char *text = text_of("/proc/self/status");

	for (size_t i = 0; i < COUNT(lines); i++) {
		if (!strstr(text, lines[i]))
			return wrong(lines[i] + 1);
	}
	return 0;
}

static long one_id(void)
{
	unsigned in, out, n, more;
	int got = sscanf(text_of("/proc/self/uid_map"), "%u %u %u %u", &in, &out, &n, &more);

	return got == 3 && in == 1000 && out != 0 && n == 1 ? 0 : wrong("uid_map");
}

static long cgroup_root(void)
{
	char *text = strdup(text_of("/proc/self/cgroup"));

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strcmp(strrchr(line, ':'), ":/") != 0)
			return wrong(line);
	}
	return 0;
}

/* The old root is gone, and there is no way up. */
static long no_way_up(void)
{
	struct stat root, up;

	for (int i = 0; i < 64; i++) {
		if (chdir("..") < 0)
			return -errno;
	}
	if (stat("/", &root) < 0 || stat(".", &up) < 0)
		return -errno;
	return root.st_ino == up.st_ino && root.st_dev == up.st_dev ? 0 : wrong("..");
}

/* Every mount is nosuid, and none shows where on the host our files lie. */
static long mounts(void)
{
	char *text = strdup(text_of("/proc/self/mountinfo"));

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, "nosuid") || strstr(line, "/proctor-") || strstr(line, "/root/"))
			return wrong(line);
	}
	return 0;
}

static long host_pid(void)
{
	char path[64];

	if (kill(atoi(arg_pid), 0) == 0 || errno != ESRCH)
		return wrong("a process of the host can be signalled");
	snprintf(path, sizeof(path), "/proc/%s", arg_pid);
	return access(path, F_OK) == 0 ? wrong(path) : 0;
}

/* Everything in /proc is PID 1, or descends from the command. */
static long few_pids(void)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	int n = 0;

	while (d && (de = readdir(d)))
		n += de->d_name[0] >= '1' && de->d_name[0] <= '9';
	return n >= 2 && n <= 6 ? 0 : wrong("more processes than the box has");
}

/* Reading gives nothing, whether the name is missing or covered. */
static long empty_files(void)
{
	static const char *const names[] = { "/proc/kcore", "/proc/kmsg", "/proc/keys",
					     "/proc/key-users", "/proc/timer_list" };

	for (size_t i = 0; i < COUNT(names); i++) {
		int fd = open(names[i], O_RDONLY | O_NONBLOCK);
		char c;

		if (fd >= 0 && read(fd, &c, 1) > 0)
			return wrong(names[i]);
	}
	return 0;
}

static long lone_loopback(void)
{
	struct if_nameindex *all = if_nameindex();
	struct ifreq req = { .ifr_name = "lo" };

	if (!all || strcmp(all[0].if_name, "lo") != 0 || all[1].if_name)
		return wrong("interfaces beside lo");
	return result(ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &req));
}

static long prlimit_init(void)
{
	struct rlimit lim = { 3, 3 };

	return result(prlimit(1, RLIMIT_NOFILE, &lim, NULL));
}

/* Landlock looks at a queue's own mount, which no path leads to (landlock(7) does not say so). */
static long queues_work(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };

	return result(mq_open("/" MARK, O_CREAT | O_RDWR, 0600, &attr));
}

static long raise_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return -errno;
	lim.rlim_max++;
	return result(setrlimit(RLIMIT_NOFILE, &lim));
}

static long setuid_program(void)
{
	struct stat st;

	if (stat("suid", &st) < 0 || chmod("mine", 06755) < 0)
		return -errno;
	if (system("set -e; want='1000 1000 1000 1000'; for p in ./suid ./mine; do "
		   "[ \"$($p ids)\" = \"$want\" ]; done; ! su -c id </dev/null 2>&1 | grep uid=0") !=
	    0)
		return wrong("a set-id program gains something");
	return 0;
}

/* int $0x80: the i386 table, where number 5 is open and 102 is socketcall. */
static long ia32(long nr)
{
#ifdef __x86_64__
	long rc = nr;

	__asm__ volatile("int $0x80" : "+a"(rc) : "b"(0L), "c"(0L), "d"(0L) : "memory");
	return rc < 0 ? rc : 0;
#else
	(void)nr;
	raise(SIGSEGV);
	return 0;
#endif
}

static long ia32_open(void)
{
	return ia32(5);
}

static long ia32_socketcall(void)
{
	return ia32(102);
}

/* A listener answers before the tracer is asked: USER_NOTIF is stronger than TRACE (seccomp(2)). */
static long own_listener(void)
{
	return result(own_filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER));
}

static long own_trace(void)
{
	if (own_filter(SECCOMP_RET_TRACE | 0x1234, 0) < 0)
		return -errno;
	return getppid() > 0 ? 0 : wrong("RET_TRACE of the box stops it");
}

/* All types of all families that are not on the list. */
static long families(void)
{
	static const int types[] = { SOCK_STREAM,    SOCK_DGRAM, SOCK_RAW,
				     SOCK_SEQPACKET, SOCK_RDM,   OLD_PACKET };
	char text[64];

	for (int family = 0; family < 48; family++) {
		if (family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
		    family == AF_NETLINK)
			continue;
		for (size_t i = 0; i < COUNT(types); i++) {
			int sv[2];

			if (socket(family, types[i], 0) < 0 && errno == EAFNOSUPPORT &&
			    socketpair(family, types[i], 0, sv) < 0 && errno == EAFNOSUPPORT)
				continue;
			snprintf(text, sizeof(text), "family %d type %d", family, types[i]);
			return wrong(text);
		}
	}
	return 0;
}

static long netlink(void)
{
	if (socket(AF_NETLINK, SOCK_RAW, 0) < 0)
		return -errno;
	for (int proto = 1; proto < 32; proto++) {
		if (syscall(SYS_socket, AF_NETLINK, SOCK_RAW, proto) >= 0 ||
		    errno != EAFNOSUPPORT ||
		    syscall(SYS_socket, HI(AF_NETLINK), SOCK_DGRAM, HI_ALL((unsigned)proto)) >= 0)
			return wrong("a netlink protocol beside ROUTE");
	}
	return 0;
}

static long number(int nr, uint64_t v)
{
	return result(syscall(nr, v, v, v, v, v, v));
}

static long metadata(void)
{
	return inet("169.254.169.254", "80");
}

static long public_address(void)
{
	return inet("8.8.8.8", "53");
}

static long private_address(void)
{
	return inet("::ffff:10.0.0.1", "80");
}

static long host_address(void)
{
	return inet(arg_address, arg_port);
}

static long host_loopback(void)
{
	static const char *const names[] = { "127.0.0.1", "127.1.2.3", "0.0.0.0",
					     "::1",       "::",        "::ffff:127.0.0.1" };

	for (size_t i = 0; i < COUNT(names); i++) {
		if (inet(names[i], arg_port) == 0)
			return wrong(names[i]);
	}
	return 0;
}

static long host_sockets(void)
{
	char name[64];

	snprintf(name, sizeof(name), "@" MARK "-%s", arg_port);
	if (local(name, SOCK_STREAM) == 0)
		return wrong("abstract socket of the host");
	if (local("host.sock", SOCK_STREAM) == 0 || local("host.dgram", SOCK_DGRAM) == 0)
		return wrong("socket of the host in the workspace");
	return 0;
}

static const struct property_row {
	const char *name;
	long (*run)(void);
	int want;
} properties[] = {
	{ "/dev holds the harmless nodes only", dev_only, 0 },
	{ "/home holds HOME only; /root, /run, /sys are bare", bare_directories, 0 },
	{ "descriptors 0, 1, 2 only", descriptors, 0 },
	{ "no capabilities, no_new_privs, seccomp, ids", status_lines, 0 },
	{ "one id is mapped, and not to root", one_id, 0 },
	{ "the cgroup's root is the box's", cgroup_root, 0 },
	{ "no way up from /", no_way_up, 0 },
	{ "mounts are nosuid and show no path of the host", mounts, 0 },
	{ "a process of the host does not exist here", host_pid, 0 },
	{ "/proc shows the box only", few_pids, 0 },
	{ "kcore, kmsg, keys, timers are empty", empty_files, 0 },
	{ "lo is the only interface and stays as it is", lone_loopback, EPERM },
	{ "prlimit of PID 1", prlimit_init, FAILS },
	{ "POSIX message queues work", queues_work, 0 },
	{ "a hard limit is not raised", raise_limit, EPERM },
	{ "set-id programs gain nothing", setuid_program, 0 },
	{ "int 0x80, open", ia32_open, KILLED },
	{ "int 0x80, socketcall", ia32_socketcall, KILLED },
	{ "no seccomp listener of the box's own", own_listener, FAILS },
	{ "RET_TRACE of a filter of the box's own", own_trace, 0 },
	{ "socket families x types", families, 0 },
	{ "netlink protocols", netlink, 0 },
	{ "metadata service", metadata, FAILS },
	{ "public address", public_address, FAILS },
	{ "private address, mapped into IPv6", private_address, FAILS },
	{ "the host's own address", host_address, FAILS },
	{ "a listener on the host's loopback", host_loopback, 0 },
	{ "unix sockets of the host", host_sockets, 0 },
};

/* One line of output: what came of child @pid, what was to come of it. */
static void report(const char *name, int status, int want)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0, sig = WTERMSIG(status);
	const char *got = code == WRONG ? "wrong" : code ? strerrorname_np(code) : "0";
	const char *wanted = want == FAILS     ? "fails"
			     : want == ALLOWED ? "allowed"
			     : want == KILLED  ? "SIGSYS"
			     : want            ? strerrorname_np(want)
					       : "0";

	if (WIFSIGNALED(status))
		got = sig == SIGSYS ? "SIGSYS" : strsignal(sig);
	else if (want == FAILS && code && code != WRONG)
		got = "fails";
	else if (want == ALLOWED && code != EPERM)
		got = "allowed";
	/* A kernel without the i386 table answers with a fault. */
	if (want == KILLED && WIFSIGNALED(status) && sig == SIGSEGV)
		got = "skip:ia32";
	printf("%s\t%s\t%s\n", name, got, wanted);
}

static pid_t start(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		alarm(20);
	return pid;
}

static void finish(pid_t pid, const char *name, int want)
{
	int status = 0;

	waitpid(pid, &status, 0);
	report(name, status, want);
}

static void probe_numbers(void)
{
	for (size_t i = 0; i < COUNT(numbers); i++) {
		for (int k = numbers[i].from * 2; k < numbers[i].to * 2 + 2; k++) {
			char name[64];
			pid_t pid;

			snprintf(name, sizeof(name), "number %d, arguments %d", k / 2, -(k % 2));
			pid = start();
			if (pid == 0)
				_exit((int)-number(k / 2, k % 2 ? UINT64_MAX : 0));
			finish(pid, name, numbers[i].want);
		}
	}
}

static int probe(void)
{
	pid_t pid;

	for (size_t i = 0; i < COUNT(properties); i++) {
		pid = start();
		if (pid == 0)
			_exit((int)-properties[i].run());
		finish(pid, properties[i].name, properties[i].want);
	}
	for (size_t i = 0; i < COUNT(calls); i++) {
		const uint64_t *v = calls[i].v;

		pid = start();
		if (pid == 0)
			_exit((int)-result(
				syscall((long)v[0], v[1], v[2], v[3], v[4], v[5], v[6])));
		finish(pid, calls[i].name, calls[i].want);
	}
	for (size_t i = 0; i < COUNT(opens); i++) {
		char name[128];

		snprintf(name, sizeof(name), "open %s %#o", opens[i].path,
			 (unsigned)opens[i].flags);
		pid = start();
		if (pid == 0)
			_exit((int)-result(open(opens[i].path, opens[i].flags, 0644)));
		finish(pid, name, opens[i].want);
	}
	probe_numbers();
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "ids") == 0)
		return printf("%u %u %u %u\n", getuid(), geteuid(), getgid(), getegid()) < 0;
	if (strcmp(mode, "make") == 0)
		return make_marks();
	if (strcmp(mode, "look") == 0)
		return look_for_marks();
	if (strcmp(mode, "names") == 0)
		return hostile_names();
	if (strcmp(mode, "packet") == 0)
		return packet_socket();
	if (argc == 3 && strcmp(mode, "run") == 0)
		return run_oddly(argv[2]);
	if (argc == 3 && strcmp(mode, "quiet") == 0)
		return open_quietly(argv[2]);
	if (argc == 3 && strcmp(mode, "aio") == 0)
		return read_by_aio(argv[2]);
	if (argc > 4 && strcmp(mode, "probe") == 0) {
		arg_pid = argv[2];
		arg_port = argv[3];
		arg_address = argv[4];
		return probe();
	}
	fprintf(stderr, "see the head of escape.c\n");
	return 2;
}
