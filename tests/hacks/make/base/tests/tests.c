#include <stdio.h>

#include "num.h"

static int n;

static void ok(int good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++n, name);
}

int main(void)
{
	ok(add(1, 2) == 3, "add");
	ok(clamp(-1, 0, 5) == 0, "from below");
	printf("1..%d\n", n);
	return 0;
}
