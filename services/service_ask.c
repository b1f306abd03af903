/* A person who can be asked: knows the answers to some questions and nothing else (HiL-Bench's blockers, the
 * interaction setting of Ambig-SWE). By POST /ask {"question"} and as a server of the Model Context Protocol
 * (JSON-RPC over POST /mcp) with the tool ask_human. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "services/service_internal.h"

enum { BLOCKERS_MAX = 64, QUESTION_MAX = 4000 };

struct blocker {
	char *id, *resolution;
	struct strv keywords; /* lower case; one of them in the question hits */
	uint64_t hits;
};

struct ask {
	struct blocker *v; /* owned */
	size_t n;
	char *unknown; /* what is said to a question that hits none */
	uint64_t max;  /* questions that are answered */
	uint64_t asked, useful;
};

struct blocker_file {
	char *id, *resolution;
	struct strv keywords;
};

struct ask_file {
	char *name, *kind, *unknown;
	uint64_t port, max;
	struct json_array blockers;
};

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field blocker_rows[] = {
	{ "id", JSON_STR, OFF(blocker_file, id), true },
	{ "keywords", JSON_STRV, OFF(blocker_file, keywords), true },
	{ "resolution", JSON_STR, OFF(blocker_file, resolution), true },
	{ NULL },
};

static const struct json_field ask_rows[] = {
	{ "name", JSON_STR, OFF(ask_file, name), true },
	{ "kind", JSON_STR, OFF(ask_file, kind), true },
	{ "port", JSON_U64, OFF(ask_file, port), true },
	{ "questions", JSON_U64, OFF(ask_file, max) },
	{ "unknown", JSON_STR, OFF(ask_file, unknown) },
	{ "blockers", JSON_ARRAY, OFF(ask_file, blockers), true, .rows = blocker_rows, .size = sizeof(struct blocker_file) },
	{ NULL },
};
/* clang-format on */

static void ask_free(void *state)
{
	struct ask *a = state;

	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].id);
		free(a->v[i].resolution);
		strv_done(&a->v[i].keywords);
	}
	free(a->v);
	free(a->unknown);
	free(a);
}

static char *lower(const char *s, size_t n)
{
	char *out = mem_strndup(s, n);

	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

static int ask_open(const struct json_src *src, const char *where, const cJSON *item, void **ret,
		    struct err *err)
{
	struct ask_file f = { .max = 10 };
	struct ask *a;
	struct blocker_file *b;
	int rc = json_read(src, where, item, ask_rows, &f, err);

	if (rc == 0 && (f.blockers.n < 1 || f.blockers.n > BLOCKERS_MAX))
		rc = json_complain(src, where, err, "blockers: 1 to %d", BLOCKERS_MAX);
	if (rc == 0) {
		a = mem_zalloc(1, sizeof(*a));
		a->max = f.max;
		a->unknown = f.unknown ? take_ptr(&f.unknown)
				       : mem_strdup("I do not know; decide as you think best.");
		a->v = mem_zalloc(f.blockers.n, sizeof(*a->v));
		a->n = f.blockers.n;
		b = f.blockers.v;
		for (size_t i = 0; i < a->n; i++) {
			a->v[i].id = take_ptr(&b[i].id);
			a->v[i].resolution = take_ptr(&b[i].resolution);
			strv_each (k, &b[i].keywords)
				strv_take(&a->v[i].keywords,
					  lower(b[i].keywords.v[k], strlen(b[i].keywords.v[k])));
		}
		*ret = a;
	}
	json_release(ask_rows, &f);
	return rc;
}

/* The answer to one question; @what says which blocker it hit. */
static const char *reply_to(struct ask *a, const char *question, char what[256])
{
	auto_free char *q = lower(question, strnlen(question, QUESTION_MAX));

	if (a->asked >= a->max) {
		snprintf(what, 256, "no more questions");
		return "I have no time for more questions.";
	}
	a->asked++;
	for (size_t i = 0; i < a->n; i++) {
		strv_each (k, &a->v[i].keywords) {
			if (!strstr(q, a->v[i].keywords.v[k]))
				continue;
			a->v[i].hits++;
			a->useful++;
			snprintf(what, 256, "blocker %.200s", a->v[i].id);
			return a->v[i].resolution;
		}
	}
	snprintf(what, 256, "no blocker");
	return a->unknown;
}

static void plain(struct ask *a, const cJSON *body, struct service_answer *out)
{
	const char *q = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(body, "question"));
	cJSON *o;

	if (!q || !q[0]) {
		service_error(out, 400, "send {\"question\": \"...\"}");
		return;
	}
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "answer", reply_to(a, q, out->what));
	service_put(out, 200, o);
	cJSON_Delete(o);
}

/* --- Model Context Protocol (revision 2025-03-26, "Streamable HTTP" without streams) ------------------- */

