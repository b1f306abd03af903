/* Connections to a PostgreSQL server of arbitrary bytes, from the client (first byte even) or the server (odd): no crash, no
 * standstill, and the same is told and passed on however the bytes come in pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "services/pgwire_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(bool front, const uint8_t *p, size_t n, size_t piece, struct buf *log)
{
	struct pgwire *w = mem_zalloc(1, sizeof(*w));
	size_t have = 0, at = 0, passed = 0;

	for (;;) {
		struct pgwire_event ev = { 0 };
		size_t take = 0;
		size_t look = have - at < PGWIRE_STARTUP_MAX ? have - at : PGWIRE_STARTUP_MAX;
		enum pgwire_does does = front ? pgwire_front(w, p + at, look, &take, &ev)
					      : pgwire_back(w, p + at, look, &take, &ev);

		if (take > look || (does == PGWIRE_MORE && (take || look == PGWIRE_STARTUP_MAX)) ||
		    (does == PGWIRE_PASS && !take))
			abort();
		if (does == PGWIRE_TELL && (!ev.name || strlen(ev.text) >= sizeof(ev.text)))
			abort();
		if (does == PGWIRE_BAD || (does == PGWIRE_MORE && have == n)) {
			buf_addf(log, "%d", does == PGWIRE_BAD);
			break;
		}
		if (does == PGWIRE_MORE)
			have = have + piece < n ? have + piece : n;
		if (does == PGWIRE_TELL)
			buf_addf(log, "%zu %s %s %s %d\n", passed, ev.name, ev.method, ev.text,
				 ev.mutating);
		at += take;
		passed += take;
	}
	free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t pieces[] = { 1, 7, 1 << 20 };
	struct buf log[3] = { BUF_INIT(16u << 20), BUF_INIT(16u << 20), BUF_INIT(16u << 20) };

	if (size < 1)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		run(data[0] % 2 == 0, data + 1, size - 1, pieces[i], &log[i]);
	for (size_t i = 1; i < ARRAY_SIZE(pieces); i++) {
		if (log[i].len != log[0].len ||
		    memcmp(buf_str(&log[i]), buf_str(&log[0]), log[0].len) != 0)
			abort();
	}
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		buf_done(&log[i]);
	return 0;
}
