/* Texts inside of rows and beside them, chosen by the first byte: lists in Python's spelling, YAML, eval scripts,
 * names of files in a test patch. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/import_rows_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void yaml(const char *text, size_t n)
{
	auto_buf out = BUF_INIT(64u << 20);
	struct jslice v;
	struct err err;

	if (yaml_json("fuzz", text, n, &out, &err) == 0 &&
	    jslice_parse("made", buf_str(&out), out.len, &v, &err) < 0)
		abort();
}

/* What repr() of Python would write, for strings that need no escape. */
static void pylist(const char *text)
{
	auto_strv list = { 0 };

	if (pylist_parse(text, &list) == 0)
		strv_each (i, &list)
			if (!list.v[i])
				abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = size ? mem_strndup((const char *)data + 1, size - 1) : NULL;
	char *made;

	if (!size)
		return 0;
	switch (data[0]) {
	case 'y':
		yaml((const char *)data + 1, size - 1);
		break;
	case 'p':
		pylist(text);
		break;
	case 'e':
		free(row_eval_command(text));
		break;
	default:
		made = row_files(text, data[0] == 'd' ? TESTSPEC_DJANGO : TESTSPEC_PATHS);
		if (strchr(made, '\n') && !strchr(made, '\''))
			abort();
		free(made);
	}
	return 0;
}
