#include "services/proc.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "gateway/net.h"
#include "services/serve_internal.h"

static int parse(const char *json, struct services_proc *p, struct err *err)
{
	struct json_src src = { 0 };
	const cJSON *item;
	unsigned servers = 0;
	int rc = json_parse("the scenario's services", json, strlen(json), &src, err);

	if (rc < 0)
		return rc;
	cJSON_ArrayForEach (item, src.root) {
		auto_free char *where = mem_printf("$.services[%zu]", p->n);

		if (rc == 0 && p->n == SERVICES_MAX)
			rc = json_complain(&src, where, err, "more than %u services", SERVICES_MAX);
		if (rc < 0)
			break;
		rc = service_new(&src, where, item, &p->service[p->n], err);
		p->n += rc == 0;
	}
	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		servers += service_relayed(p->service[i]);
		if (servers > 1)
			rc = json_complain(
				&src, "$.services", err,
				"one postgresql at most; a server can have several roles "
				"and schemas");
		for (size_t k = 0; rc == 0 && k < i; k++) {
			if (service_port(p->service[i]) == service_port(p->service[k]) ||
			    strcmp(service_name(p->service[i]), service_name(p->service[k])) == 0)
				rc = json_complain(&src, "$.services", err,
						   "\"%s\" has the name or port of another",
						   service_name(p->service[i]));
		}
	}
	json_src_done(&src);
	return rc;
}

int services_proc_check(const char *json, struct err *err)
{
	struct services_proc *p = mem_zalloc(1, sizeof(*p));
	int rc;

	p->fd = -1;
	rc = parse(json, p, err);
	services_proc_free(p, true);
	return rc;
}

/* In the child; does not return. */
static void child(struct services_proc *p, const struct net_listeners *l,
		  const struct services_place *place, int fd)
{
	int listener[SERVICES_MAX];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* cannot fail: prctl(2) */
	for (size_t i = 0; i < p->n; i++) {
		listener[i] = -1;
		for (size_t k = 0; k < l->n_port; k++) {
			if (l->port_number[k] == service_port(p->service[i]))
				listener[i] = l->port[k];
		}
	}
	/* As root the network alone: who the process is is for confine() to change. An ordinary user has the right to
	 * enter it in its user namespace only. */
	if (place->server_net >= 0 && setns(place->server_net, CLONE_NEWNET) < 0 &&
	    (setns(place->server_user, CLONE_NEWUSER) < 0 ||
	     setns(place->server_net, CLONE_NEWNET) < 0))
		serve_failed(fd, "cannot enter the network of the server");
	serve(p->service, listener, p->n, fd);
	_exit(0);
}

static int spawn(struct services_proc *p, const struct net_listeners *l,
		 const struct services_place *place, struct err *err)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return err_sys(err, "cannot make a socket for the services");
	p->pid = fork();
	if (p->pid == 0) {
		close(sv[0]);
		child(p, l, place, sv[1]);
	}
	close(sv[1]);
	p->fd = sv[0];
	return p->pid < 0 ? err_sys(err, "cannot start the services' process") : 0;
}

/* Its first word, within SVC_WAIT_MS. */
static int ready(struct services_proc *p, struct err *err)
{
	struct pollfd pf = { .fd = p->fd, .events = POLLIN };
	struct svc_msg m;
	int rc;

	do
		rc = poll(&pf, 1, SVC_WAIT_MS);
	while (rc < 0 && errno == EINTR);
	if (rc != 1)
		return err_set(err, ERR_HOST, "the services did not begin within %d seconds",
			       SVC_WAIT_MS / 1000);
	rc = services_proc_recv(p, &m, err);
	if (rc < 0)
		return rc;
	if (m.type == SVC_FAILED)
		return err_set(err, m.v[0] == ERR_INPUT ? ERR_INPUT : ERR_HOST,
			       "the services: %.900s", m.text);
	snprintf(p->missing, sizeof(p->missing), "%.120s", m.text);
	return 0;
}

int services_proc_start(const char *json, const struct services_place *place,
			struct services_proc **ret, struct err *err)
{
	struct services_proc *p = mem_zalloc(1, sizeof(*p));
	struct net_want want = { 0 };
	struct net_listeners l;
	char missing[128];
	int rc;

	p->fd = -1;
	rc = parse(json, p, err);
	for (size_t i = 0; i < p->n; i++)
		want.loopback[want.n_loopback++] = service_port(p->service[i]);
	if (rc == 0)
		rc = net_listen(place->user_fd, place->net_fd, &want, &l, missing, err);
	if (rc == 0) {
		rc = spawn(p, &l, place, err);
		net_listeners_done(&l);
	}
	if (rc == 0)
		rc = ready(p, err);
	if (rc < 0)
		services_proc_free(p, false);
	else
		*ret = p;
	return rc;
}

int services_proc_recv(struct services_proc *p, struct svc_msg *m, struct err *err)
{
	ssize_t n;

	do
		n = recv(p->fd, m, sizeof(*m), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return err_set(err, ERR_CHILD, "the services' process is gone");
	/* It talks with the agent, so it may have become the agent's. */
	if (n != (ssize_t)sizeof(*m) || m->n >= SVC_TEXT_MAX || m->type < SVC_READY ||
	    m->type > SVC_FAILED ||
	    (m->type != SVC_READY && m->type != SVC_PONG && m->type != SVC_FAILED &&
	     m->type != SVC_CHANGED && m->v[0] >= p->n))
		return err_set(err, ERR_REFUSED,
			       "the services' process broke the form of messages");
	m->text[m->n] = '\0';
	return 1;
}

void services_proc_send(struct services_proc *p, struct svc_msg *m)
{
	(void)send(p->fd, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

const char *services_proc_text(const struct svc_msg *m, enum svc_part part)
{
	const char *s = m->text, *end = m->text + m->n;

	for (int i = 0; i < (int)part && s < end; i++)
		s += strnlen(s, (size_t)(end - s)) + 1;
	return s < end ? s : "";
}

struct services_proc *services_proc_free(struct services_proc *p, bool reaped)
{
	if (!p)
		return NULL;
	mem_close(&p->fd);
	if (p->pid > 0 && !reaped) {
		(void)kill(p->pid, SIGKILL); /* may have ended by itself */
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t i = 0; i < p->n; i++)
		service_free(p->service[i]);
	free(p);
	return NULL;
}
