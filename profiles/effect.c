#include "profiles/effect.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"
#include "profiles/servicefiles_internal.h"

/* Only one of the keys may be there: its index in @keys, or -ERR_INPUT. */
static int one_key(const struct json_src *src, const char *where, const cJSON *item,
		   const char *const *keys, struct err *err)
{
	auto_buf list = BUF_INIT(1024);
	int found = -1, n = 0;

	for (int i = 0; keys[i]; i++) {
		buf_addf(&list, "%s%s", i ? ", " : "", keys[i]);
		if (cJSON_GetObjectItemCaseSensitive(item, keys[i])) {
			found = i;
			n++;
		}
	}
	if (n == 1)
		return found;
	return json_complain(src, where, err, "needs exactly one of %s", buf_str(&list));
}

/* --- place ------------------------------------------------------------------------------------- */

struct place_file {
	char *path, *text, *from, *link, *mode, *mtime;
	bool absent, touch;
	char *replace; /* JSON text */
};

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field place_rows[] = {
	{ "path", JSON_STR, OFF(place_file, path), true, .doc = "absolute in the box, or relative to the workspace" },
	{ "text", JSON_STR, OFF(place_file, text), .doc = "contents; ${HEAD}, ${BASE}, ${NOW} are filled in" },
	{ "from", JSON_STR, OFF(place_file, from), .doc = "file beside the scenario with the contents" },
	{ "link", JSON_STR, OFF(place_file, link), .doc = "target of a symbolic link" },
	{ "absent", JSON_BOOL, OFF(place_file, absent), .doc = "true: removed, a directory with all below" },
	{ "touch", JSON_BOOL, OFF(place_file, touch), .doc = "true: only re-dated" },
	{ "replace", JSON_RAW, OFF(place_file, replace), .doc = "array of [old, new]: texts in the file, each must be there" },
	{ "mode", JSON_STR, OFF(place_file, mode), .doc = "octal, default 0644 or as it is" },
	{ "mtime", JSON_STR, OFF(place_file, mtime), .doc = "now, same, +90s, -2d, or 2024-01-02T03:04:05Z" },
	{ NULL },
};

static const char *const place_keys[] = { "text", "from", "link", "absent", "touch", "replace", NULL };
static const enum place_kind place_kinds[] = { PLACE_TEXT, PLACE_TEXT, PLACE_LINK, PLACE_ABSENT, PLACE_TOUCH, PLACE_REPLACE };
/* clang-format on */

static int read_swaps(const struct json_src *src, const char *where, const cJSON *list,
		      struct effect_place *p, struct err *err)
{
	const cJSON *one;

	if (!cJSON_IsArray(list) || !list->child)
		return json_complain(src, where, err, "replace: expected an array of [old, new]");
	p->swap = mem_zalloc((size_t)cJSON_GetArraySize(list), sizeof(*p->swap));
	cJSON_ArrayForEach (one, list) {
		const char *old = cJSON_GetStringValue(cJSON_GetArrayItem(one, 0));
		const char *new = cJSON_GetStringValue(cJSON_GetArrayItem(one, 1));

		if (!cJSON_IsArray(one) || cJSON_GetArraySize(one) != 2 || !old || !new || !old[0])
			return json_complain(src, where, err,
					     "replace: entry %zu must be [old, new], old not empty",
					     p->n_swaps + 1);
		p->swap[p->n_swaps].old = mem_strdup(old);
		p->swap[p->n_swaps++].new = mem_strdup(new);
	}
	return 0;
}

static int read_mode(const struct json_src *src, const char *where, const char *text, uint32_t *ret,
		     struct err *err)
{
	char *end;
	unsigned long v;

	if (!text)
		return 0;
	v = strtoul(text, &end, 8);
	if (end == text || *end || v > 0777)
		return json_complain(src, where, err, "mode \"%s\" is no octal mode such as 0644",
				     text);
	*ret = (uint32_t)v;
	return 0;
}

static int check_path(const struct json_src *src, const char *where, const char *path,
		      struct err *err)
{
	auto_free char *plain = NULL;

