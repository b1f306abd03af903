/* Durations as text: "1d12h30m", "90s". Units are d, h, m and s. */
#ifndef DURATION_H
#define DURATION_H

#include <stddef.h>
#include <stdint.h>

#define DURATION_MAX (366ull * 24 * 3600) /* seconds: the longest duration there is */

/* Read text into seconds. 0, or -1 when it is not a duration or longer than DURATION_MAX; then
 * *ret is left alone. */
int duration_parse(const char *text, uint64_t *ret);

/* Write seconds in the shortest form ("0s" for none) into out, which has room for n bytes.
 * Returns the length, or -1 when it does not fit. */
int duration_format(uint64_t seconds, char *out, size_t n);

#endif
