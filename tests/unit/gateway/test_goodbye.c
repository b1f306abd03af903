/* The box is dead while calls are under way: each is recorded once and told of once. */
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/server.h"
#include "tests/lib/tap.h"
#include "tests/unit/gateway/server_world.h"

/* Lines of the record. */
static unsigned lines(const struct world *w)
{
	static char b[1 << 20];
	ssize_t n = pread(w->record, b, sizeof(b) - 1, 0);
	unsigned k = 0;

	for (ssize_t i = 0; i < n; i++)
		k += b[i] == '\n';
	return k;
}

static void source_cancel(void *impl, const struct ask *a)
{
	struct world *w = impl;

	for (unsigned i = 0; i < w->n_asked; i++) {
		if (w->asked[i].a != a)
			continue;
		w->asked[i].r.reached = true;
		give(w, i, 0, "", false);
	}
}

static const struct source_ops live = {
	.name = "test", .ask = source_ask, .cancel = source_cancel, .free = source_free
};

/* @answered: the answer is there, but the loop has not come to it. */
static void one(bool cancels, bool answered, unsigned billed)
{
	struct server_spec spec;
	struct err err = { 0 };
	struct world w;
	int c;

	world_open(&w);
	spec = (struct server_spec){ .base = w.base,
				     .listen_fd = w.listen_fd,
				     .plan = &w.plan,
				     .source = { .impl = &w,
						 .ops = cancels ? &live : &test_source },
				     .ops = &w.ops,
				     .record_fd = w.record,
				     .start = clock_mono() };
	w.server = server_free(w.server);
	tap_ok(server_new(&spec, &w.server, &err) == 0, "server %s", err.text);
	w.auto_go = true;
	c = client(&w);
	post(c, CHAT, body_of("a", false));
	until(&w, &w.n_asked, 1);
	if (answered)
		give(&w, 0, 200, CHAT_TEXT, false);
	server_bye(w.server);
	settle_down(&w);
	tap_is_u64(w.n_answers, 1, "told once");
	tap_is_u64(lines(&w), 1, "recorded once");
	tap_is_u64(w.answer.billed, billed, "billed");
	close(c);
	world_close(&w);
}

/* A try was billed and the next one is being waited for. */
static void test_pause(void)
{
	uint64_t end;
	struct world w;
	int c;

	world_open(&w);
	w.auto_go = true;
	c = client(&w);
	post(c, CHAT, body_of("a", true));
	until(&w, &w.n_asked, 1);
	give(&w, 0, 200, SSE_CUT, true);
	settle_down(&w);
	server_bye(w.server);
	tap_is_u64(w.n_answers, 1, "told of in its pause");
	end = clock_mono() + 700 * CLOCK_MS; /* longer than the pause */
	while (clock_mono() < end)
		turn(&w);
	tap_is_u64(w.n_asked, 1, "and not asked again");
	tap_is_u64(lines(&w), 1, "recorded once");
	close(c);
	world_close(&w);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	one(false, false, 1);
	one(false, true, 1);
	one(true, false, 1);
	one(true, true, 1);
	test_pause();
	return tap_done();
}
