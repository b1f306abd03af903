/* YAML as JSON, by libyaml's events: no recursion, a bound on depth, no aliases (so nothing grows), no
 * tags. Plain scalars are typed as YAML 1.1 readers do, for null, true and false (and yes, no, on, off) and
 * numbers that JSON writes the same; everything else is a string. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "study/import_rows_internal.h"

#define DEPTH_MAX 32u

struct yaml {
	const char *name;
	struct buf *out;
	char open[DEPTH_MAX]; /* '{' before a key, ':' before a value, '[' */
	bool any[DEPTH_MAX];
	unsigned depth;
	bool document;
};

static const struct {
	const char *plain, *json;
} words[] = {
	{ "", "null" },       { "~", "null" },    { "null", "null" },   { "Null", "null" },
	{ "NULL", "null" },   { "true", "true" }, { "True", "true" },   { "TRUE", "true" },
	{ "yes", "true" },    { "Yes", "true" },  { "YES", "true" },    { "on", "true" },
	{ "On", "true" },     { "ON", "true" },   { "false", "false" }, { "False", "false" },
	{ "FALSE", "false" }, { "no", "false" },  { "No", "false" },    { "NO", "false" },
	{ "off", "false" },   { "Off", "false" }, { "OFF", "false" },
};

static int refuse(const struct yaml *y, const yaml_mark_t *at, struct err *err, const char *what)
{
	return err_set(err, ERR_INPUT, "%s:%zu:%zu: %s", y->name, at->line + 1, at->column + 1,
		       what);
}

/* A number that JSON writes the same way. */
static bool is_number(const char *s, size_t n)
{
	struct jslice v;

	return n && (strchr("-0123456789", s[0]) != NULL) && s[n - 1] != 'y' &&
	       jslice_parse("", s, n, &v, NULL) == 0 && v.n == n;
}

/* What goes in front of the next key or value. */
static void separate(struct yaml *y)
{
	char *open;

	if (!y->depth)
		return;
	open = &y->open[y->depth - 1];
	if (*open == ':') {
		*open = '{';
		return;
	}
	if (y->any[y->depth - 1])
		buf_adds(y->out, ", ");
	y->any[y->depth - 1] = true;
}

static bool at_key(const struct yaml *y)
{
	return y->depth && y->open[y->depth - 1] == '{';
}

static int scalar(struct yaml *y, const yaml_event_t *e, struct err *err)
{
	const char *s = (const char *)e->data.scalar.value;
	size_t n = e->data.scalar.length;
	bool key = at_key(y), plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	const char *json = NULL;

	if (e->data.scalar.tag)
		return refuse(y, &e->start_mark, err, "tags are not read");
	for (size_t i = 0; i < ARRAY_SIZE(words) && plain && !key; i++)
		if (strlen(words[i].plain) == n && memcmp(words[i].plain, s, n) == 0)
			json = words[i].json;
	separate(y);
	if (json)
		buf_adds(y->out, json);
	else if (plain && !key && is_number(s, n))
		buf_add(y->out, s, n);
	else
		jslice_put(y->out, s, n);
	if (key) {
		buf_adds(y->out, ": ");
		y->open[y->depth - 1] = ':';
	}
	return 0;
}

static int open_in(struct yaml *y, const yaml_event_t *e, char bracket, struct err *err)
{
	if (at_key(y))
		return refuse(y, &e->start_mark, err, "a key must be a plain text");
	if (y->depth == DEPTH_MAX)
		return refuse(y, &e->start_mark, err, "nested deeper than 32 levels");
	separate(y);
	buf_addc(y->out, bracket);
	y->open[y->depth] = bracket;
	y->any[y->depth++] = false;
	return 0;
}

static int on_event(struct yaml *y, const yaml_event_t *e, struct err *err)
{
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (y->document)
			return refuse(y, &e->start_mark, err, "expected one document");
		y->document = true;
		return 0;
	case YAML_ALIAS_EVENT:
		return refuse(y, &e->start_mark, err, "aliases are not read");
	case YAML_SCALAR_EVENT:
		return scalar(y, e, err);
	case YAML_MAPPING_START_EVENT:
		return open_in(y, e, '{', err);
	case YAML_SEQUENCE_START_EVENT:
		return open_in(y, e, '[', err);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		y->depth--;
		buf_addc(y->out, e->type == YAML_MAPPING_END_EVENT ? '}' : ']');
		return 0;
	default:
		return 0;
	}
}

int yaml_json(const char *name, const char *text, size_t n, struct buf *out, struct err *err)
{
	struct yaml y = { .name = name, .out = out };
	yaml_parser_t parser;
	bool end = false;
	int rc = 0;

	if (!yaml_parser_initialize(&parser))
		return err_set(err, ERR_SYS, "%s: no memory for the YAML parser", name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	while (rc == 0 && !end) {
		yaml_event_t e;

		if (!yaml_parser_parse(&parser, &e)) {
			rc = refuse(&y, &parser.problem_mark, err,
				    parser.problem ? parser.problem : "not valid YAML");
			break;
		}
		end = e.type == YAML_STREAM_END_EVENT;
		rc = on_event(&y, &e, err);
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&parser);
	if (rc == 0 && !y.document)
		rc = err_set(err, ERR_INPUT, "%s: no YAML document in it", name);
	return rc;
}
