/* net.c, net_listen.c, relay.c, dns_serve.c as one: a box's net namespace, the gateway's part in another, the
 * world in a third one (net_scene.h). Clients speak to the kernel and to 127.0.0.1:53 only, as any
 * program in a box does. */
#include "gateway/net.h"

#include <linux/netlink.h>
#include <netinet/tcp.h>
#include <seccomp.h>

#include "tests/lib/tap.h"
#include "tests/unit/gateway/net_client.h"
#include "tests/unit/gateway/net_scene.h"

enum { MANY = 1000, FLOOD = 100000 };

/* One gateway's part with its box. */
struct stand {
	struct event_base *base;
	struct nsbox box;
	struct netrules rules;
	struct net_listeners l;
	struct net *net;
	char missing[128];
	unsigned dns, connects, closed;
	bool allowed;
	char rule[512], addr[64], name[256], dns_rule[512];
	uint64_t in, out;
};

static void on_dns(void *arg, const char *name, uint16_t qtype, bool allowed, const char *rule,
		   uint16_t source_port, bool tcp)
{
	struct stand *s = arg;

	(void)name, (void)qtype, (void)allowed, (void)source_port, (void)tcp;
	s->dns++;
	snprintf(s->dns_rule, sizeof(s->dns_rule), "%s", rule);
}

static void on_connect(void *arg, const char *name, const char *addr, uint16_t port, bool allowed,
		       const char *rule, uint16_t source_port)
{
	struct stand *s = arg;

	(void)port, (void)source_port;
	s->connects++;
	s->allowed = allowed;
	snprintf(s->rule, sizeof(s->rule), "%s", rule);
	snprintf(s->addr, sizeof(s->addr), "%s", addr);
	snprintf(s->name, sizeof(s->name), "%s", name);
}

static void on_closed(void *arg, const char *name, uint64_t out, uint64_t in, uint64_t ns)
{
	struct stand *s = arg;

	(void)name, (void)ns;
	s->closed++;
	s->in = in;
	s->out = out;
}

static bool stand_new(struct stand *s, enum net_mode mode, const char *const *rules)
{
	const struct net_ops ops = { on_dns, on_connect, on_closed, s };
	struct net_want want = { .model_port = 4000, .dns = true, .relays = mode != NET_NONE };
	auto_strv hosts = { 0 };
	struct err err = { 0 };

	*s = (struct stand){ .base = event_base_new() };
	for (; *rules; rules++)
		strv_add(&hosts, *rules);
	want.rules = &s->rules;
	return tap_ok(netrules_parse(&hosts, &s->rules, &err) == 0 &&
			      nsbox_start(&s->box, CLONE_NEWUSER | CLONE_NEWNET, NULL, NULL) == 0,
		      "a box %s", err.text) &&
	       tap_ok(net_listen(s->box.user_fd, s->box.net_fd, &want, &s->l, s->missing, &err) ==
			      0,
		      "listeners in it %s", err.text) &&
	       tap_ok(net_new(s->base, &s->l, mode, &s->rules, &ops, &s->net, &err) == 0,
		      "served %s", err.text);
}

static void stand_done(struct stand *s)
{
	nsbox_end(&s->box);
	tap_ok(net_free(s->net) == NULL, "freed");
	net_listeners_done(&s->l);
	event_base_loop(s->base, EVLOOP_NONBLOCK);
	event_base_free(s->base);
	netrules_done(&s->rules);
}

static void on_result(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	event_base_loopbreak(arg);
}

static const char *run(struct stand *s, void (*fn)(struct client *), const char *name,
		       uint16_t port)
{
	static char result[256];
	struct event *done;
	int p[2];
	pid_t pid;
	ssize_t n;

	if (pipe2(p, O_CLOEXEC) < 0)
		return "no pipe";
	pid = fork();
	if (pid == 0) {
		struct client c = { name, port, result };

		result[0] = '\0';
		alarm(60);
		if (nsbox_enter(&s->box) < 0)
			_exit(1);
		fn(&c);
		if (write(p[1], result, strlen(result)) < 0)
			_exit(1);
		_exit(0);
	}
	close(p[1]);
	done = event_new(s->base, p[0], EV_READ, on_result, s->base);
	event_add(done, NULL);
	event_base_dispatch(s->base);
	event_free(done);
	n = read(p[0], result, sizeof(result) - 1);
	result[n > 0 ? n : 0] = '\0';
	close(p[0]);
	waitpid(pid, NULL, 0);
	/* What the client's end set off. */
	event_base_loop(s->base, EVLOOP_NONBLOCK);
	return n > 0 ? result : "died";
}

