/* The simulated user: a model that writes the messages of a scenario which have no fixed text. What
 * --simulator says, with the values of the profile and the system prompt; part of the plan's condition
 * and not of what a pair of runs shares. */
#ifndef PROFILES_SIMULATOR_H
#define PROFILES_SIMULATOR_H

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "profiles/model.h"
#include "profiles/prices.h"
#include "profiles/profile.h"
#include "profiles/user.h"

enum { SIMULATOR_PROMPT_MAX = 64 << 10 }; /* bytes of a system prompt */

struct simulator {
	struct model *model;   /* owned: where its answers come from */
	char *name;            /* owned: the model that its requests name */
	struct prices *prices; /* owned: its calls are metered apart from the agent's */
	char *prompt_file;     /* owned: absolute */
	char *prompt;          /* owned: the system prompt */
	char prompt_sha256[DIGEST_HEX];
	double temperature;
	uint64_t max_tokens;
	uint64_t timeout; /* ns of one try */
	uint64_t whole;   /* ns of one message, all tries and pauses included */
	uint64_t retries; /* tries after the first */
};

/* Make it from @spec (forms of --model, see profiles/model.h; a replay of a run directory means its
 * simulator.jsonl) and the values of @p; reads the prompt and the price file. 0, -ERR_USAGE or
 * -ERR_INPUT. Free with simulator_free(). */
int simulator_load(const char *spec, const char *cwd, const struct profile *p,
		   struct simulator **ret, struct err *err);

/* Write as the model-driven user @u of a scenario: its prompt takes the place of the profile's. Nothing for a user
 * that is a program. */
void simulator_speak_as(struct simulator *sim, const struct user *u);

/* Print it as member "simulator" of the plan (NULL: null): source, model, prompt by digest, values. */
void simulator_print(const struct simulator *sim, struct json_w *w);

/* Does the prompt file still hold what the plan recorded? A plan may be made long before its run.
 * 0, or -ERR_INPUT when it cannot be read or has another digest. NULL is fine. */
int simulator_check(const struct simulator *sim, struct err *err);

/* Is the endpoint of @sim the one that the agent's model @m (NULL: none) is asked at, so that the key
 * of the one may be shown to the other? @api_url: the public endpoint of the agent's API, NULL when it
 * has none; @own_url: that of the API which @sim speaks. */
bool simulator_same_endpoint(const struct simulator *sim, const struct model *m,
			     const char *api_url, const char *own_url);

/* Free; NULL is fine. Returns NULL. */
struct simulator *simulator_free(struct simulator *sim);

#endif
