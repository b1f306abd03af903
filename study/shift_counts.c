/* The plain table of counts: a line for each pair, or for several pairs of one cell, with a head that names the
 * columns. What a published table says can be worked out anew from it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/shift_internal.h"

#define COLUMNS_MAX 32
#define COUNT_MAX   1000000000u /* of a cell: sums stay far from overflow */

const char *const shift_states[] = { "valid", "invalid", "partial", "ungraded", NULL };

#define OFF(field) offsetof(struct shift_pair, field)

enum kind { WORD, NUMBER, STATE };

/* clang-format off */
static const struct column {
	const char *name;
	enum kind kind;
	size_t off;
	bool required;
} columns[] = {
	{ "scenario", WORD, OFF(scenario), true },
	{ "family", WORD, OFF(family) },
	{ "position", WORD, OFF(position), true },
	{ "agent", WORD, OFF(agent), true },
	{ "model", WORD, OFF(model) },
	{ "ladder", WORD, OFF(ladder) },
	{ "prefix", WORD, OFF(prefix) },
	{ "budget", NUMBER, OFF(budget) },
	{ "repeat", NUMBER, OFF(repeat) },
	{ "pairs", NUMBER, OFF(pairs) },
	{ "valid", NUMBER, OFF(valid), true },
	{ "clean", NUMBER, OFF(clean), true },
	{ "shifted", NUMBER, OFF(shifted), true },
	{ "paired", NUMBER, OFF(paired) },
	{ "state", STATE, OFF(state) },
	{ "reason", WORD, OFF(reason) },
};
/* clang-format on */

enum { N_COLUMNS = ARRAY_SIZE(columns) };

/* One row while it is read: what was said, and where. */
struct reading {
	const char *name; /* of the file */
	uint64_t line;    /* or number of the row */
	struct shift_pair *p;
	bool given[N_COLUMNS];
};

static int wrong(const struct reading *r, struct err *err, const char *what, const char *column)
{
	return err_set(err, ERR_INPUT, "%s:%" PRIu64 ": column \"%s\": %s", r->name, r->line,
		       column, what);
}

static int take_state(struct reading *r, const char *text, struct err *err)
{
	for (int i = 0; shift_states[i]; i++) {
		if (strcmp(shift_states[i], text) == 0) {
			r->p->state = (enum shift_state)i;
			return 0;
		}
	}
	return wrong(r, err, "must be valid, invalid, partial or ungraded", "state");
}

/* Put @text into column @c. An empty field is not given. */
static int take(struct reading *r, size_t c, const char *text, struct err *err)
{
	void *field = (char *)r->p + columns[c].off;
	uint64_t v;

	if (!*text)
		return 0;
	r->given[c] = true;
	if (columns[c].kind == STATE)
		return take_state(r, text, err);
	if (columns[c].kind == WORD) {
		free(*(char **)field);
		*(char **)field = mem_strdup(text);
		return 0;
	}
	if (str_u64(text, &v) < 0 || (columns[c].off != OFF(budget) && v > COUNT_MAX))
		return wrong(r, err, "must be a whole number up to 1000000000", columns[c].name);
	*(uint64_t *)field = v;
	return 0;
}

static bool given(const struct reading *r, size_t off)
{
	for (size_t c = 0; c < N_COLUMNS; c++) {
		if (columns[c].off == off)
			return r->given[c];
	}
	return false;
}

/* Columns that must be there. What the arms of an invalid pair came to need not be said. */
static int check_needed(const struct reading *r, struct err *err)
{
	for (size_t c = 0; c < N_COLUMNS; c++) {
		bool count = columns[c].off == OFF(clean) || columns[c].off == OFF(shifted);

		if (columns[c].required && !r->given[c] && !(count && !r->p->valid))
			return wrong(r, err, "is missing", columns[c].name);
	}
	return 0;
}

