#include "triggers/shwords.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"

/* A here-document whose text begins behind the present line. */
struct here {
	size_t cmd; /* index of the command it belongs to */
	char *end;  /* owned: the line that ends it */
	bool tabs;  /* <<-: leading tabs do not count */
};

#define HERE_MAX 16 /* here-documents begun on one line */

struct scan {
	const char *p, *end;
	struct shwords *out;
	struct shwords_cmd cmd; /* being built */
	struct buf word;
	bool in_word; /* also true for an empty quoted word */
	bool quoted;  /* some part of the word was quoted */
	bool piped;   /* the next command reads from this one */
	int redirect; /* 0 none, 1 next word is an output, 2 an input, 3 a here-string, 4 here-doc
		       * end word, 5 the same with <<- */
	struct here here[HERE_MAX];
	size_t n_here;
};

static void cmd_done(struct shwords_cmd *c)
{
	strv_done(&c->words);
	strv_done(&c->outputs);
	free(c->here);
	*c = (struct shwords_cmd){ .here = NULL };
}

void shwords_done(struct shwords *s)
{
	for (size_t i = 0; i < s->n; i++)
		cmd_done(&s->v[i]);
	free(s->v);
	strv_done(&s->nested);
	*s = (struct shwords){ .v = NULL };
}

/* A reserved word or assignment in front of a command says nothing about it. */
static bool is_front(const char *w)
{
	static const char *const words[] = { "if",   "then",  "else",  "elif", "fi", "do",
					     "done", "while", "until", "{",    "}",  "!",
					     "time", "(",     ")",     "esac" };
	const char *eq;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(w, words[i]))
			return true;
	eq = strchr(w, '=');
	if (!eq || eq == w || isdigit((unsigned char)*w))
		return false;
	for (const char *p = w; p < eq; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return true;
}

static void end_word(struct scan *s)
{
	const char *w = buf_str(&s->word);

	if (!s->in_word)
		return;
	switch (s->redirect) {
	case 1:
		strv_add(&s->cmd.outputs, w);
		break;
	case 3:
		free(s->cmd.here);
		s->cmd.here = mem_strdup(w);
		break;
	case 4:
	case 5:
		if (s->n_here < HERE_MAX)
			s->here[s->n_here++] =
				(struct here){ s->out->n, mem_strdup(w), s->redirect == 5 };
		break;
	case 0:
		if ((s->cmd.words.n || s->quoted || !is_front(w)) &&
		    s->out->words < SHWORDS_WORDS_MAX) {
			strv_add(&s->cmd.words, w);
			s->out->words++;
		}
		break;
	default:
		break; /* an input file: the shell opens it, the command's words do not name it */
	}
	s->redirect = 0;
	s->in_word = s->quoted = false;
	buf_clear(&s->word);
}

static void end_cmd(struct scan *s, bool pipe)
{
	end_word(s);
	s->redirect = 0;
	if (s->cmd.words.n || s->cmd.outputs.n || s->cmd.here || s->n_here) {
		struct shwords *o = s->out;

		if (o->n >= SHWORDS_COMMANDS_MAX) {
			cmd_done(&s->cmd);
		} else {
			/* here-documents name their command by index, so an empty one must stay */
			MEM_GROW(o->v, o->cap, o->n + 1);
			s->cmd.piped = s->piped;
			o->v[o->n++] = s->cmd;
			s->cmd = (struct shwords_cmd){ .here = NULL };
		}
	}
	s->piped = pipe;
}

/* The texts of here-documents begun on the line that just ended. */
static void read_here(struct scan *s)
{
	for (size_t i = 0; i < s->n_here; i++) {
		struct here *h = &s->here[i];
		auto_buf text = BUF_INIT(SHWORDS_TEXT_MAX);

		while (s->p < s->end) {
			const char *nl = memchr(s->p, '\n', (size_t)(s->end - s->p));
			size_t n = nl ? (size_t)(nl - s->p) : (size_t)(s->end - s->p);
			const char *line = s->p;

			s->p += n + (nl != NULL);
			while (h->tabs && n && *line == '\t') {
				line++;
				n--;
			}
			if (n == strlen(h->end) && memcmp(line, h->end, n) == 0)
				break;
			buf_add(&text, line, n);
			buf_addc(&text, '\n');
		}
		if (h->cmd < s->out->n && !s->out->v[h->cmd].here)
			s->out->v[h->cmd].here = buf_steal(&text, NULL);
		free(h->end);
	}
	s->n_here = 0;
}

