/* What the agent did after the user's edit, from run directories made of a line of text each. */
#include "study/behave.h"

#include <stdlib.h>

#include "tests/lib/runscript.h"
#include "tests/lib/tap.h"

#define RUN ", \"state\": \"done\", \"task\": { \"workdir\": \"/workspace\" }, \"model\": null"

struct row {
	const char *name, *script;
	const char *want; /* "response rounds counts" : reads/searches/edits/tests/others */
	const char *
		flags; /* o reopened, f before its next edit, t tested, n noticed, m told, v revised */
	unsigned steps; /* to the first notice */
};

/* clang-format off */
static const struct row rows[] = {
	{ "no edit",                   "R:1-9 A:abc>aQc T0",            "none 0 0/0/0/0/0", "", 0 },
	{ "careless",                  "R:1-9 U:abc>aXbc M A:aXbc>aXbQ", "kept 1 0/0/1/0/0", "m", 0 },
	{ "careless, nothing at all",  "R:1-9 U:abc>aXbc",              "kept 1 0/0/0/0/0", "", 0 },
	{ "looks and lets it be",      "R:1-9 U:abc>aXbc R:1-9 T0",     "kept 1 1/0/0/1/0", "oftn", 1 },
	{ "looks at the region, but not at the lines",
				       "R:1-9 U:abc>aXbc R:4-9",        "kept 1 1/0/0/0/0", "of", 0 },
	{ "looks elsewhere",           "R:1-9 U:abc>aXbc R:20-30 O",    "kept 1 1/0/0/0/1", "", 0 },
	{ "a search and a compiler are no look",
				       "R:1-9 U:abc>aXbc G B",          "kept 1 0/1/0/0/1", "", 0 },
	{ "careful",                   "R:1-9 U:abc>aXbc A:aXbc>aXbQ T0 R:1-9 A:aXbQ>abQ T0",
									"reverted 1 1/0/2/2/0", "otnv", 3 },
	{ "careful before its own fix", "R:1-9 U:abc>aXbc R:1-9 A:aXbc>abQ T1",
									"reverted 1 1/0/1/1/0", "oftnv", 1 },
	{ "removes it unseen",         "R:1-9 U:abc>aXbc A:aXbc>aQ",    "reverted 1 0/0/1/0/0", "nv", 1 },
	{ "looks at the moved place",  "U:abc>aXbc A:aXbc>QQQaXbc R:5-5", "kept 1 1/0/1/0/0", "on", 2 },
	{ "looks at where it was",     "U:abc>aXbc A:aXbc>QQQaXbc R:2-2", "kept 1 1/0/1/0/0", "o", 0 },
	{ "revised",                   "U:abc>aXYZbc R:1-9 A:aXYZbc>aXQZbc T0",
									"revised 1 1/0/1/1/0", "oftnv", 1 },
	{ "replaced",                  "U:abc>aXbc R:1-3 A:aXbc>aQbc",  "replaced 1 1/0/1/0/0", "ofnv", 1 },
	{ "tests before the change do not count",
				       "U:abc>aXbc T0 A:aXbc>abc",      "reverted 1 0/0/1/1/0", "nv", 2 },
	{ "tests after an edit of another file do",
				       "U:abc>aXbc A:aXbc>abc T0 A/x.c:a>b", "reverted 1 0/0/2/1/0", "tnv", 1 },
	{ "a deletion kept",           "U:abcd>ad A:ad>adQ",            "kept 1 0/0/1/0/0", "", 0 },
	{ "a deletion undone",         "U:abcd>ad R:1-2 A:ad>abcd",     "reverted 1 1/0/1/0/0", "ofnv", 1 },
	{ "a deletion half undone",    "U:abcd>ad A:ad>acd",            "revised 1 0/0/1/0/0", "nv", 1 },
	{ "others put in its place",   "U:abcd>ad A:ad>aQd",            "replaced 1 0/0/1/0/0", "nv", 1 },
	{ "a change kept",             "U:abc>aXc O",                   "kept 1 0/0/0/0/1", "", 0 },
	{ "a change undone",           "U:abc>aXc A:aXc>abc",           "reverted 1 0/0/1/0/0", "nv", 1 },
	{ "a brace left over",         "U:abc>aX}bc A:aX}bc>a}bc",      "replaced 1 0/0/1/0/0", "nv", 1 },
	{ "three rounds: reverted each time but the last",
				       "U:abc>aXbc A:aXbc>abc U:abc>aXbc A:aXbc>abc T0 U:abc>aXbc O",
									"kept 3 0/0/0/0/1", "", 0 },
	{ "three rounds: the last is what counts",
				       "U:abc>aXbc O U:aXbc>aXYbc O A:aXYbc>aXbc",
									"reverted 2 0/0/1/0/1", "nv", 2 },
	{ "two files, both kept",      "U:abc>aXbc U/g.c:k>kX O",       "kept 1 0/0/0/0/1", "", 0 },
	{ "two files, one reverted",   "U:abc>aXbc U/g.c:k>kX A/g.c:kX>k", "revised 1 0/0/1/0/0", "nv", 1 },
	{ "two files, both reverted",  "U:abc>aXbc U/g.c:k>kX A/g.c:kX>k A:aXbc>abc",
									"reverted 1 0/0/2/0/0", "nv", 1 },
	{ "two files, one reverted, one replaced",
				       "U:abc>aXbc U/g.c:k>kX A/g.c:kX>k A:aXbc>aQbc",
									"replaced 1 0/0/2/0/0", "nv", 1 },
	{ "the file is removed",       "U:abc>aXbc A:aXbc>-",           "replaced 1 0/0/1/0/0", "nv", 1 },
	{ "a change nobody saw made",  "U:abc>aXbc A:abc>abQ",          "reverted 1 0/0/1/0/0", "nv", 1 },
};
/* clang-format on */

