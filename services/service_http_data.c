/* The resources of an HTTP API, by the names that the version in force has for their fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "services/service_http_internal.h"

/* --- names of a version ------------------------------------------------------------------------ */

/* What the version in force calls the inner field @name of @collection. */
const char *service_http_outer(const struct http *h, const char *collection, const char *name)
{
	const cJSON *map = cJSON_GetObjectItemCaseSensitive(h->v[h->now].fields, collection);
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(map, name));

	return s ? s : name;
}

/* The inner name of what the version in force calls @name; NULL: it has no such field. A name that another version
 * uses for a field is none here. */
static const char *inner(const struct http *h, const char *collection, const char *name)
{
	const cJSON *map = cJSON_GetObjectItemCaseSensitive(h->v[h->now].fields, collection);
	const cJSON *one;

	cJSON_ArrayForEach (one, map) {
		if (str_eq(cJSON_GetStringValue(one), name))
			return one->string;
	}
	for (size_t i = 0; i < h->n; i++) {
		const cJSON *other = cJSON_GetObjectItemCaseSensitive(h->v[i].fields, collection);

		cJSON_ArrayForEach (one, other) {
			if (str_eq(one->string, name) || str_eq(cJSON_GetStringValue(one), name))
				return cJSON_GetObjectItemCaseSensitive(map, name) ? NULL
				       : map                                       ? NULL
										   : name;
		}
	}
	return name;
}

static cJSON *shown(const struct http *h, const char *collection, const cJSON *one)
{
	cJSON *o = cJSON_CreateObject();
	const cJSON *f;

	cJSON_ArrayForEach (f, one)
		cJSON_AddItemToObject(o, service_http_outer(h, collection, f->string),
				      cJSON_Duplicate(f, true));
	return o;
}

/* What a client sent, by inner names. NULL: a field that this version does not have; @out says so. */
static cJSON *taken(const struct http *h, const char *collection, const cJSON *sent,
		    struct service_answer *out)
{
	cJSON *o;
	const cJSON *f;

	if (cJSON_GetArraySize(sent) > FIELDS_MAX) {
		service_error(out, 413, "more than %d fields", FIELDS_MAX);
		return NULL;
	}
	o = cJSON_CreateObject();
	cJSON_ArrayForEach (f, sent) {
		const char *name = inner(h, collection, f->string);

		if (!name) {
			service_error(out, 400,
				      "version %s has no field \"%.60s\" in %s; see GET %s/schema",
				      h->v[h->now].name, f->string, collection,
				      h->v[h->now].prefix);
			cJSON_Delete(o);
			return NULL;
		}
		cJSON_AddItemToObject(o, name, cJSON_Duplicate(f, true));
	}
	return o;
}

/* --- resources ---------------------------------------------------------------------------------- */

static bool has_id(const cJSON *one, const char *id)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(one, "id");
	char text[32];

	if (cJSON_IsNumber(v)) {
		snprintf(text, sizeof(text), "%.0f", v->valuedouble);
		return strcmp(text, id) == 0;
	}
	return str_eq(cJSON_GetStringValue(v), id);
}

int service_http_find(const cJSON *list, const char *id)
{
	const cJSON *one;
	int i = 0;

	cJSON_ArrayForEach (one, list) {
		if (has_id(one, id))
			return i;
		i++;
	}
	return -1;
}

static void create(struct http *h, const char *collection, cJSON *list, const cJSON *body,
		   struct service_answer *out)
{
	cJSON *made = taken(h, collection, body, out), *o;
	char id[32];

	if (!made)
		return;
	if (cJSON_GetArraySize(list) >= RECORDS_MAX) {
		service_error(out, 507, "the collection is full");
		cJSON_Delete(made);
		return;
	}
	if (!cJSON_HasObjectItem(made, "id")) {
		do
			snprintf(id, sizeof(id), "n%llu", (unsigned long long)++h->last_id);
		while (service_http_find(list, id) >= 0);
		cJSON_AddStringToObject(made, "id", id);
	}
	out->mutating = true;
	cJSON_AddItemToArray(list, made);
	o = shown(h, collection, made);
	service_put(out, 201, o);
	cJSON_Delete(o);
}

