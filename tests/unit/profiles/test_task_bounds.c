/* What a task says about files, its report, limits and network; and how that narrows a profile. */
#include "profiles/task_bounds.h"

#include "profiles/task_files.h"
#include "tests/unit/profiles/scene.h"

#define HEAD                                                                                       \
	"{ \"schema\": \"proctor.task/1\", \"instance_id\": \"a\", \"problem_statement\": \"p\", " \
	"\"source\": \"/src\", \"workdir\": \"/app\", "

/* Members of a task and where its error is; NULL = it is fine. */
static const struct {
	const char *name, *text, *error;
} rows[] = {
	/* clang-format off */
	{ "a report outside", "\"test\": {\"report\": \"/tmp//x/../junit.xml\"} }", NULL },
	{ "a report inside, by its absolute name", "\"test\": {\"report\": \"/app/out/junit.xml\"} }", NULL },
	{ "a report right in /", "\"test\": {\"report\": \"/junit.xml\"} }", "$.test.report" },
	{ "a report of the kernel's", "\"test\": {\"report\": \"/proc/self/x\"} }", "$.test.report" },
	{ "a report that is the workdir", "\"test\": {\"report\": \"/app\"} }", "$.test.report" },
	{ "a report beside it", "\"test\": {\"report\": \"../x\"} }", "$.test.report" },
	{ "files", "\"test\": {\"files\": [{\"from\": \"/t\", \"to\": \"/tests\"}, {\"from\": \"/u\", \"to\": \"/u/v\", \"copy\": true}]} }", NULL },
	{ "a file in the workdir", "\"test\": {\"files\": [{\"from\": \"/t\", \"to\": \"/app/tests\"}]} }", "$.test.files[0].to" },
	{ "a file above it", "\"workdir\": \"/a/b\", \"test\": {\"files\": [{\"from\": \"/t\", \"to\": \"/a\"}]} }", "" },
	{ "a file at a relative place", "\"test\": {\"files\": [{\"from\": \"/t\", \"to\": \"tests\"}]} }", "$.test.files[0].to" },
	{ "files over each other", "\"test\": {\"files\": [{\"from\": \"/t\", \"to\": \"/x\"}, {\"from\": \"/u\", \"to\": \"/x/y\"}]} }", "$.test.files[1].to" },
	{ "a relative source of a file", "\"test\": {\"files\": [{\"from\": \"t\", \"to\": \"/x\"}]} }", "$.test.files[0].from" },
	{ "no place", "\"test\": {\"files\": [{\"from\": \"/t\"}]} }", "$.test.files[0]" },
	{ "solution files", "\"solution\": {\"command\": \"x\", \"files\": [{\"from\": \"/t\", \"to\": \"/app/y\"}]} }", "$.solution.files[0].to" },
	{ "hosts", "\"environment\": {\"network\": {\"mode\": \"allowlist\", \"hosts\": [\"example.org\"]}} }", NULL },
	{ "hosts without their mode", "\"environment\": {\"network\": {\"mode\": \"public\", \"hosts\": [\"example.org\"]}} }", "$.environment.network.hosts" },
	{ "no host rule", "\"environment\": {\"network\": {\"mode\": \"allowlist\", \"hosts\": [\"http://x/\"]}} }", "$.environment.network.hosts" },
	{ "an unknown mode", "\"environment\": {\"network\": {\"mode\": \"open\"}} }", "$.environment.network.mode" },
	{ "too many processors", "\"environment\": {\"limits\": {\"cpus\": 5000}} }", "$.environment.limits.cpus" },
	/* clang-format on */
};

static struct task *parse(const char *members, struct err *err)
{
	auto_free char *text = mem_printf(HEAD "%s", members);
	struct task *t = NULL;

	/* A workdir of its own replaces the head's. */
	if (strstr(members, "\"workdir\"")) {
		char *at = strstr(text, "\"workdir\": \"/app\", ");

		memmove(at, at + strlen("\"workdir\": \"/app\", "),
			strlen(at + strlen("\"workdir\": \"/app\", ")) + 1);
	}
	*err = (struct err){ 0 };
	return task_parse("t", text, strlen(text), NULL, &t, err) == 0 ? t : NULL;
}

static void checks(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err;
		struct task *t = parse(rows[i].text, &err);

		if (rows[i].error)
			tap_ok(!t && strstr(err.text, rows[i].error), "%s: %s", rows[i].name,
			       err.text);
		else
			tap_ok(t, "%s %s", rows[i].name, err.text);
		task_free(t);
	}
}

static void forms(void)
{
	struct err err;
	struct task *t = parse(rows[0].text, &err);

	tap_is_str(t->test.report, "/tmp/junit.xml", "in normal form");
	task_free(t);
	t = parse(rows[1].text, &err);
	tap_is_str(t->test.report, "out/junit.xml", "below the workdir it is relative");
	task_free(t);
	t = parse("\"test\": {\"reader\": \"reward\"} }", &err);
	tap_is_str(t->test.report, "/logs/verifier", "the reward's place");
	task_free(t);
}

