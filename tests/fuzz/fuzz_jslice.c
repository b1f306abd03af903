/* JSON of other programs: checked once, then every part of it can be walked over; texts come back as
 * they were read. */
#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct jslice v)
{
	auto_buf out = BUF_INIT(64u << 20);
	struct jslice again;
	size_t n, m;
	auto_free char *text = jslice_text(v, &n), *back = NULL;

	if (!text)
		abort();
	if (jslice_put(&out, text, n) < 0 ||
	    jslice_parse("put", buf_str(&out), out.len, &again, NULL) < 0)
		abort();
	back = jslice_text(again, &m);
	if (m != n || memcmp(text, back, n) != 0)
		abort();
}

/* Two levels are enough: deeper ones are the same code. */
static size_t walk(struct jslice v, unsigned level)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice key, value;
	size_t n = 0;

	while (jslice_member(&w, &key, &value)) {
		n++;
		if (!value.n || value.s < v.s || value.s + value.n > v.s + v.n)
			abort();
		if (key.n)
			check_text(key);
		if (jslice_kind(value) == '"')
			check_text(value);
		else if (level < 2)
			n += walk(value, level + 1);
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t at = 0;
	struct jslice v;
	struct err err;
	int rc;

	while ((rc = jslice_next("fuzz", text, size, &at, &v, &err)) > 0) {
		auto_buf raw = BUF_INIT(64u << 20);
		struct jslice again;

		if (!jslice_kind(v))
			abort();
		(void)jslice_get(v, "a");
		(void)jslice_twice(v);
		if (jslice_raw(&raw, v) < 0 ||
		    jslice_parse("raw", buf_str(&raw), raw.len, &again, &err) < 0)
			abort();
		if (walk(v, 0) != walk(again, 0))
			abort();
	}
	return rc < 0 && err.code != ERR_INPUT ? 1 : 0;
}
