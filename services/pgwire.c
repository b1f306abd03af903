#include "services/pgwire_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* Codes in the place of a protocol version. */
enum { CODE_CANCEL = 80877102, CODE_SSL = 80877103, CODE_GSSENC = 80877104, MAJOR = 3 };

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The string that begins at *@at of @n bytes, *@at behind its NUL; cut where the bytes end. */
static const char *string(const uint8_t *p, size_t n, size_t *at, size_t *len)
{
	const char *s = (const char *)p + *at;

	*len = *at < n ? strnlen(s, n - *at) : 0;
	*at = *at + *len < n ? *at + *len + 1 : n;
	return s;
}

static void copy(char *to, size_t room, const char *s, size_t n)
{
	n = n < room - 1 ? n : room - 1;
	memcpy(to, s, n);
	to[n] = '\0';
}

/* --- statements ---------------------------------------------------------------------------------- */

/* Where what begins at @s ends, when it is no word of SQL: quotes, comments, dollar quotes. NULL: it is something
 * else. */
static const char *quoted(const char *s, const char *end)
{
	const char *to;

	if (*s == '\'' || *s == '"') {
		to = memchr(s + 1, *s, (size_t)(end - s - 1));
		return to ? to + 1 : end;
	}
	if (end - s > 1 && s[0] == '-' && s[1] == '-') {
		to = memchr(s, '\n', (size_t)(end - s));
		return to ? to : end;
	}
	if (end - s > 1 && s[0] == '/' && s[1] == '*') {
		to = memmem(s + 2, (size_t)(end - s - 2), "*/", 2);
		return to ? to + 2 : end;
	}
	if (*s == '$') {
		const char *tag = s + 1;

		while (tag < end && (isalnum((unsigned char)*tag) || *tag == '_'))
			tag++;
		if (tag == end || *tag != '$')
			return NULL;
		to = memmem(tag + 1, (size_t)(end - tag - 1), s, (size_t)(tag + 1 - s));
		return to ? to + (tag + 1 - s) : end;
	}
	return NULL;
}

