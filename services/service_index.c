/* A package index on loopback: Python's simple repository (PEP 503, and PEP 691 in JSON) and npm's registry, of
 * packages that are made from their declaration or are ready-made. What is published changes by effects: a new
 * version, one that is yanked or gone, other bytes under the same version. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/service_index_internal.h"

/* Of the packages that are named at the end: the summary is one message. */
enum { SHOWN_MAX = 20 };

struct package_file {
	char *name, *version, *variant, *ecosystem, *python, *yanked, *files, *filename, *bytes;
	struct strv forms, requires;
	bool unpublished;
};

struct index_decl {
	char *name, *kind;
	uint64_t port;
	struct json_array packages;
};

#define OFF(type, field) offsetof(struct type, field)

static const char *const ecosystems[] = { "python", "npm", NULL };
static const char *const forms[] = { "wheel", "sdist", NULL };

/* clang-format off */
static const struct json_field package_rows[] = {
	{ "name", JSON_STR, OFF(package_file, name), true },
	{ "version", JSON_STR, OFF(package_file, version), true },
	{ "variant", JSON_STR, OFF(package_file, variant), .doc = "of the same version, for \"replace\"" },
	{ "ecosystem", JSON_STR, OFF(package_file, ecosystem), .doc = "python (default) or npm" },
	{ "unpublished", JSON_BOOL, OFF(package_file, unpublished), .doc = "true: not there before \"publish\" or \"replace\"" },
	{ "yanked", JSON_STR, OFF(package_file, yanked), .doc = "why it was yanked" },
	{ "python", JSON_STR, OFF(package_file, python), .doc = "Requires-Python" },
	{ "requires", JSON_STRV, OFF(package_file, requires), .doc = "Requires-Dist; of npm NAME@RANGE" },
	{ "forms", JSON_STRV, OFF(package_file, forms), .doc = "wheel (default), sdist" },
	{ "files", JSON_RAW, OFF(package_file, files), .doc = "path to text" },
	{ "filename", JSON_STR, OFF(package_file, filename), .doc = "of a ready-made package" },
	{ "bytes", JSON_STR, OFF(package_file, bytes), .doc = "base64 of a ready-made package" },
	{ NULL },
};

static const struct json_field index_rows[] = {
	{ "name", JSON_STR, OFF(index_decl, name), true },
	{ "kind", JSON_STR, OFF(index_decl, kind), true },
	{ "port", JSON_U64, OFF(index_decl, port), true },
	{ "packages", JSON_ARRAY, OFF(index_decl, packages), true, .rows = package_rows, .size = sizeof(struct package_file) },
	{ NULL },
};
/* clang-format on */

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static void release_done(struct index_release *r)
{
	service_index_unbuild(r);
	free(r->name);
	free(r->key);
	free(r->version);
	free(r->variant);
	free(r->python);
	free(r->reason);
	free(r->filename);
	free(r->bytes);
	strv_done(&r->requires);
	cJSON_Delete(r->files);
}

static void index_free(void *state)
{
	struct index *x = state;

	for (size_t i = 0; i < x->n; i++)
		release_done(&x->v[i]);
	free(x->v);
	free(x);
}

/* --- declaration --------------------------------------------------------------------------------- */

char *service_index_normal(const char *name)
{
	char *s = mem_strdup(name), *to = s;

	for (const char *p = name; *p; p++) {
		bool mark = strchr("-_.", *p) != NULL;

		if (!mark)
			*to++ = (char)tolower((unsigned char)*p);
		else if (to == s || to[-1] != '-')
			*to++ = '-';
	}
	*to = '\0';
	return s;
}

static bool only(const char *s, const char *set, size_t max)
{
	size_t n = strspn(s, set);

	return n > 0 && n <= max && !s[n];
}

