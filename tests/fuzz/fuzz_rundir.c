/* A run directory of arbitrary lines: trace.jsonl up to a line "---", interventions.jsonl behind it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "verifier/rundir_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const char *text, size_t n, char **ret_path)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, text, n) < 0)
		abort();
	*ret_path = mem_printf("/proc/self/fd/%d", fd);
	return fd;
}

static void check(const struct rundir *rd)
{
	for (size_t i = 0; i < rd->n_actions; i++) {
		const struct rundir_action *a = &rd->action[i];

		if (!a->cmd == !a->tool || a->cls > ACTION_OTHER || a->first > a->last)
			abort();
	}
	for (size_t i = 0; i < rd->n_edits; i++) {
		const char *d = rundir_digest_at(rd, rd->edit[i].path, rd->edit[i].n);

		if (!rd->edit[i].path[0] || (d && strlen(d) != 0 && strlen(d) != 64))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *cut = memmem(text, size, "\n---\n", 5);
	size_t n = cut ? (size_t)(cut - text) + 1 : size;
	auto_free char *trace = NULL, *firings = NULL;
	auto_fd int a = file_of(text, n, &trace);
	auto_fd int b = file_of(cut ? cut + 5 : "", cut ? size - n - 4 : 0, &firings);
	struct rundir rd = { 0 };
	struct rundir_reader r = { .rd = &rd, .workdir = "/workspace" };
	struct err err;

	(void)a;
	(void)b;
	if (size > 1u << 16)
		return 0;
	if (rundir_read_trace(&r, trace, &err) == 0) {
		rundir_actions_settle(&r);
		if (rundir_read_firings(&r, firings, &err) == 0) {
			rundir_index(&rd);
			check(&rd);
		}
	}
	rundir_reader_done(&r);
	rundir_done(&rd);
	return 0;
}
