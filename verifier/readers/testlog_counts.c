#include <ctype.h>
#include <string.h>

#include "verifier/readers/testlog_internal.h"

size_t testlog_digits(const char *s, uint64_t *ret)
{
	size_t i = 0;

	*ret = 0;
	for (; isdigit((unsigned char)s[i]) && i < 18; i++)
		*ret = *ret * 10 + (uint64_t)(s[i] - '0');
	return i;
}

/* Store @v where a row is for the @n bytes of @word. */
static bool store(const struct testlog_count *rows, size_t n_rows, const char *word, size_t n,
		  uint64_t v)
{
	for (size_t i = 0; i < n_rows; i++)
		if (strlen(rows[i].word) == n && memcmp(rows[i].word, word, n) == 0) {
			*rows[i].to = v;
			return true;
		}
	return false;
}

bool testlog_counts(const char *s, bool named_first, const struct testlog_count *rows,
		    size_t n_rows)
{
	bool known = false;

	for (;;) {
		const char *word = s;
		size_t n = named_first ? strcspn(s, ":,") : 0, digits;
		uint64_t v;

		if (named_first) {
			if (strncmp(s + n, ": ", 2) != 0)
				return false;
			s += n + 2;
		}
		digits = testlog_digits(s, &v);
		s += digits;
		if (!digits || (!named_first && *s != ' '))
			return false;
		if (!named_first) {
			word = ++s;
			n = strcspn(s, ",");
			s += n;
		}
		known |= store(rows, n_rows, word, n, v);
		if (strncmp(s, ", ", 2) != 0)
			return known && (!*s || strcmp(s, ".") == 0);
		s += 2;
	}
}
