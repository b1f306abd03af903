#include "triggers/swetouch.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "triggers/shwords.h"

#define DEPTH_MAX 4 /* sh -c inside $( ) inside sh -c */

/* One walk over a text. */
struct walk {
	struct swetouch *out;
	char *cwd; /* owned: set by cd, NULL = where the command started */
	int depth;
};

/* One simple command: words[0] is the program. */
struct call {
	struct walk *w;
	char *const *v;
	size_t n;
	const struct shwords_cmd *cmd;
};

static void add(struct walk *w, bool edit, const char *name, uint64_t first, uint64_t last)
{
	struct swetouch *o = w->out;
	auto_free char *joined = NULL;
	auto_free char *path = NULL;

	if (!*name || o->n >= SWETOUCH_EVENTS_MAX)
		return;
	joined = w->cwd ? path_join(w->cwd, name) : mem_strdup(name);
	path = path_normal(joined);
	/* the released parser knows a file to edit by the dot in its name */
	if (edit && !strchr(path_base(path), '.'))
		return;
	MEM_GROW(o->v, o->cap, o->n + 1);
	o->v[o->n++] = (struct swetouch_event){ edit, take_ptr(&path), first, last };
}

static bool is_option(const char *s)
{
	return s[0] == '-' && s[1];
}

/* Operands of a command whose options @with (letters) take the next word. */
static void operands(const struct call *c, const char *with, bool edit)
{
	bool options = true;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->v[i];

		if (options && str_eq(s, "--"))
			options = false;
		else if (options && is_option(s))
			i += s[1] != '-' && !s[2] && strchr(with, s[1]);
		else if (!str_eq(s, "-"))
			add(c->w, edit, s, 0, 0);
	}
}

static void do_cat(const struct call *c)
{
	operands(c, "", false);
}

static void do_head(const struct call *c)
{
	operands(c, "nc", false);
}

static void do_nl(const struct call *c)
{
	operands(c, "bdfhilnpsvw", false);
}

/* rg and grep: the first operand is the pattern unless -e or -f gave one. */
static void do_grep(const struct call *c)
{
	bool pattern = false, options = true;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->v[i];

		if (options && str_eq(s, "--")) {
			options = false;
		} else if (options && is_option(s)) {
			if (s[1] != '-' && strchr("ef", s[1]))
				pattern = true;
			if (s[1] != '-' && !s[2] && strchr("efABCmgtTd", s[1]))
				i++;
			if (str_starts(s, "--regexp") || str_starts(s, "--file"))
				pattern = true;
		} else if (!pattern) {
			pattern = true;
		} else if (!str_eq(s, "-")) {
			add(c->w, false, s, 0, 0);
		}
	}
}

/* "a,bp" with nothing else in it. */
static bool plain_range(const char *s, size_t n, uint64_t *a, uint64_t *b)
{
	auto_free char *copy = mem_strndup(s, n);
	char *comma, *from = copy, *end;

	while (isspace((unsigned char)*from))
		from++;
	end = from + strlen(from);
	while (end > from && isspace((unsigned char)end[-1]))
		*--end = '\0';
	if (end == from || end[-1] != 'p')
		return false;
	end[-1] = '\0';
	comma = strchr(from, ',');
	if (!comma)
		return false;
	*comma = '\0';
	return str_u64(from, a) == 0 && str_u64(comma + 1, b) == 0;
}

static void sed_reads(const struct call *c, const struct strv *scripts, const struct strv *files)
{
	strv_each (i, scripts) {
		const char *p = scripts->v[i];

		while (*p) {
			size_t n = strcspn(p, ";\n");
			uint64_t a, b;

			if (plain_range(p, n, &a, &b))
				strv_each (k, files)
					add(c->w, false, files->v[k], a, b);
			p += n + (p[n] != '\0');
		}
	}
}

