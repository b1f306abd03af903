#include "check.h"

#include <stdio.h>

#include "units.h"

int checks;

void check(int ok, const char *name)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++checks, name);
}

static void is(const char *name, const char *text, int rc, unsigned long want)
{
	unsigned long got = 0;

	check(units_parse(text, &got) == rc && (rc || got == want), name);
}

int main(void)
{
	is("plain", "12", 0, 12);
	is("thousands", "12k", 0, 12000);
	is("no unit", "12x", -1, 0);
	is("nothing", "", -1, 0);
	others();
	printf("1..%d\n", checks);
	return 0;
}
