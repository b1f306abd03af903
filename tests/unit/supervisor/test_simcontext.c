/* The context of the simulated user's messages: complete, bounded, the same bytes for the same facts. */
#include "supervisor/simcontext.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static char *text_of(const struct simcontext *c)
{
	auto_buf b = BUF_INIT(SIMCONTEXT_MAX);

	simcontext_write(c, &b);
	tap_ok(!b.full, "it fits");
	return buf_steal(&b, NULL);
}

static void test_whole(void)
{
	const char *const events[] = { "ls", "cat a.c\n   -> int a;" };
	struct simcontext c = { .repo = "example/duration",
				.instance_id = "example__duration-1",
				.statement = "Mend it.\nSoon.",
				.index = 2,
				.reason = "the developer has just read a.c, lines 3-4",
				.path = "a.c",
				.first = 3,
				.last = 9,
				.command = "sed -n 3,9p a.c",
				.output = "int b;\n",
				.events = events,
				.n_events = 2,
				.claim = "The limit is 10.",
				.diff = "diff --git a/a.c b/a.c\n" };
	auto_free char *text = text_of(&c), *again = text_of(&c);

	tap_is_str(text,
		   "Repository: example/duration\n"
		   "Task: example__duration-1\n"
		   "Number of this message: 2\n"
		   "Why now: the developer has just read a.c, lines 3-4\n"
		   "Place of your change: a.c:3-9\n"
		   "\n[The task as the developer has it]\nMend it.\nSoon.\n"
		   "\n[What the developer did before that, oldest first]\n1. ls\n2. cat a.c\n"
		   "   -> int a;\n"
		   "\n[The developer's last command]\nsed -n 3,9p a.c\n"
		   "\n[What it printed]\nint b;\n\n"
		   "\n[What you believe about your change]\nThe limit is 10.\n"
		   "\n[Your change]\ndiff --git a/a.c b/a.c\n\n",
		   "every part in its place");
	tap_is_str(again, text, "the same facts, the same bytes");
}

static void test_nothing(void)
{
	struct simcontext c = { .index = 1 };
	auto_free char *text = text_of(&c);

	tap_ok(strstr(text, "Repository: (not known)\n") && strstr(text, "Your change: ") == NULL &&
		       strstr(text, "Place of your change: (not known)\n") &&
		       strstr(text, "oldest first]\n(nothing yet)\n") &&
		       strstr(text, "[Your change]\n(no change this time"),
	       "what is not known is said so");
}

/* @n times @piece. */
static char *repeat(const char *piece, size_t n)
{
	struct buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < n; i++)
		buf_adds(&b, piece);
	return buf_steal(&b, NULL);
}

static size_t chars_of(const char *s, const char *mark)
{
	size_t n = 0;

	for (s = strstr(s, mark); s && (s = strstr(s, mark)); s += strlen(mark))
		n++;
	return n;
}

static void test_cut(void)
{
	auto_free char *statement = repeat("s\xc3\xa4", 5000),
		       *command = repeat("\xe2\x82\xac", 5000);
	auto_free char *output = repeat("o\n", 5000), *diff = repeat("+d\n", 5000);
	auto_free char *claim = repeat("K", 5000), *path = repeat("P", 5000);
	auto_free char *event = repeat("\xf0\x9f\x99\x82", 2000);
	const char *const events[] = { "gone 1", "gone 2", event, event, event, event };
	struct simcontext c = { .statement = statement,
				.index = UINT64_MAX,
				.path = path,
				.first = UINT64_MAX,
				.last = UINT64_MAX,
				.reason = path,
				.repo = path,
				.instance_id = path,
				.command = command,
				.output = output,
				.events = events,
				.n_events = 6,
				.claim = claim,
				.diff = diff };
	auto_free char *text = text_of(&c);
	size_t bad;

	tap_is_u64(chars_of(text, "\xc3\xa4"), SIMCONTEXT_STATEMENT / 2, "of the statement 2400");
	tap_is_u64(chars_of(text, "\xe2\x82\xac"), SIMCONTEXT_COMMAND, "of the command 1200");
	tap_is_u64(chars_of(text, "o\n"), SIMCONTEXT_OUTPUT / 2, "of its output 1200");
	tap_is_u64(chars_of(text, "\xf0\x9f\x99\x82"), 4 * SIMCONTEXT_EVENT,
		   "the last four events, 600 of each");
	tap_ok(!strstr(text, "gone"), "the others are left out");
	tap_is_u64(chars_of(text, "+d\n"), 733, "of the change 2200");
	tap_is_u64(chars_of(text, "K"), SIMCONTEXT_CLAIM, "of the claim 600");
	tap_is_u64(chars_of(text, "[the rest is left out]"), 13, "each cut is told");
	tap_ok(str_utf8(text, strlen(text), &bad), "no character is cut in two");
}

static void clean(const char *s, size_t n, size_t max, const char *want, const char *name)
{
	auto_buf b = BUF_INIT(1024);

	simcontext_clean(&b, s, n, max);
	tap_is_str(buf_str(&b), want, name);
}

static void test_clean(void)
{
	clean("a\xff\xc3", 3, 9, "a??", "bytes that are no UTF-8");
	clean("\xc3\xa4x", 3, 1, "\xc3\xa4 [the rest is left out]", "characters are counted");
	clean("\x1b[31m\x7f\tb\n\0c", 11, 99, "?[31m?\tb\n?c", "control characters");
	clean("\xed\xa0\x80", 3, 9, "???", "a surrogate is no character");
	clean("abc", 3, 3, "abc", "as much as there is room for");
	clean("", 0, 0, "", "nothing");
}

int main(void)
{
	test_whole();
	test_nothing();
	test_cut();
	test_clean();
	return tap_done();
}
