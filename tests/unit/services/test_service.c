/* Side services without sockets: what they answer, what is refused at load, how effects change them. */
#include "services/service.h"

#include "base/mem.h"
#include "tests/lib/tap.h"
#include "tests/unit/services/play.h"

static const char api_text[] =
	"{\"name\":\"api\",\"kind\":\"http\",\"port\":8080,\"auth\":\"session\",\"keys\":[\"k\"],"
	"\"session_requests\":3,\"versions\":[{\"name\":\"v1\",\"prefix\":\"/v1\",\"fields\":{\"items\":"
	"{\"qty\":\"count\"}}},{\"name\":\"v2\",\"prefix\":\"/v2\",\"fields\":{\"items\":{\"qty\":"
	"\"quantity\"}}}],\"collections\":{\"items\":[{\"id\":\"a\",\"qty\":3}]}}";

static const char open_text[] =
	"{\"name\":\"open\",\"kind\":\"http\",\"port\":8080,\"versions\":[{\"name\":\"v1\",\"prefix\":\"/v1\"}],"
	"\"collections\":{\"items\":[{\"id\":7,\"qty\":3}]}}";

static const char boss_text[] =
	"{\"name\":\"boss\",\"kind\":\"ask\",\"port\":8081,\"questions\":3,\"blockers\":["
	"{\"id\":\"unit\",\"keywords\":[\"unit\"],\"resolution\":\"Seconds.\"},"
	"{\"id\":\"zone\",\"keywords\":[\"zone\"],\"resolution\":\"UTC.\"}]}";

/* Sessions end by count, by effect; a key that was revoked gives none. */
static void test_sessions(void)
{
	struct service *s = made(api_text);
	struct err err = { 0 };

	tap_is_str(service_name(s), "api", "its name");
	tap_is_str(service_kind(s), "http", "its kind");
	tap_is_u64(service_port(s), 8080, "its port");
	/* clang-format off */
	PLAY(s,
	     { "GET", "/v1/items", NULL, NULL, NULL, 401, false, "no session; POST /v1/login" },
	     { "POST", "/v1/login", NULL, NULL, "{\"key\":\"other\"}", 403, false, "revoked" },
	     { "POST", "/v1/login", NULL, NULL, "{\"key\":", 400, false, "as JSON" },
	     { "POST", "/v1/login", NULL, NULL, "key=k", 400, false, "as JSON" },
	     { "POST", "/v1/login", NULL, NULL, NULL, 400, false, "X-Api-Key" },
	     { "POST", "/v1/login", NULL, "k", NULL, 200, false, "session" },
	     { "GET", "/v1/items", "1", NULL, NULL, 200, false, "\"count\":3" },
	     { "GET", "/v1/items", "1x", NULL, NULL, 401, false, "no session" },
	     { "GET", "/v1/items/a", "1", NULL, NULL, 200, false, "\"count\":3" },
	     { "GET", "/v1/items/b", "1", NULL, NULL, 404, false, "no \\\"b\\\"" },
	     { "GET", "/v1/items/a", "1", NULL, NULL, 401, false, "expired" });
	/* clang-format on */
	changed(s, "{\"name\":\"api\",\"revoke\":\"k\",\"add_key\":\"l\",\"session_requests\":0}");
	PLAY(s, { "POST", "/v1/login", NULL, "k", NULL, 403, false, NULL },
	     { "POST", "/v1/login", NULL, "l", NULL, 200, false, "session" });
	tap_ok(change(s, "{\"name\":\"api\",\"revoke\":\"k\"}", &err) < 0 &&
		       strstr(err.text, "no such key"),
	       "a key that is not there cannot be revoked: %s", err.text);
	service_free(s);
}

