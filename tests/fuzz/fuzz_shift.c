/* Pairs and tables of counts of arbitrary bytes: read, written, read again; and every table of them in every format. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "study/shift.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is written is read again as the same. */
static void round_trip(const struct shift_pairs *p)
{
	auto_buf first = BUF_INIT(64u << 20), second = BUF_INIT(64u << 20);
	struct shift_pairs again = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		/* A pair may say less than a row of counts must. */
		if (!*p->v[i].scenario || !*p->v[i].position || !*p->v[i].agent || !p->v[i].repeat)
			return;
	}
	shift_counts(p, &first);
	if (shift_parse("again", buf_str(&first), first.len, &again, &err) < 0 || again.n != p->n)
		abort();
	shift_counts(&again, &second);
	if (strcmp(buf_str(&first), buf_str(&second)) != 0)
		abort();
	shift_pairs_done(&again);
}

static void all_tables(const struct shift *s)
{
	for (size_t i = 0; shift_tables[i]; i++) {
		auto_buf figure = BUF_INIT(64u << 20);
		const char *why = NULL;
		struct table *t = shift_table(s, shift_tables[i], &why);

		if (!t && !why)
			abort();
		for (int f = TABLE_TEXT; t && f <= TABLE_HTML; f++) {
			auto_buf out = BUF_INIT(64u << 20);

			table_print(t, (enum table_format)f, &out);
			if (strchr(buf_str(&out), '\x1b'))
				abort();
		}
		shift_figure(s, shift_tables[i], &figure);
		table_free(t);
	}
}

/* No rate is above a hundred, no sum above its total. */
static void sane(const struct shift_pairs *p)
{
	struct shift_figures f;

	shift_figures(p, &f);
	if (f.valid > f.pairs || f.clean > f.valid || f.shifted > f.valid || f.paired > f.clean ||
	    f.paired > f.shifted || f.pairs != f.valid + f.invalid + f.partial + f.ungraded)
		abort();
	if (f.psr > 100 || f.crr > 100.0000001 || f.crr_macro > 100.0000001)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shift_options o = { .seed = 1, .draws = 20 };
	auto_free char *text = mem_dup(data, size);
	struct shift_pairs p = { 0 };
	struct shift *s = NULL;
	struct err err = { 0 };
	int rc = shift_parse("input", text, size, &p, &err);

	if (rc < 0 && !err.text[0])
		abort();
	if (rc == 0) {
		round_trip(&p);
		sane(&p);
	}
	if (rc == 0 && p.n && shift_new(&p, &o, &s, &err) == 0)
		all_tables(s);
	shift_free(s);
	shift_pairs_done(&p);
	return 0;
}
