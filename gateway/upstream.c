#include "gateway/upstream.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "gateway/upstream_internal.h"

enum { CA_MAX = 8 << 20, CONNECT_SECONDS = 30, KEY_LEAST = 8 };

/* Where distributions keep the certificates of authorities. */
static const char *const ca_files[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

/* --- the end of a question -------------------------------------------------------------------- */

static void transfer_free(struct transfer *t)
{
	struct upstream *u = t->u;

	TAILQ_REMOVE(&u->list, t, link);
	u->held -= t->reply.body.len;
	if (t->easy) {
		curl_multi_remove_handle(u->multi, t->easy);
		curl_easy_cleanup(t->easy);
	}
	curl_slist_free_all(t->headers);
	curl_slist_free_all(t->resolve);
	reply_done(&t->reply);
	free(t);
}

/* Give the reply to the one who asked. */
static void deliver(struct transfer *t)
{
	const struct ask *a = t->ask;
	struct reply r = t->reply;

	t->u->held -= r.body.len;
	t->reply = (struct reply){ .body = BUF_INIT(0) };
	transfer_free(t);
	a->done(a->arg, &r);
	reply_done(&r);
}

void upstream_fail(struct transfer *t, const char *why)
{
	snprintf(t->reply.why, sizeof(t->reply.why), "%s", why);
	deliver(t);
}

/* What went wrong, in words; the URL has no secrets in it. */
static void explain(struct transfer *t, CURLcode rc)
{
	const char *text = t->cut ? t->cut : t->error[0] ? t->error : curl_easy_strerror(rc);

	if (rc == CURLE_SEND_FAIL_REWIND) /* see on_send() */
		text = "the connection was closed without an answer";
	snprintf(t->reply.why, sizeof(t->reply.why), "%.200s: %.250s", t->url, text);
}

void upstream_over(CURL *easy, CURLcode rc)
{
	struct transfer *t = NULL;
	struct reply *r;
	long status = 0, sent = 0;
	curl_off_t wait = 0;
	const char *type = NULL;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
	r = &t->reply;
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
	curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
	r->status = (int)status;
	r->sse = type && strncasecmp(type, "text/event-stream", 17) == 0;
	r->retry_after = wait > 0 && wait < 86400 ? (unsigned)wait : 0;
	r->reached = sent > 0;
	if (rc != CURLE_OK || t->cut)
		explain(t, rc);
	else if (!status)
		snprintf(r->why, sizeof(r->why), "%.200s: no answer", t->url);
	deliver(t);
}

/* --- an answer arrives ------------------------------------------------------------------------ */

/* libcurl has no bound on the sum of headers in this version. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	(void)p;
	if (!t->reply.t_first)
		t->reply.t_first = clock_mono();
	t->header_bytes += size * n;
	if (t->header_bytes <= UPSTREAM_HEADER_MAX)
		return size * n;
	t->cut = "the headers of the answer are too large";
	return 0;
}

/* An endpoint that gives the key back must not give it to the box. */
static bool holds_key(const struct transfer *t, size_t from)
{
	const struct buf *b = &t->reply.body;
	size_t n = t->u->key ? strlen(t->u->key) : 0;

	if (n < KEY_LEAST)
		return false;
	from = from > n ? from - n : 0;
	return memmem(b->data + from, b->len - from, t->u->key, n) != NULL;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	struct reply *r = &t->reply;
	size_t from = r->body.len;

	n *= size;
	if (t->u->held + n > UPSTREAM_HELD_MAX) {
		t->cut = "too many bytes of answers at once";
		return 0;
	}
	if (n && buf_add(&r->body, p, n) < 0) {
		t->cut = "the answer is larger than 64 MiB";
		return 0;
	}
	t->u->held += n;
	if (holds_key(t, from)) {
		t->u->held -= r->body.len;
		buf_done(&r->body);
		r->final = true;
		t->cut = "the endpoint sent the key back; its answer was thrown away";
		return 0;
	}
	if (t->ask->bytes) {
		long status = 0;
		const char *type = NULL;

		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
		r->status = (int)status;
		r->sse = type && strncasecmp(type, "text/event-stream", 17) == 0;
		t->ask->bytes(t->ask->arg, r, from);
	}
	return n;
}

/* --- a question goes out ---------------------------------------------------------------------- */

/* Close-on-exec, and without TLS to this machine only, whatever the resolver said. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	const struct upstream *u = arg;

	if (purpose != CURLSOCKTYPE_IPCXN || (!u->at.tls && !upstream_url_loopback(&a->addr)))
		return CURL_SOCKET_BAD;
	return socket(a->family, a->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->protocol);
}

static void add_header(struct transfer *t, const char *name, const char *value)
{
	auto_free char *line = mem_printf("%s: %s", name, value);
	struct curl_slist *l = curl_slist_append(t->headers, line);

	if (l)
		t->headers = l;
	explicit_bzero(line, strlen(line));
}

static void add_headers(struct transfer *t)
{
	const struct upstream *u = t->u;
	const struct api *api = t->ask->q->api;
	bool version = false;

	if (t->ask->q->route != API_ROUTE_MODELS)
		add_header(t, "content-type", "application/json");
	add_header(t, "expect", "");
	add_header(t, "accept-encoding", "identity");
	for (const char *const *h = t->ask->headers; h && *h; h++) {
		struct curl_slist *l = curl_slist_append(t->headers, *h);

		t->headers = l ? l : t->headers;
		version |= str_starts(*h, "anthropic-version:");
	}
	if (api->id == AGENT_API_ANTHROPIC && !version)
		add_header(t, "anthropic-version", "2023-06-01");
	if (u->key) {
		auto_free char *v = mem_printf("%s%s", api->bearer ? "Bearer " : "", u->key);

		add_header(t, api->key_header, v);
		explicit_bzero(v, strlen(v));
	}
}

static void set_limits(struct transfer *t)
{
	const struct upstream *u = t->u;
	uint64_t now = clock_mono(), left = t->ask->deadline > now ? t->ask->deadline - now : 0;
	long idle;

	if (u->timeout && left > u->timeout)
		left = u->timeout;
	curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)(left / CLOCK_MS) + 1);
	curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	if (!u->idle || u->idle >= left)
		return;
	idle = (long)((u->idle + CLOCK_SEC - 1) / CLOCK_SEC);
	curl_easy_setopt(t->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(t->easy, CURLOPT_LOW_SPEED_TIME, idle);
}

/* Nothing of the environment or of files has a say: no proxy, no .netrc, no cookies, no redirects.
 */
static void set_closed(CURL *e, const struct upstream *u)
{
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, u->at.tls ? "https" : "http");
	curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(e, CURLOPT_CAINFO, NULL);
	curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
	if (u->at.tls)
		curl_easy_setopt(e, CURLOPT_CAINFO_BLOB, &u->ca);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "proctor/" PROCTOR_VERSION);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, u);
}

