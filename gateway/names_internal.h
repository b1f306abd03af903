/* Which address of 127.64.0.0/10 means which name. Every allowed name that is asked for gets one of its
 * own, so that a connection to it tells the name without reading a byte of it. */
#ifndef GATEWAY_NAMES_INTERNAL_H
#define GATEWAY_NAMES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAMES_MAX = 65536 };

/* The block: a quarter of the loopback net, so that 127.0.0.1 and what programs usually take for their
 * own servers stay the box's. Host byte order. */
#define NAMES_NET  0x7f400000u
#define NAMES_SIZE 0x00400000u

struct names;

/* A table of at most @max names (NAMES_MAX but in tests), each kept for @ttl ns after it was last told.
 * Free with names_free(). */
struct names *names_new(size_t max, uint64_t ttl);

/* The address of @name (lower case) at time @now (clock_mono()), host byte order; given now when it has
 * none. *ret_new: it is new. When the table is full the name that was told longest ago makes room once
 * its time is over and no connection uses it, and its address rests until all others had their turn:
 * a client that kept it is refused rather than led elsewhere. 0 when there is no room. */
uint32_t names_addr(struct names *t, const char *name, uint64_t now, bool *ret_new);

/* The name that @addr means, NULL when it means none. Borrowed until the next names_addr(). */
const char *names_find(const struct names *t, uint32_t addr);

/* A connection uses @addr (which means a name) from now on: its name stays. */
void names_use(struct names *t, uint32_t addr, uint64_t now);

/* That connection ended. Unknown addresses are passed over. */
void names_unuse(struct names *t, uint32_t addr);

/* Free; NULL is fine. Returns NULL. */
struct names *names_free(struct names *t);

#endif