/* Counts that cannot be. */
static int check_counts(const struct reading *r, struct err *err)
{
	const struct shift_pair *p = r->p;

	if (p->valid > p->pairs)
		return wrong(r, err, "more are valid than there are pairs", "valid");
	if ((p->valid > 0) != (p->state == SHIFT_VALID))
		return wrong(r, err, "says something else than column \"valid\"", "state");
	if (p->clean > p->valid || p->shifted > p->valid)
		return wrong(r, err, "more successes than valid pairs", "clean, shifted");
	if (p->valid > 1 && !given(r, OFF(paired)))
		return wrong(r, err, "is needed where a row stands for several pairs", "paired");
	if (p->paired > p->clean || p->paired > p->shifted ||
	    p->clean + p->shifted > p->valid + p->paired)
		return wrong(r, err, "does not fit the successes of the arms", "paired");
	return p->repeat ? 0 : wrong(r, err, "begins at 1", "repeat");
}

/* "0.3"; an action number is no fraction. */
static double fraction_of(const char *position)
{
	char *end;
	double f;

	if (!strchr(position, '.'))
		return NAN;
	f = strtod(position, &end);
	return !*end && f >= 0 && f <= 1 ? f : NAN;
}

/* Fill in what follows from the rest, and refuse counts that cannot be. */
static int settle(struct reading *r, struct err *err)
{
	struct shift_pair *p = r->p;
	int rc = check_needed(r, err);

	if (rc < 0)
		return rc;
	if (!given(r, OFF(pairs)))
		p->pairs = 1;
	if (!given(r, OFF(state)))
		p->state = p->valid ? SHIFT_VALID : SHIFT_INVALID;
	if (!p->valid) /* what an arm of an invalid pair came to counts nowhere */
		p->clean = p->shifted = p->paired = 0;
	if (p->valid && !given(r, OFF(paired)))
		p->paired = p->clean && p->shifted;
	rc = check_counts(r, err);
	if (rc == 0)
		p->fraction = fraction_of(p->position);
	return rc;
}

/* Count what was read. */
static int keep(struct reading *r, struct shift_pairs *out, int rc, struct err *err)
{
	if (rc == 0)
		rc = settle(r, err);
	if (rc < 0) {
		shift_pair_done(r->p);
		return rc;
	}
	r->p->source = mem_printf("%s:%" PRIu64, r->name, r->line);
	shift_complete(r->p);
	out->n++;
	return 0;
}

/* --- JSON --- */

static int take_json(struct reading *r, const cJSON *item, struct err *err)
{
	auto_free char *text = NULL;
	const char *names[N_COLUMNS + 1] = { NULL };
	const char *near;

	for (size_t c = 0; c < N_COLUMNS; c++) {
		names[c] = columns[c].name;
		if (strcmp(columns[c].name, item->string) != 0)
			continue;
		if (cJSON_IsNull(item))
			return 0;
		if (cJSON_IsString(item)) {
			text = mem_strdup(item->valuestring);
			(void)json_unescape_bytes(text);
		} else if (cJSON_IsBool(item)) {
			text = mem_strdup(cJSON_IsTrue(item) ? "1" : "0");
		} else if (cJSON_IsNumber(item)) {
			text = mem_printf("%.17g", item->valuedouble);
		} else {
			return wrong(r, err, "must be text, a number, true or false", names[c]);
		}
		return take(r, c, text, err);
	}
	near = str_nearest(item->string, names);
	return err_set(err, ERR_INPUT, "%s: row %" PRIu64 ": no column \"%.100s\" is known%s%s%s",
		       r->name, r->line, item->string, near ? ", did you mean \"" : "",
		       near ? near : "", near ? "\"?" : "");
}

