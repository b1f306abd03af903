#include "study/dockerfile.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"

#define WORDS_MAX 4096u

struct parse {
	const char *name, *s, *end;
	unsigned line;      /* of the next byte */
	unsigned at;        /* first line of the instruction under way */
	char escape;        /* "\", or "`" by a directive */
	struct strv args;   /* "KEY=value" of ARG, beneath those of ENV */
	struct strv stages; /* "name=image" */
	struct dockerfile *d;
	struct err *err;
};

void dockerfile_done(struct dockerfile *d)
{
	for (size_t i = 0; i < d->n_copies; i++) {
		strv_done(&d->copy[i].from);
		free(d->copy[i].to);
		free(d->copy[i].stage);
	}
	free(d->copy);
	free(d->from);
	free(d->workdir);
	free(d->commit);
	strv_done(&d->env);
	*d = (struct dockerfile){ 0 };
}

static int complain(const struct parse *p, const char *what)
{
	return err_set(p->err, ERR_INPUT, "%s:%u: %s", p->name, p->at, what);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next line without its end. False at the end of the text. */
static bool next_line(struct parse *p, const char **ret, size_t *n)
{
	const char *nl;

	if (p->s >= p->end)
		return false;
	nl = memchr(p->s, '\n', (size_t)(p->end - p->s));
	*ret = p->s;
	*n = (size_t)((nl ? nl : p->end) - p->s);
	p->s += *n + (nl != NULL);
	p->line++;
	while (*n && (*ret)[*n - 1] == '\r')
		(*n)--;
	return true;
}

/* The next instruction in one line: continuations joined, comment lines inside passed over. 1, 0 at the end,
 * negative when it is too long. */
static int next_instruction(struct parse *p, struct buf *out)
{
	const char *s;
	bool more = false;
	size_t n;

	buf_clear(out);
	while (next_line(p, &s, &n)) {
		size_t k = 0, end = n;

		while (k < n && blank(s[k]))
			k++;
		if (k == n || s[k] == '#')
			continue;
		if (!more)
			p->at = p->line;
		while (end && blank(s[end - 1]))
			end--;
		more = end && s[end - 1] == p->escape;
		buf_add(out, s + k, end - k - more);
		if (out->full)
			return complain(p, "an instruction of more than 64K");
		if (!more)
			return 1;
		buf_addc(out, ' ');
	}
	return out->len > 0;
}

/* Value of variable @name of @n bytes, NULL when unknown. Borrowed. */
static const char *lookup(const struct strv *vars, const char *name, size_t n)
{
	for (size_t i = vars->n; i--;)
		if (strncmp(vars->v[i], name, n) == 0 && vars->v[i][n] == '=')
			return vars->v[i] + n + 1;
	return NULL;
}

static size_t name_len(const char *s)
{
	return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
}

/* "$NAME", "${NAME}", "${NAME:-default}" at @s: its value into @out. Returns its length, 0 when it is none. */
static size_t variable(const struct parse *p, const char *s, struct buf *out)
{
	bool brace = s[1] == '{';
	const char *name = s + 1 + brace, *dflt = NULL, *value;
	size_t n = name_len(name), len = n, dflt_len = 0;

	if (!n)
		return 0;
	if (brace) {
		const char *close = strchr(name + n, '}');

		if (!close)
			return 0;
		if (strncmp(name + n, ":-", 2) == 0) {
			dflt = name + n + 2;
			dflt_len = (size_t)(close - dflt);
		} else if (name[n] != '}') {
			return 0;
		}
		len = (size_t)(close - name) + 1;
	}
	value = lookup(&p->d->env, name, n);
	if (!value)
		value = lookup(&p->args, name, n);
	if (value && *value)
		buf_adds(out, value);
	else if (dflt)
		buf_add(out, dflt, dflt_len);
	return 1 + brace + len;
}

/* One word at *s: quotes, escapes and variables resolved. NULL at the end. Caller frees. */
static char *word(const struct parse *p, const char **s)
{
	auto_buf out = BUF_INIT(DOCKERFILE_LINE_MAX * 4);
	char quote = 0;
	const char *c = *s;

	while (blank(*c))
		c++;
	if (!*c) {
		*s = c;
		return NULL;
	}
	for (; *c && (quote || !blank(*c)); c++) {
		size_t n;

		if (quote ? *c == quote : (*c == '"' || *c == '\'')) {
			quote = quote ? 0 : *c;
		} else if (*c == p->escape && c[1] && quote != '\'') {
			buf_addc(&out, *++c);
		} else if (*c == '$' && quote != '\'' && (n = variable(p, c, &out))) {
			c += n - 1;
		} else {
			buf_addc(&out, *c);
		}
	}
	*s = c;
	return buf_steal(&out, NULL);
}

static void words(const struct parse *p, const char *s, struct strv *out)
{
	char *w;

	while (out->n < WORDS_MAX && (w = word(p, &s)))
		strv_take(out, w);
}

/* ["a", "b"]: the exec form. False when it is none. */
static bool json_words(const char *s, struct strv *out)
{
	while (blank(*s))
		s++;
	if (*s++ != '[')
		return false;
	for (;;) {
		auto_buf one = BUF_INIT(DOCKERFILE_LINE_MAX);

		s += strspn(s, " \t,");
		if (*s == ']')
			return true;
		if (*s++ != '"' || out->n == WORDS_MAX) {
			strv_done(out);
			return false;
		}
		for (; *s && *s != '"'; s++)
			buf_addc(&one, *s == '\\' && s[1] ? *++s : *s);
		if (!*s++) {
			strv_done(out);
			return false;
		}
		strv_add(out, buf_str(&one));
	}
}

/* FROM [--platform=x] IMAGE [AS NAME]: begins a stage, which forgets what the one before said. */
static int on_from(struct parse *p, const char *rest)
{
	auto_strv w = { 0 };
	const char *image = NULL, *known;
	struct dockerfile *d = p->d;

	words(p, rest, &w);
	strv_each (i, &w) {
		if (str_starts(w.v[i], "--"))
			continue;
		if (!image)
			image = w.v[i];
		else if (strcasecmp(w.v[i], "as") == 0 && i + 1 < w.n && p->stages.n < WORDS_MAX) {
			known = lookup(&p->stages, image, strlen(image));
			strv_take(&p->stages,
				  mem_printf("%s=%s", w.v[i + 1], known ? known : image));
		}
	}
	if (!image)
		return complain(p, "FROM names no image");
	known = lookup(&p->stages, image, strlen(image));
	image = known ? known : image;
	if (!known) {
		size_t runs = d->runs;

		dockerfile_done(d);
		d->runs = runs;
	}
	free(d->from);
	d->from = mem_strdup(image);
	return 0;
}

static int on_workdir(struct parse *p, const char *rest)
{
	auto_free char *w = word(p, &rest), *joined = NULL;
	struct dockerfile *d = p->d;

	if (!w)
		return complain(p, "WORKDIR names no directory");
	joined = path_join(d->workdir ? d->workdir : "/", w);
	free(d->workdir);
	d->workdir = path_normal(joined);
	return 0;
}

static void set(struct strv *vars, const char *key, size_t n, const char *value)
{
	if (vars->n >= DOCKERFILE_VARS)
		return;
	for (size_t i = 0; i < vars->n; i++) {
		if (strncmp(vars->v[i], key, n) != 0 || vars->v[i][n] != '=')
			continue;
		free(vars->v[i]);
		vars->v[i] = mem_printf("%.*s=%s", (int)n, key, value);
		return;
	}
	strv_take(vars, mem_printf("%.*s=%s", (int)n, key, value));
}

/* ENV K=V K2=V2, and the old ENV K V. */
static int on_env(struct parse *p, const char *rest)
{
	size_t n = name_len(rest);

	if (n && blank(rest[n])) {
		auto_strv w = { 0 };
		auto_buf value = BUF_INIT(DOCKERFILE_LINE_MAX * 8);

		words(p, rest + n, &w);
		strv_each (i, &w)
			buf_addf(&value, "%s%s", i ? " " : "", w.v[i]);
		set(&p->d->env, rest, n, buf_str(&value));
		return 0;
	}
	for (;;) {
		auto_free char *w = word(p, &rest);

		if (!w)
			return 0;
		n = name_len(w);
		if (!n || w[n] != '=')
			return complain(p, "ENV: expected NAME=value");
		set(&p->d->env, w, n, w + n + 1);
	}
}

static int on_arg(struct parse *p, const char *rest)
{
	auto_strv w = { 0 };

	words(p, rest, &w);
	strv_each (i, &w) {
		size_t n = name_len(w.v[i]);

		if (n && w.v[i][n] == '=')
			set(&p->args, w.v[i], n, w.v[i] + n + 1);
	}
	return 0;
}

static int copy(struct parse *p, const char *rest, bool add)
{
	auto_strv w = { 0 };
	auto_free char *joined = NULL, *normal = NULL, *stage = NULL;
	struct dockerfile *d = p->d;
	struct dockerfile_copy *c;

	while (rest += strspn(rest, " \t"), str_starts(rest, "--")) {
		auto_free char *flag = word(p, &rest);

		if (str_starts(flag, "--from=")) {
			free(stage);
			stage = mem_strdup(flag + strlen("--from="));
		}
	}
	if (str_starts(rest, "<<"))
		return complain(
			p,
			"COPY of a text in the Dockerfile is not understood; put it into a file");
	if (!json_words(rest, &w))
		words(p, rest, &w);
	if (w.n < 2)
		return complain(p, "COPY needs a source and a destination");
	if (d->n_copies >= DOCKERFILE_COPIES)
		return complain(p, "more than 1000 COPY");
	joined = path_join(d->workdir ? d->workdir : "/", w.v[w.n - 1]);
	normal = path_normal(joined);
	d->copy = mem_realloc(d->copy, d->n_copies + 1, sizeof(*d->copy));
	c = &d->copy[d->n_copies++];
	*c = (struct dockerfile_copy){ .stage = take_ptr(&stage), .add = add, .line = p->at };
	c->to = mem_printf("%s%s", normal,
			   strcmp(normal, "/") != 0 && (str_ends(w.v[w.n - 1], "/") ||
							str_ends(w.v[w.n - 1], "/.") || w.n > 2)
				   ? "/"
				   : "");
	for (size_t i = 0; i + 1 < w.n; i++)
		strv_add(&c->from, w.v[i]);
	return 0;
}

static int on_copy(struct parse *p, const char *rest)
{
	return copy(p, rest, false);
}

static int on_add(struct parse *p, const char *rest)
{
	return copy(p, rest, true);
}

/* Over the lines of here-documents that a RUN begins ("<<EOF", "<<-'EOF'"). */
static void skip_heredocs(struct parse *p, const char *rest)
{
	while ((rest = strstr(rest, "<<"))) {
		char quote, name[64];
		const char *s;
		size_t n, k;

		rest += 2;
		rest += *rest == '-';
		quote = *rest == '"' || *rest == '\'' ? *rest++ : 0;
		k = name_len(rest);
		if (!k || k >= sizeof(name) || (quote && rest[k] != quote))
			continue;
		memcpy(name, rest, k);
		name[k] = '\0';
		while (next_line(p, &s, &n)) {
			while (n && *s == '\t') {
				s++;
				n--;
			}
			if (n == k && memcmp(s, name, k) == 0)
				break;
		}
	}
}

/* RUN is not carried out; a commit that it puts the work tree at is the task's base. */
static int on_run(struct parse *p, const char *rest)
{
	static const char *const verbs[] = { "checkout", "reset", "fetch" };
	static const char hex[] = "0123456789abcdef";

	p->d->runs++;
	for (const char *s = rest, *end; (s = strstr(s, "git ")); s = end) {
		bool verb = false;

		end = s + strcspn(s, "&;|");
		for (size_t i = 0; i < ARRAY_SIZE(verbs) && !verb; i++)
			verb = memmem(s, (size_t)(end - s), verbs[i], strlen(verbs[i])) != NULL;
		for (const char *h = s; verb && h < end; h++) {
			size_t n = strspn(h, hex);

			if (n == 40 && !strchr(hex, h[-1])) {
				free(p->d->commit);
				p->d->commit = mem_strndup(h, n);
			}
			h += n;
		}
	}
	skip_heredocs(p, rest);
	return 0;
}

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(struct parse *p, const char *rest);
} instructions[] = {
	{ "FROM", on_from },
	{ "WORKDIR", on_workdir },
	{ "ENV", on_env },
	{ "ARG", on_arg },
	{ "COPY", on_copy },
	{ "ADD", on_add },
	{ "RUN", on_run },
};
/* clang-format on */

