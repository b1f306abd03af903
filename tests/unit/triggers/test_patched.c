/* patched.c: lines that interventions wrote, over later edits; and triggers that wait for the agent to
 * edit them, through the engine. */
#include "triggers/patched.h"

#include <stdlib.h>

#include "tests/unit/triggers/world.h"

/* One change: @old_n lines from @old_first become @new_n lines from @new_first. */
static void change(struct line_changes *c, uint64_t old_first, uint64_t old_n, uint64_t new_first,
		   uint64_t new_n)
{
	static struct line_change one;

	one = (struct line_change){ old_first, old_n, new_first, new_n };
	*c = (struct line_changes){ .v = &one, .n = 1 };
}

static void test_places(void)
{
	struct when any = { .event = WHEN_REGION_STATE_CHANGED, .min_overlap = 1 };
	struct when first = any, third = any, wide = any;
	struct patched p = { 0 };
	struct line_changes c;
	uint64_t a, b;

	first.after = 1;
	third.after = 3;
	wide.min_overlap = 3;
	change(&c, 10, 1, 10, 2); /* order 1 writes 10-11 */
	patched_wrote(&p, 1, "a.c", &c, 30);
	tap_ok(patched_has(&p, &any, "a.c") && patched_has(&p, &first, "a.c"), "written");
	tap_ok(!patched_has(&p, &third, "a.c") && !patched_has(&p, &any, "b.c"),
	       "not by another, not elsewhere");
	tap_ok(patched_lines(&p, 1, "a.c", &a, &b) && a == 10 && b == 11, "lines 10-11");
	tap_ok(!patched_touched(&p, &any, "a.c", &a, &b), "nobody has edited yet");
	change(&c, 1, 0, 1, 3); /* the agent puts three lines in front */
	patched_edited(&p, "a.c", &c);
	tap_ok(!patched_touched(&p, &any, "a.c", &a, &b), "an edit elsewhere touches nothing");
	tap_ok(patched_lines(&p, 1, "a.c", &a, &b) && a == 13 && b == 14, "the lines moved");
	change(&c, 14, 1, 14, 1);
	patched_edited(&p, "b.c", &c);
	tap_ok(!patched_touched(&p, &any, "a.c", &a, &b), "nor does one of another file");
	patched_edited(&p, "a.c", &c);
	tap_ok(patched_touched(&p, &any, "a.c", &a, &b) && a == 14 && b == 14, "line 14 does");
	tap_ok(patched_touched(&p, &first, "a.c", &a, &b) &&
		       !patched_touched(&p, &third, "a.c", &a, &b),
	       "for who waits for that intervention");
	tap_ok(!patched_touched(&p, &wide, "a.c", &a, &b), "one line is less than three");
	change(&c, 20, 1, 20, 1);
	patched_edited(&p, "a.c", &c);
	tap_ok(!patched_touched(&p, &any, "a.c", &a, &b), "the latest edit counts");
	change(&c, 13, 2, 13, 0); /* the agent takes them out */
	patched_edited(&p, "a.c", &c);
	tap_ok(patched_touched(&p, &any, "a.c", &a, &b) && a == 13 && b == 14, "taken out");
	tap_ok(!patched_lines(&p, 1, "a.c", &a, &b) && a == 0, "no line is left");
	change(&c, 13, 0, 13, 1);
	patched_edited(&p, "a.c", &c);
	tap_ok(patched_touched(&p, &any, "a.c", &a, &b), "something in their place touches it");
	/* nothing is known of lines: the file went away */
	c = (struct line_changes){ 0 };
	patched_edited(&p, "a.c", &c);
	tap_ok(patched_touched(&p, &wide, "a.c", &a, &b) && a == 0, "unknown: all of it");
	patched_done(&p);
	/* a new file is written as a whole */
	patched_wrote(&p, 2, "new.c", &c, 5);
	tap_ok(patched_lines(&p, 2, "new.c", &a, &b) && a == 1 && b == 5, "a new file");
	patched_wrote(&p, 2, "new.c", &c, 5);
	tap_is_u64(p.n, 1, "the same once more is one place");
	patched_done(&p);
	tap_ok(p.n == 0, "gone");
}

/* Intervention 1 edits line 11 of the region, 2 waits for the agent to edit what 1 wrote. */
static char *two(const char *more, const char *timing, const char *diff)
{
	return mem_printf(
		"%s,{\"order\":2,\"when\":{\"event\":\"region_state_changed\"%s},\"timing\":\"%s\",\"effects\":["
		"{\"edit\":\"%s\"},{\"message\":{\"claim\":\"Line 20 is mine\"}}]}",
		world_iv(1, "read", "bytes", "after-command", ""), more, timing, diff);
}

