/* Contents of followed files: digests, lines and hunks of every change, files that are followed without
 * a region, what a read was to show, and that nothing ever fires by a file without one. */
#include "triggers/engine.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/str.h"
#include "profiles/scenario.h"
#include "tests/lib/tap.h"
#include "triggers/lines.h"

enum { FILES = 4 };

/* A workspace in memory. */
struct shelf {
	struct engine *e;
	struct scenario *sc;
	struct {
		const char *path;
		char *data; /* owned; NULL = not there */
		size_t len;
		bool large; /* too large to be read */
	} file[FILES];
	char log[65536];
	unsigned images, fired, touched, digests;
	bool no_digest;
};

__attribute__((format(printf, 2, 3))) static void say(struct shelf *s, const char *fmt, ...)
{
	size_t n = strlen(s->log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->log + n, sizeof(s->log) - n, fmt, ap);
	va_end(ap);
}

static size_t find(struct shelf *s, const char *path)
{
	for (size_t i = 0; i < FILES; i++)
		if (str_eq(s->file[i].path, path))
			return i;
	return FILES;
}

static int op_read(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err)
{
	struct shelf *s = arg;
	size_t i = find(s, path);

	if (i == FILES || !s->file[i].data)
		return 0;
	if (s->file[i].large)
		return err_set(err, ERR_LIMIT, "too large");
	*mode = 0100644;
	buf_add(out, s->file[i].data, s->file[i].len);
	return 1;
}

static int op_digest(void *arg, const char *path, char out[DIGEST_HEX])
{
	struct shelf *s = arg;
	size_t i = find(s, path);

	s->digests++;
	if (s->no_digest || i == FILES || !s->file[i].data)
		return 0;
	digest_bytes(s->file[i].data, s->file[i].len, out);
	return 1;
}

static void put(struct shelf *s, const char *path, const char *data)
{
	size_t i = find(s, path);

	free(s->file[i].data);
	s->file[i].data = mem_strdup(data);
	s->file[i].len = data ? strlen(data) : 0;
}

static int op_write(void *arg, const char *path, const void *data, size_t n, uint32_t mode,
		    struct err *err)
{
	auto_free char *text = mem_strndup(data ? data : "", n);

	(void)err;
	put(arg, path, mode ? text : NULL);
	return 0;
}

static void op_touched(void *arg, const struct touch *t)
{
	struct shelf *s = arg;

	(void)t;
	s->touched++;
}

static void op_fired(void *arg, const struct firing *f)
{
	struct shelf *s = arg;

	s->fired += f->applied;
}

/* First eight digits are enough to tell a handful of files. */
static void op_edited(void *arg, const struct edit *ed)
{
	say(arg, "[%s %s %d-%d %.8s>%.8s", ed->by_agent ? "agent" : "user", ed->path,
	    (int)ed->first, (int)ed->last, ed->pre ? ed->pre : "-", ed->post ? ed->post : "-");
	if (ed->base)
		say(arg, " base %.8s", ed->base);
	for (size_t i = 0; i < ed->changes->n; i++)
		say(arg, " %d,%d,%d,%d", (int)ed->changes->v[i].old_first,
		    (int)ed->changes->v[i].old_n, (int)ed->changes->v[i].new_first,
		    (int)ed->changes->v[i].new_n);
	say(arg, "%s%s]", ed->unread ? " unread" : "", ed->data ? "" : " no data");
}

static void op_image(void *arg, const char *path, const char *sha256, const char *data, size_t len)
{
	struct shelf *s = arg;
	char sum[DIGEST_HEX];

	s->images++;
	say(s, "{%s %.8s}", path, sha256);
	if (data && strcmp(digest_bytes(data, len, sum), sha256) != 0)
		say(s, "{not its digest}");
}

static const struct engine_ops ops = { .read = op_read,
				       .write = op_write,
				       .touched = op_touched,
				       .fired = op_fired,
				       .edited = op_edited,
				       .image = op_image,
				       .digest = op_digest };

static const char diff[] = "--- a/r\\n+++ b/r\\n@@ -1,3 +1,3 @@\\n a\\n-b\\n+USER\\n c\\n"
			   "--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-one\\n+ONE\\n";

