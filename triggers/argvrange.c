#include "triggers/argvrange.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "triggers/argvrange_internal.h"
#include "triggers/shwords.h"

/* Half a terminal of 24 lines: what an editor that jumps to a line shows around it. */
#define SCREEN_HALF 12

#define PIPE_TEXT_MAX (64u << 10) /* bytes of shell text that are searched for a pipeline */

void argvrange_add(struct argvrange *r, uint64_t first, uint64_t last, uint64_t lines)
{
	size_t at = 0, n = 0;

	first = first ? first : 1;
	last = last < lines ? last : lines;
	if (last < first)
		return;
	/* swallow what it overlaps or touches */
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].last + 1 < first || r->v[i].first > last + 1) {
			r->v[n++] = r->v[i];
			continue;
		}
		first = r->v[i].first < first ? r->v[i].first : first;
		last = r->v[i].last > last ? r->v[i].last : last;
	}
	r->n = n;
	while (at < r->n && r->v[at].first < first)
		at++;
	if (r->n == ARGVRANGE_MAX) {
		/* full: the nearest one grows over the gap */
		at = at == r->n ? at - 1 : at;
		r->v[at].first = first < r->v[at].first ? first : r->v[at].first;
		r->v[at].last = last > r->v[at].last ? last : r->v[at].last;
		return;
	}
	memmove(&r->v[at + 1], &r->v[at], (r->n - at) * sizeof(r->v[0]));
	r->v[at].first = first;
	r->v[at].last = last;
	r->n++;
}

int argvrange_all(struct argvrange *r, uint64_t lines)
{
	r->n = 0;
	argvrange_add(r, 1, lines, lines);
	return 1;
}

/* Number at the start of @s that ends the string. */
static bool whole(const char *s, uint64_t *v)
{
	return s && str_u64(s, v) == 0;
}

/* "-n 5", "-n5", "--lines=5", "--lines 5", "-5": the text of the number in *value, and how many
 * words it took. 0 when @v is something else. */
static size_t count_option(char *const *v, const char **value)
{
	const char *s = v[0];

	if (str_eq(s, "-n") || str_eq(s, "--lines")) {
		*value = v[1];
		return v[1] ? 2 : 0;
	}
	if (str_starts(s, "-n"))
		*value = s + 2;
	else if (str_starts(s, "--lines="))
		*value = s + 8;
	else if (s[0] == '-' && isdigit((unsigned char)s[1]))
		*value = s + 1;
	else
		return 0;
	return 1;
}

static int do_head(const struct range_args *a, struct argvrange *out)
{
	const char *value = "10";
	uint64_t n;

	for (size_t i = 0, k; a->v[i]; i += k) {
		k = count_option(&a->v[i], &value);
		if (k)
			continue;
		k = 1;
		if (a->v[i][0] == '-' && a->v[i][1] && !strchr("qvz", a->v[i][1]))
			return 0; /* -c: bytes, and what we do not know */
	}
	if (value[0] == '-') {
		if (!whole(value + 1, &n))
			return 0;
		argvrange_add(out, 1, n < a->lines ? a->lines - n : 0, a->lines);
		return 1;
	}
	if (!whole(value, &n))
		return 0;
	if (n)
		argvrange_add(out, 1, n, a->lines);
	return 1;
}

static int do_tail(const struct range_args *a, struct argvrange *out)
{
	const char *value = "10";
	uint64_t n;

	for (size_t i = 0, k; a->v[i]; i += k) {
		k = count_option(&a->v[i], &value);
		if (k)
			continue;
		k = 1;
		if (a->v[i][0] == '+' && i == 0)
			value = a->v[i];
		else if (a->v[i][0] == '-' && a->v[i][1] && !strchr("qvzfF", a->v[i][1]))
			return 0;
	}
	if (value[0] == '+') {
		if (!whole(value + 1, &n))
			return 0;
		argvrange_add(out, n, a->lines, a->lines);
		return 1;
	}
	if (!whole(value[0] == '-' ? value + 1 : value, &n))
		return 0;
	if (n)
		argvrange_add(out, n < a->lines ? a->lines - n + 1 : 1, a->lines, a->lines);
	return 1;
}

static int do_all(const struct range_args *a, struct argvrange *out)
{
	return argvrange_all(out, a->lines);
}

/* "10:20", "10:", ":20", "10", "10:+5" of bat. */
static bool bat_range(const char *s, const struct range_args *a, struct argvrange *out)
{
	auto_free char *copy = mem_strdup(s);
	char *colon = strchr(copy, ':');
	uint64_t first = 1, last = a->lines;

	if (!colon) {
		if (!whole(copy, &first))
			return false;
		argvrange_add(out, first, first, a->lines);
		return true;
	}
	*colon++ = '\0';
	if (*copy && !whole(copy, &first))
		return false;
	if (*colon == '+') {
		if (!whole(colon + 1, &last) || last > UINT32_MAX)
			return false;
		last += first;
	} else if (*colon && !whole(colon, &last))
		return false;
	argvrange_add(out, first, last, a->lines);
	return true;
}

