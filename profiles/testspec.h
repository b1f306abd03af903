/* How the tests of known repositories are run: rows by repository and version, for tasks whose source does not
 * say it. The shipped file is profiles/data/swebench-spec.json. */
#ifndef PROFILES_TESTSPEC_H
#define PROFILES_TESTSPEC_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

#define TESTSPEC_FILE_MAX (16u << 20) /* bytes */

/* Which words stand for {files} in a command. */
enum testspec_files {
	TESTSPEC_PATHS,  /* the paths of the test patch */
	TESTSPEC_DJANGO, /* as dotted modules below tests/ */
	TESTSPEC_NONE,   /* nothing: the command runs everything it must */
};

struct testspec_row {
	char *repo;           /* owner/name */
	struct strv versions; /* none = every version */
	char *command;        /* {files} and {python} are put in */
	char *host_command;   /* for rootfs "host"; NULL = command */
	int files;            /* enum testspec_files */
	char *reader;         /* a reader, or a SWE-bench parser's name */
	char *python;         /* {python}; NULL = python3 */
	char *workdir;        /* NULL = the importer's default */
	struct strv env;      /* "KEY=value" */
	uint64_t timeout;     /* ns, 0 = the default */
};

struct testspec {
	struct testspec_row *v;
	size_t n;
};

/* Read "proctor.test-spec/1" from @path; NULL: the shipped file. 0 or -ERR_INPUT with position. Free with
 * testspec_done(). */
int testspec_load(const char *path, struct testspec *ret, struct err *err);

/* The same from @n bytes called @name in messages. */
int testspec_parse(const char *name, const char *text, size_t n, struct testspec *ret,
		   struct err *err);

/* Row for @repo and @version (NULL = unknown: fits rows for every version): the first that names the version,
 * otherwise the first for every version; NULL when there is none. */
const struct testspec_row *testspec_find(const struct testspec *s, const char *repo,
					 const char *version);

/* Free; {0} is fine. */
void testspec_done(struct testspec *s);

#endif
