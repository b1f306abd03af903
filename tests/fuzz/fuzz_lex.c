/* Source text of each language: the tokens are the text, functions lie inside of it, and what the operators
 * propose is another text. The first byte chooses the language, the second splits off what the reference makes
 * of the rest. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/coedit.h"
#include "study/code.h"
#include "study/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_code(const struct lex_lang *lang, const char *text, size_t n)
{
	struct code c;
	size_t at = 0;

	code_read(lang, text, n, &c);
	for (size_t i = 0; i < c.lex.n; i++) {
		if (c.lex.v[i].at != at || !c.lex.v[i].n)
			abort();
		at += c.lex.v[i].n;
	}
	if (at != n && !c.lex.cut)
		abort();
	for (size_t i = 0; i < c.n_fn; i++)
		if (c.fn[i].head < 1 || c.fn[i].head > c.fn[i].last || c.fn[i].last > c.n_lines ||
		    c.fn[i].name >= c.n_sig || c.fn[i].close >= c.n_sig)
			abort();
	code_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 2;
	const struct lex_lang *lang = lex_langs;
	struct basetree_hunk hunk = { .old_first = 1, .old_n = 0, .new_first = 1, .new_n = 3 };
	struct mutate_source src = { .hunk = &hunk, .n_hunks = 1 };
	struct mutants m = { .v = NULL };
	struct coedits e = { .v = NULL };
	auto_free char *path = NULL;
	size_t n = 0, split;

	if (size < 2)
		return 0;
	while (lex_langs[n].name)
		n++;
	lang += data[0] % n;
	path = mem_printf("a%.*s", (int)strcspn(lang->suffixes, " "), lang->suffixes);
	split = (size - 2) * data[1] / 255;
	hunk.old_first = 1 + data[1] % 16;
	check_code(lang, text, size - 2);
	src.path = path;
	src.after = text;
	src.n_after = split;
	src.text = text + split;
	src.n = size - 2 - split;
	mutate_file(&src, data[0], &m);
	mutate_order(&m);
	for (size_t i = 0; i < m.n; i++)
		if (m.v[i].n_after == src.n && memcmp(m.v[i].after, src.text, src.n) == 0)
			abort();
	coedit_remarks(&src, data[0], &e);
	mutants_done(&m);
	coedits_done(&e);
	return 0;
}
