#include "supervisor/cmd.h"

#include <string.h>

struct opts {
	const char *man;
	bool completion;
};

static const struct opt_row rows[] = {
	{ 0, "man", OPT_STR, offsetof(struct opts, man), "COMMAND",
	  "print the manual page of a command in man(7) form" },
	{ 0, "completion", OPT_FLAG, offsetof(struct opts, completion), NULL,
	  "print completion for bash" },
	{ 0 },
};

static const struct opt_cmd *find(const char *name)
{
	for (const struct opt_cmd *const *c = cmd_all; *c; c++) {
		if (strcmp((*c)->name, name) == 0)
			return *c;
	}
	return NULL;
}

static void overview(struct buf *out)
{
	buf_adds(
		out,
		"usage: proctor COMMAND [options]\n\n"
		"Runs an untrusted coding agent in a sandbox, touches the code while it works, and\n"
		"grades what it leaves behind.\n\ncommands:\n");
	for (const struct opt_cmd *const *c = cmd_all; *c; c++)
		buf_addf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	buf_adds(out, "\n'proctor COMMAND --help' tells more. First use: proctor run -- make\n");
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	auto_buf out = BUF_INIT(1u << 20);
	const struct opt_cmd *about = NULL;
	struct opts o = { 0 };
	struct strv rest = { 0 };
	const char *name;
	struct err err;
	int status;

	if (cmd_parse(cmd, argc, argv, &o, &rest, &status) == 0) {
		name = o.man ? o.man : rest.n ? rest.v[0] : NULL;
		about = name ? find(name) : NULL;
		status = 0;
		if (name && !about)
			status = cmd_fail(err_set(&err, ERR_USAGE, "help: no command \"%s\"", name),
					  &err);
		else if (o.completion)
			opt_completion(cmd_all, &out);
		else if (o.man)
			opt_man(about, PROCTOR_VERSION, &out);
		else if (about)
			opt_help(about, &out);
		else
			overview(&out);
		if (status == 0)
			status = cmd_print(&out);
	}
	strv_done(&rest);
	return status;
}

const struct opt_cmd cmd_help = {
	.name = "help",
	.summary = "say how to use a command",
	.synopsis = "[COMMAND]",
	.rows = rows,
	.run = run,
};
