/* A world in memory for the engine's tests: one file of 30 lines with a region at 10-12, a log of
 * everything that the engine does, and short forms of what a supervisor reports. */
#ifndef TESTS_UNIT_TRIGGERS_WORLD_H
#define TESTS_UNIT_TRIGGERS_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "profiles/scenario.h"
#include "tests/lib/tap.h"
#include "triggers/engine.h"

#define WORLD_DIFF                                                                                 \
	"--- a/src/calc.c\\n+++ b/src/calc.c\\n@@ -10,3 +10,3 @@\\n line10\\n-line11\\n+user11\\n line12\\n"

struct world {
	struct engine *e;
	struct scenario *sc;
	char data[8192], log[16384], messages[8192], fired_at[64], phase[64];
	char *argv[8];
	unsigned files_seen;
	unsigned n_touches, n_fired, n_messages, n_writes, n_holds, n_tries, bad_holds;
	bool held, gone, write_fails, hold_fails, message_fails, read_fails;
	int rc; /* of the last report */
};

/* Append to a bounded text. */
__attribute__((format(printf, 3, 4))) static inline void world_add(char *to, size_t size,
								   const char *fmt, ...)
{
	size_t n = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + n, size - n, fmt, ap);
	va_end(ap);
}

#define world_log(w, ...) world_add((w)->log, sizeof((w)->log), __VA_ARGS__)

/* Name of an assertion; static, for one use. */
__attribute__((format(printf, 1, 2))) static inline const char *world_name(const char *fmt, ...)
{
	static char name[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	return name;
}

static inline int world_op_hold(void *arg, bool on, struct err *err)
{
	struct world *w = arg;

	if (w->hold_fails)
		return err_set(err, ERR_SYS, "cannot hold");
	w->bad_holds += w->held == on;
	w->held = on;
	w->n_holds += on;
	return 0;
}

static inline int world_op_read(void *arg, const char *path, struct buf *out, uint32_t *mode,
				struct err *err)
{
	struct world *w = arg;

	if (w->read_fails)
		return err_set(err, ERR_SYS, "cannot read");
	if (w->gone || !str_eq(path, "src/calc.c"))
		return 0;
	*mode = 0100644;
	buf_adds(out, w->data);
	return 1;
}

static inline int world_op_write(void *arg, const char *path, const void *data, size_t n,
				 uint32_t mode, struct err *err)
{
	struct world *w = arg;

	w->n_tries += !w->n_tries || strcmp(w->data, data) != 0;
	w->bad_holds += !w->held;
	if (w->write_fails)
		return err_set(err, ERR_SYS, "cannot write %s", path);
	w->n_writes++;
	w->gone = mode == 0;
	if (data)
		snprintf(w->data, sizeof(w->data), "%.*s", (int)n, (const char *)data);
	return 0;
}

static inline int world_op_message(void *arg, const char *text, struct err *err)
{
	struct world *w = arg;

	w->bad_holds += w->held;
	if (w->message_fails)
		return err_set(err, ERR_CHILD, "cannot send");
	w->n_messages++;
	world_add(w->messages, sizeof(w->messages), "%s\n", text);
	return 0;
}

static inline int world_op_exec(void *arg, char *const *argv, struct err *err)
{
	struct world *w = arg;

	(void)err;
	w->bad_holds += w->held;
	world_log(w, "[exec %s] ", argv[0]);
	return 0;
}

static inline void world_op_touched(void *arg, const struct touch *t)
{
	static const char *const kinds[] = { "open", "read", "edit" };
	struct world *w = arg;

	w->n_touches++;
	world_log(w, "[touch r%d %s argv=%d %d-%d%s%s] ", (int)t->region, kinds[t->event],
		  t->level == TOUCH_ARGV, (int)t->first, (int)t->last, t->scan ? " scan " : "",
		  t->scan ? t->scan : "");
}

static inline void world_op_fired(void *arg, const struct firing *f)
{
	static const char *const kinds[] = { "edit", "message", "exec", "model", "authority" };
	struct world *w = arg;

	w->n_fired += f->applied;
	if (f->applied && !w->fired_at[0])
		snprintf(w->fired_at, sizeof(w->fired_at), "%s", w->phase);
	world_log(w, "[%s %d/%d %s%s%s] ", f->applied ? "fired" : "refused", (int)f->order,
		  (int)f->round, kinds[f->effect], f->method ? " " : "",
		  f->method ? f->method : "");
	w->bad_holds += f->applied != (f->reason == NULL);
}

static inline void world_op_edited(void *arg, const struct edit *ed)
{
	struct world *w = arg;

	world_log(w, "[edited %s %d-%d] ", ed->by_agent ? "agent" : "user", (int)ed->first,
		  (int)ed->last);
}

static const struct engine_ops world_ops = {
	.hold = world_op_hold,
	.read = world_op_read,
	.write = world_op_write,
	.message = world_op_message,
	.exec = world_op_exec,
	.touched = world_op_touched,
	.fired = world_op_fired,
	.edited = world_op_edited,
};

/* The file as it was at first. */
static inline void world_reset(struct world *w)
{
	w->data[0] = '\0';
	for (int i = 1; i <= 30; i++)
		world_add(w->data, sizeof(w->data), "line%d\n", i);
}

static inline void world_set(struct world *w, const char *data)
{
	snprintf(w->data, sizeof(w->data), "%s", data);
}

/* JSON of an intervention on region 0 that edits line 11 and says so by stage. Static, for
 * one use. */
static inline const char *world_iv(int order, const char *event, const char *level,
				   const char *timing, const char *more)
{
	static char text[2048];

	snprintf(
		text, sizeof(text),
		"{\"order\":%d,\"when\":{\"event\":\"%s\",%s\"regions\":[0],\"touch\":\"%s\"},\"timing\":\"%s\","
		"\"effects\":[{\"edit\":\"" WORLD_DIFF "\"},{\"message\":{}}]}",
		order, event, more, level, timing);
	return text;
}

static inline void world_init(struct world *w, const char *mode, int rounds,
			      const char *interventions)
{
	auto_free char *json = mem_printf(
		"{\"schema\":\"proctor.scenario/1\",\"id\":\"s\",\"mode\":\"%s\",\"max_rounds\":%d,"
		"\"regions\":[{\"path\":\"src/calc.c\",\"start\":10,\"end\":12}],\"interventions\":[%s]}",
		mode, rounds, interventions);
	struct err err = { ERR_NONE, 0, "" };

	memset(w, 0, sizeof(*w));
	world_reset(w);
	if (scenario_parse("test", json, strlen(json), NULL, &w->sc, &err) < 0 ||
	    engine_new(w->sc, &world_ops, w, &w->e, &err) < 0) {
		tap_ok(false, "set up: %s", err.text);
		exit(1);
	}
}

static inline void world_done(struct world *w)
{
	engine_free(w->e);
	scenario_free(w->sc);
}

/* argv of the next accesses (NULL ends it). */
static inline void world_argv(struct world *w, const char *a, const char *b, const char *c,
			      const char *d)
{
	const char *const v[] = { a, b, c, d, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		w->argv[i] = (char *)(uintptr_t)v[i];
}

static inline void world_log_clear(struct world *w)
{
	w->log[0] = '\0';
}

static inline void world_phase(struct world *w, const char *what, unsigned cmd)
{
	snprintf(w->phase, sizeof(w->phase), "%s %u", what, cmd);
}

static inline void world_begin(struct world *w, uint32_t cmd, const char *text)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)(uintptr_t)text, NULL };
	struct err err;

	world_phase(w, "begin", cmd);
	w->rc = engine_command_begin(w->e, cmd, argv, &err);
}

