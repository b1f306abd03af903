/* Escape attempts, run inside the box by tests/run/escape.sh.
 *
 *   escape probe HOST-PID PORT HOST-ADDRESS   all attempts: "ID TAB OUTCOME", and "# why" for a property that does not hold
 *   escape ids                                "uid euid gid egid"
 *   escape make | look                        leave marks for a second box, look for those of another
 *   escape run FILE                           programs started in ways that a trace could miss
 *   escape quiet FILE                         open FILE below a user notification
 *   escape aio FILE                           read FILE by Linux AIO
 *   escape names                              hostile file names and arguments
 *   escape packet                             a packet socket in a nested network namespace
 *   escape swap DIR TARGET                    exchange DIR with a link to TARGET, until killed */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *arg_pid, *arg_port, *arg_address;

long result(long rc)
{
	return rc < 0 ? -errno : 0;
}

long wrong(const char *what)
{
	printf("# %s\n", what);
	fflush(stdout);
	return -WRONG;
}

const char *text_of(const char *path)
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

/* What came of a child. */
static void report(const char *id, int status)
{
	int code = WEXITSTATUS(status);

	if (WIFSIGNALED(status))
		printf("%s\tSIG%s\n", id, sigabbrev_np(WTERMSIG(status)));
	else
		printf("%s\t%s\n", id,
		       code == WRONG ? "wrong"
		       : code        ? strerrorname_np(code)
				     : "0");
}

static void attempt(const char *id, long (*run)(const void *arg), const void *arg)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		_exit((int)-run(arg));
	}
	waitpid(pid, &status, 0);
	report(id, status);
}

static long run_call(const void *arg)
{
	const struct call *c = arg;
	const uint64_t *v = c->arg;

	return result(syscall(c->nr, v[0], v[1], v[2], v[3], v[4], v[5]));
}

static long run_opening(const void *arg)
{
	const struct opening *o = arg;

	return result(open(o->path, o->flags, 0644));
}

static long run_attempt(const void *arg)
{
	const struct attempt *a = arg;

	return a->run();
}

static int probe(void)
{
	static const struct family *const families[] = {
		&family_mounts,    &family_files,   &family_identity,
		&family_processes, &family_network, &family_namespaces,
		&family_terminal,  &family_kernel,  &family_filters,
	};

	for (size_t i = 0; i < COUNT(families); i++) {
		const struct family *f = families[i];

		for (const struct attempt *a = f->attempts; a && a->id; a++)
			attempt(a->id, run_attempt, a);
		for (const struct call *c = f->calls; c && c->id; c++)
			attempt(c->id, run_call, c);
	}
	for (const struct opening *o = openings; o->id; o++)
		attempt(o->id, run_opening, o);
	try_numbers(attempt);
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
	if (argc == 4 && strcmp(mode, "swap") == 0)
		return swap_forever(argv[2], argv[3]);
	if (argc > 4 && strcmp(mode, "probe") == 0) {
		arg_pid = argv[2];
		arg_port = argv[3];
		arg_address = argv[4];
		return probe();
	}
	fprintf(stderr, "see the head of tests/escape/main.c\n");
	return 2;
}
