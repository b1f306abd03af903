#include "sandbox/cgroup_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

/* Is @word one of the comma-separated @list (ended by NUL, blank, colon or newline)? */
static bool in_list(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (;;) {
		size_t len = strcspn(list, ", :\n");

		if (len == n && strncmp(list, word, n) == 0)
			return true;
		if (list[len] != ',')
			return false;
		list += len + 1;
	}
}

/* Path of our group by /proc/self/cgroup. Caller frees; NULL when there is none. */
static char *own_path(const char *own, const char *controller)
{
	while (*own) {
		const char *end = strchrnul(own, '\n');
		const char *list = memchr(own, ':', (size_t)(end - own));
		const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;

		if (path && (controller ? in_list(list + 1, controller) : path == list + 1))
			return mem_strndup(path + 1, (size_t)(end - path - 1));
		own = *end ? end + 1 : end;
	}
	return NULL;
}

/* mountinfo writes blank, tab, newline and backslash as \ooo. Caller frees. */
static char *unescape(const char *s, size_t n)
{
	char *out = mem_strndup(s, n);
	char *to = out;

	for (const char *p = out; *p;) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] && p[3]) {
			*to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*to = '\0';
	return out;
}

/* One line of mountinfo: is it the hierarchy, and which directory is the group @path in it? */
static char *line_dir(const char *line, const char *controller, const char *path)
{
	const char *field[6] = { NULL };
	const char *type = strstr(line, " - ");
	const char *p = line, *opts;
	auto_free char *root = NULL;
	auto_free char *point = NULL;

	if (!type)
		return NULL;
	type += 3;
	if (!str_starts(type, controller ? "cgroup " : "cgroup2 "))
		return NULL;
	opts = strrchr(type, ' ');
	if (controller && (!opts || !in_list(opts + 1, controller)))
		return NULL;
	for (int i = 0; i < 6 && p < type; i++) {
		field[i] = p;
		p += strcspn(p, " ");
		p += *p == ' ';
	}
	if (!field[5])
		return NULL;
	root = unescape(field[3], strcspn(field[3], " "));
	point = unescape(field[4], strcspn(field[4], " "));
	/* A mount of another part of the hierarchy does not show our group. */
	if (!path_beneath(path, root))
		return NULL;
	path += strcmp(root, "/") == 0 ? 0 : strlen(root);
	return mem_printf("%s%s", point, strcmp(path, "/") == 0 ? "" : path);
}

char *cgroup_find_in(const char *mountinfo, const char *own, const char *controller)
{
	auto_free char *path = own_path(own, controller);
	char *hit = NULL;

	if (!path || path[0] != '/' || strstr(path, "/.."))
		return NULL;
	while (*mountinfo) {
		size_t n = strcspn(mountinfo, "\n");
		auto_free char *line = mem_strndup(mountinfo, n);
		char *dir = line_dir(line, controller, path);

		/* A later mount lies over an earlier one. */
		if (dir) {
			free(hit);
			hit = dir;
		}
		mountinfo += n + (mountinfo[n] == '\n');
	}
	return hit;
}

char *cgroup_find(const char *controller)
{
	auto_buf mounts = BUF_INIT(4u << 20);
	auto_buf own = BUF_INIT(64u << 10);

	if (fd_read_file("/proc/self/mountinfo", &mounts, NULL) < 0 ||
	    fd_read_file("/proc/self/cgroup", &own, NULL) < 0)
		return NULL;
	return cgroup_find_in(buf_str(&mounts), buf_str(&own), controller);
}
