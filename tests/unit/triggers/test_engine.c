/* The engine against a world in memory: every timing, event and level; rounds, modes, roll back,
 * scans, regions that move, several interventions. */
#include "triggers/engine.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/triggers/world.h"

static const char *const timings[] = { "at-touch", "after-read", "after-command" };
static const char *const events[] = { "open", "read", "edit", "read_or_edit" };
static const char *const levels[] = { "open", "bytes", "argv", "swe-touch-1.0" };

/* Where an intervention must fire in session(), worked out apart from the engine's tables. */
static const char *expected(unsigned t, unsigned ev, unsigned lv)
{
	bool read = ev == 1 || ev == 3;

	if (lv == 3 && ev == 0)
		return "never"; /* the released rule knows no opens */
	if (lv == 3)
		return read ? "end 1" : "end 2";
	if (ev == 2)
		return t == 2 ? "end 2" : "changed 2";
	if (t == 2)
		return "end 1";
	if (ev == 0 || lv == 0)
		return t == 0 ? "before open 1" : "after open 1";
	return t == 0 ? "before read 1" : "after read 1";
}

/* Command 1 reads lines 10-12, command 2 edits line 12. */
static void session(struct world *w)
{
	static const char sed[] = "sed -n '10,12p' src/calc.c",
			  edit[] = "sed -i s/line12/agent12/ src/calc.c";

	world_begin(w, 1, sed);
	world_open(w, 1);
	world_read(w, 1, 0, 0);
	world_end(w, 1);
	world_begin(w, 2, edit);
	world_replace(w, "line12", "agent12");
	world_changed(w, 2);
	world_end(w, 2);
}

static void test_matrix(void)
{
	for (unsigned t = 0; t < 3; t++)
		for (unsigned ev = 0; ev < 4; ev++)
			for (unsigned lv = 0; lv < 4; lv++) {
				struct world w;
				const char *want = expected(t, ev, lv);

				world_init(&w, "edit+message", 1,
					   world_iv(1, events[ev], levels[lv], timings[t], ""));
				session(&w);
				tap_is_str(w.fired_at[0] ? w.fired_at : "never", want,
					   world_name("%s %s %s", timings[t], events[ev],
						      levels[lv]));
				tap_ok(w.bad_holds == 0 && !w.held,
				       "held while writing, released after");
				world_done(&w);
			}
}

/* One read session; how often the log holds @word. */
static void test_ranges(void)
{
	struct world w;

	/* bytes: a read that ends before the region is no touch */
	world_init(&w, "edit", 1, world_iv(1, "read", "bytes", "at-touch", ""));
	world_begin(&w, 1, "head -c 20 src/calc.c");
	world_read(&w, 1, 0, 20);
	world_end(&w, 1);
	tap_is_u64(w.n_touches + w.n_fired, 0, "read in front of the region");
	world_read(&w, 1, world_offset(&w, 11), 3);
	tap_ok(strstr(w.log, "[touch r0 read argv=0 11-11] ") != NULL,
	       "one byte of line 11 touches it");
	world_done(&w);

	/* argv: sed reads the file but shows other lines */
	world_init(&w, "edit", 1, world_iv(1, "read", "argv", "after-command", ""));
	world_begin(&w, 1, "sed -n 1,5p src/calc.c");
	world_argv(&w, "sed", "-n", "1,5p", "src/calc.c");
	world_read(&w, 1, 0, 0);
	world_end(&w, 1);
	tap_is_u64(w.n_fired, 0, "argv: other lines were asked for");
	world_begin(&w, 2, "cat src/calc.c | sed -n '11p'");
	world_argv(&w, "cat", "src/calc.c", NULL, NULL);
	world_read(&w, 2, 0, 0);
	world_end(&w, 2);
	tap_is_u64(w.n_fired, 1, "argv: a filter behind cat");
	tap_ok(strstr(w.log, "argv=1 11-11") != NULL, "with the line that it let through: %s",
	       w.log);
	world_done(&w);

	/* min_overlap */
	world_init(&w, "edit", 1,
		   world_iv(1, "read", "argv", "after-command", "\"min_overlap\": 3,"));
	world_begin(&w, 1, "x");
	world_argv(&w, "sed", "-n", "11,30p", "src/calc.c");
	world_read(&w, 1, 0, 0);
	world_end(&w, 1);
	tap_is_u64(w.n_fired, 0, "two lines are less than three");
	world_begin(&w, 2, "x");
	world_argv(&w, "sed", "-n", "10,30p", "src/calc.c");
	world_read(&w, 2, 0, 0);
	world_end(&w, 2);
	tap_is_u64(w.n_fired, 1, "three are enough");
	world_done(&w);
}

