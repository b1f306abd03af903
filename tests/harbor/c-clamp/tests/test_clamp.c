#include <stdio.h>

#include "clamp.h"

int main(void)
{
	int bad = 0;

	for (int v = -20; v <= 20; v++) {
		int want = v < -7 ? -7 : v > 3 ? 3 : v;

		if (clamp(v, -7, 3) != want) {
			printf("clamp(%d, -7, 3) is %d, not %d\n", v, clamp(v, -7, 3), want);
			bad = 1;
		}
	}
	return bad;
}
