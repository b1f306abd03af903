/* The patch of an overlay, judged by what real git makes of it: applied to a copy of the base it
 * must give what the agent saw. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "profiles/task.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"
#include "verifier/capture.h"

static struct workspace *make(void)
{
	auto_free char *source = mem_printf("%s/src", getenv("HOME"));
	struct task task = { .source = source };
	struct workspace *ws = NULL;
	struct err err = { 0 };

	if (workspace_new(NULL, &ws, &err) < 0 || workspace_from_task(ws, &task, &err) < 0)
		tap_ok(false, "workspace: %s", err.text);
	return ws;
}

static const char overlay[] =
	"unshare -Urm sh -ec 'mount -t overlay overlay "
	"-o userxattr,lowerdir=%s,upperdir=%s,workdir=%s merged; cd merged; sh -e \"$1\"; cd ..; "
	"rm -rf want; cp -a merged want' sh %s/script";

/* Run @script in a real overlay over the workspace; "want" is what it left. */
static int run_script(const struct workspace *ws, const char *script)
{
	FILE *f = fopen("script", "w");
	bool put_down = f && fputs(script, f) >= 0;

	if (f && fclose(f) < 0)
		put_down = false;
	if (!put_down)
		return -1;
	sh("mkdir -p merged");
	return sh(overlay, ws->lower, ws->upper, ws->work, getenv("HOME"));
}

static void put(const struct capture *c)
{
	FILE *f = fopen("patch", "w");

	tap_ok(f && fwrite(buf_str(&c->diff), 1, c->diff.len, f) == c->diff.len && fclose(f) == 0,
	       "the patch is written");
}

/* Apply the patch to a copy of lower and compare with "want": contents, types, exec bits. */
static int judge(const struct workspace *ws)
{
	return sh("rm -rf got && cp -a %s got && cd got && "
		  "{ test ! -s ../patch || git apply --index --whitespace=nowarn ../patch; } && "
		  "chmod -R u+rwX ../want && rm -rf .git ../want/.git && "
		  "find . ../want -depth -type d -empty -delete; "
		  "mkdir -p ../want ../got && cd .. && diff -r --no-dereference want got && "
		  "(cd want && find . -type f -perm /100 | sort) >w.x && "
		  "(cd got && find . -type f -perm /100 | sort) >g.x && cmp w.x g.x",
		  ws->lower);
}

static void test_round_trip(const char *what, const char *script, uint64_t files)
{
	struct workspace *ws = make();
	struct capture c = { 0 };
	struct err err = { 0 };
	char mark[64];

	tap_ok(run_script(ws, script) == 0, "%s: the script runs", what);
	tap_ok(capture_take(ws, &c, &err) == 0, "%s: %s", what, err.text);
	snprintf(mark, sizeof(mark), "%.40s: files", what);
	tap_is_u64(c.files, files, mark);
	put(&c);
	tap_ok(judge(ws) == 0, "%s: git apply makes the same tree", what);
	tap_ok(c.dropped.n == 0, "%s: nothing dropped %s", what, c.dropped.n ? c.dropped.v[0] : "");
	tap_ok(strlen(c.sha256) == 64, "%s: digest", what);
	capture_done(&c);
	workspace_free(ws);
}

