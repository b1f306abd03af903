/* images/ of a run directory: contents of followed files, each in a file that is named by its SHA-256.
 * The bytes are the agent's: nothing here or later looks into them. */
#ifndef SUPERVISOR_IMAGES_H
#define SUPERVISOR_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGES_FILE_MAX (16u << 20)    /* bytes of one image */
#define IMAGES_RUN_MAX  (256ull << 20) /* bytes of all images of a run */

struct images {
	int run_fd;    /* borrowed directory: the run's; -1 = no images are kept */
	int dir_fd;    /* owned: images/, made with the first one; -1 before */
	uint64_t kept; /* bytes */
	bool told;     /* that something is not kept was said once */
};

/* What became of an image. */
enum image_state {
	IMAGE_KEPT,   /* it is there, from now on or already */
	IMAGE_LEFT,   /* it is not kept, and that has been said before */
	IMAGE_LARGE,  /* it is not kept: a maximum; the caller says so, once */
	IMAGE_FAILED, /* it could not be written (errno); the caller says so, once */
};

/* Begin, with the run directory @run_fd, lent until images_done(). */
void images_init(struct images *im, int run_fd);

/* Keep the @n bytes @data (NULL = they were not read: too large) under @sha256, mode 0644, all or
 * nothing also when we are killed. A disk that is full never ends the run. */
enum image_state images_keep(struct images *im, const char *sha256, const void *data, size_t n);

/* Close. */
void images_done(struct images *im);

#endif
