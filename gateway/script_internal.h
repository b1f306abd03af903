/* Shared by the halves of the script source: what a file says, and the translation of its tool turns
 * into the agent's own tools. */
#ifndef GATEWAY_SCRIPT_INTERNAL_H
#define GATEWAY_SCRIPT_INTERNAL_H

#include "base/json.h"
#include "base/str.h"
#include "gateway/api.h"

enum { SCRIPT_TURNS_MAX = 10000 };

/* What the request must hold when the turn is asked. */
struct script_expect {
	struct strv contains, lacks, last_contains, tools_offered;
};

/* What goes wrong, the first @times times that the turn is asked. */
struct script_fault {
	uint64_t times;       /* UINT64_MAX: always */
	uint64_t status;      /* HTTP status with an error body, 0 none */
	char *message;        /* owned: of that body; NULL = a default */
	uint64_t retry_after; /* ns, 0 none */
	double cut;           /* share of the bytes that come, negative: all */
	bool no_end;          /* the terminal event is missing */
	bool comments;        /* comment lines stand between the events */
	bool silence;         /* nothing comes at all */
};

struct script_turn {
	struct script_expect expect;
	char *text;                  /* owned; NULL none */
	const cJSON *tools;          /* borrowed while the file is read */
	struct api_tool_call *calls; /* owned */
	size_t n_calls;
	struct api_usage usage;
	int finish;     /* enum api_finish */
	uint64_t delay; /* ns */
	struct script_fault fault;
	bool faulty; /* @fault is there */
	/* what became of it */
	uint64_t asked;
	bool met;
	char *why; /* owned: the expectation that failed last */
};

struct script_text {
	struct script_turn *turns; /* owned */
	size_t n_turns;
	char *side; /* owned: answer to everything but the main conversation */
	struct api_usage usage, side_usage; /* of answers that say none; of side calls */
};

/* Read a proctor.script/1 text; tool turns become calls of @agent's tools. 0 or -ERR_INPUT. Free with
 * script_text_done(). */
int script_text_read(const char *name, const char *text, size_t n, const struct agent *agent,
		     const char *workdir, struct script_text *ret, struct err *err);

/* Free; {0} is fine. */
void script_text_done(struct script_text *t);

/* Fill turn->calls from turn->tools, which stands at @where; @number counts turns from 1 and becomes
 * part of the ids. 0 or -ERR_INPUT. */
int script_tools_read(const struct json_src *src, const char *where, const struct agent *agent,
		      const char *workdir, size_t number, struct script_turn *turn,
		      struct err *err);

#endif
