#include "study/predictions.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/jslice.h"
#include "base/mem.h"
#include "base/str.h"

#define ID_MAX    200  /* bytes: it becomes part of file names */
#define MODEL_MAX 1000 /* bytes: every result holds it */
#define KEY_MAX   64 /* bytes with quotes: longer keys are not looked at for a slip of the keyboard */
#define ID_CHARS  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* What a record holds, told by its keys. */
enum kind { KIND_SWEBENCH, KIND_MULTI, KIND_PRO };

/* Reading of one file. */
struct reading {
	const char *name;
	const char *where; /* static: "line" or "entry" */
	struct predictions p;
	size_t cap;
	enum kind kind; /* of the first record, or pro as soon as one is */
};

/* Fields of a record as they stand in it. */
enum field { FIELD_ID, FIELD_MODEL, FIELD_PATCH, FIELD_ORG, FIELD_REPO, FIELD_NUMBER, FIELDS };

struct record {
	struct jslice v[FIELDS];
	const struct row *row[FIELDS]; /* by which key; NULL = absent */
};

/* The keys that are understood. Where several mean the same field the first row counts, as Pro's harness has
 * it; the others go into "rest": a file may hold the task's own "patch" beside the "model_patch". */
static const struct row {
	const char *key;
	enum field field;
	bool keep; /* also in "rest": the instance's name is made of it, or it is the task's */
	bool pro;
} key_rows[] = {
	/* clang-format off */
	{ "instance_id",        FIELD_ID,     false, false },
	{ "model_name_or_path", FIELD_MODEL,  false, false },
	{ "prefix",             FIELD_MODEL,  false, true },
	{ "model_patch",        FIELD_PATCH,  false, false },
	{ "patch",              FIELD_PATCH,  false, true },
	{ "fix_patch",          FIELD_PATCH,  false, false },
	{ "org",                FIELD_ORG,    true,  false },
	{ "repo",               FIELD_REPO,   true,  false },
	{ "number",             FIELD_NUMBER, true,  false },
	/* clang-format on */
};

static int complain(const struct reading *r, uint64_t at, struct err *err, const char *what)
{
	return err_set(err, ERR_INPUT, "%s: %s %llu: %s", r->name, r->where, (unsigned long long)at,
		       what);
}

static const struct row *row_of(struct jslice key)
{
	for (size_t i = 0; i < ARRAY_SIZE(key_rows); i++)
		if (jslice_is(key, key_rows[i].key))
			return &key_rows[i];
	return NULL;
}

static int find_fields(const struct reading *r, uint64_t at, struct jslice v, struct record *rec,
		       struct err *err)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice key, value, twice = jslice_twice(v);

	if (twice.n)
		return err_set(err, ERR_INPUT, "%s: %s %llu: key %.*s given twice", r->name,
			       r->where, (unsigned long long)at, (int)(twice.n < 80 ? twice.n : 80),
			       twice.s);
	for (unsigned n = 0; jslice_member(&w, &key, &value); n++) {
		const struct row *row = row_of(key);

		if (n == JSLICE_KEYS_MAX)
			return complain(r, at, err, "more than 512 keys");
		if (!row || (rec->row[row->field] && rec->row[row->field] < row))
			continue;
		rec->row[row->field] = row;
		rec->v[row->field] = value;
	}
	return 0;
}

/* JSON object text of the members that are no field of ours; empty when there is none. */
static void keep_rest(struct jslice v, const struct record *rec, struct buf *rest)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice key, value;

	while (jslice_member(&w, &key, &value)) {
		const struct row *row = row_of(key);

		if (row && !row->keep && rec->row[row->field] == row)
			continue;
		buf_adds(rest, rest->len ? ", " : "{");
		jslice_raw(rest, key);
		buf_adds(rest, ": ");
		jslice_raw(rest, value);
	}
	if (rest->len)
		buf_addc(rest, '}');
}

/* A string without NUL bytes; NULL for null and when absent. */
static int take_text(const struct reading *r, uint64_t at, const struct record *rec,
		     enum field field, char **ret, struct err *err)
{
	struct jslice v = rec->v[field];

