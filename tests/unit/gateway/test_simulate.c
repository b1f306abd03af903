/* The simulated user in the gateway: the question, what becomes of each answer, record and meter; what
 * the agent did last; the conversation with the supervisor. */
#include "gateway/simulate.h"

#include <event2/event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "gateway/lastcall.h"
#include "gateway/record.h"
#include "gateway/replay.h"
#include "gateway/script.h"
#include "gateway/simlink.h"
#include "tests/lib/tap.h"
#include "tests/unit/gateway/api_scene.h"

#define USAGE "\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":50,\"total_tokens\":1050}"
#define ANSWER(text, finish)                                                                       \
	"{\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":"           \
	"\"assistant\",\"content\":" text "},\"finish_reason\":\"" finish "\"}]," USAGE "}"

/* A source that the test plays: what is to be answered is known beforehand. */
struct answer {
	int status;
	const char *body, *why;
	bool reached, final, end_run, never;
};

struct world {
	struct event_base *base;
	struct simulator sim;
	struct model model;
	struct simulate *s;
	struct simulate_ops ops;
	const struct answer *answers;
	size_t next;
	char *asked; /* owned: the last body */
	uint64_t call;
	unsigned n_said, n_mismatch, n_failed, cancelled;
	struct simulate_said said;
	char *text; /* owned: of said */
	struct buf unmet;
	int record;
};

static void play(void *impl, const struct ask *a)
{
	struct world *w = impl;
	const struct answer *n = &w->answers[w->next++];
	struct reply r = { .body = BUF_INIT(API_BODY_MAX),
			   .tries = 1,
			   .status = n->status,
			   .reached = n->reached,
			   .final = n->final,
			   .end_run = n->end_run };

	free(w->asked);
	w->asked = mem_strndup(a->body, a->n);
	w->call = a->call;
	tap_ok(a->purpose == PURPOSE_SIMULATOR && !a->q->stream && a->deadline > clock_mono(),
	       "asked as what it is, with an end");
	if (n->never)
		return;
	buf_adds(&r.body, n->body ? n->body : "");
	snprintf(r.why, sizeof(r.why), "%s", n->why ? n->why : "");
	source_answer(a, &r);
}

static void play_cancel(void *impl, const struct ask *a)
{
	struct world *w = impl;
	struct reply r = { .body = BUF_INIT(0), .reached = true };

	w->cancelled++;
	a->done(a->arg, &r);
}

static void play_free(void *impl)
{
	(void)impl;
}

static const struct source_ops played = { "live", play, play_cancel, NULL, play_free };

static void on_said(void *arg, const struct simulate_said *d)
{
	struct world *w = arg;

	w->n_said++;
	w->said = *d;
	free(w->text);
	w->text = d->text ? mem_strndup(d->text, d->n) : NULL;
}

static void on_mismatch(void *arg, const char *difference)
{
	(void)difference;
	((struct world *)arg)->n_mismatch++;
}

static void on_unmet(void *arg, const char *text)
{
	buf_adds(&((struct world *)arg)->unmet, text);
}

static void on_failed(void *arg, const char *why)
{
	tap_diag("%s", why);
	((struct world *)arg)->n_failed++;
}

static void world_open(struct world *w, struct source source)
{
	static char name[] = "m", prompt[] = "Be \"brief\".\n";
	struct err err = { 0 };
	static const char table[] =
		"{\"schema\":\"proctor.prices/1\",\"prices\":[{\"model\":\"m\",\"input\":\"2.00\","
		"\"output\":\"10.00\"}]}";

	*w = (struct world){ .base = event_base_new(), .unmet = BUF_INIT(4096) };
	w->sim = (struct simulator){ .model = &w->model,
				     .name = name,
				     .prompt = prompt,
				     .temperature = 0.2,
				     .max_tokens = 220,
				     .timeout = 60 * CLOCK_SEC,
				     .whole = 90 * CLOCK_SEC,
				     .retries = 1 };
	if (prices_parse("prices", table, sizeof(table) - 1, &w->sim.prices, &err) < 0)
		abort();
	w->ops = (struct simulate_ops){ on_said, on_mismatch, on_unmet, on_failed, w };
	w->record = memfd_create("record", MFD_CLOEXEC);
	w->s = simulate_new(&(struct simulate_spec){
		.base = w->base,
		.sim = &w->sim,
		.source = source.ops == &played ? (struct source){ w, &played } : source,
		.ops = &w->ops,
		.record_fd = w->record });
}

