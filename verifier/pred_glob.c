/* Patterns of paths and names. Paths stem from the agent and a trace has a million of them: no backtracking. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "verifier/pred_internal.h"

enum { WORDS = PRED_GLOB_MAX / 64 + 1 };

/* Places in the pattern at which a match may stand. */
struct places {
	uint64_t w[WORDS];
};

static void mark(struct places *p, size_t i)
{
	p->w[i / 64] |= 1ull << (i % 64);
}

/* The longest piece without wildcards. A slash behind "**" may stand for nothing, so it ends a piece, too. */
static char *longest(const char *text)
{
	const char *best = "";
	size_t most = 0;

	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "*?/");

		if (n > most) {
			most = n;
			best = p;
		}
		p += n + (p[n] != '\0');
	}
	return mem_strndup(best, most);
}

void pred_glob_new(struct pred_glob *g, const char *text)
{
	size_t n = 0;

	*g = (struct pred_glob){ .text = mem_strdup(text), .literal = strcspn(text, "*?") };
	/* More than two stars are two. */
	for (const char *p = text; *p; p++)
		if (p - text < 2 || strncmp(p - 2, "***", 3) != 0)
			g->text[n++] = *p;
	g->text[n] = '\0';
	text = g->text;
	g->wild = text[g->literal] != '\0';
	g->slash = strchr(text, '/') != NULL;
	g->need = longest(text);
	g->tail = g->wild && g->literal && g->literal + 2 == n && text[g->literal - 1] == '/' &&
		  strcmp(text + g->literal, "**") == 0;
}

/* Place @i may be passed without a byte: a star, or "**" with the slash behind it. Mark what follows, too. The inside
 * of "**" keeps its own place on the second star. */
static void reach(const char *p, struct places *to, size_t i)
{
	for (;;) {
		mark(to, i);
		if (p[i] != '*')
			return;
		if (p[i + 1] != '*') {
			i++;
			continue;
		}
		mark(to, i + 1);
		i += p[i + 2] == '/' ? 3 : 2;
	}
}

/* Byte @c read at place @i. Is the place the inside of "**"? Then @inside. */
static void step(const char *p, struct places *to, size_t i, bool inside, char c)
{
	if (inside) {
		mark(to, i);
		/* Behind double star and slash only a whole component may follow. */
		if (p[i + 1] != '/')
			reach(p, to, i + 1);
		else if (c == '/')
			reach(p, to, i + 2);
		return;
	}
	if (p[i] == '*') {
		if (p[i + 1] != '*' && c != '/')
			reach(p, to, i);
		return;
	}
	if (p[i] && (p[i] == '?' ? c != '/' : p[i] == c))
		reach(p, to, i + 1);
}

static bool wild_match(const char *p, const char *s)
{
	struct places now = { { 0 } };
	size_t n = strlen(p), words = n / 64 + 1;

	reach(p, &now, 0);
	for (; *s; s++) {
		struct places next;
		uint64_t any = 0;

		memset(next.w, 0, words * sizeof(next.w[0]));
		for (size_t w = 0; w < words; w++) {
			for (uint64_t m = now.w[w]; m; m &= m - 1) {
				size_t i = w * 64 + (size_t)__builtin_ctzll(m);
				bool inside = i && p[i] == '*' && p[i - 1] == '*';

				step(p, &next, i, inside, *s);
			}
		}
		for (size_t w = 0; w < words; w++)
			any |= next.w[w];
		if (!any)
			return false;
		memcpy(now.w, next.w, words * sizeof(now.w[0]));
	}
	return now.w[n / 64] >> (n % 64) & 1;
}

bool pred_glob_match(const struct pred_glob *g, const char *s)
{
	if (!g->wild)
		return strcmp(g->text, s) == 0;
	if (strncmp(g->text, s, g->literal) != 0)
		return false;
	return g->tail || (strstr(s, g->need) && wild_match(g->text + g->literal, s + g->literal));
}

void pred_glob_done(struct pred_glob *g)
{
	free(g->text);
	free(g->need);
	*g = (struct pred_glob){ 0 };
}
