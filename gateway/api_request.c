/* The request half of api_internal.h. */
#include "gateway/api_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "gateway/canon.h"

static void item_done(struct item *it)
{
	free(it->id);
	free(it->name);
	free(it->text);
}

void api_request_done(struct api_request *q)
{
	for (size_t i = 0; i < q->n_items; i++)
		item_done(&q->items[i]);
	free(q->items);
	free(q->model);
	jdoc_done(&q->doc);
	*q = (struct api_request){ 0 };
}

void api_request_begin(struct reading *r, struct api_request *q, struct err *err)
{
	*r = (struct reading){ .q = q, .d = &q->doc, .err = err, .system = BUF_INIT(API_BODY_MAX) };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void api_request_end(struct reading *r)
{
	auto_buf stable = BUF_INIT(API_BODY_MAX);

	canon_text(buf_str(&r->system), r->system.len, &stable);
	digest_bytes(buf_str(&stable), stable.len, r->q->system);
	buf_clear(&stable);
	/* servers of tools come up in any order */
	if (r->tools.n)
		qsort(r->tools.v, r->tools.n, sizeof(*r->tools.v), by_name);
	strv_each (i, &r->tools) {
		buf_adds(&stable, r->tools.v[i]);
		buf_addc(&stable, '\n');
	}
	digest_bytes(buf_str(&stable), stable.len, r->q->toolset);
	strv_done(&r->tools);
	buf_done(&r->system);
}

static void add_system(struct reading *r, const char *text)
{
	buf_adds(&r->system, text);
	buf_addc(&r->system, '\n');
}

struct item api_request_part(const struct reading *r, enum item_kind kind, uint32_t entry,
			     uint32_t at)
{
	const struct jnode *v = &r->d->v[at];

	return (struct item){ .kind = kind, .entry = entry, .span = { v->start, v->end } };
}

int api_request_item(struct reading *r, const struct item *it)
{
	struct api_request *q = r->q;

	if (it->kind != ITEM_SYSTEM)
		r->later = true;
	else if (!r->later)
		add_system(r, it->text ? it->text : "");
	if (q->n_items == API_ITEMS_MAX) {
		struct item gone = *it;

		item_done(&gone);
		return err_set(r->err, ERR_INPUT, "the conversation has more than %d entries",
			       API_ITEMS_MAX);
	}
	MEM_GROW(q->items, r->cap, q->n_items + 1);
	q->items[q->n_items++] = *it;
	return 0;
}

void api_request_system(struct reading *r, uint32_t at)
{
	if (at == JNONE)
		return;
	auto_free char *text = api_request_text(r->d, at);

	add_system(r, text);
}

void api_request_tool(struct reading *r, uint32_t name)
{
	char *s = jdoc_strdup(r->d, name);

	r->q->tools++;
	strv_take(&r->tools, s ? s : mem_strdup(""));
}

void api_request_max(struct reading *r, uint32_t a, uint32_t b)
{
	(void)api_answer_max(&r->q->max_output, r->d, a); /* absent is fine */
	(void)api_answer_max(&r->q->max_output, r->d, b); /* as above */
}

uint32_t api_request_list(struct reading *r, uint32_t parent, const char *key, int *rc)
{
	uint32_t list = jdoc_get(r->d, parent, key);

	*rc = 0;
	if (jdoc_kind(r->d, list) == J_ARRAY)
		return list;
	if (r->q->route == API_ROUTE_CHAT || list != JNONE)
		*rc = err_set(r->err, ERR_INPUT, "\"%s\" must be an array", key);
	return JNONE;
}

static void add_part(const struct jdoc *d, uint32_t at, struct buf *out)
{
	uint32_t text = jdoc_get(d, at, "text");

	if (jdoc_str(d, at, out) == 0 || jdoc_str(d, text, out) == 0 ||
	    jdoc_str(d, jdoc_get(d, at, "refusal"), out) == 0)
		return;
	buf_addc(out, '[');
	if (jdoc_str(d, jdoc_get(d, at, "type"), out) < 0)
		buf_adds(out, "part");
	buf_addc(out, ']');
}

char *api_request_text(const struct jdoc *d, uint32_t at)
{
	struct buf b = BUF_INIT(API_BODY_MAX);
	bool first = true;

	if (jdoc_kind(d, at) == J_ARRAY) {
		jdoc_each (c, d, at) {
			if (!first)
				buf_addc(&b, '\n');
			first = false;
			add_part(d, c, &b);
		}
	} else if (jdoc_kind(d, at) == J_STRING || jdoc_kind(d, at) == J_OBJECT) {
		add_part(d, at, &b);
	}
	return buf_steal(&b, NULL);
}

char *api_request_raw(const struct jdoc *d, uint32_t at)
{
	if (jdoc_kind(d, at) == J_NONE)
		return mem_strdup("");
	return mem_strndup(d->text + d->v[at].start, d->v[at].end - d->v[at].start);
}

/* blocked[i] > 0: a call at or before item i has its result behind it. @blocked has n zeros. An id
 * that is used again begins anew: some clients number their calls from zero in every turn. */
static void block(const struct api_request *q, int32_t *blocked)
{
	struct map open = { 0 };
	int32_t depth = 0;

	for (size_t i = 0; i < q->n_items; i++) {
		const struct item *it = &q->items[i];
		uint64_t key = it->id ? map_hash(it->id, strlen(it->id)) | 1 : 0;
		const struct item *call;

		if (!it->id)
			continue;
		if (it->kind == ITEM_CALL)
			map_put(&open, key, &q->items[i]);
		if (it->kind != ITEM_RESULT)
			continue;
		call = map_del(&open, key);
		if (call) {
			blocked[call - q->items]++;
			blocked[i]--;
		}
	}
	for (size_t i = 0; i < q->n_items; i++) {
		depth += blocked[i];
		blocked[i] = depth;
	}
	map_done(&open);
}

size_t api_request_slot(const struct api_request *q, size_t after)
{
	auto_free int32_t *blocked = mem_zalloc(q->n_items + 1, sizeof(*blocked));
	size_t n = q->n_items, i;

	if (!n)
		return SIZE_MAX;
	block(q, blocked);
	for (i = after < n ? after : n - 1; i + 1 < n; i++) {
		const struct item *it = &q->items[i], *next = it + 1;
		bool model = it->kind == ITEM_ASSISTANT || it->kind == ITEM_CALL ||
			     it->kind == ITEM_OTHER;

		/* what the model said before a call belongs to it: text, reasoning, other calls */
		if (!blocked[i] && next->entry != it->entry && next->kind != ITEM_RESULT &&
		    !(next->kind == ITEM_CALL && model))
			break;
	}
	return i;
}

uint32_t api_request_entry(const struct jdoc *d, uint32_t list, uint32_t entry)
{
	if (jdoc_kind(d, list) == J_NONE)
		return JNONE;
	jdoc_each (c, d, list)
		if (entry-- == 0)
			return c;
	return JNONE;
}

char *api_request_quoted(const char *head, const char *text, const char *tail)
{
	struct buf b = BUF_INIT(API_BODY_MAX);

	buf_adds(&b, head);
	jedit_quote(&b, text, strlen(text));
	buf_adds(&b, tail);
	return buf_steal(&b, NULL);
}

void api_request_cap(const struct jdoc *d, uint32_t parent, const char *key, uint64_t max, bool add,
		     struct jedit *edits)
{
	uint32_t at = jdoc_get(d, parent, key);
	auto_free char *text = mem_printf("%llu", (unsigned long long)max);
	uint64_t now;

	if (at == JNONE ? !add : jdoc_u64(d, at, &now) == 0 && now <= max)
		return;
	jedit_set(edits, d, parent, key, text);
}
