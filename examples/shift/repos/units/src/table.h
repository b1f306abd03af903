/* clang-format off */
/* Made by tools/table.sh from table.txt. */
static const struct { char unit; unsigned long factor; } table[] = {
	{ 'k', 1000 },
	{ 'M', 1000 },
};
