/* Between reading a profile file and setting one field of it from the command line. */
#ifndef PROFILES_PROFILE_INTERNAL_H
#define PROFILES_PROFILE_INTERNAL_H

#include "profiles/profile.h"

/* Everything the rows cannot say; relative root file systems are made absolute from @dir (NULL:
 * refused). @src names the place in error texts. 0 or -ERR_INPUT. */
int profile_check(const struct json_src *src, const char *dir, struct profile *p, struct err *err);

#endif
