#include "triggers/schedule.h"

#include "base/path.h"
#include "base/str.h"

static bool due_commands(const struct schedule *s, const struct when *w, const struct rounds *r)
{
	(void)r; /* rows share one form */
	return s->commands && s->commands >= w->n;
}

static bool due_calls(const struct schedule *s, const struct when *w, const struct rounds *r)
{
	(void)r; /* rows share one form */
	return s->calls && s->calls >= w->n;
}

static bool due_progress(const struct schedule *s, const struct when *w, const struct rounds *r)
{
	(void)r; /* rows share one form */
	if (w->n && (double)s->commands >= w->at * (double)w->n)
		return true;
	return s->progress > 0 && s->progress >= w->at;
}

static bool due_time(const struct schedule *s, const struct when *w, const struct rounds *r)
{
	(void)r; /* rows share one form */
	return (double)s->ns >= w->at * 1e9;
}

static bool due_after(const struct schedule *s, const struct when *w, const struct rounds *r)
{
	(void)s; /* rows share one form */
	return rounds_fired(r, w->after);
}

static bool never(const struct schedule *s, const struct when *w, const struct rounds *r)
{
	(void)s; /* rows share one form */
	(void)w;
	(void)r;
	return false;
}

bool schedule_due(const struct schedule *s, const struct when *w, const struct rounds *r)
{
	/* clang-format off */
	static bool (*const rows[])(const struct schedule *, const struct when *, const struct rounds *) = {
		[WHEN_OPEN] = never, [WHEN_READ] = never, [WHEN_EDIT] = never, [WHEN_READ_OR_EDIT] = never,
		[WHEN_EXEC] = never, [WHEN_ANCHOR] = never,
		[WHEN_COMMAND_COUNT] = due_commands, [WHEN_MODEL_CALL] = due_calls,
		[WHEN_PROGRESS] = due_progress, [WHEN_TIME] = due_time, [WHEN_AFTER] = due_after,
	};
	/* clang-format on */

	return rows[w->event](s, w, r);
}

static bool named(const struct when *w, const char *name)
{
	return str_path_glob(w->program, path_base(name));
}

bool schedule_exec(const struct when *w, const char *program, char *const *argv)
{
	if (w->event != WHEN_EXEC)
		return false;
	if (!w->program || !*w->program || (program && named(w, program)))
		return true;
	if (!argv || !argv[0])
		return false;
	if (named(w, argv[0]))
		return true;
	/* an interpreter: its script, or its module */
	if (!argv[1])
		return false;
	if (str_eq(argv[1], "-m"))
		return argv[2] && named(w, argv[2]);
	return (str_starts(path_base(argv[0]), "python") || str_eq(path_base(argv[0]), "node") ||
		str_eq(path_base(argv[0]), "perl")) &&
	       argv[1][0] != '-' && named(w, argv[1]);
}
