/* The live endpoint against a real server that misbehaves in every way we could think of: what comes
 * of each fault, that it is bounded, and what the endpoint is told. */
#include <dirent.h>
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/upstream_internal.h"
#include "tests/lib/fakemodel.h"
#include "tests/lib/tap.h"

#define KEY "sk-test-0123456789abcdef"

struct got {
	bool done;
	struct reply r;
	size_t pieces;
};

static void on_bytes(void *arg, const struct reply *r, size_t from)
{
	struct got *g = arg;

	g->pieces += r->body.len > from;
}

static void on_done(void *arg, struct reply *r)
{
	struct got *g = arg;

	g->done = true;
	g->r = *r;
	r->body = (struct buf)BUF_INIT(0);
}

struct world {
	struct event_base *base;
	struct evdns_base *dns;
	struct fakemodel fake;
};

/* One question; the whole test is bounded by the deadline of the ask. */
static void ask_one(struct world *w, struct source *src, const struct api *api, const char *path,
		    const char *body, bool stream, struct got *g)
{
	static const char *const headers[] = { "anthropic-beta: some-beta", NULL };
	struct api_request q = { .api = api, .route = API_ROUTE_CHAT, .stream = stream };
	struct ask a = {
		.q = &q,
		.path = path,
		.body = body,
		.n = strlen(body),
		.deadline = clock_mono() + 20 * CLOCK_SEC,
		.headers = api->id == AGENT_API_ANTHROPIC ? headers : NULL,
		.bytes = stream ? on_bytes : NULL,
		.done = on_done,
		.arg = g,
	};

	if (str_ends(path, "/models"))
		q.route = API_ROUTE_MODELS;
	*g = (struct got){ 0 };
	src->ops->ask(src->impl, &a);
	while (!g->done && event_base_loop(w->base, EVLOOP_ONCE) >= 0)
		;
}

static int open_url(struct world *w, const struct api *api, const char *url, const char *ca,
		    struct source *src, struct err *err)
{
	struct upstream_spec spec = {
		.base = w->base,
		.dns = w->dns,
		.api = api,
		.url = url,
		.key = KEY,
		.timeout = 3 * CLOCK_SEC,
		.ca_file = ca,
	};

	return upstream_open(&spec, src, err);
}

struct fault {
	const char *name;
	bool stream;
	int status;       /* of the reply */
	const char *why;  /* part of it; NULL = must be empty */
	const char *body; /* part of it; NULL = not looked at */
};

/* clang-format off */
static const struct fault faults[] = {
	{ "none",       false, 200, NULL,                  "\"finish_reason\": \"stop\"" },
	{ "none",       true,  200, NULL,                  "data: [DONE]" },
	{ "comments",   true,  200, NULL,                  ": keepalive" },
	{ "400",        false, 400, NULL,                  "fake status 400" },
	{ "403",        false, 403, NULL,                  "fake status 403" },
	{ "429",        false, 429, NULL,                  "fake status 429" },
	{ "500",        false, 500, NULL,                  "fake status 500" },
	{ "silence",    false, 0,   "timed out",           NULL },
	{ "drip",       false, 200, "timed out",           NULL },
	{ "cut",        false, 200, "bytes remaining",     NULL },
	{ "cut",        true,  200, "outstanding",         NULL },
	{ "cutclean",   true,  200, NULL,                  "data: " },
	{ "noend",      true,  200, NULL,                  "finish_reason" },
	{ "endless",    false, 200, "64 MiB",              NULL },
	{ "headers",    false, 200, "headers",             NULL },
	{ "badchunk",   false, 200, "chunk",               NULL },
	{ "long",       false, 200, "bytes remaining",     NULL },
	{ "short",      false, 200, NULL,                  "{" },
	{ "echokey",    false, 200, "sent the key back",   "" },
	{ "redirect",   false, 302, NULL,                  NULL },
	{ "html",       false, 200, NULL,                  "<html>" },
	{ "reset",      false, 0,   ": ",                  NULL },
	{ "errorevent", true,  200, NULL,                  "overloaded_error" },
};
/* clang-format on */

