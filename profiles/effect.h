/* Effects that are given as an object: what is put where in the box (place), what happens to its processes,
 * ports, locks and space (runtime), which versions of goal and verifier hold (authority), what changes at a
 * side service (service). Read and checked when the scenario is, and again where they are carried out. */
#ifndef PROFILES_EFFECT_H
#define PROFILES_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define EFFECT_FILL_MAX (4ull << 30) /* bytes that one effect may take */

enum place_kind { PLACE_TEXT, PLACE_LINK, PLACE_ABSENT, PLACE_TOUCH, PLACE_REPLACE };

/* One replacement of a text. */
struct place_swap {
	char *old, *new;
};

/* {"path": ..., ...}: a file of the box put, changed, re-dated or removed. */
struct effect_place {
	char *path; /* absolute in the box, or relative to the workspace (then tame) */
	enum place_kind kind;
	char *text; /* PLACE_TEXT: contents; PLACE_LINK: target. ${HEAD} ${BASE} ${NOW} are filled in */
	struct place_swap *swap; /* owned: PLACE_REPLACE */
	size_t n_swaps;
	uint32_t mode; /* 0 = 0644, or as it is */
	char *mtime; /* "now", "same", "+90s", "-2d", "2024-01-02T03:04:05Z"; NULL = now, for PLACE_TOUCH too */
};

enum runtime_kind {
	RUNTIME_START,
	RUNTIME_KILL,
	RUNTIME_LISTEN,
	RUNTIME_LOCK,
	RUNTIME_FILL,
	RUNTIME_EMPTY,
	RUNTIME_RELEASE,
};

/* {"listen": {...}}: exactly one key. */
struct effect_runtime {
	enum runtime_kind kind;
	char *name;       /* of what is started or held; release and kill name it again */
	struct strv argv; /* RUNTIME_START */
	char *cwd;        /* RUNTIME_START: NULL = the workspace */
	uint64_t port;    /* RUNTIME_LISTEN, RUNTIME_KILL */
	char *program;    /* RUNTIME_KILL: glob of a base name */
	char *signal;     /* RUNTIME_KILL: "TERM" ...; NULL = KILL */
	char *answer; /* RUNTIME_LISTEN: sent to everybody who connects; NULL = nothing, and it stays open */
	char *path;     /* RUNTIME_LOCK, RUNTIME_FILL, RUNTIME_EMPTY */
	char *lock;     /* RUNTIME_LOCK: "flock" or "fcntl" */
	uint64_t bytes; /* RUNTIME_FILL */
	bool leave;     /* RUNTIME_FILL: @bytes are what is left free */
};

/* {"goal": V, "verifier": V}: NULL = as before. */
struct effect_authority {
	char *goal, *verifier;
};

/* Read the object @item at @where. PLACE from a file ("from"): read from @dir and put as text into @item, so
 * that the object is whole by itself. 0 or -ERR_INPUT with the place and the nearest name. Free with the
 * matching _done(). */
int effect_place_read(const struct json_src *src, const char *where, const char *dir, cJSON *item,
		      struct effect_place *ret, struct err *err);
int effect_runtime_read(const struct json_src *src, const char *where, const cJSON *item,
			struct effect_runtime *ret, struct err *err); /* see effect_place_read() */
int effect_authority_read(const struct json_src *src, const char *where, const cJSON *item,
			  struct effect_authority *ret,
			  struct err *err); /* see effect_place_read() */

/* Free; {0} is fine. */
void effect_place_done(struct effect_place *p);
void effect_runtime_done(struct effect_runtime *r);     /* see effect_place_done() */
void effect_authority_done(struct effect_authority *a); /* see effect_place_done() */

/* Name of a runtime kind ("listen"). Static. */
const char *effect_runtime_name(enum runtime_kind kind);

/* Names of signals that may be sent, NULL-terminated, and the number of one, 0 for none. */
extern const char *const effect_signals[];
int effect_signal(const char *name); /* see effect_signals */

/* Seconds since 1970 (and ns 0) of @mtime when it is now @now and the file has @same. 0, or -1 for a text that is
 * no time. */
int effect_mtime(const char *mtime, int64_t now, int64_t same, int64_t *ret);

/* Check one effect of key @key ("place", "runtime", ...) as scenario_load() does, and put the contents of files that it
 * names in their place (@item is changed); keys that are no objects of this
 * kind are fine. Versions are looked up in @authority (JSON object or NULL), services in @services (JSON array or
 * NULL). 0 or -ERR_INPUT. */
int effect_check(const struct json_src *src, const char *where, const char *dir, cJSON *item,
		 const cJSON *authority, const cJSON *services, struct err *err);

#endif
