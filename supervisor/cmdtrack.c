#include "supervisor/cmdtrack.h"

#include <stdlib.h>

#include "base/mem.h"
#include "triggers/shwords.h"

struct command *cmdtrack_fork(struct cmdtrack *c, uint64_t now)
{
	struct command *cmd = mem_zalloc(1, sizeof(*cmd));

	cmd->id = ++c->last;
	cmd->started = now;
	map_put(&c->open, cmd->id, cmd);
	return cmd;
}

struct command *cmdtrack_get(struct cmdtrack *c, uint32_t id)
{
	return id ? map_get(&c->open, id) : NULL;
}

struct command *cmdtrack_exec(struct cmdtrack *c, uint32_t id, char *const *argv)
{
	struct command *cmd = cmdtrack_get(c, id);
	enum cmd_class cls;

	if (!cmd)
		return NULL;
	cls = classify_argv(argv);
	if (cls > cmd->cls)
		cmd->cls = cls;
	cmd->programs++;
	if (cmd->announced)
		return NULL;
	for (char *const *a = argv; *a; a++)
		strv_add(&cmd->argv, *a);
	cmd->announced = true;
	return cmd;
}

struct command *cmdtrack_again(struct cmdtrack *c, uint32_t id, char *const *argv)
{
	struct command *cmd = shwords_text(argv) ? cmdtrack_get(c, id) : NULL;

	if (!cmd || !cmd->announced)
		return NULL;
	strv_done(&cmd->argv);
	for (char *const *a = argv; *a; a++)
		strv_add(&cmd->argv, *a);
	return cmd;
}

void cmdtrack_edited(struct cmdtrack *c, uint32_t id)
{
	struct command *cmd = cmdtrack_get(c, id);

	if (cmd && cmd->cls < CLASS_EDIT)
		cmd->cls = CLASS_EDIT;
}

static void free_command(struct command *cmd)
{
	strv_done(&cmd->argv);
	free(cmd);
}

void cmdtrack_close(struct cmdtrack *c, uint32_t id)
{
	struct command *cmd = id ? map_del(&c->open, id) : NULL;

	if (cmd)
		free_command(cmd);
}

void cmdtrack_done(struct cmdtrack *c)
{
	map_each (s, &c->open)
		free_command(s->val);
	map_done(&c->open);
}
