/* Strings: strict parsing of numbers, sizes, durations and money; string arrays; the nearest
 * valid choice for error texts. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL-terminated array of owned strings; {0} is empty. */
struct strv {
	char **v; /* owned array of owned strings, NULL behind the last; NULL while empty */
	size_t n, cap;
};

#define strv_each(s, sv) for (size_t s = 0; s < (sv)->n; s++)

/* Append a copy of @s. */
void strv_add(struct strv *sv, const char *s);

/* Append @s itself; the array owns it from now on. */
void strv_take(struct strv *sv, char *s);

/* Free all strings; the array is empty and usable again. */
void strv_done(struct strv *sv);

/* Does the array hold @s? */
bool strv_has(const struct strv *sv, const char *s);

/* Replace the contents of @to by copies of @from. */
void strv_copy(struct strv *to, const struct strv *from);

#define auto_strv __attribute__((cleanup(strv_done))) struct strv

/* Equality that takes NULL (only equal to NULL). */
bool str_eq(const char *a, const char *b);

/* Does @s begin with @prefix? */
bool str_starts(const char *s, const char *prefix);

/* Does @s end with @suffix? */
bool str_ends(const char *s, const char *suffix);

/* Unsigned decimal, whole string, no sign, no blanks. 0 or -1 (then @ret is untouched). */
int str_u64(const char *s, uint64_t *ret);

/* Size in bytes: "4096", "64K", "8M", "4G", "1T" (powers of 1024). 0 or -1. */
int str_size(const char *s, uint64_t *ret);

/* Duration in nanoseconds: "500ms", "30s", "10m", "1h", "2d"; a bare number is seconds.
 * 0 or -1. */
int str_duration(const char *s, uint64_t *ret_ns);

/* Money in micro-dollars: "3", "3.00", "0.000125" (at most six decimals). 0 or -1. */
int str_money(const char *s, uint64_t *ret_micro);

/* The entry of @choices (NULL-terminated) nearest to @s by edit distance, or NULL when none is
 * near enough to be meant. Borrowed from @choices. */
const char *str_nearest(const char *s, const char *const *choices);

/* Shell-like glob of a path: "*" and "?" stay inside a component, "**" crosses them. */
bool str_path_glob(const char *pattern, const char *path);

/* Is the whole of @s valid UTF-8 (RFC 3629: no surrogates, no overlong forms)? When not,
 * *ret_bad is the offset of the first bad byte. */
bool str_utf8(const char *s, size_t n, size_t *ret_bad);

#endif
