/* Every fixture of tests/readers: what real runners printed is read as its .expect file says.
 * usage: test_readers [DIR], DIR is tests/readers when not given. */
#include <fts.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/readlog.h"
#include "tests/lib/tap.h"

/* Value of the line "KEY value" in the head of an .expect file, NULL when there is none. Caller frees. */
static char *head(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (*text && *text != '\n') {
		size_t len = strcspn(text, "\n");

		if (len > n && strncmp(text, key, n) == 0 && text[n] == ' ')
			return mem_strndup(text + n + 1, len - n - 1);
		text += len + (text[len] == '\n');
	}
	return NULL;
}

/* The file without its first lines that begin with "# ": they are for people. */
static const char *body(const char *text)
{
	while (strncmp(text, "# ", 2) == 0) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

/* Read DIR/CASE.@suffix into @b. */
static bool load(const char *stem, const char *suffix, struct buf *b)
{
	auto_free char *path = mem_printf("%s.%s", stem, suffix);
	struct err err = { 0 };

	if (fd_read_file(path, b, &err) < 0) {
		tap_ok(false, "%s", err.text);
		return false;
	}
	return true;
}

/* @stem is the path without ".expect", @name what the assertion is called. */
static void fixture(const char *stem, const char *name)
{
	auto_buf file = BUF_INIT(READLOG_MAX), log = BUF_INIT(READLOG_MAX),
		 report = BUF_INIT(READLOG_MAX), got = BUF_INIT(READLOG_MAX);
	auto_free char *reader = NULL, *status = NULL, *root = NULL, *has_report = NULL,
		       *note = NULL;
	struct testlog_input in = { 0 };
	struct err err = { 0 };
	const char *want;

	if (!load(stem, "expect", &file) || !load(stem, "log", &log))
		return;
	want = body(buf_str(&file));
	reader = head(want, "reader");
	status = head(want, "exit");
	root = head(want, "root");
	has_report = head(want, "report");
	if (!reader || !testlog_find(reader) || !status || !root) {
		tap_ok(false, "%s: the head names a reader, exit and root", name);
		return;
	}
	if (has_report && !load(stem, "report", &report))
		return;
	in = (struct testlog_input){ .log = buf_str(&log),
				     .log_len = log.len,
				     .report = has_report ? buf_str(&report) : NULL,
				     .report_len = report.len,
				     .exit_status = (int)strtol(status, NULL, 10),
				     .root = root };
	if (readlog_text(testlog_find(reader), &in, &got, &note, &err) < 0)
		tap_ok(false, "%s: %s", name, err.text);
	else if (!tap_is_str(buf_str(&got), want, name) && note)
		tap_diag("note: %s", note);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int main(int argc, char **argv)
{
	char *roots[] = { argc > 1 ? argv[1] : (char[]){ "tests/readers" }, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	unsigned n = 0;

	for (FTSENT *e; tree && (e = fts_read(tree));) {
		auto_free char *stem = NULL;

		/* tests/readers/RUNNER/CASE.expect and nothing deeper: projects are runners' input */
		if (e->fts_info == FTS_D && e->fts_level > 1)
			fts_set(tree, e, FTS_SKIP);
		if (e->fts_info != FTS_F || e->fts_level != 2 || !str_ends(e->fts_name, ".expect"))
			continue;
		stem = mem_strndup(e->fts_path, strlen(e->fts_path) - strlen(".expect"));
		fixture(stem, stem + strlen(roots[0]) + 1);
		n++;
	}
	if (tree)
		fts_close(tree);
	tap_ok(n > 0, "%u fixtures below %s", n, roots[0]);
	return tap_done();
}
