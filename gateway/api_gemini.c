/* Gemini generateContent: the request. Model and form of the answer stand in the path; keys may be
 * written in either of protobuf's two spellings. A user message is a content of its own: some models
 * refuse text beside function responses. */
#include "gateway/api_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "gateway/api_gemini_internal.h"

enum { PAIR_WINDOW = 256 }; /* calls looked at for the one that a response without id answers */

/* clang-format off */
static const char *const roles[] = { "user", "model", "function", "system", NULL };
static const enum item_kind kinds[] = { ITEM_USER, ITEM_ASSISTANT, ITEM_USER, ITEM_SYSTEM };
/* Members of a tool that the client carries out itself; everything else is the provider's. */
static const char *const client_side[] = { "functionDeclarations", "computerUse", NULL };
static const char *const with_tools[] = { "toolConfig", NULL };
static const char *const media[] = { "fileData", NULL };
static const char *const inner[] = { "fileUri", "uri", "url", NULL };
static const char *const several[] = { "candidateCount", NULL };
/* clang-format on */

/* Calls of the model's latest turn, for responses that carry no id. */
struct pending {
	size_t *item; /* owned */
	bool *done;   /* owned */
	size_t n, cap, cap_done, from;
};

/* Member @key of @at, in lower camel case or with underscores. */
static uint32_t get(const struct jdoc *d, uint32_t at, const char *key)
{
	uint32_t found = jdoc_get(d, at, key);

	if (found != JNONE || jdoc_kind(d, at) != J_OBJECT)
		return found;
	jdoc_each (c, d, at)
		if (api_strip_key(d, c, key))
			return c;
	return JNONE;
}

/* A count wraps the request it counts. */
static uint32_t root(const struct jdoc *d)
{
	uint32_t inside = get(d, 0, "generateContentRequest");

	return jdoc_kind(d, inside) == J_OBJECT ? inside : 0;
}

/* A call without id is known by its name and arguments: a number would not survive truncation. */
static int read_call(struct reading *r, struct pending *p, uint32_t entry, uint32_t m, uint32_t f)
{
	const struct jdoc *d = r->d;
	struct item it = api_request_part(r, ITEM_CALL, entry, m);

	it.name = jdoc_strdup(d, get(d, f, "name"));
	it.text = api_request_raw(d, get(d, f, "args"));
	it.id = jdoc_strdup(d, get(d, f, "id"));
	if (!it.id)
		it.id = mem_printf("%s#%016llx", it.name ? it.name : "",
				   (unsigned long long)map_hash(it.text, strlen(it.text)));
	MEM_GROW(p->item, p->cap, p->n + 1);
	MEM_GROW(p->done, p->cap_done, p->n + 1);
	p->item[p->n] = r->q->n_items;
	p->done[p->n++] = false;
	return api_request_item(r, &it);
}

/* Id of the first call of this turn by that name that has no response yet. */
static char *pair(const struct reading *r, struct pending *p, const char *name)
{
	while (p->from < p->n && p->done[p->from])
		p->from++;
	for (size_t i = p->from; i < p->n && i < p->from + PAIR_WINDOW; i++) {
		const struct item *call = &r->q->items[p->item[i]];

		if (p->done[i] || !str_eq(call->name, name))
			continue;
		p->done[i] = true;
		return mem_strdup(call->id);
	}
	return NULL;
}

/* Text of a response: what tools put under one of the usual names, else all of it. */
static char *response_text(const struct jdoc *d, uint32_t response)
{
	static const char *const keys[] = { "output", "result", "content", "error" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char *s = jdoc_strdup(d, jdoc_get(d, response, keys[i]));

		if (s)
			return s;
	}
	return api_request_raw(d, response);
}

static int read_response(struct reading *r, struct pending *p, uint32_t entry, uint32_t m,
			 uint32_t f)
{
	const struct jdoc *d = r->d;
	struct item it = api_request_part(r, ITEM_RESULT, entry, m);
	auto_free char *name = jdoc_strdup(d, get(d, f, "name"));

	it.text = response_text(d, get(d, f, "response"));
	it.id = jdoc_strdup(d, get(d, f, "id"));
	if (!it.id)
		it.id = pair(r, p, name);
	return api_request_item(r, &it);
}

/* What lies between calls and responses in one content, as one item. */
static int flush(struct reading *r, enum item_kind kind, uint32_t entry, uint32_t m,
		 struct buf *text, bool *some)
{
	struct item it = api_request_part(r, kind, entry, m);

