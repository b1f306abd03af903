/* What a confined gateway can still do, and what it cannot: tried in a child. */
#include "gateway/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/tap.h"

static char *const argv0[] = { (char *)"true", NULL };

static long try_open(void)
{
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static long try_create(void)
{
	return open("/tmp/proctor-confine", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static long try_exec(void)
{
	return execv("/bin/true", argv0);
}

static long try_fork(void)
{
	return fork();
}

static long try_kill(void)
{
	return kill(getppid(), 0);
}

static long try_ptrace(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static long try_vm_read(void)
{
	char b;
	struct iovec l = { &b, 1 }, r = { &b, 1 };

	return process_vm_readv(getppid(), &l, 1, &r, 1, 0);
}

static long try_exec_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static long try_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static long try_packet(void)
{
	return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
}

static long try_netfilter(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
}

/* A socket that sends a signal of one's choice when something arrives at it. */
static long try_owner(void)
{
	return fcntl(0, F_SETOWN, getppid()) < 0 && fcntl(0, F_SETSIG, SIGKILL) < 0 ? -1 : 0;
}

static long try_setuid(void)
{
	return setuid(0) == 0 && geteuid() == 0 && getuid() != 65534 ? 0 : -1;
}

static long try_unshare(void)
{
	return syscall(SYS_unshare, 0);
}

static long do_tcp(void)
{
	return socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static long do_interfaces(void)
{
	struct ifaddrs *ifa = NULL;
	long rc = getifaddrs(&ifa);

	if (rc == 0)
		freeifaddrs(ifa);
	return rc;
}

static long do_memory(void)
{
	return mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static long try_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
	return -1; /* there is no bound under a sanitizer */
#else
	return mmap(NULL, 5ul << 30, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED
		       ? -1
		       : 0;
#endif
}

static const struct {
	const char *name;
	bool allowed;
	long (*fn)(void);
} rows[] = {
	{ "open a file", false, try_open },
	{ "create a file", false, try_create },
	{ "execute", false, try_exec },
	{ "fork", false, try_fork },
	{ "signal the parent", false, try_kill },
	{ "trace the parent", false, try_ptrace },
	{ "read the parent's memory", false, try_vm_read },
	{ "executable memory", false, try_exec_memory },
	{ "UNIX socket", false, try_unix },
	{ "packet socket", false, try_packet },
	{ "netlink of another kind", false, try_netfilter },
	{ "a socket that signals", false, try_owner },
	{ "memory without end", false, try_memory },
	{ "become root", false, try_setuid },
	{ "unshare", false, try_unshare },
	{ "TCP socket", true, do_tcp },
	{ "addresses of the interfaces", true, do_interfaces },
	{ "memory", true, do_memory },
};

/* 0 as expected, 1 not, 2 confinement itself failed. */
static int child(long (*fn)(void), bool allowed)
{
	char missing[128];
	struct err err;

	if (confine(missing, &err) < 0)
		return 2;
	return (fn() >= 0) == allowed ? 0 : 1;
}

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(child(rows[i].fn, rows[i].allowed));
		(void)waitpid(pid, &status, 0);
		tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: %s (%d)", rows[i].name,
		       rows[i].allowed ? "allowed" : "refused", status);
	}
}

static void test_descriptors(void)
{
	int p[2], status = 0, high;
	pid_t pid;

	tap_ok(pipe2(p, O_CLOEXEC) == 0, "a pipe");
	high = fcntl(p[1], F_DUPFD_CLOEXEC, 100);
	pid = fork();
	if (pid == 0) {
		int keep[] = { high, -1, p[0] };

		confine_close(keep, 3);
		_exit(fcntl(p[1], F_GETFD) < 0 && fcntl(high, F_GETFD) >= 0 &&
				      fcntl(p[0], F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0
			      ? 0
			      : 1);
	}
	(void)waitpid(pid, &status, 0);
	tap_ok(status == 0, "only what is kept stays open");
	close(p[0]);
	close(p[1]);
	close(high);
}

int main(void)
{
	test_rows();
	test_descriptors();
	return tap_done();
}
