#include "settings.h"

#include <string.h>

#include "units.h"

static const char *blanks(const char *s)
{
	return s + strspn(s, " \t");
}

int settings_line(const char *line, struct setting *ret)
{
	const char *at = blanks(line);
	size_t n = strcspn(at, " \t=");
	char size[32];
	size_t k;

	if (!*at || *at == '#')
		return 0;
	if (!n || n >= sizeof(ret->name))
		return -1;
	memcpy(ret->name, at, n);
	ret->name[n] = '\0';
	at = blanks(at + n);
	if (*at++ != '=')
		return -1;
	at = blanks(at);
	k = strcspn(at, " \t");
	if (k >= sizeof(size) || *blanks(at + k))
		return -1;
	memcpy(size, at, k);
	size[k] = '\0';
	return units_parse(size, &ret->size) < 0 ? -1 : 1;
}

static int place_of(const struct setting *v, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(v[i].name, name) == 0)
			return i;
	}
	return n;
}

int settings_read(const char *text, struct setting *ret, int most)
{
	int n = 0;

	for (int no = 1; *text; no++) {
		size_t len = strcspn(text, "\n");
		struct setting one;
		char line[128];
		int rc, at;

		if (len >= sizeof(line))
			return -no;
		memcpy(line, text, len);
		line[len] = '\0';
		text += len + (text[len] == '\n');
		rc = settings_line(line, &one);
		at = rc == 1 ? place_of(ret, n, one.name) : n;
		if (rc < 0 || at >= most)
			return -no;
		if (rc == 0)
			continue;
		ret[at] = one;
		n += at == n;
	}
	return n;
}
