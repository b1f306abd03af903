/* The process that the side services of a run live in: confined as the gateway is, with listeners inside the box's
 * network namespace at 127.0.0.1, and one socket to the supervisor. Every request is told before it is answered, so
 * that the record has the order in which things happened. */
#ifndef SERVICES_PROC_H
#define SERVICES_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "services/service.h"

enum { SVC_TEXT_MAX = 4000, SVC_WAIT_MS = 5000 };

enum svc_type {
	SVC_READY = 1, /* to the supervisor: confined and listening; text = what the kernel lacks */
	SVC_REQUEST, /* v = service, code, mutating, source port; text = strings, see svc_part; waits for
			* SVC_GO */
	SVC_CHANGED, /* the answer to SVC_CHANGE: v[0] = 0 done, 1 not; text = why not */
	SVC_SUMMARY, /* the answers to SVC_BYE, one each: v = service; text = JSON object */
	SVC_PONG,    /* the answer to SVC_PING */
	SVC_FAILED,  /* v[0] = code of the error; text = why; it exits */
	SVC_GO,      /* to the process: the answer may go */
	SVC_CHANGE,  /* v = service; text = JSON object of the effect */
	SVC_BYE,     /* say the summaries and exit */
	SVC_PING,    /* are you there? */
};

/* Strings of SVC_REQUEST. SVC_EVENT: "" is "request". */
enum svc_part {
	SVC_METHOD,
	SVC_PATH,
	SVC_ROUTE,
	SVC_SESSION,
	SVC_VERSION,
	SVC_WHAT,
	SVC_EVENT,
	SVC_PARTS
};

struct svc_msg {
	uint32_t type, n;
	uint64_t v[4];
	char text[SVC_TEXT_MAX];
};

struct services_proc {
	pid_t pid;
	int fd; /* SEQPACKET; owned */
	struct service *service
		[SERVICES_MAX]; /* owned: as declared, for names; their state is the process's */
	size_t n;
	char missing[128];
};

/* Namespaces for services_proc_start(), lent; -1 = none. */
struct services_place {
	int user_fd, net_fd; /* of the box that they are served in */
	int server_user,
		server_net; /* of the box of a server: the process lives in its network, so that it reaches
				      * that and nothing else */
};

/* Start the services that @json (array text of the scenario) declares. 0, -ERR_INPUT for a bad declaration, -ERR_HOST when a port cannot be had. Free with
 * services_proc_free(). */
int services_proc_start(const char *json, const struct services_place *place,
			struct services_proc **ret, struct err *err);

/* Only check the declarations. 0 or -ERR_INPUT. */
int services_proc_check(const char *json, struct err *err);

/* Receive one message. 1, 0 = none at present, negative = the process is gone or broke the form. */
int services_proc_recv(struct services_proc *p, struct svc_msg *m, struct err *err);

/* Send one; what the socket does not take is lost, and the process ends the wait by itself. */
void services_proc_send(struct services_proc *p, struct svc_msg *m);

/* End the process (@reaped: it has ended), free. NULL is fine. Returns NULL. */
struct services_proc *services_proc_free(struct services_proc *p, bool reaped);

/* String @part of a SVC_REQUEST, "" when it is not there. Borrowed. */
const char *services_proc_text(const struct svc_msg *m, enum svc_part part);

#endif
