/* What a known tool shows of a file, by its command line: the lines it was asked for, although it
 * reads more of the file than that. */
#ifndef TRIGGERS_ARGVRANGE_H
#define TRIGGERS_ARGVRANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARGVRANGE_MAX 64u

/* Ranges of lines in rising order, not overlapping. More than ARGVRANGE_MAX are merged. */
struct argvrange {
	struct {
		uint64_t first, last;
	} v[ARGVRANGE_MAX];
	size_t n;
};

/* Lines of a file of @n_lines lines that the program @argv (NULL-terminated) shows. @exe is the
 * base name of its executable or NULL. 1: known, *out filled (perhaps with nothing); 0: not a known
 * tool or not a known form of it, so a read counts with all its lines. */
int argvrange_of(char *const *argv, const char *exe, uint64_t n_lines, struct argvrange *out);

/* As argvrange_of(), and when the program stands in a pipeline of the shell text that command
 * @cmd_argv runs ("cat -n f | sed -n 5,9p"), what the filters behind it let through. @cmd_argv may
 * be NULL. */
int argvrange_in(char *const *argv, const char *exe, char *const *cmd_argv, uint64_t n_lines,
		 struct argvrange *out);

#endif
