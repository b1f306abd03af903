/* TAP (Test Anything Protocol 12) for our own test programs: no plan in front, "1..N" at the end,
 * so that a program that dies early has no plan and counts as failed.
 * Not for use outside tests/: it prints and keeps counters. */
#ifndef TESTS_LIB_TAP_H
#define TESTS_LIB_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned tap_count_, tap_failed_;

/* A line for people, "# text". */
static inline void tap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void tap_diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* Back end of tap_ok(). Returns @cond. */
static inline bool tap_ok_at(bool cond, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static inline bool tap_ok_at(bool cond, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	tap_count_++;
	tap_failed_ += !cond;
	printf("%sok %u - ", cond ? "" : "not ", tap_count_);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (!cond)
		printf("#   failed at %s:%d\n", file, line);
	/* A test may fork or be killed: what was said must be out before. */
	fflush(stdout);
	return cond;
}

/* One assertion with a printf-like name. Value: the condition. */
#define tap_ok(cond, ...) tap_ok_at(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

/* Back end of tap_is_str(); NULL only equals NULL. */
static inline bool tap_is_str_at(const char *got, const char *want, const char *name,
				 const char *file, int line)
{
	bool same = got && want ? strcmp(got, want) == 0 : got == want;

	tap_ok_at(same, file, line, "%s", name ? name : "equal");
	if (!same)
		printf("#   got:  %s\n#   want: %s\n", got ? got : "(null)",
		       want ? want : "(null)");
	return same;
}

/* Equal strings. */
#define tap_is_str(got, want, name) tap_is_str_at(got, want, name, __FILE__, __LINE__)

/* Back end of tap_is_u64(). */
static inline bool tap_is_u64_at(uint64_t got, uint64_t want, const char *name, const char *file,
				 int line)
{
	tap_ok_at(got == want, file, line, "%s", name);
	if (got != want)
		printf("#   got:  %" PRIu64 "\n#   want: %" PRIu64 "\n", got, want);
	return got == want;
}

/* Equal unsigned numbers. */
#define tap_is_u64(got, want, name) tap_is_u64_at(got, want, name, __FILE__, __LINE__)

/* An assertion that cannot be made here. @why begins with a name from tests/expected-skips and a
 * colon when such a skip is known; any other skip is a failure under MUST_WORK=1. */
static inline void tap_skip(const char *name, const char *why)
{
	tap_count_++;
	printf("ok %u - %s # SKIP %s\n", tap_count_, name, why);
	fflush(stdout);
}

/* Print the plan. Returns the exit status: 0, or 1 when something failed. */
static inline int tap_done(void)
{
	printf("1..%u\n", tap_count_);
	fflush(stdout);
	return tap_failed_ ? 1 : 0;
}

#endif
