/* Files that side services name come into the scenario, once; what is too large, no text or not there is refused. */
#include "profiles/servicefiles_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "tests/lib/tap.h"

static void put(const char *dir, const char *name, const char *text, size_t n)
{
	auto_free char *path = path_join(dir, name);
	struct err err;

	if (fd_replace_file(path, text, n, &err) < 0)
		tap_diag("%s", err.text);
}

/* The services of @text, filled in as compact JSON; NULL with the reason in @err. Caller frees. */
static char *filled(const char *dir, const char *text, struct err *err)
{
	struct json_src src = { 0 };
	char *out = NULL;

	if (json_parse("the scenario", text, strlen(text), &src, err) == 0 &&
	    servicefiles_read(&src, "$.services", dir, src.root, err) == 0)
		out = cJSON_PrintUnformatted(src.root);
	json_src_done(&src);
	return out;
}

static void test_filled(const char *dir)
{
	/* clang-format off */
	static const char *const rows[][2] = {
		{ "[{\"kind\":\"index\",\"packages\":[{\"from\":\"pkg\"}]}]", "[{\"kind\":\"index\",\"packages\":[{\"files\":{\"a.py\":\"x\\n\",\"sub/b.py\":\"\"}}]}]" },
		{ "[{\"kind\":\"index\",\"packages\":[{\"file\":\"raw.bin\"}]}]", "[{\"kind\":\"index\",\"packages\":[{\"bytes\":\"AP8=\",\"filename\":\"raw.bin\"}]}]" },
		{ "[{\"kind\":\"sqlite\",\"sql\":\"s.sql\",\"versions\":[{\"sql\":\"s.sql\"},{\"sql\":\"SELECT 1\"}]}]",
		  "[{\"kind\":\"sqlite\",\"versions\":[{\"sql\":\"-- of s.sql\"},{\"sql\":\"SELECT 1\"}],\"sql\":\"-- of s.sql\"}]" },
		{ "[{\"kind\":\"postgresql\",\"sql\":\"s.sql\"},{\"kind\":\"http\",\"sql\":\"s.sql\"}]", "[{\"kind\":\"postgresql\",\"sql\":\"-- of s.sql\"},{\"kind\":\"http\",\"sql\":\"s.sql\"}]" },
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err = { 0 };
		auto_free char *once = filled(dir, rows[i][0], &err);
		auto_free char *twice = once ? filled(NULL, once, &err) : NULL;

		if (!tap_is_str(once, rows[i][1], "files in the place of their names"))
			tap_diag("%s", err.text);
		tap_is_str(twice, rows[i][1], "and they stay when the plan is read");
	}
}

static void test_refused(const char *dir)
{
	static const char *const rows[][2] = {
		{ "[{\"kind\":\"index\",\"packages\":[{\"from\":\"none\"}]}]", "cannot list" },
		{ "[{\"kind\":\"index\",\"packages\":[{\"from\":\"bad\"}]}]", "raw is no text" },
		{ "[{\"kind\":\"index\",\"packages\":[{\"from\":\"link\"}]}]", "cannot read away" },
		{ "[{\"kind\":\"index\",\"packages\":[{\"file\":\"pkg\"}]}]",
		  "is not a regular file" },
		{ "[{\"kind\":\"index\",\"packages\":[{\"file\":\"large\"}]}]", "more than 1 MiB" },
		{ "[{\"kind\":\"index\",\"packages\":[{\"file\":\"half\"},{\"file\":\"half\"}]}]",
		  "more than 1 MiB" },
		{ "[{\"kind\":\"sqlite\",\"sql\":\"none.sql\"}]", "$.services[0]" },
		{ "[{\"kind\":\"sqlite\",\"sql\":\"raw.sql\"}]", "is no text" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err = { 0 };
		auto_free char *got = filled(dir, rows[i][0], &err);

		tap_ok(!got && err.code == ERR_INPUT && strstr(err.text, rows[i][1]), "refused: %s",
		       err.text);
	}
}

/* SQL of an effect; without a directory no file can be named. */
static void test_effect(const char *dir)
{
	struct json_src src = { .name = (char *)"x" };
	cJSON *item = cJSON_Parse("{\"name\":\"db\",\"sql\":\"s.sql\"}");
	struct err err = { 0 };

	tap_ok(servicefiles_effect(&src, "$", NULL, item, &err) < 0 &&
		       strstr(err.text, "cannot be named here"),
	       "refused: %s", err.text);
	tap_ok(servicefiles_effect(&src, "$", dir, item, &err) == 0, "an effect");
	tap_is_str(cJSON_GetStringValue(cJSON_GetObjectItem(item, "sql")), "-- of s.sql",
		   "has the file's text");
	cJSON_Delete(item);
}

int main(void)
{
	auto_free char *dir = mem_strdup("/var/tmp/servicefiles-XXXXXX");
	auto_free char *big = mem_zalloc(SERVICEFILES_MAX + 1, 1);

	if (!mkdtemp(dir))
		return 1;
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "pkg", "pkg/sub", "bad", "link" };
		auto_free char *path = path_join(dir, names[i]);

		tap_ok(mkdir(path, 0755) == 0, "a directory %s", names[i]);
	}
	put(dir, "pkg/a.py", "x\n", 2);
	put(dir, "pkg/sub/b.py", "", 0);
	put(dir, "raw.bin", "\0\xff", 2);
	put(dir, "raw.sql", "\0\xff", 2);
	put(dir, "bad/raw", "\xff", 1);
	put(dir, "s.sql", "-- of s.sql", 11);
	put(dir, "large", big, SERVICEFILES_MAX + 1);
	put(dir, "half", big, SERVICEFILES_MAX / 2 + 1);
	{
		auto_free char *link = path_join(dir, "link/away");

		tap_ok(symlink("../s.sql", link) == 0, "a link");
	}
	test_filled(dir);
	test_refused(dir);
	test_effect(dir);
	tap_ok(fd_remove_tree(AT_FDCWD, dir) == 0, "removed");
	return tap_done();
}
