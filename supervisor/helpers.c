#include "supervisor/helpers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"

void helpers_init(struct helpers *h)
{
	for (size_t i = 0; i < HELPERS_MAX; i++)
		h->v[i] = (struct helper){ .fd = -1 };
	h->null = -1;
}

int helpers_start(struct helpers *h, struct box *box, char *const *argv, char *const *env,
		  const char *cwd, struct err *err)
{
	struct box_command cmd = { .argv = argv, .env = env, .cwd = cwd };
	struct helper *place = NULL;
	int rc;

	for (size_t i = 0; i < HELPERS_MAX && !place; i++)
		place = h->v[i].fd < 0 ? &h->v[i] : NULL;
	if (!place)
		return err_set(err, ERR_LIMIT,
			       "%d commands of effects run already; let them end sooner",
			       HELPERS_MAX);
	if (h->null < 0)
		h->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (h->null < 0)
		return err_sys(err, "cannot open /dev/null");
	cmd.stdio[0] = cmd.stdio[1] = cmd.stdio[2] = h->null;
	rc = box_spawn(box, &cmd, &place->fd, NULL, err);
	if (rc < 0) {
		place->fd = -1;
		return rc;
	}
	place->program = mem_strdup(argv[0]);
	place->deadline = clock_mono() + HELPER_SECONDS * CLOCK_SEC;
	return 0;
}

static void note_end(struct sink *sink, uint32_t epoch, const struct helper *p, const char *how)
{
	struct buf *b = sink_begin(sink, TK_NOTE, 0, 0, 0, epoch);

	tracerec_str(b, "effect_command", p->program, strlen(p->program));
	tracerec_str(b, "end", how, strlen(how));
	sink_end(sink);
}

void helpers_poll(struct helpers *h, struct sink *sink, uint32_t epoch)
{
	for (size_t i = 0; i < HELPERS_MAX; i++) {
		struct helper *p = &h->v[i];
		struct err err = { 0 };
		int status = 0, rc;

		if (p->fd < 0)
			continue;
		rc = box_spawned(p->fd, p->program, 0, &status, &err);
		if (rc == 0 && clock_mono() < p->deadline)
			continue;
		note_end(sink, epoch, p,
			 rc == 0  ? "still running after a minute"
			 : rc < 0 ? err.text
			 : WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "ok"
									 : "failed");
		mem_close(&p->fd);
		free(p->program);
		p->program = NULL;
	}
}

bool helpers_running(const struct helpers *h)
{
	for (size_t i = 0; i < HELPERS_MAX; i++) {
		if (h->v[i].fd >= 0)
			return true;
	}
	return false;
}

void helpers_done(struct helpers *h)
{
	for (size_t i = 0; i < HELPERS_MAX; i++) {
		mem_close(&h->v[i].fd);
		free(h->v[i].program);
		h->v[i].program = NULL;
	}
	mem_close(&h->null);
}