static void test_faults(struct world *w)
{
	const struct api *api = api_of(AGENT_API_CHAT);

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const struct fault *f = &faults[i];
		auto_free char *url = mem_printf("http://127.0.0.1:%u%s%s/v1", w->fake.port,
						 strcmp(f->name, "none") ? "/f/" : "",
						 strcmp(f->name, "none") ? f->name : "");
		struct source src = { 0 };
		struct err err = { 0 };
		struct got g;

		if (!tap_ok(open_url(w, api, url, NULL, &src, &err) == 0, "open %s %s", url,
			    err.text))
			continue;
		ask_one(w, &src, api, "/v1/chat/completions",
			f->stream ? "{\"model\":\"m\",\"stream\":true}" : "{\"model\":\"m\"}",
			f->stream, &g);
		tap_ok(g.r.status == f->status, "%s: status %d", f->name, g.r.status);
		tap_ok(f->why ? strstr(g.r.why, f->why) != NULL : !g.r.why[0], "%s: why \"%s\"",
		       f->name, g.r.why);
		tap_ok(!strstr(g.r.why, KEY), "%s: no key in the text", f->name);
		if (f->body)
			tap_ok(*f->body ? strstr(buf_str(&g.r.body), f->body) != NULL
					: !g.r.body.len,
			       "%s: body", f->name);
		tap_ok(g.r.body.len <= API_BODY_MAX, "%s: bounded", f->name);
		tap_ok(g.r.sse == f->stream || g.r.status != 200 || strcmp(f->name, "none") != 0,
		       "%s: form", f->name);
		if (f->stream)
			tap_ok(g.pieces > 0, "%s: told as it came, %zu pieces", f->name, g.pieces);
		reply_done(&g.r);
		source_done(&src);
	}
}

/* What each API's endpoint is told. */
static void test_headers(struct world *w)
{
	static const struct {
		enum agent_api api;
		const char *base, *path, *key, *target;
	} rows[] = {
		{ AGENT_API_CHAT, "/v1", "/v1/chat/completions",
		  "\"authorization\": \"Bearer " KEY "\"", "\"/v1/chat/completions\"" },
		{ AGENT_API_RESPONSES, "", "/responses", "\"authorization\": \"Bearer " KEY "\"",
		  "\"/v1/responses\"" },
		{ AGENT_API_ANTHROPIC, "", "/v1/messages?beta=true&key=x",
		  "\"x-api-key\": \"" KEY "\"", "\"/v1/messages?beta=true\"" },
		{ AGENT_API_GEMINI, "",
		  "/v1beta/models/g-1:streamGenerateContent?alt=sse&key=dummy",
		  "\"x-goog-api-key\": \"" KEY "\"",
		  "\"/v1beta/models/g-1:streamGenerateContent?alt=sse\"" },
	};
	static char log[1 << 20];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct api *api = api_of(rows[i].api);
		auto_free char *url =
			mem_printf("http://localhost:%u%s", w->fake.port, rows[i].base);
		struct source src = { 0 };
		struct err err = { 0 };
		struct got g;
		char *last;

		tap_ok(open_url(w, api, url, NULL, &src, &err) == 0, "open %s %s", url, err.text);
		ask_one(w, &src, api, rows[i].path, "{\"model\":\"m\"}", false, &g);
		tap_ok(g.r.status == 200, "%s: %d %s", api->name, g.r.status, g.r.why);
		reply_done(&g.r);
		source_done(&src);
		fakemodel_get(&w->fake, "/log", log, sizeof(log));
		last = strrchr(log, '\n') ? strrchr(log, '\n') : log;
		for (char *next; (next = strstr(last + 1, "{\"method\""));)
			last = next;
		tap_ok(strstr(last, rows[i].key) != NULL, "%s: its key header", api->name);
		tap_ok(strstr(last, rows[i].target) != NULL, "%s: its path: %.120s", api->name,
		       last);
		tap_ok(strstr(last, "\"user-agent\": \"proctor/") != NULL, "%s: who we are",
		       api->name);
		tap_ok(strstr(last, "\"accept-encoding\": \"identity\"") != NULL, "%s: plain bytes",
		       api->name);
		tap_ok(!strstr(last, "\"expect\""), "%s: no Expect", api->name);
		tap_ok((strstr(last, "\"anthropic-version\": \"2023-06-01\"") != NULL &&
			strstr(last, "\"anthropic-beta\": \"some-beta\"") != NULL) ==
			       (rows[i].api == AGENT_API_ANTHROPIC),
		       "%s: version and betas", api->name);
	}
}

struct url_row {
	enum agent_api api;
	const char *base, *target, *want; /* NULL = refused */
};

