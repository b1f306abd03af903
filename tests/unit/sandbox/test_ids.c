/* Whose files a box may write: choosing the outside id, giving trees, copying them, idmapped
 * mounts. */
#include "sandbox/ids.h"

#include <sys/mount.h>
#include <sys/syscall.h>

#include "tests/unit/sandbox/box_help.h"

static char *tree(void)
{
	char *dir = mem_strdup("/var/tmp/proctor-test.XXXXXX");
	auto_free char *cmd = NULL;

	if (!mkdtemp(dir))
		tap_diag("mkdtemp");
	cmd = mem_printf("cd %s && mkdir -p from/d/e && echo a > from/a && echo b > from/d/e/b && "
			 "chmod 755 from/a && chmod 700 from/d && ln -s /etc/passwd from/link && "
			 "mkfifo from/d/fifo && touch -d @1000 from/a",
			 dir);
	if (system(cmd) != 0)
		tap_diag("tree");
	return dir;
}

static void choosing(const char *dir)
{
	struct ids a, b, c;

	ids_choose(NULL, &a);
	ids_choose(NULL, &b);
	if (geteuid() != 0) {
		tap_ok(!a.mapped && a.uid == geteuid() && a.gid == getegid(), "a user is himself");
		return;
	}
	if (!tap_ok(a.mapped && a.uid != 0 && a.gid != 0, "root is somebody else: %u", a.uid))
		return;
	tap_ok(a.uid != b.uid || a.uid < IDS_FIRST, "two boxes do not share an id");
	tap_ok(lchown(dir, a.uid, a.gid) == 0, "a directory of a former box");
	ids_choose(dir, &c);
	tap_ok(c.uid == a.uid, "its id is taken again");
	tap_ok(lchown(dir, 0, 0) == 0, "back");
}

static void copying(const char *dir, const struct ids *ids)
{
	auto_free char *from = mem_printf("%s/from", dir);
	auto_free char *to = mem_printf("%s/to", dir);
	auto_free char *small = mem_printf("%s/small", dir);
	auto_buf b = BUF_INIT(4096);
	struct err err = { 0 };
	struct stat st;
	char link[64] = "";

	tap_ok(ids_copy(ids, from, to, 1u << 20, &err) == 0, "copied %s", err.text);
	tap_is_str(help_get(&b, to, "d/e/b"), "b\n", "contents");
	tap_ok(fstatat(AT_FDCWD, to, &st, 0) == 0 && st.st_uid == ids->uid, "owner of the top");
	buf_clear(&b);
	(void)buf_addf(&b, "%s/a", to);
	tap_ok(lstat(buf_str(&b), &st) == 0 && st.st_uid == ids->uid && st.st_gid == ids->gid &&
		       (st.st_mode & 07777) == 0755 && st.st_mtime == 1000,
	       "owner, mode and time of a file");
	buf_clear(&b);
	(void)buf_addf(&b, "%s/link", to);
	tap_ok(readlink(buf_str(&b), link, sizeof(link) - 1) > 0 &&
		       strcmp(link, "/etc/passwd") == 0,
	       "a link stays one");
	buf_clear(&b);
	(void)buf_addf(&b, "%s/d/fifo", to);
	tap_ok(lstat(buf_str(&b), &st) < 0, "a fifo is left out");
	tap_ok(ids_copy(ids, from, small, 8192, &err) == -ERR_LIMIT, "limit: %s", err.text);
}

static void giving(const char *dir, const struct ids *ids)
{
	auto_free char *from = mem_printf("%s/from", dir);
	auto_free char *deep = mem_printf("%s/from/d/e/b", dir);
	struct err err = { 0 };
	struct stat st;

	tap_ok(ids_give(ids, from, &err) == 0 && lstat(deep, &st) == 0 && st.st_uid == ids->uid,
	       "given %s", err.text);
	tap_ok(ids_owned(ids, from), "owned");
	tap_ok(stat("/etc/passwd", &st) == 0 && st.st_uid == 0, "no link was followed");
}

static void mounting(const char *dir, const struct ids *ids)
{
	auto_free char *from = mem_printf("%s/from", dir);
	struct err err = { 0 };
	int fd = -1, rc;
	struct stat st;

	if (!ids->mapped)
		return;
	rc = ids_mount(ids, from, true, false, &fd, &err);
	if (rc == 1) {
		tap_skip("idmapped mount", "this file system has none");
		return;
	}
	tap_ok(rc == 0 && fstatat(fd, "d/e/b", &st, 0) == 0 && st.st_uid == ids->uid,
	       "idmapped mount shows the box as owner %s", err.text);
	mem_close(&fd);
	tap_ok(ids_mount(ids, "/no/such", true, false, &fd, &err) < 0, "%s", err.text);
	tap_ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
}

static void tests(void)
{
	auto_free char *dir = tree();
	struct ids ids;

	choosing(dir);
	ids_choose(NULL, &ids);
	mounting(dir, &ids);
	copying(dir, &ids);
	giving(dir, &ids);
	tap_ok(fd_remove_tree(AT_FDCWD, dir) == 0, "removed");
}

int main(void)
{
	return help_main(tests);
}
