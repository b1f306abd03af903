# shellcheck shell=sh
# An agent without a model: reads the place once, mends it, is done. Never looks back.
sed -n '30,75p' src/duration.c

sed -i -e 's/^\t\tn = n \* 10 /\t\tif (n > DURATION_MAX)\n\t\t\treturn -1;\n&/' \
	-e 's/^\t\*total += n /\tif (n > DURATION_MAX \/ seconds || *total > DURATION_MAX - n * seconds)\n\t\treturn -1;\n&/' \
	src/duration.c