	*ret = NULL;
	if (!v.n || jslice_kind(v) == 'n')
		return 0;
	*ret = jslice_cstr(v);
	return *ret ? 0
		    : err_set(err, ERR_INPUT,
			      "%s: %s %llu: \"%s\" is no text: it must be a string without NUL "
			      "bytes, or null",
			      r->name, r->where, (unsigned long long)at, rec->row[field]->key);
}

/* "org__repo-number". */
static int multi_id(const struct reading *r, uint64_t at, const struct record *rec, char **ret,
		    struct err *err)
{
	struct jslice no = rec->v[FIELD_NUMBER];
	auto_free char *org = jslice_cstr(rec->v[FIELD_ORG]);
	auto_free char *repo = jslice_cstr(rec->v[FIELD_REPO]);
	auto_free char *digits = jslice_kind(no) == '"' ? jslice_cstr(no) : mem_strndup(no.s, no.n);
	uint64_t number;

	if (!org || !repo || !digits || str_u64(digits, &number) < 0)
		return complain(r, at, err,
				"\"org\" and \"repo\" must be strings and \"number\" a number");
	*ret = mem_printf("%s__%s-%llu", org, repo, (unsigned long long)number);
	return 0;
}

static int check_id(const struct reading *r, uint64_t at, const char *id, struct err *err)
{
	size_t n = strlen(id);

	if (n && n <= ID_MAX && id[0] != '.' && strspn(id, ID_CHARS) == n)
		return 0;
	return complain(r, at, err,
			"\"instance_id\" is not a name: use 1 to 200 of A-Z a-z 0-9 . _ -, no dot "
			"in front");
}

static int take_id(const struct reading *r, uint64_t at, const struct record *rec, char *key,
		   struct prediction *p, struct err *err)
{
	bool multi = rec->row[FIELD_ORG] && rec->row[FIELD_REPO] && rec->row[FIELD_NUMBER];
	int rc = take_text(r, at, rec, FIELD_ID, &p->instance_id, err);

	if (rc == 0 && !p->instance_id && multi)
		rc = multi_id(r, at, rec, &p->instance_id, err);
	if (rc == 0 && !p->instance_id && key)
		p->instance_id = mem_strdup(key);
	if (rc < 0)
		return rc;
	if (!p->instance_id)
		return complain(r, at, err,
				"\"instance_id\" is missing (or \"org\", \"repo\" and \"number\")");
	if (key && strcmp(key, p->instance_id) != 0)
		return complain(r, at, err, "\"instance_id\" is not the key it stands under");
	return check_id(r, at, p->instance_id, err);
}

/* One record may not change what the file is: a Multi-SWE-bench line among others is a mistake. */
static int set_kind(struct reading *r, uint64_t at, const struct record *rec, struct err *err)
{
	const struct row *patch = rec->row[FIELD_PATCH], *model = rec->row[FIELD_MODEL];
	bool pro = (patch && patch->pro) || (model && model->pro);
	enum kind kind = !rec->row[FIELD_ID] && rec->row[FIELD_ORG] ? KIND_MULTI
			 : pro                                      ? KIND_PRO
								    : KIND_SWEBENCH;

	if (r->p.n == 0)
		r->kind = kind;
	if ((r->kind == KIND_MULTI) != (kind == KIND_MULTI))
		return complain(r, at, err, "a record of another form than those before it");
	if (kind == KIND_PRO)
		r->kind = kind;
	return 0;
}

/* Mistakes that would be graded in silence: rows of the benchmark, which hold the reference's patch, and a
 * misspelt key, which would make every patch an empty one. */
static int check_meant(const struct reading *r, uint64_t at, struct jslice v,
		       const struct record *rec, struct err *err)
{
	static const char *const spellings[] = { "model_patch", NULL };
	const struct row *patch = rec->row[FIELD_PATCH];
	struct jslice_walk w = jslice_walk(v);
	struct jslice key, value;

	if (!rec->row[FIELD_MODEL] && !(patch && strcmp(patch->key, spellings[0]) == 0) &&
	    jslice_get(v, "test_patch").n)
		return complain(
			r, at, err,
			"a row of the benchmark, not a prediction: it has \"test_patch\" and no "
			"\"model_patch\"; make a task of it with proctor import, and give the "
			"file that the agent's patches are in");
	while (!patch && jslice_member(&w, &key, &value)) {
		auto_free char *name = key.n <= KEY_MAX ? jslice_cstr(key) : NULL;
		const char *near = name && !row_of(key) ? str_nearest(name, spellings) : NULL;

		if (near)
			return err_set(
				err, ERR_INPUT,
				"%s: %s %llu: unknown key \"%s\" and no patch, did you mean \"%s\"?",
				r->name, r->where, (unsigned long long)at, name, near);
	}
	return 0;
}

