/* What a command sees and may do in a real box, as root and as an ordinary user alike. The program
 * runs itself inside ("--inside NAME") for what a shell cannot do. */
#include "tests/unit/sandbox/box_help.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/str.h"

static const char *self_path;

/* --- inside ------------------------------------------------------------------------------------
 */

static int in_loopback(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0);
	char buf[8] = "";

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 1) < 0 ||
	    getsockname(s, (struct sockaddr *)&a, &len) < 0 ||
	    connect(c, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -1;
	if (write(c, "hello", 5) != 5 || read(accept(s, NULL, NULL), buf, 5) != 5)
		return -1;
	return strcmp(buf, "hello") == 0 ? 0 : -1;
}

static int in_route(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(53) };

	a.sin_addr.s_addr = htonl(0x08080808);
	return connect(socket(AF_INET, SOCK_DGRAM, 0), (struct sockaddr *)&a, sizeof(a));
}

static int in_tiocsti(void)
{
	return ioctl(0, TIOCSTI, "x");
}

static int in_tiocsti_high(void)
{
	return (int)syscall(SYS_ioctl, 0, 0x100000000ul | TIOCSTI, "x");
}

static int in_ptrace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, 0, 0);
}

static int in_io_uring(void)
{
	return (int)syscall(425, 8, NULL);
}

static int in_clone3(void)
{
	return (int)syscall(435, NULL, 0);
}

static int in_mount(void)
{
	return mount("none", "/tmp", "tmpfs", 0, NULL);
}

static int in_userns(void)
{
	return unshare(CLONE_NEWUSER);
}

static int in_packet(void)
{
	return socket(17, SOCK_RAW, 0);
}

static int in_vsock(void)
{
	return socket(40, SOCK_STREAM, 0);
}

static int in_unknown(void)
{
	return (int)syscall(590);
}

static int in_kill_init(void)
{
	return kill(1, SIGKILL);
}

static int in_init_mem(void)
{
	return open("/proc/1/mem", O_RDONLY);
}

static int in_init_fd(void)
{
	return open("/proc/1/fd", O_RDONLY | O_DIRECTORY);
}

static int in_self_mem(void)
{
	return open("/proc/self/mem", O_RDWR);
}

static int in_setuid(void)
{
	return setuid(0);
}

static int in_chown(void)
{
	return chown("/workspace/file", 0, 0);
}

static int in_mknod(void)
{
	return mknod("/tmp/dev", S_IFCHR | 0666, 0x103);
}

static int in_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	printf("%d\n", n);
	return 0;
}

static int in_forks(void)
{
	int n = 0;

	while (n < 200) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0)
			break;
		n++;
	}
	printf("%d\n", n);
	return 0;
}

static int in_core(void)
{
	struct rlimit core, files;

	if (getrlimit(RLIMIT_CORE, &core) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -1;
	printf("%d %d\n", (int)core.rlim_max, (int)files.rlim_cur);
	return 0;
}

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(void);
	const char *want; /* what it prints: an error name, or "0" */
} insides[] = {
	{ "loopback",     in_loopback,     "0" },
	{ "route",        in_route,        "ENETUNREACH" },
	{ "tiocsti",      in_tiocsti,      "EPERM" },
	{ "tiocsti_high", in_tiocsti_high, "EPERM" },
	{ "ptrace",       in_ptrace,       "EPERM" },
	{ "io_uring",     in_io_uring,     "ENOSYS" },
	{ "clone3",       in_clone3,       "ENOSYS" },
	{ "mount",        in_mount,        "EPERM" },
	{ "userns",       in_userns,       "EPERM" },
	{ "packet",       in_packet,       "EAFNOSUPPORT" },
	{ "vsock",        in_vsock,        "EAFNOSUPPORT" },
	{ "unknown",      in_unknown,      "ENOSYS" },
	{ "kill_init",    in_kill_init,    "EPERM" },
	{ "init_mem",     in_init_mem,     "EACCES" },
	{ "init_fd",      in_init_fd,      "EACCES" },
	{ "self_mem",     in_self_mem,     "EACCES" },
	{ "setuid",       in_setuid,       "EINVAL" },
	{ "chown",        in_chown,        "EINVAL" },
	{ "mknod",        in_mknod,        "EPERM" },
	{ "fds",          in_fds,          "3\n0" },
	{ "forks",        in_forks,        NULL },
	{ "core",         in_core,         NULL },
};
/* clang-format on */

