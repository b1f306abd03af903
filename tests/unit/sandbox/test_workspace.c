/* Layout of a scratch directory, as root and as an ordinary user. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "sandbox/workspace.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static mode_t mode_of(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);
	struct stat st = { 0 };

	return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void test_task(struct janitor *jan)
{
	auto_free char *base = sh_out("git -C src rev-parse HEAD~1");
	auto_free char *source = mem_printf("%s/src", getenv("HOME"));
	auto_free char *scratch = NULL;
	struct task task = { .source = source, .base_commit = base };
	struct workspace *ws = NULL;
	struct err err = { 0 };
	struct stat st;
	mode_t old = umask(077); /* modes are git's, whatever ours is */
	time_t age;

	tap_ok(workspace_new(jan, &ws, &err) == 0, "new: %s", err.text);
	tap_ok(workspace_from_task(ws, &task, &err) == 0, "from task: %s", err.text);
	umask(old);
	scratch = mem_strdup(ws->scratch);
	tap_ok(str_starts(path_base(scratch), "proctor-") && mode_of(scratch, "") == 0700,
	       "scratch %s is ours alone", scratch);
	tap_ok(mode_of(ws->lower, "") == 0755 && mode_of(ws->lower, "d") == 0755 &&
		       mode_of(ws->lower, "d/run") == 0755 && mode_of(ws->lower, "a") == 0644 &&
		       mode_of(ws->lower, ".git") == 0755 &&
		       mode_of(ws->lower, ".git/index") == 0644 &&
		       mode_of(ws->lower, ".git/HEAD") == 0644,
	       "modes are those of the tree");
	stat(ws->lower, &st);
	age = time(NULL) - st.st_mtime;
	tap_ok(age > 86000 && age < 87000, "the top directory is aged (%ld s)", (long)age);
	tap_is_str(ws->history.head, base, "history ends at the base");
	tap_is_u64(ws->history.commits, 1, "one commit");
	tap_is_u64(ws->history.commits_dropped, 1, "the commit after the base was dropped");
	tap_ok(is_there(ws->upper) && is_there(ws->work) && !ws->lower_is_users, "layers");
	workspace_free(ws);
	tap_ok(!is_there(scratch), "nothing is left");
}

static void test_tree(void)
{
	struct workspace *ws = NULL, *plain = NULL;
	struct git_change change = { .mode = 0100644, .data = mem_strdup("x\n"), .len = 2 };
	auto_free char *source = mem_printf("%s/src", getenv("HOME"));
	auto_free char *log = NULL, *status = NULL, *again = NULL;
	struct err err = { 0 };
	git_oid tree;

	change.path = mem_strdup("new/file");
	tap_ok(workspace_new(NULL, &ws, &err) == 0 &&
		       gitstore_import(&ws->store, source, NULL, &ws->base_commit, &ws->base_tree,
				       NULL, &err) == 0 &&
		       gitstore_update(&ws->store, &ws->base_tree, &change, 1, &tree, &err) == 0 &&
		       workspace_from_tree(ws, &tree, true, &err) == 0,
	       "from a changed tree: %s", err.text);
	log = sh_out("git -C %s log --format=%%s", ws->lower);
	tap_is_str(log, "Base\nsecond\nfirst", "a commit on top of the base");
	status = sh_out("git -C %s status --porcelain", ws->lower);
	tap_is_str(status, "", "clean");
	tap_ok(workspace_new(NULL, &plain, &err) == 0 &&
		       gitstore_import(&plain->store, source, NULL, &plain->base_commit,
				       &plain->base_tree, NULL, &err) == 0 &&
		       workspace_from_tree(plain, &plain->base_tree, false, &err) == 0,
	       "without .git");
	again = path_join(plain->lower, ".git");
	tap_ok(!is_there(again), "has none");
	workspace_free(ws);
	workspace_free(plain);
	free(change.data);
	free(change.path);
}

static void test_directory(void)
{
	struct workspace *ws = NULL;
	struct err err = { 0 };
	auto_free char *real = realpath("src", NULL);

	tap_ok(workspace_new(NULL, &ws, &err) == 0, "new");
	tap_ok(workspace_from_directory(ws, "src", &err) == 0, "from directory: %s", err.text);
	tap_is_str(ws->lower, real, "it is the lower layer");
	tap_ok(ws->lower_is_users, "and the user's");
	tap_ok(workspace_from_directory(ws, "src/a", &err) == -ERR_INPUT, "a file: %s", err.text);
	tap_ok(workspace_from_directory(ws, "none", &err) == -ERR_INPUT, "nothing: %s", err.text);
	tap_ok(workspace_from_directory(ws, ".", &err) == -ERR_INPUT, "around the scratch: %s",
	       err.text);
	workspace_free(ws);
	tap_ok(is_there("src/a"), "the user's directory is untouched");
	setenv("PROCTOR_SCRATCH", "/proc/none", 1);
	tap_ok(workspace_new(NULL, &ws, &err) == -ERR_HOST, "no scratch: %s", err.text);
	unsetenv("PROCTOR_SCRATCH");
}

static void test_all(void)
{
	struct janitor *jan = NULL;
	struct err err = { 0 };
	auto_free char *left = NULL;

	sh("git init -q src && cd src && mkdir d && echo a >a && echo b >d/run && "
	   "chmod +x d/run && "
	   "git add -A && git commit -qm first && echo 2 >a && git commit -qam second");
	sh("mkdir scratch");
	setenv("TMPDIR", "scratch", 1);
	tap_ok(janitor_start(&jan, NULL, &err) == 0, "janitor: %s", err.text);
	test_task(jan);
	test_task(NULL);
	janitor_finish(jan);
	test_tree();
	test_directory();
	left = sh_out("ls scratch");
	tap_is_str(left, "", "no scratch directory is left");
}

int main(int argc, char **argv)
{
	const char *dir = sh_enter();
	auto_free char *self = realpath("/proc/self/exe", NULL);

	(void)argv;
	test_all();
	unsetenv("TMPDIR");
	if (argc == 1 && getuid() == 0 && sh("id -u proctor-test >/dev/null 2>&1") == 0) {
		sh("install -m 0755 %s test && chmod 0755 .", self);
		tap_ok(sh("setpriv --reuid=proctor-test --regid=proctor-test --clear-groups "
			  "env ASAN_OPTIONS=detect_leaks=0 ./test user | sed 's/^/# /' >user.log; "
			  "grep '^# 1\\.\\.' user.log && ! grep '^# not ok' user.log") == 0,
		       "the same as an ordinary user");
	}
	sh_leave(dir);
	return tap_done();
}