static int instruction(struct parse *p, const char *line)
{
	size_t n = strcspn(line, " \t");

	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++)
		if (strlen(instructions[i].name) == n &&
		    strncasecmp(line, instructions[i].name, n) == 0)
			return instructions[i].run(p, line + n + strspn(line + n, " \t"));
	return 0;
}

/* "# escape=`" on the first line. */
static char escape_of(const char *text, size_t n)
{
	static const char directive[] = "# escape=`";

	return n >= sizeof(directive) - 1 && memcmp(text, directive, sizeof(directive) - 1) == 0
		       ? '`'
		       : '\\';
}

int dockerfile_parse(const char *name, const char *text, size_t n, struct dockerfile *ret,
		     struct err *err)
{
	struct dockerfile d = { 0 };
	struct parse p = { .name = name, .s = text, .end = text + n, .d = &d, .err = err };
	auto_buf line = BUF_INIT(DOCKERFILE_LINE_MAX);
	int rc;

	if (n > DOCKERFILE_MAX || memchr(text, 0, n))
		return err_set(err, ERR_INPUT, "%s: %s", name,
			       n > DOCKERFILE_MAX ? "larger than 1M" : "holds a NUL byte");
	p.escape = escape_of(text, n);
	while ((rc = next_instruction(&p, &line)) > 0) {
		rc = instruction(&p, buf_str(&line));
		if (rc < 0)
			break;
	}
	strv_done(&p.args);
	strv_done(&p.stages);
	if (rc < 0)
		dockerfile_done(&d);
	else
		*ret = d;
	return rc;
}