static const struct {
	const char *what, *script;
	uint64_t files;
} cases[] = {
	{ "nothing", ":", 0 },
	{ "touched, same bytes", "touch a; echo x >>b; printf 'b\\n' >b", 0 },
	{ "edit", "sed -i s/200/x/ big; printf 'no newline' >a", 2 },
	{ "no final newline, twice", "printf 'x' >nonl; printf 'b' >b", 2 },
	{ "new files", "mkdir -p n/m; echo 1 >n/m/f; : >n/empty; mkdir n/none", 2 },
	{ "deleted file", "rm a", 1 },
	{ "deleted directory", "rm -r d", 3 },
	{ "everything deleted", "rm -rf ./*", 11 },
	{ "directory made anew", "rm -r d; mkdir d; echo n >d/n; cp /proc/sys/kernel/ostype d/f",
	  4 },
	{ "opaque with a deeper directory",
	  "rm -r d; mkdir -p d/e; echo n >d/e/n; printf 'e\\n' >d/e/g", 4 },
	{ "mode only", "chmod +x a; chmod -x run", 2 },
	{ "mode and contents", "chmod +x a; echo y >>a", 1 },
	{ "file to symlink", "rm a; ln -s b a", 1 },
	{ "symlink to file", "rm link; echo f >link", 1 },
	{ "symlink elsewhere", "ln -sfn /etc/passwd link; ln -s nowhere/at/all 'new link'", 2 },
	{ "directory to file", "rm -r d; echo f >d", 4 },
	{ "directory to symlink", "rm -r d; ln -s a d", 4 },
	{ "file to directory", "rm a; mkdir a; echo f >a/f", 2 },
	{ "rename", "mv big bigger; mv d dd", 8 },
	{ "binary", "head -c 5000 /dev/urandom >bin; head -c 3000 /dev/urandom >new.bin", 2 },
	{ "binary grows", "head -c 100000 /dev/zero >>bin", 1 },
	{ "text beyond what is compared by lines", "seq 700000 >big; seq 1 2 900000 >new.big", 2 },
	{ "crlf", "printf 'x\\r\\ny\\r\\nz' >crlf; printf 'a\\r\\n' >new.crlf", 2 },
	{ "odd names",
	  "echo 1 >'with blank'; echo 2 >'qu\"ote'; echo 3 >\"$(printf 'new\\nline')\"; "
	  "echo 4 >\"$(printf 'b\\377d')\"; echo 5 >\"$(printf 't\\tab')\"; echo 6 >'back\\slash'; "
	  "echo 7 >\"$(printf '\\303\\274')\"; echo 8 >-dash; echo 9 >' lead'; echo a >'trail '; "
	  "mkdir 'd ir'; echo b >'d ir/a b'; echo c >\"$(printf '\\001')\"; echo d >'a => b'",
	  13 },
	{ "odd names edited", "echo more >>'old blank'; chmod +x 'old blank'", 1 },
	{ "odd names removed", "rm 'old blank'", 1 },
	{ "locked", "echo x >a; chmod 0 a; mkdir l; echo y >l/y; chmod 0 l/y; chmod 0 l", 2 },
	{ "agent's ignore rules", "echo '*' >.gitignore; echo u >untracked", 2 },
	{ ".git changed",
	  "git -c user.name=x -c user.email=x commit -qm x --allow-empty; "
	  "echo hook >.git/hook; echo a2 >a",
	  1 },
	{ "patch in a patch",
	  "printf 'diff --git a/x b/x\\n--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-a\\n+b\\n' >p; "
	  "printf -- '-- \\n+++ q\\n' >a",
	  2 },
	{ "hard links", "ln a a2; echo z >>a", 2 },
};

static void make_source(void)
{
	sh("git init -q src && cd src && echo a >a && echo b >b && seq 400 >big && "
	   "mkdir -p d/e && echo f >d/f && echo g >d/e/g && echo h >d/h && "
	   "head -c 4000 /dev/urandom >bin && printf 'x\\r\\ny\\r\\n' >crlf && "
	   "echo '#!/bin/sh' >run && chmod +x run && ln -s a link && echo o >'old blank' && "
	   "git add -A && git commit -qm base && rm -f bin.c");
	sh("cd src && git rm -q --cached d/h >/dev/null && rm d/h && echo h >d/h2 && git add -A && "
	   "git commit -qm base2");
}

/* Is @text the beginning of something dropped? */
static bool dropped(const struct capture *c, const char *text)
{
	strv_each (i, &c->dropped) {
		if (str_starts(c->dropped.v[i], text))
			return true;
	}
	return false;
}

