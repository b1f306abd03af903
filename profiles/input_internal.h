/* What the four kinds of input files share: reading by rows, texts kept in a file beside, names,
 * environments, root file systems. Not for output and not for the look-up by name. */
#ifndef PROFILES_INPUT_INTERNAL_H
#define PROFILES_INPUT_INTERNAL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define INPUT_TEXT_MAX (16u << 20) /* bytes of a patch or template file */
#define INPUT_ID_MAX   200         /* bytes of a name: it becomes part of file names */

/* HOME of every box. */
#define INPUT_BOX_HOME "/home/agent"

/* Check the schema, fill @out by @rows, and refuse null where a string must be.
 * 0 or -ERR_INPUT. */
int input_read(const struct json_src *src, const char *kind, const struct json_field *rows,
	       void *out, struct err *err);

/* Absolute directory that holds the input file @path; for "-" the current one. Caller frees. */
char *input_dir(const char *path);

/* @name relative to @dir as an absolute path without symbolic links where it exists; @dir NULL:
 * lexically, and @name must be absolute then (NULL is returned otherwise). Caller frees. */
char *input_path(const char *dir, const char *name);

/* Replace *@text: "" becomes NULL, text with a newline stays, anything else is the name of a
 * regular file below or beside @dir whose contents take its place. @dir NULL: file names are
 * refused. 0 or -ERR_INPUT. */
int input_text(const struct json_src *src, const char *where, const char *dir, char **text,
	       struct err *err);

/* How to open a file that is named in an input file: a FIFO must not make us wait. */
#define INPUT_OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Contents of regular file @fd (lent; negative: errno says why @name did not open), at most
 * INPUT_TEXT_MAX bytes, without NUL bytes; the caller frees *@ret. 0 or -ERR_INPUT. */
int input_file(const struct json_src *src, const char *where, int fd, const char *name, char **ret,
	       struct err *err);

/* Is @s a name: [A-Za-z0-9._-]+, not starting with a dot, at most INPUT_ID_MAX bytes? */
bool input_is_id(const char *s);

/* Complain unless input_is_id(@s). 0 or -ERR_INPUT. */
int input_check_id(const struct json_src *src, const char *where, const char *s, struct err *err);

/* Names of environment variables are [A-Za-z_][A-Za-z0-9_]*; "PROCTOR_" is ours and must not be
 * seen in a box. 0 or -ERR_INPUT. */
int input_check_env(const struct json_src *src, const char *where, const struct strv *env,
		    struct err *err);

/* Check *@rootfs ("host", "dir:PATH", "oci:LAYOUT[:TAG]", "docker-archive:FILE") and make its path
 * absolute. 0 or -ERR_INPUT. */
int input_rootfs(const struct json_src *src, const char *where, const char *dir, char **rootfs,
		 struct err *err);

/* Is @s an image path ("oci:..." or "docker-archive:...")? */
bool input_is_image(const char *s);

#endif
