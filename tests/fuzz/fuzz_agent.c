/* A agent file of arbitrary bytes: read, looked at, freed. No directory, so that nothing but the
 * bytes themselves is ever read. */
#include <stdlib.h>

#include "profiles/agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent *x = NULL;
	struct err err = { 0 };
	int rc = agent_parse("input", (const char *)data, size, NULL, &x, &err);

	/* What everybody after this relies on. */
	if (rc == 0 && (!x->command.n || x->files.n != x->file_texts.n || !agent_via_name(x->via) ||
			!agent_api_name(x->api)))
		abort();
	if (rc < 0 && (x || err.code != ERR_INPUT || !err.text[0]))
		abort();
	agent_free(x);
	return 0;
}
