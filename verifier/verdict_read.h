/* verdict.json ("proctor.verdict/1") read back: what is known of it; other fields are passed over, so that files
 * of later versions can be read. */
#ifndef VERIFIER_VERDICT_READ_H
#define VERIFIER_VERDICT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "verifier/grade.h"

#define VERDICT_FILE_MAX (256u << 20) /* bytes of a verdict.json */

/* Names and texts are the bytes that they stood for: the \xNN layer of outputs is undone. */
struct verdict_file {
	char *instance_id;
	enum verdict_kind kind;
	char *reason; /* NULL = null */
	struct verdict_test *tests;
	size_t n_tests, cap_tests;
	bool patch_exists, patch_applied;
	char *method; /* NULL = not applied */
	struct strv dropped;
	struct strv tamper; /* "kind path" */
	char *reader;
	bool complete;
	char *note;
	int exit_status; /* -1 = null: not run */
	uint64_t wall_ns, cpu_ns, max_mem;
	uint64_t infra_repeats;
	char *verifier_digest, *digest;
	char *stages; /* JSON text of "stages" (Multi-SWE-bench's report), NULL = none */
};

/* Read @n bytes called @name in messages. 0 or -ERR_INPUT. Free with verdict_file_done(). */
int verdict_parse(const char *name, const char *text, size_t n, struct verdict_file *ret,
		  struct err *err);

/* The file @path. As verdict_parse(). */
int verdict_load(const char *path, struct verdict_file *ret, struct err *err);

/* Free; {0} is fine. */
void verdict_file_done(struct verdict_file *v);

/* Kind by name ("resolved", ...); -1 when there is none. */
int verdict_kind_of(const char *name);

/* Status by name ("passed", ...); -1 when there is none. */
int verdict_status_of(const char *name);

#endif
