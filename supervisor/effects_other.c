/* The effects that are given as objects, by kind. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/effect.h"
#include "supervisor/effects_internal.h"
#include "supervisor/services.h"

/* A version that the effect does not name stays. */
int effects_authority(struct sup *s, const struct json_src *src, cJSON *item, struct err *err)
{
	struct effect_authority a = { 0 };
	struct buf *b;
	int rc = effect_authority_read(src, "authority", item, &a, err);

	if (rc < 0)
		return rc;
	if (a.goal) {
		free(s->goal);
		s->goal = take_ptr(&a.goal);
	}
	if (a.verifier) {
		free(s->verifier);
		s->verifier = take_ptr(&a.verifier);
	}
	effect_authority_done(&a);
	b = sink_begin(s->sink, TK_AUTHORITY, 0, 0, 0, s->epoch);
	tracerec_str(b, "goal", s->goal ? s->goal : "initial",
		     strlen(s->goal ? s->goal : "initial"));
	tracerec_str(b, "verifier", s->verifier ? s->verifier : "initial",
		     strlen(s->verifier ? s->verifier : "initial"));
	sink_end(s->sink);
	return 0;
}

static const struct {
	enum effect_kind kind;
	int (*fn)(struct sup *s, const struct json_src *src, cJSON *item, struct err *err);
} rows[] = {
	{ EFFECT_PLACE, effects_place },
	{ EFFECT_RUNTIME, effects_runtime },
	{ EFFECT_AUTHORITY, effects_authority },
	{ EFFECT_SERVICE, services_change },
};

int effects_other(void *arg, enum effect_kind kind, const char *json, struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_parse("the effect", json, strlen(json), &src, err);

	if (rc < 0)
		return rc;
	rc = err_set(err, ERR_INPUT, "this run cannot carry out an effect \"%s\"",
		     scenario_effect_name(kind));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].kind == kind)
			rc = rows[i].fn(arg, &src, src.root, err);
	}
	json_src_done(&src);
	return rc;
}
