/* The script that version 5 of SWE-bench runs: set-up lines, the test patch put on with git, a marker, the test
 * command, a marker, the tests' files put back. The patch is our business, and so is putting files back; the
 * rest is kept and run by bash, as there. */
#include <string.h>

#include "base/mem.h"
#include "study/import_rows_internal.h"

#define SCRIPT_MAX (1u << 20)

/* A line of the script. */
struct line {
	const char *s;
	size_t n;
};

static bool next_line(const char **p, struct line *ret)
{
	if (!**p)
		return false;
	ret->s = *p;
	ret->n = strcspn(*p, "\n");
	*p += ret->n + ((*p)[ret->n] == '\n');
	if (ret->n && ret->s[ret->n - 1] == '\r')
		ret->n--;
	return true;
}

static bool has(const struct line *l, const char *text)
{
	return memmem(l->s, l->n, text, strlen(text)) != NULL;
}

static bool starts(const struct line *l, const char *text)
{
	size_t n = strlen(text);

	return l->n >= n && memcmp(l->s, text, n) == 0;
}

/* Lines that are done by us, or say something about the tree only. */
static const char *const dropped[] = {
	"#!",
	"set -",
	"git apply",
	"git checkout ",
	"git status",
	"git show",
	"git diff",
	"git -c core.fileMode=false diff",
	"git config --global --add safe.directory",
};

static bool is_dropped(const struct line *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		if (starts(l, dropped[i]))
			return true;
	return l->n == 0;
}

/* Word behind "<<" of a here document, without quotes; false when the line begins none. */
static bool heredoc(const struct line *l, struct line *word)
{
	const char *at = memmem(l->s, l->n, "<<", 2), *end = l->s + l->n;

	if (!at || (at + 2 < end && at[2] == '<')) /* "<<<": a word, not lines */
		return false;
	for (at += 2; at < end && strchr("- '\"\\", *at); at++)
		;
	word->s = at;
	while (at < end && !strchr(" '\"\t;|&>", *at))
		at++;
	word->n = (size_t)(at - word->s);
	return word->n > 0;
}

/* Copy or drop the line and the here document that it begins. */
static void take(const char **p, const struct line *l, bool drop, struct buf *out)
{
	struct line word, next;

	if (!drop) {
		buf_add(out, l->s, l->n);
		buf_addc(out, '\n');
	}
	if (!heredoc(l, &word))
		return;
	while (next_line(p, &next)) {
		if (!drop) {
			buf_add(out, next.s, next.n);
			buf_addc(out, '\n');
		}
		if (next.n == word.n && memcmp(next.s, word.s, word.n) == 0)
			return;
	}
}

char *row_eval_command(const char *script)
{
	auto_buf body = BUF_INIT(SCRIPT_MAX), out = BUF_INIT(2 * SCRIPT_MAX);
	bool started = false, ended = false;
	const char *p = script;
	struct line l;

	buf_adds(&body, "set -uo pipefail\n");
	while (!ended && next_line(&p, &l)) {
		if (has(&l, ">>>>> Start Test Output"))
			started = true;
		else if (has(&l, ">>>>> End Test Output"))
			ended = true;
		else
			take(&p, &l, !started && is_dropped(&l), &body);
	}
	if (!started || !ended || body.full)
		return NULL;
	buf_adds(&out, "exec bash -c ");
	row_quote(&out, buf_str(&body));
	return out.full ? NULL : buf_steal(&out, NULL);
}
