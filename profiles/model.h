/* Where model answers come from: what --model says. */
#ifndef PROFILES_MODEL_H
#define PROFILES_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Address and port that agents reach the model at, in the box. */
#define MODEL_HOST "127.0.0.1"
#define MODEL_PORT 8791

enum model_kind {
	MODEL_LIVE,   /* an endpoint: the vendor's, or the URL given */
	MODEL_SCRIPT, /* canned turns */
	MODEL_REPLAY, /* a recorded model.jsonl */
	MODEL_RESUME, /* a model that answers behind a session taken up again */
};

/* Forms of --model:
 *   NAME                      the API's public endpoint, model NAME
 *   URL                       that endpoint ("http://127.0.0.1:8000/v1"), the agent's model name
 *   URL#NAME                  that endpoint, model NAME
 *   script:FILE               a proctor.script/1 file
 *   replay:FILE               a model.jsonl (or a run directory); strict
 *   replay-loose:FILE         the same, matched by purpose and order only
 *   replay:FILE@N             its first N answers, then an error
 *   replay:FILE@N+MODEL       its first N answers, then MODEL (any form but replay)
 *   resume:FILE@CALL+MODEL    MODEL, when the first main request goes on with the one of that call
 *   resume-same:FILE@CALL+MODEL  the same, when it is that request (fork --resume native)
 * URLs are http or https; http only for loopback addresses, so that no key crosses a network in the
 * clear. No user, query or fragment other than #NAME. */
struct model {
	enum model_kind kind;
	char *spec; /* owned: as given */
	char *name; /* owned: {model} for the agent; of a replay, that of the recorded run, else of
			* what follows it; NULL = the agent file's default */
	char *url;  /* owned: MODEL_LIVE with URL, without trailing slash; NULL = the vendor's */
	char *file; /* owned: absolute path of script or record */
	bool loose; /* MODEL_REPLAY: nothing is compared; MODEL_RESUME: the request may be longer */
	uint64_t upto; /* MODEL_REPLAY: answers to take, UINT64_MAX all; MODEL_RESUME: number of the
			* call */
	struct model *then; /* owned: what follows them, NULL = an error */
	char *text; /* owned: contents of @file, read when the plan is made, so that the plan is
		      * complete and its digest covers it; NULL for live */
	size_t text_n;
	const char *option, *record; /* static: see model_parse_for() */
};

enum { MODEL_FILE_MAX = 1 << 30 };

/* Parse @spec and read its file; relative paths are below @cwd. 0, -ERR_USAGE for the form,
 * -ERR_INPUT for the file. Free with model_free(). */
int model_parse(const char *spec, const char *cwd, struct model **ret, struct err *err);

/* As model_parse() for another option than --model: @option ("--simulator") is named in error texts,
 * and a replay that names a run directory means its file @record ("simulator.jsonl"). Both are static
 * strings. */
int model_parse_for(const char *option, const char *record, const char *spec, const char *cwd,
		    struct model **ret, struct err *err);

/* "live", "script", "replay", "resume". Static. */
const char *model_kind_name(enum model_kind kind);

/* Free; NULL is fine. Returns NULL. */
struct model *model_free(struct model *m);

#endif
