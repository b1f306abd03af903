#include "study/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Two figures that differ by less are the same: means of the same counts, added in another order, differ in
 * the last bits. */
#define SAME 1e-9

double stats_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / (double)n : NAN;
}

double stats_sd(const double *v, size_t n)
{
	double mean = stats_mean(v, n), sum = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Logarithm of the binomial coefficient. lgamma_r(): lgamma() writes a global. */
static double log_choose(uint64_t n, uint64_t k)
{
	int sign;

	return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
	       lgamma_r((double)(n - k) + 1, &sign);
}

/* P(X <= k) for X binomial (n, 1/2). */
static double half_tail(uint64_t n, uint64_t k)
{
	double sum = 0;

	for (uint64_t i = 0; i <= k && i <= n; i++)
		sum += exp(log_choose(n, i) - (double)n * M_LN2);
	return sum < 1 ? sum : 1;
}

double stats_mcnemar(uint64_t b, uint64_t c, double *ret_one_sided)
{
	uint64_t n = b + c;
	double two = 2 * half_tail(n, b < c ? b : c);

	if (ret_one_sided) /* P(X >= b) = P(X <= c) by symmetry */
		*ret_one_sided = half_tail(n, c);
	return two < 1 ? two : 1;
}

double stats_normal_quantile(double p)
{
	double low = -40, high = 0, mid;

	if (isnan(p) || p < 0 || p > 1)
		return NAN;
	if (p > 0.5)
		return -stats_normal_quantile(1 - p);
	if (p <= 0)
		return -INFINITY;
	if (p >= 0.5)
		return 0;
	for (int i = 0; i < 200; i++) {
		mid = (low + high) / 2;
		if (0.5 * erfc(-mid * M_SQRT1_2) < p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

void stats_wilson(uint64_t k, uint64_t n, double level, double *ret_low, double *ret_high)
{
	double z = stats_normal_quantile(0.5 + level / 2), p, centre, half, all = (double)n;

	*ret_low = 0;
	*ret_high = 1;
	if (!n)
		return;
	p = (double)k / all;
	centre = (p + z * z / (2 * all)) / (1 + z * z / all);
	half = z / (1 + z * z / all) * sqrt(p * (1 - p) / all + z * z / (4 * all * all));
	if (k) /* at the borders the exact values are 0 and 1 */
		*ret_low = centre - half;
	if (k < n)
		*ret_high = centre + half;
}

/* Correlation of the two answers, with the continuity correction that makes method 10 of method 8. */
static double newcombe_phi(double e, double f, double g, double h)
{
	double n = e + f + g + h, den = (e + f) * (g + h) * (e + g) * (f + h), a = e * h - f * g;

	if (den <= 0)
		return 0;
	if (a > 0)
		a = a > n / 2 ? a - n / 2 : 0;
	return a / sqrt(den);
}

/* A root of what may be below zero by rounding. */
static double root(double v)
{
	return v > 0 ? sqrt(v) : 0;
}

void stats_newcombe(uint64_t both, uint64_t first, uint64_t second, uint64_t neither, double level,
		    double *ret_low, double *ret_high)
{
	uint64_t n = both + first + second + neither;
	double phi, p1, p2, l1, u1, l2, u2;

	*ret_low = -1;
	*ret_high = 1;
	if (!n)
		return;
	phi = newcombe_phi((double)both, (double)first, (double)second, (double)neither);
	p1 = (double)(both + first) / (double)n;
	p2 = (double)(both + second) / (double)n;
	stats_wilson(both + first, n, level, &l1, &u1);
	stats_wilson(both + second, n, level, &l2, &u2);
	*ret_low = p1 - p2 -
		   root((p1 - l1) * (p1 - l1) - 2 * phi * (p1 - l1) * (u2 - p2) +
			(u2 - p2) * (u2 - p2));
	*ret_high = p1 - p2 +
		    root((u1 - p1) * (u1 - p1) - 2 * phi * (u1 - p1) * (p2 - l2) +
			 (p2 - l2) * (p2 - l2));
}

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* A number below @n, all equally likely: the last, incomplete stretch of 2^64 is drawn again. */
static size_t below(uint64_t *state, size_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;

	do
		v = next_random(state);
	while (v >= limit);
	return (size_t)(v % n);
}

/* Quantile of sorted values, straight lines between them. */
static double quantile(const double *s, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? s[i] + (at - (double)i) * (s[i + 1] - s[i]) : s[n - 1];
}

void stats_bootstrap(const double *diff, size_t n, unsigned draws, uint64_t seed, double level,
		     double *ret_low, double *ret_high)
{
	auto_free double *mean = NULL;
	uint64_t state = seed;

	*ret_low = *ret_high = NAN;
	if (!n || !draws)
		return;
	mean = mem_zalloc(draws, sizeof(*mean));
	for (unsigned d = 0; d < draws; d++) {
		for (size_t i = 0; i < n; i++)
			mean[d] += diff[below(&state, n)];
		mean[d] /= (double)n;
	}
	qsort(mean, draws, sizeof(*mean), by_value);
	*ret_low = quantile(mean, draws, (1 - level) / 2);
	*ret_high = quantile(mean, draws, (1 + level) / 2);
}

double stats_kappa(const unsigned *a, const unsigned *b, size_t n, unsigned k)
{
	auto_free size_t *count = mem_zalloc((size_t)k * 2 + 1, sizeof(*count));
	double same = 0, chance = 0, all = (double)n;

	if (!n)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		if (a[i] >= k || b[i] >= k)
			return NAN;
		same += a[i] == b[i];
		count[a[i]]++;
		count[k + b[i]]++;
	}
	for (unsigned c = 0; c < k; c++)
		chance += (double)count[c] / all * ((double)count[k + c] / all);
	return 1 - chance > SAME ? (same / all - chance) / (1 - chance) : NAN;
}

struct ranked {
	double v;
	size_t at;
};

/* Largest first; what is no number comes last. */
static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (isnan(x->v) || isnan(y->v))
		return isnan(x->v) - isnan(y->v);
	return (x->v < y->v) - (x->v > y->v);
}

static struct ranked *ranked(const double *v, size_t n)
{
	struct ranked *r = mem_zalloc(n, sizeof(*r));

	for (size_t i = 0; i < n; i++)
		r[i] = (struct ranked){ v[i], i };
	qsort(r, n, sizeof(*r), by_rank);
	return r;
}

/* First place behind the values equal to that at @i. */
static size_t ties_end(const struct ranked *r, size_t i, size_t n)
{
	size_t end = i + 1;

	while (end < n && r[i].v - r[end].v < SAME) /* never true of what is no number */
		end++;
	return end;
}

void stats_rank(const double *v, size_t n, unsigned *ret)
{
	auto_free struct ranked *r = ranked(v, n);

	for (size_t i = 0, end; i < n; i = end) {
		end = ties_end(r, i, n);
		for (size_t k = i; k < end; k++)
			ret[r[k].at] = (unsigned)(i + 1);
	}
}

static double *mean_ranks(const double *v, size_t n)
{
	auto_free struct ranked *r = ranked(v, n);
	double *ret = mem_zalloc(n, sizeof(*ret));

	for (size_t i = 0, end; i < n; i = end) {
		end = ties_end(r, i, n);
		for (size_t k = i; k < end; k++)
			ret[r[k].at] = (double)(i + 1 + end) / 2;
	}
	return ret;
}

double stats_spearman(const double *a, const double *b, size_t n)
{
	auto_free double *x = mean_ranks(a, n), *y = mean_ranks(b, n);
	double mx = stats_mean(x, n), my = stats_mean(y, n), xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(a[i]) || isnan(b[i]))
			return NAN;
		xy += (x[i] - mx) * (y[i] - my);
		xx += (x[i] - mx) * (x[i] - mx);
		yy += (y[i] - my) * (y[i] - my);
	}
	return n >= 2 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}
