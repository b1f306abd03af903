/* The log parsers of verifier/compat.h, the rules about whole logs, and the rules by which listed
 * names are matched (verifier/match.h). The first byte chooses the parser, the second one the
 * version of the project; names that are asked for are pieces of the log. Whatever comes in: no
 * crash, spans inside the log, each name found again, and by its front only where the rule allows
 * it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/compat.h"
#include "verifier/match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ASKED = 64 };

static void must(bool fine)
{
	if (!fine)
		abort();
}

/* Ask for some results by name and by the front of their names. */
static void ask(const struct test_results *r, bool whole)
{
	const struct match_ask how[] = { { .root = "/workspace", .f2p = true },
					 { .root = "/workspace", .fail_only = true } };
	static const struct strv none = { NULL, 0, 0 };
	const struct strv *const lists[2] = { &none, &none };
	struct match_index *x = match_open(r, whole);

	for (size_t i = 0; i < r->n && i < ASKED; i++) {
		const char *name = r->v[i].name;
		struct match m, e;

		match_compat(x, &how[i % 2], name, &m);
		match_exact(r, "/workspace", lists, name, &e);
		must(m.how != MATCH_AMBIGUOUS || !m.passed);
		(void)match_why(x, name, &m, &e);
		for (size_t n = strlen(name); n > 1; n /= 2) {
			auto_free char *front = mem_strndup(name, n);

			match_compat(x, &how[0], front, &m);
			must(m.status != TEST_MISSING || m.how == MATCH_ABSENT ||
			     m.how == MATCH_AMBIGUOUS || m.how == MATCH_NAME ||
			     m.how == MATCH_ROOT || m.how == MATCH_CUT || m.how == MATCH_PREFIX);
			must(!m.passed || m.how != MATCH_ABSENT);
		}
	}
	match_close(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const versions[] = { NULL, "1.27", "9.5", "2.1" };
	const struct testlog_reader *row = compat_readers;
	struct testlog_input in = { .root = "/workspace", .instance_id = "x__x-1" };
	struct test_results r = { 0 };
	struct compat_log log;
	struct err err = { 0 };
	size_t n = 0;

	if (size < 2)
		return 0;
	while (compat_readers[n].name)
		n++;
	row = &compat_readers[data[0] % n];
	in.version = versions[data[1] % 4];
	in.exit_status = data[1] / 4 % 2;
	in.log = (const char *)data + 2;
	in.log_len = size - 2;
	compat_markers(&in, &log);
	must(log.from <= log.to && log.to <= in.log_len && log.found == !log.reason);
	if (!log.found)
		log = (struct compat_log){ .found = true, .to = in.log_len };
	must(compat_read(row, &in, &log, &r, &err) == 0);
	compat_judge(&in, &r, &log);
	for (size_t i = 0; i < r.n; i++)
		must(r.v[i].from <= r.v[i].to && r.v[i].to <= in.log_len &&
		     testlog_get(&r, r.v[i].name) == &r.v[i]);
	ask(&r, data[1] & 1);
	testlog_done(&r);
	return 0;
}
