/* The gateway's server and live endpoint without box and supervisor: for the benchmark and for hostile
 * clients. usage: gwserve URL stream|buffered RECORD. Prints "port N", ends with its input. */
#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/server.h"
#include "gateway/upstream.h"

/* Stands for the supervisor: everything may go, at once. */
static void on_request(void *arg, const struct server_request *r)
{
	server_go(*(struct server **)arg, r->call);
}

static void on_answer(void *arg, const struct server_answer *a)
{
	server_ack(*(struct server **)arg, a->call);
}

static void on_placed(void *arg, uint64_t call, const struct placed *p)
{
	(void)arg;
	(void)call;
	(void)p;
}

static void on_stripped(void *arg, uint64_t call, const char *what, bool refused)
{
	(void)arg;
	(void)call;
	(void)what;
	(void)refused;
}

static void on_tool(void *arg, uint64_t call, const char *name, const struct tooluse *u)
{
	(void)arg;
	(void)call;
	(void)name;
	(void)u;
}

static void on_spent(void *arg, uint64_t call, enum limit_kind kind, uint64_t used, uint64_t limit)
{
	(void)arg;
	(void)call;
	(void)kind;
	(void)used;
	(void)limit;
}

static void on_route(void *arg, const char *method, const char *path)
{
	(void)arg;
	fprintf(stderr, "no route: %s %s\n", method, path);
}

static void on_text(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s\n", text);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
	char c[64];

	(void)what;
	if (read(fd, c, sizeof(c)) <= 0)
		event_base_loopexit(arg, NULL);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	struct profile profile = { .model_timeout = 60 * CLOCK_SEC, .pin = PIN_OFF };
	struct agent agent = { 0 };
	struct prices prices = { 0 };
	char model[] = "model";
	struct plan plan = {
		.profile = &profile, .agent = &agent, .prices = &prices, .model_name = model
	};
	struct server *server = NULL;
	struct server_ops ops = {
		.request = on_request,
		.placed = on_placed,
		.stripped = on_stripped,
		.tool = on_tool,
		.answer = on_answer,
		.spent = on_spent,
		.route = on_route,
		.mismatch = on_text,
		.failed = on_text,
		.unmet = on_text,
		.arg = &server,
	};
	struct server_spec spec = {
		.base = event_base_new(), .plan = &plan, .ops = &ops, .start = clock_mono()
	};
	struct upstream_spec up = { .base = spec.base,
				    .api = api_of(AGENT_API_CHAT),
				    .key = "sk-bench",
				    .timeout = profile.model_timeout };
	struct event *input = event_new(spec.base, 0, EV_READ | EV_PERSIST, on_input, spec.base);
	struct err err = { 0 };

	if (argc != 4 || !input || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return 2;
	up.url = argv[1];
	profile.delivery = strcmp(argv[2], "stream") == 0 ? DELIVERY_STREAM : DELIVERY_BUFFERED;
	spec.record_fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	spec.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (spec.record_fd < 0 || bind(spec.listen_fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(spec.listen_fd, 512) < 0 ||
	    getsockname(spec.listen_fd, (struct sockaddr *)&at, &len) < 0)
		return 1;
	event_add(input, NULL);
	if (upstream_open(&up, &spec.source, &err) < 0 || server_new(&spec, &server, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("port %u\n", ntohs(at.sin_port));
	fflush(stdout);
	event_base_dispatch(spec.base);
	server_free(server);
	event_free(input);
	event_base_loop(spec.base, EVLOOP_NONBLOCK); /* what closes later */
	event_base_free(spec.base);
	return 0;
}
