/* What escape.c (rows of attempts) and escape_modes.c (runs of a single purpose) share. */
#ifndef PROGS_ESCAPE_H
#define PROGS_ESCAPE_H

#define MARK  "proctor-escape" /* name of everything that one box leaves for another */
#define WRONG 199              /* exit status: a property does not hold */

/* 0, or -errno when @rc is negative. */
long result(long rc);

/* Say @what is wrong; -WRONG. */
long wrong(const char *what);

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

#endif