static void world_close(struct world *w)
{
	simulate_free(w->s);
	event_base_free(w->base);
	prices_free(w->sim.prices);
	buf_done(&w->unmet);
	free(w->asked);
	free(w->text);
	close(w->record);
}

/* Until @n were told, or a long time has passed. */
static void until(struct world *w, unsigned n)
{
	uint64_t end = clock_mono() + 20 * CLOCK_SEC;

	while (w->n_said < n && clock_mono() < end)
		event_base_loop(w->base, EVLOOP_ONCE);
}

static char *record_of(const struct world *w, size_t *n)
{
	struct buf b = BUF_INIT(16 << 20);

	lseek(w->record, 0, SEEK_SET);
	if (fd_read_all(w->record, &b) < 0)
		abort();
	return buf_steal(&b, n);
}

static void test_question(void)
{
	static const struct answer answers[] = { { 200, ANSWER("\" Keep it. \"", "stop") } };
	struct world w;
	auto_free char *record = NULL;
	size_t n;

	world_open(&w, (struct source){ NULL, &played });
	w.answers = answers;
	simulate_ask(w.s, 1, "Context \"x\"\n\xff.", 14);
	tap_is_u64(w.n_said, 0, "nothing is told before the question has returned");
	until(&w, 1);
	tap_is_str(w.asked,
		   "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be "
		   "\\\"brief\\\".\\n\"},{\"role\":\"user\",\"content\":\"Context "
		   "\\\"x\\\"\\n\xef\xbf\xbd.\"}],\"temperature\":0.2,\"max_tokens\":220,"
		   "\"stream\":false}",
		   "the question");
	tap_is_str(w.text, " Keep it. ", "the text as it came");
	tap_ok(strlen(w.said.raw_sha256) == 64 && !w.said.why[0], "with its digest");
	tap_is_u64(w.said.usage.input, 1000, "input tokens");
	tap_is_u64(w.said.usage.output, 50, "output tokens");
	tap_is_u64(w.said.micro, 2500, "and what they cost");
	tap_ok(w.said.usage.known && w.said.billed == 1 && w.said.tries == 1, "in one try");
	record = record_of(&w, &n);
	tap_ok(strstr(record, "\"purpose\":\"simulator\",\"source\":\"live\"") &&
		       strstr(record, "\"micro_dollars\":2500"),
	       "it is recorded as a model's call is");
	world_close(&w);
}

/* clang-format off */
/* One failure each: what is said of it and how often it is tried. */
static const struct {
	struct answer first, second;
	const char *why;
	unsigned tries, billed;
} failures[] = {
	{ { 0, NULL, "no answer came in time", true }, { 0, NULL, "connection refused" }, "no answer", 2, 1 },
	{ { 500, "{\"error\":{\"message\":\"x\"}}" }, { 500, "" }, "HTTP status 500", 2, 0 },
	{ { 429, "{}" }, { 503, "{}" }, "HTTP status 503", 2, 0 },
	{ { 401, "{\"error\":{\"message\":\"bad key\"}}" }, { 0 }, "HTTP status 401", 1, 0 },
	{ { 302, "" }, { 0 }, "HTTP status 302", 1, 0 },
	{ { 200, "{\"choices\":[{\"index\":0,\"mess", "transfer closed" }, { 200, "" }, "the answer broke off", 2, 2 },
	{ { 200, "<html></html>" }, { 200, "[]" }, "the answer broke off", 2, 2 },
	{ { 200, "{\"error\":{\"message\":\"overloaded\"}}" }, { 200, "{\"error\":\"again\"}" }, "an error instead of an answer", 2, 2 },
	{ { 200, ANSWER("\"Keep\"", "length") }, { 0 }, "cut at its limit of tokens", 1, 1 },
	{ { 200, ANSWER("\"\"", "content_filter") }, { 0 }, "held back by the endpoint", 1, 1 },
	{ { 200, ANSWER("\" \\n\"", "stop") }, { 0 }, "empty", 1, 1 },
	{ { 200, ANSWER("null", "tool_calls") }, { 0 }, "empty", 1, 1 },
};
/* clang-format on */

static void test_failures(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		struct answer two[] = { failures[i].first, failures[i].second };
		struct world w;

		world_open(&w, (struct source){ NULL, &played });
		w.answers = two;
		simulate_ask(w.s, 1, "x", 1);
		until(&w, 1);
		tap_is_str(w.said.why, failures[i].why, failures[i].why);
		tap_ok(!w.text, "there is no text");
		tap_is_u64(w.said.tries, failures[i].tries, "tries");
		tap_is_u64(w.said.billed, failures[i].billed, "of which may be billed");
		world_close(&w);
	}
}

