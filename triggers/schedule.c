#include "triggers/schedule.h"

#include "base/path.h"
#include "base/str.h"

/* One question: the point of the run, the trigger, and whose it is. */
struct ask {
	const struct schedule *s;
	const struct when *w;
	const struct rounds *r;
	size_t i;
};

static bool due_commands(const struct ask *a)
{
	return a->s->commands && a->s->commands >= a->w->n;
}

static bool due_calls(const struct ask *a)
{
	return a->s->calls && a->s->calls >= a->w->n;
}

/* A count where the length of the run is known, otherwise a part of the budget. */
static bool due_progress(const struct ask *a)
{
	uint64_t round = rounds_next(a->r, a->i);
	uint64_t point = scenario_point(a->r->sc, a->w, round);

	if (point)
		return (a->w->unit == UNIT_CALLS ? a->s->calls : a->s->commands) >= point;
	return a->s->progress > 0 && a->s->progress >= scenario_fraction(a->r->sc, a->w, round);
}

static bool due_time(const struct ask *a)
{
	return (double)a->s->ns >= a->w->at * 1e9;
}

static bool due_after(const struct ask *a)
{
	/* without "after" it is those of "all_after", which rounds_open() asks for */
	return !a->w->after || rounds_fired(a->r, a->w->after);
}

static bool never(const struct ask *a)
{
	(void)a; /* rows share one form */
	return false;
}

bool schedule_due(const struct schedule *s, const struct rounds *r, size_t i)
{
	/* clang-format off */
	static bool (*const rows[])(const struct ask *) = {
		[WHEN_OPEN] = never, [WHEN_READ] = never, [WHEN_EDIT] = never, [WHEN_READ_OR_EDIT] = never,
		[WHEN_EXEC] = never, [WHEN_ANCHOR] = never, [WHEN_REGION_STATE_CHANGED] = never,
		[WHEN_COMMAND_COUNT] = due_commands, [WHEN_MODEL_CALL] = due_calls,
		[WHEN_PROGRESS] = due_progress, [WHEN_TIME] = due_time, [WHEN_AFTER] = due_after,
	};
	/* clang-format on */
	const struct when *w = &r->sc->interventions[i].when;

	return rows[w->event](&(struct ask){ s, w, r, i });
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
