/* Layers of real overlays kept at several moments, and given to fresh copies of the pristine tree: what comes back is
 * what was there. Contents that were changed in the store, and names that lead elsewhere, are refused. */
#include "sandbox/snapshot.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/box.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"

/* A script that tells names, types, modes, times of files, contents and targets of a tree. */
static const char tell[] =
	"find . -mindepth 1 \\( -type f -printf '%P f %m %T@ ' -exec sha256sum {} \\; \\) "
	"-o \\( -type l -printf '%P l %l\\n' \\) -o -printf '%P %y %m\\n' | sort\n";

static int put_script(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	return !f || fputs(text, f) < 0 || fclose(f) != 0 ? -1 : 0;
}

static void fresh(void)
{
	sh("chmod -R u+rwX lower upper work merged again store 2>/dev/null; "
	   "rm -rf lower upper work merged again store out; "
	   "mkdir -p lower/d/e lower/k upper work merged; cd lower; "
	   "echo a >a; echo b >b; echo f >d/f; echo g >d/e/g; ln -s a link; echo h >k/h; "
	   "mkdir .git; echo x >.git/index; touch -d @1700000000 a b d/f d/e/g k/h");
}

/* Run @script in the overlay; the state behind it is told in the file want@i. */
static int run(const char *script, size_t i)
{
	if (put_script("script", script) < 0 || put_script("tell", tell) < 0)
		return -1;
	return sh("unshare -Urm sh -ec 'mount -t overlay overlay -o userxattr,lowerdir=lower,"
		  "upperdir=upper,workdir=work merged; cd merged; sh -e ../script; cd ../merged; "
		  "sh ../tell >../want%zu'",
		  i);
}

/* A pristine tree gets the @n entries of @v; is it as want@i? */
static int restore(const struct snapshot_entry *v, size_t n, size_t i, struct err *err)
{
	struct box box = { .ws_fd = -1, .root_fd = -1 };
	int rc;

	sh("chmod -R u+rwX again 2>/dev/null; rm -rf again; cp -a lower again");
	box.ws_fd = open("again", O_PATH | O_DIRECTORY | O_CLOEXEC);
	rc = snapshot_restore(&box, SNAPSHOT_WORKSPACE, "store", v, n, err);
	close(box.ws_fd);
	if (rc < 0)
		return rc;
	return sh("cd again && sh ../tell >../got; diff -u ../want%zu ../got", i) == 0 ? 0 : 1;
}

/* Entries of several looks as one state: the last word on each name counts. */
static size_t fold(struct snapshot_entry *all, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool last = true;

		for (size_t k = i + 1; last && k < n; k++)
			last = strcmp(all[i].path, all[k].path) != 0;
		if (last && all[i].kind != '=')
			all[kept++] = all[i];
	}
	return kept;
}

static int by_path(const void *a, const void *b)
{
	const struct snapshot_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static const struct {
	const char *what, *script;
} cases[] = {
	{ "nothing", ":" },
	{ "an edit and a new file", "echo x >>a; echo n >n; touch -d @1500000000.25 n" },
	{ "modes", "chmod 640 a; chmod 700 d; mkdir -m 1777 t; chmod +x b" },
	{ "gone", "rm a; rm -r d" },
	{ "a directory made anew", "rm -r d; mkdir d; echo q >d/q" },
	{ "links", "ln -sfn b link; ln -s nowhere n; ln b hard" },
	{ "file to directory", "rm a; mkdir a; echo x >a/x" },
	{ "directory to file", "rm -r d; echo x >d" },
	{ "a pipe", "mkfifo -m 600 p" },
	{ "closed directories", "mkdir -p c/c; echo x >c/c/x; chmod 500 c/c c" },
	{ "version control and caches",
	  "echo y >.git/index; mkdir __pycache__; echo 1 >__pycache__/m" },
	{ "odd names", "echo x >'a b'; mkdir 'ü'; echo y >'ü/\\n'; echo z >-z" },
	{ "the same contents twice", "cp a n; cp a m" },
	{ "a large one", "head -c 3000000 /dev/zero >z" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct snapshot_look l = { 0 }, two = { 0 };
		struct snapshot *s = NULL;
		struct err err = { 0 };

		fresh();
		tap_ok(snapshot_new("store", &s, &err) == 0 &&
			       snapshot_add(s, SNAPSHOT_WORKSPACE, "upper", &err) == 0,
		       "%s: begun %s", cases[i].what, err.text);
		tap_ok(run(cases[i].script, 0) == 0, "%s: the script runs", cases[i].what);
		tap_ok(snapshot_take(s, &l, &err) == 0 && !l.why, "%s: kept %s%s", cases[i].what,
		       err.text, l.why ? l.why : "");
		tap_ok(restore(l.v[0], l.n[0], 0, &err) == 0, "%s: it comes back %s", cases[i].what,
		       err.text);
		tap_ok(snapshot_take(s, &two, &err) == 0 && !two.n[0] && !two.stored,
		       "%s: looked at again, nothing is new", cases[i].what);
		snapshot_look_done(&l);
		snapshot_look_done(&two);
		snapshot_free(s);
	}
}

/* Moments of one run: each is the looks up to it. */
static void test_moments(void)
{
	static const char *const steps[] = {
		"echo 1 >n; echo x >>a", "echo 2 >>n; rm b",       "echo b >b; rm n",
		"rm -r d; mkdir d",      "echo 1 >n; echo f >d/f", "mv d k/d; rm k/h",
	};
	struct snapshot_entry all[400];
	struct snapshot_look l[ARRAY_SIZE(steps)] = { 0 };
	struct snapshot *s = NULL;
	struct err err = { 0 };
	uint64_t stored = 0;
	size_t n;

	fresh();
	tap_ok(snapshot_new("store", &s, &err) == 0 &&
		       snapshot_add(s, SNAPSHOT_WORKSPACE, "upper", &err) == 0,
	       "begun %s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		tap_ok(run(steps[i], i) == 0 && snapshot_take(s, &l[i], &err) == 0 && !l[i].why,
		       "moment %zu is kept %s", i, err.text);
		stored += l[i].stored;
	}
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		n = 0;
		for (size_t k = 0; k <= i; k++) {
			memcpy(all + n, l[k].v[0], l[k].n[0] * sizeof(*all));
			n += l[k].n[0];
		}
		n = fold(all, n);
		qsort(all, n, sizeof(*all), by_path);
		tap_ok(restore(all, n, i, &err) == 0, "moment %zu comes back %s", i, err.text);
	}
	tap_is_u64(stored, 2 + 4 + 4 + 2 + 2, "contents are kept once each");
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		snapshot_look_done(&l[i]);
	snapshot_free(s);
}