/* Without a function to go back by, libcurl cannot send a question again behind our back when a
 * connection that it had kept breaks: each try may be billed, so each is one of the exchange's. */
static size_t on_send(char *to, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	size_t left = t->ask->n - t->sent;

	n *= size;
	n = n < left ? n : left;
	memcpy(to, t->ask->body + t->sent, n);
	t->sent += n;
	return n;
}

static void set_request(struct transfer *t)
{
	CURL *e = t->easy;

	curl_easy_setopt(e, CURLOPT_URL, t->url);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->headers);
	if (t->resolve)
		curl_easy_setopt(e, CURLOPT_RESOLVE, t->resolve);
	if (t->ask->q->route != API_ROUTE_MODELS) {
		curl_easy_setopt(e, CURLOPT_POST, 1L);
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->ask->n);
		curl_easy_setopt(e, CURLOPT_READFUNCTION, on_send);
		curl_easy_setopt(e, CURLOPT_READDATA, t);
	}
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(e, CURLOPT_PRIVATE, t);
}

void upstream_start(struct transfer *t)
{
	struct upstream *u = t->u;
	auto_free char *line = NULL;

	t->easy = curl_easy_init();
	if (!t->easy) {
		upstream_fail(t, "libcurl is out of memory");
		return;
	}
	if (!u->at.address) {
		line = mem_printf("%s:%u:%s", u->at.host, u->at.port, u->addrs);
		t->resolve = curl_slist_append(NULL, line);
	}
	add_headers(t);
	set_closed(t->easy, u);
	set_limits(t);
	set_request(t);
	if (curl_multi_add_handle(u->multi, t->easy) != CURLM_OK) {
		curl_easy_cleanup(t->easy);
		t->easy = NULL;
		upstream_fail(t, "libcurl does not take the request");
	}
}

