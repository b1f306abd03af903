/* Records of trace.jsonl and interventions.jsonl. */
#include "verifier/rundir_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/tracerec.h"

enum { PATH_LEN_MAX = 4096 };

/* Beyond this a double does not hold every whole number. */
#define NUMBER_MAX 9007199254740992.0

char *rundir_string(const cJSON *rec, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(rec, key);
	char *s = cJSON_IsString(item) ? mem_strdup(item->valuestring) : NULL;

	if (s)
		(void)json_unescape_bytes(
			s); /* a NUL byte ends it: no path or argument holds one */
	return s;
}

static uint64_t whole(const cJSON *item)
{
	double v = item && cJSON_IsNumber(item) ? item->valuedouble : 0;

	return v >= 1 && v <= NUMBER_MAX ? (uint64_t)v : 0;
}

uint64_t rundir_number(const cJSON *rec, const char *key)
{
	return whole(cJSON_GetObjectItemCaseSensitive(rec, key));
}

void rundir_lines(const cJSON *rec, const char *key, uint64_t *first, uint64_t *last)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(rec, key);
	const cJSON *a = cJSON_IsArray(item) ? item->child : NULL;

	*first = whole(a);
	*last = a ? whole(a->next) : 0;
	if (!*first || *last < *first)
		*first = *last = 0;
}

void rundir_digest(const cJSON *rec, const char *key, char out[65])
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(rec, key);
	const char *s = cJSON_IsString(item) ? item->valuestring : "";

	out[0] = '\0';
	if (strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64)
		memcpy(out, s, 65);
}

char *rundir_path(const struct rundir_reader *r, const cJSON *rec, const char *key)
{
	auto_free char *raw = rundir_string(rec, key);
	char *path;

	if (!raw || !raw[0] || strlen(raw) > PATH_LEN_MAX)
		return NULL;
	path = path_normal(raw);
	if (r->workdir && path[0] == '/' && path_beneath(path, r->workdir)) {
		size_t n = strlen(r->workdir);
		char *below = mem_strdup(path[n] ? path + n + 1 : ".");

		free(path);
		path = below;
	}
	return path;
}

/* Room for one more of an array, within its maximum. */
#define ROOM(r, arr, n, cap, max)                                                                  \
	__extension__({                                                                            \
		bool room_ = (n) < (max);                                                          \
		if (room_)                                                                         \
			MEM_GROW(arr, cap, (n) + 1);                                               \
		else                                                                               \
			(r)->rd->cut = true;                                                       \
		room_;                                                                             \
	})

static void on_edit(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	struct rundir *rd = r->rd;
	auto_free char *path = rundir_path(r, rec, "path"), *by = rundir_string(rec, "by");
	struct rundir_edit *e;

	if (!path || !ROOM(r, rd->edit, rd->n_edits, r->cap_edits, RUNDIR_EDITS_MAX))
		return;
	e = &rd->edit[rd->n_edits++];
	*e = (struct rundir_edit){ .n = h->n, .t = h->t, .pid = h->pid, .cmd = h->cmd };
	e->path = take_ptr(&path);
	e->by_user = str_eq(by, "user");
	rundir_lines(rec, "lines", &e->first, &e->last);
	rundir_digest(rec, "pre", e->pre);
	rundir_digest(rec, "post", e->post);
}

static void on_read(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	struct rundir *rd = r->rd;
	auto_free char *path = rundir_path(r, rec, "path");
	struct rundir_read *e;

	if (!path || !ROOM(r, rd->read, rd->n_reads, r->cap_reads, RUNDIR_EDITS_MAX))
		return;
	e = &rd->read[rd->n_reads++];
	*e = (struct rundir_read){ .n = h->n, .t = h->t, .pid = h->pid, .cmd = h->cmd };
	e->path = take_ptr(&path);
	e->scan = cJSON_HasObjectItem(rec, "scan");
	e->shown = cJSON_HasObjectItem(rec, "shown");
	rundir_lines(rec, e->shown ? "shown" : "lines", &e->first, &e->last);
}

/* A touch follows the read that it belongs to, and says more of it. */
static void refine_read(struct rundir *rd, const struct rundir_touch *t, const char *level)
{
	struct rundir_read *e = rd->n_reads ? &rd->read[rd->n_reads - 1] : NULL;

	if (!e || e->pid != t->pid || e->cmd != t->cmd || !str_eq(e->path, t->path))
		return;
	e->scan |= t->scan;
	if (str_eq(level, "argv") && t->first && !e->shown) {
		e->shown = true;
		e->first = t->first;
		e->last = t->last;
	}
}

static void on_touch(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	struct rundir *rd = r->rd;
	auto_free char *path = rundir_path(r, rec, "path"), *event = rundir_string(rec, "event");
	auto_free char *level = rundir_string(rec, "level");
	struct rundir_touch *t;

	if (!path || (!str_eq(event, "read") && !str_eq(event, "edit")) ||
	    !ROOM(r, rd->touch, rd->n_touches, r->cap_touches, RUNDIR_EDITS_MAX))
		return;
	t = &rd->touch[rd->n_touches++];
	*t = (struct rundir_touch){ .n = h->n, .pid = h->pid, .cmd = h->cmd };
	t->path = take_ptr(&path);
	t->region = rundir_number(rec, "region");
	t->edit = str_eq(event, "edit");
	t->scan = cJSON_HasObjectItem(rec, "scan");
	t->argv = str_eq(level, "argv");
	t->unasked = rundir_number(rec, "unasked") != 0;
	rundir_lines(rec, "lines", &t->first, &t->last);
	if (!t->edit)
		refine_read(rd, t, level);
}