static void do_sed(const struct call *c)
{
	auto_strv scripts = { 0 }, files = { 0 };
	bool quiet = false, in_place = false, given = false;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->v[i];

		if (str_starts(s, "-i") || str_starts(s, "--in-place")) {
			in_place = true;
		} else if (str_eq(s, "--quiet") || str_eq(s, "--silent")) {
			quiet = true;
		} else if (str_starts(s, "--expression=")) {
			given = true;
			strv_add(&scripts, s + strlen("--expression="));
		} else if (is_option(s) && s[1] != '-') {
			quiet |= strchr(s, 'n') != NULL;
			in_place |= strchr(s, 'i') != NULL;
			if (s[strlen(s) - 1] == 'e' && i + 1 < c->n) {
				given = true;
				strv_add(&scripts, c->v[++i]);
			}
		} else if (!is_option(s)) {
			strv_add(given || scripts.n ? &files : &scripts, s);
		}
	}
	if (in_place)
		strv_each (k, &files)
			add(c->w, true, files.v[k], 0, 0);
	else if (quiet)
		sed_reads(c, &scripts, &files);
}

static void do_tee(const struct call *c)
{
	operands(c, "", true);
}

static void do_rm(const struct call *c)
{
	operands(c, "", true);
}

static void do_touch(const struct call *c)
{
	operands(c, "dtr", true);
}

/* cp, mv, install: the last operand. */
static void do_last(const struct call *c)
{
	size_t files = 0, last = 0;

	for (size_t i = 1; i < c->n; i++)
		if (!is_option(c->v[i])) {
			files++;
			last = i;
		}
	if (files >= 2)
		add(c->w, true, c->v[last], 0, 0);
}

static void do_git(const struct call *c)
{
	size_t i = 1;
	bool checkout;

	while (i < c->n && is_option(c->v[i]))
		i += 1 + (str_eq(c->v[i], "-C") || str_eq(c->v[i], "-c"));
	if (i >= c->n)
		return;
	checkout = str_eq(c->v[i], "checkout");
	if (!checkout && !str_eq(c->v[i], "restore"))
		return;
	for (i++; i < c->n; i++)
		if (!is_option(c->v[i]))
			add(c->w, true, c->v[i], 0, 0);
}

/* str_replace_editor COMMAND PATH [--view_range A B] */
static void do_editor(const struct call *c)
{
	static const char *const edits[] = { "str_replace", "create", "insert" };
	uint64_t a = 0, b = 0;
	bool edit = false;

	if (c->n < 3)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		edit |= str_eq(c->v[1], edits[i]);
	if (!edit && !str_eq(c->v[1], "view"))
		return;
	for (size_t i = 3; !edit && i + 1 < c->n; i++) {
		const char *s = c->v[i + 1];
		char *end;

		if (!str_eq(c->v[i], "--view_range"))
			continue;
		s += strspn(s, "[( ");
		a = strtoull(s, &end, 10);
		end += strspn(end, ", ])");
		if (!*end && i + 2 < c->n)
			end = c->v[i + 2];
		b = strtoull(end, NULL, 10);
	}
	if (!a || b < a)
		a = b = 0;
	add(c->w, edit, c->v[2], a, b);
}

/* A string literal at @p (an r prefix is fine); NULL when there is none. *end is behind it.
 * Caller frees. */
static char *py_string(const char *p, const char **end)
{
	char quote;
	const char *q;

	while (isspace((unsigned char)*p))
		p++;
	if (*p == 'r' || *p == 'b')
		p++;
	if (*p != '\'' && *p != '"')
		return NULL;
	quote = *p++;
	q = strchr(p, quote);
	if (!q || memchr(p, '\n', (size_t)(q - p)))
		return NULL;
	*end = q + 1;
	return mem_strndup(p, (size_t)(q - p));
}

/* open('F'[, 'mode']) */
static void py_open(struct walk *w, const char *p)
{
	const char *end;
	auto_free char *name = py_string(p, &end);
	auto_free char *mode = NULL;

	if (!name)
		return;
	while (isspace((unsigned char)*end))
		end++;
	if (*end == ',') {
		end++;
		while (isspace((unsigned char)*end))
			end++;
		if (str_starts(end, "mode="))
			end += 5;
		mode = py_string(end, &end);
	}
	add(w, mode && strpbrk(mode, "wa+x"), name, 0, 0);
}

/* Path('F').read_text() and .write_text() */
static void py_path(struct walk *w, const char *p)
{
	const char *end;
	auto_free char *name = py_string(p, &end);

	if (!name)
		return;
	while (isspace((unsigned char)*end) || *end == ')')
		end++;
	if (str_starts(end, ".read_text"))
		add(w, false, name, 0, 0);
	else if (str_starts(end, ".write_text"))
		add(w, true, name, 0, 0);
}

