/* What this host can do, layer by layer, found by trying, never by reading a version. */
#ifndef SANDBOX_PROBE_H
#define SANDBOX_PROBE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "profiles/profile.h"

struct probe_row {
	bool on;
	char *detail; /* owned: "Landlock ABI 7", or why it is off */
	char *fix;    /* owned: the exact command or setting for this system, NULL when on */
};

struct probe {
	struct probe_row layer[LAYER_MAX];
	int landlock_abi; /* 0 = none */
	bool idmap;       /* idmapped mounts below an overlay (root only) */
};

/* Try everything in throw-away children. Takes some milliseconds. Free with probe_done(). */
void probe_run(struct probe *ret);

/* Free the texts. */
void probe_done(struct probe *p);

/* Every layer in @require (names) on? 0, or -ERR_HOST naming all that are missing with their fix,
 * -ERR_INPUT for an unknown name. */
int probe_require(const struct probe *p, const struct strv *require, struct err *err);

#endif
