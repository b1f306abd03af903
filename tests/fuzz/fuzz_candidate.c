/* A candidate as a model wrote it: read, or refused with a place; what was read is printed and read again, and
 * makes a scenario that can be read. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/candidate.h"
#include "study/craft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *object = craft_object((const char *)data, size);
	auto_buf text = BUF_INIT(64u << 20), scenario = BUF_INIT(64u << 20);
	struct candidate c, again;
	struct scenario *sc = NULL;
	struct err err;

	if (!object || candidate_parse("answer", object, strlen(object), &c, &err) < 0)
		return 0;
	candidate_print(&c, &text);
	if (candidate_parse("printed", buf_str(&text), text.len, &again, &err) < 0)
		abort();
	if (again.n_regions != c.n_regions || !str_eq(again.user_message, c.user_message))
		abort();
	candidate_done(&again);
	candidate_scenario(&c, "id", MODE_EDIT_MESSAGE, 3, c.region, c.n_regions, &scenario);
	/* an edit of one line would be taken for a file's name, and is refused */
	if (scenario_parse("made", buf_str(&scenario), scenario.len, NULL, &sc, &err) < 0 &&
	    err.code != ERR_INPUT)
		abort();
	scenario_free(sc);
	candidate_done(&c);
	return 0;
}
