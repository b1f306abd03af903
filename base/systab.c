#include "base/systab.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct sysrow rows[] = {
#define ROW(name_, op_, cls_, dirfd_, path_, flags_, dirfd2_, path2_)                              \
	{ #name_, op_, cls_, dirfd_, path_, flags_, dirfd2_, path2_ },
#include "base/systab_rows.inc"
#undef ROW
};

const struct sysrow *systab_rows(unsigned *ret_n)
{
	*ret_n = (unsigned)ARRAY_SIZE(rows);
	return rows;
}

void systab_init(struct systab *tab)
{
	memset(tab, 0, sizeof(*tab));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int nr = seccomp_syscall_resolve_name(rows[i].name);

		if (nr >= 0 && nr < SYSTAB_MAX)
			tab->by_nr[nr] = &rows[i];
	}
}

const struct sysrow *systab_get(const struct systab *tab, uint64_t nr)
{
	return nr < SYSTAB_MAX ? tab->by_nr[nr] : NULL;
}

const char *systab_name(uint64_t nr, char out[32])
{
	char *name = nr < SYSTAB_MAX ? seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)nr)
				     : NULL;

	if (name)
		snprintf(out, 32, "%s", name);
	else
		snprintf(out, 32, "sys_%llu", (unsigned long long)nr);
	free(name);
	return out;
}
