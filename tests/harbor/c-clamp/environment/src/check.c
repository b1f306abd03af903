#include <stdio.h>

#include "clamp.h"

int main(void)
{
	printf("%d\n", clamp(5, 0, 9));
	return clamp(5, 0, 9) != 5;
}
