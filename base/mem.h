/* Checked allocation and ownership that is readable at the declaration.
 * Memory exhaustion ends the program (the box dies with it); sizes that come from outside are
 * capped by the caller before they reach these functions. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* malloc that never returns NULL; ends the program when memory is out. Caller frees. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));

/* calloc that never returns NULL; checks the product. Caller frees. */
void *mem_zalloc(size_t n, size_t size)
	__attribute__((malloc, returns_nonnull, warn_unused_result));

/* realloc of @n elements of @size bytes; checks the product, never returns NULL for n > 0. */
void *mem_realloc(void *p, size_t n, size_t size) __attribute__((warn_unused_result));

/* strdup; NULL gives NULL. Caller frees. */
char *mem_strdup(const char *s) __attribute__((warn_unused_result));

/* strndup of exactly at most @n bytes. Caller frees. */
char *mem_strndup(const char *s, size_t n) __attribute__((warn_unused_result));

/* memdup: a copy of @n bytes with a NUL behind them. Caller frees. */
void *mem_dup(const void *p, size_t n) __attribute__((warn_unused_result));

/* asprintf that never fails. Caller frees. */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2), warn_unused_result));

/* va_list form of mem_printf(). Caller frees. */
char *mem_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Back end of MEM_GROW(): returns the array with room for at least @need elements and updates
 * @cap (elements). */
void *mem_grow(void *p, size_t *cap, size_t need, size_t size) __attribute__((warn_unused_result));

/* Make room for @need elements in array @arr whose capacity variable is @cap. */
#define MEM_GROW(arr, cap, need) ((arr) = mem_grow((arr), &(cap), (need), sizeof(*(arr))))

static inline void mem_auto_free(void *p)
{
	free(*(void **)p);
}

static inline void mem_auto_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Locals that own something. Always initialise in the same line. */
#define auto_free __attribute__((cleanup(mem_auto_free)))
#define auto_fd   __attribute__((cleanup(mem_auto_close)))

/* Hand ownership over, visibly: the variable is empty afterwards. */
#define take_ptr(p)                                                                                \
	__extension__({                                                                            \
		__typeof__(*(p)) *take_src_ = (p);                                                 \
		__typeof__(*(p)) take_val_ = *take_src_;                                           \
		*take_src_ = NULL;                                                                 \
		take_val_;                                                                         \
	})

/* Hand a descriptor over: the variable is -1 afterwards. */
static inline int take_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

/* Close a descriptor held in a struct field and set it to -1; -1 is fine. Keeps errno. */
void mem_close(int *fd);

#endif