static void test_second_try(void)
{
	static const struct answer answers[] = { { 503, "{}" },
						 { 200, ANSWER("\"Keep it.\"", "stop") } };
	struct world w;

	world_open(&w, (struct source){ NULL, &played });
	w.answers = answers;
	simulate_ask(w.s, 1, "x", 1);
	until(&w, 1);
	tap_is_str(w.text, "Keep it.", "a second try helps");
	world_close(&w);
	/* No time for one. */
	world_open(&w, (struct source){ NULL, &played });
	w.answers = answers;
	w.sim.whole = 100 * CLOCK_MS;
	simulate_ask(w.s, 1, "x", 1);
	until(&w, 1);
	tap_is_str(w.said.why, "HTTP status 503", "unless there is no time for it");
	tap_is_u64(w.said.tries, 1, "and it is not waited for");
	world_close(&w);
}

static void test_too_much(void)
{
	auto_free char *long_text = mem_zalloc(SIMULATE_TEXT_MAX + 64, 1);
	auto_free char *huge = mem_zalloc(3 << 20, 1);
	auto_free char *body = NULL;
	struct answer answers[] = { { 200, NULL }, { 200, huge }, { 200, huge } };
	struct world w;
	auto_free char *record = NULL;
	size_t n;

	long_text[0] = '"';
	memset(long_text + 1, 'a', SIMULATE_TEXT_MAX + 1);
	strcat(long_text, "\"");
	body = mem_printf("{\"choices\":[{\"index\":0,\"message\":{\"content\":%s},"
			  "\"finish_reason\":\"stop\"}]}",
			  long_text);
	answers[0].body = body;
	memset(huge, '[', (3 << 20) - 1);
	world_open(&w, (struct source){ NULL, &played });
	w.answers = answers;
	simulate_ask(w.s, 1, "x", 1);
	until(&w, 1);
	tap_is_str(w.said.why, "too long", "a novel is no message");
	tap_ok(strlen(w.said.raw_sha256) == 64, "its digest is told all the same");
	simulate_ask(w.s, 2, "x", 1);
	until(&w, 2);
	tap_is_str(w.said.why, "the answer broke off", "nor is an endless answer");
	record = record_of(&w, &n);
	tap_ok(n < (3 << 20), "of which not all is recorded");
	world_close(&w);
}

static void test_bye(void)
{
	static const struct answer answers[] = { { .never = true }, { .never = true } };
	struct world w;

	world_open(&w, (struct source){ NULL, &played });
	w.answers = answers;
	simulate_ask(w.s, 1, "x", 1);
	simulate_ask(w.s, 2, "y", 1);
	simulate_bye(w.s);
	tap_is_u64(w.n_said, 2, "at the end of the run what is under way is told");
	tap_is_u64(w.cancelled, 2, "and given up");
	tap_ok(w.said.billed == 1 && !w.said.usage.known && w.said.usage.input,
	       "as calls that may be billed, by estimate");
	world_close(&w);
}

static void test_many(void)
{
	struct answer never[SIMULATE_OPEN_MAX];
	struct world w;

	for (size_t i = 0; i < SIMULATE_OPEN_MAX; i++)
		never[i] = (struct answer){ .never = true };
	world_open(&w, (struct source){ NULL, &played });
	w.answers = never;
	for (unsigned i = 1; i <= SIMULATE_OPEN_MAX + 1; i++)
		simulate_ask(w.s, i, "x", 1);
	until(&w, 1);
	tap_is_u64(w.said.number, SIMULATE_OPEN_MAX + 1, "too many at once: the last is refused");
	tap_is_str(w.said.why, "no answer", "as one that nobody answered");
	world_close(&w);
}

