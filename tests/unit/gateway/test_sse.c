/* sse.c: events whatever the line ends, comments, the end that cuts one off, and back. */
#include "gateway/sse.h"

#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

/* clang-format off */
static const struct {
	const char *text, *want; /* "type=data;" for each event, "CUT" at the end */
} rows[] = {
	{ "", "" },
	{ "data: a\n\n", "message=a;" },
	{ "data:a\r\n\r\ndata:  b\r\rdata: c\n\n", "message=a;message= b;message=c;" },
	{ "event: x\ndata: 1\ndata: 2\n\n", "x=1\n2;" },
	{ ": hello\n\nevent: ping\n\ndata: 1\n\n", "message=1;" },
	{ ": hello\ndata: 1\n: x\nid: 5\nretry: 3\nother: y\ndata\n\n", "message=1\n;" },
	{ "\xef\xbb\xbf" "data: a\n\n", "message=a;" },
	{ "data: a\n\ndata: b\n", "message=a;message=b;CUT" },
	{ "data: a\n\ndata: b", "message=a;message=b;CUT" },
	{ "data: a\n\nevent: x", "message=a;" },
	{ "data\n\n", "message=;" },
	{ "event:\ndata: a\n\n", "message=a;" },
	{ "datax: a\n\n", "" },
};
/* clang-format on */

static void splitting(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sse s = { rows[i].text, strlen(rows[i].text), 0 };
		auto_buf scratch = BUF_INIT(100), got = BUF_INIT(1000);
		auto_free char *name = mem_printf("stream %zu", i);
		struct sse_event ev;
		bool cut = false;

		while (sse_next(&s, &scratch, &ev, &cut))
			buf_addf(&got, "%s=%s;", ev.type, ev.data);
		if (cut)
			buf_adds(&got, "CUT");
		tap_is_str(buf_str(&got), rows[i].want, name);
	}
}

int main(void)
{
	static const char noisy[] = ": a\n\nevent: x\n: b\ndata: 1\n\n: c\r\n\r\n\ndata: 2\n\n: d";
	static const char long_one[] = "data: 0123456789\n\ndata: 1\n\n";
	auto_buf out = BUF_INIT(1000), small = BUF_INIT(8);
	struct sse s = { long_one, sizeof(long_one) - 1, 0 };
	struct sse_event ev;
	bool cut = false;

	splitting();
	tap_ok(sse_clean(noisy, sizeof(noisy) - 1, &out) == 0, "cleaned");
	tap_is_str(buf_str(&out), "event: x\ndata: 1\n\ndata: 2\n\n", "without comments");
	tap_ok(sse_clean(noisy, sizeof(noisy) - 1, &small) < 0, "a full buffer is told");
	buf_clear(&out);
	sse_write(&out, "x", "1\n2");
	sse_write(&out, NULL, "3");
	tap_is_str(buf_str(&out), "event: x\ndata: 1\ndata: 2\n\ndata: 3\n\n", "written");
	buf_clear(&small);
	tap_ok(sse_next(&s, &small, &ev, &cut) == 1 && cut && ev.n == 0, "an event has a maximum");
	tap_ok(sse_next(&s, &small, &ev, &cut) == 1 && !strcmp(ev.data, "1"),
	       "the next one is read");
	return tap_done();
}
