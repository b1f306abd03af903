#include "profiles/data/actor/actor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define PART        (32u << 10)
#define HEAD_KEPT   (24u << 10) /* of a long output; the rest of ACTOR_OUTPUT_MAX is its end */
#define NOTE_ROOM   128u
#define LINES_MAX   100000000u
#define COMMAND_SEC 600

/* clang-format off */
const char actor_tools[] =
	"[{\"type\":\"function\",\"function\":{\"name\":\"shell\","
	"\"description\":\"Run a command with sh -c in the working directory. Output and errors come back together; long output is cut in its middle.\","
	"\"parameters\":{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"}},\"required\":[\"command\"]}}},"
	"{\"type\":\"function\",\"function\":{\"name\":\"read\","
	"\"description\":\"Read a text file, or its lines first to last, counted from 1.\","
	"\"parameters\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"first\":{\"type\":\"integer\"},\"last\":{\"type\":\"integer\"}},\"required\":[\"path\"]}}},"
	"{\"type\":\"function\",\"function\":{\"name\":\"edit\","
	"\"description\":\"Replace the text old, which must stand in the file exactly once, by new.\","
	"\"parameters\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"old\":{\"type\":\"string\"},\"new\":{\"type\":\"string\"}},\"required\":[\"path\",\"old\",\"new\"]}}},"
	"{\"type\":\"function\",\"function\":{\"name\":\"write\","
	"\"description\":\"Write a whole file; missing directories are made.\","
	"\"parameters\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"content\":{\"type\":\"string\"}},\"required\":[\"path\",\"content\"]}}}]";
/* clang-format on */

/* --- what the model is told --- */

/* Both ends of what was seen. */
struct output {
	struct buf head;
	char tail[ACTOR_OUTPUT_MAX - HEAD_KEPT - NOTE_ROOM];
	size_t at, n; /* of the ring: next place, bytes in it */
	uint64_t lost;
};

static void put(struct output *o, const char *p, size_t n)
{
	size_t room = HEAD_KEPT - o->head.len, first = n < room ? n : room;

	(void)buf_add(&o->head, p, first);
	p += first;
	n -= first;
	for (size_t i = 0; i < n; i++) {
		o->lost += o->n == sizeof(o->tail);
		o->n += o->n < sizeof(o->tail);
		o->tail[o->at] = p[i];
		o->at = (o->at + 1) % sizeof(o->tail);
	}
}

/* @n bytes as UTF-8 without NUL bytes: an odd byte becomes a question mark. */
static void add_text(const char *s, size_t n, struct buf *out)
{
	size_t bad;

	while (n) {
		bool good = str_utf8(s, n, &bad);
		size_t len = good ? n : bad;

		for (size_t i = 0; i < len; i++)
			(void)buf_addc(out, s[i] ? s[i] : '?');
		if (!good)
			(void)buf_addc(out, '?');
		len += !good;
		s += len;
		n -= len;
	}
}

static void tell(struct output *o, struct buf *out)
{
	auto_buf all = BUF_INIT(2 * ACTOR_OUTPUT_MAX);
	size_t from = (o->at + sizeof(o->tail) - o->n) % sizeof(o->tail);

	(void)buf_add(&all, buf_str(&o->head), o->head.len);
	if (o->lost)
		(void)buf_addf(&all, "\n[%llu bytes left out]\n", (unsigned long long)o->lost);
	for (size_t i = 0; i < o->n; i++)
		(void)buf_addc(&all, o->tail[(from + i) % sizeof(o->tail)]);
	add_text(buf_str(&all), all.len, out);
	buf_done(&o->head);
}

static void refuse(struct buf *out, const char *what, const char *path, const char *why)
{
	(void)buf_addf(out, "error: %s %.2000s: %s\n", what, path, why);
}

/* --- arguments --- */

/* Argument @name, a string without NUL bytes; NULL when there is none. Caller frees. */
static char *text_of(struct jslice args, const char *name)
{
	return jslice_cstr(jslice_get(args, name));
}

/* A line number; 0 when there is none. Models also write "12" or 12.0. */
static uint64_t number_of(struct jslice args, const char *name)
{
	struct jslice v = jslice_get(args, name);
	auto_free char *text = jslice_kind(v) == '"'   ? jslice_cstr(v)
			       : jslice_kind(v) == '0' ? mem_strndup(v.s, v.n)
						       : NULL;
	uint64_t ret = 0;

	if (text)
		text[strcspn(text, ".")] = '\0';
	if (!text || str_u64(text, &ret) < 0)
		return 0;
	return ret < LINES_MAX ? ret : LINES_MAX;
}