	if (!*some)
		return 0;
	*some = false;
	it.text = buf_steal(text, NULL);
	return api_request_item(r, &it);
}

static void add_part(const struct jdoc *d, uint32_t part, bool first, struct buf *text)
{
	uint32_t key = jdoc_first(d, part);

	if (!first)
		buf_addc(text, '\n');
	if (jdoc_str(d, get(d, part, "text"), text) == 0)
		return;
	buf_addc(text, '[');
	if (key == JNONE || jdoc_key(d, key, text) < 0)
		buf_adds(text, "part");
	buf_addc(text, ']');
}

static int read_content(struct reading *r, struct pending *p, uint32_t entry, uint32_t m)
{
	const struct jdoc *d = r->d;
	int role = api_answer_word(d, jdoc_get(d, m, "role"), roles), rc = 0;
	enum item_kind kind = role < 0 ? ITEM_USER : kinds[role];
	auto_buf text = BUF_INIT(API_BODY_MAX);
	bool some = false;

	if (kind == ITEM_ASSISTANT)
		p->n = p->from = 0;
	if (jdoc_first(d, get(d, m, "parts")) == JNONE)
		some = true; /* an entry without parts is an item all the same */
	jdoc_each (part, d, get(d, m, "parts")) {
		uint32_t call = get(d, part, "functionCall"),
			 response = get(d, part, "functionResponse");

		if (rc < 0)
			break;
		if (call == JNONE && response == JNONE) {
			add_part(d, part, !some, &text);
			some = true;
			continue;
		}
		rc = flush(r, kind, entry, m, &text, &some);
		if (rc == 0 && call != JNONE)
			rc = read_call(r, p, entry, m, call);
		else if (rc == 0)
			rc = read_response(r, p, entry, m, response);
	}
	return rc < 0 ? rc : flush(r, kind, entry, m, &text, &some);
}

static void read_tools(struct reading *r, uint32_t at)
{
	const struct jdoc *d = r->d;

	jdoc_each (t, d, get(d, at, "tools"))
		jdoc_each (f, d, get(d, t, "functionDeclarations"))
			api_request_tool(r, jdoc_get(d, f, "name"));
}

/* "/v1beta/models/NAME:streamGenerateContent?alt=sse" */
static void read_path(struct api_request *q, const char *path)
{
	const char *name = strcasestr(path, "models/"), *verb; /* also "tunedModels/" */
	const char *query = strchr(path, '?');

	name = name ? name + strlen("models/") : "";
	verb = name + strcspn(name, ":?");
	if (verb > name)
		q->model = mem_strndup(name, (size_t)(verb - name));
	if (!str_starts(verb, ":streamGenerateContent"))
		return;
	for (; query && !q->stream; query = strchr(query + 1, '&'))
		q->stream = str_starts(query + 1, "alt=sse");
	q->list = !q->stream;
}

static int gemini_read(struct api_request *q, const char *path, struct err *err)
{
	const struct jdoc *d = &q->doc;
	struct pending p = { 0 };
	struct reading r;
	uint32_t at = root(d), list, entry = 0;
	int rc;

	api_request_begin(&r, q, err);
	read_path(q, path);
	api_request_max(&r, get(d, get(d, at, "generationConfig"), "maxOutputTokens"), JNONE);
	api_request_system(&r, get(d, get(d, at, "systemInstruction"), "parts"));
	read_tools(&r, at);
	list = api_request_list(&r, at, "contents", &rc);
	jdoc_each (m, d, list) {
		if (rc == 0)
			rc = read_content(&r, &p, entry++, m);
	}
	free(p.item);
	free(p.done);
	api_request_end(&r);
	return rc;
}

static void gemini_place(const struct api_request *q, size_t after, const char *text,
			 struct jedit *edits)
{
	const struct jdoc *d = &q->doc;
	uint32_t list = jdoc_get(d, root(d), "contents");
	size_t slot = api_request_slot(q, after);
	auto_free char *json =
		api_request_quoted("{\"role\":\"user\",\"parts\":[{\"text\":", text, "}]}");

	jedit_insert(edits, d, list,
		     slot == SIZE_MAX ? JNONE : api_request_entry(d, list, q->items[slot].entry),
		     json);
}

