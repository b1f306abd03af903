/* Pairs of continuations (proctor.pair/1) and the figures of SWE-Shift made of them: clean and shifted success, paired
 * success (PSR), conditional recovery (CRR) as both averages, by system, family and position; which evidence was
 * missing; what the continuations cost; the ladder of state access and the sweep over token budgets. Every rate stands
 * beside its numerator and denominator. Pairs that are invalid, of one arm only, or not graded are in no rate. */
#ifndef STUDY_SHIFT_H
#define STUDY_SHIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "study/table.h"

enum { SHIFT_CLEAN, SHIFT_SHIFTED, SHIFT_ARMS };

#define SHIFT_CHECKS 6 /* rows of "checks" in strict.json, see enum strict_check */

/* One arm. Texts are owned. */
struct shift_arm {
	bool made;   /* there is a continuation */
	bool judged; /* strict.json was read */
	unsigned applies,
		fails; /* by enum strict_check: checks that apply, and those that do not hold */
	uint64_t tokens, commands;
	double seconds; /* behind the fork; NAN = unknown */
	char *end;      /* "exited", "limit:total_tokens", ...; NULL = unknown */
};

enum shift_state {
	SHIFT_VALID,
	SHIFT_INVALID,
	SHIFT_PARTIAL, /* only one arm was asked for */
	SHIFT_UNGRADED
};

/* A pair, or a row of counts that stands for several. Texts are owned, never NULL unless said so. */
struct shift_pair {
	char *source; /* pair.json, or FILE:LINE */
	char *scenario, *family, *position, *agent, *model, *ladder;
	char *prefix;    /* "replayed", "resumed" (a session taken up), "resumed, incomplete" */
	double fraction; /* of the position, NAN = unknown */
	uint64_t budget; /* tokens of a continuation, 0 = unknown */
	uint64_t repeat; /* from 1 */
	enum shift_state state; /* of a row of counts: valid unless no pair of it is */
	char *reason, *detail;  /* of an invalid one, NULL = unknown */
	/* 1 pair, or several: how many; those valid; of these, successes of the arms and of both */
	uint64_t pairs, valid, clean, shifted, paired;
	uint64_t prefix_tokens; /* of the record, given again and not paid */
	struct shift_arm arm[SHIFT_ARMS];
};

/* Many of them. {0} is none. */
struct shift_pairs {
	struct shift_pair *v; /* owned */
	size_t n, cap;
	size_t unfinished; /* directories with an arm and without pair.json */
};

/* Add every pair.json at or below directory @path, with the arms' strict.json and run.json, or the rows of a table
 * of counts (see shift_parse()). A file that is neither, and a directory without pairs, add nothing. 0 or -ERR_INPUT
 * with the file. */
int shift_load(const char *path, struct shift_pairs *out, struct err *err);

/* Add what the text of a file says: a pair.json, or a table of counts (docs/formats: proctor.paircounts/1): JSON, or
 * text with a head and tabs. @n bytes, NUL behind them, that came from @name. 0 or -ERR_INPUT with the place. */
int shift_parse(const char *name, const char *text, size_t n, struct shift_pairs *out,
		struct err *err);

/* Is @text the beginning of a table of counts or of a pair.json? */
bool shift_is(const char *text);

/* Free; {0} is fine. */
void shift_pairs_done(struct shift_pairs *p);

/* The plain table of counts of @p: a head, then a line for each pair, with tabs. shift_parse() reads it. */
void shift_counts(const struct shift_pairs *p, struct buf *out);

/* What the tables are made of. Borrows the pairs. */
struct shift;

struct shift_options {
	uint64_t seed;  /* of the bootstrap over scenarios */
	unsigned draws; /* resamples, 0 = none */
};

/* Sort and group. -ERR_INPUT: no pair at all, the same pair twice (both named). Free with shift_free(). */
int shift_new(const struct shift_pairs *p, const struct shift_options *o, struct shift **ret,
	      struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct shift *shift_free(struct shift *s);

/* Names of the tables in their order, NULL-terminated: "pairs", "families", ... */
extern const char *const shift_tables[];

/* Does @which belong to "all"? Others are long and made when they are named. */
bool shift_in_all(const char *which);

/* Make table @which (a name of shift_tables). NULL when the pairs have nothing for it; *ret_why then says what is
 * missing (static). Free with table_free(). */
struct table *shift_table(const struct shift *s, const char *which, const char **ret_why);

/* The figure that goes with table @which as an SVG element, for a page; nothing when it has none. */
void shift_figure(const struct shift *s, const char *which, struct buf *out);

/* Successes, totals and both averages of some pairs. */
struct shift_figures {
	uint64_t pairs, valid, clean, shifted, paired;
	uint64_t invalid, partial, ungraded;
	uint64_t scenarios;                        /* with a valid pair */
	uint64_t clean_scenarios;                  /* of these, with a success of the clean arm */
	double clean_rate, shifted_rate, psr, crr; /* per cent, micro; NAN for none */
	double clean_macro, shifted_macro, psr_macro, crr_macro; /* means over scenarios */
};

/* The figures of all pairs of @p together, whoever made them. */
void shift_figures(const struct shift_pairs *p, struct shift_figures *ret);

#endif