static void on_image(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	struct rundir *rd = r->rd;
	auto_free char *path = rundir_path(r, rec, "path");
	struct rundir_first *f;

	(void)h; /* first contents, whenever they were put down */
	if (!path || !ROOM(r, rd->first, rd->n_first, r->cap_first, RUNDIR_EDITS_MAX))
		return;
	f = &rd->first[rd->n_first++];
	*f = (struct rundir_first){ .path = take_ptr(&path) };
	rundir_digest(rec, "sha256", f->sha256);
}

static void told(struct rundir_reader *r, uint64_t n, uint64_t message, uint64_t call)
{
	struct rundir *rd = r->rd;

	if (ROOM(r, rd->told, rd->n_told, r->cap_told, RUNDIR_EDITS_MAX))
		rd->told[rd->n_told++] = (struct rundir_told){ n, message, call };
}

static void on_note(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	uint64_t message = rundir_number(rec, "message");

	if (message && !cJSON_HasObjectItem(rec, "lost"))
		told(r, h->n, message, rundir_number(rec, "call"));
}

static void on_fork(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	(void)rec;
	r->rd->fork_n = h->n;
}

static void on_end(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	(void)h;
	(void)rec;
	r->rd->ended = true;
}

static const struct kind {
	enum trace_kind kind;
	void (*fn)(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec);
} kinds[] = {
	/* clang-format off */
	{ TK_SPAWN,   rundir_on_spawn },
	{ TK_EXEC,    rundir_on_exec },
	{ TK_EXIT,    rundir_on_exit },
	{ TK_COMMAND, rundir_on_command },
	{ TK_MODEL,   rundir_on_model },
	{ TK_TOOL,    rundir_on_tool },
	{ TK_IMAGE,   on_image },
	{ TK_EDIT,    on_edit },
	{ TK_READ,    on_read },
	{ TK_MAP,     on_read },
	{ TK_TOUCH,   on_touch },
	{ TK_NOTE,    on_note },
	{ TK_FORK,    on_fork },
	{ TK_END,     on_end },
	/* clang-format on */
};

static int each_record(const cJSON *rec, void *arg)
{
	struct rundir_reader *r = arg;
	const cJSON *k = cJSON_GetObjectItemCaseSensitive(rec, "k");
	struct rundir_head h = { .n = rundir_number(rec, "n"), .t = rundir_number(rec, "t") };
	enum trace_kind kind;

	if (!cJSON_IsString(k) || !h.n)
		return 0; /* the header line, or a kind of a later version */
	h.pid = (int64_t)rundir_number(rec, "pid");
	h.cmd = (uint32_t)rundir_number(rec, "cmd");
	if (h.n > r->rd->last_n)
		r->rd->last_n = h.n;
	if (h.pid && !h.cmd)
		rundir_own_process(r, h.pid);
	kind = tracerec_kind(k->valuestring);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == kind)
			kinds[i].fn(r, &h, rec);
	return 0;
}

int rundir_read_trace(struct rundir_reader *r, const char *path, struct err *err)
{
	bool cut = false;
	int rc = tracerec_read(path, each_record, r, &cut, err);

	r->rd->cut |= cut;
	return rc;
}

static bool is_true(const cJSON *rec, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(rec, key));
}

static int each_firing(const cJSON *rec, void *arg)
{
	struct rundir_reader *r = arg;
	struct rundir *rd = r->rd;
	struct rundir_firing *f;

	if (!ROOM(r, rd->firing, rd->n_firings, r->cap_firings, RUNDIR_EDITS_MAX))
		return 0;
	f = &rd->firing[rd->n_firings++];
	*f = (struct rundir_firing){ .order = rundir_number(rec, "order"),
				     .round = rundir_number(rec, "round"),
				     .at_n = rundir_number(rec, "at_n"),
				     .applied = is_true(rec, "applied"),
				     .effect = rundir_string(rec, "effect"),
				     .reason = rundir_string(rec, "reason"),
				     .message = rundir_string(rec, "message"),
				     .message_source = rundir_string(rec, "message_source") };
	f->edit = str_eq(f->effect, "edit");
	f->path = rundir_path(r, cJSON_GetObjectItemCaseSensitive(rec, "touch"), "path");
	rundir_digest(rec, "pre_sha256", f->pre);
	rundir_digest(rec, "post_sha256", f->post);
	if (!rd->model && f->applied && str_eq(f->effect, "message"))
		told(r, f->at_n, rd->n_told + 1, 0);
	return 0;
}

int rundir_read_firings(struct rundir_reader *r, const char *path, struct err *err)
{
	bool cut = false;
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = tracerec_read(path, each_firing, r, &cut, err);
	r->rd->cut |= cut;
	return rc;
}

void rundir_reader_done(struct rundir_reader *r)
{
	free(r->pending);
	free(r->group);
	map_done(&r->by_pid);
	map_done(&r->by_cmd);
}