/* Serve until @cond; bounded by alarm(2). */
#define serve_until(s, cond)                                                                       \
	do {                                                                                       \
		while (!(cond))                                                                    \
			event_base_loop((s)->base, EVLOOP_ONCE);                                   \
	} while (0)

static const char *const allow_rules[] = {
	"echo.example:7000",  "*.multi.example",   "only6.example",        "private.example",
	"noprivate.example",  "loop.example",      "meta.example",         "meta2.example",
	"own.example",        "mapped.example",    "nat64.example",        "mixed.example",
	"second.example",     "empty.example",     "gone.example",         "hosts.example",
	"10.20.30.0/24:7000", "198.51.100.8:7001", "[2001:db8:1::7]:7000", NULL
};

/* clang-format off */
static const struct {
	const char *name;
	uint16_t port;
	const char *result, *rule; /* NULL: nothing was told */
	const char *addr;
} allow_rows[] = {
	{ "echo.example",      7000, "ping", "network.hosts: echo.example:7000", "198.51.100.7" },
	{ "ECHO.eXample",      7000, "ping", "network.hosts: echo.example:7000", "198.51.100.7" },
	{ "echo.example",      7001, "reset", "network.hosts: no rule for echo.example at port 7001" },
	{ "any.multi.example", 7001, "ping", "network.hosts: *.multi.example", "198.51.100.7" },
	{ "multi.example",     7001, "no such name", NULL },
	{ "evil.example",      7000, "no such name", NULL },
	{ "only6.example",     7000, "ping", "network.hosts: only6.example", "2001:db8:1::7" },
	{ "private.example",   7000, "ping", "network.hosts: private.example", "10.20.30.40" },
	{ "private.example",   7001, "reset", "address 10.20.30.40 is private" },
	{ "noprivate.example", 7000, "reset", "address 10.9.9.9 is private" },
	{ "loop.example",      7000, "reset", "address ::1 is loopback" },
	{ "meta.example",      7000, "reset", "address 169.254.169.254 is link-local" },
	{ "meta2.example",     7000, "reset", "address 100.100.100.200 is metadata service" },
	{ "own.example",       7000, "reset", "address 203.0.113.1 is own interface" },
	{ "mapped.example",    7000, "reset", "address 127.0.0.1 is loopback" },
	{ "nat64.example",     7000, "reset", "address 64:ff9b::7f00:1 is loopback" },
	{ "mixed.example",     7000, "ping", "network.hosts: mixed.example", "198.51.100.7" },
	{ "second.example",    7000, "ping", "network.hosts: second.example", "203.0.113.2" },
	{ "second.example",    9999, "reset", "network.hosts: second.example", "203.0.113.2" },
	{ "empty.example",     7000, "reset", "the name has no address outside, or nobody told it", "" },
	{ "gone.example",      7000, "reset", "the name does not exist outside", "" },
	{ "hosts.example",     7000, "ping", "network.hosts: hosts.example", "198.51.100.7" },
	{ "10.20.30.40",       7000, "ping", "network.hosts: 10.20.30.0/24:7000", "10.20.30.40" },
	{ "10.20.30.40",       7001, "reset", "address 10.20.30.40 is private" },
	{ "198.51.100.8",      7001, "ping", "network.hosts: 198.51.100.8:7001", "198.51.100.8" },
	{ "198.51.100.8",      7000, "reset", "network.hosts: no rule for 198.51.100.8 at port 7000" },
	{ "198.51.100.7",      7000, "reset", "network.hosts: no rule for 198.51.100.7" },
	{ "2001:db8:1::7",     7000, "ping", "network.hosts: [2001:db8:1::7]:7000", "2001:db8:1::7" },
	{ "2001:db8:1::8",     7000, "reset", "network.hosts: no rule for 2001:db8:1::8" },
	{ "169.254.169.254",   80,   "reset", "address 169.254.169.254 is link-local" },
	{ "::ffff:169.254.169.254", 80, "reset", NULL }, /* told already: the same address */
	{ "64:ff9b::a9fe:a9fe", 80,  "reset", "address 64:ff9b::a9fe:a9fe is link-local" },
	{ "127.64.200.200",    7000, "reset", "the address was given to no name" },
	{ "127.0.0.1",         7000, "ECONNREFUSED", NULL }, /* the box's own loopback */
	{ "127.200.0.1",       7000, "ECONNREFUSED", NULL },
	{ "::1",               7000, "ECONNREFUSED", NULL },
};
/* clang-format on */