static void test_dropped(void)
{
	struct workspace *ws = make();
	struct capture c = { 0 };
	struct err err = { 0 };
	uint64_t t;

	tap_ok(run_script(
		       ws,
		       "truncate -s 1G sparse; mkfifo pipe; rm b; mkfifo b; "
		       "mkdir sub && cd sub && git init -q && echo y >y && cd .. && "
		       "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'; "
		       "mkdir .GIT && echo x >.GIT/x && echo 2 >a") == 0,
	       "script");
	t = clock_mono();
	tap_ok(capture_take(ws, &c, &err) == 0, "capture: %s", err.text);
	tap_ok(clock_mono() - t < CLOCK_SEC, "quickly, in spite of a sparse file of 1 GiB");
	tap_ok(dropped(&c, "sparse: larger"), "a huge file is named");
	tap_ok(dropped(&c, "pipe: a pipe") && dropped(&c, "b: a pipe") &&
		       dropped(&c, "sock: a socket"),
	       "pipes and sockets are named");
	tap_ok(dropped(&c, "sub/.git: ") && dropped(&c, ".GIT: "), "what looks like .git is named");
	tap_is_u64(c.dropped.n, 6, "nothing else is");
	tap_is_u64(c.files, 3, "a changed, b deleted, sub/y added");
	tap_is_u64(c.added, 2, "lines added");
	tap_is_u64(c.removed, 2, "lines removed");
	capture_done(&c);
	workspace_free(ws);
}

/* The base's .gitignore holds, whatever the agent writes; tracked files always count. */
static void test_ignore(void)
{
	struct workspace *ws;
	struct capture c = { 0 };
	struct err err = { 0 };

	sh("cd src && printf '*.o\\nbuild/\\n!keep.o\\n/top\\n' >.gitignore && mkdir build && "
	   "echo t >build/tracked && echo t >tracked.o && printf '*.log\\n' >d/.gitignore && "
	   "git add -f . && git commit -qm ignore");
	ws = make();
	tap_ok(run_script(
		       ws,
		       "echo '!*.o' >.gitignore; echo n >x.o; echo k >keep.o; echo c >tracked.o; "
		       "mkdir -p build/deep; echo c >build/tracked; echo n >build/n; "
		       "echo n >build/deep/n; echo n >d/x.log; echo y >x.log; mkdir top; "
		       "echo z >top/z; rm d/.gitignore; echo n >d/y.log; mkdir e; "
		       "echo '*' >e/.gitignore; "
		       "echo q >e/q") == 0,
	       "script");
	tap_ok(capture_take(ws, &c, &err) == 0, "capture: %s", err.text);
	put(&c);
	auto_free char *names = sh_out("grep '^diff --git' patch | sed 's/.* b.//' | sort | "
				       "tr '\\n' ' '");
	tap_is_str(names,
		   ".gitignore build/tracked d/.gitignore e/.gitignore e/q keep.o tracked.o "
		   "x.log ",
		   "the base's rules, not the agent's");
	capture_done(&c);
	workspace_free(ws);
}

/* Marks as other kernels and mounts make them. */
static void test_marks(void)
{
	struct workspace *ws = make();
	struct capture c = { 0 };
	struct err err = { 0 };

	sh("cd %s && mknod a c 0 0 && mkdir d && echo n >d/n && : >b && "
	   "python3 - <<'E'\nimport os\n"
	   "os.setxattr('b', 'user.overlay.whiteout', b'')\n"
	   "os.setxattr('d', '%s.overlay.opaque', b'y')\nE",
	   ws->upper, getuid() == 0 ? "trusted" : "user");
	tap_ok(capture_take(ws, &c, &err) == 0, "capture: %s", err.text);
	put(&c);
	tap_ok(sh("rm -rf want && cp -a %s want && cd want && rm -r a b d && mkdir d && "
		  "echo n >d/n",
		  ws->lower) == 0 &&
		       judge(ws) == 0,
	       "whiteouts by device and by mark, opaque by mark");
	if (getuid() == 0) { /* who may make one */
		sh("cd %s && mknod zero c 1 5", ws->upper);
		capture_done(&c);
		tap_ok(capture_take(ws, &c, &err) == 0 && dropped(&c, "zero: a device"),
		       "a device is named");
	}
	capture_done(&c);
	workspace_free(ws);
}

