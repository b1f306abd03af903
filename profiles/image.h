/* Container images on the disk: an OCI image layout (a directory, or a tar archive of one) and what
 * "docker save" writes. Formats: OCI Image Format Specification 1.1, Docker Image Specification 1.2.
 * Here an image is only read and named; sandbox/imagecache.h unpacks it. Everything in it is
 * hostile: what is read is bounded and held against the digests that name it. */
#ifndef PROFILES_IMAGE_H
#define PROFILES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/str.h"

#define IMAGE_JSON_MAX    (4u << 20) /* bytes of an index, a manifest or a configuration */
#define IMAGE_LAYERS_MAX  512u
#define IMAGE_MEMBERS_MAX 100000u /* of an archive that holds an image */
#define IMAGE_ENV_MAX     1024u

/* One layer, from the bottom up. */
struct image_layer {
	char *name;               /* owned: file of the layout or member of the archive */
	char sum[DIGEST_HEX];     /* of the file as it lies there; "" = not told (docker-archive) */
	char diff_id[DIGEST_HEX]; /* of the uncompressed tar archive */
};

struct image {
	char *path, *tag;        /* owned; tag NULL = none was asked for */
	bool docker;             /* "docker-archive:" */
	char digest[DIGEST_HEX]; /* of the configuration, which names all layers: the image's id */
	char *config;            /* owned: the configuration as it lies there */
	struct strv env;      /* "KEY=value", without what belongs to the box (HOME, USER, ...) */
	char *workdir, *user; /* owned, may be NULL; recorded only */
	struct strv entrypoint, cmd; /* recorded only */
	struct image_layer *layers;  /* owned */
	size_t n_layers;
};

/* Is @s of one of the forms that image_read() takes? */
bool image_is(const char *s);

/* Read "oci:LAYOUT[:TAG]" or "docker-archive:FILE[:NAME[:TAG]]" with an absolute path. The path is
 * the whole text behind the scheme when that exists, otherwise the shortest part in front of a colon
 * that does. Without a tag there must be one image only, or one only for this machine. 0 or
 * -ERR_INPUT. Free with image_free(). */
int image_read(const char *text, struct image **ret, struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct image *image_free(struct image *im);

/* Bytes of a layer as they lie on the disk. */
struct image_stream {
	/* As read(2); -1 with @why set. */
	ssize_t (*read)(struct image_stream *s, void *p, size_t n);
	const char *why;
	void *a; /* struct archive; NULL = a plain file */
	int fd;
};

/* Takes layers. */
struct image_sink {
	/* Layer @i of the image; it need not be read to the end. 0 or negative with @err set. */
	int (*layer)(void *arg, size_t i, struct image_stream *s, struct err *err);
	void *arg;
};

/* Give the sink each layer with @want[i] (n_layers of them), in the order in which they lie on the
 * disk; of layers with the same diff_id only one. 0, -ERR_INPUT when one is not there, or what the
 * sink returned. */
int image_layers(const struct image *im, const bool *want, const struct image_sink *sink,
		 struct err *err);

#endif
