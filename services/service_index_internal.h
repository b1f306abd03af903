/* A package index: between its declaration and effects (service_index.c), the archives that it makes
 * (service_index_build.c) and the pages that it shows (service_index_pages.c). */
#ifndef SERVICES_SERVICE_INDEX_INTERNAL_H
#define SERVICES_SERVICE_INDEX_INTERNAL_H

#include "base/digest.h"
#include "base/str.h"
#include "services/service_internal.h"

enum { INDEX_RELEASES_MAX = 200, INDEX_FORMS_MAX = 2, INDEX_NAME_MAX = 100 };

/* A file of a release as it is given out. */
struct index_file {
	char *name; /* owned; NULL = none */
	struct buf body;
	char sha256[DIGEST_HEX], sha1[41], integrity[100]; /* integrity: "sha512-" and base64 */
};

/* A version of a package. Several may have the same name and version: variants, of which one at most is published. */
struct index_release {
	char *name, *key; /* owned; key: normalised (PEP 503), of npm the name itself */
	char *version, *variant, *python, *reason; /* owned; reason: why it was yanked */
	bool npm, published, yanked, wheel, sdist;
	struct strv requires;
	cJSON *files;           /* owned: object of path to text, NULL = ready-made */
	char *filename, *bytes; /* owned: a ready-made file, base64 */
	struct index_file file[INDEX_FORMS_MAX];
	cJSON *manifest; /* owned: what is said of it in npm's form; made by service_index_build() */
};

struct index {
	struct index_release *v; /* owned */
	size_t n;
	uint16_t port;
	uint64_t changes;
	char version[24]; /* number of the state, from "1", counts changes */
};

/* @name as PEP 503 compares it: lower case, runs of - _ . are one -. Caller frees. */
char *service_index_normal(const char *name);

/* Is @s NULL, or one line of less than 500 bytes? */
bool service_index_one_line(const char *s);

/* Carry out an effect on the index @state, as service_change(). */
int service_index_change(void *state, const struct json_src *src, const cJSON *change,
			 struct err *err);

/* Make the files of @r. The same declaration gives the same bytes on every machine: no compression, no times. 0 or
 * -ERR_INPUT. */
int service_index_build(struct index_release *r, struct err *err);

/* Free what service_index_build() made. */
void service_index_unbuild(struct index_release *r);

/* Project list of Python packages (PEP 503, or PEP 691 when @json). */
void service_index_projects(const struct index *x, bool json, struct service_answer *out);

/* Page of the project @key (normalised). False when nothing of it is published. */
bool service_index_project(const struct index *x, const char *key, bool json,
			   struct service_answer *out);

/* npm's document of package @name. False when nothing of it is published. */
bool service_index_packument(const struct index *x, const char *name, struct service_answer *out);

#endif
