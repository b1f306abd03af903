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
	return tap_done();
}