static int inside(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(insides); i++) {
		int rc;

		if (strcmp(insides[i].name, name) != 0)
			continue;
		errno = 0;
		rc = insides[i].run();
		printf("%s\n", rc < 0 ? strerrorname_np(errno) : "0");
		return 0;
	}
	return 9;
}

/* --- outside -----------------------------------------------------------------------------------
 */

/* Put ourselves into the workspace as "probe". */
static void add_probe(struct help *h)
{
	auto_free char *path = mem_printf("%s/probe", h->lower);
	auto_buf b = BUF_INIT(64u << 20);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd_read_file(self_path, &b, NULL) < 0 || fd_write_all(fd, b.data, b.len) < 0)
		tap_diag("cannot copy the test program");
}

static void syscalls(void)
{
	auto_buf script = BUF_INIT(65536);
	struct help h;
	const char *p;

	help_open(&h);
	add_probe(&h);
	for (size_t i = 0; i < ARRAY_SIZE(insides); i++) {
		if (insides[i].want)
			(void)buf_addf(&script, "echo '%s='$(./probe --inside %s)\n",
				       insides[i].name, insides[i].name);
	}
	p = help_sh(&h, buf_str(&script));
	for (size_t i = 0; i < ARRAY_SIZE(insides); i++) {
		auto_free char *line = NULL;
		char *nl;

		if (!insides[i].want)
			continue;
		line = mem_printf("%s=%s", insides[i].name, insides[i].want);
		nl = strchr(line, '\n');
		if (nl)
			*nl = ' ';
		tap_ok(strstr(p, line) != NULL, "%s", line);
		if (!strstr(p, line))
			tap_diag("output: %s", p);
	}
	help_close(&h);
}

static void limits(void)
{
	struct help h;
	unsigned n = 0;

	help_open(&h);
	add_probe(&h);
	h.spec.limits.max[LIMIT_PROCESSES] = 20;
	h.spec.limits.max[LIMIT_OPEN_FILES] = 77;
	(void)sscanf(help_sh(&h, "./probe --inside forks"), "%u", &n);
	tap_ok(n >= 15 && n <= 20, "processes end at the limit: %u children", n);
	tap_is_str(help_sh(&h, "exec ./probe --inside core"), "1 77\n0", "core and open files");
	h.spec.limits.max[LIMIT_DISK] = 1u << 20;
	tap_is_str(help_sh(&h, "head -c 2000000 /dev/zero > big; echo $?; stat -c %s big"),
		   "File size limit exceeded\n153\n1048576",
		   "a file ends at the disk limit (SIGXFSZ)");
	help_close(&h);
}

static void identity(void)
{
	help_is("id -u; id -g; id -un; hostname; echo $HOME",
		"1000\n1000\nagent\nproctor\n/home/agent", "who and where");
	help_is("grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status | tr -s '\\t\\n' '  '",
		"CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 "
		"CapBnd: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 ",
		"no capability, no new privileges, filter on");
	help_is("echo /proc/[0-9]*; cat /proc/1/comm >/dev/null && echo ok", "/proc/1 /proc/2\nok",
		"only the box in /proc");
	help_is("cat /proc/self/cgroup | grep -v ':/$' | wc -l", "0", "cgroup names hidden");
	help_is("pwd; cat /proc/sys/user/max_user_namespaces; umask", "/workspace\n0\n0022",
		"start directory, no nested namespaces, umask");
	help_is("trap '' PIPE; ps -o stat= -p $$ | tr -d 'N<' | cut -c1-2", "Ss",
		"a session of its own"); /* whatever priority the tests run at */
}

