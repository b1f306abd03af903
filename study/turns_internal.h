/* Between turns.c (answers) and turns_request.c (requests). */
#ifndef STUDY_TURNS_INTERNAL_H
#define STUDY_TURNS_INTERNAL_H

#include "study/turns.h"

/* Member @key of @o; NULL when @o is no object or has none. */
const cJSON *turn_get(const cJSON *o, const char *key);

/* The string under @key, NULL when there is none. Borrowed. */
const char *turn_str(const cJSON *o, const char *key);

/* Append @s; NULL adds nothing. */
void turn_add(struct buf *b, const char *s);

/* Append @v as JSON text. */
void turn_add_json(struct buf *b, const cJSON *v);

/* A new call of @t; NULL past TURN_CALLS_MAX. */
struct turn_call *turn_new_call(struct turn *t, const char *id, const char *name, size_t index);

#endif
