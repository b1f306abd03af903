/* simulator.c: what --simulator says, with the values of the profile and the prompt; its keys; what the
 * plan prints of it. */
#include "profiles/simulator.h"

#include <string.h>

#include "base/str.h"
#include "profiles/plan.h"
#include "tests/unit/profiles/scene.h"

static struct profile *profile_of(const char *dir, const char *text, struct err *err)
{
	struct profile *p = NULL;
	auto_free char *whole = mem_printf("{ \"schema\": \"proctor.profile/1\"%s%s }",
					   *text ? ", \"simulator\": " : "", text);

	*err = (struct err){ 0 };
	return profile_parse("p.json", whole, strlen(whole), dir, &p, err) == 0 ? p : NULL;
}

static void test_values(const char *dir)
{
	/* clang-format off */
	static const struct {
		const char *text, *why; /* NULL = fine */
	} rows[] = {
		{ "{}", NULL },
		{ "{ \"temperature\": 0 }", NULL }, { "{ \"temperature\": 2 }", NULL },
		{ "{ \"temperature\": -0.1 }", "$.simulator.temperature: expected 0 to 2" },
		{ "{ \"temperature\": 2.01 }", "$.simulator.temperature: expected 0 to 2" },
		{ "{ \"temperature\": \"low\" }", "$.simulator.temperature: expected a number" },
		{ "{ \"max_tokens\": 1 }", NULL }, { "{ \"max_tokens\": 1000 }", NULL },
		{ "{ \"max_tokens\": 0 }", "expected 1 to 1000" }, { "{ \"max_tokens\": 1001 }", "expected 1 to 1000" },
		{ "{ \"timeout\": \"1h\" }", NULL }, { "{ \"timeout\": 0 }", "more than 0" },
		{ "{ \"timeout\": \"61m\" }", "at most \"1h\"" },
		{ "{ \"retries\": 100 }", NULL }, { "{ \"retries\": 101 }", "more than 100" },
		{ "{ \"prompt\": \"mine.txt\" }", NULL }, { "{ \"prompt\": \"\" }", NULL },
		{ "{ \"promt\": \"x\" }", "did you mean \"prompt\"" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err;
		struct profile *p = profile_of(dir, rows[i].text, &err);

		tap_ok(rows[i].why ? !p && strstr(err.text, rows[i].why) != NULL : p != NULL,
		       "%s %s", rows[i].text, err.text);
		profile_free(p);
	}
}

static void test_set(const char *dir)
{
	struct err err;
	struct profile *p = profile_of(dir, "", &err);

	tap_ok(p && p->sim_temperature > 0.19 && p->sim_temperature < 0.21 &&
		       p->sim_max_tokens == 220 && p->sim_timeout == 60 * 1000000000ull,
	       "the values of the study are the default");
	tap_ok(plan_set(p, "simulator.temperature=0.75", &err) == 0 && p->sim_temperature > 0.74 &&
		       p->sim_temperature < 0.76,
	       "--set takes a number with a fraction");
	tap_ok(plan_set(p, "simulator.temperature=1", &err) == 0 && p->sim_temperature > 0.99,
	       "and one without");
	for (const char *const *bad =
		     (const char *const[]){ "1.", ".5", "1e1", "-1", "0x1", "", NULL };
	     *bad; bad++) {
		auto_free char *text = mem_printf("simulator.temperature=%s", *bad);

		tap_ok(plan_set(p, text, &err) == -ERR_USAGE, "%s: %s", text, err.text);
	}
	profile_free(p);
}

static void test_load(const char *dir)
{
	static const char text[] = "Be brief.\n";
	struct err err;
	struct profile *p = profile_of(dir, "{ \"prompt\": \"mine.txt\", \"retries\": 3 }", &err);
	struct simulator *sim = NULL;
	auto_buf b = BUF_INIT(1 << 20);
	struct json_w w = { .b = &b };
	char sum[DIGEST_HEX];

	scene_add(dir, "mine.txt", text);
	tap_ok(simulator_load("http://127.0.0.1:1/v1#sim-1", dir, p, &sim, &err) == 0,
	       "an endpoint %s", err.text);
	tap_is_str(sim->name, "sim-1", "its model");
	tap_is_str(sim->prompt, text, "its prompt");
	tap_is_str(sim->prompt_sha256, digest_bytes(text, strlen(text), sum), "by digest");
	tap_ok(sim->retries == 3 && sim->whole == 90 * 1000000000ull, "and its values");
	json_open(&w, NULL, '{');
	simulator_print(sim, &w);
	json_close(&w, '}');
	tap_ok(strstr(buf_str(&b), sum) &&
		       strstr(buf_str(&b), "\"temperature\":0.2,\"max_tokens\":220,"
					   "\"timeout_ns\":60000000000") &&
		       !strstr(buf_str(&b), "brief"),
	       "the plan has all of it: %s", buf_str(&b));
	tap_ok(simulator_check(sim, &err) == 0, "the prompt is as it was");
	scene_add(dir, "mine.txt", "Be long.\n");
	tap_ok(simulator_check(sim, &err) == -ERR_INPUT && strstr(err.text, "make the plan again"),
	       "until somebody changes it: %s", err.text);
	tap_ok(simulator_check(NULL, &err) == 0, "without a simulator there is none");
	simulator_free(sim);
	profile_free(p);
}

static void test_shipped(const char *dir)
{
	struct err err;
	struct profile *p = profile_of(dir, "", &err);
	struct simulator *sim = NULL;

	scene_add(dir, "s.json", "{ \"schema\": \"proctor.script/1\", \"turns\": [] }");
	tap_ok(simulator_load("script:s.json", dir, p, &sim, &err) == 0, "the shipped prompt %s",
	       err.text);
	tap_ok(strlen(sim->prompt) > 500 && !strcasestr(sim->prompt, "simulat") &&
		       !strcasestr(sim->prompt, "benchmark"),
	       "says nothing of a simulation itself");
	tap_is_str(sim->name, "simulator", "a script has a name for the record");
	simulator_free(sim);
	profile_free(p);
}

static void refused(const char *dir, const char *spec, const char *prompt, const char *want)
{
	struct err err = { 0 };
	auto_free char *text = mem_printf("{ \"prompt\": \"%s\" }", prompt);
	struct profile *p = profile_of(dir, text, &err);
	struct simulator *sim = NULL;

	tap_ok(simulator_load(spec, dir, p, &sim, &err) < 0 && strstr(err.text, want), "%s: %s",
	       spec, err.text);
	simulator_free(sim);
	profile_free(p);
}

static void test_refused(const char *dir)
{
	auto_free char *huge = mem_zalloc(SIMULATOR_PROMPT_MAX + 2, 1);

	memset(huge, 'a', SIMULATOR_PROMPT_MAX + 1);
	scene_add(dir, "huge.txt", huge);
	scene_add(dir, "bytes.txt", "a\xff");
	scene_add(dir, "blank.txt", " \n");
	refused(dir, "http://127.0.0.1:1", "mine.txt", "name the model behind the URL");
	refused(dir, "http://example.org#m", "mine.txt",
		"--simulator http://example.org#m: http would");
	refused(dir, "replay_loose:x", "mine.txt", "--simulator replay_loose:x: there is no form");
	refused(dir, "replay:.", "mine.txt", "simulator.jsonl");
	refused(dir, "m", "nowhere.txt", "system prompt");
	refused(dir, "m", "huge.txt", "system prompt");
	refused(dir, "m", "bytes.txt", "must be UTF-8");
	refused(dir, "m", "blank.txt", "is empty");
}

/* Whose key may be shown to whom. */
static void test_endpoints(void)
{
	static char here[] = "http://127.0.0.1:1/v1", there[] = "http://127.0.0.1:2/v1";
	struct model live_here = { .kind = MODEL_LIVE, .url = here };
	struct model live_there = { .kind = MODEL_LIVE, .url = there };
	struct model vendor = { .kind = MODEL_LIVE };
	struct model script = { .kind = MODEL_SCRIPT };
	struct model replay = { .kind = MODEL_REPLAY };
	struct model then = { .kind = MODEL_REPLAY, .then = &live_here };
	const char *a = "https://a.example", *b = "https://b.example";
	const struct {
		struct model *sim, *m;
		const char *api, *own;
		bool same;
	} rows[] = {
		{ &live_here, &live_here, a, a, true }, { &live_here, &live_there, a, a, false },
		{ &vendor, &vendor, a, a, true },       { &vendor, &vendor, a, b, false },
		{ &vendor, &vendor, NULL, b, false },   { &live_here, &vendor, a, a, false },
		{ &live_here, &script, a, a, false },   { &script, &live_here, a, a, false },
		{ &live_here, NULL, NULL, a, false },   { &then, &live_here, a, a, true },
		{ &live_here, &then, a, a, true },      { &replay, &live_here, a, a, false },
		{ &live_here, &replay, a, a, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct simulator sim = { .model = rows[i].sim };

		tap_ok(simulator_same_endpoint(&sim, rows[i].m, rows[i].api, rows[i].own) ==
			       rows[i].same,
		       "row %zu: %s", i, rows[i].same ? "the same endpoint" : "another one");
	}
	tap_ok(!simulator_same_endpoint(NULL, &live_here, a, a), "without a simulator: no");
}

int main(void)
{
	char *dir = scene_new();

	test_values(dir);
	test_set(dir);
	test_load(dir);
	test_shipped(dir);
	test_refused(dir);
	test_endpoints();
	scene_done(dir);
	return tap_done();
}
