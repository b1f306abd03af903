# shellcheck shell=sh
# The report's own examples, compiled against the file as it is now.
cat >~/check.c <<'C'
#include <stdint.h>
#include "src/duration.h"

int main(void)
{
	uint64_t seconds;

	return duration_parse("367d", &seconds) == 0 || duration_parse("213503982334602d", &seconds) == 0 ||
	       duration_parse("99999999999999999999s", &seconds) == 0 || duration_parse("1d12h", &seconds) != 0;
}
C
cc -I. -o ~/check ~/check.c src/duration.c && ~/check
