/* Diff text and a file, both hostile: parse, apply at every level. What applies must leave its own
 * result alone or apply again without reading past anything. */
#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "triggers/apply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Called once by libFuzzer: setting libgit2 up and down again takes longer than an input. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc; /* the form is libFuzzer's */
	(void)argv;
	return git_libgit2_init() > 0 ? 0 : -1;
}

/* Every path holds the same contents. */
struct one_file {
	const char *data;
	size_t n;
};

static int read_it(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err)
{
	const struct one_file *f = arg;

	(void)path;
	(void)err;
	if (!f->data)
		return 0;
	*mode = 0100644;
	buf_add(out, f->data, f->n);
	return 1;
}

static void apply(const struct patch *p, const struct one_file *f, enum apply_method most)
{
	struct one_file copy = *f;
	struct apply_io io = { read_it, &copy };
	struct apply_options opt = { most };
	struct apply_result r;
	struct err err;
	int rc = apply_patch(p, &io, &opt, &r, &err);

	if ((rc == 0) != (r.reason != NULL))
		abort();
	for (size_t i = 0; rc == 1 && i < r.n; i++)
		if ((r.file[i].mode == 0) != (r.file[i].after == NULL))
			abort();
	apply_result_done(&r);
}

/* The diff, a line "=====", the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "\n=====\n";
	const char *text = (const char *)data;
	const char *at = size ? memmem(text, size, mark, sizeof(mark) - 1) : NULL;
	size_t n = at ? (size_t)(at + 1 - text) : size;
	struct one_file file = { at ? at + sizeof(mark) - 1 : NULL, 0 };
	struct patch *p = NULL;
	uint64_t added, removed;
	struct err err;

	if (at)
		file.n = size - (size_t)(file.data - text);
	if (patch_parse(text, n, &p, &err) < 0)
		return 0;
	patch_counts(p, &added, &removed);
	for (enum apply_method m = APPLY_EXACT; m <= APPLY_CONTEXT; m++)
		apply(p, &file, m);
	patch_free(p);
	return 0;
}
