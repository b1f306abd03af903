/* Records of other tools, in every format that takes text, and diffs among other text. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "verifier/traj.h"
#include "verifier/traj_diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct trajs *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct traj *v = &t->v[i];

		if (!v->model || !v->file || v->n > TRAJ_EVENTS_MAX)
			abort();
		for (size_t k = 0; k < v->n; k++) {
			const struct traj_event *e = &v->v[k];

			if (!path_is_tame(e->path) || e->last < e->first ||
			    e->base_last < e->base_first || (!e->first && e->last))
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = mem_dup(data, size);
	struct traj_diff d = { 0 };

	for (const struct traj_format *f = traj_formats; f->name; f++) {
		struct trajs t = { 0 };
		struct err err;

		if (strcmp(f->name, "run") == 0)
			continue;                       /* a directory */
		(void)f->is("record.json", text, size); /* must only end */
		if (f->read("record.json", text, size, NULL, &t, &err) == 0)
			check(&t);
		trajs_done(&t);
	}
	traj_diff_read(&d, text, size);
	for (size_t i = 0; i < d.n; i++) {
		uint64_t a, b;

		if (d.v[i].file >= d.n_files)
			abort();
		traj_diff_old(&d, &d.v[i], &a, &b);
		if (b < a)
			abort();
		traj_diff_new(&d, &d.v[i], &a, &b);
		if (b < a || !traj_diff_back(&d, "no such file", &a, &b))
			abort();
	}
	traj_diff_done(&d);
	return 0;
}