	if (path && path[0] == '/') {
		plain = path_normal(path);
		if (strcmp(plain, path) == 0 && path[1])
			return 0;
	} else if (path && path_is_tame(path)) {
		return 0;
	}
	return json_complain(
		src, where, err,
		"path \"%s\" must be absolute in the box, or relative to the workspace, "
		"without \"..\", \".\", double slashes and .git",
		path ? path : "");
}

int effect_place_read(const struct json_src *src, const char *where, const char *dir, cJSON *item,
		      struct effect_place *ret, struct err *err)
{
	struct place_file f = { 0 };
	struct effect_place p = { 0 };
	int64_t ignored;
	int which, rc = json_read(src, where, item, place_rows, &f, err);

	which = rc == 0 ? one_key(src, where, item, place_keys, err) : rc;
	rc = which < 0 ? which : check_path(src, where, f.path, err);
	if (rc == 0 && f.from) {
		auto_free char *at = mem_printf("%s.from", where);

		rc = input_text(src, at, dir, &f.from, err);
		if (rc == 0) {
			cJSON_DeleteItemFromObjectCaseSensitive(item, "from");
			cJSON_AddStringToObject(item, "text", f.from ? f.from : "");
			f.text = take_ptr(&f.from);
		}
	}
	if (rc == 0 && ((which == 3 && !f.absent) || (which == 4 && !f.touch)))
		rc = json_complain(src, where, err, "%s can only be true", place_keys[which]);
	if (rc == 0 && f.mtime && effect_mtime(f.mtime, 0, 0, &ignored) < 0)
		rc = json_complain(src, where, err,
				   "mtime \"%s\" is no time: now, same, +90s, -2d, or "
				   "2024-01-02T03:04:05Z",
				   f.mtime);
	if (rc == 0)
		rc = read_mode(src, where, f.mode, &p.mode, err);
	if (rc == 0 && which == 5)
		rc = read_swaps(src, where, cJSON_GetObjectItemCaseSensitive(item, "replace"), &p,
				err);
	if (rc == 0) {
		p.kind = place_kinds[which];
		p.path = take_ptr(&f.path);
		p.text = f.link ? take_ptr(&f.link) : take_ptr(&f.text);
		p.mtime = take_ptr(&f.mtime);
		*ret = p;
	} else {
		effect_place_done(&p);
	}
	json_release(place_rows, &f);
	return rc;
}

void effect_place_done(struct effect_place *p)
{
	for (size_t i = 0; i < p->n_swaps; i++) {
		free(p->swap[i].old);
		free(p->swap[i].new);
	}
	free(p->swap);
	free(p->path);
	free(p->text);
	free(p->mtime);
	*p = (struct effect_place){ 0 };
}

int effect_mtime(const char *mtime, int64_t now, int64_t same, int64_t *ret)
{
	struct tm tm = { 0 };
	uint64_t ns;
	const char *end;

	*ret = now;
	if (!mtime || strcmp(mtime, "now") == 0)
		return 0;
	*ret = same;
	if (strcmp(mtime, "same") == 0)
		return 0;
	if (mtime[0] == '+' || mtime[0] == '-') {
		if (str_duration(mtime + 1, &ns) < 0)
			return -1;
		*ret = now + (mtime[0] == '+' ? 1 : -1) * (int64_t)(ns / 1000000000u);
		return 0;
	}
	end = strptime(mtime, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!end || *end)
		return -1;
	*ret = timegm(&tm);
	return 0;
}

/* --- runtime ----------------------------------------------------------------------------------- */

static const char *const lock_names[] = { "flock", "fcntl", NULL };

struct runtime_file {
	struct effect_runtime r;
	bool has_leave;
	uint64_t leave;
};

#define ROFF(field) offsetof(struct runtime_file, r.field)

