/* A small project of our own, made in a directory of the test, and the tasks and patches on it: for
 * the tests that grade for real. The project is shell only, so that nothing need be installed. */
#ifndef TESTS_UNIT_VERIFIER_WORLDS_H
#define TESTS_UNIT_VERIFIER_WORLDS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "profiles/profile.h"
#include "profiles/task.h"
#include "tests/lib/tap.h"

/* add() takes big numbers for text. */
static const char world_add[] = "add() {\n"
				"\tif [ \"$1\" -gt 100 ]; then\n"
				"\t\techo big\n"
				"\t\treturn\n"
				"\tfi\n"
				"\techo $(($1 + $2))\n"
				"}\n";

static const char world_run[] =
	". ./src/add.sh\n"
	"n=0\n"
	"is() {\n"
	"\tn=$((n + 1))\n"
	"\tif [ \"$2\" = \"$3\" ]; then echo \"ok $n - $1\"; else echo \"not ok $n - $1\"; fi\n"
	"}\n"
	"is \"small numbers\" \"$(add 1 2)\" 3\n"
	"echo \"1..$n\"\n";

/* The hidden tests. */
static const char world_tests[] =
	"diff --git a/tests/run.sh b/tests/run.sh\n"
	"--- a/tests/run.sh\n"
	"+++ b/tests/run.sh\n"
	"@@ -5,4 +5,5 @@\n"
	" \tif [ \"$2\" = \"$3\" ]; then echo \"ok $n - $1\"; else echo \"not ok $n - $1\"; fi\n"
	" }\n"
	" is \"small numbers\" \"$(add 1 2)\" 3\n"
	"+is \"big numbers\" \"$(add 1000 2)\" 1002\n"
	" echo \"1..$n\"\n";

#define WORLD_FIX                                                                                  \
	"diff --git a/src/add.sh b/src/add.sh\n"                                                   \
	"--- a/src/add.sh\n"                                                                       \
	"+++ b/src/add.sh\n"                                                                       \
	"@@ -1,7 +1,3 @@\n"                                                                        \
	" add() {\n"                                                                               \
	"-\tif [ \"$1\" -gt 100 ]; then\n"                                                         \
	"-\t\techo big\n"                                                                          \
	"-\t\treturn\n"                                                                            \
	"-\tfi\n"                                                                                  \
	" \techo $(($1 + $2))\n"                                                                   \
	" }\n"

/* The fix, and @line at the end of src/add.sh, run when the tests read it. */
#define WORLD_FIX_AND(line)                                                                        \
	"diff --git a/src/add.sh b/src/add.sh\n"                                                   \
	"--- a/src/add.sh\n"                                                                       \
	"+++ b/src/add.sh\n"                                                                       \
	"@@ -1,7 +1,4 @@\n"                                                                        \
	" add() {\n"                                                                               \
	"-\tif [ \"$1\" -gt 100 ]; then\n"                                                         \
	"-\t\techo big\n"                                                                          \
	"-\t\treturn\n"                                                                            \
	"-\tfi\n"                                                                                  \
	" \techo $(($1 + $2))\n"                                                                   \
	" }\n"                                                                                     \
	"+" line "\n"

/* Only @line at the end of src/add.sh; the bug stays. */
#define WORLD_ONLY(line)                                                                           \
	"diff --git a/src/add.sh b/src/add.sh\n"                                                   \
	"--- a/src/add.sh\n"                                                                       \
	"+++ b/src/add.sh\n"                                                                       \
	"@@ -5,3 +5,4 @@ add() {\n"                                                                \
	" \tfi\n"                                                                                  \
	" \techo $(($1 + $2))\n"                                                                   \
	" }\n"                                                                                     \
	"+" line "\n"

/* A new file @path of one line. */
#define WORLD_NEW(path, line)                                                                      \
	"diff --git a/" path " b/" path "\n"                                                       \
	"new file mode 100644\n"                                                                   \
	"--- /dev/null\n"                                                                          \
	"+++ b/" path "\n"                                                                         \
	"@@ -0,0 +1 @@\n"                                                                          \
	"+" line "\n"

/* A new symbolic link. */
#define WORLD_LINK(path, target)                                                                   \
	"diff --git a/" path " b/" path "\n"                                                       \
	"new file mode 120000\n"                                                                   \
	"--- /dev/null\n"                                                                          \
	"+++ b/" path "\n"                                                                         \
	"@@ -0,0 +1 @@\n"                                                                          \
	"+" target "\n"                                                                            \
	"\\ No newline at end of file\n"

struct world {
	char *dir;               /* owned: holds src (the project) and scratch */
	char *project;           /* owned */
	char *scratch;           /* owned: where workspaces go; must be empty at the end */
	struct profile *profile; /* owned: "verify" */
	unsigned fds;            /* open at the start */
};

