#include "profiles/image_json.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#define TAGS_SHOWN 8u

/* What the box says for itself, whatever the image was made for. */
static const char *const own_vars[] = { "HOME", "USER", "LOGNAME", "PWD", "OLDPWD", "HOSTNAME" };

/* clang-format off */
/* Names of uname(2) that images call otherwise (GOARCH). */
static const struct {
	const char *machine, *arch;
} machines[] = {
	{ "x86_64",  "amd64" },
	{ "aarch64", "arm64" },
	{ "i686",    "386" },
	{ "armv7l",  "arm" },
	{ "armv6l",  "arm" },
};
/* clang-format on */

static const char *own_arch(const struct utsname *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (strcmp(u->machine, machines[i].machine) == 0)
			return machines[i].arch;
	}
	return u->machine;
}

static const cJSON *member(const cJSON *obj, const char *key)
{
	return cJSON_IsObject(obj) ? cJSON_GetObjectItemCaseSensitive(obj, key) : NULL;
}

/* A string member; NULL when it is absent, empty or something else. */
static const char *text_of(const cJSON *obj, const char *key)
{
	const cJSON *v = member(obj, key);

	return v && cJSON_IsString(v) && v->valuestring[0] ? v->valuestring : NULL;
}

static void strings_of(const cJSON *obj, const char *key, struct strv *ret)
{
	const cJSON *list = member(obj, key), *v;

	if (!cJSON_IsArray(list))
		return;
	cJSON_ArrayForEach (v, list) {
		if (cJSON_IsString(v) && ret->n < IMAGE_ENV_MAX)
			strv_add(ret, v->valuestring);
	}
}

int image_json_sum(const char *s, char out[DIGEST_HEX])
{
	if (!s || !str_starts(s, "sha256:"))
		return -1;
	s += strlen("sha256:");
	if (strlen(s) != DIGEST_HEX - 1 || strspn(s, "0123456789abcdef") != DIGEST_HEX - 1)
		return -1;
	memcpy(out, s, DIGEST_HEX);
	return 0;
}

/* Could the image behind descriptor @d run here? Without a platform nothing is said against it. Those
 * of platform "unknown" are attestations. */
static bool runs_here(const cJSON *d)
{
	const cJSON *p = member(d, "platform");
	const char *os = text_of(p, "os"), *arch = text_of(p, "architecture");
	struct utsname u;

	if (uname(&u) < 0)
		return true;
	return (!os || strcmp(os, "linux") == 0) && (!arch || strcmp(arch, own_arch(&u)) == 0);
}

static const char *const ref_names[] = { "org.opencontainers.image.ref.name",
					 "io.containerd.image.name" };

static bool has_tag(const cJSON *d, const char *tag)
{
	const cJSON *notes = member(d, "annotations");

	for (size_t i = 0; i < ARRAY_SIZE(ref_names); i++) {
		if (str_eq(text_of(notes, ref_names[i]), tag))
			return true;
	}
	return false;
}

/* What could have been chosen, for errors. */
static void list_tags(const cJSON *list, struct buf *b)
{
	unsigned n = 0;
	const cJSON *d;

	cJSON_ArrayForEach (d, list) {
		const cJSON *notes = member(d, "annotations");
		const char *tag = text_of(notes, ref_names[0]);

		if (!tag)
			tag = text_of(notes, ref_names[1]);
		if (tag && n++ < TAGS_SHOWN)
			buf_addf(b, "%s%.100s", b->len ? ", " : "", tag);
	}
	if (!b->len)
		buf_adds(b, "(no names)");
}

static int choose(const struct json_src *src, const char *tag, struct image_ref *ret,
		  struct err *err)
{
	const cJSON *list = member(src->root, "manifests"), *d, *found = NULL;
	auto_buf tags = BUF_INIT(4096);
	unsigned n = 0, elsewhere = 0;
	const char *type;