/* Region r:1-3; an intervention on its read edits r and x. @scenario false: none at all. */
static void begin(struct shelf *s, bool scenario)
{
	auto_free char *json = mem_printf(
		"{\"schema\":\"proctor.scenario/1\",\"id\":\"s\",\"mode\":\"edit\","
		"\"regions\":[{\"path\":\"r\",\"start\":1,\"end\":3}],\"interventions\":[{\"order\":1,"
		"\"when\":{\"event\":\"read_or_edit\",\"regions\":[0],\"touch\":\"bytes\"},"
		"\"timing\":\"at-touch\",\"effects\":[{\"edit\":\"%s\"}]}]}",
		diff);
	struct err err = { ERR_NONE, 0, "" };

	memset(s, 0, sizeof(*s));
	s->file[0].path = "r";
	s->file[1].path = "x";
	s->file[2].path = "dir/y";
	s->file[3].path = "z";
	put(s, "r", "a\nb\nc\n");
	put(s, "x", "one\n");
	put(s, "dir/y", "1\n2\n3\n4\n5\n");
	if ((scenario && scenario_parse("t", json, strlen(json), NULL, &s->sc, &err) < 0) ||
	    engine_new(s->sc, &ops, s, &s->e, &err) < 0) {
		tap_ok(false, "set up: %s", err.text);
		exit(1);
	}
}

static void end(struct shelf *s)
{
	engine_free(s->e);
	scenario_free(s->sc);
	for (size_t i = 0; i < FILES; i++)
		free(s->file[i].data);
}

static int change(struct shelf *s, const char *path, const char *data)
{
	struct err err;

	put(s, path, data);
	s->log[0] = '\0';
	return engine_changed(s->e, path, 7, 3, NULL, &err);
}

static char sums[8][DIGEST_HEX];

/* First digits of the digest of @text. Static, eight at a time. */
static const char *sum(const char *text)
{
	static unsigned at;
	char *out = sums[at++ % 8];

	digest_bytes(text, strlen(text), out);
	out[8] = '\0';
	return out;
}

