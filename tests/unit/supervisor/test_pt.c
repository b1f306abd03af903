/* The bounded copy out of a task's memory, over the edges of mapped pages. */
#include "supervisor/pt.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/tap.h"

int main(void)
{
	enum { PAGE = 4096 };
	char *map =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t self = getpid();
	char out[PAGE + 64];
	char *end = map + 2 * PAGE;

	tap_ok(map != MAP_FAILED && munmap(map + 2 * PAGE, PAGE) == 0, "two pages, then a hole");
	memset(map, 'a', 2 * PAGE);
	end[-1] = '\0';
	tap_ok(pt_read_str(self, (struct remote){ (uintptr_t)end - 6 }, out, sizeof(out)) == 5 &&
		       strcmp(out, "aaaaa") == 0,
	       "a string flush against the hole");
	tap_ok(pt_read_str(self, (struct remote){ (uintptr_t)end - PAGE - 10 }, out, sizeof(out)) ==
		       PAGE + 9,
	       "a string over a page's edge");
	tap_ok(pt_read_str(self, (struct remote){ (uintptr_t)end - 6 }, out, 4) == -1,
	       "longer than the buffer is an error");
	end[-1] = 'a';
	tap_ok(pt_read_str(self, (struct remote){ (uintptr_t)end - 6 }, out, sizeof(out)) == -1,
	       "no end before the hole is an error");
	tap_ok(pt_read_str(self, (struct remote){ 0 }, out, sizeof(out)) == -1, "NULL is an error");
	tap_ok(pt_read_str(self, (struct remote){ UINT64_MAX - 3 }, out, sizeof(out)) == -1,
	       "the end of the address space is an error");
	map[0] = '\0';
	tap_ok(pt_read_str(self, (struct remote){ (uintptr_t)map }, out, sizeof(out)) == 0,
	       "the empty string");
	return tap_done();
}
