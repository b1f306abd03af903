/* One run as the statistics need it ("proctor.result/1"): a line of results.jsonl, or taken from a run
 * directory. Tables are made of these records and of nothing else. */
#ifndef STUDY_RESULT_H
#define STUDY_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "profiles/scenario.h"

enum result_verdict {
	RESULT_RESOLVED,
	RESULT_UNRESOLVED,
	RESULT_INVALID, /* the task is at fault: no result */
	RESULT_INFRA,   /* never counts as a result */
	RESULT_NONE     /* not graded */
};

struct result {
	char *source;      /* run directory or file:line, for messages */
	char *benchmark;   /* "swe_bench_verified", ...; "" = one set */
	char *instance_id; /* task */
	char *model;       /* the row of a table: model name, else the agent */
	char *agent;
	int mode;        /* enum scenario_mode */
	uint64_t k;      /* K of the condition; 0 in vanilla */
	uint64_t repeat; /* from 1: run r of one condition is paired with run r of another */
	int verdict;     /* enum result_verdict */
	bool completed;  /* came to its own end, not to a limit */
	uint64_t steps;  /* model calls answered; commands for an agent without a model */
	uint64_t input_tokens, cached_tokens, output_tokens;
	bool has_tokens; /* an agent without a model has none */
	bool cost_known; /* an unknown price is an unknown cost, not zero */
	uint64_t micro_dollars;
	uint64_t fired, refused;           /* interventions */
	uint64_t patch_lines, patch_files; /* added + removed lines of the final patch */
	char *pair_digest; /* digest of the plan without its condition; "" = unknown */
	char *plan_digest;
	char *label;    /* failure label, "" = none */
	char *label_by; /* "rule", "human" or "" */
	char *response; /* "kept", "revised", "reverted", "replaced", "" = no edit landed or unknown */
	bool revised;   /* the agent revised or removed the edit before the end */
	bool has_after; /* the three counts below are known */
	uint64_t reads_after, edits_after, tests_after; /* after the final user edit */
};

/* Many of them. */
struct results {
	struct result *v; /* owned */
	size_t n, cap;
};

/* Add what @path holds: a run directory (run.json, with verdict.json and behaviour.json beside it), a
 * directory of run directories, or a file of records (one JSON object a line, or an array). 0 or
 * -ERR_INPUT with file and line. */
int results_load(const char *path, struct results *out, struct err *err);

/* As results_load(); a directory without any adds nothing. */
int results_find(const char *path, struct results *out, struct err *err);

/* Add the records of a file's text: @n bytes (NUL behind them) that came from @name. 0 or -ERR_INPUT with
 * file and line. */
int results_parse(const char *name, const char *text, size_t n, struct results *out,
		  struct err *err);

/* Free; {0} is fine. */
void results_done(struct results *r);

/* Print @r as one line of results.jsonl (with newline). */
void result_print(const struct result *r, struct buf *out);

/* "vanilla", "message (K=3)", "edit (K=3)", "edit+message (K=1)", "co-edit" into @out. Returns @out. */
char *result_condition(const struct result *r, char out[48]);

#endif
