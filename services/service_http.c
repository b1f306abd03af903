/* An HTTP API with collections of resources, API keys, sessions and versions of its schema. What a version calls
 * a field, where it stands and what it asks for is declared; a version that is not in force is gone and says
 * where to look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/str.h"
#include "services/service_http_internal.h"

struct version_file {
	char *name, *prefix, *fields;
};

struct http_file {
	char *name, *kind, *version, *auth, *collections;
	uint64_t port, session_requests;
	struct strv keys;
	struct json_array versions;
};

#define OFF(type, field) offsetof(struct type, field)

static const char *const auth_names[] = { "none", "key", "session", NULL };

/* clang-format off */
static const struct json_field version_rows[] = {
	{ "name", JSON_STR, OFF(version_file, name), true, .doc = "\"v1\"" },
	{ "prefix", JSON_STR, OFF(version_file, prefix), true, .doc = "\"/v1\"" },
	{ "fields", JSON_RAW, OFF(version_file, fields), .doc = "collection to {inner name: name in this version}" },
	{ NULL },
};

static const struct json_field http_rows[] = {
	{ "name", JSON_STR, OFF(http_file, name), true },
	{ "kind", JSON_STR, OFF(http_file, kind), true },
	{ "port", JSON_U64, OFF(http_file, port), true },
	{ "version", JSON_STR, OFF(http_file, version), .doc = "in force at first, default the first" },
	{ "auth", JSON_STR, OFF(http_file, auth), .doc = "none (default), key, or session: got with a key at PREFIX/login" },
	{ "keys", JSON_STRV, OFF(http_file, keys), .doc = "API keys that are good" },
	{ "session_requests", JSON_U64, OFF(http_file, session_requests), .doc = "requests that a session is good for, default any number" },
	{ "versions", JSON_ARRAY, OFF(http_file, versions), true, .rows = version_rows, .size = sizeof(struct version_file) },
	{ "collections", JSON_RAW, OFF(http_file, collections), true, .doc = "name to array of objects, each with an \"id\"" },
	{ NULL },
};
/* clang-format on */

static void http_free(void *state)
{
	struct http *h = state;

	for (size_t i = 0; i < h->n; i++) {
		free(h->v[i].name);
		free(h->v[i].prefix);
		cJSON_Delete(h->v[i].fields);
	}
	free(h->v);
	free(h->session);
	free(h->name);
	strv_done(&h->keys);
	cJSON_Delete(h->data);
	free(h);
}

static int find_version(const struct json_src *src, const char *where, const struct http *h,
			const char *name, size_t *ret, struct err *err)
{
	for (size_t i = 0; i < h->n; i++) {
		if (str_eq(h->v[i].name, name)) {
			*ret = i;
			return 0;
		}
	}
	return json_complain(src, where, err, "no version \"%s\"; the first is \"%s\"", name,
			     h->n ? h->v[0].name : "");
}

static int check_data(const struct json_src *src, const char *where, const struct http *h,
		      struct err *err)
{
	const cJSON *list, *one;

	cJSON_ArrayForEach (list, h->data) {
		if (!cJSON_IsArray(list))
			return json_complain(src, where, err, "collections.%s: expected an array",
					     list->string);
		cJSON_ArrayForEach (one, list) {
			const cJSON *id = cJSON_GetObjectItemCaseSensitive(one, "id");

			if (!cJSON_IsString(id) && !cJSON_IsNumber(id))
				return json_complain(src, where, err,
						     "collections.%s: each entry has an \"id\"",
						     list->string);
		}
	}
	return 0;
}

static int take_versions(const struct json_src *src, const char *where, struct http_file *f,
			 struct http *h, struct err *err)
{
	struct version_file *v = f->versions.v;