static bool good_name(const char *name, bool npm)
{
	const char *slash = strchr(name, '/');

	if (npm && name[0] == '@' && slash) {
		auto_free char *scope = mem_strndup(name + 1, (size_t)(slash - name - 1));

		return only(scope, LETTERS "-_.", INDEX_NAME_MAX / 2) &&
		       only(slash + 1, LETTERS "-_.", INDEX_NAME_MAX / 2) && slash[1] != '.';
	}
	return only(name, LETTERS "-_.", INDEX_NAME_MAX) && isalnum((unsigned char)name[0]) &&
	       isalnum((unsigned char)name[strlen(name) - 1]);
}

bool service_index_one_line(const char *s)
{
	return !s || (s[0] && strlen(s) < 500 && !strpbrk(s, "\r\n"));
}

static int bad_choice(const struct json_src *src, const char *where, const char *what,
		      const char *got, const char *const *known, struct err *err)
{
	const char *near = str_nearest(got, known);

	return json_complain(src, where, err, "%s \"%s\" is none of %s, %s%s%s%s", what, got,
			     known[0], known[1], near ? "; did you mean \"" : "", near ? near : "",
			     near ? "\"?" : "");
}

static int check_names(const struct json_src *src, const char *where, const struct package_file *f,
		       bool npm, struct err *err)
{
	if (!good_name(f->name, npm))
		return json_complain(src, where, err, "name \"%s\" must be of A-Z a-z 0-9 . _ -%s",
				     f->name, npm ? ", of npm in lower case or @SCOPE/NAME" : "");
	if (!only(f->version, npm ? LETTERS ".+-" : LETTERS ".+!_", INDEX_NAME_MAX) ||
	    !isdigit((unsigned char)f->version[0]))
		return json_complain(src, where, err, "version \"%s\" is none, such as 1.2.0",
				     f->version);
	if (!service_index_one_line(f->python) || !service_index_one_line(f->yanked))
		return json_complain(src, where, err, "python and yanked are one line each");
	strv_each (i, &f->requires) {
		if (!service_index_one_line(f->requires.v[i]))
			return json_complain(src, where, err, "requires: one line each");
	}
	return 0;
}

static int check_files(const struct json_src *src, const char *where, const struct index_release *r,
		       struct err *err)
{
	const cJSON *f;

	if (r->bytes && r->filename && !r->files)
		return only(r->filename, LETTERS "-_.+!", 2 * INDEX_NAME_MAX)
			       ? 0
			       : json_complain(src, where, err,
					       "filename \"%s\" must be of A-Z a-z 0-9 . _ - + !",
					       r->filename);
	if (r->bytes || r->filename || !cJSON_IsObject(r->files))
		return json_complain(src, where, err,
				     "a package has \"from\" (a directory beside the scenario) or "
				     "\"files\" (path to text), or else \"file\", ready-made");
	cJSON_ArrayForEach (f, r->files) {
		if (!cJSON_IsString(f) || f->string[0] == '/' || strstr(f->string, "..") ||
		    !f->string[0] || strlen(f->string) > 90)
			return json_complain(src, where, err,
					     "files: \"%s\" must be a relative path of at most 90 "
					     "bytes with a text",
					     f->string);
	}
	return 0;
}

static int take_forms(const struct json_src *src, const char *where, const struct strv *f,
		      struct index_release *r, struct err *err)
{
	r->wheel = f->n == 0 || strv_has(f, "wheel");
	r->sdist = strv_has(f, "sdist");
	strv_each (i, f) {
		if (!str_eq(f->v[i], forms[0]) && !str_eq(f->v[i], forms[1]))
			return bad_choice(src, where, "forms:", f->v[i], forms, err);
	}
	return 0;
}

static int take_package(const struct json_src *src, const char *where, struct package_file *f,
			struct index_release *r, struct err *err)
{
	int rc;

