/* What kind of work a program does, from its argv: read, search, edit, test, build, vcs, network,
 * package, other (DESIGN.md section 4.1.8; vocabulary of SWE-chat's public categories). */
#ifndef SUPERVISOR_CLASSIFY_H
#define SUPERVISOR_CLASSIFY_H

#include <stddef.h>

/* In rising order of precedence: a command has the highest class of its programs. */
enum cmd_class {
	CLASS_OTHER,
	CLASS_READ,
	CLASS_SEARCH,
	CLASS_EDIT,
	CLASS_VCS,
	CLASS_NETWORK,
	CLASS_PACKAGE,
	CLASS_BUILD,
	CLASS_TEST,
	CLASS_MAX
};

/* "read", "search", ... */
const char *classify_name(enum cmd_class c);

/* Class of one program run with @argv (NULL-terminated, at least argv[0]). */
enum cmd_class classify_argv(char *const *argv);

#endif
