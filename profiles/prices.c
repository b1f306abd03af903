#include "profiles/prices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "profiles/lookup_internal.h"

enum { PRICES_MODEL_MAX = 256 }; /* bytes of a model's name; longer ones have no price */

#define PER_MILLION 1000000u

/* "The file does not say": the input rate counts. */
#define RATE_UNSAID UINT64_MAX

#define OFF(field) offsetof(struct price, field)

/* clang-format off */
static const struct json_field price_rows[] = {
	{ "model", JSON_STR, OFF(model), true, .doc = "name of the model, or a prefix of names ending in \"*\"" },
	{ "input", JSON_MONEY, OFF(input), true, .doc = "dollars per million input tokens" },
	{ "output", JSON_MONEY, OFF(output), true, .doc = "dollars per million output tokens" },
	{ "cached", JSON_MONEY, OFF(cached), .doc = "the same for input read from the cache, default the input rate" },
	{ "cache_write", JSON_MONEY, OFF(cache_write), .doc = "the same for input written to the cache, default the input rate" },
	{ "source", JSON_STR, OFF(source), .doc = "where the figures come from" },
	{ "date", JSON_STR, OFF(date), .doc = "day they were true, YYYY-MM-DD" },
	{ NULL },
};

/* Names in LiteLLM's table, in dollars per token. */
static const struct {
	const char *name;
	size_t off;
	bool needed; /* a row without it has no token price */
} litellm_rows[] = {
	{ "input_cost_per_token", OFF(input), true },
	{ "output_cost_per_token", OFF(output), true },
	{ "cache_read_input_token_cost", OFF(cached), false },
	{ "cache_creation_input_token_cost", OFF(cache_write), false },
};
/* clang-format on */

static void price_done(struct price *p)
{
	free(p->model);
	free(p->source);
	free(p->date);
}

struct prices *prices_free(struct prices *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n; i++)
		price_done(&p->v[i]);
	free(p->v);
	free(p->file);
	free(p);
	return NULL;
}

static bool is_prefix(const char *model)
{
	return str_ends(model, "*");
}

static bool good_name(const char *model)
{
	const char *star = strchr(model, '*');

	return *model && strlen(model) < PRICES_MODEL_MAX && (!star || !star[1]);
}

static void fill_unsaid(struct price *p)
{
	if (p->cached == RATE_UNSAID)
		p->cached = p->input;
	if (p->cache_write == RATE_UNSAID)
		p->cache_write = p->input;
}

/* --- our own form --- */

static int read_row(const struct json_src *src, const char *where, const cJSON *item,
		    struct price *p, struct err *err)
{
	int rc;

	p->cached = p->cache_write = RATE_UNSAID;
	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object");
	rc = json_read(src, where, item, price_rows, p, err);
	if (rc < 0)
		return rc;
	if (!p->model || !good_name(p->model))
		return json_complain(src, where, err,
				     "\"model\" must be a name of at most %d bytes; \"*\" may only "
				     "be its last character",
				     PRICES_MODEL_MAX - 1);
	fill_unsaid(p);
	return 0;
}

/* Not JSON_ARRAY: a rate of 0 must be told from one that is not said. */
static int read_rows(const struct json_src *src, const char *where, const cJSON *item, void *field,
		     struct err *err)
{
	struct prices *ret = *(struct prices **)field;
	const cJSON *e;
	int rc = 0;

	if (!cJSON_IsArray(item))
		return json_complain(src, where, err, "expected an array of objects");
	ret->v = mem_zalloc((size_t)cJSON_GetArraySize(item), sizeof(*ret->v));
	cJSON_ArrayForEach (e, item) {
		auto_free char *at = mem_printf("%s[%zu]", where, ret->n);

		rc = read_row(src, at, e, &ret->v[ret->n++], err);
		if (rc < 0)
			break;
	}
	return rc;
}

static int read_own(const struct json_src *src, struct prices *ret, struct err *err)
{
	const struct json_field rows[] = {
		{ "prices", JSON_CUSTOM, 0, true, .parse = read_rows, .doc = "one row per model" },
		{ NULL },
	};
	int rc = json_check_schema(src, "prices", err);

	return rc < 0 ? rc : json_read(src, "$", src->root, rows, &ret, err);
}

/* --- LiteLLM's form --- */