static void files(void)
{
	help_is("ls -A /root /home/agent; ls /home", "/home/agent:\n\n/root:\nagent",
		"/root and /home are empty");
	help_is("ls /etc/shadow /etc/sudoers /etc/gitconfig /etc/ssh 2>/dev/null | wc -l", "0",
		"no secrets of /etc");
	help_is("touch /usr/x 2>&1 | grep -c 'Read-only file system'; "
		"test -w /usr && echo writable; echo x > /usr/bin/sh; echo $?",
		"1\n/bin/sh: 1: cannot create /usr/bin/sh: Read-only file system\n2",
		"/usr is read-only");
	help_is("for d in /etc /var /var/tmp /srv /home /root /tmp /run /dev/shm; do "
		"echo x > $d/proctor-x 2>/dev/null && echo $d; done",
		"/etc\n/var\n/var/tmp\n/srv\n/home\n/root\n/tmp\n/run\n/dev/shm",
		"the rest can be written");
	tap_ok(access("/etc/proctor-x", F_OK) < 0 && access("/tmp/proctor-x", F_OK) < 0,
	       "and nothing reaches the host");
	help_is("stat -c %a /tmp /var/tmp /dev/shm /root; ls -A /sys", "1777\n1777\n1777\n700",
		"modes; /sys is empty");
	help_is("ls /dev | tr '\\n' ' '; echo a > /dev/null; head -c 3 /dev/zero | wc -c; "
		"head -c 8 /dev/urandom | wc -c; echo err > /dev/stderr",
		"core fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero "
		"3\n8\nerr",
		"/dev");
	help_is("cat /proc/keys /proc/kmsg /proc/timer_list; echo 1 2>&1 > /proc/sys/kernel/panic; "
		"cat /etc/resolv.conf; cat /proc/kcore 2>/dev/null",
		"/bin/sh: 1: cannot create /proc/sys/kernel/panic: Read-only file system\n"
		"nameserver 127.0.0.1",
		"machine-wide parts of /proc");
	help_is("python3 -c 'import os,pty; print(os.openpty()[0] > 2)'", "True", "ptys work");
}

static void workspace(void)
{
	auto_buf b = BUF_INIT(4096);
	struct help h;

	help_open(&h);
	tap_is_str(help_sh(&h, "a=$(stat -c %i file); echo more >> file; "
			       "test $a = $(stat -c %i file) && cat file; mkdir -p d/e; "
			       "echo n > d/e/new; stat -c '%u %g' . file d/e/new; mv file f2; "
			       "ln f2 f3; ln -s f3 f4; cat f4"),
		   "lower\nmore\n1000 1000\n1000 1000\n1000 1000\nlower\nmore",
		   "files can be changed; the inode number stays over copy-up");
	h.box = box_free(h.box);
	tap_is_str(help_get(&b, h.lower, "file"), "lower\n", "the lower layer is untouched");
	tap_is_str(help_get(&b, h.upper, "f2"), "lower\nmore\n", "changes are in the upper one");
	tap_is_str(help_get(&b, h.upper, "d/e/new"), "n\n", "new files, too");
	tap_is_str(help_sh(&h, "ls; cat f2"), "d\nf2\nf3\nf4\nlower\nmore",
		   "a second box over the same layers");
	help_close(&h);
}

/* A tree that belongs to somebody else: root's, for the ordinary user. */
static void foreign(void)
{
	struct help h;

	help_open(&h);
	h.spec.ws_lower = "/etc/skel";
	tap_is_str(help_sh(&h,
			   "a=$(cat .profile | wc -c); echo more >> .profile; mkdir d; "
			   "b=$(cat .profile | wc -c); stat -c %u .profile d .; echo $((b - a))"),
		   "1000\n1000\n1000\n5", "somebody else's tree can be worked on");
	help_close(&h);
}

static void workdirs(void)
{
	struct help h;

	help_open(&h);
	h.spec.workdir = "/home/somebody/deep/project";
	tap_is_str(help_sh(&h, "pwd; cat file; ls -A /home/somebody"),
		   "/home/somebody/deep/project\nlower\ndeep", "workspace at the user's own path");
	h.spec.workdir = h.lower;
	h.spec.cwd = "/tmp";
	tap_is_str(help_sh(&h, "pwd"), "/tmp", "another start directory");
	h.spec.workdir = "/";
	tap_ok(help_sh(&h, "pwd") && strstr(h.err.text, "cannot be /"), "/ is refused");
	help_close(&h);
}

