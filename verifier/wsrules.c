#include "verifier/wsrules.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "verifier/capture_internal.h"

enum { ANSWERS_MAX = 1 << 16 };

struct wsrules {
	struct capture_ignore ignore;
	int lower_fd;       /* owned */
	struct map answers; /* hash of a path -> &yes or &no */
};

static char yes, no; /* only their addresses are used */

int wsrules_new(struct workspace *ws, struct wsrules **ret, struct err *err)
{
	struct wsrules *r = mem_zalloc(1, sizeof(*r));
	int rc;

	r->lower_fd = open(ws->lower, O_PATH | O_DIRECTORY | O_CLOEXEC);
	rc = r->lower_fd < 0 ? err_sys(err, "cannot open %s", ws->lower)
			     : capture_ignore_init(&r->ignore, ws, err);
	if (rc < 0) {
		wsrules_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

static bool left_out(const struct wsrules *r, const char *path)
{
	auto_free char *above = mem_strdup(path);
	auto_fd int fd = fd_open_beneath(r->lower_fd, path, O_PATH, 0);
	bool dir_ignored = false;

	for (char *p = strchr(above, '/'); p && !dir_ignored; p = strchr(p + 1, '/')) {
		*p = '\0';
		dir_ignored = capture_ignore_dir(&r->ignore, above);
		*p = '/';
	}
	return capture_ignore_file(&r->ignore, path, fd >= 0, dir_ignored);
}

bool wsrules_left_out(struct wsrules *r, const char *path)
{
	uint64_t h = map_hash(path, strlen(path));
	const void *known;
	bool out;

	if (!r)
		return false;
	known = map_get(&r->answers, h);
	if (known)
		return known == &yes;
	out = left_out(r, path);
	if (r->answers.n >= ANSWERS_MAX)
		map_done(&r->answers);
	map_put(&r->answers, h, out ? &yes : &no);
	return out;
}

struct wsrules *wsrules_free(struct wsrules *r)
{
	if (!r)
		return NULL;
	capture_ignore_done(&r->ignore);
	mem_close(&r->lower_fd);
	map_done(&r->answers);
	free(r);
	return NULL;
}
