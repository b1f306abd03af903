/* A further command of the box, forked by PID 1 on request of box_exec(). No allocation, no stdio.
 */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Take @n strings from *@at into @v (with a NULL behind them). False when they are not there. */
static bool strings(char **at, const char *end, char **v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *nul = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;

		if (!nul)
			return false;
		v[i] = *at;
		*at = nul + 1;
	}
	v[n] = NULL;
	return true;
}

void init_exec(struct child_plan *p, char *text, size_t len, const int *fd)
{
	static char *v[EXEC_ARGS + 4];
	static char *sh[EXEC_ARGS + 2];
	struct child_state st = { .extra = true, .ops = { .at_source = -1 } };
	char *at = text + sizeof(struct exec_request);
	char **candidates = v + 1, **argv, **env;
	struct exec_request req;

	memcpy(&req, text, sizeof(req));
	p->error = fd[EXEC_FDS - 1];
	p->gate = p->error; /* says ready there, too */
	errno = E2BIG;
	if (len < sizeof(req) || req.candidates > EXEC_ARGS || req.argc > EXEC_ARGS ||
	    req.envc > EXEC_ARGS || req.candidates + req.argc + req.envc > EXEC_ARGS)
		init_fail(p->error, &st);
	argv = candidates + req.candidates + 1;
	env = argv + req.argc + 1;
	if (!strings(&at, text + len, v, 1) ||
	    !strings(&at, text + len, candidates, req.candidates) ||
	    !strings(&at, text + len, argv, req.argc) || !strings(&at, text + len, env, req.envc))
		init_fail(p->error, &st);
	memcpy(p->stdio, fd, sizeof(p->stdio));
	if (v[0][0])
		p->cwd = v[0];
	else
		p->cwd = p->workdir;
	/* Borrowed into the vector that child_main() reads; nothing in this process frees it. */
	p->candidates = (struct strv){ .v = candidates, .n = req.candidates };
	for (uint32_t i = 1; i < req.argc; i++)
		sh[i + 1] = argv[i];
	sh[0] = (char *)(uintptr_t) "sh";
	p->sh_argv = sh;
	p->argv = argv;
	p->env = env;
	child_main(p, &st);
}