static void direct(void)
{
	auto_buf b = BUF_INIT(4096);
	struct help h;

	help_open(&h);
	h.spec.ws_upper = h.spec.ws_work = NULL;
	tap_is_str(help_sh(&h, "echo changed > file; echo n > new; stat -c %u file new"),
		   "1000\n1000", "in place");
	tap_is_str(help_get(&b, h.lower, "file"), "changed\n", "the directory itself is changed");
	tap_is_str(help_get(&b, h.lower, "new"), "n\n", "and new files are in it");
	if (tap_ok(h.box != NULL, "box"))
		tap_ok(str_starts(h.box->posture[LAYER_OVERLAY], "off"), "said in the posture");
	help_close(&h);
}

static void lists(void)
{
	auto_free char *give = NULL;
	auto_free char *want = NULL;
	auto_free char *script = NULL;
	auto_buf b = BUF_INIT(4096);
	struct help h;

	help_open(&h);
	give = mem_printf("%s/give", h.scratch);
	if (mkdir(give, 0700) < 0)
		tap_diag("mkdir %s", give);
	help_put(give, "secret", "s\n");
	strv_add(&h.profile.read, give);
	strv_add(&h.profile.hide, "/usr/share/doc");
	strv_add(&h.profile.hide, "/etc/hosts");
	strv_add(&h.profile.hide, "/nowhere");
	script = mem_printf("cat %s/secret; echo x > %s/secret; ls /usr/share/doc; cat /etc/hosts",
			    give, give);
	want = mem_printf("s\n/bin/sh: 1: cannot create %s/secret: Read-only file system", give);
	tap_is_str(help_sh(&h, script), want, "read list is readable only, hide list is empty");
	strv_done(&h.profile.read);
	strv_add(&h.profile.write, give);
	tap_is_str(help_sh(&h, script), "s", "write list");
	tap_is_str(help_get(&b, give, "secret"), "x\n", "reaches the host");
	strv_done(&h.profile.write);
	strv_add(&h.profile.read, "/no/such/path");
	(void)help_sh(&h, "true");
	tap_ok(strstr(h.err.text, "/no/such/path"), "missing path is named: %s", h.err.text);
	help_close(&h);
}

static void home_files(void)
{
	struct strv names = { 0 }, texts = { 0 };
	struct help h;

	help_open(&h);
	strv_add(&names, ".config/tool/x.json=x.json.in");
	strv_add(&texts, "{}\n");
	h.spec.home_files = &names;
	h.spec.home_texts = &texts;
	tap_is_str(help_sh(&h, "cat ~/.config/tool/x.json; stat -c %a ~/.config/tool/x.json"),
		   "{}\n600", "files of the agent");
	strv_add(&names, "../x=y");
	strv_add(&texts, "z");
	(void)help_sh(&h, "true");
	tap_ok(strstr(h.err.text, "plain path below HOME"), "outside HOME is refused: %s",
	       h.err.text);
	strv_done(&names);
	strv_done(&texts);
	help_close(&h);
}

