/* The network of a box without anything else of it, served by a confined process: COMMAND runs in a net
 * namespace of its own that has no way out but the relays and the DNS answerer under test.
 *
 * usage: netbox MODE LOG [RULE...] -- COMMAND [ARGUMENT...]
 *   MODE  no-network, allowlist or public
 *   LOG   file for what the network told, one line each, tab separated
 * NETBOX_NO_NFT in the environment: as on a kernel without nf_tables. */
#include <event2/event.h>
#include <linux/netlink.h>
#include <seccomp.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/mem.h"
#include "gateway/confine.h"
#include "gateway/net.h"
#include "tests/lib/nsbox.h"

struct job {
	char **argv;
	int gate; /* readable when the network stands */
};

static void die(const char *what, const struct err *err)
{
	fprintf(stderr, "netbox: %s: %s\n", what, err ? err->text : strerror(errno));
	exit(125);
}

static void on_dns(void *arg, const char *name, uint16_t qtype, bool allowed, const char *rule,
		   uint16_t source_port, bool tcp)
{
	fprintf(arg, "dns\t%s\t%u\t%s\t%s\t%u\t%s\n", name, qtype, allowed ? "allowed" : "denied",
		rule, source_port, tcp ? "tcp" : "udp");
}

static void on_connect(void *arg, const char *name, const char *addr, uint16_t port, bool allowed,
		       const char *rule, uint16_t source_port)
{
	fprintf(arg, "connect\t%s\t%s\t%u\t%s\t%s\t%u\n", name, addr, port,
		allowed ? "allowed" : "denied", rule, source_port);
}

static void on_closed(void *arg, const char *name, uint64_t out, uint64_t in, uint64_t ns)
{
	fprintf(arg, "closed\t%s\t%llu\t%llu\t%llu\n", name, (unsigned long long)out,
		(unsigned long long)in, (unsigned long long)ns);
}

/* In the box: its own resolv.conf and hosts, then the command. */
static void inside(void *arg)
{
	struct job *job = arg;
	char c;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    nsbox_cover("/etc/resolv.conf", "nameserver 127.0.0.1\n") < 0 ||
	    nsbox_cover("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n") < 0)
		die("cannot cover files of /etc", NULL);
	if (read(job->gate, &c, 1) != 1)
		_exit(125);
	execvp(job->argv[0], job->argv);
	die(job->argv[0], NULL);
}

/* socket(AF_NETLINK, ..., NETLINK_NETFILTER) fails as it does without CONFIG_NETFILTER_NETLINK. */
static void without_nft(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (!ctx ||
	    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2,
			     SCMP_A0(SCMP_CMP_EQ, AF_NETLINK),
			     SCMP_A2(SCMP_CMP_EQ, NETLINK_NETFILTER)) < 0 ||
	    seccomp_load(ctx) < 0)
		die("cannot take nf_tables away", NULL);
	seccomp_release(ctx);
}

static enum net_mode mode_of(const char *name)
{
	static const enum net_mode modes[] = { NET_NONE, NET_ALLOWLIST, NET_PUBLIC };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(profile_net_name(modes[i]), name) == 0)
			return modes[i];
	}
	die("the mode is no-network, allowlist or public", NULL);
	return NET_NONE;
}

/* The gateway's part, confined as in a real run; ended by the parent's signal. */
static void serve(const struct net_listeners *l, enum net_mode mode, const struct netrules *rules,
		  FILE *log, int gate)
{
	const struct net_ops ops = { on_dns, on_connect, on_closed, log };
	struct event_base *base = event_base_new();
	struct net *net = NULL;
	struct err err = { 0 };
	char missing[128];

	if (net_new(base, l, mode, rules, &ops, &net, &err) < 0)
		die("net_new", &err);
	/* Where only one id is mapped nobody cannot be become; the matrix is of use there too. */
	if (confine(missing, &err) < 0)
		fprintf(log, "confine\t%s\n", err.text);
	if (write(gate, "", 1) != 1)
		die("cannot start the command", NULL);
	event_base_dispatch(base);
	net_free(net);
	_exit(125);
}

/* Make the network, let the command go, wait for its end. Its status. */
static int run(struct nsbox *box, enum net_mode mode, const struct netrules *rules, FILE *log,
	       int gate)
{
	struct net_want want = { .dns = true, .relays = mode != NET_NONE, .rules = rules };
	struct net_listeners l;
	struct err err = { 0 };
	char missing[128];
	int status;
	pid_t pid;

	if (net_listen(box->user_fd, box->net_fd, &want, &l, missing, &err) < 0)
		die("net_listen", &err);
	fprintf(log, "listen\t%s\n", missing);
	pid = fork();
	if (pid == 0)
		serve(&l, mode, rules, log, gate);
	close(gate);
	net_listeners_done(&l);
	if (pid < 0 || waitpid(box->pid, &status, 0) != box->pid)
		die("waitpid", NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	auto_strv hosts = { 0 };
	struct netrules rules = { 0 };
	struct nsbox box;
	struct err err = { 0 };
	struct job job;
	enum net_mode mode;
	FILE *log;
	int i, p[2], status;

	if (argc < 5)
		die("usage: netbox MODE LOG [RULE...] -- COMMAND [ARGUMENT...]", NULL);
	mode = mode_of(argv[1]);
	for (i = 3; i < argc && strcmp(argv[i], "--") != 0; i++)
		strv_add(&hosts, argv[i]);
	if (i + 1 >= argc || netrules_parse(&hosts, &rules, &err) < 0)
		die("rules", &err);
	log = fopen(argv[2], "we");
	if (!log || pipe2(p, O_CLOEXEC) < 0)
		die(argv[2], NULL);
	setvbuf(log, NULL, _IOLBF, 0);
	job = (struct job){ argv + i + 1, p[0] };
	if (nsbox_start(&box, CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS, inside, &job) < 0)
		die("cannot make namespaces", NULL);
	if (getenv("NETBOX_NO_NFT"))
		without_nft();
	status = run(&box, mode, &rules, log, p[1]);
	netrules_done(&rules);
	fclose(log);
	return status;
}
