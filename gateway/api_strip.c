/* Provider-side tools and remote URLs: the strip half of api_internal.h. */
#include "gateway/api_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { NAME_MAX_BYTES = 256 };

static bool like(const char *s, size_t n, const char *pattern)
{
	const char *end = s + n;

	for (;; s++, pattern++) {
		while (s < end && (*s == '_' || *s == '-'))
			s++;
		while (*pattern == '_' || *pattern == '-')
			pattern++;
		if (*pattern == '*')
			return true;
		if (s == end || !*pattern)
			return s == end && !*pattern;
		if (tolower((unsigned char)*s) != tolower((unsigned char)*pattern))
			return false;
	}
}

bool api_strip_like(const char *s, const char *pattern)
{
	return like(s, strlen(s), pattern);
}

static bool like_any(const char *s, const char *const *patterns)
{
	for (; patterns && *patterns; patterns++)
		if (api_strip_like(s, *patterns))
			return true;
	return false;
}

bool api_strip_key(const struct jdoc *d, uint32_t at, const char *pattern)
{
	auto_buf name = BUF_INIT(NAME_MAX_BYTES);
	const struct jnode *v = &d->v[at];
	size_t n = v->key_end - v->key;

	if (v->key && !memchr(d->text + v->key, '\\', n))
		return like(d->text + v->key, n, pattern);
	/* what does not fit is longer than every pattern */
	return jdoc_key(d, at, &name) == 0 && !name.full && api_strip_like(buf_str(&name), pattern);
}

static bool key_is_one_of(const struct jdoc *d, uint32_t at, const char *const *keys)
{
	for (; *keys; keys++)
		if (api_strip_key(d, at, *keys))
			return true;
	return false;
}

void api_strip_tell(struct strip *s, const char *kind, const char *text)
{
	if (s->n < s->max)
		(void)snprintf(s->what[s->n].what, sizeof(s->what[s->n].what), "%s %s", kind,
			       text); /* cut on purpose */
	s->n++;
}

/* The type of tool @tool, "" when it has none. */
static void type_of(const struct jdoc *d, uint32_t tool, struct buf *out)
{
	jdoc_each (c, d, tool)
		if (api_strip_key(d, c, "type") && jdoc_str(d, c, out) == 0)
			return;
}

/* Every member "type" counts: with two of them we cannot know which the server takes. */
static bool tool_denied(const struct strip *s, uint32_t tool)
{
	const struct jdoc *d = s->d;

	if (s->denied && s->denied(d, tool))
		return true;
	if (jdoc_kind(d, tool) != J_OBJECT)
		return false;
	jdoc_each (c, d, tool) {
		auto_free char *type = NULL;

		if (!api_strip_key(d, c, "type"))
			continue;
		type = jdoc_strdup(d, c);
		if (type && (like_any(type, s->deny) || (s->only && !like_any(type, s->only))))
			return true;
	}
	return false;
}

/* How many of @list are denied. */
static uint32_t count_denied(const struct strip *s, uint32_t list)
{
	uint32_t n = 0;

	if (jdoc_kind(s->d, list) != J_ARRAY)
		return 0;
	jdoc_each (c, s->d, list)
		n += tool_denied(s, c);
	return n;
}

static void tell_tool(struct strip *s, uint32_t tool)
{
	auto_buf name = BUF_INIT(NAME_MAX_BYTES);

	type_of(s->d, tool, &name);
	if (!name.len) {
		uint32_t first = jdoc_first(s->d, tool);

		if (first != JNONE)
			(void)jdoc_key(s->d, first, &name); /* a nameless tool stays nameless */
	}
	api_strip_tell(s, "tool", buf_str(&name));
}

/* Is @name the name of a tool in one of the lists of @owner that goes? */
static bool names_denied(const struct strip *s, uint32_t owner, const char *name)
{
	const struct jdoc *d = s->d;

	jdoc_each (list, d, owner) {
		if (jdoc_kind(d, list) != J_ARRAY || !api_strip_key(d, list, "tools"))
			continue;
		jdoc_each (c, d, list)
			if (tool_denied(s, c) && jdoc_is(d, jdoc_get(d, c, "name"), name))
				return true;
	}
	return false;
}

/* Does @choice ("tool_choice") want a tool that goes? */
static bool chooses_denied(const struct strip *s, uint32_t owner, uint32_t choice)
{
	const struct jdoc *d = s->d;
	auto_free char *name = jdoc_strdup(d, jdoc_get(d, choice, "name"));

	if (!jdoc_is(d, jdoc_get(d, choice, "type"), "allowed_tools") && tool_denied(s, choice))
		return true;
	return name && names_denied(s, owner, name);
}

/* The one choice among tools when some of them went. */
static void strip_choice(struct strip *s, uint32_t owner, uint32_t choice)
{
	uint32_t among = jdoc_get(s->d, choice, "tools"), n = count_denied(s, among);

	if (jdoc_kind(s->d, choice) != J_OBJECT)
		return;
	if (chooses_denied(s, owner, choice) || (n && n == s->d->v[among].n)) {
		jedit_remove(s->edits, s->d, owner, choice);
		return;
	}
	if (!n)
		return;
	jdoc_each (c, s->d, among)
		if (tool_denied(s, c))
			jedit_remove(s->edits, s->d, among, c);
}