	if (f->versions.n < 1 || f->versions.n > VERSIONS_MAX)
		return json_complain(src, where, err, "versions: 1 to %d", VERSIONS_MAX);
	h->v = mem_zalloc(f->versions.n, sizeof(*h->v));
	for (size_t i = 0; i < f->versions.n; i++, h->n++) {
		if (v[i].prefix[0] != '/' || str_ends(v[i].prefix, "/"))
			return json_complain(src, where, err,
					     "versions: prefix \"%s\" must be like \"/v1\"",
					     v[i].prefix);
		h->v[i].name = take_ptr(&v[i].name);
		h->v[i].prefix = take_ptr(&v[i].prefix);
		h->v[i].fields = v[i].fields ? cJSON_Parse(v[i].fields) : NULL;
	}
	return f->version ? find_version(src, where, h, f->version, &h->now, err) : 0;
}

static int http_open(const struct json_src *src, const char *where, const cJSON *item, void **ret,
		     struct err *err)
{
	struct http_file f = { 0 };
	struct http *h = mem_zalloc(1, sizeof(*h));
	int rc = json_read(src, where, item, http_rows, &f, err);

	if (rc == 0 && f.auth && !str_eq(f.auth, "none") && !str_eq(f.auth, "key") &&
	    !str_eq(f.auth, "session")) {
		const char *near = str_nearest(f.auth, auth_names);

		rc = json_complain(src, where, err, "auth \"%s\" is none of none, key, session%s%s",
				   f.auth, near ? "; did you mean " : "", near ? near : "");
	}
	if (rc == 0)
		rc = take_versions(src, where, &f, h, err);
	if (rc == 0) {
		h->name = take_ptr(&f.name);
		h->by_session = str_eq(f.auth, "session");
		h->by_key = str_eq(f.auth, "key");
		h->keys = f.keys;
		f.keys = (struct strv){ 0 };
		h->ttl = f.session_requests;
		h->data = cJSON_Parse(f.collections);
		rc = cJSON_IsObject(h->data)
			     ? check_data(src, where, h, err)
			     : json_complain(src, where, err, "collections: expected an object");
	}
	json_release(http_rows, &f);
	if (rc < 0)
		http_free(h);
	else
		*ret = h;
	return rc;
}

/* --- who may ------------------------------------------------------------------------------------ */

static void login(struct http *h, const struct service_request *q, struct service_answer *out)
{
	cJSON *body = cJSON_ParseWithLength(q->body, q->n), *o;
	const char *sent = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(body, "key"));
	const char *key = sent ? sent : q->key;
	bool good = key && strv_has(&h->keys, key);

	snprintf(out->route, sizeof(out->route), "%s/login", h->v[h->now].prefix);
	cJSON_Delete(body);
	if (!key) {
		service_error(out, 400,
			      "send the key as JSON, {\"key\": \"...\"}, or in X-Api-Key");
		return;
	}
	if (!good) {
		service_error(out, 403, "no such key, or it was revoked");
		return;
	}
	if (h->n_sessions >= SESSIONS_MAX) {
		service_error(out, 429, "too many sessions");
		return;
	}
	h->session = mem_realloc(h->session, h->n_sessions + 1, sizeof(*h->session));
	h->session[h->n_sessions] = (struct session){ .left = h->ttl };
	service_token(h->name, ++h->tokens, h->session[h->n_sessions].token);
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "session", h->session[h->n_sessions++].token);
	service_put(out, 200, o);
	cJSON_Delete(o);
}

/* May this request be answered? Otherwise @out says why not. */
static bool allowed(struct http *h, const struct service_request *q, struct service_answer *out)
{
	if (h->by_key && !(q->key && strv_has(&h->keys, q->key))) {
		service_error(out, q->key ? 403 : 401,
			      q->key ? "no such key, or it was revoked"
				     : "send the key in X-Api-Key");
		return false;
	}
	if (!h->by_session)
		return true;
	for (size_t i = 0; q->session && i < h->n_sessions; i++) {
		struct session *s = &h->session[i];

		if (strcmp(s->token, q->session) != 0)
			continue;
		if (!s->expired && (!h->ttl || s->left)) {
			s->left -= h->ttl > 0;
			return true;
		}
		service_error(out, 401, "the session has expired; log in again: POST %s/login",
			      h->v[h->now].prefix);
		return false;
	}
	service_error(out, 401,
		      "no session; POST %s/login with {\"key\": ...}, then send it as "
		      "\"Authorization: Bearer ...\"",
		      h->v[h->now].prefix);
	return false;
}