static const char tool_text[] =
	"{\"tools\":[{\"name\":\"ask_human\",\"description\":\"Ask the person who gave you the task one "
	"question.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"question\":{\"type\":"
	"\"string\"}},\"required\":[\"question\"]}}]}";

static const char hello_text[] =
	"{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{\"tools\":{}},"
	"\"serverInfo\":{\"name\":\"person\",\"version\":\"1\"}}";

static cJSON *call_tool(struct ask *a, const cJSON *params, struct service_answer *out)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(params, "arguments");
	const char *q = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(args, "question"));
	cJSON *result = cJSON_CreateObject(), *content = cJSON_AddArrayToObject(result, "content");
	cJSON *part = cJSON_CreateObject();

	cJSON_AddStringToObject(part, "type", "text");
	cJSON_AddStringToObject(part, "text",
				q && q[0] ? reply_to(a, q, out->what) : "ask a question");
	cJSON_AddBoolToObject(result, "isError", !(q && q[0]));
	cJSON_AddItemToArray(content, part);
	return result;
}

static void mcp(struct ask *a, const cJSON *body, struct service_answer *out)
{
	const char *method = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(body, "method"));
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(body, "id");
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(body, "params");
	cJSON *o, *result = NULL;

	if (!method) {
		service_error(out, 400, "no JSON-RPC request");
		return;
	}
	/* A notification is taken and not answered. */
	if (!id) {
		out->code = 202;
		return;
	}
	if (strcmp(method, "initialize") == 0)
		result = cJSON_Parse(hello_text);
	else if (strcmp(method, "tools/list") == 0)
		result = cJSON_Parse(tool_text);
	else if (strcmp(method, "ping") == 0)
		result = cJSON_CreateObject();
	else if (strcmp(method, "tools/call") == 0)
		result = call_tool(a, params, out);
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "jsonrpc", "2.0");
	cJSON_AddItemToObject(o, "id", cJSON_Duplicate(id, true));
	if (result) {
		cJSON_AddItemToObject(o, "result", result);
	} else {
		cJSON *e = cJSON_AddObjectToObject(o, "error");

		cJSON_AddNumberToObject(e, "code", -32601);
		cJSON_AddStringToObject(e, "message", "no such method");
	}
	service_put(out, 200, o);
	cJSON_Delete(o);
}

static void ask_answer(void *state, const struct service_request *q, struct service_answer *out)
{
	static const struct {
		const char *path;
		void (*fn)(struct ask *a, const cJSON *body, struct service_answer *out);
	} routes[] = { { "/ask", plain }, { "/mcp", mcp } };
	cJSON *body;

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (strcmp(q->path, routes[i].path) != 0)
			continue;
		snprintf(out->route, sizeof(out->route), "%s", routes[i].path);
		if (strcmp(q->method, "POST") != 0) {
			service_error(out, 405, "use POST");
			return;
		}
		body = cJSON_ParseWithLength(q->body, q->n);
		if (cJSON_IsObject(body))
			routes[i].fn(state, body, out);
		else
			service_error(out, 400, "the body is no JSON object");
		cJSON_Delete(body);
		return;
	}
	service_error(out, 404, "POST /ask with {\"question\": \"...\"}, or MCP at /mcp");
}

struct ask_change {
	char *name;
	uint64_t questions;
	bool down;
};

/* clang-format off */
static const struct json_field change_rows[] = {
	{ "name", JSON_STR, OFF(ask_change, name) },
	{ "questions", JSON_U64, OFF(ask_change, questions) },
	{ "down", JSON_BOOL, OFF(ask_change, down) },
	{ NULL },
};
/* clang-format on */

static int ask_change_it(void *state, const struct json_src *src, const cJSON *change,
			 struct err *err)
{
	struct ask *a = state;
	struct ask_change c = { .questions = a->max };
	int rc = json_read(src, "service", change, change_rows, &c, err);

	if (rc == 0)
		a->max = c.questions;
	json_release(change_rows, &c);
	return rc;
}

/* Precision: of the questions, those that hit a blocker; recall: of the blockers, those that were hit. */
static void ask_summary(const void *state, struct json_w *w)
{
	const struct ask *a = state;
	uint64_t found = 0;
	double p, r;

	for (size_t i = 0; i < a->n; i++)
		found += a->v[i].hits > 0;
	p = a->asked ? (double)a->useful / (double)a->asked : 0;
	r = (double)found / (double)a->n;
	json_u64(w, "questions", a->asked);
	json_u64(w, "useful", a->useful);
	json_u64(w, "blockers", a->n);
	json_u64(w, "found", found);
	json_dbl(w, "ask_precision", p);
	json_dbl(w, "ask_recall", r);
	json_dbl(w, "ask_f1", p + r > 0 ? 2 * p * r / (p + r) : 0);
}

const struct service_row service_ask = {
	.kind = "ask",
	.open = ask_open,
	.answer = ask_answer,
	.change = ask_change_it,
	.summary = ask_summary,
	.free = ask_free,
};