	cJSON_ArrayForEach (d, list) {
		if (tag && !has_tag(d, tag))
			continue;
		if (!runs_here(d)) {
			elsewhere++;
			continue;
		}
		found = d;
		n++;
	}
	list_tags(list, &tags);
	if (!n && elsewhere)
		return json_complain(src, "$.manifests", err,
				     "no image for this machine; take one that was built for it");
	if (!n)
		return json_complain(src, "$.manifests", err, "no image \"%s\"; there is: %s",
				     tag ? tag : "", buf_str(&tags));
	if (n > 1)
		return json_complain(src, "$.manifests", err,
				     "%u images; choose one by adding \":TAG\": %s", n,
				     buf_str(&tags));
	if (image_json_sum(text_of(found, "digest"), ret->sum) < 0)
		return json_complain(src, "$.manifests", err,
				     "a digest is not of the form sha256:HEX");
	type = text_of(found, "mediaType");
	ret->index = type && (strstr(type, "image.index") || strstr(type, "manifest.list"));
	return 0;
}

int image_json_index(const char *name, const char *text, size_t n, const char *tag,
		     struct image_ref *ret, struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0 && !cJSON_IsArray(member(src.root, "manifests")))
		rc = json_complain(&src, "$", err, "no list \"manifests\"; this is no OCI index");
	if (rc == 0)
		rc = choose(&src, tag, ret, err);
	json_src_done(&src);
	return rc;
}

static struct image_layer *add_layer(struct image *im, const char *name)
{
	im->layers = mem_realloc(im->layers, im->n_layers + 1, sizeof(*im->layers));
	im->layers[im->n_layers] = (struct image_layer){ .name = mem_strdup(name) };
	return im->layers + im->n_layers++;
}

static int too_many(const struct json_src *src, const char *where, struct err *err)
{
	return json_complain(src, where, err, "more than %u layers", IMAGE_LAYERS_MAX);
}

static int oci_layers(const struct json_src *src, struct image *im, struct err *err)
{
	const cJSON *list = member(src->root, "layers"), *d;
	char sum[DIGEST_HEX];

	if (!cJSON_IsArray(list))
		return json_complain(src, "$", err, "no list \"layers\"; this is no manifest");
	cJSON_ArrayForEach (d, list) {
		auto_free char *name = NULL;

		if (im->n_layers == IMAGE_LAYERS_MAX)
			return too_many(src, "$.layers", err);
		if (image_json_sum(text_of(d, "digest"), sum) < 0)
			return json_complain(src, "$.layers", err,
					     "a digest is not of the form sha256:HEX");
		name = mem_printf("blobs/sha256/%s", sum);
		memcpy(add_layer(im, name)->sum, sum, sizeof(sum));
	}
	return 0;
}

int image_json_manifest(const char *name, const char *text, size_t n, struct image *im,
			char config[DIGEST_HEX], struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0 && image_json_sum(text_of(member(src.root, "config"), "digest"), config) < 0)
		rc = json_complain(&src, "$.config", err,
				   "no digest of the form sha256:HEX; this is no image manifest");
	if (rc == 0)
		rc = oci_layers(&src, im, err);
	json_src_done(&src);
	return rc;
}

/* Is @tag all of @full, or what stands behind the registry or its folder? Some programs write the
 * "docker.io/library/" that nobody types. */
static bool ends_as(const char *full, const char *tag)
{
	return str_eq(full, tag) ||
	       (str_ends(full, tag) && full[strlen(full) - strlen(tag) - 1] == '/');
}

static bool has_repo_tag(const cJSON *entry, const char *tag)
{
	auto_free char *latest = mem_printf("%s:latest", tag);
	const cJSON *v;

	cJSON_ArrayForEach (v, member(entry, "RepoTags")) {
		if (cJSON_IsString(v) &&
		    (ends_as(v->valuestring, tag) || ends_as(v->valuestring, latest)))
			return true;
	}
	return false;
}

static int docker_entry(const struct json_src *src, const char *tag, const cJSON **ret,
			struct err *err)
{
	auto_buf tags = BUF_INIT(4096);
	unsigned n = 0;
	const cJSON *e, *v;

