/* Statistics against values worked out elsewhere: exact fractions, other programs, published examples. */
#include "study/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static void near(double got, double want, double within, const char *name)
{
	if (!tap_ok(fabs(got - want) <= within, "%s", name))
		tap_diag("got %.12g, want %.12g", got, want);
}

/* Runs of three models over 200 tasks as SWE-Touch prints them: mean and sample deviation. */
static void test_moments(void)
{
	static const struct {
		double v[3];
		const char *want;
	} rows[] = {
		{ { 163, 159, 161 }, "80.5 1.0" },
		{ { 141, 146, 149 }, "72.7 2.0" },
		{ { 153, 150, 156 }, "76.5 1.5" },
	};
	const double four[] = { 4, 1, 3, 2 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double v[3];
		char text[32];

		for (int k = 0; k < 3; k++)
			v[k] = rows[i].v[k] / 2;
		snprintf(text, sizeof(text), "%.1f %.1f", stats_mean(v, 3), stats_sd(v, 3));
		tap_is_str(text, rows[i].want, "mean and sample deviation");
	}
	tap_ok(isnan(stats_mean(NULL, 0)) && isnan(stats_sd(four, 1)),
	       "nothing has no mean, one no deviation");
}

/* Exact values: sums of binomial coefficients over powers of two. */
static void test_mcnemar(void)
{
	static const struct {
		uint64_t b, c;
		double two, one;
	} rows[] = {
		{ 0, 0, 1, 1 },
		{ 1, 0, 1, 0.5 },
		{ 5, 0, 2.0 / 32, 1.0 / 32 },
		{ 0, 5, 2.0 / 32, 1 },
		{ 8, 7, 1, 16384.0 / 32768 },
		{ 12, 2, 2 * (1 + 14 + 91) / 16384.0, (1 + 14 + 91) / 16384.0 },
		{ 34, 6, 2 * 4598479.0 / 1099511627776, 4598479.0 / 1099511627776 },
	};
	double one;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		near(stats_mcnemar(rows[i].b, rows[i].c, &one), rows[i].two, rows[i].two * 1e-8,
		     "two-sided p");
		near(one, rows[i].one, rows[i].one * 1e-8, "one-sided p");
	}
	tap_ok(stats_mcnemar(900, 100, NULL) > 0 && stats_mcnemar(900, 100, NULL) < 1e-100,
	       "a thousand pairs are no trouble");
	near(stats_mcnemar(100000, 100000, NULL), 1, 1e-12, "nor are many");
}

/* Newcombe 1998; the table (14, 5, 0, 22) stands in Altman and others, Statistics with Confidence, 2000. */
static void test_intervals(void)
{
	double low, high;

	near(stats_normal_quantile(0.975), 1.959963984540054, 1e-12, "quantile of 97.5 %");
	near(stats_normal_quantile(0.025), -1.959963984540054, 1e-12, "and its mirror");
	near(stats_normal_quantile(0.5), 0, 0, "the middle");
	tap_ok(isinf(stats_normal_quantile(0)) && isinf(stats_normal_quantile(1)) &&
		       isnan(stats_normal_quantile(2)),
	       "the ends, and what is no probability");
	stats_wilson(81, 263, 0.95, &low, &high); /* Newcombe's first example, method 3 */
	near(low, 0.2553, 5e-5, "Wilson, low");
	near(high, 0.3662, 5e-5, "Wilson, high");
	stats_wilson(0, 20, 0.95, &low, &high);
	near(low, 0, 0, "Wilson of none begins at 0");
	near(high, 0.1611, 5e-5, "and ends where it must");
	stats_newcombe(20, 12, 2, 16, 0.95, &low, &high);
	near(low, 0.0562, 5e-5, "Newcombe 10, low");
	near(high, 0.3292, 5e-5, "Newcombe 10, high");
	stats_newcombe(36, 12, 2, 0, 0.95, &low, &high);
	near(low, 0.0569, 5e-5, "Newcombe 10 without neither, low");
	near(high, 0.3404, 5e-5, "Newcombe 10 without neither, high");
	stats_newcombe(14, 5, 0, 22, 0.95, &low, &high);
	near(low, 0.011, 5e-4, "Newcombe 10 of the book, low");
	near(high, 0.226, 5e-4, "Newcombe 10 of the book, high");
	stats_newcombe(0, 0, 0, 54, 0.95, &low, &high);
	near(low, -high, 1e-12, "no solved one at all: as far to both sides");
}

