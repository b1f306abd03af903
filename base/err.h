/* Errors as values: a code, the errno behind it and a text that grows outwards.
 * Not for printing: only the commands in supervisor/ speak to the user. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/* Codes double as the program's exit status (DESIGN.md section 5). */
enum err_code {
	ERR_NONE = 0,
	ERR_USAGE = 2,   /* the command line is wrong */
	ERR_INPUT = 3,   /* a file given by the user is wrong */
	ERR_HOST = 4,    /* the kernel or a permission lacks something */
	ERR_SYS = 5,     /* a system call failed */
	ERR_LIMIT = 6,   /* a budget or a size bound was reached */
	ERR_REFUSED = 7, /* policy says no */
	ERR_CHILD = 8,   /* the agent or the tests could not be started */
	ERR_BUG = 70,    /* proctor itself is at fault */
};

#define ERR_TEXT_MAX 1024

/* Plain value, no allocation: it works when memory is short and may be sent through a pipe. */
struct err {
	enum err_code code;
	int sys; /* errno at the place of failure, 0 when none */
	char text[ERR_TEXT_MAX];
};

/* Record a failure. Set once, where it happens: what failed, on what, what to do.
 * @err may be NULL. Returns -code. Keeps errno. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Like err_set() with ERR_SYS, appending ": " and the text of the current errno.
 * Returns -ERR_SYS. Keeps errno. */
int err_sys(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Put "context: " in front of the text: at most once per layer. Returns -err->code
 * (or -ERR_BUG when @err is NULL or empty). */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Exit status that belongs to a negative return value. 0 for 0 and positive values. */
int err_exit_status(int rc);

/* Stable name of a code ("input", "host", ...), for machine output. Never NULL. */
const char *err_code_name(enum err_code code);

/* Stay-on assertion for our own mistakes, never for input: prints the place and aborts;
 * PTRACE_O_EXITKILL and the box's PID namespace then end the untrusted tree. */
#define ensure(cond, what)                                                                         \
	do {                                                                                       \
		if (!(cond))                                                                       \
			ensure_failed(__FILE__, __LINE__, #cond, what);                            \
	} while (0)

/* Back end of ensure(). Does not return. */
void ensure_failed(const char *file, int line, const char *cond, const char *what)
	__attribute__((noreturn));

#endif
