/* Syscall rows: numbers against the kernel's headers, names, positions of arguments. */
#include "base/systab.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "base/sysdefs.h"
#include "tests/lib/tap.h"

static const struct {
	int nr;
	const char *name;
	enum sys_op op;
	unsigned cls;
} expect[] = {
	{ __NR_openat, "openat", OP_OPEN, SYS_FILES },
	{ __NR_openat2, "openat2", OP_OPEN, SYS_FILES },
	{ __NR_execveat, "execveat", OP_EXEC, SYS_FILES | SYS_FULL },
	{ __NR_renameat2, "renameat2", OP_RENAME, SYS_FILES },
	{ __NR_read, "read", OP_READ, SYS_ZOOM },
	{ __NR_pwritev2, "pwritev2", OP_WRITE, SYS_ZOOM },
	{ __NR_copy_file_range, "copy_file_range", OP_COPY, SYS_ZOOM },
	{ __NR_close_range, "close_range", OP_CLOSE, SYS_ZOOM },
	{ __NR_clone3, "clone3", OP_NONE, SYS_NOSYS },
	{ __NR_io_uring_setup, "io_uring_setup", OP_NONE, SYS_NOSYS },
	{ __NR_clone, "clone", OP_NONE, SYS_ARGS },
	{ __NR_ptrace, "ptrace", OP_NONE, SYS_DENY },
	{ __NR_bpf, "bpf", OP_NONE, SYS_DENY },
#ifdef __NR_open
	{ __NR_open, "open", OP_OPEN, SYS_FILES },
	{ __NR_rename, "rename", OP_RENAME, SYS_FILES },
	{ __NR_unlink, "unlink", OP_UNLINK, SYS_FILES },
#endif
};

static void by_number(const struct systab *tab)
{
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(expect); i++) {
		const struct sysrow *row = systab_get(tab, (uint64_t)expect[i].nr);

		tap_ok(row && strcmp(row->name, expect[i].name) == 0 && row->op == expect[i].op &&
			       row->cls & expect[i].cls,
		       "row of %s at number %d", expect[i].name, expect[i].nr);
		tap_is_str(systab_name((uint64_t)expect[i].nr, name), expect[i].name, "its name");
	}
	tap_ok(!systab_get(tab, SYSTAB_MAX) && !systab_get(tab, UINT64_MAX),
	       "numbers beyond the table");
	tap_ok(!systab_get(tab, 0x40000000u | __NR_openat), "an x32 number has no row");
	tap_is_str(systab_name(9999, name), "sys_9999", "a number without a name");
	tap_is_str(systab_name(UINT64_MAX, name), "sys_18446744073709551615", "the largest number");
}

static bool arguments_ok(const struct sysrow *r)
{
	const int8_t pos[] = { r->dirfd, r->path, r->flags, r->dirfd2, r->path2 };

	for (size_t i = 0; i < ARRAY_SIZE(pos); i++) {
		for (size_t k = 0; k < i; k++) {
			if (pos[i] >= 0 && pos[i] == pos[k])
				return false;
		}
		if (pos[i] < -1 || pos[i] > 5)
			return false;
	}
	return r->dirfd < 0 || r->path == r->dirfd + 1;
}

static void rows(const struct systab *tab)
{
	unsigned n, found = 0;
	const struct sysrow *r = systab_rows(&n);

	for (unsigned i = 0; i < SYSTAB_MAX; i++)
		found += tab->by_nr[i] != NULL;
	tap_ok(n > 100 && found + 20 > n, "%u of %u rows have a number here", found, n);
	for (unsigned i = 0; i < n; i++) {
		bool twice = false;

		for (unsigned k = 0; k < i; k++)
			twice = twice || strcmp(r[i].name, r[k].name) == 0;
		if (twice || !arguments_ok(&r[i]) || !r[i].cls)
			tap_ok(false, "row %s: twice, without class or with odd arguments",
			       r[i].name);
	}
	tap_ok(true, "%u rows looked at", n);
}

int main(void)
{
	struct systab tab;

	systab_init(&tab);
	by_number(&tab);
	rows(&tab);
	return tap_done();
}
