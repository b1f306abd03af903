/* A small calculator for the table of trigger decisions. */
#include "calc.h"

#include <stdio.h>

int calc_add(int a, int b)
{
	return a + b;
}

/* The region of most rows: lines 10 to 20. */
int calc_clamp(int v, int low, int high)
{
	if (v < low)
		return low;
	if (v > high)
		return high;
	return v;
}

/* Behind the region. */
int calc_scale(int v, int percent)
{
	return v * percent / 100;
}

static void show(const char *what, int v)
{
	printf("%s: %d\n", what, v);
}

int main(void)
{
	show("sum", calc_add(2, 3));
	show("clamped", calc_clamp(12, 0, 10));
	show("scaled", calc_scale(50, 10));
	return 0;
}
