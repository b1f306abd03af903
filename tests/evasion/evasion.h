/* Programs that try to read a region's file, connect or execute without a record. Each keeps a count of its own, in
 * memory that all of its processes share, and says at the end what must be in the trace. */
#ifndef EVASION_EVASION_H
#define EVASION_EVASION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACKED    "tracked" /* the region's file; its decoy differs in the last letter */
#define DECOY      "tracker"
#define HI(x)      (0x100000000ull | (unsigned)(x)) /* garbage where the kernel does not look */
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define LAST       (sizeof(TRACKED) - 2) /* the letter that differs */
#define STACK_SIZE (64 << 10)

/* Memory of all processes of one program. */
struct shared {
	_Atomic long reads, opens, born, other;
	_Atomic bool ready, over;
	char name[64];
	char pad[4096];
};

extern struct shared *shared;

/* One way of evading: do it @n times, say what must be recorded. 0, or 77 when the kernel has no such thing. */
struct way {
	const char *name;
	int (*run)(long n);
};

/* Families, each ended by a row without a name. */
extern const struct way ways_paths[], ways_procs[], ways_fds[], ways_maps[], ways_blind[],
	ways_nets[];

/* The trace must have @n records of @kind (or at least so many, when @least) whose @field ("a,b": both, a blank between
 * them) matches the pattern @glob; @field NULL: any record of the kind. */
void expect(const char *kind, const char *field, const char *glob, bool least, long n);

/* Read from @fd when it is the region's file, and count that. */
void read_if_tracked(int fd);

/* Open the region's file, read, close, @n times. */
void read_tracked(long n);

/* The process' own program again with these arguments (at most two, the second may be NULL). Returns on error only. */
void exec_self(const char *one, const char *two);

/* Print and end the program. */
_Noreturn void fail(const char *what);

/* Wait for all children. */
void reap(void);

/* A small number that differs from call to call. */
unsigned jitter(unsigned below);

#endif
