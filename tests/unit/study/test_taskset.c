/* Tasks of a directory, and how an instance finds its own. */
#include "study/taskset.h"

#include "tests/unit/verifier/readers.h"

#define TASK(id) "{ \"schema\": \"proctor.task/1\", \"instance_id\": \"" id "\" }\n"

static const struct row {
	const char *instance, *want; /* task, NULL = none, "!" = refused */
} rows[] = {
	{ "a__b-1", "a__b-1" },
	{ "a__b-2", "a__b-2" },
	{ "a__b", NULL },
	{ "swebenchpro_a__b-1", "a__b-1" },
	{ "deepswe_long", "long" },
	{ "deepswe_swebenchpro_long", NULL },
	{ "swebenchpro_deepswe_long", NULL },
	{ "other_a__b-1", NULL },
	{ "deepswe_twice", "!" },
	{ "twice", "twice" },
	{ "swebenchpro_whole", "swebenchpro_whole" },
};

int main(void)
{
	auto_free char *dir = readers_mkdir(), *sub = mem_printf("%s/one", dir);
	auto_free char *file = mem_printf("%s/x.task.json", dir);
	auto_free char *none = mem_printf("%s/none", dir);
	struct taskset ts = { .id = { 0 } };
	struct err err = { 0 };

	mkdir(sub, 0755);
	mkdir(none, 0755);
	readers_write(sub, "task.json", TASK("a__b-1"));
	readers_write(dir, "x.task.json", "// with a comment\n" TASK("a__b-2"));
	readers_write(dir, "long.task.json", TASK("long"));
	readers_write(dir, "t1.task.json", TASK("twice"));
	readers_write(dir, "t2.task.json", TASK("deepswe_twice"));
	readers_write(dir, "w.task.json", TASK("swebenchpro_whole"));
	readers_write(dir, "note.json", "no task at all");
	tap_ok(taskset_load(dir, &ts, &err) == 0 && ts.id.n == 6, "six tasks: %s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t at = 0;
		int rc = taskset_find(&ts, rows[i].instance, &at, &err);
		const char *got = rc < 0 ? "!" : rc ? ts.id.v[at] : NULL;

		tap_ok(str_eq(got, rows[i].want), "%s: %s", rows[i].instance, got ? got : "none");
	}
	taskset_done(&ts);
	tap_ok(taskset_load(file, &ts, &err) == 0 && ts.id.n == 1 &&
		       strcmp(ts.path.v[0], file) == 0,
	       "one file");
	taskset_done(&ts);
	tap_ok(taskset_load(none, &ts, &err) == -ERR_INPUT && strstr(err.text, "no task"),
	       "an empty directory is refused");
	readers_write(none, "bad.task.json", "{ \"schema\": \"proctor.task/1\" }");
	tap_ok(taskset_load(none, &ts, &err) == -ERR_INPUT && strstr(err.text, "instance_id"),
	       "a task without a name is refused");
	readers_rmdir(dir);
	return tap_done();
}
