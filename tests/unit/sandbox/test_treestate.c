/* The state of a real overlay: what counts as a difference, what changed between two looks, and that two
 * runs of the same script have the same digest. */
#include "sandbox/treestate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"

static void fresh(void)
{
	sh("rm -rf lower upper work merged; mkdir -p lower/d/e lower/k upper work merged; cd lower; "
	   "echo a >a; echo b >b; echo f >d/f; echo g >d/e/g; ln -s a link; echo h >k/h; "
	   "mkdir .git; echo x >.git/index; touch -d @1700000000 a b d/f d/e/g k/h");
}

static int run(const char *script)
{
	FILE *f = fopen("script", "w");

	if (!f || fputs(script, f) < 0 || fclose(f) != 0)
		return -1;
	return sh("unshare -Urm sh -ec 'mount -t overlay overlay -o userxattr,lowerdir=lower,"
		  "upperdir=upper,workdir=work merged; cd merged; sh -e ../script'");
}

static bool no_logs(void *arg, const char *path)
{
	(void)arg;
	return strcmp(path, "log") == 0;
}

static void put(const struct treestate_look *l, struct buf *b)
{
	buf_clear(b);
	for (size_t i = 0; i < l->n_changes; i++)
		buf_addf(b, "%s%c%s", i ? " " : "", l->change[i].kind, l->change[i].path);
}

static const struct {
	const char *what, *script, *want;
} cases[] = {
	{ "nothing", ":", "" },
	{ "copied up, same bytes", "touch a; echo b >b", "" },
	{ "an edit and a new file", "echo x >>a; echo n >n", "fa fn" },
	{ "executable", "chmod +x a", "xa" },
	{ "another mode", "chmod 600 a", "" },
	{ "a file is gone", "rm a", "-a" },
	{ "a directory is gone", "rm -r d", "-d/e/g -d/f" },
	{ "a directory made anew", "rm -r d; mkdir d; echo f >d/f; echo q >d/q", "-d/e/g fd/q" },
	{ "anew with a deeper one", "rm -r d; mkdir -p d/e; echo g >d/e/g", "-d/f" },
	{ "link elsewhere", "ln -sfn b link", "llink" },
	{ "the same link", "rm link; ln -s a link", "" },
	{ "file to directory", "rm a; mkdir a; echo x >a/x", "-a fa/x" },
	{ "directory to file", "rm -r d; echo x >d", "fd -d/e/g -d/f" },
	{ "a pipe", "mkfifo p", "op" },
	{ "locked", "echo x >a; chmod 0 a", "fa" },
	{ "version control and caches",
	  "echo y >.git/index; mkdir __pycache__ k/.pytest_cache; echo 1 >__pycache__/m.pyc; "
	  "echo 2 >k/.pytest_cache/x; echo 3 >m.pyc",
	  "" },
	{ "what the caller leaves out", "echo l >log; echo m >m", "fm" },
};

static void test_cases(void)
{
	auto_buf got = BUF_INIT(1 << 16);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct treestate_look one = { 0 }, two = { 0 };
		struct treestate *ts;
		struct err err = { 0 };
		char first[DIGEST_HEX];

		fresh();
		tap_ok(run(cases[i].script) == 0, "%s: the script runs", cases[i].what);
		ts = treestate_new("upper", "lower", no_logs, NULL);
		tap_ok(treestate_look(ts, &one, &err) == 0 && !one.why, "%s: %s%s", cases[i].what,
		       err.text, one.why ? one.why : "");
		put(&one, &got);
		tap_is_str(buf_str(&got), cases[i].want, cases[i].what);
		tap_ok(treestate_look(ts, &two, &err) == 0 && two.n_changes == 0 &&
			       strcmp(one.sha256, two.sha256) == 0,
		       "%s: looked at again, it is the same", cases[i].what);
		memcpy(first, one.sha256, sizeof(first));
		treestate_look_done(&one);
		treestate_look_done(&two);
		ts = treestate_free(ts);
		fresh();
		run(cases[i].script);
		ts = treestate_new("upper", "lower", no_logs, NULL);
		tap_ok(treestate_look(ts, &one, &err) == 0 && strcmp(one.sha256, first) == 0,
		       "%s: the same script, the same digest", cases[i].what);
		treestate_look_done(&one);
		treestate_free(ts);
	}
}

static void test_steps(void)
{
	static const struct {
		const char *script, *want;
	} steps[] = {
		{ "echo x >>a; echo n >n", "fa fn" }, { "echo y >>a", "fa" },
		{ "echo a >a; rm n", "=a =n" },       { "rm -r d", "-d/e/g -d/f" },
		{ "mkdir d; echo f >d/f", "=d/f" },
	};
	auto_buf got = BUF_INIT(1 << 16);
	struct treestate *ts;
	char digest[ARRAY_SIZE(steps)][DIGEST_HEX];

	fresh();
	ts = treestate_new("upper", "lower", NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct treestate_look l = { 0 };
		struct err err = { 0 };

		tap_ok(run(steps[i].script) == 0 && treestate_look(ts, &l, &err) == 0,
		       "step %zu %s", i, err.text);
		put(&l, &got);
		tap_is_str(buf_str(&got), steps[i].want, steps[i].script);
		memcpy(digest[i], l.sha256, DIGEST_HEX);
		treestate_look_done(&l);
	}
	tap_ok(strcmp(digest[0], digest[1]) != 0 && strcmp(digest[1], digest[2]) != 0,
	       "other contents, another digest");
	treestate_free(ts);
}

static void test_bounds(void)
{
	struct treestate_look l = { 0 };
	struct err err = { 0 };
	struct treestate *ts;

	fresh();
	/* Sparse: its size is what counts. */
	sh("truncate -s 2G upper/huge");
	ts = treestate_new("upper", "lower", NULL, NULL);
	tap_ok(treestate_look(ts, &l, &err) == 0 && l.why && !l.sha256[0],
	       "too many bytes: unknown, because %s", l.why ? l.why : "?");
	treestate_look_done(&l);
	ts = treestate_free(ts);
	sh("rm upper/huge; mkdir upper/many; cd upper/many; seq 50001 | xargs touch");
	ts = treestate_new("upper", "lower", NULL, NULL);
	tap_ok(treestate_look(ts, &l, &err) == 0 && l.why && !l.sha256[0],
	       "too many files: unknown, because %s", l.why ? l.why : "?");
	treestate_look_done(&l);
	ts = treestate_free(ts);
	sh("rm -rf upper; ln -s /etc upper");
	ts = treestate_new("no/such", "lower", NULL, NULL);
	tap_ok(treestate_look(ts, &l, &err) < 0, "no upper layer: %s", err.text);
	treestate_free(ts);
}

int main(void)
{
	const char *dir = sh_enter();

	test_cases();
	test_steps();
	test_bounds();
	sh_leave(dir);
	return tap_done();
}