/* --- shell --- */

static void child(const char *command, int out, const sigset_t *mask)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	if (null >= 0)
		dup2(null, 0);
	dup2(out, 1);
	dup2(out, 2);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Take what is in the pipe. False at its end. */
static bool drain(int fd, struct output *o)
{
	char part[PART];

	for (;;) {
		ssize_t n = read(fd, part, sizeof(part));

		if (n > 0)
			put(o, part, (size_t)n);
		else if (n == 0)
			return false;
		else if (errno != EINTR)
			return errno == EAGAIN;
	}
}

/* Wait for @pid and what it says. What it leaves running may hold the pipe: that is not waited for.
 * The wait status; *ret_late: it took too long and was killed with its process group. */
static int attend(pid_t pid, int fd, int sig, struct output *o, bool *ret_late)
{
	uint64_t end = now_ms() + COMMAND_SEC * 1000u;
	bool open = true;
	int status = 0;

	for (;;) {
		struct pollfd p[2] = { { .fd = open ? fd : -1, .events = POLLIN },
				       { .fd = sig, .events = POLLIN } };
		struct signalfd_siginfo info;
		uint64_t now = now_ms();
		int ready = poll(p, 2, now < end ? (int)(end - now) : 0);

		if (ready == 0 && !*ret_late) {
			*ret_late = true;
			kill(-pid, SIGKILL);
			end = now + COMMAND_SEC * 1000u;
			continue;
		}
		if (p[1].revents)
			(void)!read(sig, &info, sizeof(info));
		if (waitpid(pid, &status, WNOHANG) == pid) {
			(void)drain(fd, o);
			return status;
		}
		if (open && p[0].revents)
			open = drain(fd, o);
	}
}

