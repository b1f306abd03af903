# shellcheck shell=sh
# An agent without a model: as careless.sh, but it tests, looks again, and when somebody changed
# the place meanwhile so that the fix sees nothing any more, it mends that too.
sed -n '30,75p' src/duration.c

sed -i -e 's/^\t\tn = n \* 10 /\t\tif (n > DURATION_MAX)\n\t\t\treturn -1;\n&/' \
	-e 's/^\t\*total += n /\tif (n > DURATION_MAX \/ seconds || *total > DURATION_MAX - n * seconds)\n\t\treturn -1;\n&/' \
	src/duration.c

make -s test

if [ -e /tmp/user-message.txt ]; then
	cat /tmp/user-message.txt
fi
sed -n '30,80p' src/duration.c

if grep -q 'n = DURATION_MAX / seconds' src/duration.c; then
	sed -i '/nobody means more/,/n = DURATION_MAX/d' src/duration.c
fi

make -s test
