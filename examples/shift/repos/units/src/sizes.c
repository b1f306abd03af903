/* sizes SIZE...: each as a number, and their sum. */
#include <stdio.h>

#include "format.h"
#include "units.h"

int main(int argc, char **argv)
{
	unsigned long sum = 0;
	char text[32];

	if (argc < 2) {
		fprintf(stderr, "usage: sizes SIZE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		unsigned long n;

		if (units_parse(argv[i], &n) < 0) {
			fprintf(stderr, "sizes: \"%s\" is no size\n", argv[i]);
			return 1;
		}
		sum += n;
		printf("%-8s %lu\n", argv[i], n);
	}
	format_size(text, sizeof(text), sum);
	printf("sum      %lu (%s)\n", sum, text);
	return 0;
}