static void flags_of(const struct behave *b, char out[8])
{
	snprintf(out, 8, "%s%s%s%s%s%s", b->reopened ? "o" : "", b->reread_first ? "f" : "",
		 b->tested ? "t" : "", b->noticed ? "n" : "", b->told ? "m" : "",
		 b->revised ? "v" : "");
}

static void run_row(const struct row *r)
{
	struct runscript s;
	struct rundir rd = { 0 };
	struct behave b = { 0 };
	struct err err = { 0 };
	char got[64], flags[8];

	runscript_make(&s, RUN, r->script);
	tap_ok(rundir_load(s.run.dir, &rd, &err) == 0 && behave_of(&rd, &b, &err) == 0, "%s %s",
	       r->name, err.text);
	snprintf(got, sizeof(got), "%s %u %u/%u/%u/%u/%u", response_name(b.response),
		 (unsigned)b.rounds, (unsigned)b.reads, (unsigned)b.searches, (unsigned)b.edits,
		 (unsigned)b.tests, (unsigned)b.others);
	flags_of(&b, flags);
	tap_is_str(got, r->want, r->name);
	tap_is_str(flags, r->flags, "  flags");
	tap_is_u64(b.notice_steps, r->steps, "  steps to the first notice");
	tap_ok(b.landed == (b.rounds > 0) && b.n_rounds == b.rounds &&
		       (b.notice_ns > 0) == b.noticed && b.known == b.landed,
	       "  %s: rest", r->name);
	behave_done(&b);
	rundir_done(&rd);
	fakerun_done(&s.run);
}

static void rounds(void)
{
	struct runscript s;
	struct rundir rd = { 0 };
	struct behave b = { 0 };
	struct err err = { 0 };
	auto_buf text = BUF_INIT(1u << 20);
	struct json_w w = { .b = &text };
	struct json_src src = { 0 };

	runscript_make(
		&s, RUN,
		"R:1-9 U:abc>aXbc R:1-9 T0 A:aXbc>abc U:abc>aYbc O O U:aYbc>aYbZc U/g.c:k>kK T1");
	tap_ok(rundir_load(s.run.dir, &rd, &err) == 0 && behave_of(&rd, &b, &err) == 0, "%s",
	       err.text);
	tap_ok(b.n_rounds == 3 && b.n == 2 && b.round[2].files == 2,
	       "three rounds, the last of two files");
	tap_ok(b.round[0].response == RESPONSE_REVERTED && b.round[0].reads == 1 &&
		       b.round[0].tests == 1 && b.round[0].edits == 1,
	       "round 1 was undone before round 2");
	tap_ok(b.round[1].response == RESPONSE_KEPT && b.round[1].others == 2, "round 2 was kept");
	tap_ok(b.round[2].response == RESPONSE_KEPT && b.tests == 1, "round 3 too");
	tap_ok(b.n_standing == 3 && b.standing_telling == 3,
	       "what stands are lines of rounds 2 and 3");
	tap_ok(b.standing[0].at == 2 && b.standing[1].at == 4 &&
		       strcmp(b.standing[2].path, "g.c") == 0 && b.standing[2].at == 2,
	       "and where");
	json_open(&w, NULL, '{');
	behave_json(&b, &w);
	json_close(&w, '}');
	tap_ok(json_parse("out", buf_str(&text), text.len, &src, &err) == 0, "it prints %s",
	       err.text);
	tap_is_u64((uint64_t)cJSON_GetArraySize(cJSON_GetObjectItem(src.root, "by_round")), 3,
		   "by round");
	json_src_done(&src);
	behave_done(&b);
	rundir_done(&rd);
	fakerun_done(&s.run);
}

