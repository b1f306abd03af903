/* The witness around test programs (go test -exec, cargo's runner): their parent, alone in its process,
 * static, so that it runs in any root file system. Nothing of the program under test is ever loaded
 * here; the descriptor of the channel is closed in it, and as we are not dumpable, nobody of our uid
 * can open our memory or descriptors through /proc (proc(5), PR_SET_DUMPABLE in prctl(2)).
 *
 *   exec PROGRAM ARGUMENTS...
 *
 * Runs PROGRAM, hands its output on and sends a copy as "log" records. Then it asks which tests the program
 * has ("known"), for a run of a test that does not exist, and for runs of single tests ("canary"): who
 * prints results that were not asked for prints them whatever is asked. The questions take at most as long
 * as the run did, or a second. Ends as the program ended. What is no test program, or a call
 * without the channel, is simply executed. Records: verifier/channel.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VAR        "GRADE_CHANNEL"
#define CHUNK      32768      /* bytes of output in one record */
#define ASK_MAX    (4u << 20) /* bytes of an answer that are looked at */
#define ASK_MS_MIN 1000 /* for all questions together: as long as the run took, in these bounds */
#define ASK_MS_MAX 20000
#define LINE_MAX_  4096
#define KNOWN_MAX  65536

/* How a kind of test program is known, asked and read. */
struct row {
	const char *witness;
	const char *list[4], *one[6]; /* arguments; "%" in the last one of one is a test's name */
	const char *known_end; /* what stands behind a name in a list, NULL = its line's end */
	const char *pass, *pass_has; /* a pass: the line begins with the one and holds the other */
	bool (*is_test)(const char *program);
	bool last_word; /* its log needs the line with which the go command ends a package */
};

/* go test builds PACKAGE.test. */
static bool is_go_test(const char *program)
{
	size_t n = strlen(program);

	return n > 5 && strcmp(program + n - 5, ".test") == 0;
}

/* cargo puts test programs into target/PROFILE/deps, others a level above. */
static bool is_cargo_test(const char *program)
{
	const char *slash = strrchr(program, '/');

	return slash && slash - program >= 5 && strncmp(slash - 5, "/deps", 5) == 0;
}

static const struct row rows[] = {
	{ "go",
	  { "-test.list=." },
	  { "-test.v", "-test.timeout=20s", "-test.paniconexit0", "-test.run=^%$" },
	  NULL,
	  "--- PASS: ",
	  "(",
	  is_go_test,
	  true },
	{ "cargo",
	  { "--list" },
	  { "--exact", "%" },
	  ": test",
	  "test ",
	  " ... ok",
	  is_cargo_test,
	  false },
};

struct channel {
	int fd;
	char nonce[65];
	char key[33]; /* the word of all records but the hello, in our memory alone */
	unsigned long no;
};

/* One record: nonce, number, kind, then @n bytes with the fields. A closed channel is nobody's fault here:
 * the other side sees that the end is missing. */
static void send_record(struct channel *ch, const char *kind, const char *fields, size_t n)
{
	static char text[CHUNK + 512];
	int head = snprintf(text, sizeof(text), "%s%c%lu%c%s%c", ch->no ? ch->key : ch->nonce, 0,
			    ch->no, 0, kind, 0);
	ssize_t rc;

	ch->no++;
	if (n > sizeof(text) - (size_t)head)
		n = sizeof(text) - (size_t)head;
	memcpy(text + head, fields, n);
	do {
		rc = send(ch->fd, text, (size_t)head + n, MSG_NOSIGNAL);
	} while (rc < 0 && errno == EINTR);
}

