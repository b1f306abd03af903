/* One table in every format; names that mean something to a format or to a terminal. */
#include "study/table.h"

#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static struct table *sample(void)
{
	struct table *t = table_new("3", "A table & more");

	table_col(t, NULL, "model", "Model", TABLE_WORDS, 0, 0);
	table_col(t, "Vanilla", "resolve", "Resolve", TABLE_REAL, 1, TABLE_SD | TABLE_RANK);
	table_col(t, "Vanilla", "tokens_k", "Tok. (K)", TABLE_WHOLE, 0, TABLE_QUIET);
	table_col(t, "Vanilla", "not_counted", "Not counted", TABLE_WHOLE, 0, TABLE_QUIET);
	table_col(t, NULL, "delta", "Δ", TABLE_REAL, 1, TABLE_SIGN);
	table_col(t, NULL, "rank change", "Rank Δ", TABLE_MOVE, 0, 0);
	table_col(t, NULL, "cost", "$", TABLE_REAL, 2, TABLE_UNKNOWN);

	table_row(t, false);
	table_words(t, 0, "one");
	table_spread(t, 1, 85.0 + 1.0 / 6, 1.756);
	table_ranked(t, 1, 1);
	table_value(t, 2, 1344.4);
	table_value(t, 3, 0);
	table_value(t, 4, -1.8333333);
	table_value(t, 5, 3);
	table_value(t, 6, 0.5);
	table_row(t, true);
	table_words(t, 0, "two, \"x\"");
	table_spread(t, 1, 5, NAN);
	table_value(t, 4, -0.04);
	table_value(t, 5, -2);
	table_note(t, "n = %d", 2);
	return t;
}

static char *printed(const struct table *t, enum table_format f)
{
	auto_buf out = BUF_INIT(1u << 20);

	table_print(t, f, &out);
	return buf_steal(&out, NULL);
}

static void test_formats(void)
{
	static const char *const want[] = {
		[TABLE_TEXT] = "Table 3. A table & more\n"
			       "\n"
			       "          Vanilla\n"
			       "Model          Resolve  Tok. (K)     Δ  Rank Δ        $\n"
			       "--------  ------------  --------  ----  ------  -------\n"
			       "one       85.2±1.8 (1)     1,344  -1.8      ↑3     0.50\n"
			       "--------  ------------  --------  ----  ------  -------\n"
			       "two, \"x\"           5.0         –   0.0      ↓2  unknown\n"
			       "\n"
			       "n = 2\n",
		[TABLE_CSV] = "model,vanilla_resolve,vanilla_resolve_sd,vanilla_resolve_rank,"
			      "vanilla_tokens_k,vanilla_not_counted,delta,rank_change,cost\r\n"
			      "one,85.16666666666667,1.756,1,1344.4,0,-1.8333333,3,0.5\r\n"
			      "\"two, \"\"x\"\"\",5,,,,,-0.04,-2,\r\n",
		[TABLE_MARKDOWN] =
			"**Table 3. A table \\& more**\n"
			"\n"
			"| Model | Vanilla: Resolve | Vanilla: Tok. (K) | Δ | Rank Δ | $ |\n"
			"| --- | ---: | ---: | ---: | ---: | ---: |\n"
			"| one | 85.2±1.8 (1) | 1,344 | -1.8 | ↑3 | 0.50 |\n"
			"| two, \"x\" | 5.0 | – | 0.0 | ↓2 | unknown |\n"
			"\n"
			"n = 2\n",
		[TABLE_LATEX] =
			"% \\usepackage{booktabs}\n"
			"\\begin{table}\n"
			"\\centering\n"
			"\\caption{A table \\& more}\n"
			"\\label{tab:3}\n"
			"\\begin{tabular}{lrrrrr}\n"
			"\\toprule\n"
			" & \\multicolumn{2}{c}{Vanilla} &  &  &  \\\\\n"
			"\\cmidrule(lr){2-3}\n"
			"Model & Resolve & Tok. (K) & $\\Delta$ & Rank $\\Delta$ & \\$ \\\\\n"
			"\\midrule\n"
			"one & 85.2$\\pm$1.8 (1) & 1,344 & $-$1.8 & $\\uparrow$3 & 0.50 \\\\\n"
			"\\midrule\n"
			"two, {\\char34}x{\\char34} & 5.0 & -- & 0.0 & $\\downarrow$2 & unknown \\\\\n"
			"\\bottomrule\n"
			"\\end{tabular}\n"
			"\\par{\\footnotesize n = 2}\n"
			"\\end{table}\n",
		[TABLE_HTML] =
			"<table>\n<caption>Table 3. A table &amp; more</caption>\n<thead>\n"
			"<tr><th class=\"g\" colspan=\"1\"></th><th class=\"g\" colspan=\"2\">Vanilla</th>"
			"<th class=\"g\" colspan=\"1\"></th><th class=\"g\" colspan=\"1\"></th>"
			"<th class=\"g\" colspan=\"1\"></th></tr>\n"
			"<tr><th>Model</th><th class=\"n\">Resolve</th><th class=\"n\">Tok. (K)</th>"
			"<th class=\"n\">Δ</th><th class=\"n\">Rank Δ</th><th class=\"n\">$</th></tr>\n"
			"</thead>\n<tbody>\n"
			"<tr><td>one</td><td class=\"n\">85.2±1.8 (1)</td><td class=\"n\">1,344</td>"
			"<td class=\"n\">-1.8</td><td class=\"n\">↑3</td><td class=\"n\">0.50</td></tr>\n"
			"<tr class=\"a\"><td>two, &quot;x&quot;</td><td class=\"n\">5.0</td>"
			"<td class=\"n\">–</td><td class=\"n\">0.0</td><td class=\"n\">↓2</td>"
			"<td class=\"n\">unknown</td></tr>\n"
			"</tbody>\n</table>\n<p class=\"note\">n = 2</p>\n",
	};
	struct table *t = sample();

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		auto_free char *got = printed(t, (enum table_format)i);

		if (i != TABLE_JSON) /* test_json() */
			tap_is_str(got, want[i], table_formats[i]);
	}
	table_free(t);
}

