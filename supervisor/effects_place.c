/* {"place": ...}: a file of the box is put, changed, re-dated or removed, as the box's user would. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/effect.h"
#include "supervisor/effects_internal.h"

#define PLACE_MAX (64u << 20) /* bytes of a file that is changed or made */

void effects_spot(const struct sup *s, const char *path, struct effects_spot *ret)
{
	const char *workdir = s->plan->task->workdir;
	size_t n = strlen(workdir);

	*ret = (struct effects_spot){ .dir = s->box->ws_fd, .ws = true };
	if (path[0] != '/')
		ret->path = mem_strdup(path);
	else if (strcmp(path, workdir) == 0)
		ret->path = mem_strdup(".");
	else if (strncmp(path, workdir, n) == 0 && path[n] == '/')
		ret->path = mem_strdup(path + n + 1);
	else
		*ret = (struct effects_spot){ s->box->root_fd, mem_strdup(path + 1), false };
}

/* --- what is filled into texts ----------------------------------------------------------------- */

static bool is_commit(const char *s)
{
	return strspn(s, "0123456789abcdef") == 40 && (s[40] == '\0' || s[40] == '\n');
}

/* First line of a file of .git, which the agent may have written. */
static bool git_line(const struct sup *s, const char *name, struct buf *out)
{
	auto_free char *path = mem_printf(".git/%s", name);
	auto_fd int fd = fd_open_beneath(s->box->ws_fd, path, O_RDONLY | O_NONBLOCK, 0);

	buf_clear(out);
	if (fd < 0 || fd_read_all(fd, out) < 0 || !out->len)
		return false;
	out->data[strcspn(buf_str(out), "\n")] = '\0';
	return true;
}

/* The commit that the agent's HEAD stands at; the base commit where that cannot be told. */
static void head_commit(const struct sup *s, struct buf *out)
{
	auto_buf line = BUF_INIT(4096);
	char name[1024] = "";

	if (git_line(s, "HEAD", &line) && is_commit(buf_str(&line))) {
		buf_add(out, buf_str(&line), 40);
		return;
	}
	if (sscanf(buf_str(&line), "ref: %1000[A-Za-z0-9._/-]", name) == 1 && path_is_tame(name) &&
	    git_line(s, name, &line) && is_commit(buf_str(&line))) {
		buf_add(out, buf_str(&line), 40);
		return;
	}
	buf_adds(out, s->base_commit);
}

static void put_now(const struct sup *s, struct buf *out)
{
	char text[32];

	(void)s;
	buf_adds(out, clock_text(clock_wall(), text));
}

static void put_base(const struct sup *s, struct buf *out)
{
	buf_adds(out, s->base_commit);
}

static const struct {
	const char *name;
	void (*put)(const struct sup *s, struct buf *out);
} words[] = { { "${HEAD}", head_commit }, { "${BASE}", put_base }, { "${NOW}", put_now } };

/* @text with its words filled in. -1 when @out is full. */
static int fill_in(const struct sup *s, const char *text, struct buf *out)
{
	while (*text) {
		bool done = false;

		for (size_t i = 0; i < ARRAY_SIZE(words) && !done; i++) {
			if (!str_starts(text, words[i].name))
				continue;
			words[i].put(s, out);
			text += strlen(words[i].name);
			done = true;
		}
		if (!done && buf_addc(out, *text++) < 0)
			return -1;
	}
	return out->full ? -1 : 0;
}

/* --- files ------------------------------------------------------------------------------------- */

int effects_parents(int dir, const char *path)
{
	auto_free char *up = path_dir(path);

	for (char *p = up;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (strcmp(up, ".") != 0 && up[0]) {
			auto_free char *above = path_dir(up);
			auto_fd int at = fd_open_beneath(dir, above, O_RDONLY | O_DIRECTORY, 0);

			if (at < 0 || (mkdirat(at, path_base(up), 0755) < 0 && errno != EEXIST))
				return -1;
		}
		if (!c)
			return 0;
		*p = c;
	}
}

