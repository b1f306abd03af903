#include "verifier/replay.h"

#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "sandbox/gitstore.h"

#define MODE_LINK 0120000u

/* Names that deserve a line in the verdict. Dropped ones never reach the tests: a patch is source,
 * and these are made from it. The others are kept, since honest patches hold them too; build files
 * are not listed for the same reason. Matched against the last component of a path. */
static const struct signal {
	const char *glob, *kind;
	bool drop;
} signals[] = {
	/* clang-format off */
	{ "*.pyc",             "bytecode",    true },
	{ "*.pyo",             "bytecode",    true },
	{ "conftest.py",       "test-config", false },
	{ "pytest.ini",        "test-config", false },
	{ ".pytest.ini",       "test-config", false },
	{ "tox.ini",           "test-config", false },
	{ "setup.cfg",         "test-config", false },
	{ "pyproject.toml",    "test-config", false },
	{ "jest.config.*",     "test-config", false },
	{ "vitest.config.*",   "test-config", false },
	{ ".mocharc*",         "test-config", false },
	{ ".taprc",            "test-config", false },
	{ ".proverc",          "test-config", false },
	{ "sitecustomize.py",  "startup",     false },
	{ "usercustomize.py",  "startup",     false },
	{ "*.pth",             "startup",     false },
	{ "entry_points.txt",  "startup",     false },
	{ ".npmrc",            "startup",     false },
	/* clang-format on */
};

/* Directories that hold nothing but what tools made. */
static const struct {
	const char *dir, *kind;
} caches[] = {
	{ "__pycache__", "bytecode" },
	{ "node_modules/.cache", "cache" },
};

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

/* Is @path a directory of @tree that holds a path matching one of the hidden globs? A patch that
 * puts a file there would take them away. Walks that directory only. */
struct hidden_walk {
	const struct replay_rules *rules;
	const char *dir;
	bool found;
};

static int hidden_visit(const char *root, const git_tree_entry *entry, void *arg)
{
	struct hidden_walk *w = arg;
	auto_free char *path = mem_printf("%s/%s%s", w->dir, root, git_tree_entry_name(entry));

	if (git_tree_entry_type(entry) != GIT_OBJECT_TREE && matches_hidden(w->rules, path)) {
		w->found = true;
		return -1;
	}
	return 0;
}

static bool holds_hidden(struct gitstore *st, const git_oid *tree, const struct replay_rules *rules,
			 const char *path)
{
	struct hidden_walk w = { .rules = rules, .dir = path };
	git_tree *root = NULL, *dir = NULL;
	git_tree_entry *entry = NULL;

	if (rules->hidden && rules->hidden->n && git_tree_lookup(&root, st->repo, tree) == 0 &&
	    git_tree_entry_bypath(&entry, root, path) == 0 &&
	    git_tree_entry_type(entry) == GIT_OBJECT_TREE &&
	    git_tree_lookup(&dir, st->repo, git_tree_entry_id(entry)) == 0)
		(void)git_tree_walk(dir, GIT_TREEWALK_PRE, hidden_visit,
				    &w); /* ends early when found */
	git_tree_free(dir);
	git_tree_entry_free(entry);
	git_tree_free(root);
	return w.found;
}

static void tamper(struct replay_result *ret, const char *kind, const char *path)
{
	strv_take(&ret->tamper, mem_printf("%s %s", kind, path));
}

/* A cache directory among the components of @path: its kind, NULL when there is none. */
static const char *cache_kind(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		size_t n = strlen(caches[i].dir);

		for (const char *s = path; (s = strstr(s, caches[i].dir)); s += n)
			if ((s == path || s[-1] == '/') && s[n] == '/')
				return caches[i].kind;
	}
	return NULL;
}

static bool link_leaves(const struct apply_file *f)
{
	auto_free char *dir = path_dir(f->path), *target = NULL, *joined = NULL, *normal = NULL;

	if ((f->mode & 0170000) != MODE_LINK || !f->after)
		return false;
	target = mem_strndup(f->after, f->after_len);
	joined = path_join(dir, target);
	normal = path_normal(joined);
	return *normal == '/' || str_eq(normal, "..") || str_starts(normal, "../");
}

/* May the change of @f go on to the tests? Records what is to be said about it. */
static bool admit(struct gitstore *st, const git_oid *tree, const struct replay_rules *rules,
		  const struct apply_file *f, struct replay_result *ret)
{
	const char *kind = cache_kind(f->path);

	if (replay_protected(rules, f->path) ||
	    (f->mode && holds_hidden(st, tree, rules, f->path))) {
		tamper(ret, "hidden-tests", f->path);
		return false;
	}
	if (rules->report && str_eq(f->path, rules->report)) {
		tamper(ret, "report", f->path);
		return false;
	}
	if (!f->mode)
		return true;
	if (kind) {
		tamper(ret, kind, f->path);
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (!str_path_glob(signals[i].glob, path_base(f->path)))
			continue;
		tamper(ret, signals[i].kind, f->path);
		return !signals[i].drop;
	}
	if (link_leaves(f))
		tamper(ret, "outward-link", f->path);
	return true;
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
		ret->reason = mem_strdup(local.text);
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

static void set_reason(char **reason, char *text)
{
	free(*reason);
	*reason = text;
}

/* Parse and apply on @tree. 1 with @res, 0 with *reason, negative on error. */
static int apply(struct gitstore *st, const git_oid *tree, const char *diff, enum apply_method most,
		 struct apply_result *res, char **reason, struct err *err)
{
	struct tree_reader reader = { .st = st, .tree = tree };
	struct apply_io io = { .read = read_file, .arg = &reader };
	struct apply_options opt = { .most = most };
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
