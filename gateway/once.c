#include "gateway/once_internal.h"

#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool once_first(struct once *o, const char *fmt, ...)
{
	char text[ONCE_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (o->n >= ONCE_MAX || tfind(text, &o->root, compare))
		return false;
	ensure(tsearch(mem_strdup(text), &o->root, compare) != NULL, "memory for a text");
	o->n++;
	return true;
}

void once_done(struct once *o)
{
	tdestroy(o->root, free);
	*o = (struct once){ 0 };
}
