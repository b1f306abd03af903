/* Rows of the SWE-bench family: the first byte chooses the family. A row is refused, or becomes a task that can be
 * read, and the task with what was kept beside it gives the row back. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/import_rows_internal.h"
#include "tests/fuzz/rows_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Patches in files of their own are not there. */
static void check_task(const struct row *row)
{
	auto_buf text = BUF_INIT(ROWS_TASK_MAX);
	struct row bare = *row;
	struct task *task = NULL;

	bare.task.patch = bare.task.test_patch = NULL;
	row_task_text(&bare, &text);
	if (task_parse("made", buf_str(&text), text.len, "/", &task, NULL) < 0)
		abort();
	task_free(task);
}

static int on_row(void *arg, const struct family *f, const struct row *row, struct err *err)
{
	auto_buf extra = BUF_INIT(256u << 20), back = BUF_INIT(256u << 20);
	struct jslice x, b;

	(void)arg;
	if (row->v.n > 1u << 20)
		return 0;
	check_task(row);
	extra_text(f, row, &extra);
	if (jslice_parse("extra", buf_str(&extra), extra.len, &x, err) < 0)
		abort();
	rows_back(f, &row->task, x, &back);
	if (jslice_parse("back", buf_str(&back), back.len, &b, err) < 0)
		abort();
	if (!rows_same(row->v, b))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;

	if (!size)
		return 0;
	rows_look(data[0] == 'm' ? &family_multi : &family_swebench, "fuzz", (const char *)data + 1,
		  size - 1, on_row, NULL, &err);
	return 0;
}
