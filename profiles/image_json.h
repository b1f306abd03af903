/* The JSON files of container images, as text. All of it is hostile. */
#ifndef PROFILES_IMAGE_JSON_H
#define PROFILES_IMAGE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "profiles/image.h"

/* What a descriptor of an OCI index leads to. */
struct image_ref {
	char sum[DIGEST_HEX];
	bool index; /* another index, of the platforms of one image */
};

/* Digest text "sha256:HEX" into @out. 0, or -1 when it is of another form. */
int image_json_sum(const char *s, char out[DIGEST_HEX]);

/* Choose in an index (application/vnd.oci.image.index.v1+json, or Docker's manifest list) the image
 * with annotation org.opencontainers.image.ref.name or io.containerd.image.name @tag (NULL: any) for
 * this machine. @name names the file in errors. 0 or -ERR_INPUT with the tags there are. */
int image_json_index(const char *name, const char *text, size_t n, const char *tag,
		     struct image_ref *ret, struct err *err);

/* Layers of an OCI or Docker manifest into @im (names and sums), and the configuration's digest into
 * @config. 0 or -ERR_INPUT. */
int image_json_manifest(const char *name, const char *text, size_t n, struct image *im,
			char config[DIGEST_HEX], struct err *err);

/* The same for manifest.json of a docker-archive: the entry with @tag in RepoTags ("NAME" means
 * "NAME:latest", and the registry in front may be left out; NULL: the only one); *ret_config names the member with the configuration (caller frees). 0 or
 * -ERR_INPUT. */
int image_json_docker(const char *name, const char *text, size_t n, const char *tag,
		      struct image *im, char **ret_config, struct err *err);

/* The configuration: environment, layers' diff_ids and the rest of struct image; as many diff_ids as
 * layers. An image for another machine is refused. 0 or -ERR_INPUT. */
int image_json_config(const char *name, const char *text, size_t n, struct image *im,
		      struct err *err);

#endif
