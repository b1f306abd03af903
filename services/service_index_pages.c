#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/service_index_internal.h"

#define HTML "text/html"                           /* PEP 503 */
#define JSON "application/vnd.pypi.simple.v1+json" /* PEP 691 */

/* Text in HTML, quotes included. */
static void escaped(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (strchr("&<>\"'", *s))
			buf_addf(b, "&#%d;", *s);
		else
			buf_addc(b, *s);
	}
}

/* The page that was begun in HTML, or @o. */
static void sent(struct service_answer *out, bool json, const cJSON *o)
{
	if (json) {
		service_put(out, 200, o);
		out->type = out->code == 200 ? JSON : NULL;
		return;
	}
	buf_adds(&out->body, "</body></html>\n");
	out->code = 200;
	out->type = HTML;
	if (out->body.full) {
		buf_clear(&out->body);
		out->type = NULL;
		service_error(out, 507, "the answer would be too large");
	}
}

/* The next published release behind @i of package @key, x->n = none; @key NULL: the first of each package. */
static size_t next(const struct index *x, const char *key, bool npm, size_t i)
{
	for (; i < x->n; i++) {
		const struct index_release *r = &x->v[i];
		bool first = true;

		if (!r->published || r->npm != npm || (key && strcmp(r->key, key) != 0))
			continue;
		for (size_t k = 0; !key && k < i && first; k++)
			first = !x->v[k].published || x->v[k].npm != npm ||
				strcmp(x->v[k].key, r->key) != 0;
		if (first)
			break;
	}
	return i;
}

/* --- Python -------------------------------------------------------------------------------------- */

void service_index_projects(const struct index *x, bool json, struct service_answer *out)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "projects"), *one;
	struct buf *b = &out->body;

	cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "meta"), "api-version", "1.0");
	if (!json)
		buf_adds(b, "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" "
			    "content=\"1.0\"><title>Index</title></head><body>\n");
	for (size_t i = next(x, NULL, false, 0); i < x->n; i = next(x, NULL, false, i + 1)) {
		const struct index_release *r = &x->v[i];

		if (json) {
			one = cJSON_CreateObject();
			cJSON_AddStringToObject(one, "name", r->key);
			cJSON_AddItemToArray(list, one);
		} else {
			buf_addf(b, "<a href=\"/simple/%s/\">%s</a><br>\n", r->key, r->key);
		}
	}
	sent(out, json, o);
	cJSON_Delete(o);
}

static void html_file(struct buf *b, const struct index_release *r, const struct index_file *f)
{
	buf_addf(b, "<a href=\"/files/%s/%s#sha256=%s\"", r->key, f->name, f->sha256);
	if (r->python) {
		buf_adds(b, " data-requires-python=\"");
		escaped(b, r->python);
		buf_addc(b, '"');
	}
	if (r->yanked) {
		buf_adds(b, " data-yanked=\""); /* PEP 592 */
		escaped(b, r->reason ? r->reason : "");
		buf_addc(b, '"');
	}
	buf_addf(b, ">%s</a><br>\n", f->name);
}

static void json_file(cJSON *list, const struct index_release *r, const struct index_file *f)
{
	cJSON *o = cJSON_CreateObject();
	auto_free char *url = mem_printf("/files/%s/%s", r->key, f->name);

	cJSON_AddStringToObject(o, "filename", f->name);
	cJSON_AddStringToObject(o, "url", url);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "hashes"), "sha256", f->sha256);
	if (r->python)
		cJSON_AddStringToObject(o, "requires-python", r->python);
	if (r->yanked && r->reason)
		cJSON_AddStringToObject(o, "yanked", r->reason);
	else
		cJSON_AddBoolToObject(o, "yanked", r->yanked);
	cJSON_AddItemToArray(list, o);
}

bool service_index_project(const struct index *x, const char *key, bool json,
			   struct service_answer *out)
{
	size_t i = next(x, key, false, 0);
	struct buf *b = &out->body;
	cJSON *o, *list;

	if (i == x->n)
		return false;
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "meta"), "api-version", "1.0");
	cJSON_AddStringToObject(o, "name", key);
	list = cJSON_AddArrayToObject(o, "files");
	if (!json)
		buf_addf(b,
			 "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" "
			 "content=\"1.0\"><title>%s</title></head><body>\n",
			 key);
	for (; i < x->n; i = next(x, key, false, i + 1)) {
		for (size_t k = 0; k < INDEX_FORMS_MAX && x->v[i].file[k].name; k++) {
			if (json)
				json_file(list, &x->v[i], &x->v[i].file[k]);
			else
				html_file(b, &x->v[i], &x->v[i].file[k]);
		}
	}
	sent(out, json, o);
	cJSON_Delete(o);
	return true;
}

/* --- npm ----------------------------------------------------------------------------------------- */

/* Is version @a below @b? By numbers between dots; one with "-" stands before the one without (semver, section 11,
 * without the order among such). */
static bool below(const char *a, const char *b)
{
	for (;;) {
		char *ea, *eb;
		unsigned long na = strtoul(a, &ea, 10), nb = strtoul(b, &eb, 10);

		if (na != nb)
			return na < nb;
		if (*ea != '.' || *eb != '.')
			return *ea == '-' && *eb != '-';
		a = ea + 1;
		b = eb + 1;
	}
}

static void packument_one(const struct index *x, const struct index_release *r, cJSON *versions)
{
	cJSON *one = cJSON_Duplicate(r->manifest, true);
	cJSON *dist = cJSON_AddObjectToObject(one, "dist");
	auto_free char *url =
		mem_printf("http://127.0.0.1:%u/npm/%s/-/%s", x->port, r->name, r->file[0].name);

	cJSON_AddStringToObject(dist, "tarball", url);
	cJSON_AddStringToObject(dist, "shasum", r->file[0].sha1);
	cJSON_AddStringToObject(dist, "integrity", r->file[0].integrity);
	if (r->yanked)
		cJSON_AddStringToObject(one, "deprecated", r->reason ? r->reason : "yanked");
	cJSON_AddItemToObject(versions, r->version, one);
}

bool service_index_packument(const struct index *x, const char *name, struct service_answer *out)
{
	const struct index_release *latest = NULL;
	size_t i = next(x, name, true, 0);
	cJSON *o, *versions;

	if (i == x->n)
		return false;
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "name", name);
	versions = cJSON_AddObjectToObject(o, "versions");
	for (; i < x->n; i = next(x, name, true, i + 1)) {
		const struct index_release *r = &x->v[i];

		packument_one(x, r, versions);
		if (!latest || (latest->yanked && !r->yanked) ||
		    (latest->yanked == r->yanked && below(latest->version, r->version)))
			latest = r;
	}
	cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "dist-tags"), "latest", latest->version);
	service_put(out, 200, o);
	cJSON_Delete(o);
	return true;
}
