#include "verifier/admitpatch.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define NAME_LEN_MAX 255  /* NAME_MAX of every usual file system */
#define PATH_LEN_MAX 4000 /* PATH_MAX less what stands in front of it */

/* UTF-8 of the code points that HFS+ leaves out when it compares names (Apple's TN1150): U+200C to
 * U+200F, U+202A to U+202E, U+206A to U+206F and U+FEFF. */
static bool is_ignorable(const unsigned char *p, size_t n)
{
	if (n < 3)
		return false;
	if (p[0] == 0xef)
		return p[1] == 0xbb && p[2] == 0xbf;
	if (p[0] != 0xe2)
		return false;
	if (p[1] == 0x80)
		return (p[2] >= 0x8c && p[2] <= 0x8f) || (p[2] >= 0xaa && p[2] <= 0xae);
	return p[1] == 0x81 && p[2] >= 0xaa && p[2] <= 0xaf;
}

/* One component: is it another way to write ".git"? */
static bool is_git(const char *name, size_t n)
{
	char plain[8] = "";
	size_t used = 0, i = 0;

	while (i < n && used < sizeof(plain) - 1) {
		if (is_ignorable((const unsigned char *)name + i, n - i)) {
			i += 3;
			continue;
		}
		if (used == 4 && strchr(". :", name[i]))
			break; /* what NTFS cuts off */
		plain[used++] = name[i++];
	}
	if (used == 4)
		return strcasecmp(plain, ".git") == 0;
	return used == 5 && strncasecmp(plain, "git~", 4) == 0 && plain[4] >= '1' &&
	       plain[4] <= '9';
}

/* @sep separates components: "/" of ours, or "/\\" as other systems have it. */
static const char *bad_component(const char *path, const char *sep)
{
	while (*path) {
		size_t n = strcspn(path, sep);

		if (n > NAME_LEN_MAX)
			return "a name longer than 255 bytes";
		if (is_git(path, n))
			return "a name that some file systems read as \".git\"";
		if (sep[1] && n == 2 && path[0] == '.' && path[1] == '.')
			return "\"..\" beside a backslash";
		path += n;
		path += *path != '\0';
	}
	return NULL;
}

const char *admitpatch_name(const char *path)
{
	const char *why;

	if (strlen(path) > PATH_LEN_MAX)
		return "a path longer than 4000 bytes";
	why = bad_component(path, "/");
	return why || !strchr(path, '\\') ? why : bad_component(path, "/\\");
}

bool admitpatch_link_leaves(const char *path, const char *to, size_t n)
{
	size_t up = 0, depth = 0;
	bool named = false;

	if (!n || *to == '/' || memchr(to, '\0', n))
		return true;
	for (const char *p = path; *p; p++)
		depth += *p == '/';
	for (size_t i = 0; i < n;) {
		const char *slash = memchr(to + i, '/', n - i);
		size_t len = slash ? (size_t)(slash - (to + i)) : n - i;
		bool dots = len == 2 && to[i] == '.' && to[i + 1] == '.';

		if (dots && (named || ++up > depth))
			return true;
		named |= len && !dots && !(len == 1 && to[i] == '.');
		i += len + 1;
	}
	return false;
}

uint32_t admitpatch_mode(uint32_t mode)
{
	switch (mode & 0170000) {
	case 0100000:
		return mode & 0100 ? 0100755 : 0100644;
	case 0120000:
		return 0120000;
	case 0160000:
		return ADMITPATCH_GITLINK;
	default:
		return 0;
	}
}
