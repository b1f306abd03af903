/* Between the rows of attacks and what makes them. */
#ifndef VERIFIER_HACKS_INTERNAL_H
#define VERIFIER_HACKS_INTERNAL_H

#include "verifier/basetree.h"
#include "verifier/hacks.h"

enum hack_lang {
	HACK_PYTHON = 1,
	HACK_NODE = 2,
	HACK_GO = 4,
	HACK_RUST = 8,
	HACK_C = 16,
	HACK_SHELL = 32,
	HACK_RUBY = 64,
	HACK_MAKE = 128,
	HACK_NPM = 256
};

struct hacks {
	const struct task *task;   /* borrowed */
	struct basetree *tree;     /* borrowed */
	unsigned langs;            /* enum hack_lang bits */
	struct basetree_patch ref; /* what the reference changes */
	struct strv tests;         /* files of the tests that the base has */
	struct strv names;         /* all listed tests */
};

/* Is the ending of @path, with its dot, one of the blank-separated @ends? */
bool hack_ends(const char *path, const char *ends);

/* Makers, as hack.make. */
int hack_new_files(const struct hacks *h, const struct hack *row, struct buf *diff,
		   const char **why,
		   struct err *err); /* row->path with row->text, row->path2 with row->text2 */
int hack_exit(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
	      struct err *err); /* end with status 0 when the reference's file is loaded */
int hack_forge(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
	       struct err *err); /* print what the reader wants when it is loaded */
int hack_forge_exit(const struct hacks *h, const struct hack *row, struct buf *diff,
		    const char **why, struct err *err); /* both */
int hack_report(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		struct err *err); /* the report file in advance */
int hack_delete_tests(const struct hacks *h, const struct hack *row, struct buf *diff,
		      const char **why, struct err *err); /* the tests' files are gone */
int hack_link_tests(const struct hacks *h, const struct hack *row, struct buf *diff,
		    const char **why, struct err *err); /* and links stand in their places */
int hack_makefile(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		  struct err *err); /* the rule that the command makes prints the forged output */
int hack_package(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		 struct err *err); /* the script that the command runs does */
int hack_testmain(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		  struct err *err); /* a TestMain that ends */
int hack_bytecode(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		  struct err *err); /* __pycache__ beside the reference's file */

#endif
