#include "supervisor/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/attempt.h"
#include "study/estimate.h"
#include "study/journal.h"
#include "study/topframe.h"

#define EVERY_MS  1000
#define FRAME_MAX (16u << 20)
#define LOG_LINES 12u /* of cell.log in a cell's details */
#define LOG_BYTES 16384u

struct opts {
	bool once;
	const char *cell;
};

static const struct opt_row rows[] = {
	{ 0, "once", OPT_FLAG, offsetof(struct opts, once), NULL,
	  "print one frame as plain text and end; so does standard output that is no terminal" },
	{ 0, "cell", OPT_STR, offsetof(struct opts, cell), "KEY",
	  "with --once: the details of this cell" },
	{ 0 },
};

/* How a running cell is getting on, kept between frames by its id. */
struct seen {
	struct live live;
	uint64_t attempt;
};

struct top {
	const char *dir;
	struct journal *journal;
	struct journal_cells cells;
	struct map seen; /* cell id -> struct seen, owned */
	const struct live **live;
	uint32_t *order;
	struct topframe frame;
	struct strv detail;
	char *opened; /* key of the cell whose details are shown, NULL = the list */
	char *name, *last;
	bool quit;
};

static void keep_last(void *arg, uint64_t at, const char *what, const char *text)
{
	struct top *t = arg;
	char when[32];

	free(t->last);
	t->last = mem_printf("%.19s %s: %s", clock_text(at, when), what, text);
}

static void add_history(void *arg, uint64_t at, const char *what, const char *text)
{
	struct strv *lines = arg;
	char when[32];

	strv_take(lines, mem_printf("%.19s  %-8s %s", clock_text(at, when), what, text));
}

/* Live figures of every cell that runs. */
static void look(struct top *t)
{
	free(t->live);
	t->live = mem_zalloc(t->cells.n + 1, sizeof(*t->live));
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct journal_cell *c = &t->cells.v[i];
		auto_free char *dir = NULL;
		struct seen *s;

		if (c->state != CELL_RUNNING)
			continue;
		s = map_get(&t->seen, (uint64_t)c->id);
		if (!s) {
			s = mem_zalloc(1, sizeof(*s));
			map_put(&t->seen, (uint64_t)c->id, s);
		}
		if (s->attempt != c->attempt_n)
			*s = (struct seen){ .attempt = c->attempt_n };
		dir = attempt_dir(t->dir, c->key, c->attempt_n);
		live_look(&s->live, dir);
		t->live[i] = &s->live;
	}
}

static void sum_up(struct top *t, const struct journal_sums *sums)
{
	struct progress_total *total = &t->frame.total;
	struct estimate e = { .all = { 0 } };
	struct estimate_left left;
	unsigned running = 0;

	memset(total->count, 0, sizeof(total->count));
	total->micro_dollars = sums->micro_dollars;
	total->tokens = sums->tokens;
	total->work_ns = sums->work_ns;
	total->started = sums->started;
	total->unknown_cost = sums->unknown_cost;
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct journal_cell *c = &t->cells.v[i];

		total->count[c->state]++;
		running += c->state == CELL_RUNNING;
		if (t->live[i]) {
			total->micro_dollars += t->live[i]->micro_dollars;
			total->tokens += t->live[i]->tokens;
		}
		if (c->state == CELL_DONE)
			estimate_add(&e, c, &c->figures);
	}
	/* Who started it knows how many at once; what is seen is how many run. */
	estimate_left(&e, &t->cells, running ? running : 1, &left);
	total->left_ns = running ? left.wall_ns : 0;
	estimate_done(&e);
}

static int refresh(struct top *t, struct err *err)
{
	struct journal_sums sums;
	int rc;

	journal_cells_done(&t->cells);
	rc = journal_cells(t->journal, &t->cells, err);
	if (rc == 0)
		rc = journal_sums(t->journal, &sums, err);
	if (rc == 0)
		rc = journal_history(t->journal, NULL, keep_last, t, err);
	if (rc < 0)
		return rc;
	look(t);
	sum_up(t, &sums);
	free(t->order);
	t->order = topframe_order(&t->cells);
	t->frame.cells = &t->cells;
	t->frame.live = t->live;
	t->frame.name = t->name;
	t->frame.last = t->last;
	t->frame.now = clock_wall();
	return 0;
}

