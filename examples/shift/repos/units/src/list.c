#include "list.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

/* The entry up to the next comma as a text of its own. Behind it, NULL when it is too long. */
static const char *entry(const char *text, char *out, size_t room)
{
	size_t n = strcspn(text, ",");

	if (n >= room)
		return NULL;
	memcpy(out, text, n);
	out[n] = '\0';
	return text + n;
}

int list_add(const char *text, struct list_sum *ret)
{
	char one[32];
	unsigned long n;

	*ret = (struct list_sum){ 0 };
	while (*text) {
		ret->entries++;
		text = entry(text, one, sizeof(one));
		if (!text || units_parse(one, &n) < 0 || n > ULONG_MAX - ret->sum)
			return -1;
		ret->sum += n;
		ret->greatest = n > ret->greatest ? n : ret->greatest;
		if (*text == ',' && !*++text) {
			ret->entries++;
			return -1;
		}
	}
	return 0;
}