/* A script counts its turns; its record gives the same again, failures included. */
static void test_script_and_replay(void)
{
	static const char text[] =
		"{\"schema\":\"proctor.script/1\",\"turns\":[{\"text\":\"One.\"},{\"text\":\"Two.\","
		"\"fault\":{\"status\":500}},{\"text\":\"Three.\",\"expect\":{\"contains\":[\"third\"]}},"
		"{\"text\":\"Four.\",\"expect\":{\"contains\":[\"nowhere\"]}}]}";
	static const char *const contexts[] = { "a first", "a second", "a third" };
	static const char *const want[] = { "One.", NULL, "Three." };
	const struct agent agent = { .name = (char[]){ "a" } };
	struct err err = { 0 };
	struct source source = { 0 };
	struct world w;
	auto_free char *record = NULL;
	size_t n;

	if (script_open("s.json", text, sizeof(text) - 1, &agent, "/w", NULL, &source, &err) < 0)
		abort();
	world_open(&w, source);
	for (unsigned i = 0; i < 3; i++) {
		simulate_ask(w.s, i + 1, contexts[i], strlen(contexts[i]));
		until(&w, i + 1);
		tap_is_str(w.text, want[i], contexts[i]);
	}
	simulate_bye(w.s);
	tap_is_str(buf_str(&w.unmet), "simulator: turn 4: never reached", "what was not met");
	record = record_of(&w, &n);
	world_close(&w);
	source = (struct source){ 0 };
	if (replay_open("r.jsonl", record, n, false, UINT64_MAX, (struct source){ 0 }, &source,
			&err) < 0)
		abort();
	world_open(&w, source);
	for (unsigned i = 0; i < 3; i++) {
		simulate_ask(w.s, i + 1, contexts[i], strlen(contexts[i]));
		until(&w, i + 1);
		tap_is_str(w.text, want[i], "the record says the same");
		if (i == 1)
			tap_is_str(w.said.why, "HTTP status 500", "for the same reason");
	}
	tap_is_u64(w.n_mismatch, 0, "and nothing differs");
	simulate_ask(w.s, 4, "more", 4);
	until(&w, 4);
	tap_ok(w.n_mismatch == 1 && !w.text, "a fourth was not recorded: the run cannot go on");
	world_close(&w);
}

static void test_empty_record(void)
{
	for (int loose = 0; loose < 2; loose++) {
		static char file[] = "r.jsonl";
		struct world w;

		world_open(&w, (struct source){ 0 });
		w.model.loose = loose;
		w.model.file = file;
		simulate_ask(w.s, 1, "x", 1);
		until(&w, 1);
		tap_is_str(w.said.why, "no answer", "a record without any message");
		tap_is_u64(w.n_mismatch, loose ? 0 : 1, "ends the run unless it is a loose one");
		world_close(&w);
	}
}

/* --- what the agent did last ------------------------------------------------------------------ */

/* clang-format off */
#define CALL(id, name, args) "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id "\",\"type\":\"function\"," \
	"\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}}]}"
#define RESULT(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define USER "{\"role\":\"user\",\"content\":\"do it\"}"

static const struct {
	const char *messages, *command, *output;
} lasts[] = {
	{ USER, NULL, NULL },
	{ USER "," CALL("1", "bash", "{\\\"command\\\":\\\"ls -l\\\"}") "," RESULT("1", "a\\nb"), "ls -l", "a\nb" },
	{ USER "," CALL("1", "sh", "{\\\"cmd\\\":[\\\"bash\\\",\\\"-lc\\\",\\\"ls\\\"]}") "," RESULT("1", "x"), "bash -lc ls", "x" },
	{ USER "," CALL("1", "read", "{\\\"path\\\":\\\"a\\\"}") "," RESULT("1", "x") "," USER, "read {\"path\":\"a\"}", "x" },
	{ USER "," CALL("1", "bash", "{\\\"command\\\":\\\"one\\\"}") "," CALL("2", "bash", "{\\\"command\\\":\\\"two\\\"}") ","
	  RESULT("2", "second") "," RESULT("1", "first"), "one", "first" },
	{ USER "," CALL("1", "bash", "not json") "," RESULT("1", ""), "bash not json", "" },
	{ USER "," RESULT("9", "alone"), "", "alone" },
	{ USER "," CALL("1", "bash", "{\\\"command\\\":\\\"waits\\\"}"), "waits", "" },
	{ USER "," CALL("1", "b", "{\\\"command\\\":[1,2]}") "," RESULT("1", "x"), "b {\"command\":[1,2]}", "x" },
};
/* clang-format on */

static void test_last(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(lasts); i++) {
		auto_free char *body =
			mem_printf("{\"model\":\"m\",\"messages\":[%s]}", lasts[i].messages);
		auto_buf command = BUF_INIT(LASTCALL_MAX), output = BUF_INIT(LASTCALL_MAX);
		struct api_request q;
		bool any;

		scene_read(&q, AGENT_API_CHAT, "/v1/chat/completions", body);
		any = lastcall_of(&q, &command, &output);
		tap_ok(any == (lasts[i].command != NULL), "row %zu: a call or none", i);
		tap_is_str(buf_str(&command), lasts[i].command ? lasts[i].command : "", "command");
		tap_is_str(buf_str(&output), lasts[i].output ? lasts[i].output : "", "output");
		api_request_done(&q);
	}
}

