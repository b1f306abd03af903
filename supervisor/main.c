/* proctor: picks the command's row and runs it. */
#include "supervisor/cmd.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "supervisor/memory.h"

int main(int argc, char **argv)
{
	const char *names[32];
	const char *want = argc > 1 ? argv[1] : "help", *near;
	size_t n = 0;

	memory_setup();
	if (strcmp(want, "--help") == 0 || strcmp(want, "-h") == 0)
		want = "help";
	if (strcmp(want, "--version") == 0)
		want = "version";
	for (const struct opt_cmd *const *c = cmd_all; *c; c++) {
		if (strcmp((*c)->name, want) == 0)
			return (*c)->run(*c, argc > 1 ? argc - 1 : 1, argc > 1 ? argv + 1 : argv);
		if (n + 1 < ARRAY_SIZE(names))
			names[n++] = (*c)->name;
	}
	names[n] = NULL;
	near = str_nearest(want, names);
	log_msg(LOG_ERROR, "unknown command \"%s\"%s%s%s; see 'proctor help'", want,
		near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	return ERR_USAGE;
}