static void on_ask(void *impl, const struct ask *a)
{
	struct upstream *u = impl;
	struct transfer *t = mem_zalloc(1, sizeof(*t));
	auto_buf url = BUF_INIT(UPSTREAM_URL_MAX - 1);

	t->u = u;
	t->ask = a;
	t->reply.body = (struct buf)BUF_INIT(API_BODY_MAX);
	t->reply.tries = 1;
	TAILQ_INSERT_TAIL(&u->list, t, link);
	if (u->vendor && a->q->api != u->api) {
		t->reply.final = true;
		upstream_fail(t, "this run's endpoint speaks another API");
		return;
	}
	if (upstream_url_make(&u->at, a->q->api, a->path, &url) < 0) {
		t->reply.final = true;
		upstream_fail(t, "the request's path is not one of the API");
		return;
	}
	snprintf(t->url, sizeof(t->url), "%s", buf_str(&url));
	upstream_resolve(u, t);
}

static struct transfer *find(struct upstream *u, const struct ask *a)
{
	struct transfer *t;

	TAILQ_FOREACH(t, &u->list, link)
	{
		if (t->ask == a)
			return t;
	}
	return NULL;
}

static void on_cancel(void *impl, const struct ask *a)
{
	struct transfer *t = find(impl, a);
	long sent = 0;

	if (!t)
		return;
	if (t->easy)
		curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
	t->reply.reached = sent > 0;
	upstream_fail(t, "nobody wants the answer any more");
}

static void on_free(void *impl)
{
	struct upstream *u = impl;
	struct transfer *t;

	if (!u)
		return;
	upstream_resolve_stop(u);
	while ((t = TAILQ_FIRST(&u->list)))
		transfer_free(t);
	upstream_loop_free(u);
	upstream_url_done(&u->at);
	if (u->key)
		explicit_bzero(u->key, strlen(u->key));
	free(u->key);
	free(u->ca.data);
	free(u);
	curl_global_cleanup();
}

static const struct source_ops live_ops = {
	.name = "live",
	.ask = on_ask,
	.cancel = on_cancel,
	.free = on_free,
};

/* Certificates are read now: later there are no files. */
static int read_ca(struct upstream *u, const char *file, struct err *err)
{
	auto_buf b = BUF_INIT(CA_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(ca_files) && !file; i++) {
		if (access(ca_files[i], R_OK) == 0)
			file = ca_files[i];
	}
	if (!file)
		return err_set(
			err, ERR_HOST,
			"no certificates of authorities on this system (%s): install the package "
			"ca-certificates",
			ca_files[0]);
	if (fd_read_file(file, &b, err) < 0)
		return err_wrap(err, "certificates of authorities");
	u->ca.flags = CURL_BLOB_NOCOPY; /* lives longer than every transfer */
	u->ca.data = buf_steal(&b, &u->ca.len);
	return 0;
}

int upstream_open(const struct upstream_spec *spec, struct source *ret, struct err *err)
{
	struct upstream *u;
	int rc;

	if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
		return err_set(err, ERR_SYS, "cannot start libcurl");
	u = mem_zalloc(1, sizeof(*u));
	TAILQ_INIT(&u->list);
	u->base = spec->base;
	u->dns = spec->dns;
	u->api = spec->api;
	u->vendor = !spec->url;
	u->key = mem_strdup(spec->key);
	u->timeout = spec->timeout;
	u->idle = spec->idle;
	rc = upstream_url_read(spec->url ? spec->url : spec->api->public_url, spec->api, &u->at,
			       err);
	if (rc == 0 && u->at.tls)
		rc = read_ca(u, spec->ca_file, err);
	if (rc == 0)
		rc = upstream_loop_new(u, err);
	if (rc < 0) {
		on_free(u);
		return rc;
	}
	*ret = (struct source){ .impl = u, .ops = &live_ops };
	return 0;
}