/* Behind $( or `: the text up to its end, with nesting of parentheses and quotes. */
static void substitution(struct scan *s, char close)
{
	const char *from = s->p;
	int depth = 1;
	char quote = 0;

	for (; s->p < s->end; s->p++) {
		char c = *s->p;

		if (c == '\\' && quote != '\'' && s->p + 1 < s->end) {
			s->p++;
			continue;
		}
		if (quote) {
			quote = c == quote ? 0 : quote;
			continue;
		}
		if (c == '\'' || (c == '"' && close == ')'))
			quote = c;
		else if (c == close && --depth == 0)
			break;
		else if (c == '(' && close == ')')
			depth++;
	}
	if (s->out->nested.n < SHWORDS_COMMANDS_MAX)
		strv_take(&s->out->nested, mem_strndup(from, (size_t)(s->p - from)));
	buf_add(&s->word, from, (size_t)(s->p - from));
	if (s->p < s->end)
		s->p++;
	s->in_word = true;
}

static void dollar(struct scan *s)
{
	s->in_word = true;
	if (s->p < s->end && *s->p == '(') {
		s->p++;
		substitution(s, ')');
		return;
	}
	buf_addc(&s->word, '$');
}

static void double_quoted(struct scan *s)
{
	s->in_word = s->quoted = true;
	while (s->p < s->end && *s->p != '"') {
		char c = *s->p++;

		if (c == '\\' && s->p < s->end && strchr("\\\"$`\n", *s->p)) {
			c = *s->p++;
			if (c != '\n')
				buf_addc(&s->word, c);
		} else if (c == '$')
			dollar(s);
		else if (c == '`')
			substitution(s, '`');
		else
			buf_addc(&s->word, c);
	}
	if (s->p < s->end)
		s->p++;
}

static void single_quoted(struct scan *s, bool ansi)
{
	s->in_word = s->quoted = true;
	while (s->p < s->end && *s->p != '\'') {
		char c = *s->p++;

		if (ansi && c == '\\' && s->p < s->end) {
			c = *s->p++;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		buf_addc(&s->word, c);
	}
	if (s->p < s->end)
		s->p++;
}

/* A word of digits in front of < or > is a descriptor, not a word. */
static void drop_fd_word(struct scan *s)
{
	const char *w = buf_str(&s->word);

	if (!s->in_word || s->quoted)
		return;
	while (isdigit((unsigned char)*w))
		w++;
	if (!*w) {
		buf_clear(&s->word);
		s->in_word = false;
	}
}

static bool next_is(struct scan *s, char c)
{
	if (s->p < s->end && *s->p == c) {
		s->p++;
		return true;
	}
	return false;
}

/* Behind the first < or >. */
static void redirection(struct scan *s, char c)
{
	drop_fd_word(s);
	end_word(s);
	if (c == '>') {
		(void)(next_is(s, '>') || next_is(s, '|')); /* >> and >| write as well */
		s->redirect = next_is(s, '&') ? 2 : 1;      /* >&2 names no file */
		if (next_is(s, '('))
			s->redirect = 0; /* process substitution: its inside follows as a command */
		return;
	}
	if (next_is(s, '<')) {
		if (next_is(s, '<'))
			s->redirect = 3;
		else
			s->redirect = next_is(s, '-') ? 5 : 4;
		return;
	}
	(void)(next_is(s, '&') || next_is(s, '>'));
	s->redirect = next_is(s, '(') ? 0 : 2;
}

static void ampersand(struct scan *s)
{
	if (next_is(s, '>')) { /* &> and &>> */
		(void)next_is(s, '>');
		end_word(s);
		s->redirect = 1;
		return;
	}
	(void)next_is(s, '&');
	end_cmd(s, false);
}

static void newline(struct scan *s)
{
	end_cmd(s, false);
	read_here(s);
}

static void blank(struct scan *s)
{
	end_word(s);
}

static void stop(struct scan *s)
{
	end_cmd(s, false);
}

static void bar(struct scan *s)
{
	end_cmd(s, !next_is(s, '|'));
	(void)(s->piped && next_is(s, '&')); /* |& pipes errors too */
}

static void less(struct scan *s)
{
	redirection(s, '<');
}

static void greater(struct scan *s)
{
	redirection(s, '>');
}

static void quote1(struct scan *s)
{
	single_quoted(s, false);
}

static void backquote(struct scan *s)
{
	substitution(s, '`');
}

static void dollar_any(struct scan *s)
{
	if (next_is(s, '\''))
		single_quoted(s, true);
	else
		dollar(s);
}

static void hash(struct scan *s)
{
	if (s->in_word) {
		buf_addc(&s->word, '#');
		return;
	}
	while (s->p < s->end && *s->p != '\n')
		s->p++;
}

static void backslash(struct scan *s)
{
	if (s->p >= s->end || *s->p++ == '\n')
		return;
	s->in_word = s->quoted = true;
	buf_addc(&s->word, s->p[-1]);
}

/* What a character outside quotes means; all others are part of a word. */
static const struct {
	char c;
	void (*take)(struct scan *s);
} specials[] = {
	{ ' ', blank },         { '\t', blank },    { '\r', blank },     { '\n', newline },
	{ ';', stop },          { '(', stop },      { ')', stop },       { '&', ampersand },
	{ '|', bar },           { '<', less },      { '>', greater },    { '\'', quote1 },
	{ '"', double_quoted }, { '`', backquote }, { '$', dollar_any }, { '#', hash },
	{ '\\', backslash },
};

static void step(struct scan *s)
{
	char c = *s->p++;

	for (size_t i = 0; i < ARRAY_SIZE(specials); i++)
		if (specials[i].c == c) {
			specials[i].take(s);
			return;
		}
	s->in_word = true;
	buf_addc(&s->word, c);
}

void shwords_parse(struct shwords *out, const char *text)
{
	size_t n = strnlen(text, SHWORDS_TEXT_MAX);
	struct scan s = {
		.p = text, .end = text + n, .out = out, .word = BUF_INIT(SHWORDS_TEXT_MAX)
	};

	*out = (struct shwords){ .v = NULL };
	while (s.p < s.end)
		step(&s);
	end_cmd(&s, false);
	for (size_t i = 0; i < s.n_here; i++)
		free(s.here[i].end);
	buf_done(&s.word);
	cmd_done(&s.cmd);
}

const char *shwords_text(char *const *argv)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "ash", NULL };
	const char *name;
	size_t i = 0;

	if (!argv || !argv[0])
		return NULL;
	name = path_base(argv[0]);
	name += *name == '-';
	while (shells[i] && !str_eq(name, shells[i]))
		i++;
	if (!shells[i])
		return NULL;
	for (size_t k = 1; argv[k] && (argv[k][0] == '-' || argv[k][0] == '+'); k++) {
		if (str_starts(argv[k], "--"))
			continue;
		if (strchr(argv[k], 'c'))
			return argv[k + 1];
		if (strchr(argv[k], 'o') && argv[k + 1])
			k++; /* -o option-name */
	}
	return NULL;
}

