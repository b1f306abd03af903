#include "supervisor/watch.h"

#include <string.h>

#include "tests/lib/tap.h"

static const struct {
	const char *path;
	bool hint;
} rows[] = {
	{ "src/calc.c", true },
	{ "calc.c", true },
	{ "/workspace/src/calc.c", true },
	{ "src/../src/./calc.c", true },
	{ "calc.c/", true },
	{ "calc.h", false },
	{ "src", false },
	{ "/", false },
	{ "", false },
	{ "link", true },
	{ "a/link", true },
	{ "/proc/self/fd/3", true },
	{ "/proc/7/task/7/fd/12", true },
	{ "/dev/fd/0", true },
	{ "/dev/stdin", true },
	{ "/proc/7/stat", false },
	{ "/usr/lib/x86_64/libc.so.6", false },
};

/* Inode numbers are given again: who got one last is who it means. */
static void identities(void)
{
	struct watch_file f[3] = { { .path = "a" }, { .path = "b" }, { .path = "c" } };
	struct watch w = { .ws_fd = -1, .upper_fd = -1, .n = 3, .n_first = 1, .file = f };

	tap_ok(watch_find(&w, 0, 0) < 0, "nothing is known");
	watch_identity(&w, 0, 65, 100);
	watch_identity(&w, 1, 65, 101);
	tap_ok(watch_find(&w, 65, 100) == 0 && watch_find(&w, 65, 101) == 1 &&
		       watch_find(&w, 66, 100) < 0,
	       "by device and inode");
	watch_identity(&w, 0, 65, 102);
	tap_ok(watch_find(&w, 65, 100) < 0 && watch_find(&w, 65, 102) == 0,
	       "another inode under the name");
	watch_identity(&w, 2, 65, 101);
	tap_ok(watch_find(&w, 65, 101) == 2, "renamed onto another name");
	watch_identity(&w, 1, 65, 100);
	tap_ok(watch_find(&w, 65, 101) == 2 && watch_find(&w, 65, 100) == 1,
	       "the old name's next inode does not take it away");
	tap_ok(!watch_bare(&w, 0) && watch_bare(&w, 1), "those known from the start");
	map_done(&w.by_ino);
}

int main(void)
{
	struct watch_file f = { .path = "src/calc.c" };
	struct watch w = { .ws_fd = -1, .upper_fd = -1, .n = 1, .file = &f },
		     none = { .ws_fd = -1 };

	watch_name(&w, "src/calc.c");
	tap_ok(!watch_hint(&w, "link", 4), "an unknown name is no candidate");
	watch_name(&w, "/tmp/link");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tap_ok(watch_hint(&w, rows[i].path, strlen(rows[i].path)) == rows[i].hint,
		       "\"%s\" %s", rows[i].path, rows[i].hint ? "may be one" : "is none");
	tap_ok(!watch_hint(&none, "src/calc.c", 10), "without regions nothing is");
	for (int i = 0; i < 70000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		watch_name(&w, name);
	}
	tap_ok(w.all && watch_hint(&w, "whatever", 8), "too many names: every open is looked at");
	map_done(&w.names);
	w = (struct watch){ .ws_fd = -1, .everything = true };
	tap_ok(watch_hint(&w, "/dev/fd/3", 9) && !watch_hint(&w, "src/calc.c", 10),
	       "without regions only descriptors' own names are");
	identities();
	return tap_done();
}
