/* Run directories from one line of text, for tests of what is read from a run. Words:
 *   U:abc>aXbc    the user edits the file: each letter is a line, "." an empty one, "-" no file
 *   A:aXbc>abc    the agent edits it with a command of its own; A/x.c:... another file (no region)
 *   U/y.c:...     the user edits another file in the same firing as the next or last U
 *   R:2-3         a command shows lines 2 to 3; G a search that does not count as a look (scan)
 *   T0 T1         a test command that passes, fails; B a build whose compiler reads the file
 *   O             another command; M a message comes through
 * The region is lines 1 to 9 of f.c. Not for use outside tests/. */
#ifndef TESTS_LIB_RUNSCRIPT_H
#define TESTS_LIB_RUNSCRIPT_H

#include "tests/lib/fakerun.h"

struct runscript {
	struct fakerun run;
	unsigned cmd;
	unsigned order; /* firings so far */
	bool open;      /* a firing is being written: more files of it may follow */
};

/* Letters to lines; NULL for "-". Caller frees. */
static inline char *runscript_text(const char *letters, size_t n)
{
	char *out = mem_zalloc(2 * n + 1, 1), *p = out;

	if (n == 1 && letters[0] == '-') {
		free(out);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (letters[i] != '.')
			*p++ = letters[i];
		*p++ = '\n';
	}
	return out;
}

static inline void runscript_firing(struct runscript *s)
{
	unsigned n;

	if (!s->open)
		return;
	s->open = false;
	s->order++;
	n = fakerun_rec(&s->run, "intervene",
			"\"order\":1,\"round\":%u,\"effect\":\"edit\",\"applied\":1", s->order);
	buf_addf(&s->run.firings,
		 "{\"order\":1,\"round\":%u,\"at_n\":%u,\"effect\":\"edit\",\"applied\":true}\n",
		 s->order, n);
}

/* Lines that differ, by common beginning and end: enough for a record. */
static inline void runscript_lines(const char *from, size_t n, const char *to, size_t m,
				   unsigned *first, unsigned *last)
{
	size_t a = 0, b = 0;

	while (a < n && a < m && from[a] == to[a])
		a++;
	while (b < n - a && b < m - a && from[n - 1 - b] == to[m - 1 - b])
		b++;
	*first = (unsigned)a + 1;
	*last = (unsigned)(m - b > a ? m - b : a + 1);
}

static inline void runscript_edit(struct runscript *s, const char *word)
{
	bool user = word[0] == 'U';
	const char *colon = strchr(word, ':'), *gt = strchr(colon, '>');
	size_t n = (size_t)(gt - colon - 1), m = strlen(gt + 1);
	auto_free char *path = word[1] == '/' ? mem_strndup(word + 2, (size_t)(colon - word - 2))
					      : mem_strdup("f.c");
	auto_free char *before = runscript_text(colon + 1, n), *after = runscript_text(gt + 1, m);
	unsigned first, last, cmd = user ? s->cmd : ++s->cmd;

	runscript_lines(colon + 1, n, gt + 1, m, &first, &last);
	if (user) {
		fakerun_edit(&s->run, "user", cmd, path, before, after, first, last);
		s->open = true;
		return;
	}
	fakerun_rec(&s->run, "spawn", "\"pid\":100,\"child\":%u,\"child_cmd\":%u", 1000 + cmd, cmd);
	fakerun_rec(&s->run, "exec", "\"pid\":%u,\"cmd\":%u,\"argv\":[\"sed\",\"-i\"]", 1000 + cmd,
		    cmd);
	fakerun_rec(&s->run, "read", "\"pid\":%u,\"cmd\":%u,\"path\":\"%s\",\"lines\":[1,99]",
		    1000 + cmd, cmd, path);
	fakerun_edit(&s->run, "agent", cmd, path, before, after, first, last);
	if (strcmp(path, "f.c") == 0)
		fakerun_rec(
			&s->run, "touch",
			"\"pid\":%u,\"cmd\":%u,\"region\":0,\"level\":\"bytes\",\"event\":\"edit\","
			"\"lines\":[%u,%u],\"path\":\"f.c\"",
			1000 + cmd, cmd, first, last);
	fakerun_rec(&s->run, "command", "\"cmd\":%u,\"class\":\"edit\",\"argv\":[\"sed\",\"-i\"]",
		    cmd);
	fakerun_rec(&s->run, "exit", "\"pid\":%u,\"cmd\":%u,\"status\":0", 1000 + cmd, cmd);
}

