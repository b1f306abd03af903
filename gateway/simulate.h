/* The simulated user in the gateway's process, where the key is: a context becomes one question to a
 * chat endpoint (or script, or record), its answer a text or a reason why there is none. Asked beside
 * the agent's calls, metered and recorded apart from them. What a text may say is not judged here. */
#ifndef GATEWAY_SIMULATE_H
#define GATEWAY_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "gateway/source.h"
#include "profiles/simulator.h"

enum {
	SIMULATE_CONTEXT_MAX = 64 << 10, /* bytes of one context */
	SIMULATE_TEXT_MAX = 16 << 10, /* bytes of a text; longer ones are no message of a user's */
	SIMULATE_OPEN_MAX = 64,       /* messages that are being written at once */
};

struct event_base;
struct simulate;

/* One message, written or not. Borrowed during the call. */
struct simulate_said {
	uint64_t number;  /* as given to simulate_ask() */
	const char *text; /* as the model wrote it; NULL = there is none */
	size_t n;
	char why[64];                /* why there is none, in fixed words; "" otherwise */
	char raw_sha256[DIGEST_HEX]; /* of the text as it came, "" when none did */
	struct api_usage usage; /* of all tries that were billed; !known: some of it is estimated */
	uint64_t micro;         /* cost, UINT64_MAX unknown */
	unsigned billed, tries; /* tries that may have been billed; all tries */
	uint64_t ns;            /* from the question to this */
};

/* What its owner is told; @arg everywhere. */
struct simulate_ops {
	/* Called once for each simulate_ask(), never before that returns. */
	void (*said)(void *arg, const struct simulate_said *said);
	/* A strict replay differs: the run is over. */
	void (*mismatch)(void *arg, const char *difference);
	/* An expectation of the script was not met. */
	void (*unmet)(void *arg, const char *text);
	/* It cannot go on: the record cannot be written. */
	void (*failed)(void *arg, const char *why);
	void *arg;
};

/* Borrowed while it lives, but for source, which is moved in. */
struct simulate_spec {
	struct event_base *base;
	const struct simulator *sim;
	/* Where answers come from; {0} = a record without any: each question is refused, which ends
	 * the run unless the replay is loose. */
	struct source source;
	const struct simulate_ops *ops;
	int record_fd;  /* simulator.jsonl */
	uint64_t start; /* clock_mono() that record times count from */
};

/* Begin. Never fails. Free with simulate_free(). */
struct simulate *simulate_new(const struct simulate_spec *spec);

/* Have message @number written, from 1 without gaps; @context is copied (cut at SIMULATE_CONTEXT_MAX). */
void simulate_ask(struct simulate *s, uint64_t number, const char *context, size_t n);

/* The box is dead: what is still being written is ended, recorded and told, since it may be billed. */
void simulate_bye(struct simulate *s);

/* Free; nothing more is told. NULL is fine. Returns NULL. */
struct simulate *simulate_free(struct simulate *s);

#endif
