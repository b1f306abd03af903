/* One scenario, several conditions: how many rounds, which interventions take part, and where a
 * schedule by progress puts them. */
#include "profiles/scenario.h"

#include <math.h>

#include "base/mem.h"

#define CONDITION_ROUNDS_MAX 1000

/* What a sum of binary fractions may be off by: 0.1 * 30 is 3, not the fourth command. */
#define ROUNDING 1e-9

uint64_t scenario_rounds(const struct scenario *s)
{
	if (s->mode == MODE_VANILLA)
		return 0;
	return s->mode == MODE_CO_EDIT ? 1 : s->max_rounds;
}

size_t scenario_taking_part(const struct scenario *s)
{
	uint64_t k = scenario_rounds(s);

	return k < s->n_interventions ? (size_t)k : s->n_interventions;
}

double scenario_fraction(const struct scenario *s, const struct when *w, uint64_t round)
{
	if (w->at >= 0)
		return w->at;
	if (round >= 1 && round <= s->n_progress)
		return s->progress[round - 1];
	return (double)round / (double)(s->max_rounds + 1);
}

uint64_t scenario_point(const struct scenario *s, const struct when *w, uint64_t round)
{
	double at = ceil(scenario_fraction(s, w, round) * (double)w->n - ROUNDING);

	if (!w->n)
		return 0;
	return at < 1 ? 1 : (uint64_t)at;
}

/* Does anything of @iv take place? */
static bool any_fits(const struct scenario *s, const struct intervention *iv)
{
	for (size_t i = 0; i < iv->n_effects; i++)
		if (scenario_effect_fits((enum scenario_mode)s->mode, iv->effects[i].kind))
			return true;
	return false;
}

/* A list of fractions must hold one for each round that may ask for it. */
static int check_progress(const struct scenario *s, struct err *err)
{
	for (size_t i = 0; s->n_progress && i < scenario_taking_part(s); i++) {
		const struct when *w = &s->interventions[i].when;

		if (w->event == WHEN_PROGRESS && w->at < 0 && s->n_progress < scenario_rounds(s))
			return err_set(err, ERR_INPUT,
				       "%s: $.progress names %zu fractions, but there are %llu "
				       "rounds; name one for each, or leave it out for even ones",
				       s->file, s->n_progress,
				       (unsigned long long)scenario_rounds(s));
	}
	return 0;
}

int scenario_set_condition(struct scenario *s, int mode, uint64_t rounds, struct err *err)
{
	bool any;

	if (mode >= 0)
		s->mode = mode;
	any = scenario_user(s) || s->services;
	if (rounds > CONDITION_ROUNDS_MAX)
		return err_set(err, ERR_USAGE, "%llu rounds: K is from 1 to %d",
			       (unsigned long long)rounds, CONDITION_ROUNDS_MAX);
	if (rounds > 1 && s->mode == MODE_CO_EDIT)
		return err_set(
			err, ERR_USAGE,
			"%llu rounds in mode co-edit: a Co-Edit fires once; leave the rounds "
			"out",
			(unsigned long long)rounds);
	if (rounds)
		s->max_rounds = rounds;
	if (s->mode == MODE_VANILLA)
		return 0;
	for (size_t i = 0; i < scenario_taking_part(s); i++)
		any |= any_fits(s, s->interventions + i);
	if (!any)
		return err_set(err, ERR_INPUT,
			       "%s: scenario \"%s\": no effect of its interventions takes place in "
			       "mode \"%s\"; choose another mode, or another scenario",
			       s->file, s->id, scenario_mode_name((enum scenario_mode)s->mode));
	return check_progress(s, err);
}