static int do_bat(const struct range_args *a, struct argvrange *out)
{
	bool any = false;

	for (size_t i = 0; a->v[i]; i++) {
		const char *s = a->v[i], *value = NULL;

		if (str_eq(s, "-r") || str_eq(s, "--line-range"))
			value = a->v[i + 1] ? a->v[++i] : "";
		else if (str_starts(s, "--line-range="))
			value = s + strlen("--line-range=");
		else if (str_starts(s, "-r"))
			value = s + 2;
		if (!value)
			continue;
		any = true;
		if (!bat_range(value, a, out))
			return 0;
	}
	return any ? 1 : argvrange_all(out, a->lines);
}

/* less and more: "+10" and "+10g" begin at a line and can be paged to the end. */
static int do_pager(const struct range_args *a, struct argvrange *out)
{
	uint64_t first = 1;

	for (size_t i = 0; a->v[i]; i++) {
		char *end;

		if (a->v[i][0] != '+')
			continue;
		if (!isdigit((unsigned char)a->v[i][1]))
			return 0;
		first = strtoull(a->v[i] + 1, &end, 10);
		if (*end && !str_eq(end, "g") && !str_eq(end, "G"))
			return 0;
	}
	argvrange_add(out, first, a->lines, a->lines);
	return 1;
}

/* One ex command: a line to jump to, or lines to print. */
static bool ex_command(const char *s, const struct range_args *a, struct argvrange *out)
{
	static const char *const prints[] = { "p", "print", "nu", "number", "#", "l", "list" };
	auto_free char *copy = mem_strndup(s, strcspn(s, "|"));
	char *end, *verb;
	uint64_t first, last;

	if (str_eq(copy, "$")) {
		argvrange_add(out, a->lines > SCREEN_HALF ? a->lines - SCREEN_HALF : 1, a->lines,
			      a->lines);
		return true;
	}
	if (!isdigit((unsigned char)*copy))
		return false;
	first = last = strtoull(copy, &end, 10);
	if (*end == ',') {
		if (end[1] == '$') {
			last = a->lines;
			end += 2;
		} else
			last = strtoull(end + 1, &end, 10);
	}
	verb = end;
	if (!*verb && first == last) {
		argvrange_add(out, first > SCREEN_HALF ? first - SCREEN_HALF : 1,
			      first < UINT32_MAX ? first + SCREEN_HALF : first, a->lines);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(prints); i++)
		if (str_eq(verb, prints[i])) {
			argvrange_add(out, first, last, a->lines);
			return true;
		}
	return false;
}

/* vi family: +N, +CMD, -c CMD. Without any the whole file is in front of whoever looks. */
static int do_vi(const struct range_args *a, struct argvrange *out)
{
	bool any = false, known = true;

	for (size_t i = 0; a->v[i]; i++) {
		const char *s = a->v[i], *cmd = NULL;

		if (s[0] == '+' && s[1])
			cmd = s + 1;
		else if (s[0] == '-' && s[1] != '-' && s[strlen(s) - 1] == 'c' && a->v[i + 1])
			cmd = a->v[++i];
		if (!cmd || str_starts(cmd, "q") || str_starts(cmd, "set"))
			continue;
		any = true;
		known = known && ex_command(cmd, a, out);
	}
	if (!any)
		return argvrange_all(out, a->lines);
	return known;
}

/* perl -ne 'print if 10..20' and 'print if $. >= 10 && $. <= 20'. */
static int do_perl(const struct range_args *a, struct argvrange *out)
{
	const char *code = NULL, *p;
	unsigned long long x, y;
	int used = 0;
	bool loops = false;

	for (size_t i = 0; a->v[i]; i++) {
		const char *s = a->v[i];

		if (s[0] != '-' || s[1] == '-')
			continue;
		loops |= strchr(s, 'n') != NULL;
		if (s[strlen(s) - 1] == 'e' && a->v[i + 1])
			code = a->v[++i];
	}
	if (!code || !loops)
		return 0;
	p = code + strspn(code, " ");
	if (!str_starts(p, "print if "))
		return 0;
	p += strlen("print if ");
	if ((sscanf(p, "%llu..%llu%n", &x, &y, &used) == 2 ||
	     (used = 0, sscanf(p, "$. >= %llu && $. <= %llu%n", &x, &y, &used)) == 2) &&
	    used && p[used + (int)strspn(p + used, "; ")] == '\0') {
		argvrange_add(out, x, y, a->lines);
		return 1;
	}
	return 0;
}