static inline unsigned world_count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static inline void world_put(const char *dir, const char *name, const char *text)
{
	auto_free char *path = mem_printf("%s/%s", dir, name);
	struct err err = { 0 };

	if (fd_replace_file(path, text, strlen(text), &err) < 0) {
		tap_diag("%s", err.text);
		abort();
	}
}

static inline void world_mkdir(const char *dir, const char *name)
{
	auto_free char *path = mem_printf("%s/%s", dir, name);

	if (mkdir(path, 0755) < 0)
		abort();
}

static inline struct world world_new(struct profile *profile)
{
	struct world w = { .dir = mem_strdup("/var/tmp/proctor-test-XXXXXX"), .profile = profile };

	if (!mkdtemp(w.dir))
		abort();
	w.project = mem_printf("%s/project", w.dir);
	w.scratch = mem_printf("%s/scratch", w.dir);
	world_mkdir(w.dir, "project");
	world_mkdir(w.dir, "scratch");
	world_mkdir(w.project, "src");
	world_mkdir(w.project, "tests");
	world_put(w.project, "src/add.sh", world_add);
	world_put(w.project, "tests/run.sh", world_run);
	setenv("PROCTOR_SCRATCH", w.scratch, 1);
	w.fds = world_count_fds();
	return w;
}

/* Nothing may be left: files, descriptors, children. */
static inline void world_free(struct world *w)
{
	DIR *d = opendir(w->scratch);
	unsigned left = 0;

	while (d) {
		struct dirent *e = readdir(d);

		if (!e)
			break;
		left += e->d_name[0] != '.';
	}
	if (d)
		closedir(d);
	tap_ok(left == 0, "no scratch directory is left: %u", left);
	tap_is_u64(world_count_fds(), w->fds, "no descriptor is left");
	tap_ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
	if (fd_remove_tree(AT_FDCWD, w->dir) < 0)
		tap_diag("%s could not be removed", w->dir);
	profile_free(w->profile);
	free(w->dir);
	free(w->project);
	free(w->scratch);
}

/* The task on the project. Change fields before use as the case needs; world_task_done() frees. */
static inline struct task world_task(const struct world *w)
{
	struct task t = {
		.instance_id = mem_strdup("acme__calc-12"),
		.problem_statement = mem_strdup("add() takes big numbers for text"),
		.source = mem_strdup(w->project),
		.workdir = mem_strdup("/workspace"),
		.rootfs = mem_strdup("host"),
		.patch = mem_strdup(WORLD_FIX),
		.test_patch = mem_strdup(world_tests),
		.test = { .command = mem_strdup("sh tests/run.sh"),
			  .reader = mem_strdup("tap"),
			  .timeout = 60ull * 1000000000 },
	};

	strv_add(&t.test.hidden, "tests/**");
	strv_add(&t.fail_to_pass, "big numbers");
	strv_add(&t.pass_to_pass, "small numbers");
	return t;
}

static inline void world_set(char **field, const char *text)
{
	free(*field);
	*field = mem_strdup(text);
}

static inline void world_task_done(struct task *t)
{
	char **const fields[] = { &t->instance_id,  &t->problem_statement,
				  &t->source,       &t->workdir,
				  &t->rootfs,       &t->patch,
				  &t->test_patch,   &t->base_commit,
				  &t->test.command, &t->test.reader,
				  &t->test.report };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		free(*fields[i]);
		*fields[i] = NULL;
	}
	strv_done(&t->test.hidden);
	strv_done(&t->env);
	strv_done(&t->fail_to_pass);
	strv_done(&t->pass_to_pass);
}

/* Become an ordinary user for good: "proctor-test", made when missing. False when it cannot be had
 * (then the caller skips). True at once for who is no root. */
static inline bool world_drop_root(void)
{
	const struct passwd *pw;

	if (geteuid() != 0)
		return true;
	pw = getpwnam("proctor-test");
	if (!pw && system("useradd -m proctor-test >/dev/null 2>&1") == 0)
		pw = getpwnam("proctor-test");
	if (!pw)
		return false;
	/* The change of ids makes us undumpable, and /proc/PID of our children root's (prctl(2)). */
	return initgroups(pw->pw_name, pw->pw_gid) == 0 &&
	       setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) == 0 &&
	       setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) == 0 &&
	       prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 && setenv("HOME", pw->pw_dir, 1) == 0;
}

/* Start of a test program: with "--user" as an ordinary user. The profile is read before, because
 * the source tree may be root's alone. False: skipped. */
static inline bool world_begin(int argc, char **argv, struct world *ret)
{
	struct profile *profile = NULL;
	struct err err = { 0 };

	if (profile_load("verify", &profile, &err) < 0) {
		tap_ok(false, "profile: %s", err.text);
		return false;
	}
	if (argc > 1 && strcmp(argv[1], "--user") == 0 && !world_drop_root()) {
		tap_skip("as an ordinary user", "user: none can be made");
		profile_free(profile);
		return false;
	}
	tap_diag("uid %u", geteuid());
	*ret = world_new(profile);
	return true;
}

#endif
