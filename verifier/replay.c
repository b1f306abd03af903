#include "verifier/replay.h"

#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "sandbox/gitstore.h"
#include "verifier/admitpatch.h"
#include "verifier/protect.h"

#define MODE_LINK 0120000u
#define MODE_TYPE 0170000u

#define NAMING_MAX (1u << 20) /* bytes of a file in which names of tests are looked for */
#define NAMED_MAX  100u       /* names that are looked for */
#define NAME_MIN   7u         /* "test.py" and shorter say nothing */

void replay_done(struct replay_result *r)
{
	free(r->reason);
	strv_done(&r->dropped);
	strv_done(&r->tamper);
	*r = (struct replay_result){ .method = APPLY_EXACT };
}

static bool matches_hidden(const struct replay_rules *rules, const char *path)
{
	for (size_t i = 0; rules->hidden && i < rules->hidden->n; i++)
		if (str_path_glob(rules->hidden->v[i], path))
			return true;
	return false;
}

bool replay_protected(const struct replay_rules *rules, const char *path)
{
	auto_free char *at = mem_strdup(path);
	char *slash;

	/* A file that takes the place of a protected file's directory name, and one below a
	 * protected file, would both push it out. */
	for (;;) {
		if (matches_hidden(rules, at) || (rules->owned && strv_has(rules->owned, at)))
			return true;
		slash = strrchr(at, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	for (size_t i = 0; rules->owned && i < rules->owned->n; i++)
		if (path_beneath(rules->owned->v[i], path))
			return true;
	return false;
}

/* Is @path a directory of @tree that holds files which must stay? A patch that puts a file there
 * would take them away. Walks that directory only. */
struct held_walk {
	const struct replay_rules *rules;
	const char *dir;
	const char *kind; /* of the first one found */
};

static int held_visit(const char *root, const git_tree_entry *entry, void *arg)
{
	struct held_walk *w = arg;
	auto_free char *path = mem_printf("%s/%s%s", w->dir, root, git_tree_entry_name(entry));

	if (git_tree_entry_type(entry) == GIT_OBJECT_TREE)
		return 0;
	if (matches_hidden(w->rules, path))
		w->kind = "hidden-tests";
	else if (w->rules->protect && !w->rules->own_tree)
		w->kind = protect_held(w->rules->protect, path);
	return w->kind ? -1 : 0;
}

/* The kind of what @path holds, NULL when it is no such directory. */
static const char *holds_held(struct gitstore *st, const git_oid *tree,
			      const struct replay_rules *rules, const char *path)
{
	struct held_walk w = { .rules = rules, .dir = path };
	git_tree *root = NULL, *dir = NULL;
	git_tree_entry *entry = NULL;

	if (git_tree_lookup(&root, st->repo, tree) == 0 &&
	    git_tree_entry_bypath(&entry, root, path) == 0 &&
	    git_tree_entry_type(entry) == GIT_OBJECT_TREE &&
	    git_tree_lookup(&dir, st->repo, git_tree_entry_id(entry)) == 0)
		(void)git_tree_walk(dir, GIT_TREEWALK_PRE, held_visit,
				    &w); /* ends early when found */
	git_tree_free(dir);
	git_tree_entry_free(entry);
	git_tree_free(root);
	return w.kind;
}

/* Does @tree have the first component of @path? */
static bool top_known(struct gitstore *st, const git_oid *tree, const char *path)
{
	auto_free char *top = mem_strndup(path, strcspn(path, "/"));
	git_tree *root = NULL;
	bool known;

	if (git_tree_lookup(&root, st->repo, tree) < 0)
		return false;
	known = git_tree_entry_byname(root, top) != NULL;
	git_tree_free(root);
	return known;
}

void replay_tamper(struct strv *rows, const char *kind, const char *action, const char *path)
{
	strv_take(rows, mem_printf("%s:%s %s", kind, action, path));
}

/* Leave the change of @f out, and say so. */
static bool leave_out(struct replay_result *ret, const struct replay_rules *rules,
		      const struct apply_file *f, const char *kind)
{
	enum protect_action a = f->existed ? PROTECT_RESTORED : PROTECT_QUARANTINED;

	if (!rules->own_tree)
		replay_tamper(&ret->tamper, kind, protect_action_name(a), f->path);
	return false;
}

/* Names that steer the tests. Puts the merged text into @f. */
static bool judge(struct gitstore *st, const git_oid *tree, const struct replay_rules *rules,
		  struct apply_file *f, struct replay_result *ret)
{
	const struct protect_file file = {
		.path = f->path,
		.before = f->existed ? f->before : NULL,
		.before_len = f->before_len,
		.mode = f->mode,
		.after = f->after,
		.after_len = f->after_len,
		.top_known = top_known(st, tree, f->path),
	};
	struct protect_end end;
	bool stays;

	protect_judge(rules->protect, &file, &end);
	stays = end.action != PROTECT_RESTORED && end.action != PROTECT_QUARANTINED;
	if (end.kind)
		replay_tamper(&ret->tamper, end.kind, protect_action_name(end.action), f->path);
	if (end.action == PROTECT_MERGED) {
		free(f->after);
		f->after = buf_steal(&end.text, &f->after_len);
	}
	protect_end_done(&end);
	return stays;
}

static bool mentions(const char *text, size_t n, const char *name)
{
	return text && n <= NAMING_MAX && memmem(text, n, name, strlen(name));
}

/* A product that names a file of the hidden tests may mean to read it while they run. Honest comments do, too, so it
 * counts and is only reported. */
static void report_naming(const struct replay_rules *rules, const struct apply_file *f,
			  struct replay_result *ret)
{
	static const char *const prose[] = { ".md", ".rst", ".txt", ".html", ".po" };

	for (size_t i = 0; i < ARRAY_SIZE(prose); i++)
		if (str_ends(f->path, prose[i]))
			return;
	for (size_t i = 0; rules->owned && i < rules->owned->n && i < NAMED_MAX; i++) {
		const char *name = path_base(rules->owned->v[i]);

		if (strlen(name) < NAME_MIN || !mentions(f->after, f->after_len, name) ||
		    mentions(f->before, f->before_len, name))
			continue;
		replay_tamper(&ret->tamper, "names-tests", protect_action_name(PROTECT_KEPT),
			      f->path);
		return;
	}
}

/* May the change of @f go on to the tests? Records what is to be said about it. */
static bool admit(struct gitstore *st, const git_oid *tree, const struct replay_rules *rules,
		  struct apply_file *f, struct replay_result *ret)
{
	const char *kind = NULL;
	size_t said = ret->tamper.n;

	if (f->mode == ADMITPATCH_GITLINK)
		return leave_out(ret, rules, f, "submodule");
	if (replay_protected(rules, f->path))
		return leave_out(ret, rules, f, "hidden-tests");
	if (rules->report && str_eq(f->path, rules->report))
		return leave_out(ret, rules, f, "report");
	if (f->mode && !f->existed)
		kind = holds_held(st, tree, rules, f->path);
	if (kind)
		return leave_out(ret, rules, f, kind);
	if (rules->own_tree)
		return true;
	if (rules->protect && !judge(st, tree, rules, f, ret))
		return false;
	if ((f->mode & MODE_TYPE) == MODE_LINK &&
	    admitpatch_link_leaves(f->path, f->after ? f->after : "", f->after_len))
		return leave_out(ret, rules, f, "symlink");
	if (ret->tamper.n == said)
		report_naming(rules, f, ret);
	return true;
}

static void set_reason(char **reason, char *text)
{
	free(*reason);
	*reason = text;
}

/* Name and mode of @f: 1, or 0 with *reason when no tree takes them. */
static int fit(struct apply_file *f, char **reason)
{
	const char *why = admitpatch_name(f->path);
	uint32_t mode = f->mode ? admitpatch_mode(f->mode) : 0;

	if (why || (f->mode && !mode)) {
		set_reason(reason, why ? mem_printf("\"%.200s\" is %s", f->path, why)
				       : mem_printf("%.200s has the mode %o; only files and "
						    "symbolic links count",
						    f->path, f->mode));
		return 0;
	}
	f->mode = mode;
	return 1;
}

static bool same(const struct apply_file *f)
{
	return (f->existed ? f->old_mode : 0) == f->mode && f->before_len == f->after_len &&
	       (!f->after_len || memcmp(f->before, f->after, f->after_len) == 0);
}

/* The tree of an apply result. */
static int update(struct gitstore *st, const git_oid *tree, struct apply_result *res,
		  const struct replay_rules *rules, git_oid *ret_tree, struct replay_result *ret,
		  struct err *err)
{
	auto_free struct git_change *change = mem_zalloc(res->n + 1, sizeof(*change));
	struct err local = { 0 };
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < res->n; i++) {
		struct apply_file *f = &res->file[i];

		if (same(f))
			continue;
		if (!fit(f, &ret->reason))
			return 0;
		if (same(f))
			continue;
		if (rules && !admit(st, tree, rules, f, ret)) {
			strv_add(&ret->dropped, f->path);
			continue;
		}
		change[n++] = (struct git_change){
			.path = f->path, .mode = f->mode, .data = f->after, .len = f->after_len
		};
	}
	if (!n) {
		git_oid_cpy(ret_tree, tree);
		return 1;
	}
	rc = gitstore_update(st, tree, change, n, ret_tree, &local);
	if (rc == 0)
		return 1;
	/* Two changes that exclude each other, such as a file below a file: the patch's fault. */
	if (rc == -ERR_INPUT || rc == -ERR_REFUSED) {
		set_reason(&ret->reason, mem_strdup(local.text));
		return 0;
	}
	if (err)
		*err = local;
	return rc;
}

struct tree_reader {
	struct gitstore *st;
	const git_oid *tree;
};

static int read_file(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err)
{
	struct tree_reader *r = arg;

	return gitstore_read(r->st, r->tree, path, out, mode, err);
}

static bool blank(const char *s)
{
	return !s || !s[strspn(s, " \t\r\n")];
}

/* Parse and apply on @tree. 1 with @res, 0 with *reason, negative on error. */
static int apply(struct gitstore *st, const git_oid *tree, const char *diff, enum apply_method most,
		 struct apply_result *res, char **reason, struct err *err)
{
	struct tree_reader reader = { .st = st, .tree = tree };
	struct apply_io io = { .read = read_file, .arg = &reader };
	struct apply_options opt = { .most = most, .submodules = true };
	struct err local = { 0 };
	struct patch *p = NULL;
	int rc = patch_parse(diff, strlen(diff), &p, &local);

	if (rc == -ERR_INPUT || rc == -ERR_LIMIT || rc == -ERR_REFUSED) {
		set_reason(reason, mem_strdup(local.text));
		return 0;
	}
	if (rc == 0) {
		rc = apply_patch(p, &io, &opt, res, &local);
		/* a file too large for the store is the patch's affair, too */
		if (rc == -ERR_LIMIT || rc == -ERR_INPUT) {
			set_reason(reason, mem_strdup(local.text));
			rc = 0;
		} else if (rc == 0) {
			set_reason(reason, take_ptr(&res->reason));
		}
	}
	if (rc < 0 && err)
		*err = local;
	patch_free(p);
	return rc;
}

int replay_patch(struct gitstore *st, const git_oid *tree, const char *diff, enum apply_method most,
		 const struct replay_rules *rules, git_oid *ret_tree, struct replay_result *ret,
		 struct err *err)
{
	struct apply_result res = { 0 };
	int rc;

	if (blank(diff)) {
		git_oid_cpy(ret_tree, tree);
		return 1;
	}
	rc = apply(st, tree, diff, most, &res, &ret->reason, err);
	if (rc > 0) {
		if (res.method > ret->method)
			ret->method = res.method;
		rc = update(st, tree, &res, rules, ret_tree, ret, err);
	}
	apply_result_done(&res);
	return rc;
}

int replay_paths(struct gitstore *st, const git_oid *tree, const char *diff, struct strv *paths,
		 char **ret_reason, struct err *err)
{
	struct apply_result res = { 0 };
	int rc = 1;

	if (!blank(diff))
		rc = apply(st, tree, diff, APPLY_EXACT, &res, ret_reason, err);
	for (size_t i = 0; rc > 0 && i < res.n; i++)
		strv_add(paths, res.file[i].path);
	apply_result_done(&res);
	return rc;
}

int replay_remove(struct gitstore *st, const git_oid *tree, const char *path, git_oid *ret_tree,
		  struct err *err)
{
	auto_free char *name = mem_strdup(path);
	struct git_change gone = { .path = name };
	git_tree *root = NULL;
	git_tree_entry *entry = NULL;
	int rc;

	if (git_tree_lookup(&root, st->repo, tree) < 0)
		return gitstore_error(err, ERR_BUG, "cannot read the tree to be graded");
	rc = git_tree_entry_bypath(&entry, root, path);
	git_tree_entry_free(entry);
	git_tree_free(root);
	if (rc < 0) {
		git_oid_cpy(ret_tree, tree);
		return 0;
	}
	return gitstore_update(st, tree, &gone, 1, ret_tree, err);
}
