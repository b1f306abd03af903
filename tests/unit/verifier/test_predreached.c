/* What an observation says must have reached the model: by the requests in model.jsonl, in time, through the layers of
 * JSON that agents wrap a tool's result in. */
#include "verifier/pred.h"

#include "base/jslice.h"
#include "tests/lib/fakerun.h"
#include "tests/lib/tap.h"
#include "verifier/pred_internal.h"

enum { WHY = 2000 };

/* Put @text into a JSON string @layers times over. Caller frees. */
static char *wrapped(const char *text, int layers)
{
	char *s = mem_strdup(text);

	for (int i = 0; i < layers; i++) {
		auto_buf b = BUF_INIT(1u << 20);
		auto_free char *old = s;

		jslice_put(&b, old, strlen(old));
		s = mem_printf("{\"content\":%s}", buf_str(&b));
	}
	return s;
}

static void put_call(struct buf *b, unsigned call, const char *request)
{
	buf_addf(b, "{\"schema\":\"proctor.model/1\",\"call\":%u,\"purpose\":\"main\",\"request\":",
		 call);
	jslice_put(b, request, strlen(request));
	buf_adds(b, ",\"answer\":\"late NEW 1\"}\n");
}

/* A run: call 1 answered, the update, a look, calls 2 and 3 answered, a change asked for by the latter. */
static void put_run(struct fakerun *f)
{
	fakerun_new(f, "");
	fakerun_rec(f, "model", "\"call\":1,\"purpose\":\"main\",\"status\":200");
	fakerun_rec(f, "fork", "\"arm\":\"shifted\"");
	fakerun_rec(f, "intervene", "\"order\":1,\"effect\":\"edit\",\"applied\":1");
	fakerun_rec(f, "model", "\"call\":2,\"purpose\":\"main\",\"status\":200");
	fakerun_rec(f, "read", "\"pid\":1,\"path\":\"a\"");
	fakerun_rec(f, "model", "\"call\":3,\"purpose\":\"main\",\"status\":200");
	fakerun_edit(f, "agent", 0, "b", "x\n", "y\n", 1, 1);
	fakerun_rec(f, "model", "\"call\":4,\"purpose\":\"main\",\"status\":200");
	fakerun_rec(f, "end", "\"reason\":\"exited\"");
}

static bool decide(const char *dir, const char *texts, bool model, char why[WHY])
{
	auto_free char *json =
		mem_printf("{\"any_of\":[{\"kind\":\"read\",\"path\":\"a\"}],\"reached\":%s}",
			   texts);
	struct pred_set *set = pred_set_new();
	struct pred_run run = { .dir = dir, .workdir = "/workspace", .model = model };
	struct pred_finding v = { 0 };
	struct json_src src = { 0 };
	struct pred *p = NULL;
	struct err err = { 0 };
	bool ok = false;
	int rc = json_parse("t", json, strlen(json), &src, &err);

	if (rc == 0)
		rc = pred_parse(set, &src, "$", src.root, PRED_AS_OBSERVATION, &p, &err);
	if (rc == 0)
		rc = pred_scan(set, &run, &err);
	if (rc == 0)
		rc = pred_eval(set, p, &v, &err);
	ok = rc == 0 && v.v[0].ok;
	snprintf(why, WHY, "%s", rc == 0 && v.n ? v.v[0].reason : err.text);
	pred_finding_done(&v);
	pred_set_free(set);
	json_src_done(&src);
	return ok;
}

static const struct {
	const char *name, *text;
	unsigned call; /* whose request holds it, from there on; 0 = none */
	int layers;
	const char *texts;
	bool ok;
} rows[] = {
	/* clang-format off */
	{ "in the result of the look", "NEW 1", 3, 1, "\"NEW 1\"", true },
	{ "nowhere", "other", 3, 1, "\"NEW 1\"", false },
	{ "too late", "NEW 1", 4, 1, "\"NEW 1\"", false },
	{ "there before the update", "NEW 1", 1, 1, "\"NEW 1\"", false },
	{ "one of two", "NEW 1", 3, 1, "[\"OLD\", \"NEW 1\"]", true },
	{ "quotes in it", "a \"NEW\" one", 3, 1, "\"a \\\"NEW\\\" one\"", true },
	{ "a result that is JSON itself", "a \"NEW\" one", 3, 2, "\"a \\\"NEW\\\" one\"", true },
	{ "letters beyond ASCII", "cr\xc3\xa8me", 2, 1, "\"cr\xc3\xa8me\"", true },
	{ "among numbers of lines", "   12\tNEW 1\n   13\tx", 3, 2, "\"NEW 1\"", true },
	/* clang-format on */
};

static void one(size_t i)
{
	auto_buf b = BUF_INIT(1u << 20);
	auto_free char *request = wrapped(rows[i].text, rows[i].layers);
	char why[WHY];
	struct fakerun f;

	put_run(&f);
	/* As they were answered, which need not be the order of the calls. */
	put_call(&b, 2, rows[i].call && rows[i].call <= 2 ? request : "{}");
	put_call(&b, 1, rows[i].call == 1 ? request : "{}");
	for (unsigned call = 3; call <= 4; call++)
		put_call(&b, call, rows[i].call && rows[i].call <= call ? request : "{}");
	buf_adds(&b, "{\"call\":5,\"request\":\"NEW 1"); /* cut by a kill */
	fakerun_file(&f, "model.jsonl", buf_str(&b), b.len);
	fakerun_save(&f);
	tap_ok(decide(f.dir, rows[i].texts, true, why) == rows[i].ok, "%s: %s", rows[i].name, why);
	fakerun_done(&f);
}

static void edges(void)
{
	char why[WHY];
	struct fakerun f;

	put_run(&f);
	fakerun_save(&f);
	tap_ok(!decide(f.dir, "\"NEW 1\"", true, why) && strstr(why, "model.jsonl"), "%s", why);
	tap_ok(decide(f.dir, "\"NEW 1\"", false, why), "without a model API the look alone: %s",
	       why);
	tap_ok(!decide(f.dir, "[]", true, why) && strstr(why, "$.reached"), "%s", why);
	fakerun_done(&f);
}

static void escapes(void)
{
	static const char line[] =
		"{\"call\":7,\"request\":\"\\\\u00e8 \\\\ud83d\\\\ude00 \\\\u12 \\\\q \\\\\"}";
	struct strv texts = { 0 };
	uint64_t first[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct err err = { 0 };

	strv_add(&texts, "\xc3\xa8 \xf0\x9f\x98\x80");
	strv_add(&texts, "\\u12 \\q \\");
	strv_add(&texts, "\\u00e8");
	tap_ok(pred_reached_line(&texts, "t", line, sizeof(line) - 1, 7, first, &err) == 0 &&
		       first[0] == 7 && first[1] == 7 && first[2] == UINT64_MAX,
	       "escapes, pairs, and what is none: %llu %llu %llu", (unsigned long long)first[0],
	       (unsigned long long)first[1], (unsigned long long)first[2]);
	first[0] = UINT64_MAX;
	tap_ok(pred_reached_line(&texts, "t", line, sizeof(line) - 1, 6, first, &err) == 0 &&
		       first[0] == UINT64_MAX,
	       "later calls are not looked into");
	tap_ok(pred_reached_line(&texts, "t", "{]", 2, 6, first, &err) == -ERR_INPUT, "%s",
	       err.text);
	strv_done(&texts);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		one(i);
	edges();
	escapes();
	return tap_done();
}
