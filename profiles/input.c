#include "profiles/input_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/image.h"

int input_read(const struct json_src *src, const char *kind, const struct json_field *rows,
	       void *out, struct err *err)
{
	int rc = json_check_schema(src, kind, err);

	if (rc == 0)
		rc = json_read(src, "$", src->root, rows, out, err);
	for (; rc == 0 && rows->name; rows++) {
		/* null leaves a string as it was, and a required one was NULL */
		if (rows->required && rows->kind == JSON_STR &&
		    !*(char **)((char *)out + rows->off))
			rc = json_complain(src, "$", err, "\"%s\" must not be null: %s", rows->name,
					   rows->doc);
	}
	return rc;
}

char *input_dir(const char *path)
{
	auto_free char *dir = strcmp(path, "-") == 0 ? mem_strdup(".") : path_dir(path);
	char *real = realpath(dir, NULL);

	return real ? real : path_normal(dir);
}

char *input_path(const char *dir, const char *name)
{
	auto_free char *joined = NULL;
	char *real;

	if (!dir)
		return name[0] == '/' ? path_normal(name) : NULL;
	joined = path_join(dir, name);
	real = realpath(joined, NULL);
	return real ? real : path_normal(joined);
}

int input_file(const struct json_src *src, const char *where, int fd, const char *name, char **ret,
	       struct err *err)
{
	auto_buf b = BUF_INIT(INPUT_TEXT_MAX);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return json_complain(src, where, err,
				     "cannot read %s: %s; text needs a newline, anything else is "
				     "a file name relative to this file",
				     name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return json_complain(src, where, err, "%s is not a regular file", name);
	if (fd_read_all(fd, &b) < 0)
		return json_complain(src, where, err, "cannot read %s: %s", name,
				     errno == EFBIG ? "larger than 16M" : strerror(errno));
	if (b.len && memchr(b.data, 0, b.len))
		return json_complain(src, where, err,
				     "%s holds a NUL byte; write binary changes with "
				     "\"git diff --binary\"",
				     name);
	*ret = buf_steal(&b, NULL);
	return 0;
}

int input_text(const struct json_src *src, const char *where, const char *dir, char **text,
	       struct err *err)
{
	auto_free char *path = NULL;
	auto_fd int fd = -1;
	char *contents;
	int rc;

	if (!*text || strchr(*text, '\n'))
		return 0;
	if (!**text) {
		free(*text);
		*text = NULL;
		return 0;
	}
	if (!dir)
		return json_complain(src, where, err,
				     "\"%s\" is a file name, and this text has no directory; "
				     "write the diff itself",
				     *text);
	path = path_join(dir, *text);
	fd = open(path, INPUT_OPEN_FLAGS);
	rc = input_file(src, where, fd, path, &contents, err);
	if (rc < 0)
		return rc;
	free(*text);
	*text = contents;
	return 0;
}

static bool id_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool input_is_id(const char *s)
{
	size_t n = 0;

	if (*s == '.')
		return false;
	for (; s[n]; n++) {
		if (n >= INPUT_ID_MAX || !(id_char(s[n]) || s[n] == '.' || s[n] == '-'))
			return false;
	}
	return n > 0;
}

int input_check_id(const struct json_src *src, const char *where, const char *s, struct err *err)
{
	if (input_is_id(s))
		return 0;
	return json_complain(src, where, err,
			     "\"%.*s\" is not a name: use 1 to %d of A-Z a-z 0-9 . _ -, no dot "
			     "in front",
			     INPUT_ID_MAX, s, INPUT_ID_MAX);
}

int input_check_env(const struct json_src *src, const char *where, const struct strv *env,
		    struct err *err)
{
	strv_each (i, env) {
		const char *s = env->v[i];
		size_t n = 0;

		while (id_char(s[n]))
			n++;
		if (s[n] != '=' || (s[0] >= '0' && s[0] <= '9'))
			return json_complain(src, where, err,
					     "\"%.*s\" is not the name of an environment variable",
					     (int)strcspn(s, "="), s);
		if (str_starts(s, "PROCTOR_"))
			return json_complain(src, where, err,
					     "\"%.*s\": names with PROCTOR_ would show the agent "
					     "what runs it; choose another name",
					     (int)n, s);
	}
	return 0;
}

bool input_is_image(const char *s)
{
	return image_is(s);
}

int input_rootfs(const struct json_src *src, const char *where, const char *dir, char **rootfs,
		 struct err *err)
{
	auto_free char *path = NULL;
	size_t prefix;
	char *full;

	if (strcmp(*rootfs, "host") == 0)
		return 0;
	prefix = strcspn(*rootfs, ":");
	if ((!str_starts(*rootfs, "dir:") && !input_is_image(*rootfs)) || !(*rootfs)[prefix + 1])
		return json_complain(src, where, err,
				     "\"%s\" is no root file system; choose \"host\", "
				     "\"dir:PATH\", \"oci:LAYOUT\" or \"docker-archive:FILE\"",
				     *rootfs);
	path = input_path(dir, *rootfs + prefix + 1);
	if (!path)
		return json_complain(src, where, err, "\"%s\" needs an absolute path here",
				     *rootfs);
	if (strcmp(path, "/") == 0)
		return json_complain(src, where, err,
				     "/ as a directory would be the host itself; write \"host\"");
	full = mem_printf("%.*s:%s", (int)prefix, *rootfs, path);
	free(*rootfs);
	*rootfs = full;
	return 0;
}