static void test_json(void)
{
	struct table *t = sample();
	auto_free char *text = printed(t, TABLE_JSON);
	struct json_src src = { 0 };
	struct err err = { 0 };
	const cJSON *rows, *one, *two;

	tap_ok(json_parse("json", text, strlen(text), &src, &err) == 0, "json is JSON: %s",
	       err.text);
	rows = cJSON_GetObjectItem(src.root, "rows");
	one = cJSON_GetArrayItem(rows, 0);
	two = cJSON_GetArrayItem(rows, 1);
	tap_ok(cJSON_GetArraySize(cJSON_GetObjectItem(src.root, "columns")) == 7,
	       "all columns are there, also those that are left out for people");
	tap_ok(fabs(cJSON_GetNumberValue(cJSON_GetObjectItem(one, "vanilla_resolve")) - 85 -
		    1.0 / 6) < 1e-12,
	       "unrounded");
	tap_is_u64((uint64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(one, "vanilla_resolve_rank")),
		   1, "rank");
	tap_ok(cJSON_IsNull(cJSON_GetObjectItem(two, "cost")) &&
		       cJSON_IsNull(cJSON_GetObjectItem(two, "vanilla_resolve_sd")),
	       "unknown is null");
	json_src_done(&src);
	table_free(t);
}

/* Names are an agent's or a model's: nothing in them may act. */
static void test_hostile(void)
{
	static const char *const names[] = { "a|b\n\x1b[2Jc", "=1+1,\"\r\n",
					     "\\input{x} $ & # ^ ~ [*]", "\xff\xc3",
					     "\xe2\x80\xae\x21" };
	struct table *t = table_new("x{y", "c");

	table_col(t, "Gr|p", "_", "<b>&", TABLE_WORDS, 0, 0);
	table_col(t, "Gr|p", "_", "%", TABLE_REAL, 1, 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		table_row(t, false);
		table_words(t, 0, names[i]);
		table_value(t, 1, INFINITY);
	}
	for (int f = TABLE_TEXT; f <= TABLE_HTML; f++) {
		auto_free char *text = printed(t, (enum table_format)f);
		size_t bad = 0, lines = 0;

		for (const char *p = text; *p; p++)
			lines += *p == '\n';
		/* JSON is for programs: only its own escapes. */
		tap_ok(str_utf8(text, strlen(text), &bad) && !strchr(text, '\x1b') &&
			       (f == TABLE_JSON || !strstr(text, "\xe2\x80\xae")),
		       "%s: nothing that a terminal obeys", table_formats[f]);
		if (f == TABLE_HTML)
			tap_ok(strstr(text, "&lt;b&gt;&amp;</th>") && !strstr(text, "<b>"),
			       "html: names stay text");
		if (f == TABLE_CSV)
			tap_is_u64(lines, 6, "csv: one line for each row");
		if (f == TABLE_MARKDOWN)
			tap_is_u64(lines, 2 + 2 + 5, "markdown: one line for each row");
		if (f == TABLE_LATEX)
			tap_ok(strstr(text, "\\textbackslash{}input\\{x\\} \\$ \\& \\# ") &&
				       strstr(text, "\\label{tab:x-y}") && strstr(text, "{[}{*}]"),
			       "latex: no command of a name's");
	}
	table_free(t);
}

static void test_width(void)
{
	static const struct {
		const char *s;
		size_t width;
	} rows[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "85.2±1.8", 8 },
		{ "模型", 4 },
		{ "e\xcc\x81", 1 }, /* a letter and its accent */
		{ "\xf0\x9f\x98\x80", 2 },
		{ "\xff", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_is_u64(table_width(rows[i].s), rows[i].width, rows[i].s);
}

/* Text columns line up also when a name is wide. */
static void test_aligned(void)
{
	struct table *t = table_new("x", "c");
	auto_free char *text = NULL;

	table_col(t, NULL, "a", "A", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "b", "B", TABLE_WHOLE, 0, 0);
	table_row(t, false);
	table_words(t, 0, "模型");
	table_value(t, 1, 1234567);
	table_row(t, false);
	table_words(t, 0, "ab");
	table_value(t, 1, -12);
	text = printed(t, TABLE_TEXT);
	tap_is_str(text,
		   "c\n\nA             B\n----  ---------\n模型  1,234,567\nab          -12\n",
		   "aligned");
	table_free(t);
}

int main(void)
{
	test_formats();
	test_json();
	test_hostile();
	test_width();
	test_aligned();
	return tap_done();
}
