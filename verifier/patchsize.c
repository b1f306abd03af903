#include "verifier/patchsize.h"

#include "triggers/apply.h"

int patchsize_add(const char *text, size_t n, uint64_t *lines, struct strv *paths, struct err *err)
{
	uint64_t added = 0, removed = 0;
	struct patch *p = NULL;
	int rc = patch_parse(text, n, &p, err);

	if (rc < 0)
		return rc;
	patch_counts(p, &added, &removed);
	*lines += added + removed;
	for (size_t i = 0; i < patch_files(p); i++) {
		if (!strv_has(paths, patch_path(p, i)))
			strv_add(paths, patch_path(p, i));
	}
	patch_free(p);
	return 0;
}
