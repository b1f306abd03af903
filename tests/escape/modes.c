#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/msg.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK_KEY  0x70726f63
#define MARK_PORT 47113

long own_filter(unsigned action, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { COUNT(code), code };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static long connect_to(const struct sockaddr *to, socklen_t len, int type)
{
	int sock = socket(to->sa_family, type, 0);
	long rc = result(connect(sock, to, len));

	/* A datagram socket connects to anything; only a byte that leaves counts. */
	if (rc == 0 && type == SOCK_DGRAM)
		rc = result(send(sock, "x", 1, 0));
	close(sock);
	return rc;
}

long inet(const char *text, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = to.sin_port };

	if (inet_pton(AF_INET, text, &to.sin_addr) == 1)
		return connect_to((struct sockaddr *)&to, sizeof(to), SOCK_STREAM);
	if (inet_pton(AF_INET6, text, &to6.sin6_addr) == 1)
		return connect_to((struct sockaddr *)&to6, sizeof(to6), SOCK_STREAM);
	return wrong(text);
}

/* @name of a socket; a leading "@" is an abstract one. */
long local(const char *name, int type)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = strlen(name);

	memcpy(to.sun_path, name, n + 1);
	if (name[0] == '@')
		to.sun_path[0] = '\0';
	return connect_to((struct sockaddr *)&to,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n), type);
}

/* A box that is still there when the other looks. */
int make_marks(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(MARK_PORT) };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "\0" MARK };
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + sizeof(MARK);
	int tcp = socket(AF_INET, SOCK_STREAM, 0), abs = socket(AF_UNIX, SOCK_STREAM, 0);
	char c;

	if (shmget(MARK_KEY, 4096, IPC_CREAT | 0666) < 0 ||
	    open("/dev/mqueue/" MARK, O_CREAT | O_RDWR, 0666) < 0 ||
	    shm_open("/" MARK, O_CREAT | O_RDWR, 0666) < 0 ||
	    open("/tmp/" MARK, O_CREAT | O_RDWR, 0666) < 0 ||
	    open("/var/tmp/" MARK, O_CREAT | O_RDWR, 0666) < 0 ||
	    bind(tcp, (struct sockaddr *)&in, sizeof(in)) < 0 || listen(tcp, 1) < 0 ||
	    bind(abs, (struct sockaddr *)&un, len) < 0 || listen(abs, 1) < 0 ||
	    msgget(MARK_KEY, IPC_CREAT | 0666) < 0 || semget(MARK_KEY, 1, IPC_CREAT | 0666) < 0 ||
	    posix_openpt(O_RDWR | O_NOCTTY) < 0 || setenv(MARK, MARK, 1) < 0 ||
	    prctl(PR_SET_NAME, MARK) < 0) {
		perror("make");
		return 1;
	}
	puts("made");
	fflush(stdout);
	return read(0, &c, 1) < 0; /* until the test closes our input */
}

int look_for_marks(void)
{
	char port[16];

	snprintf(port, sizeof(port), "%d", MARK_PORT);
	printf("shm %d\n", shmget(MARK_KEY, 0, 0) >= 0);
	printf("mq %d\n",
	       access("/dev/mqueue/" MARK, F_OK) == 0 || mq_open("/" MARK, O_RDONLY) != (mqd_t)-1);
	printf("dev/shm %d\n", shm_open("/" MARK, O_RDONLY, 0) >= 0);
	printf("tmp %d\n", access("/tmp/" MARK, F_OK) == 0);
	printf("var/tmp %d\n", access("/var/tmp/" MARK, F_OK) == 0);
	printf("tcp %d\n", inet("127.0.0.1", port) == 0);
	printf("abstract %d\n", local("@" MARK, SOCK_STREAM) == 0);
	printf("messages %d\n", msgget(MARK_KEY, 0) >= 0);
	printf("semaphores %d\n", semget(MARK_KEY, 0, 0) >= 0);
	printf("terminals %d\n", access("/dev/pts/0", F_OK) == 0);
	printf("keys %d\n", syscall(SYS_keyctl, 0, -3, 0) >= 0);
	printf("processes %d\n", system("grep -qsx " MARK " /proc/[0-9]*/comm") == 0);
	return 0;
}

