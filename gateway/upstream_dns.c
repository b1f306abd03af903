#include "gateway/upstream_internal.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Addresses of the endpoint's name. libcurl would make a thread for each look-up; libevent asks the
 * name servers itself. */

enum { ADDRS_SECONDS = 60 };

static void add_addr(struct upstream *u, const struct evutil_addrinfo *ai)
{
	char text[INET6_ADDRSTRLEN];
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)(const void *)ai->ai_addr;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)(const void *)ai->ai_addr;
	bool v6 = ai->ai_family == AF_INET6;
	size_t n = strlen(u->addrs);

	if (!inet_ntop(ai->ai_family, v6 ? (const void *)&a6->sin6_addr : &a4->sin_addr, text,
		       sizeof(text)))
		return;
	snprintf(u->addrs + n, sizeof(u->addrs) - n, v6 ? "%s[%s]" : "%s%s", n ? "," : "", text);
}

/* Everything that waits for the name goes on, or fails. The list may change under way. */
static void go_on(struct upstream *u, const char *why)
{
	struct transfer *t;

	do {
		TAILQ_FOREACH(t, &u->list, link)
		{
			if (!t->easy)
				break;
		}
		if (t && why)
			upstream_fail(t, why);
		else if (t)
			upstream_start(t);
	} while (t);
}

static void on_addrs(int rc, struct evutil_addrinfo *res, void *arg)
{
	struct lookup *l = arg;
	struct upstream *u = l->u;
	char why[256];
	unsigned n = 0;

	free(l);
	if (!u) {
		if (res)
			evutil_freeaddrinfo(res);
		return;
	}
	u->lookup = NULL;
	u->addrs[0] = '\0';
	for (struct evutil_addrinfo *ai = res; ai && n < UPSTREAM_ADDRS_MAX; ai = ai->ai_next) {
		if (ai->ai_family != AF_INET && ai->ai_family != AF_INET6)
			continue;
		add_addr(u, ai);
		n++;
	}
	if (res)
		evutil_freeaddrinfo(res);
	u->addrs_until = clock_mono() + ADDRS_SECONDS * CLOCK_SEC;
	snprintf(why, sizeof(why), "the name %.150s cannot be resolved: %s", u->at.host,
		 rc ? evutil_gai_strerror(rc) : "it has no address");
	go_on(u, n ? NULL : why);
}

static void look_up(struct upstream *u)
{
	struct evutil_addrinfo hints = { .ai_family = AF_UNSPEC,
					 .ai_socktype = SOCK_STREAM,
					 .ai_protocol = IPPROTO_TCP };
	struct lookup *l = mem_zalloc(1, sizeof(*l));
	struct evdns_getaddrinfo_request *req;

	l->u = u;
	u->lookup = l;
	/* May call back at once; @l is gone then, and u->lookup empty. */
	req = evdns_getaddrinfo(u->dns, u->at.host, NULL, &hints, on_addrs, l);
	if (req && u->lookup == l)
		l->req = req;
}

void upstream_resolve(struct upstream *u, struct transfer *t)
{
	if (strcasecmp(u->at.host, "localhost") == 0)
		snprintf(u->addrs, sizeof(u->addrs), "127.0.0.1,[::1]");
	else if (!u->at.address && (!u->addrs[0] || clock_mono() > u->addrs_until)) {
		if (!u->dns)
			upstream_fail(t, "there is no resolver for the endpoint's name");
		else if (!u->lookup)
			look_up(u);
		return;
	}
	upstream_start(t);
}

void upstream_resolve_stop(struct upstream *u)
{
	struct lookup *l = u->lookup;

	if (!l)
		return;
	l->u = NULL;
	u->lookup = NULL;
	if (l->req)
		evdns_getaddrinfo_cancel(l->req); /* calls back later, which frees @l */
}
