/* Attempts to get out of the box (tests/tables/escape.tsv has what must come of each), and runs of a single purpose. Each
 * attempt runs in a process of its own, so that a kill is a result like any other. */
#ifndef ESCAPE_ESCAPE_H
#define ESCAPE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#define MARK                                                                                       \
	"proctor-escape" /* name of everything that one box leaves for another, or for the host */
#define WRONG     199    /* exit status: a property does not hold */
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define PTR(x)    ((uintptr_t)(x))
#define HI(x)     (0x100000000ull | (x)) /* garbage where the kernel looks at the low half only */
#define HI_ALL(x) (0xffffffff00000000ull | (x))

/* One system call. */
struct call {
	const char *id;
	long nr;
	uint64_t arg[6];
};

/* One name to be opened. */
struct opening {
	const char *id, *path;
	int flags;
};

/* One function: 0, or a negative errno. */
struct attempt {
	const char *id;
	long (*run)(void);
};

/* One file of attempts; both tables end with a row without a name, NULL = none. */
struct family {
	const char *name;
	const struct call *calls;
	const struct attempt *attempts;
};

extern const struct family family_terminal, family_processes, family_kernel, family_mounts,
	family_namespaces, family_identity, family_filters, family_network, family_files;
extern const struct opening openings[];

/* Call @attempt for each number of the newer calls, with zeros and with ones for arguments. */
void try_numbers(void (*attempt)(const char *id, long (*run)(const void *arg), const void *arg));

/* What the test told us of the host: a process, the port of a listener, an address. */
extern const char *arg_pid, *arg_port, *arg_address;

/* 0, or -errno when @rc is negative. */
long result(long rc);

/* Say @what is wrong; -WRONG. */
long wrong(const char *what);

/* The text of a small file of /proc, "" when there is none. Static, until the next call. */
const char *text_of(const char *path);

/* Connect to address @text; to the unix socket @name, abstract with a leading "@". 0 or -errno. */
long inet(const char *text, const char *port);
long local(const char *name, int type);

/* Load a filter of the agent's own with @action for openat and getppid. As seccomp(2). */
long own_filter(unsigned action, unsigned flags);

int make_marks(void);
int look_for_marks(void);
int run_oddly(const char *file);
int open_quietly(const char *file);
int hostile_names(void);
int packet_socket(void);
int read_by_aio(const char *file);
int swap_forever(const char *dir, const char *target);

#endif