static void change_one(struct http *h, const char *collection, cJSON *list, int at, bool whole,
		       const cJSON *body, struct service_answer *out)
{
	cJSON *made = taken(h, collection, body, out), *one = cJSON_GetArrayItem(list, at), *o, *f;

	if (!made)
		return;
	if (!whole && cJSON_GetArraySize(one) + cJSON_GetArraySize(made) > 2 * FIELDS_MAX) {
		service_error(out, 507, "the resource has too many fields");
		cJSON_Delete(made);
		return;
	}
	cJSON_DeleteItemFromObjectCaseSensitive(made, "id");
	if (whole) {
		cJSON_AddItemToObject(made, "id",
				      cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(one, "id"),
						      true));
		one = cJSON_Duplicate(made, true);
		cJSON_ReplaceItemInArray(list, at, one);
	} else {
		cJSON_ArrayForEach (f, made) {
			cJSON_DeleteItemFromObjectCaseSensitive(one, f->string);
			cJSON_AddItemToObject(one, f->string, cJSON_Duplicate(f, true));
		}
	}
	cJSON_Delete(made);
	out->mutating = true;
	o = shown(h, collection, one);
	service_put(out, 200, o);
	cJSON_Delete(o);
}

static void show_all(const struct http *h, const char *collection, const cJSON *list,
		     struct service_answer *out)
{
	cJSON *o = cJSON_CreateArray();
	const cJSON *one;

	cJSON_ArrayForEach (one, list)
		cJSON_AddItemToArray(o, shown(h, collection, one));
	service_put(out, 200, o);
	cJSON_Delete(o);
}

static void one_resource(struct http *h, const struct service_request *q, const char *collection,
			 cJSON *list, const char *id, const cJSON *body, struct service_answer *out)
{
	int at = service_http_find(list, id);
	cJSON *o;

	if (at < 0) {
		service_error(out, 404, "%s has no \"%.60s\"", collection, id);
	} else if (strcmp(q->method, "GET") == 0) {
		o = shown(h, collection, cJSON_GetArrayItem(list, at));
		service_put(out, 200, o);
		cJSON_Delete(o);
	} else if (strcmp(q->method, "DELETE") == 0) {
		out->mutating = true;
		cJSON_DeleteItemFromArray(list, at);
		out->code = 204;
	} else if (strcmp(q->method, "PUT") == 0 || strcmp(q->method, "PATCH") == 0) {
		if (cJSON_IsObject(body))
			change_one(h, collection, list, at, q->method[1] == 'U', body, out);
		else
			service_error(out, 400, "the body is no JSON object");
	} else {
		service_error(out, 405, "use GET, PUT, PATCH or DELETE");
	}
}

void service_http_resources(struct http *h, const struct service_request *q, const char *rest,
			    struct service_answer *out)
{
	size_t n = strcspn(rest, "/");
	auto_free char *collection = mem_strndup(rest, n);
	cJSON *list = cJSON_GetObjectItemCaseSensitive(h->data, collection), *body;
	const char *id = rest[n] == '/' && rest[n + 1] ? rest + n + 1 : NULL;

	if (!list) {
		service_error(out, 404, "no \"%.60s\" here; see GET %s/schema", collection,
			      h->v[h->now].prefix);
		return;
	}
	snprintf(out->route, sizeof(out->route), "%s/%.60s%s", h->v[h->now].prefix, collection,
		 id ? "/{id}" : "");
	if (h->taken + q->n > TAKEN_MAX) {
		service_error(out, 507, "the service keeps no more than %d bytes", TAKEN_MAX);
		return;
	}
	body = cJSON_ParseWithLength(q->body, q->n);
	if (id)
		one_resource(h, q, collection, list, id, body, out);
	else if (strcmp(q->method, "GET") == 0)
		show_all(h, collection, list, out);
	else if (strcmp(q->method, "POST") != 0)
		service_error(out, 405, "use GET or POST");
	else if (!cJSON_IsObject(body))
		service_error(out, 400, "the body is no JSON object");
	else
		create(h, collection, list, body, out);
	h->taken += out->mutating ? q->n : 0;
	cJSON_Delete(body);
}
