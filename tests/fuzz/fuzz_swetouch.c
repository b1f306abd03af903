/* Shell text of the agent's, and output of its commands. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "triggers/swetouch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = size ? mem_strndup((const char *)data, size) : mem_strdup("");
	char *const argv[] = { (char *)"sh", (char *)"-c", text, NULL };
	struct swetouch t = { .v = NULL };

	swetouch_command(&t, argv);
	swetouch_output(&t, argv, text, strlen(text));
	if (t.n > SWETOUCH_EVENTS_MAX)
		abort();
	for (size_t i = 0; i < t.n; i++) {
		if (!t.v[i].path || (t.v[i].edit && t.v[i].first))
			abort();
		(void)swetouch_same_path(t.v[i].path, "src/a.c", NULL); /* must only end */
	}
	swetouch_done(&t);
	return 0;
}