/* clang-format off */
static const struct json_field start_rows[] = {
	{ "name", JSON_STR, ROFF(name), true }, { "argv", JSON_STRV, ROFF(argv), true }, { "cwd", JSON_STR, ROFF(cwd) }, { NULL },
};
static const struct json_field kill_rows[] = {
	{ "name", JSON_STR, ROFF(name) }, { "port", JSON_U64, ROFF(port) }, { "program", JSON_STR, ROFF(program) },
	{ "signal", JSON_STR, ROFF(signal) }, { NULL },
};
static const struct json_field listen_rows[] = {
	{ "name", JSON_STR, ROFF(name), true }, { "port", JSON_U64, ROFF(port), true }, { "answer", JSON_STR, ROFF(answer) }, { NULL },
};
static const struct json_field lock_rows[] = {
	{ "name", JSON_STR, ROFF(name), true }, { "path", JSON_STR, ROFF(path), true }, { "kind", JSON_STR, ROFF(lock) }, { NULL },
};
static const struct json_field fill_rows[] = {
	{ "path", JSON_STR, ROFF(path), true }, { "bytes", JSON_SIZE, ROFF(bytes) }, { "leave", JSON_SIZE, offsetof(struct runtime_file, leave) }, { NULL },
};
static const struct json_field empty_rows[] = { { "path", JSON_STR, ROFF(path), true }, { NULL } };
static const struct json_field release_rows[] = { { "name", JSON_STR, ROFF(name), true }, { NULL } };

/* In the order of enum runtime_kind. */
static const char *const runtime_keys[] = { "start", "kill", "listen", "lock", "fill", "empty", "release", NULL };
static const struct json_field *const runtime_rows[] = { start_rows, kill_rows, listen_rows, lock_rows, fill_rows, empty_rows, release_rows };

const char *const effect_signals[] = { "TERM", "KILL", "INT", "HUP", "STOP", "CONT", "USR1", "USR2", NULL };
static const int signal_numbers[] = { SIGTERM, SIGKILL, SIGINT, SIGHUP, SIGSTOP, SIGCONT, SIGUSR1, SIGUSR2 };
/* clang-format on */

const char *effect_runtime_name(enum runtime_kind kind)
{
	return runtime_keys[kind];
}

int effect_signal(const char *name)
{
	for (size_t i = 0; name && effect_signals[i]; i++) {
		if (strcmp(name, effect_signals[i]) == 0)
			return signal_numbers[i];
	}
	return name ? 0 : SIGKILL;
}

static const char *wrong_kill(const struct effect_runtime *r)
{
	if (!!r->name + !!r->port + !!r->program != 1)
		return "needs exactly one of name, port, program";
	if (!effect_signal(r->signal))
		return "signal must be one of TERM, KILL, INT, HUP, STOP, CONT, USR1, USR2";
	return NULL;
}

/* What the rows cannot say. NULL = fine. */
static const char *wrong(const struct effect_runtime *r, bool bytes, bool leave)
{
	bool port = r->kind == RUNTIME_LISTEN || (r->kind == RUNTIME_KILL && r->port);

	if (r->name && !input_is_id(r->name))
		return "name must be of A-Z a-z 0-9 . _ -";
	if (port && (r->port < 1 || r->port > 65535))
		return "port must be from 1 to 65535";
	if (r->kind == RUNTIME_KILL)
		return wrong_kill(r);
	if (r->kind == RUNTIME_START && (!r->argv.n || !r->argv.v[0][0]))
		return "argv is empty; write a program and its arguments";
	if (r->kind == RUNTIME_FILL && (bytes == leave || r->bytes > EFFECT_FILL_MAX))
		return "needs either bytes or leave, at most 4G";
	if (r->lock && strcmp(r->lock, lock_names[0]) != 0 && strcmp(r->lock, lock_names[1]) != 0)
		return "kind must be flock or fcntl";
	return NULL;
}

int effect_runtime_read(const struct json_src *src, const char *where, const cJSON *item,
			struct effect_runtime *ret, struct err *err)
{
	struct runtime_file f = { 0 };
	auto_free char *at = NULL;
	const cJSON *body = item->child;
	const char *why;
	int which, rc;

	which = one_key(src, where, item, runtime_keys, err);
	if (which < 0)
		return which;
	at = mem_printf("%s.%s", where, runtime_keys[which]);
	if (body->next || !cJSON_IsObject(body))
		return json_complain(src, at, err, "expected one object and no other key");
	rc = json_read(src, at, body, runtime_rows[which], &f, err);
	if (rc == 0) {
		bool bytes = cJSON_HasObjectItem(body, "bytes");

		f.has_leave = cJSON_HasObjectItem(body, "leave");
		f.r.kind = (enum runtime_kind)which;
		f.r.bytes = f.has_leave ? f.leave : f.r.bytes;
		f.r.leave = f.has_leave;
		why = wrong(&f.r, bytes, f.has_leave);
		rc = why ? json_complain(src, at, err, "%s", why) : 0;
		if (rc == 0 && f.r.path)
			rc = check_path(src, at, f.r.path, err);
	}
	if (rc == 0)
		*ret = f.r;
	else
		effect_runtime_done(&f.r);
	return rc;
}