/* The ways to start a program that a path or a first look at argv does not show. */
int run_oddly(const char *file)
{
	char *argv[] = { (char *)"odd", (char *)"ids", NULL }, *env[] = { NULL };
	char *ld[] = { (char *)"ld.so", (char *)(uintptr_t)file, (char *)"ids", NULL };
	int fd = open(file, O_RDONLY), mem = memfd_create("ghost", MFD_CLOEXEC);
	long pid;

	while (sendfile(mem, fd, NULL, 1 << 20) > 0)
		;
	if (fork() == 0)
		_exit((int)syscall(SYS_execveat, mem, "", argv, env, AT_EMPTY_PATH));
	wait(NULL);
	if (fork() == 0)
		_exit(execve("/lib64/ld-linux-x86-64.so.2", ld, env));
	wait(NULL);
	if (fork() == 0)
		_exit(execve("/proc/self/root/usr/bin/true", argv, env));
	wait(NULL);
	pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(execve("/usr/bin/uname", argv, env));
	while (pid > 0 && kill((pid_t)pid, 0) == 0)
		usleep(1000);
	return pid < 0;
}

/* Child and parent share descriptors, so that the parent can answer for the child. */
int open_quietly(const char *file)
{
	int *fd = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct seccomp_notif req = { 0 };
	struct seccomp_notif_resp resp = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	long pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		*fd = (int)own_filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
		if (*fd < 0)
			*fd = -1;
		_exit(syscall(SYS_openat, AT_FDCWD, file, O_RDONLY) < 0);
	}
	while (*fd == 0)
		usleep(1000);
	printf("listener %d\n", *fd > 0);
	if (*fd > 0 && ioctl(*fd, SECCOMP_IOCTL_NOTIF_RECV, &req) == 0) {
		resp.id = req.id;
		ioctl(*fd, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
	wait(NULL);
	return 0;
}

int hostile_names(void)
{
	static const char *const names[] = {
		"line\nfeed",
		"\033]0;title\a\033[31mred",
		"q\"},\n{\"n\":1,\"k\":\"forged\"}",
		"back\\slash\\u0041",
		"\x80\xff\xc3",
		"\xe2\x80\xae"
		"rtl",
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		char *argv[] = { (char *)"true", (char *)(uintptr_t)names[i], NULL };
		int fd = open(names[i], O_WRONLY | O_CREAT, 0644);

		if (fd < 0 || write(fd, "x\n", 2) != 2)
			return 1;
		close(fd);
		if (fork() == 0)
			_exit(execv("/usr/bin/true", argv));
		wait(NULL);
	}
	return rename(names[0], names[2]) < 0 || mkdir("dir\n\033[2J", 0755) < 0;
}

/* A read that is no read(2): the bytes come by Linux AIO. Fails where that is refused. */
int read_by_aio(const char *file)
{
	char buf[64] = "";
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_PREAD,
			   .aio_buf = (uintptr_t)buf,
			   .aio_nbytes = sizeof(buf) };
	struct iocb *list[1] = { &cb };
	struct io_event event;
	aio_context_t ctx = 0;

	cb.aio_fildes = (uint32_t)open(file, O_RDONLY);
	if (syscall(SYS_io_setup, 1, &ctx) < 0 || syscall(SYS_io_submit, ctx, 1, list) != 1 ||
	    syscall(SYS_io_getevents, ctx, 1, 1, &event, NULL) != 1) {
		printf("refused\n");
		return 0;
	}
	printf("read %d\n", (int)event.res);
	return 0;
}

/* Where the box may make namespaces, the families stay closed in them. */
int packet_socket(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
		perror("unshare");
		return 1;
	}
	printf("%d\n", socket(AF_INET, SOCK_PACKET, 0x300) >= 0);
	return 0;
}

/* @dir becomes a link to @target and a directory again, as often as can be. */
int swap_forever(const char *dir, const char *target)
{
	if (symlink(target, "swap-link") < 0)
		return 1;
	for (;;)
		renameat2(AT_FDCWD, "swap-link", AT_FDCWD, dir, RENAME_EXCHANGE);
}
