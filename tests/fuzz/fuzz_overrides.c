/* A file of people's labels of arbitrary bytes. */
#include <stdlib.h>
#include <string.h>

#include "study/label.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct label_overrides o = { 0 };
	struct label_key key = { .run = (char *)"r", .instance_id = (char *)"t" };
	struct label l = { .human = FAILURE_MAX };
	struct err err = { 0 };

	if (label_overrides_parse("input", (const char *)data, size, &o, &err) < 0) {
		if (o.v || err.code != ERR_INPUT || !err.text[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < o.n; i++)
		if (o.v[i].label >= FAILURE_MAX || (!o.v[i].key.run && !o.v[i].key.instance_id))
			abort();
	if (label_override(&o, &key, &l) != (l.human < FAILURE_MAX))
		abort();
	label_done(&l);
	label_overrides_done(&o);
	return 0;
}