#define LINE20 "--- a/src/calc.c\\n+++ b/src/calc.c\\n@@ -20,1 +20,1 @@\\n-line20\\n+user20\\n"

static void begin(struct world *w, const char *more, const char *timing)
{
	auto_free char *both = two(more, timing, LINE20);

	world_init(w, "edit+message", 2, both);
	world_begin(w, 1, "cat src/calc.c");
	world_read(w, 1, 0, 0);
	world_end(w, 1);
}

static void edit(struct world *w, uint32_t cmd, const char *from, const char *to)
{
	world_begin(w, cmd, "ed");
	world_replace(w, from, to);
	world_changed(w, cmd);
	world_end(w, cmd);
}

static void test_engine(void)
{
	struct world w;

	begin(&w, "", "after-command");
	edit(&w, 2, "line12", "x12");
	tap_ok(!strstr(w.log, "2/2"), "in the region, but not what the user wrote");
	edit(&w, 3, "line1\n", "new\nline1\n");
	tap_ok(!strstr(w.log, "2/2"), "in front of it");
	world_begin(&w, 4, "cat");
	world_read(&w, 4, 0, 0);
	world_end(&w, 4);
	tap_ok(!strstr(w.log, "2/2"), "a read");
	world_begin(&w, 5, "ed");
	world_replace(&w, "user11", "mine11");
	world_changed(&w, 5);
	tap_ok(engine_pending(w.e, 5) && !strstr(w.log, "2/2"), "the user's line: pending");
	world_end(&w, 5);
	tap_ok(strstr(w.log, "[fired 2/2 edit offset] [fired 2/2 message]") != NULL,
	       "fires at the end of the command: %s", w.log);
	tap_ok(strstr(w.messages, "src/calc.c (line 12) again") &&
		       strstr(w.messages, " Line 20 is mine. "),
	       "a message with its claim about the touched line: %s", w.messages);
	edit(&w, 6, "mine11", "line11");
	tap_ok(!strstr(w.log, "2/3"), "K=2: no more");
	world_done(&w);

	begin(&w, ",\"after\":1", "at-touch");
	world_begin(&w, 2, "ed");
	world_replace(&w, "user11", "mine11");
	world_changed(&w, 2);
	tap_ok(strstr(w.log, "[fired 2/2 edit exact]") != NULL, "at-touch: with the edit");
	world_end(&w, 2);
	world_done(&w);

	begin(&w, ",\"min_overlap\":2", "after-command");
	edit(&w, 2, "user11", "mine11");
	tap_ok(!strstr(w.log, "2/2"), "one line is less than two");
	world_done(&w);

	/* the released rule: any edit of the file, by the command's text */
	begin(&w, ",\"touch\":\"swe-touch-1.0\"", "after-command");
	world_begin(&w, 2, "sed -i s/line30/x/ src/calc.c");
	world_end(&w, 2);
	tap_ok(strstr(w.log, "[fired 2/2 edit exact]") != NULL, "released: an edit anywhere");
	world_done(&w);
	begin(&w, ",\"touch\":\"swe-touch-1.0\"", "after-command");
	world_replace(&w, "line30", "mine30");
	world_changed(&w, 0);
	tap_ok(engine_pending(w.e, 0), "released: the agent's own edit, without a command");
	world_end(&w, 0);
	tap_ok(strstr(w.log, "[fired 2/2 edit exact]") != NULL, "fires at its boundary");
	world_done(&w);
}

/* Messages without a touch say what the edit wrote, or the region. */
static void test_about(void)
{
	static const char iv[] =
		"{\"order\":1,\"when\":{\"event\":\"command_count\",\"n\":1},\"effects\":["
		"{\"edit\":\"" LINE20 "\"},{\"message\":{}}]}";
	struct world w;

	world_init(&w, "edit+message", 1, iv);
	world_begin(&w, 1, "true");
	world_end(&w, 1);
	tap_ok(strstr(w.messages, "src/calc.c (line 20) myself") != NULL, "what was written: %s",
	       w.messages);
	world_done(&w);
	world_init(&w, "message", 1, iv);
	world_replace(&w, "line1\n", "new\nline1\n");
	world_changed(&w, 0);
	world_begin(&w, 1, "true");
	world_end(&w, 1);
	tap_ok(strstr(w.messages, "src/calc.c (lines 11-13) myself") != NULL,
	       "the region as it is now: %s", w.messages);
	world_done(&w);
}

int main(void)
{
	test_places();
	test_engine();
	test_about();
	return tap_done();
}
