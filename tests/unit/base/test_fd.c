/* Descriptors and trees: no link made by an agent leads us out, hostile trees can be removed. */
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static void put(const char *path, const char *text)
{
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		tap_ok(false, "cannot write %s: %s", path, strerror(errno));
}

static void beneath(void)
{
	static const struct {
		const char *path;
		int want; /* errno, 0 = opens */
	} rows[] = {
		{ "in/file", 0 },
		{ "./in/./file", 0 },
		{ "in/../in/file", 0 },
		{ "in", 0 },
		{ "../outside/secret", EXDEV },
		{ "in/../../outside/secret", EXDEV },
		{ "/etc/passwd", EXDEV },
		{ "dirlink/secret", ELOOP },
		{ "filelink", ELOOP },
		{ "inlink", ELOOP },
		{ "loop", ELOOP },
		{ "abs/passwd", ELOOP },
		{ "self/fd/0", ELOOP },
		{ "missing", ENOENT },
		{ "", ENOENT },
	};
	auto_fd int dir = -1;

	mkdir("top", 0755);
	mkdir("top/in", 0755);
	mkdir("outside", 0755);
	put("top/in/file", "x");
	put("outside/secret", "s");
	if (symlink("../outside", "top/dirlink") || symlink("../outside/secret", "top/filelink") ||
	    symlink("in/file", "top/inlink") || symlink("loop", "top/loop") ||
	    symlink("/etc", "top/abs") || symlink("/proc/self", "top/self"))
		tap_ok(false, "links");
	dir = open("top", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_fd int fd = fd_open_beneath(dir, rows[i].path, O_RDONLY, 0);

		tap_ok(rows[i].want ? fd < 0 && errno == rows[i].want
				    : fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC,
		       "open \"%s\" beneath: %s", rows[i].path,
		       rows[i].want ? strerror(rows[i].want) : "yes");
	}
	{
		auto_fd int made =
			fd_open_beneath(dir, "in/new", O_WRONLY | O_CREAT | O_EXCL, 0640);
		auto_fd int bad = fd_open_beneath(dir, "dirlink/new", O_WRONLY | O_CREAT, 0640);
		struct stat st;

		tap_ok(made >= 0 && fstat(made, &st) == 0 && (st.st_mode & 07777 & ~022u) == 0640,
		       "a file is made beneath with its mode");
		tap_ok(bad < 0 && access("outside/new", F_OK) < 0, "none is made through a link");
	}
}