static bool may_stay(const struct jdoc *d, uint32_t member)
{
	for (size_t i = 0; client_side[i]; i++)
		if (api_strip_key(d, member, client_side[i]))
			return true;
	return false;
}

/* A tool of which nothing may stay. */
static bool all_theirs(const struct jdoc *d, uint32_t tool)
{
	if (jdoc_kind(d, tool) != J_OBJECT || jdoc_first(d, tool) == JNONE)
		return false;
	jdoc_each (c, d, tool)
		if (may_stay(d, c))
			return false;
	return true;
}

/* Provider-side members of tools that also hold functions. */
static void strip_mixed(struct strip *s, uint32_t list)
{
	jdoc_each (t, s->d, list) {
		if (jdoc_kind(s->d, t) != J_OBJECT || all_theirs(s->d, t))
			continue;
		jdoc_each (c, s->d, t) {
			auto_buf name = BUF_INIT(256);

			if (may_stay(s->d, c))
				continue;
			(void)jdoc_key(s->d, c, &name); /* members have keys */
			api_strip_tell(s, "tool", buf_str(&name));
			if (s->edits)
				jedit_remove(s->edits, s->d, t, c);
		}
	}
}

static void strip_content(struct strip *s, uint32_t m)
{
	if (jdoc_kind(s->d, m) != J_OBJECT)
		return;
	jdoc_each (parts, s->d, m) {
		if (!api_strip_key(s->d, parts, "parts"))
			continue;
		jdoc_each (part, s->d, parts) {
			uint32_t response = get(s->d, part, "functionResponse");

			if (!api_strip_part(s, part) && response != JNONE)
				api_strip_parts(s, get(s->d, response, "parts"));
		}
	}
}

static void strip_root(struct strip *s, uint32_t at)
{
	if (jdoc_kind(s->d, at) != J_OBJECT)
		return;
	api_strip_tools(s, at);
	jdoc_each (c, s->d, at) {
		if (api_strip_key(s->d, c, "tools") && jdoc_kind(s->d, c) == J_ARRAY)
			strip_mixed(s, c);
		if (api_strip_key(s->d, c, "generationConfig"))
			api_strip_several(s, c, several);
		if (api_strip_key(s->d, c, "systemInstruction"))
			strip_content(s, c);
		if (api_strip_key(s->d, c, "contents") && jdoc_kind(s->d, c) == J_ARRAY)
			jdoc_each (m, s->d, c)
				strip_content(s, m);
	}
}

static size_t gemini_strip(const struct api_request *q, struct jedit *edits, struct api_strip *what,
			   size_t max)
{
	struct strip s = { .d = &q->doc,
			   .edits = edits,
			   .what = what,
			   .max = max,
			   .denied = all_theirs,
			   .with = with_tools,
			   .media = media,
			   .inner = inner,
			   .removed = "{\"text\":\"" API_REMOVED_TEXT "\"}" };

	strip_root(&s, 0);
	jdoc_each (c, s.d, 0)
		if (api_strip_key(s.d, c, "generateContentRequest"))
			strip_root(&s, c);
	return s.n;
}

static void gemini_cap(const struct api_request *q, uint64_t max, struct jedit *edits)
{
	const struct jdoc *d = &q->doc;
	uint32_t config = get(d, 0, "generationConfig");
	bool snake = get(d, config, "maxOutputTokens") != jdoc_get(d, config, "maxOutputTokens");
	auto_free char *json = mem_printf("{\"maxOutputTokens\":%llu}", (unsigned long long)max);

	if (jdoc_kind(d, config) == J_OBJECT)
		api_request_cap(d, config, snake ? "max_output_tokens" : "maxOutputTokens", max,
				true, edits);
	else if (config == JNONE)
		jedit_set(edits, d, 0, "generationConfig", json);
	else
		jedit_replace(edits, d, config, json);
}

const struct api api_gemini_row = {
	.name = "gemini",
	.id = AGENT_API_GEMINI,
	.key_header = "x-goog-api-key",
	.bearer = false,
	.public_url = "https://generativelanguage.googleapis.com",
	.base_path = "",
	.key_env = "GEMINI_API_KEY",
	.key_shape = "AIza00000000000000000000000000000000000",
	.read = gemini_read,
	.place = gemini_place,
	.strip = gemini_strip,
	.cap_output = gemini_cap,
	.answer = api_gemini_answer,
	.write = api_gemini_write,
	.error = api_gemini_error,
	.count = api_gemini_count,
	.models = api_gemini_models,
};