/* Add record @v; @key is the name it stands under in a map, or NULL. */
static int add(struct reading *r, uint64_t at, struct jslice v, char *key, struct err *err)
{
	auto_buf rest = BUF_INIT(PREDICTIONS_FILE_MAX);
	struct record rec = { .row = { NULL } };
	struct prediction *p;
	int rc;

	if (jslice_kind(v) != '{')
		return complain(r, at, err, "expected an object with \"instance_id\"");
	if (r->p.n == PREDICTIONS_MAX)
		return complain(r, at, err, "more than 100000 predictions");
	rc = find_fields(r, at, v, &rec, err);
	if (rc == 0)
		rc = check_meant(r, at, v, &rec, err);
	if (rc == 0)
		rc = set_kind(r, at, &rec, err);
	if (rc < 0)
		return rc;
	if (rec.v[FIELD_PATCH].n > PREDICTIONS_PATCH_MAX)
		return complain(r, at, err, "a patch of more than 256M");
	MEM_GROW(r->p.v, r->cap, r->p.n + 1);
	p = &r->p.v[r->p.n++];
	*p = (struct prediction){ .line = at };
	rc = take_id(r, at, &rec, key, p, err);
	if (rc == 0)
		rc = take_text(r, at, &rec, FIELD_MODEL, &p->model, err);
	if (rc == 0 && p->model && strlen(p->model) > MODEL_MAX)
		rc = complain(r, at, err, "a model's name of more than 1000 bytes");
	if (rc == 0)
		rc = take_text(r, at, &rec, FIELD_PATCH, &p->patch, err);
	keep_rest(v, &rec, &rest);
	if (rest.len)
		p->rest = buf_steal(&rest, NULL);
	return rc;
}

/* {"instance_id": {...}, ...} */
static int read_map(struct reading *r, struct jslice v, struct err *err)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice key, value;
	int rc = 0;

	for (uint64_t at = 1; rc == 0 && jslice_member(&w, &key, &value); at++) {
		auto_free char *name = jslice_cstr(key);

		rc = name ? add(r, at, value, name, err)
			  : complain(r, at, err, "a key with a NUL byte");
	}
	return rc;
}

static int read_list(struct reading *r, struct jslice v, struct err *err)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice value;
	int rc = 0;

	for (uint64_t at = 1; rc == 0 && jslice_member(&w, NULL, &value); at++)
		rc = add(r, at, value, NULL, err);
	return rc;
}

/* @first is the first of the values, and ends at @at. */
static int read_lines(struct reading *r, const char *text, size_t n, struct jslice first, size_t at,
		      struct err *err)
{
	struct jslice v = first;
	const char *counted = text;
	uint64_t line = 1;
	int rc;

	do {
		for (; counted < v.s; counted++)
			line += *counted == '\n';
		rc = add(r, line, v, NULL, err);
		if (rc == 0)
			rc = jslice_next(r->name, text, n, &at, &v, err);
	} while (rc > 0);
	return rc;
}