int shift_read_json(const struct json_src *src, struct shift_pairs *out, struct err *err)
{
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(src->root, "rows"), *row, *item;
	struct reading r = { .name = src->name };
	int rc = 0;

	if (!cJSON_IsArray(rows))
		return json_complain(src, "$.rows", err, "must be an array");
	cJSON_ArrayForEach (row, rows) {
		r = (struct reading){ .name = src->name, .line = r.line + 1 };
		if (!cJSON_IsObject(row))
			return json_complain(src, "$.rows", err, "row %" PRIu64 " is no object",
					     r.line);
		r.p = shift_room(out, src->name, err);
		if (!r.p)
			return -err->code;
		cJSON_ArrayForEach (item, row) {
			rc = take_json(&r, item, err);
			if (rc < 0)
				break;
		}
		rc = keep(&r, out, rc, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- tabs --- */

/* The field at *at: up to a tab or the end of the line. Caller frees. */
static char *field(const char **at)
{
	size_t n = strcspn(*at, "\t\r\n");
	char *s = mem_strndup(*at, n);

	*at += n;
	(void)json_unescape_bytes(s);
	return s;
}

/* Which column each field of the head is. */
static int read_head(const char *name, const char **at, size_t ret[COLUMNS_MAX], size_t *ret_n,
		     struct err *err)
{
	const char *names[N_COLUMNS + 1] = { NULL };
	bool seen[N_COLUMNS] = { false };

	for (size_t c = 0; c < N_COLUMNS; c++)
		names[c] = columns[c].name;
	for (*ret_n = 0; *ret_n < COLUMNS_MAX; (*at)++) {
		auto_free char *word = field(at);
		size_t c = 0;

		while (c < N_COLUMNS && strcmp(names[c], word) != 0)
			c++;
		if (c == N_COLUMNS) {
			const char *near = str_nearest(word, names);

			return err_set(err, ERR_INPUT, "%s:1: no column \"%.100s\" is known%s%s%s",
				       name, word, near ? ", did you mean \"" : "",
				       near ? near : "", near ? "\"?" : "");
		}
		if (seen[c])
			return err_set(err, ERR_INPUT, "%s:1: column \"%s\" is there twice", name,
				       word);
		seen[c] = true;
		ret[(*ret_n)++] = c;
		if (**at != '\t')
			return 0;
	}
	return err_set(err, ERR_INPUT, "%s:1: more than %d columns", name, COLUMNS_MAX);
}

static int read_row(struct reading *r, const char **at, const size_t *column, size_t n,
		    struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *text = field(at);
		int rc = take(r, column[i], text, err);

		if (rc < 0)
			return rc;
		if (**at != '\t')
			return 0;
		(*at)++;
	}
	return err_set(err, ERR_INPUT, "%s:%" PRIu64 ": more fields than the head has columns",
		       r->name, r->line);
}

static void next_line(const char **at)
{
	*at += strcspn(*at, "\n");
	*at += **at == '\n';
}

int shift_read_tabs(const char *name, const char *text, struct shift_pairs *out, struct err *err)
{
	size_t column[COLUMNS_MAX], n = 0;
	const char *at = text;
	int rc = read_head(name, &at, column, &n, err);

	for (uint64_t line = 2; rc == 0; line++) {
		struct reading r = { .name = name, .line = line };

		next_line(&at);
		if (!*at)
			break;
		if (!at[strspn(at, " \t\r\n")] || *at == '\n' || *at == '#')
			continue;
		r.p = shift_room(out, name, err);
		if (!r.p)
			return -err->code;
		rc = read_row(&r, &at, column, n, err);
		rc = keep(&r, out, rc, err);
	}
	return rc;
}

/* --- out --- */

/* A text as a field: what would end it, and what was escaped before, as \xNN. */
static void put_text(struct buf *out, const char *s)
{
	for (; s && *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c == 0x7f)
			buf_addf(out, "\\x%02x", (unsigned)c);
		else if (c == '\\')
			buf_adds(out, "\\\\");
		else
			buf_addc(out, *s);
	}
}

void shift_counts(const struct shift_pairs *p, struct buf *out)
{
	for (size_t c = 0; c < N_COLUMNS; c++)
		buf_addf(out, "%s%s", c ? "\t" : "", columns[c].name);
	buf_addc(out, '\n');
	for (size_t i = 0; i < p->n; i++) {
		for (size_t c = 0; c < N_COLUMNS; c++) {
			const char *at = (const char *)(p->v + i) + columns[c].off;

			if (c)
				buf_addc(out, '\t');
			if (columns[c].kind == NUMBER)
				buf_addu(out, *(const uint64_t *)at);
			else if (columns[c].kind == STATE)
				buf_adds(out, shift_states[p->v[i].state]);
			else
				put_text(out, *(char *const *)at);
		}
		buf_addc(out, '\n');
	}
}