	if (f->ecosystem && !str_eq(f->ecosystem, "python") && !str_eq(f->ecosystem, "npm"))
		return bad_choice(src, where, "ecosystem", f->ecosystem, ecosystems, err);
	r->npm = str_eq(f->ecosystem, "npm");
	rc = check_names(src, where, f, r->npm, err);
	if (rc == 0)
		rc = take_forms(src, where, &f->forms, r, err);
	if (rc < 0)
		return rc;
	r->key = r->npm ? mem_strdup(f->name) : service_index_normal(f->name);
	r->name = take_ptr(&f->name);
	r->version = take_ptr(&f->version);
	r->variant = take_ptr(&f->variant);
	r->python = take_ptr(&f->python);
	r->reason = take_ptr(&f->yanked);
	r->filename = take_ptr(&f->filename);
	r->bytes = take_ptr(&f->bytes);
	r->yanked = r->reason != NULL;
	r->published = !f->unpublished;
	r->requires = f->requires;
	f->requires = (struct strv){ 0 };
	r->files = f->files ? cJSON_Parse(f->files) : NULL;
	return check_files(src, where, r, err);
}

static bool same_version(const struct index_release *a, const struct index_release *b)
{
	return a->npm == b->npm && strcmp(a->key, b->key) == 0 &&
	       strcmp(a->version, b->version) == 0;
}

/* Two that cannot stand beside each other. */
static int check_pairs(const struct json_src *src, const char *where, const struct index *x,
		       struct err *err)
{
	for (size_t i = 0; i < x->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct index_release *a = &x->v[i], *b = &x->v[k];

			if (!same_version(a, b))
				continue;
			if (str_eq(a->variant, b->variant) || (a->published && b->published))
				return json_complain(src, where, err,
						     "package %s %s is there twice; give them a "
						     "\"variant\" each, and let one at most be "
						     "published",
						     a->name, a->version);
		}
	}
	return 0;
}

static int index_open(const struct json_src *src, const char *where, const cJSON *item, void **ret,
		      struct err *err)
{
	struct index_decl f = { 0 };
	struct index *x = mem_zalloc(1, sizeof(*x));
	int rc = json_read(src, where, item, index_rows, &f, err);

	if (rc == 0 && (f.packages.n < 1 || f.packages.n > INDEX_RELEASES_MAX))
		rc = json_complain(src, where, err, "packages: 1 to %d", INDEX_RELEASES_MAX);
	if (rc == 0)
		x->v = mem_zalloc(f.packages.n, sizeof(*x->v));
	for (size_t i = 0; rc == 0 && i < f.packages.n; i++) {
		auto_free char *at = mem_printf("%s.packages[%zu]", where, i);

		rc = take_package(src, at, (struct package_file *)f.packages.v + i, &x->v[x->n++],
				  err);
	}
	if (rc == 0)
		rc = check_pairs(src, where, x, err);
	x->port = (uint16_t)f.port;
	snprintf(x->version, sizeof(x->version), "1");
	json_release(index_rows, &f);
	if (rc < 0)
		index_free(x);
	else
		*ret = x;
	return rc;
}

static int index_begin(void *state, struct err *err)
{
	struct index *x = state;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		rc = service_index_build(&x->v[i], err);
		cJSON_Delete(x->v[i].files);
		x->v[i].files = NULL;
	}
	return rc;
}

/* --- requests ------------------------------------------------------------------------------------ */

/* The file @name of what is published under @key. */
static bool give_file(struct index *x, const char *key, const char *name, bool npm,
		      struct service_answer *out)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct index_release *r = &x->v[i];

		for (size_t k = 0; k < INDEX_FORMS_MAX; k++) {
			const struct index_file *f = &r->file[k];

			if (!r->published || r->npm != npm || !f->name ||
			    strcmp(r->key, key) != 0 || strcmp(f->name, name) != 0)
				continue;
			out->code = 200;
			out->type = "application/octet-stream";
			(void)buf_add(&out->body, f->body.data, f->body.len); /* built as large */
			snprintf(out->what, sizeof(out->what), "%s %s sha256:%s", r->name,
				 r->version, f->sha256);
			return true;
		}
	}
	return false;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, tolower((unsigned char)c));

	return c && at ? (int)(at - digits) : -1;
}