/* --- messages ---------------------------------------------------------------------------------- */

struct told {
	struct gw_msg m[64];
	unsigned n;
};

static void tell(void *arg, struct gw_msg *m)
{
	struct told *t = arg;

	if (t->n < ARRAY_SIZE(t->m))
		t->m[t->n++] = *m;
}

static void link_failed(void *arg, const char *why)
{
	(void)arg;
	tap_ok(false, "%s", why);
}

static void give(struct simlink *l, uint64_t number, uint64_t at, uint64_t total, uint32_t seq,
		 const char *text, size_t n)
{
	struct gw_msg m = { .type = GW_SIMULATE, .seq = seq, .v = { number, 0, at, total } };

	gw_text(&m, text, n);
	simlink_take(l, &m);
}

static void test_link(void)
{
	static const struct answer answers[] = { { 200, ANSWER("\"Keep it.\"", "stop") } };
	auto_free struct told *t = mem_zalloc(1, sizeof(*t));
	auto_free char *big = mem_zalloc(3000, 1);
	struct world w;
	struct simlink *l;
	struct api_request q;

	memset(big, 'c', 2500);
	world_open(&w, (struct source){ NULL, &played });
	w.answers = answers;
	l = simlink_new(&(struct simlink_spec){ .base = w.base,
						.sim = &w.sim,
						.source = { &w, &played },
						.record_fd = w.record,
						.tell = tell,
						.failed = link_failed,
						.arg = t });
	give(l, 1, 1024, 2500, 4, big + 1024, 1024); /* no beginning */
	give(l, 1, 0, 2500, 5, big, 1024);
	give(l, 2, 1024, 2500, 6, big, 1024); /* another's */
	give(l, 1, 2000, 2500, 7, big, 500);  /* a gap */
	give(l, 1, 1024, 2500, 8, big + 1024, 1024);
	tap_is_u64(w.next, 0, "nothing is asked before the context is whole");
	give(l, 1, 2048, 2500, 9, big + 2048, 452);
	for (int i = 0; i < 100 && !t->n; i++)
		event_base_loop(w.base, EVLOOP_ONCE);
	tap_ok(t->n == 2 && t->m[0].type == GW_SAID && t->m[0].n == 8 &&
		       memcmp(t->m[0].text, "Keep it.", 8) == 0,
	       "the text comes in parts");
	tap_ok(t->m[1].type == GW_SIMULATED && t->m[1].ref == 9 && t->m[1].v[GWS_NUMBER] == 1 &&
		       t->m[1].v[GWS_TEXT] == 8 && t->m[1].v[GWS_MICRO] == 2500,
	       "then what it was, as the answer to the question");
	tap_ok(t->m[1].text[0] == '\0' && strlen(t->m[1].text + 1) == 64, "with its digest");
	tap_ok(strstr(w.asked, "cccc\"}]") && strlen(w.asked) > 2500, "the context was whole");
	t->n = 0;
	memset(big, 'o', 2999);
	{
		auto_free char *body = mem_printf(
			"{\"model\":\"m\",\"messages\":[" USER "," CALL(
				"1", "bash",
				"{\\\"command\\\":\\\"ls\\\"}") ",{\"role\":\"tool\",\"tool_call_id\":"
								"\"1\",\"content\":\"%s\"}]}",
			big);

		scene_read(&q, AGENT_API_CHAT, "/v1/chat/completions", body);
		simlink_last(l, 7, &q);
		api_request_done(&q);
	}
	tap_ok(t->n == 4 && t->m[0].v[1] == GWL_COMMAND && t->m[0].n == 2 && t->m[3].v[2] == 2048 &&
		       t->m[3].v[3] == 2999 && t->m[3].n == 951 && t->m[3].v[0] == 7,
	       "what the agent did last, in parts");
	simlink_free(l);
	world_close(&w);
}

int main(void)
{
	test_question();
	test_failures();
	test_second_try();
	test_too_much();
	test_bye();
	test_many();
	test_script_and_replay();
	test_empty_record();
	test_last();
	test_link();
	return tap_done();
}