/* The last lines of the attempt's log. */
static void add_log(const char *dir, struct strv *lines)
{
	auto_free char *path = path_join(dir, "cell.log");
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	auto_free char *text = mem_zalloc(1, LOG_BYTES + 1);
	ssize_t n = fd < 0 ? 0
			   : pread(fd, text, LOG_BYTES,
				   size > (off_t)LOG_BYTES ? size - (off_t)LOG_BYTES : 0);
	const char *at = text + (n > 0 ? n : 0);
	unsigned seen = 0;

	while (at > text && seen <= LOG_LINES)
		seen += *--at == '\n';
	while (at < text + (n > 0 ? n : 0)) {
		size_t len = strcspn(at, "\n");

		if (len)
			strv_take(lines, mem_strndup(at, len));
		at += len + 1;
	}
}

static const struct journal_cell *find(const struct top *t, const char *key)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		if (strcmp(t->cells.v[i].key, key) == 0)
			return &t->cells.v[i];
	}
	return NULL;
}

/* Lines about one cell. */
static int describe(struct top *t, const struct journal_cell *c, struct err *err)
{
	auto_buf line = BUF_INIT(1u << 20);
	auto_free char *dir = c->state == CELL_DONE
				      ? cells_run_dir(t->dir, c->key)
				      : attempt_dir(t->dir, c->key, c->attempts ? c->attempts : 1);
	int rc;

	strv_done(&t->detail);
	strv_add(&t->detail, c->key);
	progress_cell(c, t->live[c - t->cells.v], t->frame.now, 0, &line);
	strv_add(&t->detail, buf_str(&line));
	buf_clear(&line);
	progress_end(c, &line);
	strv_add(&t->detail, buf_str(&line));
	strv_take(&t->detail, mem_printf("directory: %s", dir));
	strv_take(&t->detail, mem_printf("plan:      %s", c->plan_digest ? c->plan_digest : "-"));
	strv_add(&t->detail, "");
	rc = journal_history(t->journal, c->key, add_history, &t->detail, err);
	strv_add(&t->detail, "");
	add_log(dir, &t->detail);
	return rc;
}

static int draw(struct top *t, struct err *err)
{
	auto_buf out = BUF_INIT(FRAME_MAX);
	const struct journal_cell *c = t->opened ? find(t, t->opened) : NULL;
	int rc = c ? describe(t, c, err) : 0;

	t->frame.detail = c ? &t->detail : NULL;
	if (t->frame.ansi)
		buf_adds(&out, "\033[H");
	topframe_draw(&t->frame, t->order, &out);
	if (rc == 0)
		rc = cmd_print(&out) == 0 ? 0 : err_set(err, ERR_SYS, "cannot write");
	return rc;
}

static void measure(struct top *t)
{
	struct winsize ws = { 0 };

	t->frame.width = 80;
	t->frame.height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col && ws.ws_row) {
		t->frame.width = ws.ws_col;
		t->frame.height = ws.ws_row;
	}
}

static void move(struct top *t, int64_t by)
{
	int64_t to = (int64_t)t->frame.selected + by, last = (int64_t)t->cells.n - 1;

	t->frame.selected = (size_t)(to < 0 || last < 0 ? 0 : to > last ? last : to);
}

static void key_enter(struct top *t, int64_t unused)
{
	(void)unused;
	if (t->opened)
		free(take_ptr(&t->opened));
	else if (t->frame.selected < t->cells.n)
		t->opened = mem_strdup(t->cells.v[t->order[t->frame.selected]].key);
}

static void key_quit(struct top *t, int64_t unused)
{
	(void)unused;
	if (t->opened)
		free(take_ptr(&t->opened));
	else
		t->quit = true;
}

/* What terminals send, longest first where one begins another (xterm's and the Linux console's forms). */
/* clang-format off */
static const struct {
	const char *bytes;
	void (*act)(struct top *t, int64_t by);
	int64_t by;
} keys[] = {
	{ "\033[A", move, -1 },		{ "\033[B", move, 1 },
	{ "\033OA", move, -1 },		{ "\033OB", move, 1 },
	{ "\033[5~", move, -20 },	{ "\033[6~", move, 20 },
	{ "\033[H", move, -1000000 },	{ "\033[F", move, 1000000 },
	{ "\033[C", key_enter, 0 },	{ "\033[D", key_quit, 0 },
	{ "\r", key_enter, 0 },		{ "\n", key_enter, 0 },
	{ "k", move, -1 },		{ "j", move, 1 },
	{ "q", key_quit, 0 },		{ "\033", key_quit, 0 },
};
/* clang-format on */

