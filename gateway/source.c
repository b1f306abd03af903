#include "gateway/source.h"

#include <stdio.h>
#include <string.h>

void reply_done(struct reply *r)
{
	size_t max = r->body.max;

	buf_done(&r->body);
	*r = (struct reply){ .body = BUF_INIT(max) };
}

void source_answer(const struct ask *a, struct reply *r)
{
	if (a->bytes && r->body.len)
		a->bytes(a->arg, r, 0);
	a->done(a->arg, r);
	reply_done(r);
}

void source_refuse(const struct ask *a, bool final, const char *why)
{
	struct reply r = { .body = BUF_INIT(0), .tries = 1, .final = final };

	snprintf(r.why, sizeof(r.why), "%s", why);
	source_answer(a, &r);
}

void source_done(struct source *src)
{
	if (src->ops)
		src->ops->free(src->impl);
	*src = (struct source){ 0 };
}

const char *source_name(const struct source *src, const struct reply *r)
{
	return src->ops->behind && !r->recorded ? src->ops->behind(src->impl) : src->ops->name;
}