/* clang-format off */
static const struct url_row url_rows[] = {
	{ AGENT_API_CHAT, "https://api.openai.com", "/v1/chat/completions", "https://api.openai.com/v1/chat/completions" },
	{ AGENT_API_CHAT, "https://h/api/v1/", "/v1/chat/completions", "https://h/api/v1/chat/completions" },
	{ AGENT_API_CHAT, "https://h/compat/openai", "/v1/chat/completions", "https://h/compat/openai/chat/completions" },
	{ AGENT_API_CHAT, "https://h/paas/v4", "/chat/completions", "https://h/paas/v4/chat/completions" },
	{ AGENT_API_CHAT, "http://[::1]:8000", "/chat/completions", "http://[::1]:8000/v1/chat/completions" },
	{ AGENT_API_CHAT, "https://h", "/v1/models?limit=3", "https://h/v1/models" },
	{ AGENT_API_ANTHROPIC, "https://h/anthropic", "/v1/messages?beta=true", "https://h/anthropic/v1/messages?beta=true" },
	{ AGENT_API_ANTHROPIC, "https://h/anthropic/v1", "/v1/messages", "https://h/anthropic/v1/messages" },
	{ AGENT_API_GEMINI, "https://h", "/models/m:generateContent", "https://h/v1beta/models/m:generateContent" },
	{ AGENT_API_GEMINI, "https://h", "/v1alpha/models/m:x?alt=sse&key=k", "https://h/v1alpha/models/m:x?alt=sse" },
	{ AGENT_API_GEMINI, "https://h", "/v1beta/models/../../x:generateContent", NULL },
	{ AGENT_API_GEMINI, "https://h", "/v1beta/models/%2e%2e/x:generateContent", NULL },
	{ AGENT_API_GEMINI, "https://h", "//evil/models/x:generateContent", NULL },
	{ AGENT_API_GEMINI, "https://h", "/v1beta/models/a@evil:80", "https://h/v1beta/models/a@evil:80" },
};

static const char *const bad_urls[] = {
	"http://example.com/v1", "http://10.0.0.1/v1", "http://127.0.0.1.evil.com/", "ftp://h/", "https://",
	"https://u:p@h/", "https://h:0/", "https://h:99999/", "https://h:8x/", "https://h/?key=1", "https://[::1",
	"http://[::2]/", "https://h:80:90/",
};
/* clang-format on */

static void test_urls(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(url_rows); i++) {
		const struct url_row *r = &url_rows[i];
		struct upstream_base b = { 0 };
		auto_buf out = BUF_INIT(UPSTREAM_URL_MAX);
		struct err err = { 0 };

		tap_ok(upstream_url_read(r->base, api_of(r->api), &b, &err) == 0, "%s %s", r->base,
		       err.text);
		if (upstream_url_make(&b, api_of(r->api), r->target, &out) < 0)
			tap_ok(!r->want, "%s is refused", r->target);
		else
			tap_is_str(buf_str(&out), r->want, r->target);
		upstream_url_done(&b);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad_urls); i++) {
		struct upstream_base b = { 0 };
		struct err err = { 0 };

		tap_ok(upstream_url_read(bad_urls[i], api_of(AGENT_API_CHAT), &b, &err) ==
			       -ERR_INPUT,
		       "%s: %s", bad_urls[i], err.text);
	}
}

