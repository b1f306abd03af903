#include "supervisor/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervisor/images.h"
#include "supervisor/runanchor.h"
#include "triggers/lines.h"

static void keep(struct sup *s, const char *sha256, const char *data, size_t len)
{
	enum image_state st = images_keep(&s->images, sha256, data, len);
	int e = errno;
	auto_free char *why = NULL;
	struct buf *b;

	if (st != IMAGE_LARGE && st != IMAGE_FAILED)
		return;
	why = st == IMAGE_LARGE ? mem_strdup("larger than 16 MiB, or more than 256 MiB in the run")
				: mem_strdup(strerror(e));
	b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);
	tracerec_str(b, "images_left_out", why, strlen(why));
	tracerec_str(b, "first", sha256, strlen(sha256));
	sink_end(s->sink);
}

void evidence_image(void *arg, const char *path, const char *sha256, const char *data, size_t len)
{
	struct sup *s = arg;
	struct buf *b = sink_begin(s->sink, TK_IMAGE, 0, 0, 0, s->epoch);

	tracerec_str(b, "path", path, strlen(path));
	tracerec_str(b, "sha256", sha256, strlen(sha256));
	sink_end(s->sink);
	keep(s, sha256, data, len);
}

static void put_hunks(struct buf *b, const struct line_changes *c)
{
	if (!c->n || c->n > EVIDENCE_HUNKS_MAX)
		return;
	buf_adds(b, ",\"hunks\":[");
	for (size_t i = 0; i < c->n; i++) {
		const struct line_change *v = &c->v[i];

		buf_addf(b, "%s[%llu,%llu,%llu,%llu]", i ? "," : "",
			 (unsigned long long)v->old_first, (unsigned long long)v->old_n,
			 (unsigned long long)v->new_first, (unsigned long long)v->new_n);
	}
	buf_addc(b, ']');
}

void evidence_edited(void *arg, const struct edit *ed)
{
	struct sup *s = arg;
	pid_t pid = ed->by_agent ? ed->pid : 0;
	struct buf *b = sink_begin(s->sink, TK_EDIT, pid, pid, ed->cmd, s->epoch);

	if (ed->by_agent) {
		cmdtrack_edited(&s->cmds, ed->cmd);
		runanchor_edited(s, ed->cmd);
	}
	tracerec_str(b, "path", ed->path, strlen(ed->path));
	tracerec_lines(b, ed->first, ed->last);
	tracerec_str(b, "by", ed->by_agent ? "agent" : "user", ed->by_agent ? 5 : 4);
	if (ed->pre)
		tracerec_str(b, "pre", ed->pre, strlen(ed->pre));
	if (ed->post)
		tracerec_str(b, "post", ed->post, strlen(ed->post));
	if (ed->base)
		tracerec_str(b, "base", ed->base, strlen(ed->base));
	put_hunks(b, ed->changes);
	if (ed->unread)
		tracerec_u64(b, "unread", 1);
	sink_end(s->sink);
	if (ed->post)
		keep(s, ed->post, ed->data, ed->len);
}

int evidence_digest(void *arg, const char *path, char out[DIGEST_HEX])
{
	struct sup *s = arg;
	auto_fd int fd = fd_open_beneath(s->box->ws_fd, path, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size <= EVIDENCE_DIGEST_MAX && digest_fd(fd, EVIDENCE_DIGEST_MAX, out) == 0;
}