/* Does a refused connection look refused? RST may come before connect(2) looks or after. */
static bool like(const char *got, const char *want)
{
	return strcmp(got, want) == 0 ||
	       (strcmp(want, "reset") == 0 && strcmp(got, "ECONNREFUSED") == 0);
}

static void allowlist(struct stand *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(allow_rows); i++) {
		const char *want = allow_rows[i].result, *got;

		s->rule[0] = s->addr[0] = '\0';
		s->connects = 0;
		got = run(s, ping, allow_rows[i].name, allow_rows[i].port);
		tap_ok(like(got, want), "%s at %u: %s, should be %s", allow_rows[i].name,
		       allow_rows[i].port, got, want);
		tap_is_str(s->rule, allow_rows[i].rule ? allow_rows[i].rule : "", "the rule");
		tap_ok(s->connects == (allow_rows[i].rule != NULL), "told once");
		if (allow_rows[i].addr)
			tap_is_str(s->addr, allow_rows[i].addr, "the address");
	}
}

/* Break the connection. */
static void break_it(struct client *c)
{
	int fd = dial(c);

	if (fd >= 0 && send(fd, "x", 1, 0) == 1) {
		relay_reset(fd);
		strcpy(c->result, "broken");
	}
}

static char news(void)
{
	char c = '?';

	return read(outside->news[0], &c, 1) == 1 ? c : '?';
}

/* Take nothing until the source cannot send any more, then all. */
static void brake(struct client *c)
{
	static char block[65536];
	int fd = dial(c);
	size_t got = 0;
	ssize_t n;

	if (fd < 0 || news() != 's')
		return;
	while ((n = recv(fd, block, sizeof(block), 0)) > 0)
		got += (size_t)n;
	sprintf(c->result, "%zu %s", got, n == 0 ? "end" : "error");
}

static uint64_t peak_kib(void)
{
	auto_free char *line = NULL;
	uint64_t kib = 0;
	size_t cap = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && getline(&line, &cap, f) > 0)
		(void)sscanf(line, "VmHWM: %" SCNu64, &kib);
	if (f)
		fclose(f);
	return kib;
}

static void streams(struct stand *s)
{
	uint64_t before;

	tap_is_str(run(s, half_close, "any.multi.example", ECHO), "307200 same end",
		   "300 KiB there and back, both ends closed in turn");
	tap_ok(s->in == 307200 && s->out == 307200, "bytes are counted: %" PRIu64 " %" PRIu64,
	       s->out, s->in);
	tap_is_str(run(s, end_first, "any.multi.example", COUNTER), "100000",
		   "a half-close is passed on, the answer comes after it");
	tap_is_str(run(s, ping, "any.multi.example", BREAKER), "reset", "the server's RST arrives");
	s->closed = 0;
	tap_is_str(run(s, break_it, "any.multi.example", WATCHER), "broken",
		   "the client breaks off");
	serve_until(s, s->closed);
	tap_ok(news() == 'r', "the server sees a broken connection, not an end");
	(void)nsbox_write("/proc/self/clear_refs", "5");
	before = peak_kib();
	s->closed = 0;
	tap_is_str(run(s, brake, "any.multi.example", SOURCE), "33554432 end",
		   "a client that does not read brakes the source");
	serve_until(s, s->closed);
	tap_ok(peak_kib() < before + 8192, "memory stays: %" PRIu64 " KiB before, %" PRIu64, before,
	       peak_kib());
	tap_is_u64(s->in, SOURCE_BYTES, "all bytes came");
}

static void many(struct client *c)
{
	int fd[MANY], good = 0;
	char x;

	for (int i = 0; i < MANY; i++) {
		fd[i] = dial(c);
		if (fd[i] < 0 || send(fd[i], "x", 1, MSG_NOSIGNAL) != 1)
			return;
	}
	for (int i = 0; i < MANY; i++)
		good += recv(fd[i], &x, 1, 0) == 1 && x == 'x';
	sprintf(c->result, "%d answered", good);
}

