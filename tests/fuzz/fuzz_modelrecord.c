/* A model record of arbitrary bytes: read and replayed; and the same bytes as the bodies of an exchange:
 * written and read back without loss. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "gateway/record.h"
#include "gateway/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_done(void *arg, struct reply *r)
{
	++*(unsigned *)arg;
	if (r->status == 0 && r->body.len)
		abort();
}

static void replay(const char *text, size_t n, bool loose)
{
	struct api_request q = { .api = api_of(AGENT_API_CHAT) };
	struct source s = { 0 };
	struct err err = { 0 };
	unsigned done = 0;
	struct ask a = {
		.q = &q, .canonical = "{}", .canonical_n = 2, .done = on_done, .arg = &done
	};

	if (replay_open("input", text, n, loose, UINT64_MAX, (struct source){ 0 }, &s, &err) < 0) {
		if (s.ops || err.code != ERR_INPUT || !err.text[0])
			abort();
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		a.purpose = (enum purpose)(i % PURPOSE_MAX);
		s.ops->ask(s.impl, &a);
		if (done != i + 1)
			abort();
	}
	source_done(&s);
}

static void round_trip(const char *text, size_t n)
{
	struct exchange_record r = { .call = 1,
				     .api = "a",
				     .path = "/",
				     .source = "live",
				     .request = text,
				     .request_n = n,
				     .canonical = text,
				     .canonical_n = n,
				     .answer = text,
				     .answer_n = n };
	auto_fd int fd = memfd_create("record", MFD_CLOEXEC);
	auto_buf b = BUF_INIT(64u << 20);
	struct recorded_list l = { 0 };
	struct err err;

	if (fd < 0 || record_write(fd, &r, &err) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	    fd_read_all(fd, &b) < 0)
		abort();
	if (record_read("own", buf_str(&b), b.len, &l, &err) < 0 || l.n != 1)
		abort();
	if (l.v[0].answer_n != n || l.v[0].canonical_n != n ||
	    (n && (memcmp(l.v[0].answer, text, n) || memcmp(l.v[0].canonical, text, n))))
		abort();
	recorded_done(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	replay((const char *)data, size, true);
	replay((const char *)data, size, false);
	round_trip((const char *)data, size);
	return 0;
}
