/* Handlers of the gateway's messages: shared by gw*.c only. */
#ifndef SUPERVISOR_GWLINK_INTERNAL_H
#define SUPERVISOR_GWLINK_INTERNAL_H

#include "gateway/msg.h"
#include "supervisor/sup.h"

/* The model's side (gwmodel.c). Messages were checked against the table. */
void gwmodel_request(struct sup *s, const struct gw_msg *m);
void gwmodel_main(struct sup *s, const struct gw_msg *m);     /* a main request that waited */
void gwmodel_placed(struct sup *s, const struct gw_msg *m);   /* see gwmodel_request() */
void gwmodel_stripped(struct sup *s, const struct gw_msg *m); /* see gwmodel_request() */
void gwmodel_tool(struct sup *s, const struct gw_msg *m);     /* see gwmodel_request() */
void gwmodel_answer(struct sup *s, const struct gw_msg *m);   /* see gwmodel_request() */
void gwmodel_spent(struct sup *s, const struct gw_msg *m);    /* see gwmodel_request() */
void gwmodel_route(struct sup *s, const struct gw_msg *m);    /* see gwmodel_request() */
void gwmodel_mismatch(struct sup *s, const struct gw_msg *m); /* see gwmodel_request() */
void gwmodel_unmet(struct sup *s, const struct gw_msg *m);    /* see gwmodel_request() */

/* The simulated user's side (gwsim.c). */
void gwsim_last(struct sup *s, const struct gw_msg *m);
void gwsim_said(struct sup *s, const struct gw_msg *m);      /* see gwsim_last() */
void gwsim_simulated(struct sup *s, const struct gw_msg *m); /* see gwsim_last() */

/* Main request @m has come: messages that wait for it are asked for. True when it has to wait until they
 * are there, and is answered then. */
bool gwsim_request(struct sup *s, const struct gw_msg *m);

/* The network's side (gwnet.c). */
void gwnet_dns(struct sup *s, const struct gw_msg *m);
void gwnet_connect(struct sup *s, const struct gw_msg *m); /* see gwnet_dns() */
void gwnet_closed(struct sup *s, const struct gw_msg *m);  /* see gwnet_dns() */

/* The @i-th NUL-terminated string of @m's text, "" when there are fewer. Cut strings end with the
 * text. */
const char *gwlink_text(const struct gw_msg *m, unsigned i, char out[GW_TEXT_MAX + 1]);

/* Answer @m, which waits. */
void gwlink_reply(struct sup *s, const struct gw_msg *m, enum gw_type type);

/* Count a refusal and write its `deny` record for process @p (NULL: not known). */
void gwlink_deny(struct sup *s, struct process *p, const char *what, const char *rule);

/* End the run as an error with @text. */
void gwlink_error(struct sup *s, enum err_code code, const char *text);

#endif