static void test_rounds(void)
{
	struct world w;

	world_init(&w, "edit+message", 3,
		   world_iv(1, "read_or_edit", "bytes", "after-command", ""));
	for (uint32_t c = 1; c <= 3; c++) {
		world_begin(&w, c, "cat src/calc.c");
		world_read(&w, c, 0, 0);
		world_end(&w, c);
	}
	tap_is_u64(w.n_fired, 2, "reads fire once: an edit and a message");
	/* the agent reverts, three times */
	for (uint32_t c = 4; c <= 6; c++) {
		world_begin(&w, c, "ed");
		world_replace(&w, "user11", "line11");
		world_changed(&w, c);
		world_end(&w, c);
	}
	tap_is_u64(w.n_fired, 6, "K=3: two more rounds, then no more");
	tap_ok(strstr(w.data, "line11") != NULL, "the last revert stands");
	tap_ok(strstr(w.log, "[fired 1/3 edit exact]") && !strstr(w.log, "1/4"),
	       "rounds are counted");
	tap_ok(strstr(w.messages, "went over") && strstr(w.messages, "once more"),
	       "stages follow the rounds");
	world_done(&w);

	world_init(&w, "edit+message", 1,
		   world_iv(1, "read_or_edit", "bytes", "after-command", ""));
	for (uint32_t c = 1; c <= 3; c++) {
		world_begin(&w, c, "ed");
		world_replace(&w, c & 1 ? "line12" : "x12", c & 1 ? "x12" : "line12");
		world_changed(&w, c);
		world_end(&w, c);
	}
	tap_is_u64(w.n_fired, 2, "K=1: once");
	world_done(&w);

	world_init(&w, "co-edit", 3, world_iv(1, "edit", "bytes", "after-command", ""));
	for (uint32_t c = 1; c <= 3; c++) {
		world_begin(&w, c, "ed");
		world_replace(&w, c & 1 ? "line12" : "x12", c & 1 ? "x12" : "line12");
		world_replace(&w, "user11", "line11");
		world_changed(&w, c);
		world_end(&w, c);
	}
	tap_is_u64(w.n_fired, 2, "co-edit: once, whatever K");
	world_done(&w);
}