static void test_bootstrap(void)
{
	double v[200], low, high, low2, high2;

	for (int i = 0; i < 200; i++)
		v[i] = i < 20 ? -1 : i < 26 ? 1 : 0; /* mean -0.07, standard error 0.0251 */
	stats_bootstrap(v, 200, 10000, 1, 0.95, &low, &high);
	near(low, -0.07 - 1.96 * 0.0251, 0.006, "bootstrap, low");
	near(high, -0.07 + 1.96 * 0.0251, 0.006, "bootstrap, high");
	stats_bootstrap(v, 200, 10000, 1, 0.95, &low2, &high2);
	tap_ok(low <= low2 && low >= low2 && high <= high2 && high >= high2,
	       "the same seed gives the same figures");
	stats_bootstrap(v, 200, 1000, 7, 0.5, &low2, &high2);
	tap_ok(low < low2 && high2 < high, "half of the level is narrower");
	stats_bootstrap(v, 0, 10, 1, 0.95, &low, &high);
	tap_ok(isnan(low) && isnan(high), "no values, no interval");
	stats_bootstrap(v, 1, 10, 1, 0.95, &low, &high);
	near(low, -1, 0, "one value is its own interval");
}

static void test_kappa(void)
{
	/* Cohen 1960 form: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: (0.7 - 0.5) / 0.5 */
	unsigned a[50], b[50], n = 0;
	static const unsigned cell[4] = { 20, 5, 10, 15 };

	for (unsigned c = 0; c < 4; c++) {
		for (unsigned i = 0; i < cell[c]; i++, n++) {
			a[n] = c / 2;
			b[n] = c % 2;
		}
	}
	near(stats_kappa(a, b, 50, 2), 0.4, 1e-12, "kappa of fifty");
	near(stats_kappa(a, a, 50, 2), 1, 1e-12, "with itself");
	tap_ok(isnan(stats_kappa(a, b, 20, 2)) && isnan(stats_kappa(a, b, 0, 2)),
	       "undefined when all say the same, or nobody anything");
	tap_ok(isnan(stats_kappa(a, b, 50, 1)), "a category out of range");
}

static void test_ranks(void)
{
	const double v[] = { 85, 72, NAN, 85 + 1e-12, 90, 72.5 };
	const double x[] = { 1, 2, 3, 4 }, y[] = { 4, 3, 2, 1 }, z[] = { 1, 1, 2, 2 },
		     same[] = { 5, 5, 5, 5 };
	unsigned r[6];

	stats_rank(v, 6, r);
	tap_ok(r[4] == 1 && r[0] == 2 && r[3] == 2 && r[5] == 4 && r[1] == 5 && r[2] == 6,
	       "ranks %u %u %u %u %u %u", r[0], r[1], r[2], r[3], r[4], r[5]);
	near(stats_spearman(x, x, 4), 1, 1e-12, "the same order");
	near(stats_spearman(x, y, 4), -1, 1e-12, "the other way round");
	near(stats_spearman(x, z, 4), 4 / sqrt(20), 1e-12,
	     "ties have mean ranks"); /* sums 4, 5, 4 */
	tap_ok(isnan(stats_spearman(x, same, 4)) && isnan(stats_spearman(x, x, 1)),
	       "undefined without an order");
}

int main(void)
{
	test_moments();
	test_mcnemar();
	test_intervals();
	test_bootstrap();
	test_kappa();
	test_ranks();
	return tap_done();
}