/* The user's own directory as lower: a repository with work in progress. */
static void test_directory(void)
{
	struct workspace *ws = NULL;
	struct capture c = { 0 };
	struct err err = { 0 };

	sh("cp -a src mine && cd mine && echo wip >>a && echo u >untracked && echo o >old.o && "
	   "mkdir -p build && echo j >build/junk && chmod 0 untracked && chmod 644 untracked");
	tap_ok(workspace_new(NULL, &ws, &err) == 0 &&
		       workspace_from_directory(ws, "mine", &err) == 0,
	       "workspace: %s", err.text);
	tap_ok(run_script(ws, "rm -r build old.o; echo more >>untracked; echo agent >>a") == 0,
	       "script");
	tap_ok(capture_take(ws, &c, &err) == 0, "capture: %s", err.text);
	put(&c);
	auto_free char *names = sh_out("grep '^diff --git' patch | sed 's/.* b.//' | sort | "
				       "tr '\\n' ' '");
	tap_is_str(names, "a build/tracked untracked ",
		   "ignored junk of the user is not in the patch");
	tap_ok(sh("cd mine && git apply ../patch && test $(tail -1 a) = agent && "
		  "! test -e build/tracked") == 0,
	       "the patch fits the user's directory");
	capture_done(&c);
	workspace_free(ws);
}

/* Bounds: depth, number, and a tree that other code would overflow on. */
static void test_bounds(void)
{
	struct workspace *ws = make();
	struct capture c = { 0 };
	struct err err = { 0 };
	uint64_t t;

	tap_ok(run_script(ws, "python3 - <<'E'\nimport os\nfor i in range(5000):\n"
			      " open('f%d' % i, 'w').write('line\\n' * (i % 7))\n"
			      "os.mkdir('deep'); os.chdir('deep')\nfor i in range(600):\n"
			      " os.mkdir('d'); os.chdir('d')\nopen('x', 'w').write('x')\nE\n") == 0,
	       "script");
	t = clock_mono();
	tap_ok(capture_take(ws, &c, &err) == 0, "capture: %s", err.text);
	tap_diag("capture of 5,000 new files: %.2f s", (double)(clock_mono() - t) / 1e9);
	tap_is_u64(c.files, 5000, "all files");
	tap_ok(dropped(&c, "deep/d/d/d"), "what is too deep is named");
	capture_done(&c);
	workspace_free(ws);
}

int main(int argc, char **argv)
{
	const char *dir = sh_enter();
	auto_free char *self = realpath("/proc/self/exe", NULL);

	(void)argv;
	sh("mkdir scratch");
	setenv("PROCTOR_SCRATCH", "scratch", 1);
	make_source();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		test_round_trip(cases[i].what, cases[i].script, cases[i].files);
	test_dropped();
	test_marks();
	test_bounds();
	test_ignore();
	test_directory();
	unsetenv("PROCTOR_SCRATCH");
	if (argc == 1 && getuid() == 0 && sh("id -u proctor-test >/dev/null 2>&1") == 0) {
		sh("install -m 0755 %s test && chmod 0755 .", self);
		tap_ok(sh("setpriv --reuid=proctor-test --regid=proctor-test --clear-groups "
			  "env ASAN_OPTIONS=detect_leaks=0 TMPDIR=/tmp ./test user | sed 's/^/# /' "
			  ">user.log; grep '^# 1\\.\\.' user.log && "
			  "! grep -A3 '^# not ok' user.log") == 0,
		       "the same as an ordinary user");
	}
	sh_leave(dir);
	return tap_done();
}