/* Dollars per token to micro-dollars per million tokens: 1e12 times as much, to the nearest. Some
 * versions of the table have numbers as strings. 0, 1 when absent, or -ERR_INPUT. */
static int litellm_rate(const struct json_src *src, const char *where, const cJSON *item,
			uint64_t *ret, struct err *err)
{
	double v = NAN;
	char *end;

	if (!item || cJSON_IsNull(item))
		return 1;
	if (cJSON_IsNumber(item)) {
		v = item->valuedouble;
	} else if (cJSON_IsString(item) && item->valuestring[0]) {
		v = strtod(item->valuestring, &end);
		if (*end)
			v = NAN;
	}
	if (!(v >= 0 && v <= 1000))
		return json_complain(src, where, err,
				     "expected dollars per token, a number from 0 to 1000");
	*ret = (uint64_t)llround(v * 1e12);
	return 0;
}

/* 0, 1 when the row has no token price, or -ERR_INPUT. */
static int litellm_row(const struct json_src *src, const cJSON *item, struct price *p,
		       struct err *err)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(item, "source");

	p->cached = p->cache_write = RATE_UNSAID;
	for (size_t i = 0; i < ARRAY_SIZE(litellm_rows); i++) {
		auto_free char *at = mem_printf("$.%s.%s", item->string, litellm_rows[i].name);
		uint64_t *rate = (uint64_t *)((char *)p + litellm_rows[i].off);
		int rc = litellm_rate(src, at,
				      cJSON_GetObjectItemCaseSensitive(item, litellm_rows[i].name),
				      rate, err);

		if (rc < 0 || (rc > 0 && litellm_rows[i].needed))
			return rc;
	}
	fill_unsaid(p);
	p->model = mem_strdup(item->string);
	p->source = mem_strdup(cJSON_IsString(source) ? source->valuestring : NULL);
	return 0;
}

