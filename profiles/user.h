/* A user that reacts to the run: a program of the scenario's that runs in a box of its own, or a prompt for the model
 * behind --simulator. Asked between two answers of the agent's model; what it says is a user message. */
#ifndef PROFILES_USER_H
#define PROFILES_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum {
	USER_MESSAGES_MAX = 100,     /* that one run may have */
	USER_FILES_MAX = 64,         /* files of the program */
	USER_WAIT_MAX_S = 600,       /* that an answer may be waited for */
	USER_FILE_BYTES = 1 << 20,   /* of one file */
	USER_PROMPT_BYTES = 64 << 10 /* of the prompt */
};

/* Where the program finds its files, and starts. */
#define USER_DIR "/user"

struct user {
	struct strv argv; /* the program; empty with a prompt */
	struct strv files,
		texts;     /* names (without a slash) and contents of what stands in USER_DIR */
	char *prompt;      /* text; NULL with a program */
	char *prompt_file; /* absolute path it was read from */
	char prompt_sha256[DIGEST_HEX];
	uint64_t messages; /* that it may say, default 5 */
	uint64_t every;    /* it is asked at every n-th request, default 1 */
	uint64_t wait;     /* ns that one answer is waited for, default 20 s */
	bool view;         /* it sees the workspace, default true */
};

/* Read the object @item at @where; files are found beside the scenario, in @dir (NULL: none can be named). 0 or
 * -ERR_INPUT. Free with user_free(). */
int user_read(const struct json_src *src, const char *where, const char *dir, const cJSON *item,
	      struct user **ret, struct err *err);

/* Rows of the object, for the manual. */
extern const struct json_field user_rows[];

/* Print it as member "user" of a plan: files and prompt by digest. Nothing for NULL, so that other plans stay what
 * they were. */
void user_print(const struct user *u, struct json_w *w);

/* Free; NULL is fine. Returns NULL. */
struct user *user_free(struct user *u);

#endif
