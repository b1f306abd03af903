#include "gateway/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gateway/canon.h"
#include "gateway/record.h"

struct resume {
	char *name, *api; /* owned */
	char *canonical;  /* owned: the recorded request */
	size_t canonical_n;
	uint64_t call;
	bool same, begun;
	struct source then;
};

/* Is it another beginning than it must be? The difference goes to @out. */
static bool differs(const struct resume *r, const struct ask *a, struct buf *out)
{
	const char *api = a->q->api->name;

	if (!str_eq(r->api, api)) {
		buf_addf(out, "API: recorded %.40s, now %.40s", r->api, api);
		return true;
	}
	if (r->same)
		return canon_diff(r->canonical, r->canonical_n, a->canonical, a->canonical_n,
				  out) == 1;
	return canon_continues(r->canonical, r->canonical_n, a->canonical, a->canonical_n, out) ==
	       1;
}

static void refuse(const struct ask *a, const struct resume *r, const char *diff)
{
	struct reply reply = { .body = BUF_INIT(0), .tries = 1, .final = true, .end_run = true };

	snprintf(reply.why, sizeof(reply.why), "the first request %s call %llu of %s: %s",
		 r->same ? "is not" : "does not go on with", (unsigned long long)r->call, r->name,
		 diff);
	source_answer(a, &reply);
}

static void resume_ask(void *impl, const struct ask *a)
{
	struct resume *r = impl;
	auto_buf diff = BUF_INIT(4096);

	if (a->purpose == PURPOSE_MAIN && !r->begun) {
		if (differs(r, a, &diff)) {
			refuse(a, r, buf_str(&diff));
			return;
		}
		r->begun = true;
	}
	r->then.ops->ask(r->then.impl, a);
}

static void resume_cancel(void *impl, const struct ask *a)
{
	struct resume *r = impl;

	if (r->then.ops->cancel)
		r->then.ops->cancel(r->then.impl, a);
}

static size_t resume_unmet(void *impl, struct buf *out)
{
	const struct resume *r = impl;

	return r->then.ops->unmet ? r->then.ops->unmet(r->then.impl, out) : 0;
}

static void resume_free(void *impl)
{
	struct resume *r = impl;

	source_done(&r->then);
	free(r->name);
	free(r->api);
	free(r->canonical);
	free(r);
}

static const char *resume_behind(void *impl)
{
	const struct resume *r = impl;

	return r->then.ops->name;
}

static const struct source_ops resume_ops = {
	.name = "resume",
	.ask = resume_ask,
	.cancel = resume_cancel,
	.unmet = resume_unmet,
	.behind = resume_behind,
	.free = resume_free,
};

int resume_open(const char *name, const char *text, size_t n, uint64_t call, bool same,
		struct source then, struct source *ret, struct err *err)
{
	struct recorded_list list = { 0 };
	struct recorded *at = NULL;
	struct resume *r;
	int rc = record_read(name, text, n, &list, err);

	for (size_t i = 0; rc == 0 && i < list.n; i++) {
		if (list.v[i].call == call && list.v[i].purpose == PURPOSE_MAIN)
			at = &list.v[i];
	}
	if (rc == 0 && (!at || !then.ops))
		rc = err_set(err, ERR_INPUT, "%s: %s %llu", name,
			     at ? "nobody is to answer behind call"
				: "there is no request of the main conversation with number",
			     (unsigned long long)call);
	if (rc == 0) {
		r = mem_zalloc(1, sizeof(*r));
		r->name = mem_strdup(name);
		r->api = take_ptr(&at->api);
		r->canonical = take_ptr(&at->canonical);
		r->canonical_n = at->canonical_n;
		r->call = call;
		r->same = same;
		r->then = then;
		*ret = (struct source){ .impl = r, .ops = &resume_ops };
	} else {
		source_done(&then);
	}
	recorded_done(&list);
	return rc;
}
