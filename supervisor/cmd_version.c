#include "supervisor/cmd.h"

#include <stdio.h>

static const struct opt_row rows[] = { { 0 } };

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct strv rest = { 0 };
	int status, none;

	if (cmd_parse(cmd, argc, argv, &none, &rest, &status) == 0) {
		printf("proctor %s\n", PROCTOR_VERSION);
		status = 0;
	}
	strv_done(&rest);
	return status;
}

const struct opt_cmd cmd_version = {
	.name = "version",
	.summary = "print the version",
	.synopsis = "",
	.rows = rows,
	.run = run,
};