static int read_litellm(const struct json_src *src, struct prices *ret, struct err *err)
{
	const cJSON *item;
	int rc;

	ret->v = mem_zalloc((size_t)cJSON_GetArraySize(src->root), sizeof(*ret->v));
	cJSON_ArrayForEach (item, src->root) {
		if (!cJSON_IsObject(item) || strcmp(item->string, "sample_spec") == 0 ||
		    !good_name(item->string))
			continue;
		rc = litellm_row(src, item, &ret->v[ret->n], err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			ret->n++;
	}
	if (ret->n)
		return 0;
	return json_complain(src, "$", err,
			     "no row has token prices; write \"schema\": \"proctor.prices/1\" and "
			     "\"prices\", or give LiteLLM's table");
}

/* --- order --- */

/* Exact names in front, then prefixes, the longest first. */
static int by_match(const struct price *a, const struct price *b)
{
	size_t na = strlen(a->model), nb = strlen(b->model);
	bool pa = is_prefix(a->model), pb = is_prefix(b->model);

	if (pa != pb)
		return pa ? 1 : -1;
	if (pa && na != nb)
		return na < nb ? 1 : -1;
	return strcmp(a->model, b->model);
}

/* For qsort(3), which is not stable: rows of one name stay in file order. */
static int by_match_ptr(const void *a, const void *b)
{
	const struct price *pa = *(const struct price *const *)a;
	const struct price *pb = *(const struct price *const *)b;
	int c = by_match(pa, pb);

	return c ? c : pa < pb ? -1 : 1;
}

/* Sort. A name that is there twice is an error in our own form; in LiteLLM's the last row counts,
 * as for every reader of JSON in Python. */
static int put_in_order(const struct json_src *src, struct prices *p, bool own, struct err *err)
{
	auto_free const struct price **order = mem_alloc((p->n + 1) * sizeof(*order));
	struct price *sorted;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		order[i] = &p->v[i];
	qsort(order, p->n, sizeof(*order), by_match_ptr);
	for (size_t i = 1; own && i < p->n; i++) {
		if (strcmp(order[i]->model, order[i - 1]->model) == 0)
			return json_complain(src, "$.prices", err, "model \"%s\" is there twice",
					     order[i]->model);
	}
	sorted = mem_zalloc(p->n, sizeof(*sorted));
	for (size_t i = 0; i < p->n; i++) {
		if (n && strcmp(sorted[n - 1].model, order[i]->model) == 0)
			price_done(&sorted[--n]);
		sorted[n++] = *order[i];
	}
	free(p->v);
	p->v = sorted;
	p->n = n;
	return 0;
}

int prices_parse(const char *name, const char *text, size_t n, struct prices **ret, struct err *err)
{
	struct json_src src = { 0 };
	struct prices *p;
	bool own;
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	p = mem_zalloc(1, sizeof(*p));
	p->file = mem_strdup(name);
	digest_bytes(text, n, p->sha256);
	own = !cJSON_IsObject(src.root) || cJSON_GetObjectItemCaseSensitive(src.root, "schema");
	rc = own ? read_own(&src, p, err) : read_litellm(&src, p, err);
	if (rc == 0)
		rc = put_in_order(&src, p, own, err);
	json_src_done(&src);
	if (rc == 0)
		*ret = take_ptr(&p);
	prices_free(p);
	return rc;
}

int prices_load(const char *path, struct prices **ret, struct err *err)
{
	auto_buf b = BUF_INIT(JSON_FILE_MAX);
	auto_free char *shipped = NULL;
	int rc;

	if (!path) {
		auto_free char *dir = lookup_datadir();

		path = shipped = path_join(dir, "prices.json");
	}
	rc = fd_read_file(path, &b, err);
	return rc < 0 ? rc : prices_parse(path, buf_str(&b), b.len, ret, err);
}

/* --- look-up --- */

/* Exact, then the longest prefix. */
static const struct price *find(const struct prices *p, const char *model)
{
	size_t lo = 0, hi = p->n;

	/* the exact names stand in front, in the order of strcmp(3) */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = is_prefix(p->v[mid].model) ? 1 : strcmp(p->v[mid].model, model);

		if (c == 0)
			return &p->v[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo < p->n && !is_prefix(p->v[lo].model))
		lo++;
	for (; lo < p->n; lo++) {
		if (strncmp(p->v[lo].model, model, strlen(p->v[lo].model) - 1) == 0)
			return &p->v[lo];
	}
	return NULL;
}

/* The name and what is behind each of its slashes: "openrouter/openai/gpt-5", "openai/gpt-5",
 * "gpt-5". */
static const struct price *find_any_vendor(const struct prices *p, const char *model)
{
	while (model) {
		const struct price *row = *model ? find(p, model) : NULL;

		if (row)
			return row;
		model = strchr(model, '/');
		model += model != NULL;
	}
	return NULL;
}

/* Length of the date at the end of @s ("-20250929", "-2025-09-29", "-latest"), 0 when none. */
static size_t date_suffix(const char *s)
{
	static const char *const forms[] = { "-latest", "-dddddddd", "-dddd-dd-dd" };
	size_t n = strlen(s);

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t len = strlen(forms[i]), k = 0;

		if (n <= len)
			continue;
		while (k < len && (forms[i][k] == s[n - len + k] ||
				   (i > 0 && forms[i][k] == 'd' && s[n - len + k] >= '0' &&
				    s[n - len + k] <= '9')))
			k++;
		if (k == len)
			return len;
	}
	return 0;
}

const struct price *prices_find(const struct prices *p, const char *model)
{
	char undated[PRICES_MODEL_MAX];
	const struct price *row;
	size_t n, date;

	if (!p || !model)
		return NULL;
	n = strnlen(model, PRICES_MODEL_MAX);
	if (n == 0 || n == PRICES_MODEL_MAX || strchr(model, '*'))
		return NULL;
	row = find_any_vendor(p, model);
	date = date_suffix(model);
	if (row || !date)
		return row;
	snprintf(undated, sizeof(undated), "%.*s", (int)(n - date), model);
	return find_any_vendor(p, undated);
}

uint64_t price_cost(const struct price *p, uint64_t input, uint64_t cached, uint64_t cache_write,
		    uint64_t output)
{
	unsigned __int128 in, out, sum;

	/* an answer that claims more cached tokens than it read does not get them cheaper */
	if (cached > input)
		cached = input;
	if (cache_write > input - cached)
		cache_write = input - cached;
	/* the three parts together are at most 2^64 - 1 tokens: no overflow */
	in = (unsigned __int128)(input - cached - cache_write) * p->input;
	in += (unsigned __int128)cached * p->cached;
	in += (unsigned __int128)cache_write * p->cache_write;
	out = (unsigned __int128)output * p->output;
	if (__builtin_add_overflow(in, out, &sum))
		return UINT64_MAX;
	sum = sum / PER_MILLION + (sum % PER_MILLION != 0);
	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}
