/* The rows and the merging of mixed files. Shared by protect*.c only. */
#ifndef VERIFIER_PROTECT_INTERNAL_H
#define VERIFIER_PROTECT_INTERNAL_H

#include "verifier/protect.h"

/* What is done with a file that a row names. */
enum protect_how {
	HOW_HOLD,    /* the base's stays, a new one is left out */
	HOW_MADE,    /* as HOW_HOLD, but who removes it is right: tools make it again */
	HOW_SHADOW,  /* a new one is left out unless the base has its topmost directory */
	HOW_STARTUP, /* as HOW_HOLD when Python would run it at its start, otherwise it counts */
	HOW_FLAG,    /* counts and is reported */
	HOW_MERGE,   /* by merge() */
};

struct protect_row {
	const char *glob; /* of the last component, or of the whole path when it holds a slash */
	const char *kind;
	enum protect_how how;
	const char *when; /* words of the command, "|" between; NULL = always */
	/* Put the base's runner part of the file into the patch's text. 1 with the outcome in @out; 0 when
	 * that cannot be told from the rest: then the file is handled as a whole. @all: the command runs this
	 * file's build tool, so that its commands count, too. */
	int (*merge)(const struct protect_file *f, const void *arg, bool all, struct buf *out);
	const void *arg;
};

/* All rows, the first that fits wins; ended by a NULL glob. */
extern const struct protect_row protect_rows[];

#define PROTECT_OLD_KEYS "=" /* the keys that the base has; others are the patch's */

/* One part of an INI or TOML file that belongs to the runner. */
struct protect_section {
	const char *
		name; /* "tool.pytest" also means everything below it; "*" at the end as in globs */
	const char *
		keys; /* "|" between: only these keys; NULL = the whole section; PROTECT_OLD_KEYS */
};

/* The merge() of rows. INI (setup.cfg, tox.ini): @arg is struct protect_section rows ended by a NULL name. */
int protect_merge_ini(const struct protect_file *f, const void *arg, bool all, struct buf *out);
/* The same for TOML; the outcome is read and its protected parts are compared with the base's. */
int protect_merge_toml(const struct protect_file *f, const void *arg, bool all, struct buf *out);
/* package.json. @arg: keys ended by NULL; with @all its scripts, too. */
int protect_merge_package(const struct protect_file *f, const void *arg, bool all, struct buf *out);
/* Maven's pom.xml. @arg: struct protect_section rows: children of <project>, and children of those. */
int protect_merge_pom(const struct protect_file *f, const void *arg, bool all, struct buf *out);
/* go.mod. @arg: names of directives ended by NULL. */
int protect_merge_gomod(const struct protect_file *f, const void *arg, bool all, struct buf *out);
/* Makefile, when @all. @arg is not used. */
int protect_merge_make(const struct protect_file *f, const void *arg, bool all, struct buf *out);

/* Is @name one of @list, "|" between? */
bool protect_listed(const char *list, const char *name, size_t n);

#endif