/* The channel as the environment names it: "DESCRIPTOR:NONCE:WITNESS". NULL when there is none for us. */
static const struct row *open_channel(struct channel *ch, const char *program)
{
	const char *var = getenv(VAR), *end, *name;
	const struct row *row = NULL;
	struct stat st;
	char *colon;
	long fd;

	if (!var)
		return NULL;
	fd = strtol(var, &colon, 10);
	if (*colon != ':' || fd < 3 || fd > 1023)
		return NULL;
	end = strchr(colon + 1, ':');
	if (!end || (size_t)(end - colon) > sizeof(ch->nonce))
		return NULL;
	memcpy(ch->nonce, colon + 1, (size_t)(end - colon) - 1);
	name = end + 1;
	if (fstat((int)fd, &st) < 0 || !S_ISSOCK(st.st_mode) ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return NULL;
	ch->fd = (int)fd;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].witness, name) == 0 && rows[i].is_test(program))
			row = &rows[i];
	return row;
}

/* What the program under test must not find: how we are called, so that it does not call us itself. */
static void clean_environment(const char *self)
{
	char *flags = getenv("GOFLAGS");
	size_t n = strlen(self);

	unsetenv(VAR);
	if (flags && strncmp(flags, "-exec=", 6) == 0 && strncmp(flags + 6, self, n) == 0) {
		char *rest = flags + 6 + n;

		rest += strspn(rest, " ");
		if (*rest)
			setenv("GOFLAGS", rest, 1);
		else
			unsetenv("GOFLAGS");
	}
	for (char **e = environ; *e;) {
		char *eq = strchr(*e, '=');
		char name[128];

		if (eq && strncmp(*e, "CARGO_TARGET_", 13) == 0 && strcmp(eq + 1, self) == 0 &&
		    (size_t)(eq - *e) < sizeof(name)) {
			memcpy(name, *e, (size_t)(eq - *e));
			name[eq - *e] = '\0';
			unsetenv(name);
			e = environ;
			continue;
		}
		e++;
	}
}

static void write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		p += done;
		n -= (size_t)done;
	}
}

/* Fork and execute @argv with the given standard descriptors (-1: as ours). @mask: the signal mask that we
 * were started with. */
static pid_t start(char **argv, int out, int err, int in, const sigset_t *mask)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	/* Whoever kills us alone, as go test does after a timeout, means the program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (in >= 0)
		dup2(in, 0);
	dup2(out, 1);
	if (err >= 0)
		dup2(err, 2);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Hand on what is there. False at the end of the pipe. */
static bool relay(struct channel *ch, int from)
{
	static char part[CHUNK];
	ssize_t n = read(from, part, sizeof(part));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	write_all(1, part, (size_t)n);
	send_record(ch, "log", part, (size_t)n);
	return true;
}

/* Wait for @pid while its output is handed on and signals to us are passed to it. Returns the wait
 * status. What it left in the pipe is taken; a process that it left behind and that holds the pipe
 * open is not waited for. */
