/* Records of runs of arbitrary bytes: read, printed, read again; and every table of them in every format. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "study/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Printing and reading again gives the same text. */
static void round_trip(const struct results *r)
{
	auto_buf first = BUF_INIT(64u << 20), second = BUF_INIT(64u << 20);
	struct results again = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < r->n; i++)
		result_print(r->v + i, &first);
	if (results_parse("again", buf_str(&first), first.len, &again, &err) < 0 || again.n != r->n)
		abort();
	for (size_t i = 0; i < again.n; i++)
		result_print(again.v + i, &second);
	if (strcmp(buf_str(&first), buf_str(&second)) != 0)
		abort();
	results_done(&again);
}

static void all_tables(const struct report *rep)
{
	for (size_t i = 0; report_tables[i]; i++) {
		const char *why = NULL;
		struct table *t = report_table(rep, report_tables[i], NULL, &why);

		if (!t && !why)
			abort();
		for (int f = TABLE_TEXT; t && f <= TABLE_HTML; f++) {
			auto_buf out = BUF_INIT(64u << 20);

			table_print(t, (enum table_format)f, &out);
			if (strchr(buf_str(&out), '\x1b'))
				abort();
		}
		table_free(t);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_options o = { .force_pairs = true, .seed = 1, .draws = 20 };
	auto_free char *text = mem_dup(data, size);
	struct results r = { 0 };
	struct report *rep = NULL;
	struct err err = { 0 };
	int rc = results_parse("input", text, size, &r, &err);

	if (rc < 0 && (err.code != ERR_INPUT || !err.text[0]))
		abort();
	if (rc == 0)
		round_trip(&r);
	/* Also when a later line is bad: what was read is whole. */
	if (report_new(&r, &o, &rep, &err) == 0)
		all_tables(rep);
	report_free(rep);
	results_done(&r);
	return 0;
}