/* Programs that run the rest of their words, and how many of their own operands come first. */
static const struct {
	const char *name;
	size_t operands;
} runners[] = {
	{ "sudo", 0 },   { "env", 0 },     { "command", 0 }, { "exec", 0 },    { "nohup", 0 },
	{ "nice", 0 },   { "stdbuf", 0 },  { "time", 0 },    { "timeout", 1 }, { "ionice", 0 },
	{ "setsid", 0 }, { "builtin", 0 }, { "eval", 0 },
};

/* Options of runners that take the next word. */
static bool takes_word(const char *opt)
{
	static const char *const with[] = { "-u", "-n", "-k", "-s", "-c", "-C", "-S",
					    "-g", "-i", "-o", "-e", "-a", NULL };

	for (size_t i = 0; with[i]; i++)
		if (str_eq(opt, with[i]))
			return true;
	return false;
}

size_t shwords_start(const struct strv *w)
{
	size_t i = 0;

	while (i < w->n) {
		size_t k = 0, left;

		while (k < ARRAY_SIZE(runners) && !str_eq(path_base(w->v[i]), runners[k].name))
			k++;
		if (k == ARRAY_SIZE(runners))
			break;
		left = runners[k].operands;
		for (i++; i < w->n; i++) {
			if (w->v[i][0] == '-')
				i += takes_word(w->v[i]) && i + 1 < w->n;
			else if (!is_front(w->v[i]) && left-- == 0)
				break;
		}
	}
	return i < w->n ? i : w->n;
}

char *shwords_client(const char *text)
{
	struct shwords s = { .v = NULL };
	char *inner = NULL;

	if (!str_starts(text, "source ") || !strstr(text, "/shell-snapshots/"))
		return NULL;
	shwords_parse(&s, text);
	for (size_t i = 1; i < s.n && !inner; i++)
		if (s.v[i].words.n == 2 && str_eq(s.v[i].words.v[0], "eval"))
			inner = mem_strdup(s.v[i].words.v[1]);
	shwords_done(&s);
	return inner;
}
