/* The engine where a model is in sight: armed by its first answer, lines known from its tool calls,
 * wrappers of the agent that looked like commands. */
#include "triggers/engine.h"

#include "tests/unit/triggers/world.h"

static void test_armed(void)
{
	struct world w;

	world_init(&w, "edit", 3, world_iv(1, "read", "bytes", "at-touch", ""));
	engine_arm(w.e, false);
	world_begin(&w, 1, "git status");
	world_read(&w, 1, 0, 0);
	world_end(&w, 1);
	world_read(&w, 0, 0, 0);
	tap_is_u64(w.n_fired, 0, "nothing fires before the first answer");
	tap_ok(!engine_pending(w.e, 0), "nothing is put off either");
	engine_arm(w.e, true);
	world_begin(&w, 2, "cat src/calc.c");
	world_read(&w, 2, 0, 0);
	tap_is_u64(w.n_fired, 1, "the first read after it fires");
	world_done(&w);

	world_init(&w, "edit", 1,
		   world_iv(1, "command_count", "bytes", "after-command", "\"n\": 2,"));
	engine_arm(w.e, false);
	world_begin(&w, 1, "wrapper");
	engine_command_drop(w.e, 1);
	engine_arm(w.e, true);
	world_begin(&w, 2, "first");
	world_end(&w, 2);
	tap_is_u64(w.n_fired, 0, "a wrapper of the agent is no command");
	world_begin(&w, 3, "second");
	world_end(&w, 3);
	tap_is_u64(w.n_fired, 1, "the second command of the model's is the second");
	world_done(&w);
}

/* Region: lines 10-12. The agent's own tool reads the whole file. */
static void asked(const char *path, uint64_t first, uint64_t last, uint32_t cmd, uint64_t want,
		  const char *name)
{
	struct world w;
	struct err err;

	world_init(&w, "edit", 1, world_iv(1, "read", "argv", "after-command", ""));
	engine_set_workdir(w.e, "/workspace");
	engine_asked(w.e, path, first, last);
	world_read(&w, cmd, 0, 0);
	(void)engine_command_end(w.e, cmd, &err); /* what fired is counted */
	tap_is_u64(w.n_fired, want, name);
	world_done(&w);
}

static void test_asked(void)
{
	struct world w;
	struct err err;

	asked("src/calc.c", 11, 30, 0, 1, "asked for lines of the region");
	asked("/workspace/src/calc.c", 12, 12, 0, 1, "by absolute path");
	asked("./src/calc.c", 1, 9, 0, 0, "asked for other lines");
	asked("src/calc.c", 0, 0, 0, 1, "asked for the whole file");
	asked("src/other.c", 1, 2, 0, 1, "another file: its own read covers the region");
	asked("src/calc.c", 1, 9, 5, 1, "a command's read is not the tool call's");

	world_init(&w, "edit", 1,
		   world_iv(1, "read", "argv", "after-command", "\"min_overlap\": 3,"));
	for (int i = 0; i < 200; i++)
		engine_asked(w.e, "src/calc.c", 11, 11);
	engine_asked(w.e, "src/calc.c", 12, 11);
	world_read(&w, 0, 0, 0);
	(void)engine_command_end(w.e, 0, &err); /* what fired is counted */
	tap_is_u64(w.n_fired, 0, "the same line asked for again is one line");
	engine_asked_clear(w.e);
	engine_asked(w.e, "src/calc.c", 12, 12);
	engine_asked(w.e, "src/calc.c", 10, 11);
	world_read(&w, 0, 0, 0);
	(void)engine_command_end(w.e, 0, &err); /* what fired is counted */
	tap_is_u64(w.n_fired, 1, "two tool calls together show three lines");
	world_done(&w);
}

/* A process that has opened many files is a scan, but not where the model asked for the file. */
static void test_scan(void)
{
	struct world w;

	world_init(&w, "edit", 3, world_iv(1, "read", "bytes", "at-touch", ""));
	w.files_seen = 1000;
	world_read(&w, 0, 0, 0);
	tap_is_u64(w.n_fired, 0, "one of a thousand files");
	engine_asked(w.e, "src/calc.c", 0, 0);
	world_read(&w, 0, 0, 0);
	tap_is_u64(w.n_fired, 1, "the file that the model asked for");
	world_done(&w);
}

int main(void)
{
	test_armed();
	test_asked();
	test_scan();
	return tap_done();
}
