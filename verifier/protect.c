#include "verifier/protect.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "verifier/protect_internal.h"

#define MODE_LINK 0120000u

const char *protect_action_name(enum protect_action a)
{
	static const char *const names[] = { "none", "kept", "restored", "quarantined", "merged" };

	return (size_t)a < ARRAY_SIZE(names) ? names[a] : "none";
}

void protect_end_done(struct protect_end *e)
{
	buf_done(&e->text);
	*e = (struct protect_end){ 0 };
}

bool protect_listed(const char *list, const char *name, size_t n)
{
	while (*list) {
		size_t len = strcspn(list, "|");

		if (len == n && memcmp(list, name, n) == 0)
			return true;
		list += len;
		list += *list == '|';
	}
	return false;
}

/* Is one of the words of @list in @command? A shell script among its words may run anything. */
static bool command_runs(const char *command, const char *list)
{
	static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_.+-";

	if (!list)
		return true;
	for (const char *p = command ? command : ""; *p;) {
		size_t n = strspn(p, inside);

		if (protect_listed(list, p, n) || protect_listed("sh|bash", p, n) ||
		    (n > 3 && memcmp(p + n - 3, ".sh", 3) == 0))
			return true;
		p += n;
		p += *p && !strchr(inside, *p);
	}
	return false;
}

static bool glob_fits(const char *glob, const char *path)
{
	return str_path_glob(glob, strchr(glob, '/') ? path : path_base(path));
}

bool protect_glob(const struct strv *globs, const char *path)
{
	for (size_t i = 0; globs && i < globs->n; i++)
		if (str_path_glob(globs->v[i], path))
			return true;
	return false;
}

static const struct protect_row *row_of(const struct protect_rules *r, const char *path)
{
	static const struct protect_row own = { "", "protected", HOW_HOLD, NULL, NULL, NULL };
	static const struct protect_row test = { "", "test-file", HOW_HOLD, NULL, NULL, NULL };

	if (protect_glob(r->globs, path))
		return &own;
	for (const struct protect_row *row = protect_rows; row->glob; row++) {
		/* What a command does not run is nobody's; a merge looks for itself at what is run. */
		if (glob_fits(row->glob, path) &&
		    (row->how == HOW_MERGE || command_runs(r->command, row->when)))
			return row;
	}
	return r->files && strv_has(r->files, path) ? &test : NULL;
}

static bool is_allowed(const struct protect_rules *r, const char *path)
{
	return protect_glob(r->allow, path) || (r->honest && strv_has(r->honest, path));
}

/* site.py runs lines of a .pth file that begin with "import" and a blank or TAB; all other lines are
 * directories for sys.path, one of them might hold anything. Weights and other data of that name are
 * binary. */
static bool is_startup(const struct protect_file *f)
{
	return !f->after || !memchr(f->after, '\0', f->after_len);
}

static bool same_text(const struct buf *b, const char *text, size_t n)
{
	return text && b->len == n && memcmp(buf_str(b), text, n) == 0;
}

/* Are the texts the same but for empty lines? */
static bool same_lines(const struct buf *b, const char *text, size_t n)
{
	const char *p = buf_str(b), *end = p + b->len, *q = text, *stop = text + n;

	if (!text)
		return false;
	for (;;) {
		while (p < end && *p == '\n')
			p++;
		while (q < stop && *q == '\n')
			q++;
		while (p < end && q < stop && *p == *q && *p != '\n') {
			p++;
			q++;
		}
		if ((p < end && *p != '\n') || (q < stop && *q != '\n'))
			return false;
		if (p == end && q == stop)
			return true;
	}
}

static enum protect_action hold(const struct protect_file *f)
{
	return f->before ? PROTECT_RESTORED : PROTECT_QUARANTINED;
}

static enum protect_action merge(const struct protect_rules *r, const struct protect_row *row,
				 const struct protect_file *f, struct protect_end *ret)
{
	bool runs = command_runs(r->command, row->when);

	/* Gone or no plain file any more: as much an attempt as another text. */
	if (!f->mode || (f->mode & 0170000) == MODE_LINK)
		return hold(f);
	if (f->before_len > PROTECT_MERGE_MAX || f->after_len > PROTECT_MERGE_MAX)
		return hold(f);
	ret->text = (struct buf)BUF_INIT(4u * PROTECT_MERGE_MAX);
	if (row->merge(f, row->arg, runs, &ret->text) != 1 || ret->text.full)
		return hold(f);
	if (same_text(&ret->text, f->after, f->after_len))
		return str_eq(row->kind, "build-script") ? PROTECT_KEPT : PROTECT_NONE;
	if (same_lines(&ret->text, f->before, f->before_len))
		return PROTECT_RESTORED;
	return ret->text.len || f->before ? PROTECT_MERGED : PROTECT_QUARANTINED;
}

static enum protect_action act(const struct protect_rules *r, const struct protect_row *row,
			       const struct protect_file *f, struct protect_end *ret)
{
	switch (row->how) {
	case HOW_HOLD:
		return hold(f);
	case HOW_MADE:
		return f->mode ? hold(f) : PROTECT_NONE;
	case HOW_SHADOW:
		return f->before || f->top_known || !f->mode ? PROTECT_NONE : PROTECT_QUARANTINED;
	case HOW_STARTUP:
		return is_startup(f) ? hold(f) : PROTECT_NONE;
	case HOW_FLAG:
		return PROTECT_KEPT;
	case HOW_MERGE:
		break;
	}
	return merge(r, row, f, ret);
}

void protect_judge(const struct protect_rules *r, const struct protect_file *f,
		   struct protect_end *ret)
{
	const struct protect_row *row = row_of(r, f->path);

	*ret = (struct protect_end){ 0 };
	if (!row)
		return;
	if (is_allowed(r, f->path)) {
		/* An honest patch never needs what tools made. */
		ret->action = row->how == HOW_MADE ? act(r, row, f, ret) : PROTECT_KEPT;
	} else {
		ret->action = act(r, row, f, ret);
	}
	if (ret->action != PROTECT_MERGED)
		buf_done(&ret->text);
	if (ret->action != PROTECT_NONE)
		ret->kind = row->kind;
}

const char *protect_held(const struct protect_rules *r, const char *path)
{
	const struct protect_row *row = row_of(r, path);

	return row && row->how == HOW_HOLD && !is_allowed(r, path) ? row->kind : NULL;
}

void protect_test_files(const struct strv *names, struct strv *files)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < names->n && files->n < PROTECT_FILES_MAX; i++) {
		const char *name = names->v[i], *end = strstr(name, "::"),
			   *arrow = strstr(name, " > ");
		auto_free char *file = NULL;
		uint64_t key;

		if (!end || (arrow && arrow < end))
			end = arrow;
		if (!end)
			continue;
		file = mem_strndup(name, (size_t)(end - name));
		/* "mod::tests::case" of Rust is no file, and no name of a file is without a dot. */
		if (!path_is_tame(file) || !strchr(path_base(file), '.'))
			continue;
		key = map_hash(file, strlen(file));
		if (map_get(&seen, key))
			continue;
		strv_take(files, take_ptr(&file));
		map_put(&seen, key, files->v[files->n - 1]);
	}
	map_done(&seen);
}