/* Other names for fields, another prefix; the old one is gone and says so. */
static void test_versions(void)
{
	struct service *s = made(api_text);
	struct err err = { 0 };

	/* clang-format off */
	PLAY(s,
	     { "POST", "/v1/login", NULL, "k", NULL, 200, false, NULL },
	     { "POST", "/v1/items", "1", NULL, "{\"quantity\":1}", 400, false, "no field" },
	     { "POST", "/v1/items", "1", NULL, "{\"count\":1}", 201, true, "\"id\":\"n1\"" });
	changed(s, "{\"name\":\"api\",\"version\":\"v2\"}");
	PLAY(s,
	     { "GET", "/v1/items", NULL, NULL, NULL, 410, false, "use /v2" },
	     { "GET", "/v2/schema", NULL, NULL, NULL, 200, false, "[\"id\",\"quantity\"]" },
	     { "GET", "/v3/items", NULL, NULL, NULL, 404, false, "GET /v2/schema" },
	     { "GET", "/v2items", NULL, NULL, NULL, 404, false, "nothing here" });
	/* clang-format on */
	tap_ok(change(s, "{\"name\":\"api\",\"version\":\"v9\"}", &err) < 0, "refused: %s",
	       err.text);
	changed(s, "{\"name\":\"api\",\"down\":true}");
	PLAY(s, { "GET", "/v2/schema", NULL, NULL, NULL, 503, false, "down" });
	changed(s, "{\"name\":\"api\",\"down\":false}");
	PLAY(s, { "GET", "/v2/schema", NULL, NULL, NULL, 200, false, NULL });
	service_free(s);
}

static void test_resources(void)
{
	struct service *s = made(open_text);
	struct err err = { 0 };

	/* clang-format off */
	PLAY(s,
	     { "GET", "/v1/items/7", NULL, NULL, NULL, 200, false, "{\"id\":7,\"qty\":3}" },
	     { "PATCH", "/v1/items/7", NULL, NULL, "{\"id\":8,\"name\":\"x\"}", 200, true, "{\"id\":7,\"qty\":3,\"name\":\"x\"}" },
	     { "PUT", "/v1/items/7", NULL, NULL, "{\"a\":1}", 200, true, "{\"a\":1,\"id\":7}" },
	     { "PUT", "/v1/items/7", NULL, NULL, "[]", 400, false, "no JSON object" },
	     { "POST", "/v1/items", NULL, NULL, "", 400, false, "no JSON object" },
	     { "OTHER", "/v1/items", NULL, NULL, NULL, 405, false, NULL },
	     { "OTHER", "/v1/items/7", NULL, NULL, NULL, 405, false, NULL },
	     { "GET", "/v1/none", NULL, NULL, NULL, 404, false, "no \\\"none\\\" here" },
	     { "DELETE", "/v1/items/7", NULL, NULL, NULL, 204, true, NULL },
	     { "DELETE", "/v1/items/7", NULL, NULL, NULL, 404, false, NULL });
	/* clang-format on */
	changed(s,
		"{\"name\":\"open\",\"set\":{\"collection\":\"items\",\"id\":\"z\",\"value\":{\"q\":1}}}");
	PLAY(s, { "GET", "/v1/items", NULL, NULL, NULL, 200, false, "[{\"id\":\"z\",\"q\":1}]" });
	changed(s,
		"{\"name\":\"open\",\"set\":{\"collection\":\"items\",\"id\":\"z\",\"value\":null}}");
	PLAY(s, { "GET", "/v1/items", NULL, NULL, NULL, 200, false, "[]" });
	tap_ok(change(s,
		      "{\"name\":\"open\",\"set\":{\"collection\":\"x\",\"id\":\"z\",\"value\":{}}}",
		      &err) < 0,
	       "refused: %s", err.text);
	service_free(s);
}

/* A person: two of the questions hit, one blocker is never asked for. */
static void test_ask(void)
{
	struct service *s = made(boss_text);
	auto_buf b = BUF_INIT(4096);
	struct json_w w = { .b = &b };

	/* clang-format off */
	PLAY(s,
	     { "GET", "/ask", NULL, NULL, NULL, 405, false, "use POST" },
	     { "POST", "/", NULL, NULL, "{}", 404, false, "/mcp" },
	     { "POST", "/ask", NULL, NULL, "{\"question\":\"\"}", 400, false, "question" },
	     { "POST", "/ask", NULL, NULL, "{\"question\":\"Which UNIT?\"}", 200, false, "Seconds." },
	     { "POST", "/mcp", NULL, NULL, "{\"id\":1,\"method\":\"initialize\"}", 200, false, "protocolVersion" },
	     { "POST", "/mcp", NULL, NULL, "{\"method\":\"notifications/initialized\"}", 202, false, NULL },
	     { "POST", "/mcp", NULL, NULL, "{\"id\":2,\"method\":\"tools/call\",\"params\":{\"arguments\":{\"question\":\"the unit\"}}}", 200, false, "Seconds." },
	     { "POST", "/mcp", NULL, NULL, "{\"id\":3,\"method\":\"nothing\"}", 200, false, "-32601" },
	     { "POST", "/mcp", NULL, NULL, "{\"id\":3}", 400, false, "JSON-RPC" },
	     { "POST", "/ask", NULL, NULL, "{\"question\":\"colour?\"}", 200, false, "do not know" },
	     { "POST", "/ask", NULL, NULL, "{\"question\":\"zone?\"}", 200, false, "no time" });
	/* clang-format on */
	json_open(&w, NULL, '{');
	service_summary(s, &w);
	json_close(&w, '}');
	tap_ok(strstr(buf_str(&b), "\"questions\":3") && strstr(buf_str(&b), "\"useful\":2") &&
		       strstr(buf_str(&b), "\"found\":1") &&
		       strstr(buf_str(&b), "\"ask_recall\":0.5"),
	       "the figures: %s", buf_str(&b));
	service_free(s);
}

