/* For tests of services without sockets: make one from its declaration, play requests, change it. */
#ifndef TESTS_UNIT_SERVICES_PLAY_H
#define TESTS_UNIT_SERVICES_PLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services/service.h"
#include "tests/lib/tap.h"

/* The declaration as a service, begun. */
static inline int make(const char *text, struct service **s, struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_parse("the declaration", text, strlen(text), &src, err);

	if (rc == 0)
		rc = service_new(&src, "$.services[0]", src.root, s, err);
	json_src_done(&src);
	if (rc == 0)
		rc = service_begin(*s, err);
	if (rc < 0)
		*s = service_free(*s);
	return rc;
}

static inline int change(struct service *s, const char *text, struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_parse("the effect", text, strlen(text), &src, err);

	if (rc == 0)
		rc = service_change(s, &src, src.root, err);
	json_src_done(&src);
	return rc;
}

/* The effect is carried out. */
static inline void changed(struct service *s, const char *text)
{
	struct err err = { 0 };

	if (!tap_ok(change(s, text, &err) == 0, "effect %s", text))
		tap_diag("%s", err.text);
}

struct step {
	const char *method, *path, *session, *key,
		*body; /* session "1": the first one that was given */
	int code;
	bool mutating;
	const char *says; /* a part of the body */
	const char *accept;
};

static inline void play(struct service *s, const struct step *v, size_t n)
{
	char session[21] = "";

	for (size_t i = 0; i < n; i++) {
		struct service_answer a = { .body = BUF_INIT(SERVICE_BODY_MAX) };
		struct service_request q = {
			.method = v[i].method,
			.path = v[i].path,
			.session = v[i].session && strcmp(v[i].session, "1") == 0 ? session
										  : v[i].session,
			.key = v[i].key,
			.accept = v[i].accept,
			.body = v[i].body ? v[i].body : "",
			.n = v[i].body ? strlen(v[i].body) : 0,
		};
		const char *body;

		service_answer(s, &q, &a);
		body = buf_str(&a.body);
		tap_ok(a.code == v[i].code && a.mutating == v[i].mutating &&
			       strstr(body, v[i].says ? v[i].says : ""),
		       "%s %s: %d %.*s", q.method, q.path, a.code, (int)strcspn(body, "\n"), body);
		if (!session[0] && sscanf(body, "{\"session\":\"%20[0-9a-f]\"}", session) != 1)
			session[0] = '\0';
		buf_done(&a.body);
	}
}

#define PLAY(s, ...)                                                                               \
	do {                                                                                       \
		const struct step v_[] = { __VA_ARGS__ };                                          \
		play(s, v_, sizeof(v_) / sizeof(v_[0]));                                           \
	} while (0)

static inline struct service *made(const char *text)
{
	struct service *s = NULL;
	struct err err = { 0 };

	if (!tap_ok(make(text, &s, &err) == 0, "the declaration is taken: %.40s", text)) {
		tap_diag("%s", err.text);
		exit(tap_done());
	}
	return s;
}

#endif