int effects_open(int dir, const char *path, uint32_t mode)
{
	int fd = fd_open_beneath(dir, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 && errno == EACCES) {
		auto_fd int ro = fd_open_beneath(dir, path, O_RDONLY | O_NONBLOCK, 0);

		if (ro >= 0 && fstat(ro, &st) == 0 && fchmod(ro, st.st_mode | 0200) == 0) {
			fd = fd_open_beneath(dir, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0);
			(void)fchmod(ro, st.st_mode & 07777); /* our own file: cannot fail */
		}
	}
	if (fd < 0 && errno == ENOENT && effects_parents(dir, path) == 0)
		fd = fd_open_beneath(dir, path, O_WRONLY | O_CREAT | O_EXCL, mode);
	return fd;
}

int effects_write(int fd, const void *data, size_t n)
{
	const char *p = data;
	size_t done = 0;

	while (done < n) {
		ssize_t w = pwrite(fd, p + done, n - done, (off_t)done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return -1;
		done += (size_t)w;
	}
	return ftruncate(fd, (off_t)n);
}

/* Contents of a regular file; none when it is not there. False: it cannot be read. */
static bool read_file(const struct effects_spot *at, struct buf *out, struct stat *st)
{
	auto_fd int fd = fd_open_beneath(at->dir, at->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);

	*st = (struct stat){ 0 };
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP;
	return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_size <= PLACE_MAX &&
	       fd_read_all(fd, out) == 0;
}

/* Every replacement must find its text: one that changes nothing would be told as made. */
static int replace(const struct sup *s, const struct effect_place *p, struct buf *text,
		   struct err *err)
{
	for (size_t i = 0; i < p->n_swaps; i++) {
		auto_buf old = BUF_INIT(PLACE_MAX), new = BUF_INIT(PLACE_MAX);
		auto_buf out = BUF_INIT(PLACE_MAX);
		const char *at = buf_str(text), *hit;

		if (fill_in(s, p->swap[i].old, &old) < 0 || fill_in(s, p->swap[i].new, &new) < 0)
			return err_set(err, ERR_LIMIT, "place %s: a text is too long", p->path);
		if (!strstr(at, buf_str(&old)))
			return err_set(err, ERR_INPUT, "place %s: \"%.60s\" is not in the file",
				       p->path, buf_str(&old));
		while ((hit = strstr(at, buf_str(&old)))) {
			buf_add(&out, at, (size_t)(hit - at));
			buf_add(&out, buf_str(&new), new.len);
			at = hit + old.len;
		}
		buf_adds(&out, at);
		if (out.full)
			return err_set(err, ERR_LIMIT, "place %s: the file gets too large",
				       p->path);
		buf_clear(text);
		buf_add(text, buf_str(&out), out.len);
	}
	return 0;
}

static int set_time(const struct effects_spot *at, const struct effect_place *p, int64_t same)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	auto_fd int dir = -1;
	auto_free char *up = path_dir(at->path);
	int64_t when;

	if (!p->mtime && p->kind != PLACE_TOUCH)
		return 0;
	if (effect_mtime(p->mtime, (int64_t)time(NULL), same, &when) < 0)
		return -1;
	t[1].tv_sec = when;
	dir = fd_open_beneath(at->dir, up, O_RDONLY | O_DIRECTORY, 0);
	return dir < 0 ? -1 : utimensat(dir, path_base(at->path), t, AT_SYMLINK_NOFOLLOW);
}

static int put_file(struct sup *s, const struct effect_place *p, const struct effects_spot *at,
		    struct buf *text, const struct stat *was, struct err *err)
{
	auto_buf made = BUF_INIT(PLACE_MAX);
	auto_fd int fd = -1;
	int rc = 0;

	if (p->kind == PLACE_REPLACE && !was->st_ino)
		return err_set(err, ERR_INPUT, "place %s: there is no such file", p->path);
	if (p->kind == PLACE_REPLACE)
		rc = replace(s, p, text, err);
	else if (fill_in(s, p->text, &made) < 0)
		rc = err_set(err, ERR_LIMIT, "place %s: the text is too long", p->path);
	if (rc < 0)
		return rc;
	fd = effects_open(at->dir, at->path, p->mode ? p->mode : 0644);
	if (fd < 0 || (p->kind == PLACE_REPLACE ? effects_write(fd, buf_str(text), text->len)
						: effects_write(fd, buf_str(&made), made.len)) < 0)
		return err_sys(err, "cannot write %s in the box", p->path);
	if (p->mode && fchmod(fd, p->mode) < 0)
		return err_sys(err, "cannot set the mode of %s in the box", p->path);
	return 0;
}