/* A directory that another process swaps for a link all the time never leads outside. */
static void race(void)
{
	auto_fd int dir = open("top", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned leaked = 0, opened = 0;
	pid_t pid;

	mkdir("top/swap", 0755);
	put("top/swap/secret", "ours");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		for (;;) {
			(void)renameat2(dir, "swap", dir, "dirlink", RENAME_EXCHANGE);
		}
	}
	for (int i = 0; i < 20000; i++) {
		auto_fd int fd = fd_open_beneath(dir, "swap/secret", O_RDONLY, 0);
		char c = 0;

		if (fd >= 0 && read(fd, &c, 1) == 1) {
			opened++;
			leaked += c != 'o';
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(leaked == 0, "20000 opens against a swapping link, %u succeeded, none outside",
	       opened);
}

static void files(void)
{
	auto_buf b = BUF_INIT(100), tiny = BUF_INIT(3);
	struct err err = { 0 };
	struct stat st;

	tap_ok(fd_replace_file("r", "new text", 8, &err) == 0, "make a file");
	tap_ok(fd_replace_file("r", "2", 1, &err) == 0 && stat("r", &st) == 0 && st.st_size == 1,
	       "replace it");
	tap_ok(fd_read_file("r", &b, &err) == 0 && str_eq(buf_str(&b), "2"), "read it");
	put("long", "four");
	tap_ok(fd_read_file("long", &tiny, &err) == -ERR_INPUT, "too large: %s", err.text);
	put("three", "abc");
	buf_clear(&tiny);
	tap_ok(fd_read_file("three", &tiny, &err) == 0 && tiny.len == 3, "exactly the maximum");
	tap_ok(fd_replace_file("no/such/dir", "x", 1, &err) == -ERR_SYS, "no directory: %s",
	       err.text);
	mkdir("isdir", 0755);
	tap_ok(fd_replace_file("isdir", "x", 1, &err) < 0, "a directory is not replaced: %s",
	       err.text);
	{
		int pipe_fd[2] = { -1, -1 };
		char name[64], got[8] = "";

		tap_ok(pipe2(pipe_fd, O_CLOEXEC) == 0, "a pipe");
		snprintf(name, sizeof(name), "/proc/self/fd/%d", pipe_fd[1]);
		tap_ok(fd_replace_file(name, "through", 7, &err) == 0 &&
			       read(pipe_fd[0], got, 7) == 7 && str_eq(got, "through"),
		       "a pipe is written");
		tap_ok(fd_replace_file("/dev/null", "x", 1, &err) == 0 &&
			       stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode),
		       "a device stays one");
		close(pipe_fd[0]);
		close(pipe_fd[1]);
	}
	tap_ok(fd_mkdirs("m/a/../b//c", 0755, &err) == 0 && access("m/b/c", F_OK) == 0, "mkdirs");
	tap_ok(fd_mkdirs("m/b/c", 0755, &err) == 0, "mkdirs of what is there");
	tap_ok(fd_mkdirs("r/x", 0755, &err) == -ERR_SYS, "a file is in the way: %s", err.text);
	tap_ok(fd_mkdirs("r", 0755, &err) < 0, "a file of that name is no directory");
	{
		auto_buf sink = BUF_INIT(10);
		auto_fd int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

		tap_ok(fd_read_all(zero, &sink) < 0 && errno == EFBIG,
		       "an endless file is bounded");
	}
}

static void hostile_tree(void)
{
	auto_fd int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	mkdir("t", 0755);
	mkdir("t/closed", 0755);
	mkdir("t/closed/in", 0755);
	put("t/closed/in/f", "x");
	mkdir("t/ro", 0755);
	put("t/ro/f", "x");
	if (symlink("../outside", "t/link") || link("outside/secret", "t/hard") ||
	    mkfifo("t/fifo", 0) || chmod("t/closed/in", 0) || chmod("t/closed", 0) ||
	    chmod("t/ro", 0500) || chmod("t", 0500))
		tap_ok(false, "hostile tree: %s", strerror(errno));
	tap_ok(fd_remove_tree(here, "t") == 0 && lstat("t", &st) < 0,
	       "directories of mode 000 and 0500 are removed");
	tap_ok(access("outside/secret", F_OK) == 0, "no link was followed");
	tap_ok(fd_remove_tree(here, "t") == 0, "a missing name is success");
	put("single", "x");
	tap_ok(fd_remove_tree(here, "single") == 0, "a single file");
	tap_ok(symlink("outside", "l") == 0 && fd_remove_tree(here, "l") == 0 &&
		       access("outside/secret", F_OK) == 0,
	       "a link to a directory is removed, not followed");
}

/* Deeper than there are descriptors: an agent can make such a tree with mkdir and chdir. */
static void make_deep(const char *name, unsigned depth)
{
	auto_fd int at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (unsigned i = 0; i < depth; i++) {
		const char *step = i ? "d" : name;
		int next;

		if (mkdirat(at, step, 0755) < 0) {
			tap_ok(false, "mkdirat at depth %u: %s", i, strerror(errno));
			return;
		}
		next = openat(at, step, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	{
		auto_fd int f = openat(at, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		auto_free void *data = mem_zalloc(1, 1u << 20);

		tap_ok(f >= 0 && fd_write_all(f, data, 1u << 20) == 0, "a tree %u levels deep",
		       depth);
	}
}

static void deep_tree(void)
{
	auto_fd int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct rlimit old, few;
	struct stat st;

	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &few);
	make_deep("deep", 2000);
	tap_ok(fd_tree_bytes(here, "deep", 1000000) >= 1u << 20,
	       "its bytes are counted to the bottom");
	tap_ok(fd_remove_tree(here, "deep") == 0 && lstat("deep", &st) < 0,
	       "it is removed with 256 descriptors");
	setrlimit(RLIMIT_NOFILE, &old);
}

static void tree_bytes(void)
{
	auto_fd int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free void *data = mem_zalloc(1, 100000);
	uint64_t all;

	mkdir("b", 0755);
	mkdir("b/c", 0755);
	for (int i = 0; i < 10; i++) {
		auto_free char *name = mem_printf("b/c/%d", i);
		auto_fd int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		fd_write_all(fd, data, 100000);
		fsync(fd);
	}
	if (symlink("/usr", "b/usr"))
		tap_ok(false, "link");
	all = fd_tree_bytes(here, "b", 100);
	tap_ok(all >= 1000000 && all < 1300000, "ten files of 100000 bytes: %llu",
	       (unsigned long long)all);
	tap_ok(fd_tree_bytes(here, "b", 5) < 600000, "the walk is bounded");
	tap_is_u64(fd_tree_bytes(here, "absent", 5), 0, "a missing tree");
}

static unsigned open_fds(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void passing(void)
{
	int pair[2], got, two[2] = { 0, 0 };
	union {
		char bytes[CMSG_SPACE(sizeof(two))];
		struct cmsghdr align;
	} ctl = { { 0 } };
	struct iovec iov = { &got, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = ctl.bytes,
			      .msg_controllen = sizeof(ctl.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	char text[8] = { 0 };
	unsigned before;

	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	tap_ok(fd_send(pair[0], "hi", 2, 0) == 0 &&
		       fd_recv(pair[1], text, sizeof(text), &got) == 2 && got > 2 &&
		       fcntl(got, F_GETFD) == FD_CLOEXEC,
	       "a descriptor travels, close-on-exec");
	mem_close(&got);
	tap_ok(fd_send(pair[0], "x", 1, -1) == 0 &&
		       fd_recv(pair[1], text, sizeof(text), &got) == 1 && got == -1,
	       "a message without one");
	before = open_fds();
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(two));
	memcpy(CMSG_DATA(c), two, sizeof(two));
	tap_ok(sendmsg(pair[0], &msg, 0) == 1, "a message with two descriptors");
	tap_ok(fd_recv(pair[1], text, sizeof(text), &got) == 1, "is received");
	mem_close(&got);
	tap_is_u64(open_fds(), before, "and leaves no stray descriptor");
	close(pair[0]);
	tap_ok(fd_recv(pair[1], text, sizeof(text), &got) == 0 && got == -1, "end of file");
	close(pair[1]);
	tap_ok(fd_send(-1, "x", 1, -1) < 0, "a closed socket");
}

static void close_from(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int fd = fcntl(0, F_DUPFD, 50);

		fd_close_from(3);
		_exit(fcntl(fd, F_GETFD) < 0 && fcntl(2, F_GETFD) >= 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	tap_ok(status == 0, "close_from keeps what is below");
}

int main(void)
{
	char dir[] = "/tmp/proctor-fd-XXXXXX";
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!mkdtemp(dir) || chdir(dir) < 0) {
		tap_ok(false, "no temporary directory: %s", strerror(errno));
		return tap_done();
	}
	beneath();
	race();
	files();
	hostile_tree();
	deep_tree();
	tree_bytes();
	passing();
	close_from();
	if (chdir("/") < 0 || fd_remove_tree(tmp, dir + strlen("/tmp/")) < 0)
		tap_ok(false, "cannot remove %s: %s", dir, strerror(errno));
	return tap_done();
}
