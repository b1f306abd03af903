/* Mappings show more than the call asked for, now or later. Each case has a file of its own, whose region begins on the
 * second page, and shows its bytes; the touch must be there for all of them. */
#include "evasion.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Opened for writing too: a mapping that others cannot see is never turned. */
static int part(const char *name)
{
	int fd = open(name, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail(name);
	return fd;
}

/* The bytes on the second page behind @map are the file's. */
static bool shown(const volatile char *map)
{
	return map[PAGE + 8] != 0;
}

/* One byte is asked for, a page is given. */
static bool rounded(int fd)
{
	char *map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, PAGE);

	return map != MAP_FAILED && shown(map - PAGE);
}

/* Nothing may be read until later. */
static bool protected(int fd)
{
	char *map = mmap(NULL, (size_t)2 * PAGE, PROT_NONE, MAP_SHARED, fd, 0);

	close(fd);
	return map != MAP_FAILED && mprotect(map, (size_t)2 * PAGE, PROT_READ) == 0 && shown(map);
}

/* The mapping grows when the file is closed. */
static bool grown(int fd)
{
	char *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	map = mremap(map, PAGE, (size_t)2 * PAGE, MREMAP_MAYMOVE);
	return map != MAP_FAILED && shown(map);
}

/* The mapping is moved over the file. */
static bool turned(int fd)
{
	char *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	return syscall(SYS_remap_file_pages, map, PAGE, 0, 1, 0) == 0 && shown(map - PAGE);
}

/* A descriptor opened before, in a process that has closed and forked since. */
static bool old_descriptor(int fd)
{
	int kept = dup(fd);
	char *map;

	close(fd);
	if (fork() != 0) {
		reap();
		return shared->other;
	}
	map = mmap(NULL, (size_t)2 * PAGE, PROT_READ, MAP_PRIVATE, kept, 0);
	close(kept);
	shared->other = map != MAP_FAILED && shown(map);
	_exit(0);
}

static int mapped(long n)
{
	static const struct {
		const char *file;
		bool (*show)(int fd);
		bool refused; /* perhaps: the call is old and not needed */
	} cases[] = {
		{ "map-rounded", rounded },    { "map-protected", protected },
		{ "map-grown", grown },        { "map-turned", turned, true },
		{ "map-old", old_descriptor },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		long times = 0;
		char touch[64];

		for (long k = 0; k < n; k++)
			times += cases[i].show(part(cases[i].file));
		expect("map", "path", cases[i].file, true, times);
		snprintf(touch, sizeof(touch), "%s bytes", cases[i].file);
		expect("touch", "path,level", touch, true, times > 0);
		if (!times && !cases[i].refused)
			printf("# %s never shows its bytes\n", cases[i].file);
	}
	return 0;
}

const struct way ways_maps[] = {
	{ "mapped", mapped },
	{ NULL, NULL },
};