void effect_runtime_done(struct effect_runtime *r)
{
	free(r->name);
	strv_done(&r->argv);
	free(r->cwd);
	free(r->program);
	free(r->signal);
	free(r->answer);
	free(r->path);
	free(r->lock);
	*r = (struct effect_runtime){ 0 };
}

/* --- authority and service --------------------------------------------------------------------- */

/* clang-format off */
static const struct json_field authority_rows[] = {
	{ "goal", JSON_STR, OFF(effect_authority, goal), .doc = "version of the goal from here on" },
	{ "verifier", JSON_STR, OFF(effect_authority, verifier), .doc = "version of the verifier from here on" },
	{ NULL },
};
/* clang-format on */

int effect_authority_read(const struct json_src *src, const char *where, const cJSON *item,
			  struct effect_authority *ret, struct err *err)
{
	struct effect_authority a = { 0 };
	int rc = json_read(src, where, item, authority_rows, &a, err);

	if (rc == 0 && !a.goal && !a.verifier)
		rc = json_complain(src, where, err, "needs goal, verifier, or both");
	if (rc == 0)
		*ret = a;
	else
		effect_authority_done(&a);
	return rc;
}

void effect_authority_done(struct effect_authority *a)
{
	free(a->goal);
	free(a->verifier);
	*a = (struct effect_authority){ 0 };
}

static int check_version(const struct json_src *src, const char *where, const char *name,
			 const cJSON *authority, struct err *err)
{
	const char *known[65] = { "initial" };
	const cJSON *v;
	const char *near;
	size_t n = 1;

	if (!name || strcmp(name, "initial") == 0)
		return 0;
	cJSON_ArrayForEach (v, authority) {
		if (strcmp(v->string, name) == 0)
			return 0;
		if (n + 1 < ARRAY_SIZE(known))
			known[n++] = v->string;
	}
	near = str_nearest(name, known);
	return json_complain(src, where, err, "no version \"%s\" in \"authority\"%s%s%s", name,
			     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int check_authority(const struct json_src *src, const char *where, const cJSON *item,
			   const cJSON *authority, struct err *err)
{
	struct effect_authority a = { 0 };
	int rc = effect_authority_read(src, where, item, &a, err);

	if (rc == 0)
		rc = check_version(src, where, a.goal, authority, err);
	if (rc == 0)
		rc = check_version(src, where, a.verifier, authority, err);
	effect_authority_done(&a);
	return rc;
}

static int check_service(const struct json_src *src, const char *where, const char *dir,
			 cJSON *item, const cJSON *services, struct err *err)
{
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
	const char *known[65] = { NULL };
	const cJSON *one;
	size_t n = 0;

	cJSON_ArrayForEach (one, services) {
		const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "name"));

		if (s && name && strcmp(s, name) == 0)
			return servicefiles_effect(src, where, dir, item, err);
		if (s && n + 1 < ARRAY_SIZE(known))
			known[n++] = s;
	}
	return json_complain(src, where, err, "no service \"%s\" in \"services\"%s%s",
			     name ? name : "", n ? "; there is " : "", n ? known[0] : "");
}

int effect_check(const struct json_src *src, const char *where, const char *dir, cJSON *item,
		 const cJSON *authority, const cJSON *services, struct err *err)
{
	auto_free char *at = mem_printf("%s.%s", where, item->string);
	struct effect_place p = { 0 };
	struct effect_runtime r = { 0 };
	int rc = 0;

	if (strcmp(item->string, "place") == 0)
		rc = effect_place_read(src, at, dir, item, &p, err);
	else if (strcmp(item->string, "runtime") == 0)
		rc = effect_runtime_read(src, at, item, &r, err);
	else if (strcmp(item->string, "authority") == 0)
		rc = check_authority(src, at, item, authority, err);
	else if (strcmp(item->string, "service") == 0)
		rc = check_service(src, at, dir, item, services, err);
	effect_place_done(&p);
	effect_runtime_done(&r);
	return rc;
}
