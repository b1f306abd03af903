/* Files that side services name: read when the scenario is, so that the plan holds all that a run is made of. */
#ifndef PROFILES_SERVICEFILES_INTERNAL_H
#define PROFILES_SERVICEFILES_INTERNAL_H

#include "base/err.h"
#include "base/json.h"

/* Bytes of all of them together, in one scenario. */
#define SERVICEFILES_MAX (1u << 20)

/* Put contents in the place of names in @services (array of "services", changed): "sql" that ends in .sql, package
 * directories ("from" becomes "files"), ready packages ("file" becomes "filename" and "bytes" in base64). @dir: where
 * the scenario is, NULL = no file can be named. What was read before stays. 0 or -ERR_INPUT. */
int servicefiles_read(const struct json_src *src, const char *where, const char *dir,
		      cJSON *services, struct err *err);

/* The same for "sql" of the effect {"service": @change}. */
int servicefiles_effect(const struct json_src *src, const char *where, const char *dir,
			cJSON *change, struct err *err);

#endif
