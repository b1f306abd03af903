#include "gateway/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "gateway/inside_internal.h"
#include "gateway/net.h"

enum { READY_MS = 30000 };

bool gateway_needed(const struct plan *plan)
{
	return plan->model || plan->simulator || plan->profile->net != NET_NONE;
}

/* Wait for the first word. */
static int await_ready(struct gateway *g, struct err *err)
{
	uint64_t end = clock_mono() + READY_MS * CLOCK_MS;
	struct gw_msg m;
	int rc;

	while ((rc = gw_recv(&g->link, &m, err)) == 0) {
		struct pollfd p = { .fd = g->link.fd, .events = POLLIN };
		uint64_t now = clock_mono();

		if (now >= end)
			return err_set(err, ERR_SYS, "the gateway did not start within %d seconds",
				       READY_MS / 1000);
		(void)poll(&p, 1, (int)((end - now) / CLOCK_MS) + 1); /* EINTR: asked again */
	}
	if (rc < 0)
		return err_wrap(err, "starting the gateway");
	m.text[m.n < GW_TEXT_MAX ? m.n : GW_TEXT_MAX - 1] = '\0';
	/* A script or record that the user gave is read there. */
	if (m.type == GW_FAILED && m.v[0] == ERR_INPUT)
		return err_set(err, ERR_INPUT, "%s", m.text);
	if (m.type == GW_FAILED)
		return err_set(err, ERR_HOST, "the gateway cannot work: %s", m.text);
	if (m.text[0])
		snprintf(g->posture + strlen(g->posture), sizeof(g->posture) - strlen(g->posture),
			 "%s%s", strlen(g->posture) > 2 ? "; " : ": ", m.text);
	return 0;
}

static int put_key(int fd, const char *key, struct err *err)
{
	if (!key)
		key = "";
	if (strlen(key) >= KEY_MAX || fd_write_all(fd, key, strlen(key) + 1) < 0)
		return err_set(err, ERR_INPUT, "the model key is longer than %d bytes",
			       KEY_MAX - 1);
	return 0;
}

/* The keys go through a pipe, each with its NUL, not through memory that the box's first process was
 * copied from. */
static int key_pipe(const struct gateway_spec *spec, int *ret, struct err *err)
{
	auto_fd int in = -1;
	int p[2], rc;

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe for the gateway");
	in = p[1];
	*ret = p[0];
	rc = put_key(in, spec->key, err);
	return rc < 0 ? rc : put_key(in, spec->simulator_key, err);
}

static int spawn(const struct gateway_spec *spec, struct gateway *g, struct net_listeners *l,
		 struct err *err)
{
	auto_fd int key_fd = -1, ours = -1, theirs = -1;
	int sv[2], rc = key_pipe(spec, &key_fd, err);

	if (rc < 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sv) < 0)
		return err_sys(err, "cannot make a socket for the gateway");
	ours = sv[0];
	theirs = sv[1];
	g->pid = fork();
	if (g->pid == 0)
		inside_run(spec, l, theirs, key_fd);
	if (g->pid < 0)
		return err_sys(err, "cannot start the gateway");
	mem_close(&theirs); /* or its end would not be seen */
	gw_link_init(&g->link, take_fd(&ours), true);
	return await_ready(g, err);
}

int gateway_start(const struct gateway_spec *spec, struct gateway **ret, struct err *err)
{
	const struct plan *p = spec->plan;
	struct net_want want = {
		.model_port = p->model ? MODEL_PORT : 0,
		.dns = true,
		.relays = p->profile->net != NET_NONE,
		.rules = &p->rules,
	};
	struct gateway *g = mem_zalloc(1, sizeof(*g));
	struct net_listeners l;
	char missing[128] = "";
	int rc = net_listen(spec->user_fd, spec->net_fd, &want, &l, missing, err);

	g->link.fd = -1;
	if (rc == 0) {
		snprintf(g->posture, sizeof(g->posture), missing[0] ? "on: %.100s" : "on", missing);
		rc = spawn(spec, g, &l, err);
		net_listeners_done(&l);
	}
	if (rc < 0) {
		gateway_free(g, false);
		return rc;
	}
	*ret = g;
	return 0;
}

struct gateway *gateway_free(struct gateway *g, bool reaped)
{
	if (!g)
		return NULL;
	gw_link_done(&g->link);
	if (g->pid > 0 && !reaped) {
		/* Every record is on disk: nothing of it is lost. */
		(void)kill(g->pid, SIGKILL); /* may have ended by itself */
		while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(g);
	return NULL;
}
