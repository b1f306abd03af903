/* strict.json. */
#include "base/json.h"
#include "verifier/strict_internal.h"

static void put_records(struct json_w *w, const char *key, const struct pred_records *r)
{
	json_open(w, key, '[');
	for (size_t i = 0; i < r->n; i++)
		json_u64(w, NULL, r->v[i]);
	json_close(w, ']');
}

static void put_number(struct json_w *w, const char *key, uint64_t n)
{
	if (n && n != UINT64_MAX)
		json_u64(w, key, n);
	else
		json_null(w, key);
}

static void put_parts(struct json_w *w, const struct pred_finding *f)
{
	json_open(w, "parts", '[');
	for (size_t i = 0; i < f->n; i++) {
		const struct pred_part *p = &f->v[i];

		json_open(w, NULL, '{');
		json_u64(w, "depth", p->depth);
		json_str(w, "asked", p->asked);
		json_bool(w, "ok", p->ok);
		json_str(w, "reason", p->reason);
		if (p->windowed) {
			put_number(w, "after", p->after);
			put_number(w, "before", p->before);
		}
		put_records(w, "records", &p->records);
		if (p->records.total > p->records.n)
			json_u64(w, "matches", p->records.total);
		if (p->outside.n)
			put_records(w, "outside", &p->outside);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_row(struct json_w *w, const struct strict_row *r, bool parts)
{
	json_open(w, NULL, '{');
	json_str(w, "name", r->name);
	json_bool(w, "applies", r->applies);
	json_bool(w, "ok", r->ok);
	json_str(w, "reason", r->reason);
	put_records(w, "records", &r->records);
	if (parts)
		put_parts(w, &r->parts);
	json_close(w, '}');
}

static void put_figures(struct json_w *w, const struct strict_result *r)
{
	json_open(w, "figures", '[');
	for (size_t i = 0; i < r->n_figures; i++) {
		const struct strict_figure *f = &r->figure[i];
		double value = strict_figure_value(f);

		json_open(w, NULL, '{');
		json_str(w, "name", f->name);
		json_u64(w, "count", f->count);
		if (f->rate)
			json_u64(w, "of", f->of);
		else
			json_null(w, "of");
		if (value >= 0)
			json_dbl(w, "value", value);
		else
			json_null(w, "value");
		put_parts(w, &f->parts);
		json_close(w, '}');
	}
	json_close(w, ']');
}

void strict_json(const struct strict_result *r, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.strict/1");
	json_str(&w, "arm", strict_arm_name(r->arm));
	json_str(&w, "scenario", r->scenario);
	json_open(&w, "authority", '{');
	json_str(&w, "goal", r->goal);
	json_str(&w, "verifier", r->verifier);
	json_close(&w, '}');
	json_open(&w, "points", '{');
	put_number(&w, "fork", r->fork);
	put_number(&w, "update", r->update);
	put_number(&w, "told", r->told);
	put_number(&w, "first_mutation", r->mutation);
	json_close(&w, '}');
	json_open(&w, "valid", '{');
	json_bool(&w, "ok", r->valid);
	json_open(&w, "rows", '[');
	for (size_t i = 0; i < STRICT_VALID_MAX; i++)
		put_row(&w, &r->rule[i], false);
	json_close(&w, ']');
	json_close(&w, '}');
	json_open(&w, "checks", '[');
	for (size_t i = 0; i < STRICT_CHECK_MAX; i++)
		put_row(&w, &r->check[i], true);
	json_close(&w, ']');
	if (r->has_milestones) {
		json_open(&w, "milestones", '{');
		json_u64(&w, "matched", r->matched);
		json_u64(&w, "of", r->of);
		json_dbl(&w, "similarity", r->similarity);
		put_parts(&w, &r->milestones);
		json_close(&w, '}');
	} else {
		json_null(&w, "milestones");
	}
	put_figures(&w, r);
	json_bool(&w, "success", r->success);
	json_close(&w, '}');
	buf_addc(out, '\n');
}
