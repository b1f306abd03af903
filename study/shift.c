/* Pairs from directories and files. */
#include "study/shift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/result_internal.h"
#include "study/shift_internal.h"
#include "study/subdirs.h"

#define PAIRS_MAX      200000u
#define FILE_MAX_BYTES (64u << 20)
#define DIR_DEPTH_MAX  16 /* levels below the given directory */

struct shift_pair *shift_room(struct shift_pairs *out, const char *name, struct err *err)
{
	if (out->n >= PAIRS_MAX) {
		err_set(err, ERR_LIMIT, "%s: more than %u pairs; report on less", name, PAIRS_MAX);
		return NULL;
	}
	MEM_GROW(out->v, out->cap, out->n + 1);
	out->v[out->n] = (struct shift_pair){ .fraction = NAN,
					      .repeat = 1,
					      .arm = { { .seconds = NAN }, { .seconds = NAN } } };
	return &out->v[out->n];
}

void shift_pair_done(struct shift_pair *p)
{
	char *owned[] = { p->source, p->scenario, p->family, p->position, p->agent,
			  p->model,  p->ladder,   p->prefix, p->reason,   p->detail };

	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		free(owned[i]);
	for (int i = 0; i < SHIFT_ARMS; i++)
		free(p->arm[i].end);
	*p = (struct shift_pair){ 0 };
}

void shift_pairs_done(struct shift_pairs *p)
{
	for (size_t i = 0; i < p->n; i++)
		shift_pair_done(p->v + i);
	free(p->v);
	*p = (struct shift_pairs){ 0 };
}

void shift_complete(struct shift_pair *p)
{
	char **texts[] = {
		&p->source, &p->scenario, &p->family, &p->position, &p->agent, &p->model
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!*texts[i])
			*texts[i] = mem_strdup("");
	}
	if (!p->ladder || !*p->ladder) {
		free(p->ladder);
		p->ladder = mem_strdup("A0");
	}
	if (!p->prefix || !*p->prefix) {
		free(p->prefix);
		p->prefix = mem_strdup("replayed");
	}
}

/* --- texts --- */

static int add_pair(const struct json_src *src, const char *dir, const char *source,
		    struct shift_pairs *out, struct err *err)
{
	struct shift_pair *p = shift_room(out, src->name, err);
	int rc;

	if (!p)
		return -err->code;
	rc = shift_read_pair(src, dir, p, err);
	if (rc < 0) {
		shift_pair_done(p);
		return rc;
	}
	p->source = mem_strdup(source);
	shift_complete(p);
	out->n++;
	return 0;
}

static bool has_schema(const cJSON *root, const char *schema)
{
	return str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema")),
		      schema);
}

static const char *skip_blank(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

bool shift_is(const char *text)
{
	const char *s = skip_blank(text);
	size_t line = strcspn(s, "\n");

	if (*s == '{')
		return strstr(s, "proctor.pair/1") || strstr(s, "proctor.paircounts/1");
	return memchr(s, '\t', line) && memmem(s, line, "scenario", 8) &&
	       memmem(s, line, "clean", 5);
}

int shift_parse(const char *name, const char *text, size_t n, struct shift_pairs *out,
		struct err *err)
{
	struct json_src src = { 0 };
	int rc;

	if (memchr(text, '\0', n))
		return err_set(err, ERR_INPUT, "%s: there is a NUL byte in it", name);
	if (*skip_blank(text) != '{')
		return shift_read_tabs(name, text, out, err);
	rc = json_parse(name, text, n, &src, err);
	if (rc == 0 && has_schema(src.root, "proctor.paircounts/1"))
		rc = shift_read_json(&src, out, err);
	else if (rc == 0)
		rc = json_check_schema(&src, "pair", err);
	if (rc == 0 && has_schema(src.root, "proctor.pair/1"))
		rc = add_pair(&src, NULL, name, out, err);
	json_src_done(&src);
	return rc;
}

/* --- directories --- */

static bool holds(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool has_arm(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);

	return holds(path, "run.json") && result_is_arm(path);
}

static int load_pair(const char *dir, struct shift_pairs *out, struct err *err)
{
	auto_free char *path = path_join(dir, "pair.json");
	auto_buf text = BUF_INIT(FILE_MAX_BYTES);
	struct json_src src = { 0 };
	int rc = fd_read_file(path, &text, err);

	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, &src, err);
	if (rc == 0)
		rc = json_check_schema(&src, "pair", err);
	if (rc == 0)
		rc = add_pair(&src, dir, path, out, err);
	json_src_done(&src);
	return rc;
}

/* Both below a level of limited depth. */
static int walk(const char *dir, int depth, struct shift_pairs *out, struct err *err)
{
	auto_strv below = { 0 };
	int rc;

	if (holds(dir, "pair.json"))
		return load_pair(dir, out, err);
	if (holds(dir, "run.json") || depth >= DIR_DEPTH_MAX)
		return 0;
	/* The program writes pair.json last. */
	if (has_arm(dir, "clean") || has_arm(dir, "shifted")) {
		out->unfinished++;
		return 0;
	}
	rc = subdirs_list(dir, &below, err);
	for (size_t i = 0; rc == 0 && i < below.n; i++)
		rc = walk(below.v[i], depth + 1, out, err);
	return rc;
}

int shift_load(const char *path, struct shift_pairs *out, struct err *err)
{
	auto_buf text = BUF_INIT(FILE_MAX_BYTES);
	struct stat st;
	int rc;

	/* Standard input can be read once only, and results come that way. */
	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &st) < 0)
		return err_set(err, ERR_INPUT, "cannot look at %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return walk(path, 0, out, err);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > FILE_MAX_BYTES)
		return 0;
	rc = fd_read_file(path, &text, err);
	if (rc < 0 || !shift_is(buf_str(&text)))
		return rc;
	if (strcmp(path_base(path), "pair.json") == 0) {
		auto_free char *dir = path_dir(path);

		return load_pair(dir, out, err);
	}
	return shift_parse(path, buf_str(&text), text.len, out, err);
}