/* A record has one of these; a map has names of tasks instead. */
static bool is_record(struct jslice v)
{
	for (size_t i = 0; i < ARRAY_SIZE(key_rows); i++) {
		struct jslice member = jslice_get(v, key_rows[i].key);

		if (member.n && jslice_kind(member) != '{')
			return true;
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	const struct prediction *x = *(const struct prediction *const *)a,
				*y = *(const struct prediction *const *)b;
	int d = strcmp(x->instance_id, y->instance_id);

	d = d ? d : strcmp(x->model ? x->model : "", y->model ? y->model : "");
	return d ? d : (x->line > y->line) - (x->line < y->line);
}

static int check_twice(const struct reading *r, struct err *err)
{
	auto_free const struct prediction **v = mem_zalloc(r->p.n + 1, sizeof(*v));
	int rc = 0;

	for (size_t i = 0; i < r->p.n; i++)
		v[i] = &r->p.v[i];
	qsort(v, r->p.n, sizeof(*v), by_name);
	for (size_t i = 1; i < r->p.n && rc == 0; i++) {
		const struct prediction *a = v[i - 1], *b = v[i];
		bool same = strcmp(a->instance_id, b->instance_id) == 0 &&
			    strcmp(a->model ? a->model : "", b->model ? b->model : "") == 0;

		if (same)
			rc = err_set(err, ERR_INPUT,
				     "%s: %s %llu: a prediction for %s%s%.200s stands in %s %llu "
				     "already",
				     r->name, r->where, (unsigned long long)b->line, b->instance_id,
				     b->model ? " by " : "", b->model ? b->model : "", r->where,
				     (unsigned long long)a->line);
	}
	return rc;
}

static const char *form_name(enum kind kind, const char *plain)
{
	return kind == KIND_MULTI ? "multi-swe-bench" : kind == KIND_PRO ? "pro" : plain;
}

int predictions_parse(const char *name, const char *text, size_t n, struct predictions *ret,
		      struct err *err)
{
	struct reading r = { .name = name, .where = "entry" };
	const char *plain = "list";
	struct jslice v;
	size_t at = 0, behind;
	int rc = jslice_next(name, text, n, &at, &v, err);

	if (rc == 0)
		return err_set(err, ERR_INPUT, "%s: no prediction in it", name);
	if (rc < 0)
		return rc;
	behind = at;
	if (jslice_kind(v) == '{' && is_record(v)) {
		plain = "jsonl";
		r.where = "line";
		rc = read_lines(&r, text, n, v, at, err);
	} else {
		struct jslice more;

		rc = jslice_next(name, text, n, &behind, &more, err);
		if (rc > 0)
			return err_set(err, ERR_INPUT,
				       "%s:%zu: expected nothing behind the list or map", name,
				       jslice_line(text, (size_t)(more.s - text)));
		if (rc == 0 && jslice_kind(v) == '{') {
			plain = "map";
			rc = read_map(&r, v, err);
		} else if (rc == 0 && jslice_kind(v) == '[') {
			rc = read_list(&r, v, err);
		} else if (rc == 0) {
			rc = err_set(err, ERR_INPUT,
				     "%s: predictions are JSON Lines, a list, or a map by "
				     "instance_id",
				     name);
		}
	}
	if (rc == 0 && !r.p.n)
		rc = err_set(err, ERR_INPUT, "%s: no prediction in it", name);
	if (rc == 0)
		rc = check_twice(&r, err);
	r.p.form = form_name(r.kind, plain);
	if (rc == 0)
		*ret = r.p;
	else
		predictions_done(&r.p);
	return rc;
}

int predictions_load(const char *path, struct predictions *ret, struct err *err)
{
	auto_buf b = BUF_INIT(PREDICTIONS_FILE_MAX);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc : predictions_parse(path, buf_str(&b), b.len, ret, err);
}

static void put_field(struct buf *out, const char *key, const char *text)
{
	buf_addf(out, "%s\"%s\": ", strcmp(key, "instance_id") == 0 ? "{" : ", ", key);
	if (text)
		jslice_put(out, text, strlen(text));
	else
		buf_adds(out, "null");
}

void predictions_jsonl(const struct predictions *p, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct prediction *one = &p->v[i];

		put_field(out, "instance_id", one->instance_id);
		put_field(out, "model_name_or_path", one->model);
		put_field(out, "model_patch", one->patch);
		if (one->rest)
			buf_addf(out, ", %s", one->rest + 1);
		else
			buf_addc(out, '}');
		buf_addc(out, '\n');
	}
}

void predictions_done(struct predictions *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].instance_id);
		free(p->v[i].model);
		free(p->v[i].patch);
		free(p->v[i].rest);
	}
	free(p->v);
	*p = (struct predictions){ .v = NULL };
}
