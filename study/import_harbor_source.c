#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/harbor_tree.h"
#include "study/import_harbor_internal.h"
#include "study/import_rows_internal.h"

/* Where a reference patch may be. */
static const char *const patches[] = { "solution/gold_patch.diff", "solution/gold.patch",
				       "solution/solution.patch", "solution/solution.diff" };

bool harbor_has(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);

	return access(path, F_OK) == 0;
}

static int workdir(struct harbor *h, struct err *err)
{
	const char *w = h->toml.workdir ? h->toml.workdir : h->docker.workdir;

	if (w && w[0] != '/')
		return err_set(err, ERR_INPUT, "%s: work directory \"%s\" is not absolute", h->dir,
			       w);
	h->workdir = path_normal(w ? w : "/workspace");
	if (strcmp(h->workdir, "/") == 0) {
		free(h->workdir);
		h->workdir = mem_strdup("/workspace");
	}
	if (!w)
		harbor_note(h, "no work directory named; %s is taken", h->workdir);
	return 0;
}

/* Root file system by the image's name. */
static int mapped(struct harbor *h, const char *image, struct err *err)
{
	auto_free char *dir = path_dir(h->o->image_map);
	struct json_src src = { 0 };
	const cJSON *v;
	int rc = json_load(h->o->image_map, &src, err);

	if (rc < 0)
		return rc;
	v = image ? cJSON_GetObjectItemCaseSensitive(src.root, image) : NULL;
	if (!v)
		v = cJSON_GetObjectItemCaseSensitive(src.root, h->id);
	if (v && cJSON_IsString(v))
		h->rootfs = import_rootfs(v->valuestring, h->id, image, dir);
	else
		rc = err_set(err, ERR_INPUT,
			     "%s: no root file system for image \"%s\" (or \"%s\"); add it, as "
			     "{\"IMAGE\": \"oci:LAYOUT\"}",
			     h->o->image_map, image ? image : "", h->id);
	json_src_done(&src);
	return rc;
}

static int rootfs(struct harbor *h, struct err *err)
{
	const char *image = h->toml.docker_image ? h->toml.docker_image : h->docker.from;

	if (h->o->image_map)
		return mapped(h, image, err);
	h->rootfs = import_rootfs(h->o->rootfs ? h->o->rootfs : "host", h->id, image, ".");
	if (strcmp(h->rootfs, "host") != 0)
		return 0;
	if (h->docker.runs)
		harbor_note(
			h,
			"%zu RUN of the Dockerfile are not carried out: what they install must be on the host",
			h->docker.runs);
	else if (image)
		harbor_note(h, "image %s is not used: the box shows the host's programs", image);
	return 0;
}

/* A string of JSON file DIR/@name, NULL when it is not there. Caller frees. */
static char *config_string(const struct harbor *h, const char *name, const char *key)
{
	auto_free char *path = path_join(h->dir, name);
	struct json_src src = { 0 };
	const cJSON *v;
	char *ret = NULL;

	if (json_load(path, &src, NULL) < 0)
		return NULL;
	v = cJSON_GetObjectItemCaseSensitive(src.root, key);
	if (cJSON_IsString(v))
		ret = mem_strdup(v->valuestring);
	json_src_done(&src);
	return ret;
}

static bool is_commit(const char *s)
{
	return s && strlen(s) == 40 && strspn(s, "0123456789abcdef") == 40;
}

/* SWE-bench Pro V2 keeps it beside its tests, converters in [metadata], hand-made tasks in a RUN. */
static void commit(struct harbor *h)
{
	auto_free char *config = config_string(h, "tests/config.json", "base_commit");
	const char *const found[] = { h->toml.base_commit, config, h->docker.commit };

	for (size_t i = 0; i < ARRAY_SIZE(found) && !h->commit; i++)
		if (is_commit(found[i]))
			h->commit = mem_strdup(found[i]);
}

/* DIR/NAME of the sources, as a repository, bundle or archive. Absolute, caller frees; NULL = none. */
static char *in_sources(const struct harbor *h, const char *name)
{
	static const char *const ends[] = { "", ".git", ".bundle", ".tar.gz", ".tar.xz", ".tar" };

	for (size_t i = 0; name && *name && i < ARRAY_SIZE(ends); i++) {
		auto_free char *path = mem_printf("%s/%s%s", h->o->sources, name, ends[i]);
		char *real = realpath(path, NULL);

		if (real)
			return real;
	}
	return NULL;
}

static char *repository(const struct harbor *h)
{
	auto_free char *config = config_string(h, "tests/config.json", "repo");
	const char *repo = h->toml.repo ? h->toml.repo : config;
	auto_free char *flat = NULL;
	char *found;

	if (!h->o->sources)
		return NULL;
	found = in_sources(h, h->id);
	if (found || !repo || !path_is_tame(repo))
		return found;
	found = in_sources(h, repo);
	if (!found) {
		auto_buf b = BUF_INIT(4096);

		for (const char *s = repo; *s; s++)
			buf_adds(&b, *s == '/' ? "__" : (char[]){ *s, 0 });
		flat = buf_steal(&b, NULL);
		found = in_sources(h, flat);
	}
	return found ? found : in_sources(h, path_base(repo));
}