static void obey(struct top *t, const char *text, size_t n)
{
	while (n) {
		size_t taken = 1;

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			size_t len = strlen(keys[i].bytes);

			if (len > n || memcmp(text, keys[i].bytes, len) != 0)
				continue;
			keys[i].act(t, keys[i].by);
			taken = len;
			break;
		}
		text += taken;
		n -= taken;
	}
}

/* Wait for a key, a signal, or the time of the next frame. */
static int await(struct top *t, int sigfd, uint64_t until, struct err *err)
{
	struct pollfd pfd[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
				 { .fd = sigfd, .events = POLLIN } };
	uint64_t now = clock_mono();
	struct signalfd_siginfo si;
	char text[256];
	ssize_t n;

	if (poll(pfd, 2, now < until ? (int)((until - now) / CLOCK_MS) + 1 : 0) < 0 &&
	    errno != EINTR)
		return err_sys(err, "cannot wait for a key");
	if (pfd[0].revents) {
		n = read(STDIN_FILENO, text, sizeof(text));
		if (n <= 0)
			t->quit = true;
		else
			obey(t, text, (size_t)n);
	}
	while (read(sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		t->quit |= si.ssi_signo != SIGWINCH;
	return 0;
}

static int live_view(struct top *t, struct err *err)
{
	struct termios before, raw;
	auto_fd int sigfd = -1;
	uint64_t next = 0;
	sigset_t take;
	int rc = 0;

	sigemptyset(&take);
	sigaddset(&take, SIGWINCH);
	sigaddset(&take, SIGINT);
	sigaddset(&take, SIGTERM);
	sigprocmask(SIG_BLOCK, &take, NULL);
	sigfd = signalfd(-1, &take, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sigfd < 0 || tcgetattr(STDIN_FILENO, &before) < 0)
		return err_sys(err, "cannot use the terminal");
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	(void)fd_write_all(STDOUT_FILENO, "\033[?1049h\033[?25l", 14);
	t->frame.ansi = true;
	while (rc == 0 && !t->quit) {
		if (clock_mono() >= next) {
			next = clock_mono() + EVERY_MS * CLOCK_MS;
			rc = refresh(t, err);
		}
		measure(t);
		if (rc == 0)
			rc = draw(t, err);
		if (rc == 0)
			rc = await(t, sigfd, next, err);
	}
	(void)fd_write_all(STDOUT_FILENO, "\033[?25h\033[?1049l", 14);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return rc;
}

static int once(struct top *t, const char *key, struct err *err)
{
	int rc = refresh(t, err);
	const char *near = NULL;

	if (rc == 0 && key && !find(t, key)) {
		auto_free const char **names = mem_zalloc(t->cells.n + 1, sizeof(*names));

		for (size_t i = 0; i < t->cells.n; i++)
			names[i] = t->cells.v[i].key;
		near = str_nearest(key, names);
		rc = err_set(err, ERR_INPUT, "%s: no cell %s%s%s%s", t->dir, key,
			     near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
	}
	if (rc == 0)
		t->opened = mem_strdup(key);
	return rc < 0 ? rc : draw(t, err);
}

static void top_done(struct top *t)
{
	map_each (s, &t->seen)
		free(s->val);
	map_done(&t->seen);
	journal_cells_done(&t->cells);
	journal_close(t->journal);
	strv_done(&t->detail);
	free(t->live);
	free(t->order);
	free(t->opened);
	free(t->name);
	free(t->last);
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	struct top t = { .dir = rest->n ? rest->v[0] : NULL };
	int rc;

	if (rest->n != 1)
		return err_set(err, ERR_USAGE, "top: give the directory of one study");
	rc = journal_open(t.dir, false, &t.journal, err);
	if (rc == 0)
		rc = progress_settings(journal_settings(t.journal), &t.frame.total.limits, &t.name,
				       err);
	if (rc == 0 && (o->once || o->cell || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)))
		rc = once(&t, o->cell, err);
	else if (rc == 0)
		rc = live_view(&t, err);
	top_done(&t);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_top = {
	.name = "top",
	.summary = "watch a study while it runs",
	.synopsis = "DIR [--once]",
	.text = "Shows the directory of a study: the whole, and its cells with those that run in front, once a second.\n"
		"Arrows and page keys choose a cell, enter shows its attempts, its directory and the end of\n"
		"its log, q leaves. It only reads; any number of them may look on.\n"
		"\n"
		"Exit status: 0, 2 usage, 3 no study.\n",
	.rows = rows,
	.run = run,
};
