/* resume.c: the first main request is compared before anybody is asked; all others go through. */
#include "gateway/resume.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "gateway/record.h"
#include "tests/lib/tap.h"

#define FIRST "{\"messages\":[{\"content\":\"a\",\"role\":\"user\"}]}"
#define AFTER                                                                                      \
	"{\"messages\":[{\"content\":\"a\",\"role\":\"user\"},{\"content\":\"b\",\"role\":\"user\"}]}"
#define OTHER "{\"messages\":[{\"content\":\"z\",\"role\":\"user\"}]}"

static const struct api chat = { .name = "openai-chat" }, claude = { .name = "anthropic" };

struct got {
	unsigned n;
	int status;
	bool final, end_run;
	char why[512];
};

static void on_done(void *arg, struct reply *r)
{
	struct got *g = arg;

	g->n++;
	g->status = r->status;
	g->final = r->final;
	g->end_run = r->end_run;
	memcpy(g->why, r->why, sizeof(g->why));
}

static struct got ask(struct source *s, const struct api *api, enum purpose purpose,
		      const char *canonical)
{
	struct got g = { 0 };
	struct api_request q = { .api = api };
	struct ask a = { .q = &q,
			 .path = "/",
			 .canonical = canonical,
			 .canonical_n = strlen(canonical),
			 .purpose = purpose,
			 .done = on_done,
			 .arg = &g };

	s->ops->ask(s->impl, &a);
	return g;
}

static void then_ask(void *impl, const struct ask *a)
{
	struct reply r = { .status = 200, .body = BUF_INIT(100) };

	++*(unsigned *)impl;
	source_answer(a, &r);
}

static void then_free(void *impl)
{
	*(unsigned *)impl += 1000;
}

static const struct source_ops then_ops = { .name = "live", .ask = then_ask, .free = then_free };

static char *record(size_t *n)
{
	static const enum purpose purposes[] = { PURPOSE_SIDE, PURPOSE_MAIN };
	auto_fd int fd = memfd_create("model.jsonl", MFD_CLOEXEC);
	auto_buf b = BUF_INIT(1 << 20);
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(purposes); i++) {
		struct exchange_record r = { .call = i + 1,
					     .api = "openai-chat",
					     .path = "/",
					     .purpose = purposes[i],
					     .source = "live",
					     .request = "{}",
					     .request_n = 2,
					     .canonical = FIRST,
					     .canonical_n = strlen(FIRST),
					     .status = 200,
					     .answer = "{}",
					     .answer_n = 2,
					     .micro = UINT64_MAX };

		if (record_write(fd, &r, &err) < 0)
			abort();
	}
	if (lseek(fd, 0, SEEK_SET) < 0 || fd_read_all(fd, &b) < 0)
		abort();
	return buf_steal(&b, n);
}

/* clang-format off */
static const struct {
	const char *what;
	bool same;
	const struct api *api;
	const char *first, *why; /* NULL = it is passed on */
} cases[] = {
	{ "goes on", false, &chat, AFTER, NULL },
	{ "another conversation", false, &chat, OTHER, "does not go on with call 2 of model.jsonl: messages, entry 1" },
	{ "the same request", true, &chat, FIRST, NULL },
	{ "longer than the same", true, &chat, AFTER, "is not call 2 of model.jsonl: $.messages[1]" },
	{ "another API", false, &claude, AFTER, "API: recorded openai-chat, now anthropic" },
};
/* clang-format on */

static void one(const char *text, size_t n, size_t i)
{
	unsigned asked = 0;
	struct source s = { 0 }, then = { &asked, &then_ops };
	struct err err = { 0 };
	struct got g;

	if (!tap_ok(resume_open("model.jsonl", text, n, 2, cases[i].same, then, &s, &err) == 0,
		    "%s: opened %s", cases[i].what, err.text))
		return;
	g = ask(&s, cases[i].api, PURPOSE_SIDE, OTHER);
	tap_ok(g.n == 1 && g.status == 200 && asked == 1, "%s: side calls go through",
	       cases[i].what);
	g = ask(&s, cases[i].api, PURPOSE_MAIN, cases[i].first);
	if (cases[i].why) {
		tap_ok(g.n == 1 && !g.status && g.final && g.end_run && asked == 1,
		       "%s: the run ends, nobody was asked", cases[i].what);
		tap_ok(strstr(g.why, cases[i].why) != NULL, "%s: %s", cases[i].what, g.why);
	} else {
		tap_ok(g.status == 200 && asked == 2, "%s: passed on", cases[i].what);
		g = ask(&s, cases[i].api, PURPOSE_MAIN, OTHER);
		tap_ok(g.status == 200 && asked == 3, "%s: later ones are not compared",
		       cases[i].what);
	}
	tap_is_str(s.ops->behind(s.impl), "live", "who answers is named");
	source_done(&s);
	tap_ok(asked >= 1000, "%s: what answers is freed", cases[i].what);
}

int main(void)
{
	size_t n;
	auto_free char *text = record(&n);
	unsigned asked = 0;
	struct source s = { 0 }, then = { &asked, &then_ops };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		one(text, n, i);
	tap_ok(resume_open("m", text, n, 1, false, then, &s, &err) == -ERR_INPUT &&
		       strstr(err.text, "no request of the main conversation with number 1"),
	       "a side call: %s", err.text);
	tap_is_u64(asked, 1000, "what would answer is freed all the same");
	tap_ok(resume_open("m", text, n, 2, false, (struct source){ 0 }, &s, &err) == -ERR_INPUT,
	       "nobody answers: %s", err.text);
	tap_ok(resume_open("m", "x\n", 2, 2, false, (struct source){ 0 }, &s, &err) == -ERR_INPUT,
	       "no record: %s", err.text);
	return tap_done();
}