/* A command of class @cls that reads f.c; @first 0: all of it, as a scan when @scan. */
static inline void runscript_read(struct runscript *s, const char *cls, const char *program,
				  unsigned first, unsigned last, bool scan)
{
	unsigned cmd = ++s->cmd;

	fakerun_rec(&s->run, "spawn", "\"pid\":100,\"child\":%u,\"child_cmd\":%u", 1000 + cmd, cmd);
	if (first)
		fakerun_rec(
			&s->run, "read",
			"\"pid\":%u,\"cmd\":%u,\"path\":\"f.c\",\"lines\":[1,99],\"shown\":[%u,%u]",
			1000 + cmd, cmd, first, last);
	else
		fakerun_rec(&s->run, "read",
			    "\"pid\":%u,\"cmd\":%u,\"path\":\"f.c\",\"lines\":[1,99]", 1000 + cmd,
			    cmd);
	if (!first || first <= 9)
		fakerun_rec(
			&s->run, "touch",
			"\"pid\":%u,\"cmd\":%u,\"region\":0,\"level\":\"%s\",\"event\":\"read\","
			"\"lines\":[%u,%u],\"path\":\"f.c\"%s",
			1000 + cmd, cmd, first ? "argv" : "bytes", first ? first : 1,
			first ? last : 9, scan ? ",\"scan\":\"program: x\"" : "");
	fakerun_rec(&s->run, "command", "\"cmd\":%u,\"class\":\"%s\",\"argv\":[\"%s\"]", cmd, cls,
		    program);
	fakerun_rec(&s->run, "exit", "\"pid\":%u,\"cmd\":%u,\"status\":0", 1000 + cmd, cmd);
}

static inline void runscript_word(struct runscript *s, const char *word)
{
	unsigned first, last;

	if (word[0] != 'U')
		runscript_firing(s);
	if (word[0] == 'U' || word[0] == 'A')
		runscript_edit(s, word);
	else if (sscanf(word, "R:%u-%u", &first, &last) == 2)
		runscript_read(s, "read", "sed", first, last, false);
	else if (word[0] == 'G')
		runscript_read(s, "search", "grep", 0, 0, true);
	else if (word[0] == 'B')
		runscript_read(s, "build", "cc", 0, 0, true);
	else if (word[0] == 'T')
		fakerun_command(&s->run, ++s->cmd, "test", "\"make\",\"test\"", word[1] - '0');
	else if (word[0] == 'O')
		fakerun_command(&s->run, ++s->cmd, "other", "\"echo\"", 0);
	else if (word[0] == 'M')
		buf_addf(
			&s->run.firings,
			"{\"order\":1,\"round\":%u,\"at_n\":%u,\"effect\":\"message\",\"applied\":true,"
			"\"message\":\"m\"}\n",
			s->order, s->run.n);
	else
		fakerun_die(word);
}

/* A run directory by @script, with @members of run.json (see fakerun_new()). Remove with
 * fakerun_done(&s->run). */
static inline void runscript_make(struct runscript *s, const char *members, const char *script)
{
	auto_free char *copy = mem_strdup(script);
	char *save = NULL;

	*s = (struct runscript){ 0 };
	fakerun_new(&s->run, members);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		runscript_word(s, w);
	runscript_firing(s);
	fakerun_rec(&s->run, "end", "\"reason\":\"exited\"");
	fakerun_save(&s->run);
}

#endif
