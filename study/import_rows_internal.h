/* Between reading rows (import_rows.c), the two families, the places where commands come from, and the way back
 * (export_rows.c). */
#ifndef STUDY_IMPORT_ROWS_INTERNAL_H
#define STUDY_IMPORT_ROWS_INTERNAL_H

#include <stdbool.h>

#include "base/digest.h"
#include "base/jslice.h"
#include "profiles/task.h"
#include "profiles/testspec.h"
#include "study/import_rows.h"

/* What an import works with. */
struct rows_ctx {
	const struct rows_options *o;
	struct testspec user, shipped;
};

/* A row on its way to a task. The task is never loaded from a file: its fields are owned here. */
struct row {
	char *where;          /* owned: "FILE:LINE" */
	struct jslice v;      /* borrowed: the object */
	struct task task;     /* fields owned */
	struct strv from, to; /* files put in for grading, at the same index */
	struct strv reasons;  /* why it cannot be graded as it is */
	const char *dir;      /* borrowed: version 5's task directory, or NULL */
};

/* A field of a row that the task holds. */
struct held {
	const char *keys[2]; /* spellings */
	bool list;           /* struct strv, otherwise char * */
	size_t off;          /* in struct task */
};

struct family {
	const char *name;        /* of the source, in extra.json and import.json */
	const struct held *held; /* ended by NULL keys[0] */
	/* Fill row->task from row->v; what keeps it from being graded goes into row->reasons. 0 or
	 * -ERR_INPUT with row->where. */
	int (*convert)(const struct rows_ctx *ctx, struct row *row, struct err *err);
	bool directories; /* operands may be directories of version 5 */
};

extern const struct family family_swebench, family_multi;

/* Family by its name; NULL when there is none. */
const struct family *family_find(const char *name);

/* The field that @key belongs to; NULL when the task does not hold it. */
const struct held *held_of(const struct family *f, struct jslice key);

/* Read value @v into @h's field of @task: a string, or a list of strings, or a string that holds one (JSON, or
 * Python's spelling). A number becomes its digits, null nothing. 0, or -1 with what was expected in *why
 * (static). */
int held_take(const struct held *h, struct jslice v, struct task *task, const char **why);

/* Read every member of row->v that @f's tasks hold into row->task. 0 or -ERR_INPUT with row->where. */
int row_take_held(const struct family *f, struct row *row, struct err *err);

/* How @h's field of @task stands by default: a string (NULL as ""), or a list; @as_string: the list in a string
 * as Python's json.dumps() writes it. */
void held_put(const struct held *h, const struct task *task, bool as_string, struct buf *out);

/* SHA-256 of how @h's field stands by default: tells whether it was changed since. Returns @out. */
char *held_digest(const struct held *h, const struct task *task, char out[DIGEST_HEX]);

/* Do both tasks hold the same in @h's field (NULL as "")? */
bool held_same(const struct held *h, const struct task *a, const struct task *b);

/* Free @h's field of @task. */
void held_clear(const struct held *h, struct task *task);

/* Text of extra.json for @row. */
void extra_text(const struct family *f, const struct row *row, struct buf *out);

/* Note why @row cannot be graded (printf-like). */
void row_reason(struct row *row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A task file is UTF-8: every other byte of *@s becomes U+FFFD, and a reason says that @name had some. The row's own
 * bytes stay in extra.json. */
void row_utf8(struct row *row, const char *name, char **s);

/* Error about @row: "WHERE: text". Returns -ERR_INPUT. */
int row_complain(const struct row *row, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Root file system @spec of --rootfs for task @id: {instance_id} and {image} put in ("/" and ":" of an image as "_"), a
 * relative path made absolute from @dir. Caller frees. */
char *import_rootfs(const char *spec, const char *id, const char *image, const char *dir);

/* Is @s a name that a task may have? */
bool row_is_id(const char *s);

/* Fill task.source, rootfs and workdir (@workdir unless the task has one) from options. @repo: owner/name; @image: the row's
 * image or NULL. */
int row_place(const struct rows_ctx *ctx, struct row *row, const char *repo, const char *image,
	      const char *workdir, struct err *err);

/* Command, reader and environment from the test-spec rows, when there is one for @repo. */
bool row_from_spec(const struct rows_ctx *ctx, struct row *row, const char *repo);

/* Set the reader for @parser by test.match: the name of a parser of SWE-bench's harness ("parse_log_pytest", "pytest") or of a
 * reader of ours; a reason when there is none. */
void row_reader(struct row *row, const char *parser);

/* Set test.match: @own unless --match says another. Before row_reader(). */
void row_match(const struct rows_ctx *ctx, struct row *row, enum task_match own);

/* The finished test.command of @row as a task file can hold it; a reason when no shell can run it. */
void row_check_command(struct row *row);

/* The words for {files} from the test patch @patch: shell-quoted, separated by blanks. Caller frees. */
char *row_files(const char *patch, enum testspec_files kind);

/* @s in single quotes for a shell. Appended to @out. */
void row_quote(struct buf *out, const char *s);

/* Command for a version 5 eval script: its own lines but those that put the test patch on (which is done by
 * us) or only tell about the tree, then what stands between the markers. NULL when the script has no
 * marker. Caller frees. */
char *row_eval_command(const char *script);

/* Reads a list of strings as Python writes it, repr() or json.dumps(): ['a', "b\n"]. 0 with *out filled, or -1. */
int pylist_parse(const char *s, struct strv *out);

/* YAML text (one document; no aliases, no tags) as JSON text. 0 or -ERR_INPUT. */
int yaml_json(const char *name, const char *text, size_t n, struct buf *out, struct err *err);

/* A row's text for each task directory of version 5 in @dir (DIR/tasks/ID/task.yaml, or DIR/task.yaml): @add is called
 * with the directory's name and the row's JSON text. 0 or negative. */
int v5_rows(const char *dir,
	    int (*add)(void *arg, const char *task_dir, const struct buf *text, struct err *err),
	    void *arg, struct err *err);

/* Task file text. @dir_files: patches stand in files called "ID.patch.diff" and "ID.test-patch.diff"; which ones do
 * is told by row_patch_apart(). */
void row_task_text(const struct row *row, struct buf *out);

/* Does diff text @patch stand in a file of its own: it is large, or no UTF-8? */
bool row_patch_apart(const char *patch);

/* Convert every row of @text without a test-spec and without writing; each is shown to @look. 0, -ERR_INPUT, or what
 * @look returns when that is negative. */
int rows_look(const struct family *f, const char *name, const char *text, size_t n,
	      int (*look)(void *arg, const struct family *f, const struct row *row,
			  struct err *err),
	      void *arg, struct err *err);

/* The row that @task and @extra (a checked extra.json) stand for, appended as one line. */
void rows_back(const struct family *f, const struct task *task, struct jslice extra,
	       struct buf *out);

#endif
