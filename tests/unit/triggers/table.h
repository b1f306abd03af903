/* Rows of a table file under tests/tables: fields by TAB, lines with # at the start are comments,
 * \n, \t and \\ in a field stand for the characters. Not for anything but the tests beside it. */
#ifndef TESTS_UNIT_TRIGGERS_TABLE_H
#define TESTS_UNIT_TRIGGERS_TABLE_H

#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

/* Undo escapes in place. */
static inline void table_unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1] && strchr("nt\\", s[1])) {
			s++;
			*to++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : '\\';
		} else
			*to++ = *s;
	}
	*to = '\0';
}

/* Call @fn for each row of two fields. Returns the number of rows, 0 when the file cannot be
 * read. */
static inline unsigned table_each(const char *path, void (*fn)(char *a, char *b))
{
	auto_buf b = BUF_INIT(1u << 20);
	auto_free char *text = NULL;
	unsigned n = 0;
	char *save = NULL;

	if (fd_read_file(path, &b, NULL) < 0)
		return 0;
	text = buf_steal(&b, NULL);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *tab = strrchr(line, '\t');

		if ((line[0] == '#' && n == 0) || !tab)
			continue;
		*tab = '\0';
		table_unescape(line);
		fn(line, tab + 1);
		n++;
	}
	return n;
}

#endif
