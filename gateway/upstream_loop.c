#include "gateway/upstream_internal.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/mem.h"

/* libcurl's sockets and timer in libevent's loop (curl_multi_socket_action(3)). */

static void take_finished(struct upstream *u)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(u->multi, &left))) {
		if (m->msg == CURLMSG_DONE)
			upstream_over(m->easy_handle, m->data.result);
	}
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
	struct upstream *u = arg;
	int running, bits = (what & EV_READ ? CURL_CSELECT_IN : 0) |
			    (what & EV_WRITE ? CURL_CSELECT_OUT : 0);

	(void)curl_multi_socket_action(u->multi, fd, bits, &running); /* results come as messages */
	take_finished(u);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct upstream *u = arg;
	int running;

	(void)fd;
	(void)what;
	(void)curl_multi_socket_action(u->multi, CURL_SOCKET_TIMEOUT, 0, &running); /* as above */
	take_finished(u);
}

/* libcurl wants to know about @fd (CURLMOPT_SOCKETFUNCTION(3)); @old is the event made before. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *arg, void *old)
{
	struct upstream *u = arg;
	struct event *ev = old;
	short bits = EV_PERSIST;

	(void)easy;
	if (ev)
		event_free(ev);
	if (what == CURL_POLL_REMOVE)
		return 0;
	bits |= what != CURL_POLL_OUT ? EV_READ : 0;
	bits |= what != CURL_POLL_IN ? EV_WRITE : 0;
	ev = event_new(u->base, fd, bits, on_socket, u);
	if (ev)
		event_add(ev, NULL);
	curl_multi_assign(u->multi, fd, ev);
	return ev ? 0 : -1;
}

static int set_timer(CURLM *multi, long ms, void *arg)
{
	struct upstream *u = arg;
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	(void)multi;
	if (ms < 0)
		return event_del(u->timer);
	return event_add(u->timer, &tv);
}

int upstream_loop_new(struct upstream *u, struct err *err)
{
	u->multi = curl_multi_init();
	u->timer = evtimer_new(u->base, on_timer, u);
	if (!u->multi || !u->timer)
		return err_set(err, ERR_SYS, "cannot make libcurl's part of the event loop");
	curl_multi_setopt(u->multi, CURLMOPT_SOCKETFUNCTION, watch);
	curl_multi_setopt(u->multi, CURLMOPT_SOCKETDATA, u);
	curl_multi_setopt(u->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(u->multi, CURLMOPT_TIMERDATA, u);
	curl_multi_setopt(u->multi, CURLMOPT_MAXCONNECTS, 16L);
	curl_multi_setopt(u->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 64L);
	return 0;
}

void upstream_loop_free(struct upstream *u)
{
	if (u->multi)
		curl_multi_cleanup(u->multi);
	if (u->timer)
		event_free(u->timer);
	u->multi = NULL;
	u->timer = NULL;
}
