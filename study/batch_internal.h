/* Between the batch's scheduling and what one of its processes does. */
#ifndef STUDY_BATCH_INTERNAL_H
#define STUDY_BATCH_INTERNAL_H

#include "study/batch.h"

/* A prediction with its task and place. */
struct batch_item {
	const struct prediction *p;
	size_t task; /* index into the task set */
	char *dir;   /* owned */
	bool done;   /* its result stands */
};

/* Does @item's directory hold a result for its inputs? Then it is read into *ret. Anything else the directory holds is taken away when it
 * is the batch's own. */
bool batch_item_found(const struct batch_options *o, const struct batch_item *item,
		      struct graded *ret);

/* Grade @item in this process and write its directory; *ret is what graded.json then holds. 0 or
 * negative. */
int batch_item_grade(const struct batch_options *o, const struct batch_item *item,
		     struct graded *ret, struct err *err);

/* A result that was decided without grading: @kind and @reason. Writes graded.json like the rest. 0 or
 * negative. */
int batch_item_decided(const struct batch_item *item, const char *input, enum verdict_kind kind,
		       const char *reason, struct graded *ret, struct err *err);

#endif
