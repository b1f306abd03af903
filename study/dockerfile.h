/* The part of a Dockerfile that says what a task's box looks like: FROM, WORKDIR, ENV, COPY and ADD of the last
 * stage, and a commit that a RUN line checks out. Nothing is built and no RUN is carried out. The file is foreign. */
#ifndef STUDY_DOCKERFILE_H
#define STUDY_DOCKERFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

#define DOCKERFILE_MAX      (1u << 20)  /* bytes */
#define DOCKERFILE_LINE_MAX (64u << 10) /* bytes of one instruction with its continuations */
#define DOCKERFILE_COPIES   1000u
#define DOCKERFILE_VARS     1000u

/* COPY or ADD: names of the build context to an absolute path. */
struct dockerfile_copy {
	struct strv from;
	char *to; /* absolute, normal form; with a slash at the end when it must be a directory */
	char *stage; /* --from=: another stage or image; NULL = the build context */
	bool add;
	unsigned line;
};

struct dockerfile {
	char *from;    /* image of the last stage, through stages it is built on; NULL = no FROM */
	char *workdir; /* absolute; NULL = none said */
	struct strv env;              /* "KEY=value" */
	struct dockerfile_copy *copy; /* owned, in order */
	size_t n_copies;
	size_t runs; /* RUN instructions */
	char *commit; /* 40 hex digits that a RUN gives to git checkout, reset or fetch; NULL = none */
};

/* Read @n bytes called @name. $NAME, ${NAME} and ${NAME:-default} are filled in from ENV and ARG defaults. What is
 * not named above is passed over. 0, or -ERR_INPUT with file and line. Free with dockerfile_done(). */
int dockerfile_parse(const char *name, const char *text, size_t n, struct dockerfile *ret,
		     struct err *err);

/* Free; {0} is fine. */
void dockerfile_done(struct dockerfile *d);

#endif