static void limits(void)
{
	struct err err;
	struct task *t =
		parse("\"environment\": {\"limits\": {\"memory\": \"1G\", \"storage\": \"2G\", "
		      "\"agent_timeout\": \"10m\", \"cpus\": 2}} }",
		      &err);
	struct limits l = { .max = { [LIMIT_MEMORY] = 1u << 20, [LIMIT_CPU] = 7 } };

	task_bounds_limits(t, true, &l);
	tap_is_u64(l.max[LIMIT_MEMORY], 1u << 20, "the profile's smaller one stays");
	tap_is_u64(l.max[LIMIT_DISK], 2ull << 30, "the task's counts where the profile has none");
	tap_is_u64(l.max[LIMIT_WALL], 600000000000ull, "the agent's time");
	tap_is_u64(l.max[LIMIT_CPU], 7, "what the task does not say stays");
	l.max[LIMIT_WALL] = 0;
	task_bounds_limits(t, false, &l);
	tap_is_u64(l.max[LIMIT_WALL], 0, "is not the tests'");
	task_free(t);
}

/* Profile, task, and what comes of both: "MODE HOST HOST". */
static const struct {
	const char *name;
	int net;
	const char *hosts[4], *task, *want;
} nets[] = {
	/* clang-format off */
	{ "the task says nothing", NET_PUBLIC, { NULL }, "\"mode\": \"profile\"", "public" },
	{ "public under a profile without", NET_NONE, { NULL }, "\"mode\": \"public\"", "no-network" },
	{ "none under a public one", NET_PUBLIC, { NULL }, "\"mode\": \"no-network\"", "no-network" },
	{ "a list under a public one", NET_PUBLIC, { NULL }, "\"mode\": \"allowlist\", \"hosts\": [\"a.org\"]", "allowlist a.org" },
	{ "a list under none", NET_NONE, { NULL }, "\"mode\": \"allowlist\", \"hosts\": [\"a.org\"]", "no-network" },
	{ "public under a list", NET_ALLOWLIST, { "a.org" }, "\"mode\": \"public\"", "allowlist a.org" },
	{ "two lists", NET_ALLOWLIST, { "a.org", "*.b.org", "192.0.2.0/24" },
	  "\"mode\": \"allowlist\", \"hosts\": [\"x.b.org\", \"c.org\", \"192.0.2.7\", \"*.a.org\"]", "allowlist x.b.org 192.0.2.7" },
	{ "wildcards the other way", NET_ALLOWLIST, { "x.b.org", "y.b.org:443", "b.org" },
	  "\"mode\": \"allowlist\", \"hosts\": [\"*.b.org\"]", "allowlist x.b.org y.b.org:443" },
	{ "ports", NET_ALLOWLIST, { "a.org:443" }, "\"mode\": \"allowlist\", \"hosts\": [\"a.org\", \"a.org:80\"]", "allowlist a.org:443" },
	{ "nothing in common", NET_ALLOWLIST, { "a.org" }, "\"mode\": \"allowlist\", \"hosts\": [\"b.org\"]", "allowlist" },
	/* clang-format on */
};

static void networks(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(nets); i++) {
		auto_free char *members =
			mem_printf("\"environment\": {\"network\": {%s}} }", nets[i].task);
		struct profile p = { .net = nets[i].net };
		auto_buf got = BUF_INIT(4096);
		struct err err;
		struct task *t = parse(members, &err);

		for (size_t k = 0; k < 4 && nets[i].hosts[k]; k++)
			strv_add(&p.hosts, nets[i].hosts[k]);
		if (!t || task_bounds_network(t, &p, &err) < 0)
			tap_ok(false, "%s: %s", nets[i].name, err.text);
		buf_adds(&got, profile_net_name((enum net_mode)p.net));
		strv_each (k, &p.hosts)
			buf_addf(&got, " %s", p.hosts.v[k]);
		tap_is_str(buf_str(&got), nets[i].want, nets[i].name);
		strv_done(&p.hosts);
		task_free(t);
	}
}

static void digests(void)
{
	char *dir = scene_new();
	char a[DIGEST_HEX], b[DIGEST_HEX];
	auto_free char *one = path_join(dir, "one"), *two = path_join(dir, "two");
	auto_free char *file = path_join(one, "x/run.sh"), *link = path_join(two, "x/l"),
		       *fifo = path_join(two, "f");
	struct err err = { 0 };

	scene_add(dir, "one/x/run.sh", "echo\n");
	scene_add(dir, "two/x/run.sh", "echo\n");
	tap_ok(task_files_digest(one, a, &err) == 0 && task_files_digest(two, b, &err) == 0 &&
		       strcmp(a, b) == 0,
	       "the same files, whatever the directory is called %s", err.text);
	if (chmod(file, 0755) < 0)
		abort();
	tap_ok(task_files_digest(one, b, &err) == 0 && strcmp(a, b) != 0,
	       "an executable is another file");
	if (chmod(file, 0644) < 0 || symlink("/etc/passwd", link) < 0)
		abort();
	tap_ok(task_files_digest(one, b, &err) == 0 && strcmp(a, b) == 0, "times do not count");
	tap_ok(task_files_digest(two, b, &err) == 0 && strcmp(a, b) != 0,
	       "a link counts and is not followed");
	tap_ok(task_files_digest(file, b, &err) == 0, "a single file");
	if (mkfifo(fifo, 0600) < 0)
		abort();
	tap_ok(task_files_digest(two, b, &err) == -ERR_INPUT && strstr(err.text, "/f is neither"),
	       "a pipe: %s", err.text);
	tap_ok(task_files_digest("/nonexistent", b, &err) == -ERR_INPUT, "nothing there: %s",
	       err.text);
	scene_done(dir);
}

int main(void)
{
	checks();
	forms();
	limits();
	networks();
	digests();
	return tap_done();
}