static void loopback(struct client *c)
{
	static const char *const addr[] = { "127.0.0.1", "127.5.5.5", "127.200.0.1", "::1" };

	for (size_t i = 0; i < ARRAY_SIZE(addr); i++) {
		struct client one = { addr[i], 5555, c->result };
		struct sockaddr_storage at;
		int on = 1, server, fd;
		socklen_t n;

		resolve(addr[i], &at, &n, 5555);
		server = socket(at.ss_family, SOCK_STREAM, 0);
		setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(server, (struct sockaddr *)&at, n) < 0 || listen(server, 1) < 0)
			return;
		fd = dial(&one);
		if (fd < 0 || accept(server, NULL, NULL) < 0)
			return;
		close(fd);
		close(server);
	}
	strcpy(c->result, "own servers work");
}

/* Datagrams that the answerer's socket has no room for are lost, as everywhere; what counts is that a
 * client that asks again, as all do, is answered. */
static void flood(struct client *c)
{
	int fd = at53(SOCK_DGRAM), again = at53(SOCK_DGRAM);
	struct pollfd p = { again, POLLIN, 0 };
	uint8_t m[512];

	for (unsigned i = 0; i < FLOOD; i++) {
		char name[64];

		sprintf(name, "n%u.%s", i, i % 2 ? "multi.example" : "denied.example");
		if (send(fd, m, question(m, name, DNSQ_A), 0) < 0 && errno != ECONNREFUSED)
			return;
		while (recv(fd, m, sizeof(m), MSG_DONTWAIT) > 0)
			;
	}
	for (unsigned i = 0; i < 30; i++) {
		if (send(again, m, question(m, c->name, DNSQ_A), 0) < 0)
			return;
		if (poll(&p, 1, 1000) == 1 && recv(again, m, sizeof(m), 0) > 12 && m[7] == 1) {
			strcpy(c->result, "still answers");
			return;
		}
	}
}

static void rest(struct stand *s)
{
	struct rlimit lim;
	uint64_t before;

	getrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_cur < 2 * MANY + 200) {
		tap_skip("many connections", "nofile: the limit of open files is too low");
	} else {
		s->closed = 0;
		tap_is_str(run(s, many, "any.multi.example", ECHO), "1000 answered",
			   "a thousand connections at once");
		serve_until(s, s->closed == MANY);
		tap_is_u64(s->closed, MANY, "all ended");
	}
	tap_is_str(run(s, loopback, "", 0), "own servers work", "the box's own loopback");
	tap_is_str(run(s, udp, "198.51.100.7", 443), "ECONNREFUSED", "UDP to an address");
	tap_is_str(run(s, udp, "2001:db8:1::7", 443), "ECONNREFUSED", "UDP to an IPv6 address");
	tap_is_str(run(s, udp, "echo.example", 443), "ECONNREFUSED", "UDP to a name");
	tap_is_str(run(s, dns_tcp, "", 0), "3 answers, then the end", "DNS by TCP");
	before = peak_kib();
	s->dns = 0;
	tap_is_str(run(s, flood, "echo.example", 0), "still answers", "a flood of 100,000 queries");
	tap_ok(peak_kib() < before + (32 << 10), "memory stays: %" PRIu64 " KiB before, %" PRIu64,
	       before, peak_kib());
	tap_ok(s->dns <= FLOOD / 2 + ONCE_MAX, "%u told", s->dns);
}

static void stopped(struct stand *s)
{
	unsigned before = outside->accepted[0];

	net_stop(s->net);
	tap_ok(like(run(s, ping, "echo.example", ECHO), "reset"), "after the stop all is refused");
	tap_is_u64(outside->accepted[0], before, "and nobody is asked");
}