/* --- what the version in force looks like ------------------------------------------------------- */

static void schema(const struct http *h, struct service_answer *out)
{
	cJSON *o = cJSON_CreateObject(), *all, *names;
	const cJSON *list, *f;

	snprintf(out->route, sizeof(out->route), "%s/schema", h->v[h->now].prefix);
	cJSON_AddStringToObject(o, "version", h->v[h->now].name);
	cJSON_AddStringToObject(o, "prefix", h->v[h->now].prefix);
	cJSON_AddStringToObject(o, "auth", h->by_session ? "session" : h->by_key ? "key" : "none");
	all = cJSON_AddObjectToObject(o, "collections");
	cJSON_ArrayForEach (list, h->data) {
		names = cJSON_AddArrayToObject(all, list->string);
		cJSON_ArrayForEach (f, list->child)
			cJSON_AddItemToArray(names, cJSON_CreateString(service_http_outer(
							    h, list->string, f->string)));
	}
	service_put(out, 200, o);
	cJSON_Delete(o);
}

/* What follows @prefix in @path: "" or what is behind the slash; NULL: it does not begin so. */
static const char *behind(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(path, prefix, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path + n + (path[n] == '/');
}

static void http_answer(void *state, const struct service_request *q, struct service_answer *out)
{
	struct http *h = state;
	const char *rest = behind(q->path, h->v[h->now].prefix);

	out->version = h->v[h->now].name;
	for (size_t i = 0; !rest && i < h->n; i++) {
		if (behind(q->path, h->v[i].prefix)) {
			snprintf(out->route, sizeof(out->route), "%s", h->v[i].prefix);
			service_error(out, 410, "%s is gone; use %s, see GET %s/schema",
				      h->v[i].prefix, h->v[h->now].prefix, h->v[h->now].prefix);
			return;
		}
	}
	if (!rest)
		service_error(out, 404, "nothing here; see GET %s/schema", h->v[h->now].prefix);
	else if (strcmp(rest, "schema") == 0 && strcmp(q->method, "GET") == 0)
		schema(h, out);
	else if (strcmp(rest, "login") == 0 && strcmp(q->method, "POST") == 0)
		login(h, q, out);
	else if (allowed(h, q, out))
		service_http_resources(h, q, rest, out);
}

/* --- effects ------------------------------------------------------------------------------------ */

struct http_change {
	char *name, *version, *revoke, *add_key, *set;
	uint64_t session_requests;
	bool expire_sessions, down;
};

struct http_set {
	char *collection, *id, *value;
};

/* clang-format off */
static const struct json_field change_rows[] = {
	{ "name", JSON_STR, OFF(http_change, name) },
	{ "down", JSON_BOOL, OFF(http_change, down) },
	{ "version", JSON_STR, OFF(http_change, version), .doc = "version of the schema from here on" },
	{ "expire_sessions", JSON_BOOL, OFF(http_change, expire_sessions), .doc = "true: all that are open" },
	{ "session_requests", JSON_U64, OFF(http_change, session_requests), .doc = "what new sessions are good for" },
	{ "revoke", JSON_STR, OFF(http_change, revoke), .doc = "a key that is good no more" },
	{ "add_key", JSON_STR, OFF(http_change, add_key), .doc = "a key that is good from here on" },
	{ "set", JSON_RAW, OFF(http_change, set), .doc = "{collection, id, value}: fields of a resource, by inner names; value null removes it" },
	{ NULL },
};

static const struct json_field set_rows[] = {
	{ "collection", JSON_STR, OFF(http_set, collection), true },
	{ "id", JSON_STR, OFF(http_set, id), true },
	{ "value", JSON_RAW, OFF(http_set, value), true },
	{ NULL },
};
/* clang-format on */

static void put_fields(cJSON *list, int at, const char *id, const cJSON *value)
{
	cJSON *one = at >= 0 ? cJSON_GetArrayItem(list, at) : cJSON_CreateObject();
	const cJSON *f;

	if (at < 0) {
		cJSON_AddStringToObject(one, "id", id);
		cJSON_AddItemToArray(list, one);
	}
	cJSON_ArrayForEach (f, value) {
		cJSON_DeleteItemFromObjectCaseSensitive(one, f->string);
		cJSON_AddItemToObject(one, f->string, cJSON_Duplicate(f, true));
	}
}

static int set_one(struct http *h, const struct json_src *src, const char *text, struct err *err)
{
	cJSON *item = cJSON_Parse(text), *value, *list;
	struct http_set s = { 0 };
	int at, rc = json_read(src, "service.set", item, set_rows, &s, err);

	if (rc == 0) {
		list = cJSON_GetObjectItemCaseSensitive(h->data, s.collection);
		value = cJSON_GetObjectItemCaseSensitive(item, "value");
		at = list ? service_http_find(list, s.id) : -1;
		if (!list)
			rc = json_complain(src, "service.set", err, "no collection \"%s\"",
					   s.collection);
		else if (cJSON_IsNull(value) && at >= 0)
			cJSON_DeleteItemFromArray(list, at);
		else if (cJSON_IsObject(value))
			put_fields(list, at, s.id, value);
		else
			rc = json_complain(
				src, "service.set", err,
				"value must be an object, or null for one that is there");
	}
	json_release(set_rows, &s);
	cJSON_Delete(item);
	return rc;
}

static void drop_key(struct http *h, const char *key)
{
	struct strv left = { 0 };

	strv_each (i, &h->keys)
		if (strcmp(h->keys.v[i], key) != 0)
			strv_add(&left, h->keys.v[i]);
	strv_done(&h->keys);
	h->keys = left;
}

static int http_change_it(void *state, const struct json_src *src, const cJSON *change,
			  struct err *err)
{
	struct http *h = state;
	struct http_change c = { .session_requests = h->ttl };
	int rc = json_read(src, "service", change, change_rows, &c, err);

	if (rc == 0 && c.version)
		rc = find_version(src, "service.version", h, c.version, &h->now, err);
	if (rc == 0 && c.revoke && !strv_has(&h->keys, c.revoke))
		rc = json_complain(src, "service.revoke", err, "there is no such key");
	if (rc == 0 && c.set)
		rc = set_one(h, src, c.set, err);
	if (rc == 0) {
		h->ttl = c.session_requests;
		if (c.revoke)
			drop_key(h, c.revoke);
		if (c.add_key)
			strv_add(&h->keys, c.add_key);
		for (size_t i = 0; c.expire_sessions && i < h->n_sessions; i++)
			h->session[i].expired = true;
	}
	json_release(change_rows, &c);
	return rc;
}

static void http_summary(const void *state, struct json_w *w)
{
	const struct http *h = state;
	char *text = cJSON_PrintUnformatted(h->data), sum[DIGEST_HEX];
	const cJSON *list;

	json_str(w, "version", h->v[h->now].name);
	json_u64(w, "sessions", h->n_sessions);
	json_open(w, "collections", '{');
	cJSON_ArrayForEach (list, h->data)
		json_u64(w, list->string, (uint64_t)cJSON_GetArraySize(list));
	json_close(w, '}');
	json_str(w, "state_sha256", digest_bytes(text ? text : "", text ? strlen(text) : 0, sum));
	free(text);
}

const struct service_row service_http = {
	.kind = "http",
	.open = http_open,
	.answer = http_answer,
	.change = http_change_it,
	.summary = http_summary,
	.free = http_free,
};
