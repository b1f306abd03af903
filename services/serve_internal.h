/* The inside of the services' process. */
#ifndef SERVICES_SERVE_INTERNAL_H
#define SERVICES_SERVE_INTERNAL_H

#include <stddef.h>

#include "services/service.h"

/* Confine ourselves, say SVC_READY on @fd, and answer at the listeners until SVC_BYE or the other end is gone. */
void serve(struct service **service, const int *listener, size_t n, int fd);

/* Say on @fd that it could not begin, and exit. */
_Noreturn void serve_failed(int fd, const char *why);

#endif
