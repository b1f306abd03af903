/* Effects given as objects: shared by effects*.c only. */
#ifndef SUPERVISOR_EFFECTS_INTERNAL_H
#define SUPERVISOR_EFFECTS_INTERNAL_H

#include "base/json.h"
#include "supervisor/sup.h"

/* A place in the box, for the *at() calls: the workspace's or the root's directory, and the path below it. */
struct effects_spot {
	int dir;    /* borrowed */
	char *path; /* owned */
	bool ws;    /* in the workspace */
};

/* Where @path is: relative ones and those below the workdir are in the workspace. Free spot->path. */
void effects_spot(const struct sup *s, const char *path, struct effects_spot *ret);

/* Make the directories above @path below @dir that are not there. 0, or -1 with errno. */
int effects_parents(int dir, const char *path);

/* Open for writing in place, made with @mode when it is not there; a read-only file is opened up for a moment.
 * Descriptor, or -1 with errno. */
int effects_open(int dir, const char *path, uint32_t mode);

/* Replace the contents in place: a descriptor that is open already sees them. 0, or -1 with errno. */
int effects_write(int fd, const void *data, size_t n);

/* Carry one out, given as its parsed object @item of @src. 0 or negative with the reason. */
int effects_place(struct sup *s, const struct json_src *src, cJSON *item, struct err *err);
int effects_runtime(struct sup *s, const struct json_src *src, cJSON *item,
		    struct err *err); /* see effects_place() */
int effects_authority(struct sup *s, const struct json_src *src, cJSON *item,
		      struct err *err); /* see effects_place() */

/* engine_ops.other. */
int effects_other(void *arg, enum effect_kind kind, const char *json, struct err *err);

#endif
