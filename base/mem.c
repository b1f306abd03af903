#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

static void out_of_memory(void) __attribute__((noreturn));
static void out_of_memory(void)
{
	static const char msg[] = "proctor: out of memory; give it more, or less to do at once\n";

	/* Nothing can be done with a short write here: the next line ends the program. No core: it would hold
	 * what the model and the agent said, and what is left of the run is the janitor's. */
	if (write(2, msg, sizeof(msg) - 1) < 0)
		_exit(ERR_SYS);
	_exit(ERR_SYS);
}

void *mem_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem_zalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem_realloc(void *p, size_t n, size_t size)
{
	void *q;

	if (size && n > SIZE_MAX / size)
		out_of_memory();
	q = realloc(p, n && size ? n * size : 1);
	if (!q)
		out_of_memory();
	return q;
}

char *mem_strdup(const char *s)
{
	return s ? mem_dup(s, strlen(s)) : NULL;
}

char *mem_strndup(const char *s, size_t n)
{
	return mem_dup(s, strnlen(s, n));
}

void *mem_dup(const void *p, size_t n)
{
	char *q = mem_alloc(n + 1);

	if (n)
		memcpy(q, p, n);
	q[n] = '\0';
	return q;
}

char *mem_vprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		out_of_memory();
	return s;
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);
	return s;
}

void *mem_grow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap;

	if (need <= n)
		return p;
	if (n < 8)
		n = 8;
	while (n < need)
		n += n / 2 + 1;
	p = mem_realloc(p, n, size);
	*cap = n;
	return p;
}

void mem_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}
