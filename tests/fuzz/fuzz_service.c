/* Requests and effects of arbitrary bytes for side services: no crash, answers of the right form, and the same
 * answers when the same requests come again. The first byte chooses the service: 0 an HTTP API with sessions, 1 one
 * without, 2 a person who can be asked (also by the Model Context Protocol), 3 a package index, 4 a database, d a
 * declaration. Then by lines:
 * "METHOD PATH SESSION KEY|BODY" is a request, "!JSON" an effect. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/service.h"
#include "services/service_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REQUESTS_MAX = 64 };

/* clang-format off */
static const char *const declared[] = {
	"{\"name\":\"api\",\"kind\":\"http\",\"port\":8080,\"auth\":\"session\",\"keys\":[\"k\"],\"session_requests\":3,"
	"\"versions\":[{\"name\":\"v1\",\"prefix\":\"/v1\",\"fields\":{\"items\":{\"qty\":\"count\"}}},"
	"{\"name\":\"v2\",\"prefix\":\"/v2\",\"fields\":{\"items\":{\"qty\":\"quantity\"}}}],"
	"\"collections\":{\"items\":[{\"id\":\"a\",\"qty\":3}]}}",
	"{\"name\":\"api\",\"kind\":\"http\",\"port\":8080,\"versions\":[{\"name\":\"v1\",\"prefix\":\"/v1\"}],"
	"\"collections\":{\"items\":[{\"id\":7,\"qty\":3}]}}",
	"{\"name\":\"boss\",\"kind\":\"ask\",\"port\":8081,\"questions\":5,"
	"\"blockers\":[{\"id\":\"b\",\"keywords\":[\"unit\"],\"resolution\":\"r\"}]}",
	"{\"name\":\"i\",\"kind\":\"index\",\"port\":8082,\"packages\":["
	"{\"name\":\"A_b\",\"version\":\"1.0\",\"files\":{\"m.py\":\"\"},\"python\":\">=3.6\",\"forms\":[\"wheel\",\"sdist\"]},"
	"{\"name\":\"a-b\",\"version\":\"1.0\",\"variant\":\"x\",\"files\":{\"m.py\":\"1\"},\"unpublished\":true},"
	"{\"name\":\"@t/p\",\"version\":\"1.9.0\",\"ecosystem\":\"npm\",\"files\":{\"index.js\":\"\"}}]}",
	"{\"name\":\"db\",\"kind\":\"sqlite\",\"port\":8083,\"sql\":\"CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT NOT NULL);\\n"
	"INSERT INTO t VALUES (1,'a');\",\"versions\":[{\"name\":\"v2\",\"sql\":\"ALTER TABLE t RENAME COLUMN s TO z;\"}]}",
};
/* clang-format on */

static struct service *make(const char *text, size_t n)
{
	struct json_src src = { 0 };
	struct service *s = NULL;
	struct err err = { 0 };

	if (json_parse("input", text, n, &src, &err) == 0 &&
	    service_new(&src, "$", src.root, &s, &err) < 0 && (s || !err.text[0]))
		abort();
	json_src_done(&src);
	if (s && service_begin(s, &err) < 0)
		s = service_free(s);
	return s;
}

static void change(struct service *s, const char *text, size_t n, struct buf *log)
{
	struct json_src src = { 0 };
	struct err err = { 0 };
	int rc = json_parse("effect", text, n, &src, &err);

	if (rc == 0)
		rc = service_change(s, &src, src.root, &err);
	if (rc < 0 && !err.text[0])
		abort();
	json_src_done(&src);
	buf_adds(log, rc < 0 ? "refused" : "changed");
}

static void check(const struct service_answer *a)
{
	bool json = a->body.len && !a->type;
	cJSON *body = json ? cJSON_ParseWithLength(buf_str(&a->body), a->body.len) : NULL;

	if (a->code < 200 || a->code > 599 || (json && !body) || (a->type && a->code != 200) ||
	    (a->mutating && a->code >= 400))
		abort();
	if (a->code >= 400 && !cJSON_IsString(cJSON_GetObjectItemCaseSensitive(body, "error")))
		abort();
	cJSON_Delete(body);
}

static void request(struct service *s, char *line, const char *body, size_t n, struct buf *log)
{
	struct service_answer a = { .code = 500, .body = BUF_INIT(SERVICE_BODY_MAX) };
	struct service_request q = { .body = body, .n = n };
	char *save = NULL, token[21];

	q.method = strtok_r(line, " ", &save);
	q.path = q.method ? strtok_r(NULL, " ", &save) : NULL;
	q.session = q.path ? strtok_r(NULL, " ", &save) : NULL;
	q.key = q.session ? strtok_r(NULL, " ", &save) : NULL;
	q.accept = q.key;
	if (q.session && strcmp(q.session, "1") == 0) {
		service_token(service_name(s), 1, token);
		q.session = token;
	}
	if (!q.path)
		return;
	service_answer(s, &q, &a);
	check(&a);
	buf_addf(log, "%d %s %s %s ", a.code, a.route, a.what, a.version);
	buf_add(log, buf_str(&a.body), a.body.len);
	buf_done(&a.body);
}

static void play(struct service *s, const char *text, size_t n, struct buf *log)
{
	struct json_w w = { .b = log };
	const char *end = text + n;

	for (int i = 0; i < REQUESTS_MAX && text < end; i++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *last = nl ? nl : end;
		const char *bar = memchr(text, '|', (size_t)(last - text));
		auto_free char *line = mem_strndup(text, (size_t)((bar ? bar : last) - text));
		const char *body = bar ? bar + 1 : last;

		if (*text == '!')
			change(s, text + 1, (size_t)(last - text - 1), log);
		else
			request(s, line, body, (size_t)(last - body), log);
		text = nl ? nl + 1 : end;
	}
	json_open(&w, NULL, '{');
	service_summary(s, &w);
	json_close(&w, '}');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1, *one;
	struct buf log[2] = { BUF_INIT(64u << 20), BUF_INIT(64u << 20) };

	if (size < 1)
		return 0;
	if (data[0] == 'd') {
		service_free(make(text, size - 1));
		return 0;
	}
	one = declared[(uint8_t)(data[0] - '0') % ARRAY_SIZE(declared)];
	for (int i = 0; i < 2; i++) {
		struct service *s = make(one, strlen(one));

		if (!s)
			abort();
		play(s, text, size - 1, &log[i]);
		service_free(s);
	}
	if (log[0].len != log[1].len || memcmp(buf_str(&log[0]), buf_str(&log[1]), log[0].len) != 0)
		abort();
	buf_done(&log[0]);
	buf_done(&log[1]);
	return 0;
}
