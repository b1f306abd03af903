#include "supervisor/memory.h"

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <git2.h>
#include <git2/sys/alloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void *take_bytes(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_alloc(n);
}

static void *resize(void *p, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_realloc(p, n, 1);
}

static void *resize_one(void *p, size_t n)
{
	return mem_realloc(p, n, 1);
}

static void give_back(void *p)
{
	free(p);
}

#if LIBGIT2_VER_MAJOR < 1 || (LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR < 6)
/* Later versions make the other forms of these three. */
static void *take_zeroes(size_t n, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_zalloc(n, size);
}

static void *resize_array(void *p, size_t n, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_realloc(p, n, size);
}

static void *take_array(size_t n, size_t size, const char *file, int line)
{
	return resize_array(NULL, n, size, file, line);
}

static char *copy_part(const char *s, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_dup(s, n);
}

static char *copy_most(const char *s, size_t n, const char *file, int line)
{
	return copy_part(s, strnlen(s, n), file, line);
}

static char *copy_all(const char *s, const char *file, int line)
{
	return copy_part(s, strlen(s), file, line);
}
#endif

void memory_setup(void)
{
	cJSON_Hooks hooks = { .malloc_fn = mem_alloc, .free_fn = free };
	git_allocator git = {
		.gmalloc = take_bytes,
		.grealloc = resize,
		.gfree = give_back,
#if LIBGIT2_VER_MAJOR < 1 || (LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR < 6)
		.gcalloc = take_zeroes,
		.gstrdup = copy_all,
		.gstrndup = copy_most,
		.gsubstrdup = copy_part,
		.greallocarray = resize_array,
		.gmallocarray = take_array,
#endif
	};

	cJSON_InitHooks(&hooks);
	event_set_mem_functions(mem_alloc, resize_one, free);
	(void)git_libgit2_opts(GIT_OPT_SET_ALLOCATOR, &git); /* cannot fail: it only copies */
}