/* @path without percent signs (RFC 3986). Caller frees; NULL: it is none. */
static char *decoded(const char *path)
{
	char *s = mem_alloc(strlen(path) + 1), *to = s;

	for (; *path; path++) {
		if (*path != '%') {
			*to++ = *path;
			continue;
		}
		if (hex(path[1]) < 0 || hex(path[2]) < 0 || hex(path[1]) * 16 + hex(path[2]) == 0) {
			free(s);
			return NULL;
		}
		*to++ = (char)(hex(path[1]) * 16 + hex(path[2]));
		path += 2;
	}
	*to = '\0';
	return s;
}

/* /simple/ and /simple/PACKAGE/ */
static bool simple(struct index *x, char *rest, bool json, struct service_answer *out)
{
	size_t n = strlen(rest);
	auto_free char *key = NULL;

	snprintf(out->route, sizeof(out->route), n ? "/simple/{package}" : "/simple");
	if (n && rest[n - 1] == '/')
		rest[n - 1] = '\0';
	if (!n) {
		service_index_projects(x, json, out);
		return true;
	}
	key = service_index_normal(rest);
	snprintf(out->what, sizeof(out->what), "%.200s", key);
	return service_index_project(x, key, json, out);
}

/* /files/PACKAGE/FILE */
static bool files(struct index *x, char *rest, bool json, struct service_answer *out)
{
	char *slash = strchr(rest, '/');

	(void)json;
	snprintf(out->route, sizeof(out->route), "/files/{package}/{file}");
	if (!slash)
		return false;
	*slash = '\0';
	return give_file(x, rest, slash + 1, false, out);
}

/* /npm/PACKAGE and /npm/PACKAGE/-/FILE; a scope may be part of the package. */
static bool npm(struct index *x, char *rest, bool json, struct service_answer *out)
{
	char *at = strstr(rest, "/-/");

	(void)json;
	snprintf(out->route, sizeof(out->route), at ? "/npm/{package}/{file}" : "/npm/{package}");
	if (at) {
		*at = '\0';
		return give_file(x, rest, at + 3, true, out);
	}
	snprintf(out->what, sizeof(out->what), "%.200s", rest);
	return service_index_packument(x, rest, out);
}

static const struct {
	const char *prefix;
	bool (*fn)(struct index *x, char *rest, bool json, struct service_answer *out);
} routes[] = { { "/simple", simple }, { "/files", files }, { "/npm", npm } };

static void index_answer(void *state, const struct service_request *q, struct service_answer *out)
{
	struct index *x = state;
	auto_free char *path = decoded(q->path);
	bool json = q->accept && strstr(q->accept, "application/vnd.pypi.simple.v1+json");
	bool found = false;

	out->version = x->version;
	if (!path) {
		service_error(out, 400, "the path is none");
		return;
	}
	for (size_t i = 0; !found && i < ARRAY_SIZE(routes); i++) {
		size_t n = strlen(routes[i].prefix);

		if (strncmp(path, routes[i].prefix, n) != 0 || (path[n] && path[n] != '/'))
			continue;
		if (strcmp(q->method, "GET") != 0) {
			service_error(out, 405, "use GET");
			return;
		}
		found = routes[i].fn(x, path + n + (path[n] == '/'), json, out);
	}
	if (!found)
		service_error(out, 404,
			      "nothing here; see /simple/ for Python, /npm/PACKAGE for npm");
}

static void index_summary(const void *state, struct json_w *w)
{
	const struct index *x = state;
	size_t shown = 0;

	json_str(w, "version", x->version);
	json_open(w, "published", '[');
	for (size_t i = 0; i < x->n; i++) {
		auto_free char *text = mem_printf("%s %s%s", x->v[i].name, x->v[i].version,
						  x->v[i].yanked ? " (yanked)" : "");

		if (x->v[i].published && shown++ < SHOWN_MAX)
			json_str(w, NULL, text);
	}
	json_close(w, ']');
}

const struct service_row service_index = {
	.kind = "index",
	.open = index_open,
	.begin = index_begin,
	.answer = index_answer,
	.change = service_index_change,
	.summary = index_summary,
	.free = index_free,
};
