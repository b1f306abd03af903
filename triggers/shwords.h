/* Shell text into simple commands, best effort: what a reader of the text would see, without
 * running or expanding anything. For the argv level and for swe-touch-1.0. */
#ifndef TRIGGERS_SHWORDS_H
#define TRIGGERS_SHWORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Hard maxima: the text comes from the agent. */
#define SHWORDS_TEXT_MAX     (1u << 20) /* bytes looked at; the rest is ignored */
#define SHWORDS_COMMANDS_MAX 4096u
#define SHWORDS_WORDS_MAX    65536u

/* One simple command. */
struct shwords_cmd {
	struct strv words;   /* unquoted, assignments and reserved words in front left out */
	struct strv outputs; /* targets of > >> >| &> */
	char *here;          /* owned: text of its here-document or here-string, NULL = none */
	bool piped;          /* reads the output of the command before it */
};

struct shwords {
	struct shwords_cmd *v; /* owned */
	size_t n, cap;
	size_t words;       /* in all commands */
	struct strv nested; /* texts of $(...) and `...` */
};

/* Cut @text into commands. Free with shwords_done(). */
void shwords_parse(struct shwords *s, const char *text);

/* Free; {0} is fine. */
void shwords_done(struct shwords *s);

/* The text that "sh -c TEXT" would run, when @argv (NULL-terminated) is a shell with -c. NULL
 * otherwise. Borrowed. */
const char *shwords_text(char *const *argv);

/* Some clients wrap what the model asked for: "source SNAPSHOT && eval 'COMMAND' && pwd -P >| FILE". The
 * command in it, or NULL when @text is no such wrapper. Caller frees. */
char *shwords_client(const char *text);

/* @words without the programs that only run another one (sudo, env, timeout 10, nice, ...):
 * index of the first word that counts; w->n when nothing is left. */
size_t shwords_start(const struct strv *w);

#endif
