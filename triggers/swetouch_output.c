/* Reads that show in a command's output. */
#include "triggers/swetouch.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "triggers/shwords.h"

/* Bytes of output and of a path that are looked at. */
#define OUTPUT_MAX (1u << 20)
#define PATH_BYTES 4096u

static void add(struct swetouch *o, const char *name, size_t n, uint64_t first, uint64_t last)
{
	auto_free char *raw = mem_strndup(name, n);

	if (o->n >= SWETOUCH_EVENTS_MAX || !*raw)
		return;
	MEM_GROW(o->v, o->cap, o->n + 1);
	o->v[o->n++] = (struct swetouch_event){ false, path_normal(raw), first, last };
}

/* Leading number of @p; 0 when there is none. */
static uint64_t number(const char *p, const char *end, const char **after)
{
	uint64_t v = 0;

	while (p < end && isdigit((unsigned char)*p) && v < UINT64_MAX / 16)
		v = v * 10 + (uint64_t)(*p++ - '0');
	*after = p;
	return v;
}

/* "path:12:text" */
static void grep_line(struct swetouch *out, const char *p, const char *end)
{
	const char *colon = memchr(p, ':', (size_t)(end - p)), *after;
	uint64_t line;

	if (!colon || colon == p || (size_t)(colon - p) > PATH_BYTES ||
	    memchr(p, ' ', (size_t)(colon - p)))
		return;
	line = number(colon + 1, end, &after);
	if (line && after < end && *after == ':')
		add(out, p, (size_t)(colon - p), line, line);
}

/* The one file that a cat or nl of the command names; NULL when there are none or several.
 * Caller frees. */
static char *numbered_file(char *const *argv)
{
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };
	const char *text = shwords_text(argv);
	__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };
	bool numbers = false;

	if (text)
		shwords_parse(&s, text);
	for (size_t i = 0; i < s.n; i++) {
		size_t at = shwords_start(&s.v[i].words);

		if (at < s.v[i].words.n) {
			const char *name = path_base(s.v[i].words.v[at]);

			numbers |= str_eq(name, "cat") || str_eq(name, "nl");
		}
	}
	if (!text && argv && argv[0])
		numbers = str_eq(path_base(argv[0]), "cat") || str_eq(path_base(argv[0]), "nl");
	if (!numbers)
		return NULL;
	swetouch_command(&t, argv);
	if (t.n != 1 || t.v[0].edit)
		return NULL;
	return take_ptr(&t.v[0].path);
}

void swetouch_output(struct swetouch *out, char *const *argv, const char *data, size_t n)
{
	auto_free char *file = numbered_file(argv);
	const char *end = data + (n < OUTPUT_MAX ? n : OUTPUT_MAX);
	uint64_t min = 0, max = 0;

	for (const char *p = data; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end, *after;
		const char *q = p;
		uint64_t line;

		grep_line(out, p, stop);
		while (q < stop && (*q == ' ' || *q == '\t'))
			q++;
		line = number(q, stop, &after);
		if (file && line && after < stop && (*after == '\t' || *after == ' ')) {
			min = !min || line < min ? line : min;
			max = line > max ? line : max;
		}
		p = stop + 1;
	}
	if (min)
		add(out, file, strlen(file), min, max);
}