__attribute__((format(printf, 3, 4))) static void is(const struct shelf *s, const char *name,
						     const char *fmt, ...)
{
	char want[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	tap_is_str(s->log, want, name);
}

static void test_region_file(void)
{
	struct shelf s;

	begin(&s, true);
	engine_arm(s.e, false);
	is(&s,
	   "the first contents of the region's file are told, and of the other that the edit names",
	   "{r %s}{x %s}", sum("a\nb\nc\n"), sum("one\n"));
	tap_is_u64((uint64_t)change(&s, "r", "a\nb\nc\nd\n"), 1, "a change");
	is(&s, "with its digests and places", "[agent r 4-4 %s>%s 4,0,4,1]", sum("a\nb\nc\n"),
	   sum("a\nb\nc\nd\n"));
	tap_is_u64((uint64_t)change(&s, "r", "a\nb\nc\nd\n"), 0, "the same bytes are no change");
	is(&s, "and are not told", "%s", "");
	change(&s, "r", NULL);
	is(&s, "it goes", "[agent r 0-0 %s>- no data]", sum("a\nb\nc\nd\n"));
	change(&s, "r", "A\nb\nc\nd\n");
	is(&s, "and comes back: compared with what it held", "[agent r 1-1 ->%s base %s 1,1,1,1]",
	   sum("A\nb\nc\nd\n"), sum("a\nb\nc\nd\n"));
	change(&s, "r", "");
	is(&s, "it is emptied", "[agent r 0-0 %s>%s]", sum("A\nb\nc\nd\n"), sum(""));
	change(&s, "r", "A\nb\nc\nd\n");
	is(&s, "and filled as it was: nothing is new", "[agent r 0-0 %s>%s base %s]", sum(""),
	   sum("A\nb\nc\nd\n"), sum("A\nb\nc\nd\n"));
	change(&s, "r", "A\nc\nx\nd\n");
	is(&s, "two places", "[agent r 2-3 %s>%s 2,1,2,0 4,0,3,1]", sum("A\nb\nc\nd\n"),
	   sum("A\nc\nx\nd\n"));
	end(&s);
}

static void test_follow(void)
{
	struct shelf s;
	struct err err;

	begin(&s, false);
	tap_is_u64(engine_files(s.e), 0, "without a scenario nothing is followed");
	tap_ok(engine_index(s.e, "x") < 0, "no index");
	tap_is_u64((uint64_t)change(&s, "x", "two\n"), 0, "and no change is seen");
	tap_is_u64((uint64_t)engine_follow(s.e, "dir/y", false), 0, "the first file");
	is(&s, "its image is told", "{dir/y %s}", sum("1\n2\n3\n4\n5\n"));
	tap_is_u64((uint64_t)engine_follow(s.e, "z", true), 1, "one that is not there yet");
	is(&s, "has no image", "{dir/y %s}", sum("1\n2\n3\n4\n5\n"));
	tap_is_u64((uint64_t)engine_follow(s.e, "dir/y", true), 0, "followed already");
	tap_ok(engine_files(s.e) == 2 && engine_index(s.e, "z") == 1 &&
		       str_eq(engine_file(s.e, 1), "z"),
	       "both are in the list");
	change(&s, "z", "n\nm\n");
	is(&s, "a new file is new in all its lines", "[agent z 1-2 ->%s 1,0,1,2]", sum("n\nm\n"));
	change(&s, "z", NULL);
	change(&s, "z", "");
	is(&s, "made, empty", "[agent z 0-0 ->%s]", sum(""));
	change(&s, "dir/y", "1\n2\nX\n4\n5\n");
	is(&s, "a line changed", "[agent dir/y 3-3 %s>%s 3,1,3,1]", sum("1\n2\n3\n4\n5\n"),
	   sum("1\n2\nX\n4\n5\n"));
	/* at the end of the run */
	put(&s, "z", "late\n");
	s.log[0] = '\0';
	engine_settle(s.e);
	is(&s, "what nobody told is told at the end", "[agent z 1-1 %s>%s base %s 1,2,1,1]",
	   sum(""), sum("late\n"), sum("n\nm\n"));
	s.log[0] = '\0';
	engine_settle(s.e);
	is(&s, "once", "%s", "");
	tap_is_u64(s.touched + s.fired, 0, "no touch, no firing");
	tap_ok(engine_tick(s.e, 1, &err) == 0, "nothing to do without a scenario");
	end(&s);
}

static void test_growth(void)
{
	struct shelf s;
	unsigned wrong = 0;

	begin(&s, true);
	for (unsigned i = 0; i < 3000; i++) {
		auto_free char *path = mem_printf("many/%u", i);

		wrong += engine_follow(s.e, path, true) != (int)i + 2;
	}
	for (unsigned i = 0; i < 3000; i++) {
		auto_free char *path = mem_printf("many/%u", i);

		wrong += engine_index(s.e, path) != (int)i + 2 ||
			 !str_eq(engine_file(s.e, i + 2), path);
	}
	tap_is_u64(wrong, 0, "thousands are found again");
	tap_is_str(engine_file(s.e, 0), "r", "the region's file stays in front");
	change(&s, "r", "a\nB\nc\n");
	tap_ok(s.touched == 1 && s.fired == 1, "and is touched and fires as ever");
	end(&s);
}

static void test_bare_never_fires(void)
{
	struct access a = { .kind = ACCESS_READ, .path = "x", .pid = 7, .cmd = 3 };
	struct shelf s;
	struct err err;

	begin(&s, true);
	(void)engine_follow(s.e, "dir/y", false);
	a.path = "dir/y";
	tap_ok(engine_before(s.e, &a, &err) == 0 && engine_after(s.e, &a, &err) == 0 &&
		       change(&s, "dir/y", "other\n") == 1 && s.touched == 0 && s.fired == 0,
	       "opens, reads and edits of a file without region are no touch");
	/* what waits is still there, and fires by the region alone; x is followed because we edit it */
	a.path = "r";
	s.log[0] = '\0';
	tap_is_u64((uint64_t)engine_before(s.e, &a, &err), 1, "the region's file fires");
	is(&s, "our edit follows its other file too",
	   "[user r 2-2 %s>%s 2,1,2,1][user x 1-1 %s>%s 1,1,1,1]", sum("a\nb\nc\n"),
	   sum("a\nUSER\nc\n"), sum("one\n"), sum("ONE\n"));
	end(&s);
}

/* The agent's half-written file under our edit is its own edit. */
static void test_half_written(void)
{
	struct access a = { .kind = ACCESS_READ, .path = "r", .pid = 7, .cmd = 3 };
	struct shelf s;
	struct err err;

	begin(&s, true);
	put(&s, "r", "a\nb\nc\nmore\n");
	s.log[0] = '\0';
	tap_is_u64((uint64_t)engine_before(s.e, &a, &err), 1, "fires");
	is(&s, "first the agent's edit, then ours",
	   "[agent r 4-4 %s>%s 4,0,4,1][user r 2-2 %s>%s 2,1,2,1][user x 1-1 %s>%s 1,1,1,1]",
	   sum("a\nb\nc\n"), sum("a\nb\nc\nmore\n"), sum("a\nb\nc\nmore\n"),
	   sum("a\nUSER\nc\nmore\n"), sum("one\n"), sum("ONE\n"));
	end(&s);
}

static void test_large(void)
{
	struct shelf s;

	begin(&s, false);
	(void)engine_follow(s.e, "x", false);
	s.file[1].large = true;
	change(&s, "x", "giant 1\n");
	is(&s, "too large to be read: the digest all the same", "[agent x 0-0 %s>%s no data]",
	   sum("one\n"), sum("giant 1\n"));
	tap_is_u64((uint64_t)change(&s, "x", "giant 1\n"), 0, "by which it has not changed");
	change(&s, "x", "giant 2\n");
	is(&s, "and has", "[agent x 0-0 %s>%s no data]", sum("giant 1\n"), sum("giant 2\n"));
	s.no_digest = true;
	tap_is_u64((uint64_t)change(&s, "x", "giant 2\n"), 1,
		   "where nobody can tell, a report counts");
	is(&s, "and says that", "[agent x 0-0 %s>- unread no data]", sum("giant 2\n"));
	s.log[0] = '\0';
	engine_settle(s.e);
	is(&s, "but the end tells nothing new", "%s", "");
	s.no_digest = s.file[1].large = false;
	change(&s, "x", "small\n");
	is(&s, "small again: its lines cannot be told", "[agent x 0-0 ->%s]", sum("small\n"));
	end(&s);
}

static void test_held(void)
{
	struct shelf s;
	size_t n = 15u << 20;
	auto_free char *newlines = mem_alloc(n + 1);

	memset(newlines, '\n', n);
	newlines[n] = '\0';
	begin(&s, false);
	/* 15 MiB of newlines cost nine times that: the second one is beyond what is held */
	put(&s, "x", newlines);
	put(&s, "z", newlines);
	(void)engine_follow(s.e, "x", false);
	(void)engine_follow(s.e, "z", false);
	tap_is_u64(s.images, 2, "both have their digest and image");
	newlines[n - 1] = 'x';
	change(&s, "x", newlines);
	tap_ok(strstr(s.log, "15728640-15728640") != NULL, "lines of the one that is held: %s",
	       s.log);
	change(&s, "z", newlines);
	tap_ok(strstr(s.log, "z 0-0") && !strstr(s.log, "no data"),
	       "not of the other, but its bytes: %s", s.log);
	change(&s, "x", NULL);
	change(&s, "x", "tiny\n");
	change(&s, "z", newlines + n - 100);
	newlines[n - 2] = 'y';
	change(&s, "z", newlines + n - 100);
	tap_ok(strstr(s.log, "z 99-99") != NULL, "room again: lines again: %s", s.log);
	end(&s);
}

static void test_shown(void)
{
	char *sed[] = { (char *)"sed", (char *)"-n", (char *)"2,3p", (char *)"dir/y", NULL };
	char *beyond[] = { (char *)"sed", (char *)"-n", (char *)"80,90p", (char *)"dir/y", NULL };
	char *grep[] = { (char *)"grep", (char *)"-r", (char *)"x", (char *)".", NULL };
	struct access a = {
		.kind = ACCESS_READ, .path = "dir/y", .pid = 7, .cmd = 3, .argv = sed, .exe = "sed"
	};
	uint64_t first, last;
	struct shelf s;

	begin(&s, false);
	tap_ok(!engine_shown(s.e, &a, &first, &last) && !first, "a file that is not followed");
	(void)engine_follow(s.e, "dir/y", false);
	tap_ok(engine_shown(s.e, &a, &first, &last) && first == 2 && last == 3, "sed -n 2,3p");
	a.first = 3;
	a.last = 5;
	tap_ok(engine_shown(s.e, &a, &first, &last) && first == 3 && last == 3,
	       "of a piece, what is in it");
	a.first = 4;
	tap_ok(engine_shown(s.e, &a, &first, &last) && !first && !last,
	       "and of the next piece nothing");
	a.first = a.last = 0;
	a.argv = beyond;
	tap_ok(engine_shown(s.e, &a, &first, &last) && !first && !last, "nothing of it");
	a.argv = grep;
	a.exe = "grep";
	tap_ok(engine_scan(s.e, &a) != NULL, "grep -r is a scan");
	a.argv = NULL;
	a.exe = NULL;
	tap_ok(!engine_shown(s.e, &a, &first, &last) && !engine_scan(s.e, &a), "unknown program");
	a.files_seen = 1000;
	tap_ok(engine_scan(s.e, &a) != NULL, "many files are a scan");
	a.cmd = 0;
	engine_asked(s.e, "dir/y", 4, 4);
	engine_asked(s.e, "dir/y", 2, 2);
	tap_ok(engine_shown(s.e, &a, &first, &last) && first == 2 && last == 4,
	       "what the model asked for, as one range");
	tap_ok(!engine_scan(s.e, &a), "and that is no scan");
	engine_lines(s.e, "dir/y", 2, 3, &first, &last);
	tap_ok(first == 2 && last == 3, "lines of bytes are known");
	end(&s);
}

int main(void)
{
	test_region_file();
	test_follow();
	test_growth();
	test_bare_never_fires();
	test_half_written();
	test_large();
	test_held();
	test_shown();
	return tap_done();
}