static int put_link(const struct effect_place *p, const struct effects_spot *at, struct err *err)
{
	auto_free char *up = path_dir(at->path);
	auto_fd int dir = -1;

	if (effects_parents(at->dir, at->path) == 0)
		dir = fd_open_beneath(at->dir, up, O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0 || (unlinkat(dir, path_base(at->path), 0) < 0 && errno != ENOENT) ||
	    symlinkat(p->text, dir, path_base(at->path)) < 0)
		return err_sys(err, "cannot make the link %s in the box", p->path);
	return 0;
}

static int remove_it(const struct effect_place *p, const struct effects_spot *at, struct err *err)
{
	auto_free char *up = path_dir(at->path);
	auto_fd int dir = fd_open_beneath(at->dir, up, O_RDONLY | O_DIRECTORY, 0);

	if (dir < 0 || fd_remove_tree(dir, path_base(at->path)) < 0)
		return err_sys(err, "cannot remove %s in the box", p->path);
	return 0;
}

static void note(struct sup *s, const struct effect_place *p, const char *pre, const char *post)
{
	static const char *const what[] = { "text", "link", "absent", "touch", "replace" };
	struct buf *b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);

	tracerec_str(b, "placed", p->path, strlen(p->path));
	tracerec_str(b, "what", what[p->kind], strlen(what[p->kind]));
	if (pre)
		tracerec_str(b, "pre", pre, strlen(pre));
	if (post)
		tracerec_str(b, "post", post, strlen(post));
	sink_end(s->sink);
}

static int carry_out(struct sup *s, const struct effect_place *p, const struct effects_spot *at,
		     struct err *err)
{
	auto_buf text = BUF_INIT(PLACE_MAX), after = BUF_INIT(PLACE_MAX);
	char pre[DIGEST_HEX], post[DIGEST_HEX];
	struct stat was, now;
	int rc;

	if (!read_file(at, &text, &was) && p->kind != PLACE_ABSENT && p->kind != PLACE_LINK)
		return err_set(err, ERR_INPUT,
			       "place %s: what is there is no file that can be read", p->path);
	digest_bytes(buf_str(&text), text.len, pre);
	if (p->kind == PLACE_LINK)
		rc = put_link(p, at, err);
	else if (p->kind == PLACE_ABSENT)
		rc = remove_it(p, at, err);
	else if (p->kind == PLACE_TOUCH)
		rc = was.st_ino
			     ? 0
			     : err_set(err, ERR_INPUT, "place %s: there is no such file", p->path);
	else
		rc = put_file(s, p, at, &text, &was, err);
	if (rc == 0 && p->kind != PLACE_ABSENT && set_time(at, p, (int64_t)was.st_mtim.tv_sec) < 0)
		rc = err_sys(err, "cannot set the time of %s in the box", p->path);
	if (rc < 0)
		return rc;
	(void)read_file(at, &after, &now); /* a link has no contents */
	digest_bytes(buf_str(&after), after.len, post);
	note(s, p, was.st_ino ? pre : NULL, now.st_ino ? post : NULL);
	return 0;
}

int effects_place(struct sup *s, const struct json_src *src, cJSON *item, struct err *err)
{
	struct effect_place p = { 0 };
	struct effects_spot at;
	uint64_t changed;
	int rc = effect_place_read(src, "place", NULL, item, &p, err);

	if (rc < 0)
		return rc;
	effects_spot(s, p.path, &at);
	/* Followed from here on, so that what becomes of it is known. */
	if (at.ws && s->engine && path_is_tame(at.path))
		(void)engine_follow(s->engine, at.path,
				    faccessat(s->box->ws_fd, at.path, F_OK, AT_SYMLINK_NOFOLLOW) <
					    0);
	box_act_as(s->box, true);
	rc = carry_out(s, &p, &at, err);
	box_act_as(s->box, false);
	if (at.ws)
		watch_refresh(&s->watch, &changed);
	free(at.path);
	effect_place_done(&p);
	return rc;
}
