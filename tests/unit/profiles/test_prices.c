/* prices.c: the shipped table, LiteLLM's table, which row a name finds, cost arithmetic. */
#include "profiles/prices.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static struct prices *parse(const char *text, struct err *err)
{
	struct prices *p = NULL;
	int rc = prices_parse("prices.json", text, strlen(text), &p, err);

	tap_ok((rc == 0) == (p != NULL), "a table or an error");
	return p;
}

/* Table 7 of SWE-Touch: micro-dollars per million, cached input at the input rate. */
static void shipped(void)
{
	static const struct {
		const char *model;
		uint64_t input, output;
	} rows[] = {
		{ "claude-opus-4-8", 5000000, 25000000 },
		{ "gpt-5.5", 5000000, 30000000 },
		{ "z-ai/glm-5.1", 966000, 3036000 },
		{ "minimax/minimax-m2.7", 240000, 960000 },
		{ "minimax/minimax-m2.5", 150000, 900000 },
		{ "qwen/qwen3.7-max", 1475000, 4425000 },
		{ "qwen/qwen3-coder", 220000, 1800000 },
		{ "moonshotai/kimi-k2.6", 646000, 2720000 },
		{ "deepseek/deepseek-v4-pro", 435000, 870000 },
	};
	struct prices *p = NULL;
	struct err err = { 0 };
	bool sourced = true;

	if (!tap_ok(prices_load(NULL, &p, &err) == 0, "the shipped table is read %s", err.text))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct price *r = prices_find(p, rows[i].model);

		if (!tap_ok(r && strcmp(r->model, rows[i].model) == 0, "%s", rows[i].model))
			continue;
		tap_is_u64(r->input, rows[i].input, "input");
		tap_is_u64(r->output, rows[i].output, "output");
		tap_is_u64(r->cached, rows[i].input, "cached input costs as much as other input");
		tap_is_str(r->date, "2026-07-27", "date");
	}
	for (size_t i = 0; i < p->n; i++)
		sourced = sourced && p->v[i].source && p->v[i].date && strlen(p->v[i].date) == 10 &&
			  p->v[i].input && p->v[i].output && p->v[i].cached <= p->v[i].input;
	tap_ok(sourced, "each of the %zu rows has source, date and rates", p->n);
	tap_is_u64(strlen(p->sha256), 64, "digest");
	tap_ok(str_ends(p->file, "/prices.json"), "file");
	prices_free(p);
}

static const char TABLE[] =
	"{ \"schema\": \"proctor.prices/1\", // ours\n"
	"  \"prices\": [\n"
	"    { \"model\": \"m*\", \"input\": 1, \"output\": 1 },\n"
	"    { \"model\": \"mini-*\", \"input\": 2, \"output\": 2, \"source\": \"s\" },\n"
	"    { \"model\": \"mini-2\", \"input\": 3, \"output\": 3, \"cached\": 0 },\n"
	"    { \"model\": \"big\", \"input\": 4, \"output\": 4, \"cache_write\": \"5.5\" },\n"
	"    { \"model\": \"lab/big\", \"input\": 6, \"output\": 6 },\n"
	"    { \"model\": \"big-20250101\", \"input\": 7, \"output\": 7 } ] }\n";

