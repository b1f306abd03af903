/* Feeds every file named in argv, and every file of a directory named there, through the fuzz
 * entry that is linked in: the saved samples are an ordinary test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_file(const char *path)
{
	auto_buf b = BUF_INIT(64u << 20);
	struct err err = { 0 };
	void *exact;

	if (!tap_ok(fd_read_file(path, &b, &err) == 0, "read %s %s", path, err.text))
		return;
	/* An allocation of exactly this size, so that a sanitizer sees one byte too far. */
	exact = malloc(b.len ? b.len : 1);
	if (!exact)
		abort();
	memcpy(exact, buf_str(&b), b.len);
	tap_ok(LLVMFuzzerTestOneInput(exact, b.len) == 0, "%s", path);
	free(exact);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct dirent **names;
		struct stat st;
		int n;

		if (stat(argv[i], &st) < 0 || !S_ISDIR(st.st_mode)) {
			one_file(argv[i]);
			continue;
		}
		n = scandir(argv[i], &names, NULL, alphasort);
		tap_ok(n > 2, "%s holds samples", argv[i]);
		for (int k = 0; k < n; k++) {
			auto_free char *path = mem_printf("%s/%s", argv[i], names[k]->d_name);

			if (names[k]->d_name[0] != '.')
				one_file(path);
			free(names[k]);
		}
		if (n >= 0)
			free(names);
	}
	return tap_done();
}