static void python_code(struct walk *w, const char *code)
{
	for (const char *p = code; *p; p++) {
		bool inside = p > code && (isalnum((unsigned char)p[-1]) || p[-1] == '_');

		if (!inside && str_starts(p, "open("))
			py_open(w, p + 5);
		else if (!inside && str_starts(p, "Path("))
			py_path(w, p + 5);
	}
}

static void do_python(const struct call *c)
{
	for (size_t i = 1; i + 1 < c->n; i++)
		if (str_eq(c->v[i], "-c")) {
			python_code(c->w, c->v[i + 1]);
			return;
		}
	if (c->cmd && c->cmd->here)
		python_code(c->w, c->cmd->here);
}

static void do_cd(const struct call *c)
{
	char *next;

	if (c->n != 2 || is_option(c->v[1]))
		return;
	next = c->w->cwd ? path_join(c->w->cwd, c->v[1]) : mem_strdup(c->v[1]);
	free(c->w->cwd);
	c->w->cwd = next;
}

/* The programs that the rule knows. */
static const struct {
	const char *name;
	void (*events)(const struct call *c);
} tools[] = {
	{ "cat", do_cat },
	{ "head", do_head },
	{ "tail", do_head },
	{ "nl", do_nl },
	{ "sed", do_sed },
	{ "grep", do_grep },
	{ "rg", do_grep },
	{ "tee", do_tee },
	{ "rm", do_rm },
	{ "touch", do_touch },
	{ "cp", do_last },
	{ "mv", do_last },
	{ "install", do_last },
	{ "git", do_git },
	{ "python", do_python },
	{ "python3", do_python },
	{ "cd", do_cd },
	{ "str_replace_editor", do_editor },
	{ "str_replace_based_edit_tool", do_editor },
};

static void walk_text(struct walk *w, const char *text);

static void walk_call(struct walk *w, char *const *v, size_t n, const struct shwords_cmd *cmd)
{
	struct call c = { w, v, n, cmd };
	auto_free char *client = NULL;
	const char *name, *inner;

	if (!n)
		return;
	name = path_base(v[0]);
	inner = shwords_text(v);
	if (inner) {
		client = shwords_client(inner);
		walk_text(w, client ? client : inner);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (str_eq(tools[i].name, name)) {
			tools[i].events(&c);
			return;
		}
}

static void walk_text(struct walk *w, const char *text)
{
	__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };

	if (w->depth >= DEPTH_MAX)
		return;
	w->depth++;
	shwords_parse(&s, text);
	for (size_t i = 0; i < s.n; i++) {
		const struct shwords_cmd *cmd = &s.v[i];
		size_t at = shwords_start(&cmd->words);

		if (at < cmd->words.n)
			walk_call(w, cmd->words.v + at, cmd->words.n - at, cmd);
		strv_each (k, &cmd->outputs)
			add(w, true, cmd->outputs.v[k], 0, 0);
	}
	strv_each (k, &s.nested)
		walk_text(w, s.nested.v[k]);
	w->depth--;
}

void swetouch_text(struct swetouch *out, const char *text)
{
	struct walk w = { .out = out };

	walk_text(&w, text);
	free(w.cwd);
}

void swetouch_command(struct swetouch *out, char *const *argv)
{
	struct walk w = { .out = out };
	auto_strv words = { 0 };
	size_t at;

	if (!argv)
		return;
	for (size_t i = 0; argv[i] && i < SHWORDS_WORDS_MAX; i++)
		strv_add(&words, argv[i]);
	at = shwords_start(&words);
	if (at < words.n)
		walk_call(&w, words.v + at, words.n - at, NULL);
	free(w.cwd);
}

void swetouch_done(struct swetouch *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].path);
	free(t->v);
	*t = (struct swetouch){ .v = NULL };
}

bool swetouch_same_path(const char *path, const char *file, const char *workdir)
{
	size_t n, k;

	if (path[0] != '/')
		return str_eq(path, file);
	n = strlen(path);
	k = strlen(file);
	if (workdir) {
		size_t w = strlen(workdir);

		while (w > 1 && workdir[w - 1] == '/')
			w--;
		return n > w && memcmp(path, workdir, w) == 0 && path[w] == '/' &&
		       str_eq(path + w + 1, file);
	}
	return n > k && path[n - k - 1] == '/' && str_eq(path + n - k, file);
}