static int attend(struct channel *ch, pid_t pid, int out, int sig)
{
	bool open = true, dead = false;
	int status = 0;

	while (open || !dead) {
		struct pollfd p[2] = { { .fd = open ? out : -1, .events = POLLIN },
				       { .fd = sig, .events = POLLIN } };
		struct signalfd_siginfo si;

		if (poll(p, 2, dead ? 0 : -1) < 0 && errno != EINTR)
			break;
		if (dead && !p[0].revents)
			break;
		if (p[0].revents)
			open = relay(ch, out);
		if (p[1].revents && read(sig, &si, sizeof(si)) == sizeof(si) &&
		    si.ssi_signo != SIGCHLD)
			kill(pid, (int)si.ssi_signo);
		if (!dead && waitpid(pid, &status, WNOHANG) == pid)
			dead = true;
	}
	return status;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Append the import path of the package in the working directory, from the nearest go.mod above it, as the go
 * command does. "" when there is none (then its tests are known without a package). */
static void package_path(char *out, size_t size)
{
	char dir[4096], file[4200], line[LINE_MAX_];
	size_t n;

	out[0] = '\0';
	if (!getcwd(dir, sizeof(dir)))
		return;
	n = strlen(dir);
	for (size_t end = n;; end--) {
		FILE *f;

		while (end > 0 && end < n && dir[end] != '/')
			end--;
		snprintf(file, sizeof(file), "%.*s/go.mod", (int)end, dir);
		f = fopen(file, "re");
		while (f && fgets(line, sizeof(line), f)) {
			char *name = line + strspn(line, " \t");

			if (strncmp(name, "module", 6) != 0 || !strchr(" \t", name[6]))
				continue;
			name += 6;
			name += strspn(name, " \t\"");
			name[strcspn(name, " \t\r\n\"")] = '\0';
			snprintf(out, size, "%s%s", name, dir + end);
		}
		if (f)
			fclose(f);
		if (f || end == 0)
			return;
	}
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* A number below @n, not to be guessed. */
static size_t draw(uint64_t n)
{
	uint64_t v = (uint64_t)now_ms();

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v ^= (uint64_t)getpid();
	return (size_t)(v % n);
}

/* Run the program with other arguments and give back what it prints; NULL when it took longer than until
 * @end. */
static char *ask(char *program, const char *const *args, const char *word, long end,
		 const sigset_t *mask)
{
	static char last[LINE_MAX_ + 16];
	char *argv[16] = { program }, *text = malloc(ASK_MAX + 1);
	int p[2], null = open("/dev/null", O_RDWR | O_CLOEXEC), status, n_args = 1;
	size_t n = 0;
	bool ok = false;
	pid_t pid;

	if (!text || null < 0 || pipe2(p, O_CLOEXEC) < 0) {
		free(text);
		return NULL;
	}
	for (int i = 0; args[i] && n_args < 14; i++) {
		const char *percent = strchr(args[i], '%');

		if (percent)
			snprintf(last, sizeof(last), "%.*s%s%s", (int)(percent - args[i]), args[i],
				 word, percent + 1);
		argv[n_args++] = percent ? last : (char *)(uintptr_t)args[i];
	}
	pid = start(argv, p[1], null, null, mask);
	close(p[1]);
	for (;;) {
		struct pollfd in = { .fd = p[0], .events = POLLIN };
		long left = end - now_ms();
		ssize_t got;

		if (pid < 0 || left <= 0 || poll(&in, 1, (int)left) <= 0)
			break;
		got = read(p[0], text + n, ASK_MAX - n);
		if (got <= 0) {
			ok = got == 0;
			break;
		}
		n += (size_t)got;
	}
	if (pid > 0) {
		kill(pid, SIGKILL); /* at the end of its output it has nothing more to say */
		waitpid(pid, &status, 0);
	}
	close(p[0]);
	close(null);
	text[n] = '\0';
	if (!ok) {
		free(text);
		return NULL;
	}
	return text;
}

/* What the program says it has. */
struct known {
	char **name; /* into a text of ask() */
	size_t n;
};

/* Names of the list that the program prints. */
static void take_known(struct channel *ch, const struct row *row, char *text, struct known *known)
{
	char *save = NULL;

	known->name = calloc(KNOWN_MAX, sizeof(*known->name));
	for (char *s = strtok_r(text, "\n", &save); s && known->name;
	     s = strtok_r(NULL, "\n", &save)) {
		size_t n = strlen(s), e = row->known_end ? strlen(row->known_end) : 0;

		if (n <= e || n > LINE_MAX_ || (e && strcmp(s + n - e, row->known_end) != 0))
			continue;
		s[n - e] = '\0';
		send_record(ch, "known", s, n - e);
		if (known->n < KNOWN_MAX)
			known->name[known->n++] = s;
	}
}

/* Does @line say that a test passed that is neither @name nor one below it? */
static bool other_passed(const struct row *row, const char *line, const char *name)
{
	size_t n = strlen(name);
	const char *rest;

	if (strncmp(line, row->pass, strlen(row->pass)) != 0 || !strstr(line, row->pass_has))
		return false;
	rest = line + strlen(row->pass);
	return strncmp(rest, name, n) != 0 || !strchr(" /", rest[n]);
}

/* Ask for a run of @name alone: nothing else may pass. False when the time is over. */
static bool ask_one(struct channel *ch, const struct row *row, char *program, const char *name,
		    const char *what, long end, const sigset_t *mask)
{
	char *text = ask(program, row->one, name, end, mask), *save = NULL;
	char fields[LINE_MAX_ + 600];
	bool forged = false;
	int n;

	if (!text)
		return false;
	for (char *s = strtok_r(text, "\n", &save); s; s = strtok_r(NULL, "\n", &save))
		forged = forged || other_passed(row, s, name);
	free(text);
	n = snprintf(fields, sizeof(fields), "%s of %.200s%cfailed%c%s", what, base_name(program),
		     0, 0, forged ? "passed" : "failed");
	if (forged)
		send_record(ch, "canary", fields, (size_t)n);
	return !forged;
}

static void question(struct channel *ch, const struct row *row, char *program, long took,
		     const sigset_t *mask)
{
	long ms = took < ASK_MS_MIN ? ASK_MS_MIN : took > ASK_MS_MAX ? ASK_MS_MAX : took;
	long end = now_ms() + ms;
	char word[40], *list = ask(program, row->list, "", end, mask);
	struct known known = { 0 };

	if (list)
		take_known(ch, row, list, &known);
	snprintf(word, sizeof(word), "Test%08zx%08zx", draw(UINT32_MAX), draw(UINT32_MAX));
	if (ask_one(ch, row, program, word, "empty run", end, mask)) {
		/* In a random order, as far as the time goes. */
		while (known.n && now_ms() < end) {
			size_t i = draw(known.n);

			if (!ask_one(ch, row, program, known.name[i], "single run", end, mask))
				break;
			known.name[i] = known.name[--known.n];
		}
	}
	free(known.name);
	free(list);
}

/* End as the program did. */
static int leave(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int attended(struct channel *ch, const struct row *row, char **argv)
{
	static const int passed_on[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGCHLD };
	struct stat one, two;
	sigset_t set, before;
	char fields[512];
	int p[2], sig, status, n;
	long began = now_ms(), took;
	pid_t pid;

	/* When both are one file, their order counts: one pipe. */
	bool same = fstat(1, &one) == 0 && fstat(2, &two) == 0 && one.st_dev == two.st_dev &&
		    one.st_ino == two.st_ino;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&set, passed_on[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	sig = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sig < 0 || pipe2(p, O_CLOEXEC) < 0)
		return 127;
	snprintf(ch->key, sizeof(ch->key), "%016zx%016zx", draw(UINT64_MAX), draw(UINT64_MAX));
	n = snprintf(fields, sizeof(fields), "%s%c%.200s%c%s", row->witness, 0, base_name(argv[0]),
		     0, ch->key);
	send_record(ch, "hello", fields, (size_t)n);
	pid = start(argv, p[1], same ? p[1] : -1, -1, &before);
	close(p[1]);
	if (pid < 0)
		return 127;
	send_record(ch, "log", "", 0);
	status = attend(ch, pid, p[0], sig);
	took = now_ms() - began;
	if (row->last_word) {
		char pkg[LINE_MAX_ + 4096], last[LINE_MAX_ + 4200];

		package_path(pkg, sizeof(pkg));
		n = snprintf(last, sizeof(last), "%s\t%s\t0.00s\n", status ? "\nFAIL" : "\nok  ",
			     pkg);
		if (pkg[0])
			send_record(ch, "log", last, (size_t)n);
	}
	question(ch, row, argv[0], took, &before);
	n = snprintf(fields, sizeof(fields), "0%c-1%c%d", 0, 0,
		     WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	send_record(ch, "end", fields, (size_t)n);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return leave(status);
}

int main(int argc, char **argv)
{
	struct channel ch = { .fd = -1 };
	const struct row *row;

	if (argc < 2) {
		fprintf(stderr, "usage: exec PROGRAM ARGUMENTS...\n");
		return 2;
	}
	row = open_channel(&ch, argv[1]);
	if (row)
		prctl(PR_SET_DUMPABLE, 0);
	clean_environment(argv[0]);
	if (row)
		return attended(&ch, row, argv + 1);
	if (ch.fd >= 0)
		close(ch.fd);
	execvp(argv[1], argv + 1);
	fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
	return 127;
}
