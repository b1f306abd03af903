/* The statistics of SWE-Touch and what a careful reader asks beside them. Pure functions on numbers. */
#ifndef STUDY_STATS_H
#define STUDY_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arithmetic mean; NAN for none. */
double stats_mean(const double *v, size_t n);

/* Sample standard deviation (n - 1); NAN below two values. */
double stats_sd(const double *v, size_t n);

/* Exact McNemar test on discordant pairs @b (only the first) and @c (only the second): two-sided p by the
 * binomial distribution, doubled smaller tail, at most 1; *ret_one_sided: P(X >= b) for "the first is
 * better". McNemar 1947. 1 for no pairs. */
double stats_mcnemar(uint64_t b, uint64_t c, double *ret_one_sided);

/* Interval of the paired difference of proportions p1 - p2 by Newcombe's method 10 (Statistics in Medicine
 * 17, 1998), for the table both / only first / only second / neither, at @level (0.95). */
void stats_newcombe(uint64_t both, uint64_t first, uint64_t second, uint64_t neither, double level,
		    double *ret_low, double *ret_high);

/* Wilson score interval of k of n at @level. */
void stats_wilson(uint64_t k, uint64_t n, double level, double *ret_low, double *ret_high);

/* Percentile interval of the mean of paired differences by @draws resamples, seeded: same seed, same
 * figures. */
void stats_bootstrap(const double *diff, size_t n, unsigned draws, uint64_t seed, double level,
		     double *ret_low, double *ret_high);

/* Cohen's kappa of two raters over @n items in categories 0..@k-1; NAN when undefined. Cohen 1960. */
double stats_kappa(const unsigned *a, const unsigned *b, size_t n, unsigned k);

/* Ranks, 1 = largest; equal values (within 1e-9) share the better rank; NANs come last. */
void stats_rank(const double *v, size_t n, unsigned *ret);

/* Spearman's rank correlation (ties: mean ranks); NAN when undefined. */
double stats_spearman(const double *a, const double *b, size_t n);

/* Quantile of the standard normal distribution. */
double stats_normal_quantile(double p);

#endif