/* Returns whether nothing is left of @list. */
static bool strip_list(struct strip *s, uint32_t owner, uint32_t list)
{
	uint32_t denied = count_denied(s, list);
	bool all = denied == s->d->v[list].n;

	jdoc_each (c, s->d, list) {
		if (!tool_denied(s, c))
			continue;
		tell_tool(s, c);
		if (s->edits && !all)
			jedit_remove(s->edits, s->d, list, c);
	}
	if (s->edits && all && denied)
		jedit_remove(s->edits, s->d, owner, list);
	return all;
}

void api_strip_tools(struct strip *s, uint32_t owner)
{
	size_t before = s->n, choices = 0;
	uint32_t choice = JNONE;
	bool all = true;

	if (jdoc_kind(s->d, owner) != J_OBJECT)
		return;
	jdoc_each (c, s->d, owner) {
		if (jdoc_kind(s->d, c) == J_ARRAY && api_strip_key(s->d, c, "tools"))
			all &= strip_list(s, owner, c);
		if (api_strip_key(s->d, c, "tool_choice")) {
			choices++;
			choice = c;
		}
	}
	if (s->n == before || !s->edits)
		return;
	if (!all && choices == 1)
		strip_choice(s, owner, choice);
	/* two choices: nobody can say which one counts, and looking at each would take long */
	jdoc_each (c, s->d, owner)
		if ((all && key_is_one_of(s->d, c, s->with)) ||
		    (choices > 1 && api_strip_key(s->d, c, "tool_choice")))
			jedit_remove(s->edits, s->d, owner, c);
}

void api_strip_members(struct strip *s, uint32_t owner, const char *const *keys)
{
	if (jdoc_kind(s->d, owner) != J_OBJECT)
		return;
	jdoc_each (c, s->d, owner) {
		for (size_t i = 0; keys[i]; i++) {
			enum jkind kind = jdoc_kind(s->d, c);

			if (!api_strip_key(s->d, c, keys[i]) || kind == J_NULL ||
			    (kind == J_BOOL && !jdoc_true(s->d, c)))
				continue;
			api_strip_tell(s, "tool", keys[i]);
			if (s->edits)
				jedit_remove(s->edits, s->d, owner, c);
			break;
		}
	}
}

static void strip_member(struct strip *s, uint32_t owner, uint32_t member, const char *kind,
			 const char *text)
{
	api_strip_tell(s, kind, text);
	if (s->edits)
		jedit_remove(s->edits, s->d, owner, member);
}

void api_strip_several(struct strip *s, uint32_t owner, const char *const *keys)
{
	if (jdoc_kind(s->d, owner) != J_OBJECT)
		return;
	jdoc_each (c, s->d, owner) {
		uint64_t n;

		/* a text is a number to some servers */
		if (jdoc_kind(s->d, c) == J_NULL || (jdoc_u64(s->d, c, &n) == 0 && n <= 1))
			continue;
		for (size_t i = 0; keys[i]; i++) {
			if (!api_strip_key(s->d, c, keys[i]))
				continue;
			strip_member(s, owner, c, "several answers by", keys[i]);
			break;
		}
	}
}

void api_strip_values(struct strip *s, uint32_t owner, const char *key, const char *const *values)
{
	if (jdoc_kind(s->d, owner) != J_OBJECT)
		return;
	jdoc_each (c, s->d, owner) {
		auto_free char *value = NULL;

		if (!api_strip_key(s->d, c, key))
			continue;
		value = jdoc_strdup(s->d, c);
		if (value && like_any(value, values))
			strip_member(s, owner, c, key, value);
	}
}

bool api_strip_remote(const struct jdoc *d, uint32_t at)
{
	/* the scheme of an address, behind blanks that servers skip, stands in the first bytes */
	auto_buf b = BUF_INIT(API_BODY_MAX);
	const char *s;

	if (jdoc_str(d, at, &b) < 0)
		return false;
	s = buf_str(&b);
	while (*s && (unsigned char)*s <= ' ')
		s++;
	if (strncasecmp(s, "data:", 5) == 0)
		return false;
	return str_starts(s, "//") || str_starts(s, "\\\\") || memchr(s, ':', strnlen(s, 64));
}

/* The remote URL that media value @at is or holds, JNONE. */
static uint32_t remote_in(const struct strip *s, uint32_t at)
{
	const struct jdoc *d = s->d;

	if (jdoc_kind(d, at) == J_STRING)
		return api_strip_remote(d, at) ? at : JNONE;
	jdoc_each (c, d, at) {
		if (jdoc_kind(d, at) == J_OBJECT && !key_is_one_of(d, c, s->inner))
			continue;
		if (api_strip_remote(d, c))
			return c;
	}
	return JNONE;
}

bool api_strip_part(struct strip *s, uint32_t part)
{
	if (jdoc_kind(s->d, part) != J_OBJECT)
		return false;
	jdoc_each (c, s->d, part) {
		auto_free char *text = NULL;
		uint32_t url;

		if (!key_is_one_of(s->d, c, s->media))
			continue;
		url = remote_in(s, c);
		if (url == JNONE)
			continue;
		text = jdoc_strdup(s->d, url);
		api_strip_tell(s, "url", text ? text : "");
		if (s->edits)
			jedit_replace(s->edits, s->d, part, s->removed);
		return true;
	}
	return false;
}

void api_strip_parts(struct strip *s, uint32_t content)
{
	if (jdoc_kind(s->d, content) == J_ARRAY)
		jdoc_each (c, s->d, content)
			api_strip_part(s, c);
	else
		api_strip_part(s, content);
}
