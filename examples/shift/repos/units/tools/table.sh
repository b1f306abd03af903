#!/bin/sh
# table.sh FILE: a C table of "UNIT FACTOR" lines.
echo "/* clang-format off */"
echo "/* Made by tools/table.sh from table.txt. */"
echo "static const struct { char unit; unsigned long factor; } table[] = {"
while read -r unit factor; do
	echo "	{ '$unit', $factor },"
done <"$1"
echo "};"
