/* A user's line of arbitrary bytes: what is understood is bounded and consistent. The first byte says whether a model
 * wrote it. */
#include <stdlib.h>
#include <string.h>

#include "supervisor/userline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct userline_answer a;

	if (!size)
		return 0;
	userline_read((const char *)data + 1, size - 1, data[0] & 1, &a);
	if (a.action >= USER_ACTIONS || !userline_name(a.action))
		abort();
	if (a.wrong && (a.text || a.action != USER_NO_OP))
		abort();
	if (a.text && (a.action == USER_NO_OP || strlen(a.text) > USERLINE_TEXT_MAX))
		abort();
	if (a.note && strlen(a.note) > USERLINE_NOTE_MAX)
		abort();
	userline_done(&a);
	return 0;
}
