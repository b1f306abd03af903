/* Where files that are called by a plain name live: the user's configuration directory, then the
 * shipped data. Never the current directory. */
#ifndef PROFILES_LOOKUP_INTERNAL_H
#define PROFILES_LOOKUP_INTERNAL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum lookup_kind { LOOKUP_PROFILE, LOOKUP_AGENT };

/* Is @name a path rather than a plain name: does it hold a slash, end in ".json" or is it "-"? */
bool lookup_is_path(const char *name);

/* Path of the file called @name; the file @skip (NULL = none) is passed over, so that a user's
 * profile may extend the shipped one of the same name. Caller frees *@ret. 0 or -ERR_INPUT with the
 * nearest name and the places looked at. */
int lookup_find(enum lookup_kind kind, const char *name, const char *skip, char **ret,
		struct err *err);

/* Add the plain names of all files of @kind to @ret, the user's and the shipped ones, sorted, each once. */
void lookup_names(enum lookup_kind kind, struct strv *ret);

/* See profile_datadir(). Caller frees. */
char *lookup_datadir(void);

#endif
