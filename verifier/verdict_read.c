#include "verifier/verdict_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/jslice.h"
#include "base/mem.h"

#define NAMES_MAX 1000000u /* tests of one verdict */

int verdict_kind_of(const char *name)
{
	for (int k = VERDICT_RESOLVED; k <= VERDICT_INFRA; k++)
		if (strcmp(verdict_name(k), name) == 0)
			return k;
	return -1;
}

int verdict_status_of(const char *name)
{
	for (int s = TEST_PASSED; s <= TEST_MISSING; s++)
		if (strcmp(test_status_name(s), name) == 0)
			return s;
	return -1;
}

/* A string of an output: the bytes behind \xNN. NULL for anything else. */
static char *text_of(struct jslice v)
{
	char *s = jslice_cstr(v);

	if (s)
		json_unescape_bytes(s);
	return s;
}

static bool truth(struct jslice v)
{
	return jslice_kind(v) == 't';
}

static uint64_t number(struct jslice v)
{
	auto_free char *s = mem_strndup(v.n ? v.s : "", v.n);
	uint64_t n = 0;

	return str_u64(s, &n) == 0 ? n : 0;
}

static void strings(struct jslice list, struct strv *out)
{
	struct jslice_walk w = jslice_walk(list);
	struct jslice v;

	while (!w.object && out->n < NAMES_MAX && jslice_member(&w, NULL, &v)) {
		char *s = text_of(v);

		if (s)
			strv_take(out, s);
	}
}

static int complain(const char *name, struct err *err, const char *what)
{
	return err_set(err, ERR_INPUT, "%s: %s", name, what);
}

static int read_test(const char *name, struct jslice v, struct verdict_file *f, struct err *err)
{
	auto_free char *status = text_of(jslice_get(v, "status")),
		       *id = text_of(jslice_get(v, "name"));
	struct jslice span = jslice_get(v, "log_span"), from, to;
	struct jslice_walk w = jslice_walk(span);
	int s = status ? verdict_status_of(status) : -1;
	struct jslice passed = jslice_get(v, "passed");
	struct verdict_test t = { .f2p = jslice_is(jslice_get(v, "list"), "FAIL_TO_PASS") };

	if (s < 0 || !id)
		return complain(name, err,
				"$.tests: a test without \"name\" or a known \"status\"");
	if (f->n_tests == NAMES_MAX)
		return complain(name, err, "$.tests: more than 1000000 tests");
	t.status = (enum test_status)s;
	/* Whatever the mode was: what counted stands in the file. */
	t.compat = passed.n != 0;
	t.passed = truth(passed);
	t.name = take_ptr(&id);
	if (jslice_kind(span) == '[' && jslice_member(&w, NULL, &from) &&
	    jslice_member(&w, NULL, &to)) {
		t.from = number(from);
		t.to = number(to);
	}
	MEM_GROW(f->tests, f->cap_tests, f->n_tests + 1);
	f->tests[f->n_tests++] = t;
	return 0;
}

static int read_tests(const char *name, struct jslice list, struct verdict_file *f, struct err *err)
{
	struct jslice_walk w = jslice_walk(list);
	struct jslice v;
	int rc = 0;

	while (!w.object && rc == 0 && jslice_member(&w, NULL, &v))
		rc = read_test(name, v, f, err);
	return rc;
}

static void read_tamper(struct jslice list, struct verdict_file *f)
{
	struct jslice_walk w = jslice_walk(list);
	struct jslice v;

	while (!w.object && f->tamper.n < NAMES_MAX && jslice_member(&w, NULL, &v)) {
		auto_free char *kind = text_of(jslice_get(v, "kind")),
			       *path = text_of(jslice_get(v, "path"));

		strv_take(&f->tamper, mem_printf("%s %s", kind ? kind : "", path ? path : ""));
	}
}

static void read_patch(struct jslice v, struct verdict_file *f)
{
	f->patch_exists = truth(jslice_get(v, "exists"));
	f->patch_applied = truth(jslice_get(v, "applied"));
	f->method = text_of(jslice_get(v, "method"));
	strings(jslice_get(v, "dropped"), &f->dropped);
}

/* The texts of the top level. */
static const struct {
	const char *key;
	size_t off;
} text_rows[] = {
	{ "instance_id", offsetof(struct verdict_file, instance_id) },
	{ "reason", offsetof(struct verdict_file, reason) },
	{ "reader", offsetof(struct verdict_file, reader) },
	{ "note", offsetof(struct verdict_file, note) },
	{ "verifier_digest", offsetof(struct verdict_file, verifier_digest) },
	{ "digest", offsetof(struct verdict_file, digest) },
};

static int read_file(const char *name, struct jslice v, struct verdict_file *f, struct err *err)
{
	auto_free char *kind = text_of(jslice_get(v, "verdict"));
	struct jslice res = jslice_get(v, "resources"), status = jslice_get(v, "exit_status"),
		      stages = jslice_get(v, "stages");
	int k = kind ? verdict_kind_of(kind) : -1;

	if (!jslice_is(jslice_get(v, "schema"), "proctor.verdict/1"))
		return complain(name, err,
				"expected an object with \"schema\": \"proctor.verdict/1\"");
	for (size_t i = 0; i < ARRAY_SIZE(text_rows); i++)
		*(char **)((char *)f + text_rows[i].off) = text_of(jslice_get(v, text_rows[i].key));
	if (k < 0 || !f->instance_id)
		return complain(name, err, "\"instance_id\" or a known \"verdict\" is missing");
	f->kind = (enum verdict_kind)k;
	f->complete = truth(jslice_get(v, "complete"));
	f->exit_status = jslice_kind(status) == '0' ? (int)(number(status) & 0xffff) : -1;
	f->wall_ns = number(jslice_get(res, "wall_ns"));
	f->cpu_ns = number(jslice_get(res, "cpu_ns"));
	f->max_mem = number(jslice_get(res, "max_mem"));
	f->infra_repeats = number(jslice_get(v, "infra_repeats"));
	if (jslice_kind(stages) == '{')
		f->stages = mem_strndup(stages.s, stages.n);
	read_patch(jslice_get(v, "patch"), f);
	read_tamper(jslice_get(v, "tamper"), f);
	return read_tests(name, jslice_get(v, "tests"), f, err);
}

int verdict_parse(const char *name, const char *text, size_t n, struct verdict_file *ret,
		  struct err *err)
{
	struct verdict_file f = { .exit_status = -1 };
	struct jslice v;
	int rc = jslice_parse(name, text, n, &v, err);

	if (rc == 0)
		rc = read_file(name, v, &f, err);
	if (rc < 0)
		verdict_file_done(&f);
	else
		*ret = f;
	return rc;
}

int verdict_load(const char *path, struct verdict_file *ret, struct err *err)
{
	auto_buf b = BUF_INIT(VERDICT_FILE_MAX);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc : verdict_parse(path, buf_str(&b), b.len, ret, err);
}

void verdict_file_done(struct verdict_file *f)
{
	for (size_t i = 0; i < f->n_tests; i++)
		free(f->tests[i].name);
	free(f->tests);
	for (size_t i = 0; i < ARRAY_SIZE(text_rows); i++)
		free(*(char **)((char *)f + text_rows[i].off));
	free(f->method);
	free(f->stages);
	strv_done(&f->dropped);
	strv_done(&f->tamper);
	*f = (struct verdict_file){ .exit_status = -1 };
}