static void how_it_ended(int status, bool late, bool said, struct buf *out)
{
	if (late)
		(void)buf_addf(out, "[killed after %d seconds]\n", COMMAND_SEC);
	else if (WIFSIGNALED(status))
		(void)buf_addf(out, "[killed by signal %d]\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		(void)buf_addf(out, "[exit status %d]\n", WEXITSTATUS(status));
	else if (!said)
		(void)buf_adds(out, "[no output]\n");
}

static void run_shell(struct jslice args, struct buf *out)
{
	struct output o = { .head = BUF_INIT(HEAD_KEPT) };
	auto_free char *command = text_of(args, "command");
	int p[2] = { -1, -1 }, status;
	sigset_t set, before;
	bool late = false;
	pid_t pid;

	if (!command) {
		(void)buf_adds(out, "error: shell needs \"command\", a string\n");
		return;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	auto_fd int sig = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	if (sig < 0 || pipe2(p, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		refuse(out, "cannot run", "sh", strerror(errno));
		mem_close(&p[0]);
		mem_close(&p[1]);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return;
	}
	if (pid == 0)
		child(command, p[1], &before);
	mem_close(&p[1]);
	(void)fcntl(p[0], F_SETFL, O_NONBLOCK);
	status = attend(pid, p[0], sig, &o, &late);
	mem_close(&p[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	tell(&o, out);
	if (out->len && out->data[out->len - 1] != '\n')
		(void)buf_addc(out, '\n');
	how_it_ended(status, late, out->len > 0, out);
}

/* --- files --- */

/* Whole lines @first to @last of what comes in parts. */
struct lines {
	uint64_t at, first, last;
	struct output *o;
};

/* False when all lines were seen. */
static bool add_lines(struct lines *l, const char *p, size_t n)
{
	while (n && l->at <= l->last) {
		const char *eol = memchr(p, '\n', n);
		size_t len = eol ? (size_t)(eol - p) + 1 : n;

		if (l->at >= l->first)
			put(l->o, p, len);
		l->at += eol != NULL;
		p += len;
		n -= len;
	}
	return l->at <= l->last;
}

/* A regular file to be read; -1 after telling why not. */
static int open_file(const char *path, struct buf *out)
{
	/* a FIFO of the agent's own must not stop it */
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		refuse(out, "cannot read", path, strerror(errno));
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		refuse(out, "cannot read", path, "it is no file");
		return -1;
	}
	return take_fd(&fd);
}

static void run_read(struct jslice args, struct buf *out)
{
	struct output o = { .head = BUF_INIT(HEAD_KEPT) };
	struct lines l = {
		.at = 1, .first = number_of(args, "first"), .last = number_of(args, "last"), .o = &o
	};
	auto_free char *path = text_of(args, "path");
	auto_fd int fd = path ? open_file(path, out) : -1;
	bool more = true;
	char part[PART];
	ssize_t n;

	if (!path)
		(void)buf_adds(out, "error: read needs \"path\", a string\n");
	if (fd < 0)
		return;
	l.last = l.last ? l.last : LINES_MAX;
	while (more && (n = read(fd, part, sizeof(part))) > 0)
		more = add_lines(&l, part, (size_t)n);
	tell(&o, out);
	if (!out->len)
		(void)buf_adds(out, "[no such lines]\n");
}

/* Make the directories above @path. */
static void make_parents(const char *path)
{
	auto_free char *copy = mem_strdup(path);

	for (char *p = copy + 1; *copy && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		(void)mkdir(copy, 0777); /* what is there is fine; what fails shows at the open */
		*p = '/';
	}
}

static int store(const char *path, const char *p, size_t n)
{
	auto_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);

	while (fd >= 0 && n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return fd < 0 ? -1 : 0;
}

static void run_write(struct jslice args, struct buf *out)
{
	auto_free char *path = text_of(args, "path");
	size_t n = 0;
	auto_free char *content = jslice_text(jslice_get(args, "content"), &n);

	if (!path || !content) {
		(void)buf_adds(out, "error: write needs \"path\" and \"content\", strings\n");
		return;
	}
	make_parents(path);
	if (store(path, content, n) < 0)
		refuse(out, "cannot write", path, strerror(errno));
	else
		(void)buf_addf(out, "wrote %zu bytes\n", n);
}

static int slurp(int fd, struct buf *b)
{
	for (;;) {
		char *room = buf_reserve(b, PART);
		ssize_t n = room ? read(fd, room, PART) : -1;

		if (!room)
			errno = EFBIG;
		if (n < 0 && room && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -1 : 0;
		b->len += (size_t)n;
		b->data[b->len] = '\0';
	}
}

/* Put @to for the one place of @from in @b. NULL, or why not. */
static const char *swap(struct buf *b, const char *from, size_t n_from, const char *to, size_t n_to,
			struct buf *out)
{
	const char *at = n_from ? memmem(buf_str(b), b->len, from, n_from) : NULL;
	size_t before = at ? (size_t)(at - b->data) : 0;

	if (!at)
		return "the text old does not stand in it";
	if (memmem(at + 1, b->len - before - 1, from, n_from))
		return "the text old stands in it more than once";
	(void)buf_add(out, b->data, before);
	(void)buf_add(out, to, n_to);
	(void)buf_add(out, at + n_from, b->len - before - n_from);
	return out->full ? "the file would be too large" : NULL;
}

static void run_edit(struct jslice args, struct buf *out)
{
	auto_buf b = BUF_INIT(ACTOR_FILE_MAX), changed = BUF_INIT(2 * ACTOR_FILE_MAX);
	auto_free char *path = text_of(args, "path");
	size_t n_old = 0, n_new = 0;
	auto_free char *old = jslice_text(jslice_get(args, "old"), &n_old);
	auto_free char *new = jslice_text(jslice_get(args, "new"), &n_new);
	auto_fd int fd = path && old && new ? open_file(path, out) : -1;
	const char *why;

	if (!path || !old || !new)
		(void)buf_adds(out, "error: edit needs \"path\", \"old\" and \"new\", strings\n");
	if (fd < 0)
		return;
	if (slurp(fd, &b) < 0) {
		refuse(out, "cannot read", path, strerror(errno));
		return;
	}
	why = swap(&b, old, n_old, new, n_new, &changed);
	if (!why && store(path, buf_str(&changed), changed.len) < 0)
		why = strerror(errno);
	if (why)
		refuse(out, "cannot edit", path, why);
	else
		(void)buf_adds(out, "edited\n");
}

void actor_tool(const char *name, const char *args, struct buf *out)
{
	static const struct {
		const char *name;
		void (*run)(struct jslice args, struct buf *out);
	} rows[] = { { "shell", run_shell },
		     { "read", run_read },
		     { "edit", run_edit },
		     { "write", run_write } };
	struct jslice v;

	if (jslice_parse("arguments", args, strlen(args), &v, NULL) < 0 || jslice_kind(v) != '{') {
		(void)buf_adds(out, "error: the arguments are no JSON object\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!str_eq(name, rows[i].name))
			continue;
		rows[i].run(v, out);
		return;
	}
	(void)buf_adds(out, "error: there is no such tool; take shell, read, edit or write\n");
}