static void look_up(void)
{
	static const struct {
		const char *model, *row;
	} rows[] = {
		{ "mini-2", "mini-2" },
		{ "mini-3", "mini-*" },
		{ "mini-2-latest", "mini-*" },
		{ "max", "m*" },
		{ "m", "m*" },
		{ "big", "big" },
		{ "lab/big", "lab/big" },
		{ "other/big", "big" },
		{ "router/lab/big", "lab/big" },
		{ "router/lab/big-2025-09-29", "lab/big" },
		{ "big-20250101", "big-20250101" },
		{ "big-20250929", "big" },
		{ "big-2025-09-29", "big" },
		{ "big-latest", "big" },
		{ "other/big-latest", "big" },
		{ "other/max", "m*" },
		{ "/big", "big" },
		{ "big/", NULL },
		{ "big-2025092", NULL },
		{ "big-2025-9-29", NULL },
		{ "bigger", NULL },
		{ "Big", NULL },
		{ "big*", NULL },
		{ "*", NULL },
		{ "-latest", NULL },
		{ "/", NULL },
		{ "", NULL },
	};
	struct err err = { 0 };
	struct prices *p = parse(TABLE, &err);
	char endless[5000];

	if (!p)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct price *r = prices_find(p, rows[i].model);

		tap_is_str(r ? r->model : NULL, rows[i].row, rows[i].model);
	}
	memset(endless, 'm', sizeof(endless));
	endless[sizeof(endless) - 1] = '\0';
	tap_ok(!prices_find(p, endless), "a name of 5000 bytes");
	tap_ok(!prices_find(p, NULL) && !prices_find(NULL, "big"), "nothing to look for");
	tap_is_u64(prices_find(p, "mini-2")->cached, 0, "a cached rate of 0 is one");
	tap_is_u64(prices_find(p, "big")->cached, 4000000, "one that is not said is the input's");
	tap_is_u64(prices_find(p, "big")->cache_write, 5500000, "cache writes");
	tap_is_u64(prices_find(p, "lab/big")->cache_write, 6000000, "not said: the input's");
	prices_free(p);
}