static void public_mode(struct stand *s)
{
	/* clang-format off */
	static const struct {
		const char *name;
		uint16_t port;
		const char *result, *rule;
	} rows[] = {
		{ "any.multi.example", 7000, "ping", "network.mode public" },
		{ "198.51.100.7",      7000, "ping", "network.mode public" },
		{ "2001:db8:1::7",     7000, "ping", "network.mode public" },
		{ "private.example",   7000, "ping", "network.mode public" },
		{ "noprivate.example", 7000, "reset", "address 10.9.9.9 is private" },
		{ "10.9.9.9",          7000, "reset", NULL },
		{ "loop.example",      7000, "reset", "address ::1 is loopback" },
		{ "own.example",       7000, "reset", "address 203.0.113.1 is own interface" },
		{ "169.254.169.254",   80,   "reset", "address 169.254.169.254 is link-local" },
		{ "127.1",             7000, "no such name", NULL },
		{ "0x7f000001",        7000, "no such name", NULL },
		{ "2130706433",        7000, "no such name", NULL },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *got;

		s->rule[0] = '\0';
		got = run(s, ping, rows[i].name, rows[i].port);
		tap_ok(like(got, rows[i].result), "public: %s at %u: %s", rows[i].name,
		       rows[i].port, got);
		if (rows[i].rule)
			tap_is_str(s->rule, rows[i].rule, "the rule");
	}
}

static void no_network(struct stand *s)
{
	unsigned before = outside->asked;

	tap_is_str(run(s, ping, "echo.example", 7000), "no such name", "no network: no names");
	tap_is_str(s->dns_rule, "network.mode no-network", "the rule");
	tap_is_str(run(s, ping, "198.51.100.7", 7000), "ENETUNREACH", "no network: no addresses");
	tap_is_str(run(s, ping, "127.64.0.1", 7000), "ECONNREFUSED", "no network: no relays");
	tap_is_u64(outside->asked, before, "no question went out");
	tap_ok(s->l.model[0] >= 0 && s->l.redirected4 < 0, "the model's listener is there");
}

/* socket(AF_NETLINK, ..., NETLINK_NETFILTER) fails as it does without CONFIG_NETFILTER_NETLINK. For
 * good: the last of the tests. */
static void without_nft(void)
{
	static const char *const rules[] = { "*.multi.example:7000", "198.51.100.8:7001",
					     "echo.example", NULL };
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	struct stand s;

	tap_ok(ctx &&
		       seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2,
					SCMP_A0(SCMP_CMP_EQ, AF_NETLINK),
					SCMP_A2(SCMP_CMP_EQ, NETLINK_NETFILTER)) == 0 &&
		       seccomp_load(ctx) == 0,
	       "nf_tables is taken away");
	seccomp_release(ctx);
	if (!stand_new(&s, NET_ALLOWLIST, rules))
		return;
	tap_is_str(s.missing, "ports 80, 443 and those of rules only: no nf_tables", "it is said");
	tap_is_str(run(&s, ping, "any.multi.example", 7000), "ping", "a rule's port, by name");
	tap_is_str(run(&s, ping, "198.51.100.8", 7001), "ping", "a rule's port, by address");
	tap_ok(like(run(&s, ping, "198.51.100.7", 7001), "reset"), "another address is refused");
	tap_is_str(run(&s, ping, "echo.example", 7002), "ECONNREFUSED", "another port has nobody");
	tap_ok(like(run(&s, ping, "2001:db8:1::7", 443), "reset"), "IPv6 comes in and is refused");
	stand_done(&s);
}

int main(void)
{
	static const char *const public_rules[] = { "10.20.30.0/24", NULL }, *const none[] = {
		NULL
	};
	static const struct {
		enum net_mode mode;
		const char *const *rules;
		void (*fn[4])(struct stand *);
	} rows[] = {
		{ NET_ALLOWLIST, allow_rules, { allowlist, streams, rest, stopped } },
		{ NET_PUBLIC, public_rules, { public_mode } },
		{ NET_NONE, none, { no_network } },
	};
	struct nsbox world = { 0 };
	const char *why = outside_new(&world);

	if (why) {
		tap_skip("networks in namespaces", why);
		return tap_done();
	}
	alarm(240);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stand s;

		if (!stand_new(&s, rows[i].mode, rows[i].rules))
			continue;
		tap_is_str(s.missing, "", "nothing is missing");
		for (size_t k = 0; k < ARRAY_SIZE(rows[i].fn) && rows[i].fn[k]; k++)
			rows[i].fn[k](&s);
		stand_done(&s);
	}
	without_nft();
	nsbox_end(&world);
	return tap_done();
}
