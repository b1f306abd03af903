/* The rows of the four kinds of input files, for the reader of each and for the field list. */
#ifndef PROFILES_ROWS_INTERNAL_H
#define PROFILES_ROWS_INTERNAL_H

#include "base/json.h"

extern const struct json_field task_rows[];
extern const struct json_field agent_rows[];
extern const struct json_field profile_rows[];
extern const struct json_field scenario_rows[];

#endif