static void costs(void)
{
	static const struct {
		uint64_t input, cached, write, output, want;
	} rows[] = {
		{ 0, 0, 0, 0, 0 },
		{ 1000000, 0, 0, 0, 5000000 },
		{ 1000000, 1000000, 0, 0, 500000 },
		{ 1000000, 0, 1000000, 0, 6250000 },
		{ 1000000, 400000, 100000, 10000, 2500000 + 200000 + 625000 + 250000 },
		{ 1, 0, 0, 0, 5 },
		{ 1, 1, 0, 0, 1 },       /* half a micro-dollar is rounded up */
		{ 100, 200, 0, 0, 50 },  /* more cached than read */
		{ 100, 60, 60, 0, 280 }, /* 60 at 0.50, 40 at 6.25 */
		{ 100, 0, 500, 0, 625 }, /* more written than read */
		{ UINT64_MAX, 0, 0, 0, UINT64_MAX },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
	};
	struct price p = {
		.input = 5000000, .output = 25000000, .cached = 500000, .cache_write = 6250000
	};
	struct price dear = { .input = UINT64_MAX,
			      .output = UINT64_MAX,
			      .cached = UINT64_MAX,
			      .cache_write = UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tap_is_u64(price_cost(&p, rows[i].input, rows[i].cached, rows[i].write,
				      rows[i].output),
			   rows[i].want, "cost");
	tap_is_u64(price_cost(&dear, UINT64_MAX, 1, 1, UINT64_MAX), UINT64_MAX, "saturates");
	tap_is_u64(price_cost(&dear, 0, 0, 0, 0), 0, "nothing costs nothing");
	p.input = 1;
	tap_is_u64(price_cost(&p, 1000000, 0, 0, 0), 1, "a micro-dollar");
	tap_is_u64(price_cost(&p, 1000001, 0, 0, 0), 2, "and a bit more");
}

static const char LITELLM[] =
	"{ \"sample_spec\": { \"input_cost_per_token\": 0.0, \"output_cost_per_token\": 0.0 },\n"
	"  \"a\": { \"input_cost_per_token\": 1.25e-06, \"output_cost_per_token\": 1e-05,\n"
	"         \"cache_read_input_token_cost\": 1.25e-07, \"litellm_provider\": \"x\",\n"
	"         \"source\": \"page\", \"supports_vision\": true },\n"
	"  \"old\": { \"input_cost_per_token\": \"3e-06\", \"output_cost_per_token\": \"0.000015\",\n"
	"           \"cache_creation_input_token_cost\": 3.75e-06,\n"
	"           \"cache_read_input_token_cost\": null },\n"
	"  \"tiny\": { \"input_cost_per_token\": 3.625e-09, \"output_cost_per_token\": 1.4e-12 },\n"
	"  \"picture\": { \"output_cost_per_image\": 0.06 },\n"
	"  \"half\": { \"input_cost_per_token\": 1e-06 },\n"
	"  \"a\": { \"input_cost_per_token\": 2e-06, \"output_cost_per_token\": 1e-05 } }\n";

static void litellm(void)
{
	struct err err = { 0 };
	struct prices *p = parse(LITELLM, &err);
	const struct price *r;

	if (!tap_ok(p != NULL, "LiteLLM's table %s", err.text))
		return;
	tap_is_u64(p->n, 3, "rows with token prices");
	r = prices_find(p, "old-20250101");
	tap_is_u64(r->input, 3000000, "numbers as strings");
	tap_is_u64(r->output, 15000000, "output");
	tap_is_u64(r->cached, 3000000, "null is not said");
	tap_is_u64(r->cache_write, 3750000, "cache writes");
	r = prices_find(p, "a");
	tap_is_u64(r->input, 2000000, "of two rows of one name the last counts");
	r = prices_find(p, "tiny");
	tap_is_u64(r->input, 3625, "tiny rates are exact");
	tap_is_u64(r->output, 1, "and rounded to the nearest");
	tap_ok(!prices_find(p, "sample_spec") && !prices_find(p, "half"), "no other rows");
	prices_free(p);
}

static void errors(void)
{
#define OURS(rows) "{\"schema\":\"proctor.prices/1\",\"prices\":" rows "}"
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "prices.json:1:1: " },
		{ "[]", "expected an object with \"schema\": \"proctor.prices/1\"" },
		{ "{}", "no row has token prices" },
		{ "{\"schema\":\"proctor.task/1\"}", "expected \"proctor.prices/1\"" },
		{ "{\"schema\":\"proctor.prices/1\"}", "\"prices\" is missing" },
		{ OURS("{}"), "$.prices: expected an array" },
		{ OURS("[3]"), "$.prices[0]: expected an object" },
		{ OURS("[{\"model\":\"a\",\"input\":1}]"), "$.prices[0]: \"output\" is missing" },
		{ OURS("[{\"model\":\"a\",\"input\":1,\"output\":1,\"cache\":1}]"),
		  "unknown key \"cache\", did you mean \"cached\"?" },
		{ OURS("[{\"model\":\"a*b\",\"input\":1,\"output\":1}]"), "\"*\" may only be" },
		{ OURS("[{\"model\":\"\",\"input\":1,\"output\":1}]"), "\"model\" must be" },
		{ OURS("[{\"model\":null,\"input\":1,\"output\":1}]"), "\"model\" must be" },
		{ OURS("[{\"model\":\"a\",\"input\":-1,\"output\":1}]"), "$.prices[0].input" },
		{ OURS("[{\"model\":\"a\",\"input\":1,\"output\":\"x\"}]"), "$.prices[0].output" },
		{ OURS("[{\"model\":\"a\",\"input\":1,\"output\":1},"
		       "{\"model\":\"a\",\"input\":2,\"output\":1}]"),
		  "\"a\" is there twice" },
		{ "{\"a\":{\"input_cost_per_token\":-1,\"output_cost_per_token\":1}}",
		  "$.a.input_cost_per_token: expected dollars per token" },
		{ "{\"a\":{\"input_cost_per_token\":\"1e-6x\",\"output_cost_per_token\":1}}",
		  "$.a.input_cost_per_token: expected dollars per token" },
		{ "{\"a\":{\"input_cost_per_token\":\"nan\",\"output_cost_per_token\":1}}",
		  "$.a.input_cost_per_token: expected dollars per token" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err = { 0 };
		struct prices *p = parse(rows[i].text, &err);

		tap_ok(!p && err.code == ERR_INPUT && strstr(err.text, rows[i].want), "%s: %s",
		       rows[i].text, err.text);
		prices_free(p);
	}
}

int main(void)
{
	struct prices *p = NULL;
	struct err err = { 0 };

	shipped();
	look_up();
	costs();
	litellm();
	errors();
	tap_ok(prices_load("/nonexistent/prices.json", &p, &err) == -ERR_INPUT && !p, "%s",
	       err.text);
	tap_ok(prices_free(NULL) == NULL, "freeing nothing");
	return tap_done();
}