/* POST @body. Returns the status. */
static int post(struct service *s, const char *path, const struct buf *body)
{
	struct service_answer a = { .body = BUF_INIT(SERVICE_BODY_MAX) };
	struct service_request q = {
		.method = strlen(path) > 9 ? "PATCH" : "POST",
		.path = path,
		.body = buf_str(body),
		.n = body->len,
	};

	service_answer(s, &q, &a);
	buf_done(&a.body);
	return a.code;
}

/* What an agent can make a service keep, and look through, has bounds. */
static void test_bounds(void)
{
	struct service *s = made(open_text);
	auto_buf wide = BUF_INIT(SERVICE_BODY_MAX), large = BUF_INIT(SERVICE_BODY_MAX);
	int last = 0, n = 0;

	for (int round = 0; round < 2; round++) {
		buf_clear(&wide);
		for (int i = 0; i < 1000; i++)
			(void)buf_addf(&wide, "%c\"f%d\":1", i ? ',' : '{', round * 1000 + i);
		(void)buf_adds(&wide, "}");
		tap_is_u64((uint64_t)post(s, "/v1/items/7", &wide), round ? 507 : 200,
			   "a resource grows to so many fields");
	}
	buf_clear(&wide);
	for (int i = 0; i < 1001; i++)
		(void)buf_addf(&wide, "%c\"f%d\":1", i ? ',' : '{', i);
	(void)buf_adds(&wide, "}");
	tap_is_u64((uint64_t)post(s, "/v1/items", &wide), 413, "too many fields at once");
	(void)buf_adds(&large, "{\"x\":\"");
	while (large.len < 1000000)
		(void)buf_addc(&large, 'x');
	(void)buf_adds(&large, "\"}");
	while (n < 20 && (last = post(s, "/v1/items", &large)) == 201)
		n++;
	tap_is_u64((uint64_t)n, 8, "so many megabytes are kept");
	tap_is_u64((uint64_t)last, 507, "and then no more");
	service_free(s);
}

static void test_refused(void)
{
	/* clang-format off */
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "{}", "name must be" },
		{ "{\"name\":\"a b\",\"port\":8080}", "name must be" },
		{ "{\"name\":\"a\",\"port\":80}", "1024" },
		{ "{\"name\":\"a\",\"port\":8080.5}", "1024" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"htp\"}", "did you mean \"http\"" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"ask\",\"blockers\":[]}", "blockers: 1 to" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"http\",\"versions\":[],\"collections\":{}}", "versions: 1 to" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"http\",\"versions\":[{\"name\":\"v\",\"prefix\":\"/v/\"}],\"collections\":{}}", "must be like" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"http\",\"versions\":[{\"name\":\"v\",\"prefix\":\"/v\"}],\"collections\":[]}", "expected an object" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"http\",\"versions\":[{\"name\":\"v\",\"prefix\":\"/v\"}],\"collections\":{\"x\":[{}]}}", "has an \"id\"" },
		{ "{\"name\":\"a\",\"port\":8080,\"kind\":\"http\",\"auth\":\"sesion\",\"versions\":[{\"name\":\"v\",\"prefix\":\"/v\"}],\"collections\":{}}", "did you mean session" },
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct service *s = NULL;
		struct err err = { 0 };

		tap_ok(make(rows[i].text, &s, &err) == -ERR_INPUT && !s &&
			       strstr(err.text, rows[i].says),
		       "refused: %s", err.text);
	}
}

int main(void)
{
	test_sessions();
	test_versions();
	test_resources();
	test_ask();
	test_bounds();
	test_refused();
	return tap_done();
}
