/* Does the fix lie about in the root file system? A later release of the project, installed as a package, holds it.
 * Files of the same name as one that the reference changes are searched for the lines that it adds. */
#include "verifier/admit_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "verifier/basetree.h"

#define ENTRIES_MAX 3000000u   /* of the walk */
#define DEPTH_MAX   64u        /* its levels */
#define FILE_MAX    (4u << 20) /* bytes of a file that is looked into */
#define FIND_MAX    1000u      /* files that are looked into */
#define LINES_MAX   200u       /* added lines that are looked for, of each file */
#define LINES_LEAST 3u         /* so many make a fix */
#define LINE_LEAST  8u         /* characters of a line that says something */

/* What is looked for: lines of one file, without blanks around them. */
struct wanted {
	const char *base; /* borrowed */
	struct strv lines;
};

struct leak {
	struct admit_check *c;
	struct wanted *w; /* owned */
	size_t n;
	uint64_t entries;
	unsigned looked;
	bool cut;
};

/* @s without blanks around it; its length in *n. */
static const char *trimmed(const char *s, size_t *n)
{
	while (*n && isspace((unsigned char)*s)) {
		s++;
		--*n;
	}
	while (*n && isspace((unsigned char)s[*n - 1]))
		--*n;
	return s;
}

static bool says_something(const char *s, size_t n)
{
	size_t letters = 0;

	for (size_t i = 0; i < n; i++)
		letters += isalnum((unsigned char)s[i]) != 0;
	return n >= LINE_LEAST && letters >= LINE_LEAST / 2;
}

static bool holds_line(const char *text, size_t n, const char *want)
{
	size_t len = strlen(want);

	while (n) {
		const char *end = memchr(text, '\n', n), *s;
		size_t line = end ? (size_t)(end - text) : n, m = line;

		s = trimmed(text, &m);
		if (m == len && memcmp(s, want, len) == 0)
			return true;
		if (!end)
			return false;
		text = end + 1;
		n -= line + 1;
	}
	return false;
}

/* The lines that the reference adds to @f and that were nowhere in it. */
static void added_lines(const struct basetree_file *f, struct wanted *w)
{
	const char *s = f->after;
	uint64_t number = 1;
	size_t left = f->n_after;

	w->base = path_base(f->path);
	while (left && w->lines.n < LINES_MAX) {
		const char *end = memchr(s, '\n', left), *t;
		size_t line = end ? (size_t)(end - s) : left, n = line;
		bool added = false;

		for (size_t i = 0; i < f->n_hunks; i++)
			added = added || (number >= f->hunk[i].new_first &&
					  number < f->hunk[i].new_first + f->hunk[i].new_n);
		t = trimmed(s, &n);
		if (added && says_something(t, n)) {
			auto_free char *copy = mem_strndup(t, n);

			if (!strv_has(&w->lines, copy) && !holds_line(f->before, f->n_before, copy))
				strv_add(&w->lines, copy);
		}
		number++;
		s += line + (end != NULL);
		left -= line + (end != NULL);
	}
}

/* With fewer lines than make a fix, all of them must be there. */
static void look_into(struct leak *l, const struct wanted *w, int dir, const char *name,
		      const char *path)
{
	auto_buf text = BUF_INIT(FILE_MAX);
	auto_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t found = 0, least = w->lines.n < LINES_LEAST ? w->lines.n : LINES_LEAST;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)FILE_MAX ||
	    fd_read_all(fd, &text) < 0)
		return;
	strv_each (i, &w->lines)
		found += holds_line(buf_str(&text), text.len, w->lines.v[i]);
	if (found < least)
		return;
	admit_say(l->c, ADMIT_NOTED, "lines of the fix are in files of the root file system");
	admit_line(l->c, "fix-installed %s: %zu of %zu lines", path, found, w->lines.n);
}

/* @dir_take is closed. */
static void walk(struct leak *l, int dir_take, const char *path, unsigned depth)
{
	DIR *d = fdopendir(dir_take);

	if (!d) {
		close(dir_take);
		return;
	}
	for (struct dirent *e = readdir(d); e && !l->cut; e = readdir(d)) {
		auto_free char *inner = NULL;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++l->entries > ENTRIES_MAX || l->looked > FIND_MAX) {
			l->cut = true;
			break;
		}
		if (e->d_type == DT_DIR && depth < DEPTH_MAX) {
			int fd = openat(dirfd(d), e->d_name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			inner = mem_printf("%s/%s", path, e->d_name);
			if (fd >= 0)
				walk(l, fd, inner, depth + 1);
			continue;
		}
		for (size_t i = 0; i < l->n && e->d_type == DT_REG; i++) {
			if (!l->w[i].lines.n || strcmp(l->w[i].base, e->d_name) != 0)
				continue;
			if (!inner)
				inner = mem_printf("%s/%s", path, e->d_name);
			l->looked++;
			look_into(l, &l->w[i], dirfd(d), e->d_name, inner);
		}
	}
	closedir(d);
}

static int search(struct leak *l, const char *rootfs, struct err *err)
{
	bool host = !rootfs || strcmp(rootfs, "host") == 0;
	const char *root = host ? "/usr" : rootfs + strlen("dir:");
	int fd;

	if (!host && !str_starts(rootfs, "dir:")) {
		admit_line(l->c, "the root file system %s was not searched for the fix", rootfs);
		return 0;
	}
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot open %s", root);
	walk(l, fd, host ? root : "", 0);
	if (l->cut)
		admit_say(l->c, ADMIT_NOTED,
			  "the search for the fix in the root file system was cut off");
	return 0;
}

int admit_leak(const struct admit_request *req, const char *patch, struct admit_check *c,
	       struct err *err)
{
	struct leak l = { .c = c };
	struct basetree *tree = NULL;
	struct basetree_patch p = { 0 };
	struct err local = { 0 };
	auto_free char *reason = NULL;
	int rc = basetree_open(req->task, req->janitor, &tree, &local);

	/* A task that cannot be graded at all has been told so. */
	if (rc == -ERR_INPUT)
		return 0;
	if (rc < 0) {
		if (err)
			*err = local;
		return rc;
	}
	rc = basetree_apply(tree, patch, &p, &reason, err);
	if (rc > 0) {
		l.w = mem_zalloc(p.n + 1, sizeof(*l.w));
		for (size_t i = 0; i < p.n; i++)
			if (p.file[i].after && !basetree_is_test(tree, p.file[i].path))
				added_lines(&p.file[i], &l.w[l.n++]);
		rc = search(&l, req->task->rootfs, err);
	}
	for (size_t i = 0; i < l.n; i++)
		strv_done(&l.w[i].lines);
	free(l.w);
	basetree_patch_done(&p);
	basetree_free(tree);
	return rc < 0 ? rc : 0;
}