	if (!cJSON_IsArray(src->root))
		return json_complain(src, "$", err, "not a list; this is no docker-archive");
	cJSON_ArrayForEach (e, src->root) {
		cJSON_ArrayForEach (v, member(e, "RepoTags")) {
			if (cJSON_IsString(v))
				buf_addf(&tags, "%s%.100s", tags.len ? ", " : "", v->valuestring);
		}
		if (!tag || has_repo_tag(e, tag)) {
			*ret = e;
			n++;
		}
	}
	if (n == 1)
		return 0;
	return json_complain(src, "$", err, "%s \"%s\"; choose one by adding \":NAME\": %s",
			     n ? "more than one image" : "no image", tag ? tag : "",
			     tags.len ? buf_str(&tags) : "(no names)");
}

int image_json_docker(const char *name, const char *text, size_t n, const char *tag,
		      struct image *im, char **ret_config, struct err *err)
{
	const cJSON *entry = NULL, *list = NULL, *v;
	struct json_src src = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0)
		rc = docker_entry(&src, tag, &entry, err);
	if (rc == 0 && (!text_of(entry, "Config") || !cJSON_IsArray(member(entry, "Layers"))))
		rc = json_complain(&src, "$", err, "an image needs \"Config\" and \"Layers\"");
	if (rc == 0)
		list = member(entry, "Layers");
	cJSON_ArrayForEach (v, list) {
		if (im->n_layers == IMAGE_LAYERS_MAX)
			rc = too_many(&src, "Layers", err);
		else if (!cJSON_IsString(v))
			rc = json_complain(&src, "Layers", err, "not a list of names");
		else
			(void)add_layer(im, v->valuestring); /* its digest is the diff_id */
		if (rc < 0)
			break;
	}
	if (rc == 0)
		*ret_config = mem_strdup(text_of(entry, "Config"));
	json_src_done(&src);
	return rc;
}

static bool is_own(const char *var)
{
	size_t n = strcspn(var, "=");

	for (size_t i = 0; i < ARRAY_SIZE(own_vars); i++) {
		if (strlen(own_vars[i]) == n && strncmp(var, own_vars[i], n) == 0)
			return true;
	}
	return n == 0 || !var[n] || str_starts(var, "PROCTOR_");
}

static void take_env(const cJSON *config, struct strv *ret)
{
	auto_strv all = { 0 };

	strings_of(config, "Env", &all);
	strv_each (i, &all) {
		if (!is_own(all.v[i]))
			strv_add(ret, all.v[i]);
	}
}

static int take_layers(const struct json_src *src, struct image *im, struct err *err)
{
	const cJSON *list = member(member(src->root, "rootfs"), "diff_ids"), *v;
	size_t n = 0;

	cJSON_ArrayForEach (v, list) {
		if (n == im->n_layers || image_json_sum(cJSON_IsString(v) ? v->valuestring : NULL,
							im->layers[n].diff_id) < 0)
			break;
		n++;
	}
	if (v || n != im->n_layers)
		return json_complain(src, "$.rootfs.diff_ids", err,
				     "not one digest sha256:HEX for each of %zu layers",
				     im->n_layers);
	return 0;
}

int image_json_config(const char *name, const char *text, size_t n, struct image *im,
		      struct err *err)
{
	struct json_src src = { 0 };
	const cJSON *config;
	const char *os, *arch;
	struct utsname u;
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	os = text_of(src.root, "os");
	arch = text_of(src.root, "architecture");
	if (uname(&u) == 0 &&
	    ((os && strcmp(os, "linux") != 0) || (arch && strcmp(arch, own_arch(&u)) != 0)))
		rc = json_complain(&src, "$", err, "the image is for %s/%s, this is linux/%s",
				   os ? os : "linux", arch ? arch : "?", own_arch(&u));
	if (rc == 0)
		rc = take_layers(&src, im, err);
	if (rc == 0) {
		config = member(src.root, "config");
		take_env(config, &im->env);
		im->workdir = mem_strdup(text_of(config, "WorkingDir"));
		im->user = mem_strdup(text_of(config, "User"));
		strings_of(config, "Entrypoint", &im->entrypoint);
		strings_of(config, "Cmd", &im->cmd);
	}
	json_src_done(&src);
	return rc;
}
