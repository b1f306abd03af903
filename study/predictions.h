/* Predictions: what agents handed in, one patch for each task. Forms read: JSON Lines, a JSON list and a
 * JSON map by instance_id of SWE-bench ("instance_id", "model_name_or_path", "model_patch"); Multi-SWE-bench's
 * lines ("org", "repo", "number", "fix_patch"); SWE-bench Pro's list ("instance_id", "patch" or "model_patch",
 * "prefix"). The file is hostile. */
#ifndef STUDY_PREDICTIONS_H
#define STUDY_PREDICTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define PREDICTIONS_MAX       100000u      /* of one file */
#define PREDICTIONS_FILE_MAX  (1u << 30)   /* bytes */
#define PREDICTIONS_PATCH_MAX (256u << 20) /* bytes of one patch */

struct prediction {
	char *instance_id; /* "org__repo-number" for Multi-SWE-bench's form */
	char *model;       /* model_name_or_path or prefix; NULL when it has none */
	char *patch;       /* diff text; "" when empty, NULL when null or absent */
	char *rest;        /* JSON object text of the fields that are none of these; NULL = none */
	uint64_t line;     /* 1-based line of the file, or position in the list or map */
};

struct predictions {
	struct prediction *v; /* owned, in the order of the file */
	size_t n;
	const char *form; /* static: "jsonl", "list", "map", "multi-swe-bench", "pro" */
};

/* Read @path ("-" = standard input). Two predictions of one instance by one model are an error that
 * names both places; so are unknown forms, a missing instance_id, a patch that is no text. 0, or
 * -ERR_INPUT with file and position. Free with predictions_done(). */
int predictions_load(const char *path, struct predictions *ret, struct err *err);

/* The same from @n bytes called @name in messages. */
int predictions_parse(const char *name, const char *text, size_t n, struct predictions *ret,
		      struct err *err);

/* SWE-bench's JSON Lines; "rest" fields come back after the known ones. */
void predictions_jsonl(const struct predictions *p, struct buf *out);

/* Free. {0} is fine. */
void predictions_done(struct predictions *p);

#endif
