#include "gateway/api.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gateway/api_internal.h"

enum { MODEL_NAME_MAX = 200 };

/* Which paths mean what, behind the version prefix. */
struct route {
	const char *method; /* NULL = GET or HEAD */
	const char *path;
	enum api_route route;
	const struct api *api;
};

/* clang-format off */
static const struct route routes[] = {
	{ "POST", "/chat/completions",       API_ROUTE_CHAT,    &api_chat_row },
	{ "POST", "/responses",              API_ROUTE_CHAT,    &api_responses_row },
	{ "POST", "/responses/compact",      API_ROUTE_COMPACT, &api_responses_row },
	{ "POST", "/responses/input_tokens", API_ROUTE_COUNT,   &api_responses_row },
	{ "POST", "/messages",               API_ROUTE_CHAT,    &api_anthropic_row },
	{ "POST", "/messages/count_tokens",  API_ROUTE_COUNT,   &api_anthropic_row },
	{ "GET",  "/models",                 API_ROUTE_MODELS,  &api_chat_row },
	{ NULL,   "",                        API_ROUTE_PROBE,   NULL },
};

/* Gemini: what stands behind the model's name. */
static const struct route verbs[] = {
	{ "POST", ":generateContent",        API_ROUTE_CHAT,    &api_gemini_row },
	{ "POST", ":streamGenerateContent",  API_ROUTE_CHAT,    &api_gemini_row },
	{ "POST", ":countTokens",            API_ROUTE_COUNT,   &api_gemini_row },
	{ "GET",  "",                        API_ROUTE_MODELS,  &api_chat_row },
};

static const char *const versions[] = { "/v1beta1", "/v1beta", "/v1alpha", "/v1" };
/* clang-format on */

static const struct api *const rows[] = {
	[AGENT_API_CHAT] = &api_chat_row,
	[AGENT_API_RESPONSES] = &api_responses_row,
	[AGENT_API_ANTHROPIC] = &api_anthropic_row,
	[AGENT_API_GEMINI] = &api_gemini_row,
};

const struct api *api_of(enum agent_api id)
{
	ensure(id > AGENT_API_NONE && id < ARRAY_SIZE(rows), "an agent without API has no row");
	return rows[id];
}

static bool method_is(const struct route *r, const char *method)
{
	if (!r->method)
		return str_eq(method, "GET") || str_eq(method, "HEAD");
	return str_eq(method, r->method);
}

/* "/models/NAME:verb" and "/tunedModels/NAME:verb"; @path is without query. */
static enum api_route model_route(const char *method, const char *path, bool google,
				  const struct api **ret_api)
{
	size_t n;

	if (str_starts(path, "/models/"))
		path += strlen("/models/");
	else if (str_starts(path, "/tunedModels/"))
		path += strlen("/tunedModels/");
	else
		return API_ROUTE_NONE;
	for (n = 0; isalnum((unsigned char)path[n]) || (path[n] && strchr("._-/@", path[n])); n++)
		;
	if (!n || n > MODEL_NAME_MAX || strstr(path, ".."))
		return API_ROUTE_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!str_eq(path + n, verbs[i].path) || !method_is(&verbs[i], method))
			continue;
		*ret_api = google ? &api_gemini_row : verbs[i].api;
		return verbs[i].route;
	}
	return API_ROUTE_NONE;
}

enum api_route api_route(const char *method, const char *path, const struct api **ret_api)
{
	auto_free char *copy = mem_strndup(path, strcspn(path, "?#"));
	bool google = false;
	const char *p = copy;
	size_t n = strlen(copy);

	*ret_api = NULL;
	while (n && copy[n - 1] == '/')
		copy[--n] = '\0';
	/* a base URL with "/v1" and a client that adds its own gives it twice */
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		size_t k = strlen(versions[i]);

		if (strncmp(p, versions[i], k) != 0 || (p[k] && p[k] != '/'))
			continue;
		google |= k > strlen("/v1");
		p += k;
		i = SIZE_MAX;
	}
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		const struct route *r = &routes[i];

		if (!method_is(r, method) || !str_eq(p, r->path))
			continue;
		*ret_api = r->route == API_ROUTE_MODELS && google ? &api_gemini_row : r->api;
		return r->route;
	}
	return model_route(method, p, google, ret_api);
}

int api_request_read(struct api_request *q, const struct api *api, enum api_route route,
		     const char *path, const char *body, size_t n, struct err *err)
{
	int rc;

	*q = (struct api_request){ .api = api, .route = route, .body = body, .n = n };
	if (n > API_BODY_MAX)
		return err_set(err, ERR_INPUT, "request of %zu bytes is longer than %d", n,
			       API_BODY_MAX);
	if (!api ||
	    (route != API_ROUTE_CHAT && route != API_ROUTE_COUNT && route != API_ROUTE_COMPACT))
		return 0;
	rc = jdoc_parse(&q->doc, body, n, err);
	if (rc == 0 && jdoc_kind(&q->doc, 0) != J_OBJECT)
		rc = err_set(err, ERR_INPUT, "the body of a request must be a JSON object");
	if (rc == 0)
		rc = api->read(q, path, err);
	if (rc < 0)
		api_request_done(q);
	return rc;
}

uint64_t api_estimate(const struct api_request *q)
{
	uint64_t n = ((uint64_t)q->n + 3) / 4;

	return n ? n : 1;
}