static void test_modes(void)
{
	static const struct {
		const char *mode;
		unsigned fired, messages;
		bool edited;
	} rows[] = { { "vanilla", 0, 0, false },
		     { "edit", 1, 0, true },
		     { "message", 1, 1, false },
		     { "edit+message", 2, 1, true },
		     { "co-edit", 2, 1, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w;

		world_init(&w, rows[i].mode, 3, world_iv(1, "read", "bytes", "after-command", ""));
		world_begin(&w, 1, "cat src/calc.c");
		world_read(&w, 1, 0, 0);
		world_end(&w, 1);
		tap_ok(w.n_fired == rows[i].fired && w.n_messages == rows[i].messages &&
			       w.n_touches == 1 &&
			       (strstr(w.data, "user11") != NULL) == rows[i].edited,
		       "mode %s: %u records, %u messages", rows[i].mode, w.n_fired, w.n_messages);
		world_done(&w);
	}
}

static void test_rollback(void)
{
	struct world w;
	uint64_t touches, fired, refused;

	world_init(&w, "edit+message", 1, world_iv(1, "read_or_edit", "bytes", "at-touch", ""));
	/* the agent takes the place of the edit away */
	world_set(&w, "a\nb\nc\nd\n");
	world_begin(&w, 1, "cat > src/calc.c");
	world_changed(&w, 1);
	world_end(&w, 1);
	tap_is_str(w.log, "[edited agent 1-4] [touch r0 edit argv=0 10-12] [refused 1/1 edit] ",
		   "does not apply: refused, nothing said");
	tap_is_u64(w.n_messages + w.n_writes, 0, "no message, no write");
	engine_counts(w.e, &touches, &fired, &refused);
	tap_ok(touches == 1 && fired == 0 && refused == 1, "counted as refused");
	world_reset(&w);
	world_begin(&w, 2, "git checkout src/calc.c");
	world_changed(&w, 2);
	world_end(&w, 2);
	tap_ok(w.n_messages == 1 && strstr(w.data, "user11"),
	       "the next touch fires: the round was kept");
	world_done(&w);

	/* changes nothing */
	world_init(&w, "edit+message", 3, world_iv(1, "read", "bytes", "after-command", ""));
	world_replace(&w, "line11", "user11");
	world_begin(&w, 1, "x");
	world_changed(&w, 1);
	world_read(&w, 1, 0, 0);
	world_end(&w, 1);
	tap_ok(w.n_messages == 0 && strstr(w.log, "[refused 1/1 edit]"), "already there: refused");
	world_done(&w);

	/* a write that fails */
	world_init(&w, "edit+message", 3, world_iv(1, "read", "bytes", "at-touch", ""));
	w.write_fails = true;
	world_begin(&w, 1, "x");
	world_read(&w, 1, 0, 0);
	tap_ok(w.n_messages == 0 && strstr(w.log, "[refused 1/1 edit]") && !w.held,
	       "write failed: refused, released");
	world_read(&w, 1, 0, 0);
	tap_ok(w.n_tries == 1, "not tried again at the same contents within the command");
	world_end(&w, 1);
	w.write_fails = false;
	world_begin(&w, 2, "x");
	world_read(&w, 2, 0, 0);
	world_end(&w, 2);
	tap_ok(w.n_messages == 1, "tried again in the next command");
	world_done(&w);

	/* a world that cannot be held ends the run */
	world_init(&w, "edit", 3, world_iv(1, "read", "bytes", "at-touch", ""));
	w.hold_fails = true;
	world_begin(&w, 1, "x");
	world_read(&w, 1, 0, 0);
	tap_ok(w.rc == -ERR_SYS && w.n_writes == 0, "no hold, no write, an error");
	world_done(&w);

	/* a message that cannot be sent: the edit stands, the round is spent */
	world_init(&w, "edit+message", 1, world_iv(1, "read", "bytes", "at-touch", ""));
	w.message_fails = true;
	world_begin(&w, 1, "x");
	world_read(&w, 1, 0, 0);
	tap_ok(strstr(w.log, "[fired 1/1 edit exact] [refused 1/1 message]") != NULL,
	       "message failed: %s", w.log);
	world_done(&w);
}

static void test_scans(void)
{
	struct world w;

	world_init(&w, "edit", 3, world_iv(1, "read", "bytes", "after-command", ""));
	world_begin(&w, 1, "grep -rn x .");
	world_argv(&w, "grep", "-rn", "x", ".");
	world_read(&w, 1, 0, 0);
	world_end(&w, 1);
	tap_is_str(w.log, "[touch r0 read argv=0 10-12 scan program: search] ",
		   "a scan is recorded, does not count");
	world_begin(&w, 2, "x");
	world_argv(&w, "cat", "src/calc.c", NULL, NULL);
	w.files_seen = 17;
	world_read(&w, 2, 0, 0);
	world_end(&w, 2);
	tap_is_u64(w.n_fired, 0, "neither does a process with many files");
	world_begin(&w, 3, "x");
	world_argv(&w, "git", "stash", NULL, NULL);
	world_replace(&w, "line12", "x12");
	world_changed(&w, 3);
	tap_ok(strstr(w.log, "[touch r0 edit argv=0 12-12] ") != NULL, "an edit always counts");
	world_done(&w);

	world_init(&w, "edit", 3,
		   world_iv(1, "read", "bytes", "after-command", "\"count_scans\": true,"));
	world_begin(&w, 1, "grep -rn x .");
	world_argv(&w, "grep", "-rn", "x", ".");
	world_read(&w, 1, 0, 0);
	world_end(&w, 1);
	tap_is_u64(w.n_fired, 1, "a scan counts where the scenario says so");
	world_done(&w);
}

static void test_shift(void)
{
	struct world w;
	uint64_t a, b;

	world_init(&w, "edit", 3, world_iv(1, "edit", "bytes", "after-command", ""));
	world_replace(&w, "line1\n", "line1\nnew a\nnew b\n");
	world_changed(&w, 1);
	tap_is_str(w.log, "[edited agent 2-3] ", "lines in front: no touch");
	engine_lines(w.e, "src/calc.c", world_offset(&w, 12), 1, &a, &b);
	tap_ok(a == 12 && b == 12, "line numbers are those of the new image");
	world_read(&w, 1, world_offset(&w, 12), 1);
	tap_ok(strstr(w.log, "read argv=0 12-12") != NULL, "the region moved to 12-14: %s", w.log);
	world_log_clear(&w);
	world_replace(&w, "line10\nline11\nline12\n", "");
	world_changed(&w, 1);
	tap_is_str(w.log, "[edited agent 12-12] [touch r0 edit argv=0 12-14] ",
		   "the region is deleted");
	world_end(&w, 1);
	world_log_clear(&w);
	world_read(&w, 1, 0, 0);
	tap_is_str(w.log, "", "an empty region cannot be read");
	world_replace(&w, "line13\n", "line13 x\n");
	world_changed(&w, 2);
	tap_ok(strstr(w.log, "touch r0 edit") != NULL, "an edit at its place touches it: %s",
	       w.log);
	world_end(&w, 2);
	world_log_clear(&w);
	world_replace(&w, "line20\n", "line20 x\n");
	world_changed(&w, 3);
	tap_ok(!strstr(w.log, "touch"), "an edit elsewhere does not: %s", w.log);
	world_done(&w);

	/* our own edit moves regions and is no touch */
	world_init(
		&w, "edit", 3,
		"{\"order\":1,\"when\":{\"event\":\"read\",\"regions\":[0]},\"timing\":\"at-touch\",\"effects\":[{\"edit\":"
		"\"--- a/src/calc.c\\n+++ b/src/calc.c\\n@@ -1,2 +1,3 @@\\n line1\\n+ours\\n line2\\n\"}]}");
	world_begin(&w, 1, "x");
	world_read(&w, 1, 0, 0);
	tap_ok(strstr(w.log,
		      "[edited user 2-2] [fired 1/1 edit exact] [touch r0 read argv=0 11-13] "),
	       "our edit is reported as ours, the region follows: %s", w.log);
	world_log_clear(&w);
	world_changed(&w, 1);
	tap_is_str(w.log, "", "and is not taken for the agent's");
	world_done(&w);

	/* the agent was writing when we came */
	world_init(&w, "edit", 3, world_iv(1, "read", "bytes", "at-touch", ""));
	world_begin(&w, 1, "x");
	world_replace(&w, "line12", "agent12");
	world_read(&w, 1, 0, 0);
	tap_ok(strstr(w.log,
		      "[edited agent 12-12] [touch r0 edit argv=0 12-12] [edited user 11-11]"),
	       "an unfinished edit of the agent's is its own: %s", w.log);
	world_done(&w);

	/* removal and return */
	world_init(&w, "edit", 3, world_iv(1, "edit", "bytes", "after-command", ""));
	w.gone = true;
	world_changed(&w, 1);
	tap_is_str(w.log, "[edited agent 0-0] [touch r0 edit argv=0 0-0] ", "removed");
	world_end(&w, 1);
	tap_ok(strstr(w.log, "[refused 1/1 edit]") != NULL, "nothing to edit");
	w.gone = false;
	world_log_clear(&w);
	world_replace(&w, "line1\n", "line1\nnew\n");
	world_changed(&w, 2);
	tap_is_str(w.log, "[edited agent 2-2] ", "back with a line in front: not a touch");
	/* something unreadable in its place */
	w.read_fails = true;
	world_log_clear(&w);
	world_changed(&w, 3);
	tap_ok(strstr(w.log, "[touch r0 edit") && w.rc == 1,
	       "a file that cannot be read is an edit, not an error");
	world_done(&w);
}

static void test_several(void)
{
	static const char second[] =
		",{\"order\":2,\"when\":{\"event\":\"read_or_edit\",\"regions\":[0]},\"timing\":\"after-command\",\"effects\":[{\"edit\":"
		"\"--- a/src/calc.c\\n+++ b/src/calc.c\\n@@ -20,1 +20,1 @@\\n-line20\\n+user20\\n\"},{\"message\":{}}]}";
	auto_free char *both =
		mem_printf("%s%s", world_iv(1, "read_or_edit", "bytes", "after-command", ""),
			   second);
	struct world w;

	world_init(&w, "edit+message", 3, both);
	world_begin(&w, 1, "ed");
	world_replace(&w, "line12", "x12");
	world_changed(&w, 1);
	tap_ok(engine_pending(w.e, 1), "pending");
	world_end(&w, 1);
	tap_ok(!engine_pending(w.e, 1), "no longer pending");
	tap_ok(strstr(w.log, "fired 1/1 edit") && !strstr(w.log, "fired 2/2"),
	       "one intervention per command, in order");
	world_begin(&w, 2, "cat");
	world_read(&w, 2, 0, 0);
	world_end(&w, 2);
	tap_ok(!strstr(w.log, "fired 2/2"), "round 2 does not fire for a read");
	world_begin(&w, 3, "ed");
	world_replace(&w, "x12", "y12");
	world_changed(&w, 3);
	world_end(&w, 3);
	tap_ok(strstr(w.log, "fired 2/2 edit") && strstr(w.messages, "went over"),
	       "but for an edit: %s", w.log);
	world_begin(&w, 4, "ed");
	world_replace(&w, "y12", "z12");
	world_replace(&w, "user11", "line11");
	world_changed(&w, 4);
	world_end(&w, 4);
	tap_is_u64(w.n_messages, 2, "each of several fires once");
	world_done(&w);

	/* the first does not apply: the second has its chance in the same command */
	world_init(&w, "edit", 3, both);
	world_replace(&w, "line11", "user11");
	world_begin(&w, 1, "ed");
	world_changed(&w, 1);
	world_end(&w, 1);
	tap_ok(strstr(w.log, "[refused 1/1 edit]") && strstr(w.log, "[fired 2/2 edit"),
	       "a refused one makes way: %s", w.log);
	world_done(&w);
}

static void test_in_process(void)
{
	struct world w;

	world_init(&w, "edit", 3, world_iv(1, "read_or_edit", "bytes", "after-command", ""));
	world_read(&w, 0, 0, 0);
	tap_ok(engine_pending(w.e, 0) && w.n_fired == 0,
	       "the agent's own read waits for a boundary");
	world_end(&w, 0);
	tap_ok(w.n_fired == 1 && !engine_pending(w.e, 0), "and fires there");
	world_done(&w);

	world_init(&w, "edit", 3,
		   world_iv(1, "read_or_edit", "swe-touch-1.0", "after-command", ""));
	world_read(&w, 0, 0, 5);
	world_end(&w, 0);
	tap_is_u64(w.n_fired, 0,
		   "bytes in front of the region are none by the released rule either");
	world_read(&w, 0, 0, 0);
	world_end(&w, 0);
	tap_is_u64(w.n_fired, 1, "a read of the agent's own counts by the released rule");
	world_done(&w);

	world_init(&w, "edit", 3, world_iv(1, "read", "bytes", "at-touch", ""));
	world_read(&w, 0, 0, 0);
	tap_ok(w.n_fired == 1 && engine_pending(w.e, 0), "a boundary is wanted after a firing");
	world_end(&w, 0);
	tap_ok(!engine_pending(w.e, 0), "once");
	world_done(&w);
}

/* Points of the run: {when, timing} and where it fires. */
static void test_schedule(void)
{
	static const struct {
		const char *when, *timing, *want;
	} rows[] = {
		{ "\"event\":\"command_count\",\"n\":2", "after-command", "end 2" },
		{ "\"event\":\"command_count\",\"n\":2", "at-touch", "begin 2" },
		{ "\"event\":\"command_count\",\"n\":9", "at-touch", "never" },
		{ "\"event\":\"exec\",\"program\":\"pytest\"", "at-touch", "exec 2" },
		{ "\"event\":\"exec\",\"program\":\"py*\"", "after-command", "end 2" },
		{ "\"event\":\"time\",\"at\":1.5", "at-touch", "tick" },
		{ "\"event\":\"time\",\"at\":1.5", "after-command", "end 3" },
		{ "\"event\":\"time\",\"at\":99", "at-touch", "never" },
		{ "\"event\":\"progress\",\"at\":0.5", "at-touch", "progress" },
		{ "\"event\":\"model_call\",\"n\":4", "at-touch", "call" },
		{ "\"event\":\"model_call\",\"n\":4", "after-command", "end 3" },
		{ "\"event\":\"anchor\",\"anchor\":\"before-submit\"", "at-touch", "anchor" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *iv = mem_printf(
			"{\"order\":1,\"when\":{%s},\"timing\":\"%s\",\"effects\":[{\"edit\":\"%s\"}]}",
			rows[i].when, rows[i].timing, WORLD_DIFF);
		struct world w;

		world_init(&w, "edit", 3, iv);
		world_begin(&w, 1, "true");
		world_end(&w, 1);
		world_begin(&w, 2, "python3 -m pytest");
		world_exec(&w, 2, "python3", "-m", "pytest");
		world_end(&w, 2);
		world_point(&w);
		world_begin(&w, 3, "true");
		world_end(&w, 3);
		tap_is_str(w.fired_at[0] ? w.fired_at : "never", rows[i].want,
			   world_name("%s %s", rows[i].when, rows[i].timing));
		tap_ok(w.n_fired <= 1, "at most once");
		world_done(&w);
	}
}

static void test_after(void)
{
	auto_free char *both = mem_printf(
		"%s,{\"order\":2,\"when\":{\"event\":\"after\",\"after\":1},\"timing\":\"after-command\",\"effects\":["
		"{\"exec\":[\"sh\",\"-c\",\"true\"]},{\"message\":{\"text\":\"done\"}}]}",
		world_iv(1, "read", "bytes", "after-command", ""));
	struct world w;

	world_init(&w, "edit+message", 3, both);
	world_begin(&w, 1, "cat");
	world_end(&w, 1);
	world_begin(&w, 2, "cat");
	world_read(&w, 2, 0, 0);
	world_end(&w, 2);
	tap_ok(!strstr(w.log, "2/2"), "not in the same command");
	world_begin(&w, 3, "x");
	world_end(&w, 3);
	tap_ok(strstr(w.log, "[exec sh] [fired 2/2 exec] [fired 2/2 message]"),
	       "after it, in order: %s", w.log);
	tap_ok(strstr(w.messages, "done") != NULL, "with the author's text");
	world_done(&w);
}

/* Effects in order, with the world running between two edits. */
static void test_order(void)
{
	static const char iv[] =
		"{\"order\":1,\"when\":{\"event\":\"read\"},\"timing\":\"at-touch\",\"effects\":["
		"{\"edit\":\"" WORLD_DIFF
		"\"},{\"edit\":\"--- a/src/calc.c\\n+++ b/src/calc.c\\n@@ -11,1 +11,1 @@\\n-user11\\n+twice11\\n\"},"
		"{\"exec\":[\"touch\"]},{\"edit\":\"--- a/src/calc.c\\n+++ b/src/calc.c\\n@@ -5,1 +5,1 @@\\n-line5\\n+user5\\n\"},"
		"{\"model\":{\"session\":\"expire\"}}]}";
	struct world w;

	world_init(&w, "edit+message", 1, iv);
	world_begin(&w, 1, "x");
	world_read(&w, 1, 0, 0);
	tap_ok(strstr(w.data, "twice11") && strstr(w.data, "user5"), "edits build on each other");
	tap_ok(w.bad_holds == 0 && w.n_holds == 2,
	       "held twice: the command ran in a world that runs");
	tap_ok(strstr(w.log, "[refused 1/1 model]") != NULL,
	       "an effect that nobody can carry out is refused: %s", w.log);
	world_done(&w);
}

static void test_errors(void)
{
	struct engine *e = NULL;
	struct err err = { ERR_NONE, 0, "" };
	struct effect bad = { .kind = EFFECT_EDIT, .diff = (char *)"not a diff" };
	struct intervention iv = { .order = 1, .effects = &bad, .n_effects = 1 };
	struct scenario sc = { .interventions = &iv, .n_interventions = 1 };
	struct engine_ops none = { NULL };
	uint64_t a, b;

	tap_ok(engine_new(&sc, &none, NULL, &e, &err) == -ERR_INPUT && !e &&
		       strstr(err.text, "intervention 1"),
	       "a bad diff is found at the start: %s", err.text);
	tap_ok(engine_new(NULL, &none, NULL, &e, &err) == 0 && engine_files(e) == 0,
	       "without scenario");
	tap_ok(engine_command_begin(e, 1, NULL, &err) == 0 && engine_command_end(e, 1, &err) == 0 &&
		       !engine_pending(e, 0),
	       "commands are fine all the same");
	engine_lines(e, "x", 0, 1, &a, &b);
	tap_ok(a == 0 && b == 0, "no lines");
	engine_free(e);
	engine_free(NULL);
}

static void test_workdir_output(void)
{
	struct world w;

	world_init(&w, "edit", 3, world_iv(1, "read", "swe-touch-1.0", "after-command", ""));
	engine_set_workdir(w.e, "/workspace");
	world_begin(&w, 1, "cat /tmp/src/calc.c");
	world_end(&w, 1);
	tap_is_u64(w.n_fired, 0, "a path outside the workspace");
	world_begin(&w, 2, "./show.sh");
	engine_output(w.e, 2, "src/calc.c:11:line11\n", 21);
	tap_ok(engine_pending(w.e, 2), "seen in the output");
	world_end(&w, 2);
	tap_is_u64(w.n_fired, 1, "fires");
	world_done(&w);
}

int main(void)
{
	test_matrix();
	test_ranges();
	test_rounds();
	test_modes();
	test_rollback();
	test_scans();
	test_shift();
	test_several();
	test_in_process();
	test_schedule();
	test_after();
	test_order();
	test_errors();
	test_workdir_output();
	return tap_done();
}
