#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (name[0] == '/' || !n)
		return mem_strdup(name);
	if (!name[0])
		return mem_strdup(dir);
	return mem_printf("%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

char *path_normal(const char *path)
{
	bool absolute = path[0] == '/';
	char *out = mem_alloc(strlen(path) + 3), *w = out;
	size_t depth = 0;

	if (absolute)
		*w++ = '/';
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.' && (depth || absolute)) {
			if (depth) {
				while (w > out && w[-1] != '/')
					w--;
				if (w > out + absolute)
					w--;
				depth--;
			}
		} else if (n && !(n == 1 && path[0] == '.')) {
			if (w > out + absolute)
				*w++ = '/';
			memcpy(w, path, n);
			w += n;
			if (!(n == 2 && path[0] == '.' && path[1] == '.'))
				depth++;
		}
		path += n;
		path += strspn(path, "/");
	}
	if (w == out)
		*w++ = '.';
	*w = '\0';
	return out;
}

bool path_beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1 && dir[0] == '/')
		return path[0] == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool path_is_tame(const char *path)
{
	if (!*path || *path == '/')
		return false;
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 0 || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.') ||
		    (n == 4 && strncasecmp(path, ".git", 4) == 0))
			return false;
		path += n;
		if (!*path)
			return true;
		path++;
	}
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}
