/* Prints what the program knows in rows, for tests/lint/keys.py to hold against the documents:
 * every field of the input files (KIND <tab> PATH <tab> TYPE <tab> required|optional <tab> text),
 * every kind of trace record ("trace" <tab> NAME) and every layer ("layer" <tab> NAME). */
#include <stdio.h>

#include "base/buf.h"
#include "base/tracerec.h"
#include "profiles/profile.h"

int main(void)
{
	auto_buf out = BUF_INIT(1u << 20);

	profile_fields_doc(&out);
	for (int k = 0; k < TK_MAX; k++)
		buf_addf(&out, "trace\t%s\n", tracerec_name((enum trace_kind)k));
	for (int l = 0; l < LAYER_MAX; l++)
		buf_addf(&out, "layer\t%s\n", layer_name((enum layer)l));
	fputs(buf_str(&out), stdout);
	return 0;
}
