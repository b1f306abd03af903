/* One pair from its files. They are proctor's own, but texts in them stem from the agent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/shift_internal.h"
#include "verifier/strict.h"

#define FILE_MAX_BYTES (64u << 20)        /* strict.json cites records */
#define NUMBER_MAX     9007199254740992.0 /* 2^53 */

static const char *const arms[SHIFT_ARMS] = { "clean", "shifted" };

const char *shift_check_name(size_t check)
{
	return strict_check_name((enum strict_check)check);
}

static const cJSON *get(const cJSON *obj, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(obj, name);
}

/* Copy of the string there with its bytes back, NULL when there is none. */
static char *text_of(const cJSON *obj, const char *name)
{
	const cJSON *item = get(obj, name);
	char *s = cJSON_IsString(item) ? mem_strdup(item->valuestring) : NULL;

	if (s)
		(void)json_unescape_bytes(s); /* the length is not needed */
	return s;
}

static uint64_t number_of(const cJSON *obj, const char *name, uint64_t dflt)
{
	const cJSON *item = get(obj, name);

	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble > NUMBER_MAX)
		return dflt;
	return (uint64_t)item->valuedouble;
}

static bool is_true(const cJSON *obj, const char *name)
{
	return cJSON_IsTrue(get(obj, name));
}

/* Bits of the checks of strict.json. */
static void take_checks(const cJSON *root, struct shift_arm *a)
{
	const cJSON *row;

	cJSON_ArrayForEach (row, get(root, "checks")) {
		const char *name = cJSON_GetStringValue(get(row, "name"));

		for (unsigned i = 0; i < SHIFT_CHECKS; i++) {
			if (!str_eq(name, shift_check_name(i)) || !is_true(row, "applies"))
				continue;
			a->applies |= 1u << i;
			if (!is_true(row, "ok"))
				a->fails |= 1u << i;
		}
	}
	a->judged = true;
}

/* 1 read, 0 not there, negative when it is no such file. */
static int load_if(const char *dir, const char *name, const char *kind, struct json_src *ret,
		   struct err *err)
{
	auto_free char *path = path_join(dir, name);
	auto_buf text = BUF_INIT(FILE_MAX_BYTES);
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = fd_read_file(path, &text, err);
	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, ret, err);
	if (rc == 0)
		rc = json_check_schema(ret, kind, err);
	return rc < 0 ? rc : 1;
}

/* What stands in the arm's own directory. */
static int take_files(const char *dir, struct shift_arm *a, struct err *err)
{
	struct json_src strict = { 0 }, run = { 0 };
	int rc = load_if(dir, "strict.json", "strict", &strict, err);

	if (rc > 0)
		take_checks(strict.root, a);
	if (rc >= 0)
		rc = load_if(dir, "run.json", "run", &run, err);
	if (rc > 0) {
		uint64_t all = number_of(get(run.root, "times"), "wall_ns", UINT64_MAX);
		uint64_t at = number_of(get(run.root, "fork"), "at_ns", UINT64_MAX);

		if (all != UINT64_MAX && at <= all)
			a->seconds = (double)(all - at) / 1e9;
	}
	json_src_done(&strict);
	json_src_done(&run);
	return rc < 0 ? rc : 0;
}

/* @ret_graded is cleared when there is no verdict. */
static int take_arm(const cJSON *arm, const char *dir, struct shift_arm *a, bool *ret_graded,
		    struct err *err)
{
	auto_free char *name = text_of(arm, "dir");
	auto_free char *path = NULL;

	if (!cJSON_IsObject(arm))
		return 0;
	a->made = true;
	a->tokens = number_of(arm, "tokens", 0);
	a->commands = number_of(arm, "commands", 0);
	a->end = text_of(arm, "end");
	*ret_graded &= cJSON_IsString(get(arm, "verdict"));
	/* Beside pair.json, and nowhere else. */
	if (!dir || !name || !path_is_tame(name))
		return 0;
	path = path_join(dir, name);
	return take_files(path, a, err);
}

static int complain(const struct json_src *src, const char *key, const char *what, struct err *err)
{
	auto_free char *where = mem_printf("$.%s", key);

	return json_complain(src, where, err, "must be %s", what);
}

static int take_names(const struct json_src *src, struct shift_pair *p, struct err *err)
{
	const cJSON *root = src->root, *at = get(root, "position");
	const cJSON *fraction = get(at, "fraction");

	p->scenario = text_of(root, "scenario");
	p->family = text_of(root, "family");
	p->agent = text_of(root, "agent");
	p->model = text_of(root, "model");
	p->ladder = text_of(root, "ladder");
	p->prefix = text_of(root, "prefix");
	if (cJSON_GetArraySize(get(root, "left_behind")) > 0) {
		free(p->prefix);
		p->prefix = mem_strdup("resumed, incomplete");
	}
	p->reason = text_of(root, "reason");
	p->detail = text_of(root, "detail");
	p->position = text_of(at, "text");
	p->budget = number_of(root, "budget", 0);
	p->repeat = number_of(root, "repeat", 1);
	if (cJSON_IsNumber(fraction) && isfinite(fraction->valuedouble))
		p->fraction = fraction->valuedouble;
	p->prefix_tokens = number_of(get(root, "tokens"), "prefix", 0);
	if (!p->position)
		return complain(src, "position.text", "a string", err);
	if (!p->agent)
		return complain(src, "agent", "a string", err);
	if (!cJSON_IsBool(get(root, "valid")))
		return complain(src, "valid", "true or false", err);
	return 0;
}

int shift_read_pair(const struct json_src *src, const char *dir, struct shift_pair *ret,
		    struct err *err)
{
	const cJSON *sides = get(src->root, "arms");
	bool graded = true, success[SHIFT_ARMS] = { false, false };
	int rc = take_names(src, ret, err);

	if (rc == 0 && !cJSON_IsObject(sides))
		rc = complain(src, "arms", "an object with clean and shifted", err);
	for (int i = 0; rc == 0 && i < SHIFT_ARMS; i++) {
		const cJSON *arm = get(sides, arms[i]);

		rc = take_arm(arm, dir, &ret->arm[i], &graded, err);
		success[i] = is_true(arm, "success");
	}
	if (rc < 0)
		return rc;
	ret->pairs = 1;
	if (!ret->arm[SHIFT_CLEAN].made || !ret->arm[SHIFT_SHIFTED].made)
		ret->state = SHIFT_PARTIAL;
	else if (!is_true(src->root, "valid"))
		ret->state = SHIFT_INVALID;
	else
		ret->state = graded ? SHIFT_VALID : SHIFT_UNGRADED;
	if (ret->state != SHIFT_VALID)
		return 0;
	ret->valid = 1;
	ret->clean = success[SHIFT_CLEAN];
	ret->shifted = success[SHIFT_SHIFTED];
	ret->paired = success[SHIFT_CLEAN] && success[SHIFT_SHIFTED];
	return 0;
}
