/* Asking for a user edit: the request from a prompt file, and the answer out of what a model said. Pure. */
#ifndef STUDY_CRAFT_H
#define STUDY_CRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/task.h"
#include "study/candidate.h"

#define CRAFT_ANSWER_FILE ".user-edit.json" /* what an agent leaves in the top directory */
#define CRAFT_TOOL        "submit_edit"     /* what a model calls */
#define CRAFT_PROMPT_MAX  (16u << 20)       /* bytes of a request */
#define CRAFT_FILES_MAX   (400u << 10)      /* bytes of files that a request shows */

/* What a request is about. All borrowed. */
struct craft_about {
	const struct task *task;
	bool co;    /* a Co-Edit */
	bool agent; /* an agent works in the repository; otherwise a model is asked once */
	const struct region *region;
	size_t n_regions;
	const char *files;          /* the files' text for a model; "" for an agent */
	const struct strv *reasons; /* why earlier answers were refused, in order */
};

/* Fill prompt @text in. The result goes to @out. 0 or -ERR_INPUT: @name holds a {word} or [word] that is not
 * known. */
int craft_prompt(const char *name, const char *text, const struct craft_about *about,
		 struct buf *out, struct err *err);

/* Body of a chat completions request: @prompt, and for each earlier answer that answer and why it was refused;
 * the tool CRAFT_TOOL is offered. "{model}" stands in it for the model's name and no other brace of the texts
 * can be taken for a template: all are written as \u007b. */
void craft_request(const char *prompt, const struct strv *answers, const struct strv *reasons,
		   struct buf *out);

/* The JSON object in an answer of @n bytes: all of it, or what stands between the first and the last brace
 * (models put words and fences around it). NULL when there is none. Caller frees. */
char *craft_object(const char *text, size_t n);

/* A text for @f of a script (proctor.script/1) whose first @drop turns are left out, since each attempt is a
 * run of its own and begins with the first turn. 0 or -ERR_INPUT when no turn is left. */
int craft_script(const char *file, size_t drop, struct buf *out, struct err *err);

#endif