static const struct snapshot_entry *find(const struct snapshot_look *l, const char *path)
{
	for (size_t i = 0; i < l->n[SNAPSHOT_BOX]; i++) {
		if (strcmp(l->v[SNAPSHOT_BOX][i].path, path) == 0)
			return &l->v[SNAPSHOT_BOX][i];
	}
	return NULL;
}

/* What was there when the box was made is told when it was changed or removed, and then once. */
static void test_given(void)
{
	struct snapshot_look l = { 0 };
	struct snapshot *s = NULL;
	struct err err = { 0 };

	fresh();
	sh("mkdir -p out/etc out/home; echo made >out/etc/made; echo made >out/etc/other");
	tap_ok(snapshot_new("store", &s, &err) == 0 &&
		       snapshot_add(s, SNAPSHOT_BOX, "out", &err) == 0 &&
		       snapshot_take(s, &l, &err) == 0 && !l.n[SNAPSHOT_BOX] && !l.stored,
	       "what the box was made with is no change %s", err.text);
	snapshot_look_done(&l);
	sh("echo more >>out/etc/made; rm out/etc/other; echo x >out/home/x; mkdir out/home/d");
	tap_ok(snapshot_take(s, &l, &err) == 0 && find(&l, "etc/made") && find(&l, "home/x") &&
		       find(&l, "home/d"),
	       "what was changed and made is");
	tap_ok(find(&l, "etc/other") && find(&l, "etc/other")->kind == '-', "and what was removed");
	snapshot_look_done(&l);
	tap_ok(snapshot_take(s, &l, &err) == 0 && !l.n[SNAPSHOT_BOX], "once");
	snapshot_look_done(&l);
	sh("echo back >out/etc/other");
	tap_ok(snapshot_take(s, &l, &err) == 0 && find(&l, "etc/other") &&
		       find(&l, "etc/other")->kind == 'f',
	       "it may come back");
	snapshot_look_done(&l);
	snapshot_free(s);
}

static void test_refused(void)
{
	char path[] = "out/x";
	struct snapshot_entry e = { .path = path, .kind = 'f', .size = 2, .mode = 0644 };
	struct snapshot_look l = { 0 };
	struct snapshot *s = NULL;
	struct err err = { 0 };

	fresh();
	tap_ok(snapshot_new("store", &s, &err) == 0 &&
		       snapshot_add(s, SNAPSHOT_WORKSPACE, "upper", &err) == 0 &&
		       run("echo 12345 >n", 0) == 0 && snapshot_take(s, &l, &err) == 0,
	       "kept %s", err.text);
	sh("f=$(find store -type f); chmod u+w $f; echo 12346 >$f");
	tap_ok(restore(l.v[0], l.n[0], 0, &err) == -ERR_INPUT &&
		       strstr(err.text, "contents of n were changed"),
	       "changed contents: %s", err.text);
	sh("f=$(find store -type f); echo longer than it was >$f");
	tap_ok(restore(l.v[0], l.n[0], 0, &err) == -ERR_INPUT, "longer ones: %s", err.text);
	sh("rm $(find store -type f)");
	tap_ok(restore(l.v[0], l.n[0], 0, &err) == -ERR_INPUT && strstr(err.text, "not kept"),
	       "missing ones: %s", err.text);
	/* A link in the tree is not gone through. */
	sh("mkdir out; cd lower; ln -s ../out out; mkdir -p ../store/01; echo >../store/01/%s",
	   "ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b");
	memcpy(e.sha256, "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b", 65);
	e.size = 1;
	tap_ok(restore(&e, 1, 0, &err) < 0 && sh("test ! -e out/x") == 0, "a link: %s", err.text);
	tap_ok(snapshot_new("store", &s, &err) < 0, "a store is new: %s", err.text);
	snapshot_look_done(&l);
	snapshot_free(s);
}

int main(void)
{
	const char *dir = sh_enter();

	if (sh("unshare -Urm true 2>/dev/null") != 0) {
		tap_skip("overlays of a user", "no user namespaces");
		sh_leave(dir);
		return tap_done();
	}
	test_cases();
	test_moments();
	test_given();
	test_refused();
	sh_leave(dir);
	return tap_done();
}