/* One source of a COPY into the work tree that is built. @to: its path below the workdir, "" = the workdir. */
static int put(struct harbor *h, const struct dockerfile_copy *c, const char *from, const char *to,
	       struct err *err)
{
	auto_free char *name = path_normal(from), *context = path_join(h->dir, "environment");
	auto_free char *src = path_join(context, name), *dst = path_join(h->built, *to ? to : ".");
	bool into = !*to || str_ends(c->to, "/"), dir;
	struct stat st, old;

	if (strpbrk(from, "*?["))
		return err_set(err, ERR_INPUT,
			       "%s/environment/Dockerfile:%u: wildcards in COPY are not understood",
			       h->dir, c->line);
	if ((name[0] == '/' || str_starts(name, "..")) || lstat(src, &st) < 0 ||
	    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return err_set(err, ERR_INPUT,
			       "%s/environment/Dockerfile:%u: \"%s\" is no file of environment/",
			       h->dir, c->line, from);
	dir = S_ISDIR(st.st_mode);
	into = !dir && (into || (stat(dst, &old) == 0 && S_ISDIR(old.st_mode)));
	if (into) {
		auto_free char *below = path_join(dst, path_base(name));

		return harbor_tree_copy(src, below, err);
	}
	{
		auto_free char *normal = path_normal(dst);

		return harbor_tree_copy(src, normal, err);
	}
}

/* 1 when @c went into the work tree, 0 when it goes elsewhere, negative on error. */
static int one_copy(struct harbor *h, const struct dockerfile_copy *c, struct err *err)
{
	auto_free char *to = path_normal(c->to);
	size_t n = strlen(h->workdir);
	int rc = 0;

	if (c->stage || !path_beneath(to, h->workdir)) {
		if (strcmp(h->rootfs, "host") == 0)
			harbor_note(h, "Dockerfile:%u: COPY to %s is not carried out", c->line,
				    c->to);
		return 0;
	}
	strv_each (i, &c->from) {
		if (c->add && (strstr(c->from.v[i], "://") || strstr(c->from.v[i], ".tar") ||
			       str_ends(c->from.v[i], ".tgz")))
			return err_set(
				err, ERR_INPUT,
				"%s/environment/Dockerfile:%u: ADD of archives and addresses is not "
				"understood; unpack %s and use COPY",
				h->dir, c->line, c->from.v[i]);
		rc = put(h, c, c->from.v[i], to[n] ? to + n + 1 : "", err);
		if (rc < 0)
			return rc;
	}
	return 1;
}

/* The Dockerfile belongs to the context but not to the work tree, unless nothing else says so. */
static int build(struct harbor *h, struct err *err)
{
	auto_free char *dockerfile = NULL;
	size_t copied = 0;
	int rc = fd_mkdirs(h->built, 0755, err);

	for (size_t i = 0; i < h->docker.n_copies && rc == 0; i++) {
		rc = one_copy(h, &h->docker.copy[i], err);
		copied += rc > 0;
		rc = rc > 0 ? 0 : rc;
	}
	if (rc == 0 && !copied)
		harbor_note(h,
			    "nothing is copied into %s: the task begins with an empty directory%s",
			    h->workdir,
			    h->o->sources ? "" : " (a repository is found with --sources)");
	return rc;
}

static int source(struct harbor *h, struct err *err)
{
	h->source = repository(h);
	if (h->source) {
		for (size_t i = 0; i < h->docker.n_copies; i++)
			if (!h->docker.copy[i].stage &&
			    path_beneath(h->docker.copy[i].to, h->workdir))
				harbor_note(
					h,
					"Dockerfile:%u: COPY to %s is not carried out: the source is %s",
					h->docker.copy[i].line, h->docker.copy[i].to,
					path_base(h->source));
		if (!h->commit)
			harbor_note(h, "no base commit named; the repository's HEAD is taken");
		return 0;
	}
	free(h->commit);
	h->commit = NULL;
	h->source = mem_printf("%s.source", h->id);
	h->built = mem_printf("%s/%s", h->o->out, h->source);
	if (fd_remove_tree(AT_FDCWD, h->built) < 0)
		return err_sys(err, "cannot replace %s", h->built);
	return build(h, err);
}

static int reference(struct harbor *h, struct err *err)
{
	auto_buf b = BUF_INIT(HARBOR_FILE_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(patches); i++) {
		auto_free char *path = path_join(h->dir, patches[i]);
		int rc;

		if (access(path, F_OK) < 0)
			continue;
		rc = fd_read_file(path, &b, err);
		if (rc < 0)
			return rc;
		if (memchr(buf_str(&b), 0, b.len) || !str_utf8(buf_str(&b), b.len, NULL)) {
			/* Not for a JSON file: it stays in the copy, and the task names it there. */
			h->patch = mem_printf("%s.harbor/%s", h->id, patches[i]);
			return 0;
		}
		h->patch = buf_steal(&b, NULL);
		return 0;
	}
	return 0;
}

int harbor_source(struct harbor *h, struct err *err)
{
	int rc = workdir(h, err);

	if (rc == 0)
		rc = rootfs(h, err);
	if (rc < 0)
		return rc;
	commit(h);
	rc = source(h, err);
	return rc < 0 ? rc : reference(h, err);
}
