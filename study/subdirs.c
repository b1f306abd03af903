#include "study/subdirs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"

#define DIR_ENTRIES_MAX 1000000u

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int subdirs_list(const char *dir, struct strv *ret, struct err *err)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	unsigned seen = 0;

	if (!d)
		return err_set(err, ERR_INPUT, "cannot look into %s: %s", dir, strerror(errno));
	while ((e = readdir(d)) && seen++ < DIR_ENTRIES_MAX) {
		auto_free char *path = path_join(dir, e->d_name);
		struct stat st;

		if (e->d_name[0] != '.' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			strv_take(ret, take_ptr(&path));
	}
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return seen > DIR_ENTRIES_MAX
		       ? err_set(err, ERR_LIMIT, "%s: more than %u entries", dir, DIR_ENTRIES_MAX)
		       : 0;
}
