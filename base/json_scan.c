#include "base/json_internal.h"

#include <string.h>

#include "base/str.h"

int json_at(const char *name, const char *text, size_t at, struct err *err, const char *what)
{
	size_t line = 1, col = 1;

	for (size_t i = 0; i < at; i++) {
		col++;
		if (text[i] == '\n') {
			line++;
			col = 1;
		}
	}
	return err_set(err, ERR_INPUT, "%s:%zu:%zu: %s", name, line, col, what);
}

/* Blank a comment that starts at @i; returns the first byte behind it. Newlines stay. */
static size_t blank_comment(char *text, size_t i, size_t n)
{
	bool block = text[i + 1] == '*';
	size_t start = i;

	for (; i < n; i++) {
		if (block && i >= start + 2 && i + 1 < n && text[i] == '*' && text[i + 1] == '/') {
			text[i] = text[i + 1] = ' ';
			return i + 2;
		}
		if (text[i] == '\n') {
			if (!block)
				return i;
			continue;
		}
		text[i] = ' ';
	}
	return n;
}

/* Behind the closing quote of the string that starts at @i; checks for "\u0000". */
static size_t skip_string(const char *text, size_t i, size_t n, bool *ret_nul)
{
	for (i++; i < n; i++) {
		if (text[i] == '"')
			return i + 1;
		if (text[i] == '\\') {
			if (i + 5 < n && memcmp(text + i, "\\u0000", 6) == 0)
				*ret_nul = true;
			i++;
		}
	}
	return n;
}

int json_prescan(const char *name, char *text, size_t n, struct err *err)
{
	unsigned depth = 0;
	size_t bad;

	if (!str_utf8(text, n, &bad))
		return json_at(name, text, bad, err,
			       "this byte is not UTF-8; save the file as UTF-8");
	if (memchr(text, 0, n))
		return json_at(name, text, (size_t)((char *)memchr(text, 0, n) - text), err,
			       "NUL byte in a text file");
	for (size_t i = 0; i < n;) {
		bool nul = false;
		size_t at = i;

		if (text[i] == '"') {
			i = skip_string(text, i, n, &nul);
			if (nul)
				return json_at(name, text, at, err,
					       "\\u0000 is not allowed in a string");
			continue;
		}
		if (text[i] == '/' && i + 1 < n && (text[i + 1] == '/' || text[i + 1] == '*')) {
			i = blank_comment(text, i, n);
			continue;
		}
		if ((text[i] == '{' || text[i] == '[') && ++depth > JSON_DEPTH_MAX)
			return json_at(name, text, i, err, "nested deeper than 64 levels");
		if ((text[i] == '}' || text[i] == ']') && depth)
			depth--;
		i++;
	}
	return 0;
}