static unsigned threads(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* A name server that knows one name. */
static void on_dns(struct evdns_server_request *q, void *arg)
{
	unsigned *asked = arg;
	struct in_addr a = { htonl(INADDR_LOOPBACK) };
	bool known = q->nquestions == 1 && strcasecmp(q->questions[0]->name, "model.test") == 0;

	++*asked;
	if (known && q->questions[0]->type == EVDNS_TYPE_A)
		evdns_server_request_add_a_reply(q, q->questions[0]->name, 1, &a, 60);
	evdns_server_request_respond(q, known ? 0 : 3);
}

static void test_tls(struct world *w, const char *dir)
{
	auto_free char *cert = mem_printf("%s/cert", dir), *key = mem_printf("%s/key", dir);
	auto_free char *make = mem_printf(
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x "
		"-addext subjectAltName=DNS:localhost,DNS:model.test -keyout %s -out %s >/dev/null 2>&1",
		key, cert);
	const struct api *api = api_of(AGENT_API_CHAT);
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);
	struct evdns_server_port *port;
	struct fakemodel fake;
	unsigned asked = 0, before;
	struct {
		const char *host, *ca, *why; /* why NULL = 200 */
	} rows[] = {
		{ "localhost", cert, NULL },          { "model.test", cert, NULL },
		{ "model.test", cert, NULL },         { "127.0.0.1", cert, "SSL" },
		{ "localhost", NULL, "certificate" }, { "other.test", cert, "cannot be resolved" },
	};

	if (system(make) != 0 || access("/etc/ssl/certs/ca-certificates.crt", R_OK) < 0) {
		tap_skip("TLS", "openssl: no program openssl, or no certificates of authorities");
		close(udp);
		return;
	}
	tap_ok(bind(udp, (struct sockaddr *)&at, sizeof(at)) == 0 &&
		       getsockname(udp, (struct sockaddr *)&at, &len) == 0,
	       "a name server");
	port = evdns_add_server_port_with_base(w->base, udp, 0, on_dns, &asked);
	w->dns = evdns_base_new(w->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	evdns_base_nameserver_sockaddr_add(w->dns, (struct sockaddr *)&at, len, 0);
	tap_ok(fakemodel_start(&fake, cert, key), "a server with TLS");
	before = threads();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *url = mem_printf("https://%s:%u/v1", rows[i].host, fake.port);
		struct source src = { 0 };
		struct err err = { 0 };
		struct got g;

		tap_ok(open_url(w, api, url, rows[i].ca, &src, &err) == 0, "open %s %s", url,
		       err.text);
		ask_one(w, &src, api, "/v1/chat/completions", "{\"model\":\"m\"}", false, &g);
		tap_ok(rows[i].why ? !g.r.status && strstr(g.r.why, rows[i].why)
				   : g.r.status == 200,
		       "%s with %s: %d %s", rows[i].host,
		       rows[i].ca ? "our CA" : "the system's CAs", g.r.status, g.r.why);
		tap_ok(rows[i].why == NULL || !g.r.reached, "nothing was sent when it failed");
		reply_done(&g.r);
		source_done(&src);
	}
	tap_ok(asked >= 2, "the name server was asked %u times", asked);
	tap_is_u64(threads(), before, "no thread was made");
	fakemodel_stop(&fake);
	evdns_base_free(w->dns, 1);
	w->dns = NULL;
	evdns_close_server_port(port);
}

/* Free with questions and a look-up outstanding. */
static void test_free(struct world *w)
{
	const struct api *api = api_of(AGENT_API_CHAT);
	auto_free char *url = mem_printf("http://127.0.0.1:%u/f/silence/v1", w->fake.port);
	struct api_request q = { .api = api, .route = API_ROUTE_CHAT };
	struct got g = { 0 };
	struct ask a = { .q = &q,
			 .path = "/v1/chat/completions",
			 .body = "{}",
			 .n = 2,
			 .deadline = clock_mono() + 20 * CLOCK_SEC,
			 .done = on_done,
			 .arg = &g };
	struct source src = { 0 };
	struct err err = { 0 };

	tap_ok(open_url(w, api, url, NULL, &src, &err) == 0, "open");
	src.ops->ask(src.impl, &a);
	event_base_loop(w->base, EVLOOP_NONBLOCK);
	source_done(&src);
	tap_ok(!g.done, "freed in the middle: nobody is told");

	tap_ok(open_url(w, api, url, NULL, &src, &err) == 0, "open");
	src.ops->ask(src.impl, &a);
	src.ops->cancel(src.impl, &a);
	tap_ok(g.done && g.r.why[0], "cancelled: %s", g.r.why);
	source_done(&src);

	/* an address that nobody may be reached at without TLS */
	tap_ok(open_url(w, api, "http://127.0.0.1:1/v1", NULL, &src, &err) == 0, "open");
	ask_one(w, &src, api, "/v1/chat/completions", "{}", false, &g);
	tap_ok(!g.r.status && !g.r.reached && strstr(g.r.why, "onnect"), "nobody listens: %s",
	       g.r.why);
	source_done(&src);
}

int main(void)
{
	struct world w = { .base = event_base_new() };
	char dir[] = "/tmp/test_upstream.XXXXXX";

	signal(SIGPIPE, SIG_IGN);
	if (!fakemodel_start(&w.fake, NULL, NULL) || !mkdtemp(dir)) {
		tap_ok(false, "python3 %s", FAKEMODEL);
		return tap_done();
	}
	/* Variables that libcurl would obey: they must not. */
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	test_urls();
	test_faults(&w);
	test_headers(&w);
	test_tls(&w, dir);
	test_free(&w);
	fakemodel_stop(&w.fake);
	event_base_free(w.base);
	{
		auto_free char *rm = mem_printf("rm -r %s", dir);

		(void)!system(rm);
	}
	return tap_done();
}
