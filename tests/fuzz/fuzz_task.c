/* A task file of arbitrary bytes: read, looked at, freed. No directory, so that nothing but the
 * bytes themselves is ever read. */
#include <stdlib.h>

#include "profiles/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct task *x = NULL;
	struct err err = { 0 };
	int rc = task_parse("input", (const char *)data, size, NULL, &x, &err);

	/* What everybody after this relies on. */
	if (rc == 0 && (!x->instance_id[0] || x->source[0] == '.' || x->workdir[0] != '/' ||
			!x->problem_statement || !x->test.reader || !x->test.timeout))
		abort();
	if (rc < 0 && (x || err.code != ERR_INPUT || !err.text[0]))
		abort();
	task_free(x);
	return 0;
}
