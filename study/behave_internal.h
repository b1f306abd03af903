/* Pieces of the behaviour record. Shared by behave*.c only. */
#ifndef STUDY_BEHAVE_INTERNAL_H
#define STUDY_BEHAVE_INTERNAL_H

#include "study/behave.h"

/* Contents that were read already. */
struct behave_image {
	char sha256[65];
	char *data; /* owned; NULL = not kept */
	size_t len;
};

/* A user's edit: edit records [first, last] of the run that belong to one firing. */
struct behave_firing {
	size_t first, last;
};

/* Life: {0} with rd, ret -> behave_*() -> behave_work_done(). */
struct behave_work {
	const struct rundir *rd;     /* borrowed */
	struct behave *ret;          /* borrowed */
	struct behave_image **image; /* owned array of owned images */
	size_t n_images, cap_images;
	uint64_t bytes;              /* of all images */
	struct behave_firing *round; /* owned: every user edit */
	size_t n_rounds;
};

/* The states of one file from right before an edit on. */
struct behave_chain {
	struct linefate_image before;
	struct linefate_image *v; /* owned array; v[0]: right after the edit */
	uint64_t *n_of;           /* owned: the record that made state i */
	size_t n, cap;
	bool known; /* every digest and image was there */
};

/* States of the file of edit record @at up to record @until (exclusive). 0 or negative. Free with
 * behave_chain_done(). */
int behave_chain_of(struct behave_work *w, size_t at, uint64_t until, struct behave_chain *ret,
		    struct err *err);

/* Free; {0} is fine. */
void behave_chain_done(struct behave_chain *c);

/* What became of an edit by the fate of its lines. */
enum response behave_response(const struct linefate *f);

/* Fill file, response, standing and the per-round responses. 0 or negative. */
int behave_fates(struct behave_work *w, struct err *err);

/* When the agent first saw or touched the final edit, and whether it opened the place again. 0 or negative. */
int behave_notice(struct behave_work *w, struct err *err);

/* Free. */
void behave_work_done(struct behave_work *w);

#endif
