/* The copy of a workspace that a user sees: brought up to date, and never a way out of it. */
#include "supervisor/userview.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "tests/lib/tap.h"

static char *top;

static void put(const char *name, const char *text)
{
	auto_free char *path = path_join(top, name);
	auto_free char *dir = path_dir(path);
	struct err err;
	int fd;

	(void)fd_mkdirs(dir, 0755, &err);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	(void)fd_write_all(fd, text, strlen(text));
	close(fd);
}

static void linked(const char *name, const char *target)
{
	auto_free char *path = path_join(top, name);

	(void)unlink(path);
	if (symlink(target, path) < 0)
		tap_diag("cannot make %s", path);
}

static void gone(const char *name)
{
	auto_free char *path = path_join(top, name);

	if (unlink(path) < 0)
		(void)fd_remove_tree(AT_FDCWD, path);
}

/* Contents of a file of the view; "-> TARGET" of a link; NULL when it is not there. */
static char *view(const char *name)
{
	auto_free char *path = mem_printf("%s/view/%s", top, name);
	auto_buf b = BUF_INIT(1 << 20);
	char target[256];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	struct err err;

	if (n >= 0) {
		target[n] = '\0';
		return mem_printf("-> %s", target);
	}
	return fd_read_file(path, &b, &err) < 0 ? NULL : buf_steal(&b, NULL);
}

static void is(const char *name, const char *want, const char *what)
{
	auto_free char *got = view(name);

	tap_is_str(got, want, what);
}

static void changed_is(struct userview *v, const char *want, const char *what)
{
	auto_strv changed = { 0 };
	auto_buf b = BUF_INIT(4096);
	struct err err;

	tap_ok(userview_update(v, &changed, &err) == 0, "%s: looked", what);
	strv_each (i, &changed)
		buf_addf(&b, "%s%s", i ? " " : "", changed.v[i]);
	tap_is_str(buf_str(&b), want, what);
}

static void updates(struct userview *v)
{
	is("a.txt", "old\n", "the pristine tree is there");
	is("sub/b.txt", "b\n", "with its directories");
	is("link", "-> a.txt", "and links");
	is(".git/HEAD", NULL, "but not its repository");
	changed_is(v, "", "nothing has changed yet");

	put("upper/a.txt", "new\n");
	put("upper/sub/deep/c.txt", "c\n");
	changed_is(v, "a.txt sub/deep/c.txt", "what changed is named");
	is("a.txt", "new\n", "a changed file");
	is("sub/deep/c.txt", "c\n", "a new one in a new directory");
	is("sub/b.txt", "b\n", "others stay");

	gone("upper/a.txt");
	gone("upper/sub/deep");
	changed_is(v, "a.txt sub/deep/c.txt", "taken back");
	is("a.txt", "old\n", "as it was");
	is("sub/deep/c.txt", NULL, "and not there");
}

/* The agent's links point out of the workspace; what then stands behind them is not reached. */
static void hostile(struct userview *v)
{
	auto_free char *outside = path_join(top, "outside");
	auto_free char *kept = path_join(outside, "keep.txt");
	auto_free char *link = NULL;
	auto_buf b = BUF_INIT(64);
	struct err err;

	put("outside/keep.txt", "keep\n");
	linked("upper/out", outside);
	changed_is(v, "out", "a link out");
	gone("upper/out");
	put("upper/out/keep.txt", "mine\n");
	changed_is(v, "out out/keep.txt", "a directory in its place");
	is("out/keep.txt", "mine\n", "is a directory of the view");
	gone("upper/out");
	linked("upper/out", outside);
	changed_is(v, "out out/keep.txt", "a link again");
	link = mem_printf("-> %s", outside);
	is("out", link, "is a link");
	tap_ok(fd_read_file(kept, &b, &err) == 0 && strcmp(buf_str(&b), "keep\n") == 0,
	       "and nothing outside was touched");
}

int main(void)
{
	char name[] = "/tmp/userview-XXXXXX";
	struct workspace ws = { 0 };
	struct userview *v = NULL;
	struct err err;

	top = mkdtemp(name);
	put("lower/a.txt", "old\n");
	put("lower/sub/b.txt", "b\n");
	put("lower/.git/HEAD", "ref\n");
	linked("lower/link", "a.txt");
	put("upper/x", "");
	gone("upper/x");
	ws.scratch = top;
	ws.lower = path_join(top, "lower");
	ws.upper = path_join(top, "upper");
	tap_ok(userview_new(&ws, &v, &err) == 0, "a view");
	updates(v);
	hostile(v);
	userview_free(v);
	(void)fd_remove_tree(AT_FDCWD, top);
	free(ws.lower);
	free(ws.upper);
	return tap_done();
}