/* Does this word change something behind @before? */
static bool changes(const char *word, const char *before)
{
	static const char *const words[] = {
		"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE",  "ALTER",   "DROP",
		"GRANT",  "REVOKE", "CALL",   "DO",    "INTO",     "REINDEX", "REFRESH", "COMMENT",
	};

	/* SELECT ... FOR UPDATE, FOR NO KEY UPDATE */
	if (strcmp(word, "UPDATE") == 0 &&
	    (strcmp(before, "FOR") == 0 || strcmp(before, "KEY") == 0))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

static void one_line(const char *sql, size_t n, char *to, size_t room)
{
	size_t len = 0;

	for (size_t i = 0; i < n && len + 1 < room; i++) {
		bool blank = isspace((unsigned char)sql[i]);

		if (!blank)
			to[len++] = sql[i];
		else if (len && to[len - 1] != ' ')
			to[len++] = ' ';
	}
	to[len] = '\0';
}

void pgwire_statement(const char *sql, size_t n, struct pgwire_event *ev)
{
	char word[16] = "", before[16] = "";
	const char *end = sql + n, *s = sql;
	bool is_copy = false;

	*ev = (struct pgwire_event){ .name = "query" };
	one_line(sql, n, ev->text, sizeof(ev->text));
	while (s < end) {
		const char *to = quoted(s, end);
		size_t len = 0;

		if (to || !(isalpha((unsigned char)*s) || *s == '_')) {
			s = to ? to : s + 1;
			continue;
		}
		snprintf(before, sizeof(before), "%s", word);
		for (; s < end && (isalnum((unsigned char)*s) || *s == '_'); s++) {
			if (len + 1 < sizeof(word))
				word[len++] = (char)toupper((unsigned char)*s);
		}
		word[len] = '\0';
		if (!ev->method[0])
			snprintf(ev->method, sizeof(ev->method), "%s", word);
		is_copy = is_copy || strcmp(word, "COPY") == 0;
		/* COPY ... TO only looks, and so does any other FROM. */
		ev->mutating = ev->mutating || changes(word, before) ||
			       (is_copy && strcmp(word, "FROM") == 0);
	}
}

/* --- names of the client's ----------------------------------------------------------------------- */

static struct pgwire_kept *find(struct pgwire_kept *v, const char *name)
{
	for (size_t i = 0; i < PGWIRE_KEPT; i++) {
		if (v[i].used && strcmp(v[i].name, name) == 0)
			return &v[i];
	}
	return NULL;
}

static void keep(struct pgwire_kept *v, unsigned *next, const char *name,
		 const struct pgwire_event *ev)
{
	struct pgwire_kept *k = find(v, name);

	if (!k)
		k = &v[(*next)++ % PGWIRE_KEPT];
	snprintf(k->name, sizeof(k->name), "%s", name);
	k->ev = *ev;
	k->used = true;
}

/* What is known under @name; of what was forgotten the worst is said. */
static void recall(struct pgwire_kept *v, const char *name, struct pgwire_event *ev)
{
	const struct pgwire_kept *k = find(v, name);

	*ev = (struct pgwire_event){ .name = "query", .method = "EXECUTE", .mutating = true };
	if (k)
		*ev = k->ev;
	else
		snprintf(ev->text, sizeof(ev->text), "EXECUTE %s", name);
}

/* --- from the client ----------------------------------------------------------------------------- */

static void parameters(struct pgwire *w, const uint8_t *p, size_t n)
{
	size_t at = 8, kn, vn;

	while (at < n && p[at]) {
		const char *key = string(p, n, &at, &kn);
		const char *value = string(p, n, &at, &vn);

		if (kn == 4 && memcmp(key, "user", 4) == 0)
			copy(w->role, sizeof(w->role), value, vn);
		else if (kn == 8 && memcmp(key, "database", 8) == 0)
			copy(w->database, sizeof(w->database), value, vn);
	}
	if (!w->database[0])
		snprintf(w->database, sizeof(w->database), "%s", w->role);
}

/* The first packet has no type. */
static enum pgwire_does startup(struct pgwire *w, const uint8_t *p, size_t n, size_t *take,
				struct pgwire_event *ev)
{
	uint32_t len, code;

	if (n < 8)
		return PGWIRE_MORE;
	len = be32(p);
	code = be32(p + 4);
	if (len < 8 || len > PGWIRE_STARTUP_MAX)
		return PGWIRE_BAD;
	if (n < len)
		return PGWIRE_MORE;
	*take = len;
	if (code == CODE_SSL || code == CODE_GSSENC)
		return len == 8 ? PGWIRE_DENY : PGWIRE_BAD;
	w->started = true;
	w->cancel = code == CODE_CANCEL;
	if (w->cancel)
		return len == 16 ? PGWIRE_PASS : PGWIRE_BAD;
	if (code >> 16 != MAJOR)
		return PGWIRE_BAD;
	parameters(w, p, len);
	*ev = (struct pgwire_event){ .name = "connect", .method = "CONNECT" };
	snprintf(ev->text, sizeof(ev->text), "%s to %s", w->role, w->database);
	return PGWIRE_TELL;
}

/* Look into a message of @n bytes that are there, header included. True: it is told. */
static bool front_message(struct pgwire *w, const uint8_t *p, size_t n, struct pgwire_event *ev)
{
	char name[PGWIRE_NAME], other[PGWIRE_NAME];
	size_t at = 5, len;
	const char *s = string(p, n, &at, &len);

	copy(name, sizeof(name), s, len);
	switch (p[0]) {
	case 'Q':
		pgwire_statement(s, len, ev);
		return true;
	case 'P': /* name, statement */
		s = string(p, n, &at, &len);
		pgwire_statement(s, len, ev);
		keep(w->statement, &w->next_statement, name, ev);
		return false;
	case 'B': /* portal, statement's name */
		s = string(p, n, &at, &len);
		copy(other, sizeof(other), s, len);
		recall(w->statement, other, ev);
		keep(w->portal, &w->next_portal, name, ev);
		return false;
	case 'E': /* portal */
		recall(w->portal, name, ev);
		return true;
	default: /* 'F', a call of a function by its number */
		*ev = (struct pgwire_event){ .name = "query", .method = "CALL", .mutating = true };
		return true;
	}
}

/* Header of the next message: its whole length, 0 = more bytes are needed, or PGWIRE_MESSAGE_MAX + 2 = none. */
static size_t message(const uint8_t *p, size_t n)
{
	uint32_t len;

	if (n < 5)
		return 0;
	len = be32(p + 1);
	return len < 4 || len > PGWIRE_MESSAGE_MAX ? PGWIRE_MESSAGE_MAX + 2 : (size_t)len + 1;
}

/* The rest of a message that was looked at. False: there is none. */
static bool rest(uint64_t *skip, size_t n, size_t *take)
{
	if (!*skip)
		return false;
	*take = *skip < n ? (size_t)*skip : n;
	*skip -= *take;
	return true;
}

enum pgwire_does pgwire_front(struct pgwire *w, const uint8_t *p, size_t n, size_t *take,
			      struct pgwire_event *ev)
{
	size_t all, head;

	*take = 0;
	if (!n)
		return PGWIRE_MORE;
	if (!w->started)
		return startup(w, p, n, take, ev);
	if (rest(&w->front_skip, n, take))
		return PGWIRE_PASS;
	if (w->cancel)
		return PGWIRE_BAD;
	all = message(p, n);
	if (!all)
		return PGWIRE_MORE;
	if (all > PGWIRE_MESSAGE_MAX + 1)
		return PGWIRE_BAD;
	if (strchr("QPBEF", p[0]) && p[0]) {
		head = all < PGWIRE_HEAD ? all : PGWIRE_HEAD;
		if (n < head)
			return PGWIRE_MORE;
		w->front_skip = all;
		return front_message(w, p, head, ev) ? PGWIRE_TELL
						     : (rest(&w->front_skip, n, take), PGWIRE_PASS);
	}
	w->front_skip = all;
	rest(&w->front_skip, n, take);
	return PGWIRE_PASS;
}

/* --- from the server ----------------------------------------------------------------------------- */

/* ErrorResponse: fields of a letter and a string; C is the SQLSTATE, M the message. */
static void error_fields(const uint8_t *p, size_t n, struct pgwire_event *ev)
{
	char state[8] = "", text[200] = "", line[200];
	size_t at = 5, len;

	while (at < n && p[at]) {
		char letter = (char)p[at++];
		const char *s = string(p, n, &at, &len);

		if (letter == 'C')
			copy(state, sizeof(state), s, len);
		else if (letter == 'M')
			copy(text, sizeof(text), s, len);
	}
	one_line(text, strlen(text), line, sizeof(line));
	*ev = (struct pgwire_event){ .name = "error", .method = "ERROR" };
	snprintf(ev->text, sizeof(ev->text), "%s %s", state, line);
}

enum pgwire_does pgwire_back(struct pgwire *w, const uint8_t *p, size_t n, size_t *take,
			     struct pgwire_event *ev)
{
	size_t all, head;

	*take = 0;
	if (!n)
		return PGWIRE_MORE;
	if (rest(&w->back_skip, n, take))
		return PGWIRE_PASS;
	all = message(p, n);
	if (!all)
		return PGWIRE_MORE;
	if (all > PGWIRE_MESSAGE_MAX + 1)
		return PGWIRE_BAD;
	head = all < PGWIRE_HEAD ? all : PGWIRE_HEAD;
	if (p[0] == 'E' && n < head)
		return PGWIRE_MORE;
	w->back_skip = all;
	if (p[0] == 'E') {
		error_fields(p, head, ev);
		return PGWIRE_TELL;
	}
	rest(&w->back_skip, n, take);
	return PGWIRE_PASS;
}