/* clang-format off */
/* The tools that show lines of a file. */
static const struct {
	const char *name;
	int (*range)(const struct range_args *a, struct argvrange *out);
} tools[] = {
	{ "sed", argvrange_sed }, { "gsed", argvrange_sed },
	{ "head", do_head },	  { "tail", do_tail },
	{ "cat", do_all },	  { "nl", do_all },	  { "tac", do_all },
	{ "awk", argvrange_awk }, { "gawk", argvrange_awk }, { "mawk", argvrange_awk }, { "nawk", argvrange_awk },
	{ "bat", do_bat },	  { "batcat", do_bat },
	{ "less", do_pager },	  { "more", do_pager },
	{ "vi", do_vi }, { "vim", do_vi }, { "nvim", do_vi }, { "view", do_vi }, { "ex", do_vi }, { "vim.basic", do_vi }, { "vim.tiny", do_vi },
	{ "perl", do_perl },
};
/* clang-format on */

static int range_by_name(const char *name, char *const *rest, uint64_t n_lines,
			 struct argvrange *out)
{
	struct range_args a = { rest, n_lines };

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		if (!str_eq(tools[i].name, name))
			continue;
		out->n = 0;
		if (tools[i].range(&a, out))
			return 1;
		out->n = 0;
		return 0;
	}
	return 0;
}

int argvrange_of(char *const *argv, const char *exe, uint64_t n_lines, struct argvrange *out)
{
	const char *name;

	out->n = 0;
	if (!argv || !argv[0])
		return 0;
	name = path_base(argv[0]);
	/* "busybox sed ..." */
	if (str_eq(name, "busybox") && argv[1])
		return range_by_name(argv[1], argv + 2, n_lines, out);
	if (range_by_name(name, argv + 1, n_lines, out))
		return 1;
	/* mawk is called awk, vim.basic is called vi: argv[0] goes first, then the executable */
	return exe && !str_eq(exe, name) ? range_by_name(exe, argv + 1, n_lines, out) : 0;
}

/* Of the lines in @in, those that stand at the positions in @pick. */
static void compose(const struct argvrange *in, const struct argvrange *pick, uint64_t lines,
		    struct argvrange *out)
{
	out->n = 0;
	for (size_t k = 0; k < pick->n; k++) {
		uint64_t pos = 1; /* position of in->v[i].first in the stream */

		for (size_t i = 0; i < in->n; i++) {
			uint64_t n = in->v[i].last - in->v[i].first + 1;
			uint64_t a = pick->v[k].first > pos ? pick->v[k].first - pos : 0;

			if (pick->v[k].last >= pos && a < n) {
				uint64_t b = pick->v[k].last - pos;

				argvrange_add(out, in->v[i].first + a,
					      in->v[i].first + (b < n ? b : n - 1), lines);
			}
			pos += n;
		}
	}
}

static bool same_words(const struct strv *w, size_t from, char *const *argv)
{
	size_t i = 0;

	if (from >= w->n || !str_eq(path_base(w->v[from]), path_base(argv[0])))
		return false;
	for (i = 1; argv[i] && from + i < w->n; i++)
		if (!str_eq(w->v[from + i], argv[i]))
			return false;
	return !argv[i] && from + i == w->n;
}

int argvrange_in(char *const *argv, const char *exe, char *const *cmd_argv, uint64_t n_lines,
		 struct argvrange *out)
{
	__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };
	const char *text = shwords_text(cmd_argv);
	auto_free char *client = NULL;
	size_t i = 0;

	if (!argvrange_of(argv, exe, n_lines, out))
		return 0;
	/* parsed again at every read of a region: a text longer than anybody types is left alone */
	if (!text || strnlen(text, PIPE_TEXT_MAX) == PIPE_TEXT_MAX)
		return 1;
	client = shwords_client(text);
	shwords_parse(&s, client ? client : text);
	while (i < s.n && !same_words(&s.v[i].words, shwords_start(&s.v[i].words), argv))
		i++;
	for (i++; i < s.n && s.v[i].piped; i++) {
		const struct strv *w = &s.v[i].words;
		size_t at = shwords_start(w);
		struct argvrange pick = { .n = 0 }, both;
		uint64_t in = 0;

		for (size_t k = 0; k < out->n; k++)
			in += out->v[k].last - out->v[k].first + 1;
		if (at >= w->n || !range_by_name(path_base(w->v[at]), w->v + at + 1, in, &pick))
			break; /* an unknown filter: what came so far is what it saw */
		compose(out, &pick, n_lines, &both);
		*out = both;
	}
	return 1;
}
