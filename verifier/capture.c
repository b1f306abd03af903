#include "verifier/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/gitpack.h"
#include "verifier/capture_internal.h"

static int open_dir(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_sys(err, "cannot open directory %s", path) : fd;
}

/* Two trees that hold only what differs, and their diff. */
static int compare(struct capture_walk *w, struct workspace *ws, struct err *err)
{
	struct gitstore_diffstat stat;
	git_oid before, after;
	int rc = gittree_write(&w->before, w->pack, &before, err);

	if (rc == 0)
		rc = gittree_write(&w->after, w->pack, &after, err);
	if (rc == 0)
		rc = gitstore_pack_end(&ws->store, &w->pack, err);
	if (rc == 0)
		rc = gitstore_diff_stat(&ws->store, &before, &after, &w->out->diff, &stat, err);
	if (rc < 0)
		return rc;
	w->out->added = stat.added;
	w->out->removed = stat.removed;
	digest_bytes(buf_str(&w->out->diff), w->out->diff.len, w->out->sha256);
	return 0;
}

static int take(struct workspace *ws, bool all, struct capture *ret, struct err *err)
{
	struct capture c = { .diff = BUF_INIT(CAPTURE_DIFF_MAX) };
	struct capture_walk w = {
		.out = &c,
		.ignore = { .off = all },
		.path = BUF_INIT(PATH_MAX),
		.old_bytes = BUF_INIT(GITSTORE_BLOB_MAX),
		.new_bytes = BUF_INIT(GITSTORE_BLOB_MAX),
	};
	auto_fd int upper = open_dir(ws->upper, err);
	auto_fd int lower = -1;
	int rc = upper < 0 ? upper : 0;

	if (rc == 0) {
		lower = open_dir(ws->lower, err);
		rc = lower < 0 ? lower : 0;
	}
	if (rc == 0)
		rc = capture_ignore_init(&w.ignore, ws, err);
	if (rc == 0)
		rc = gitstore_pack(&ws->store, &w.pack, err);
	if (rc == 0)
		rc = capture_walk_layers(&w, upper, lower, err);
	if (rc == 0)
		rc = compare(&w, ws, err);
	if (rc == 0)
		*ret = c;
	else
		capture_done(&c);
	gitpack_free(w.pack);
	capture_ignore_done(&w.ignore);
	gittree_done(&w.before);
	gittree_done(&w.after);
	buf_done(&w.path);
	buf_done(&w.old_bytes);
	buf_done(&w.new_bytes);
	return rc;
}

int capture_take(struct workspace *ws, struct capture *ret, struct err *err)
{
	return take(ws, false, ret, err);
}

int capture_tree(struct workspace *ws, struct capture *ret, struct err *err)
{
	return take(ws, true, ret, err);
}

void capture_done(struct capture *c)
{
	buf_done(&c->diff);
	strv_done(&c->dropped);
	*c = (struct capture){ 0 };
}