static inline void world_end(struct world *w, uint32_t cmd)
{
	struct err err;

	world_phase(w, "end", cmd);
	w->rc = engine_command_end(w->e, cmd, &err);
}

static inline void world_access(struct world *w, enum access_kind kind, uint32_t cmd, uint64_t off,
				uint64_t len)
{
	struct access a = { .kind = kind,
			    .path = "src/calc.c",
			    .off = off,
			    .len = len,
			    .pid = 7,
			    .cmd = cmd,
			    .argv = w->argv[0] ? w->argv : NULL,
			    .files_seen = w->files_seen };
	struct err err;

	world_phase(w, kind == ACCESS_OPEN ? "before open" : "before read", cmd);
	w->rc = engine_before(w->e, &a, &err);
	if (w->rc < 0)
		return;
	world_phase(w, kind == ACCESS_OPEN ? "after open" : "after read", cmd);
	w->rc = engine_after(w->e, &a, &err);
}

static inline void world_open(struct world *w, uint32_t cmd)
{
	world_access(w, ACCESS_OPEN, cmd, 0, 0);
}

/* Bytes; 0,0 = the whole file. */
static inline void world_read(struct world *w, uint32_t cmd, uint64_t off, uint64_t len)
{
	world_access(w, ACCESS_READ, cmd, off, len);
}

/* The agent writes: the first @from becomes @to. */
static inline void world_replace(struct world *w, const char *from, const char *to)
{
	char *at = strstr(w->data, from);
	auto_free char *rest = NULL;

	if (!at)
		return;
	rest = mem_strdup(at + strlen(from));
	*at = '\0';
	world_add(w->data, sizeof(w->data), "%s%s", to, rest);
}

static inline void world_changed(struct world *w, uint32_t cmd)
{
	struct err err;

	world_phase(w, "changed", cmd);
	w->rc = engine_changed(w->e, "src/calc.c", 7, cmd, NULL, &err);
}

static inline void world_exec(struct world *w, uint32_t cmd, const char *a, const char *b,
			      const char *c)
{
	char *const argv[] = { (char *)(uintptr_t)a, (char *)(uintptr_t)b, (char *)(uintptr_t)c,
			       NULL };
	struct err err;

	world_phase(w, "exec", cmd);
	w->rc = engine_exec(w->e, cmd, a, argv, &err);
}

/* All points of a run that are not commands. */
static inline void world_point(struct world *w)
{
	struct err err;

	snprintf(w->phase, sizeof(w->phase), "tick");
	engine_tick(w->e, 2000000000, &err);
	snprintf(w->phase, sizeof(w->phase), "progress");
	engine_progress(w->e, 0.6, &err);
	snprintf(w->phase, sizeof(w->phase), "call");
	engine_model_call(w->e, 5, &err);
	snprintf(w->phase, sizeof(w->phase), "anchor");
	engine_anchor(w->e, "elsewhere", &err);
	engine_anchor(w->e, "before-submit", &err);
}

/* Byte offset of a line. */
static inline uint64_t world_offset(const struct world *w, unsigned line)
{
	const char *p = w->data;

	while (--line)
		p = strchr(p, '\n') + 1;
	return (uint64_t)(p - w->data);
}

#endif