/* A root file system that is hostile in its links. */
static void dir_root(void)
{
	static const char script[] =
		"cat /etc/mine; echo new > /bin/new && cat /bin/new; cat file; "
		"echo x > /top; echo /proc/[0-9]*; ls /; : > /dev/null; pwd";
	static const char want[] = "mine\nnew\nlower\n/bin/sh: 1: cannot create /top: Permission "
				   "denied\n/proc/1 /proc/2\nbin\ndev\netc\nhome\nhosts\nlib\n"
				   "lib64\nproc\ntmp\nvar\nworkspace\n/workspace";
	auto_free char *rootfs = NULL;
	auto_free char *root = NULL;
	auto_free char *cmd = NULL;
	auto_buf b = BUF_INIT(4096);
	struct help h;

	help_open(&h);
	root = mem_printf("%s/root", h.scratch);
	cmd = mem_printf("set -e; mkdir -p %s/bin %s/etc %s/lib64; cd %s; cp /bin/sh bin/sh; "
			 "cp /bin/cat /bin/ls bin/; for l in $(ldd /bin/sh /bin/ls /bin/cat | "
			 "grep -o '/[^ ]*\\.so[^ ]*' | sort -u); do mkdir -p .$(dirname $l); "
			 "cp -L $l .$l; done; ln -s /etc dev; ln -s ../../../../etc proc; "
			 "ln -s /etc/hosts hosts; echo mine > etc/mine",
			 root, root, root, root);
	tap_ok(system(cmd) == 0, "root tree made");
	rootfs = mem_printf("dir:%s", root);
	h.spec.rootfs = rootfs;
	tap_is_str(help_sh(&h, script), want, "a directory as root, its /dev and /proc are links");
	free(cmd);
	cmd = mem_printf("rm -f %s/dev %s/proc", root, root);
	tap_ok(system(cmd) == 0, "links removed");
	tap_is_str(help_sh(&h, script), want, "a directory as root");
	tap_is_str(help_get(&b, root, "bin/new"), "", "the tree itself is untouched");
	help_close(&h);
}

static void terminal(void)
{
	auto_fd int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct help h;
	char *const argv[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
			       (char *)(uintptr_t) "tty; : < /dev/tty && echo ctty; exit 5", NULL };
	char text[256] = "";
	int slave, got = 0;

	help_open(&h);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
	    (slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
		tap_skip("terminal", "no pty here");
		help_close(&h);
		return;
	}
	h.spec.argv = argv;
	h.spec.new_tty = true;
	for (int i = 0; i < 3; i++)
		h.spec.stdio[i] = slave;
	tap_ok(help_box(&h) == 0, "box on a terminal %s", h.err.text);
	close(slave);
	tap_ok(h.box && box_wait(h.box, HELP_TIMEOUT, &h.err) == 1 &&
		       WEXITSTATUS(h.box->status) == 5,
	       "ran");
	while (got < 250) {
		ssize_t n = read(master, text + got, 255 - (size_t)got);

		if (n <= 0)
			break;
		got += (int)n;
		if (strstr(text, "ctty"))
			break;
	}
	tap_is_str(text, "/dev/console\r\nctty\r\n", "its own controlling terminal, with a name");
	help_close(&h);
}

static void nested(void)
{
	struct help h;

	help_open(&h);
	h.profile.nested_userns = true;
	tap_is_str(help_sh(&h, "unshare -Urm sh -c 'id -u; mount -t tmpfs t /tmp && echo mounted'"),
		   "0\nmounted", "a profile may let agents sandbox themselves");
	if (h.box)
		tap_ok(str_starts(h.box->posture[LAYER_LANDLOCK], "off"), "at a price: %s",
		       h.box->posture[LAYER_LANDLOCK]);
	strv_add(&h.profile.require, "landlock");
	(void)help_sh(&h, "true");
	tap_ok(h.err.code == ERR_HOST && strstr(h.err.text, "landlock"), "below the floor: %s",
	       h.err.text);
	help_close(&h);
}

/* One descriptor more for the command, and for nobody else. */
static void extra(void)
{
	static char *const again[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
				       (char *)(uintptr_t) "[ ! -e /proc/self/fd/14 ]", NULL };
	auto_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const char *list = "ls /proc/self/fd | tr '\\n' ' '";
	struct help h;

	help_open(&h);
	tap_is_str(help_sh(&h, list), "0 1 2 3 ", "no descriptor but the standard ones");
	h.spec.extra_fd = fd;
	tap_is_str(help_sh(&h, list), "0 1 14 2 3 ", "and the extra one where it is given");
	if (tap_ok(h.box != NULL, "box"))
		tap_ok(box_exec(h.box, again, help_env, "/", 10, &h.err) == 0,
		       "a further command has it not: %s", h.err.text);
	help_close(&h);
}

static void tests(void)
{
	identity();
	extra();
	syscalls();
	files();
	workspace();
	foreign();
	workdirs();
	direct();
	lists();
	home_files();
	limits();
	terminal();
	dir_root();
	nested();
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--inside") == 0)
		return inside(argv[2]);
	self_path = "/proc/self/exe";
	return help_main(tests);
}
