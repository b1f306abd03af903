#include <stdio.h>

#include "units.h"

static int n;

static void is(const char *name, const char *text, int rc, unsigned long want)
{
	unsigned long got = 0;
	int ok = units_parse(text, &got) == rc && (rc || got == want);

	printf("%sok %d - %s\n", ok ? "" : "not ", ++n, name);
}

int main(void)
{
	is("plain", "12", 0, 12);
	is("thousands", "12k", 0, 12000);
	is("no unit", "12x", -1, 0);
	is("nothing", "", -1, 0);
	printf("1..%d\n", n);
	return 0;
}