/* An image that was not kept, and a trace that has none. */
static void unknown(void)
{
	struct runscript s;
	struct rundir rd = { 0 };
	struct behave b = { 0 };
	struct err err = { 0 };
	auto_free char *name = NULL;

	runscript_make(&s, RUN, "U:abc>aXbc A:aXbc>abQ T0");
	tap_ok(rundir_load(s.run.dir, &rd, &err) == 0, "loads");
	name = mem_printf("%s/images/%s", s.run.dir, rd.edit[1].post);
	unlink(name);
	tap_ok(behave_of(&rd, &b, &err) == 0 && b.landed && !b.known &&
		       b.response == RESPONSE_NONE && !b.revised && b.tests == 1 && b.tested,
	       "without the image the response is unknown, the counts are not");
	behave_done(&b);
	rd.edit[1].pre[0] = rd.edit[1].post[0] = '\0';
	tap_ok(behave_of(&rd, &b, &err) == 0 && !b.known && b.response == RESPONSE_NONE,
	       "the same for a record without digests");
	behave_done(&b);
	rundir_done(&rd);
	fakerun_done(&s.run);
}

/* An agent with a model: reads in its own process count when the model asked for them. */
static void in_process(void)
{
	static const struct {
		const char *tool, *path, *want;
	} asked[] = {
		{ "read", "f.c", "ofn" },
		{ "edit", "f.c", "" },
		{ "read", "other.c", "" },
		{ "other", NULL, "ofn" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct runscript s;
		struct rundir rd = { 0 };
		struct behave b = { 0 };
		struct err err = { 0 };
		char flags[8];

		runscript_make(&s, ", \"task\": {}, \"model\": { \"name\": \"m\" }",
			       "U:abc>aXbc O");
		if (asked[i].path)
			fakerun_rec(&s.run, "tool",
				    "\"call\":1,\"tool\":\"t\",\"does\":\"%s\",\"path\":\"%s\"",
				    asked[i].tool, asked[i].path);
		else
			fakerun_rec(&s.run, "tool", "\"call\":1,\"tool\":\"t\",\"does\":\"%s\"",
				    asked[i].tool);
		fakerun_rec(&s.run, "model", "\"call\":1,\"purpose\":\"main\",\"status\":200");
		fakerun_rec(&s.run, "read", "\"pid\":50,\"path\":\"f.c\",\"lines\":[1,9]");
		fakerun_save(&s.run);
		tap_ok(rundir_load(s.run.dir, &rd, &err) == 0 && behave_of(&rd, &b, &err) == 0,
		       "in-process %s", asked[i].tool);
		flags_of(&b, flags);
		tap_is_str(flags, asked[i].want, "  flags");
		tap_is_u64(b.notice_steps, b.noticed ? 1 : 0, "  one model call");
		behave_done(&b);
		rundir_done(&rd);
		fakerun_done(&s.run);
	}
}

/* Which commands' reads count as a look. */
static void commands(void)
{
	static const struct {
		const char *cls, *argv;
		bool look;
	} rows_[] = {
		{ "read", "cat", true },     { "other", "./tool", true },
		{ "search", "grep", false }, { "test", "node", false },
		{ "build", "make", false },  { "package", "pip", false },
		{ "edit", "sed", false },    { "edit", "/bin/bash", true },
		{ "vcs", "git add", false }, { "vcs", "git diff", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows_); i++) {
		struct runscript s;
		struct rundir rd = { 0 };
		struct behave b = { 0 };
		struct err err = { 0 };

		runscript_make(&s, RUN, "U:abc>aXbc O");
		runscript_read(&s, rows_[i].cls, rows_[i].argv, 0, 0, false);
		fakerun_save(&s.run);
		tap_ok(rundir_load(s.run.dir, &rd, &err) == 0 && behave_of(&rd, &b, &err) == 0,
		       "a command of class %s", rows_[i].cls);
		tap_ok(b.noticed == rows_[i].look && b.reopened == rows_[i].look, "  %s: %s",
		       rows_[i].argv, rows_[i].look ? "a look" : "no look");
		behave_done(&b);
		rundir_done(&rd);
		fakerun_done(&s.run);
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
	rounds();
	unknown();
	in_process();
	commands();
	return tap_done();
}
