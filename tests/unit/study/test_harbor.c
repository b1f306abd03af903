/* Foreign files of Harbor tasks: task.toml, Dockerfile, sums, trees. The whole import is tests/run/harbor.sh. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/dockerfile.h"
#include "study/harbor_tree.h"
#include "study/import_harbor.h"
#include "tests/lib/tap.h"

/* Dockerfile to "from|workdir|env,...|to<from,from;...|runs|commit", or "!LINE". */
static const struct {
	const char *name, *text, *want;
} dockerfiles[] = {
	/* clang-format off */
	{ "nothing", "", "|||0|" },
	{ "the plain case", "FROM debian:12\nWORKDIR /app\nCOPY . .\n", "debian:12|/app||/app<.;0|" },
	{ "small letters, comments, continuations", "# c\nfrom x\nworkdir \\\n # inside\n\n a\nrun a \\\n  b\\\r\n c\r\nWORKDIR b", "x|/a/b||1|" },
	{ "environment", "FROM x\nENV A=1 B=\"two words\" C='$A'\nENV D three  words\nENV A=\"$A-$B ${E:-dflt} \\$x\"",
	  "x||A=1-two words dflt $x,B=two words,C=$A,D=three words|0|" },
	{ "arguments", "ARG V=3.11\nARG W\nFROM py:${V}${W}\nWORKDIR /$V", "py:3.11|/3.11||0|" },
	{ "stages", "FROM a AS one\nENV A=1\nWORKDIR /one\nFROM b\nENV B=2\nCOPY --from=one /x /y/\n", "b||B=2|/y/<one:/x;0|" },
	{ "a stage on a stage", "FROM a as one\nENV A=1\nFROM one\nENV B=2", "a||A=1,B=2|0|" },
	{ "forms of COPY", "FROM x\nWORKDIR /w\nCOPY [\"a b\", \"c/\"]\nCOPY --chown=1:1 --chmod=755 a b /d\nADD a.tar ./\nCOPY a /e/../f",
	  "x|/w||/w/c/<a b;/d/<a,b;/w/<a.tar;/f<a;0|" },
	{ "here-documents are no instructions", "FROM x\nRUN <<EOF\nWORKDIR /no\nEOF\nRUN cat <<-'A' <<B\nCOPY x y\n\tA\nENV Z=1\nB\nWORKDIR /yes", "x|/yes||2|" },
	{ "a commit", "FROM x\nRUN git clone u && git checkout 0123456789abcdef0123456789abcdef01234567 && make", "x|||1|0123456789abcdef0123456789abcdef01234567" },
	{ "another program's number", "FROM x\nRUN get 0123456789abcdef0123456789abcdef01234567; git status", "x|||1|" },
	{ "the escape directive", "# escape=`\nFROM x\nRUN a `\n b\nENV A=c:\\d", "x||A=c:\\d|1|" },
	{ "FROM nothing", "FROM x\nFROM --platform=y", "!2" },
	{ "COPY of one word", "FROM x\n\n COPY \\\n a", "!3" },
	{ "COPY of a text", "FROM x\nCOPY <<A /x\nA", "!2" },
	{ "ENV without a value", "ENV A=1 B", "!1" },
	{ "a NUL byte", "FROM x\n\0", "|||0|" },
	/* clang-format on */
};

static void dump(const struct dockerfile *d, struct buf *b)
{
	buf_addf(b, "%s|%s|", d->from ? d->from : "", d->workdir ? d->workdir : "");
	strv_each (i, &d->env)
		buf_addf(b, "%s%s", i ? "," : "", d->env.v[i]);
	buf_addc(b, '|');
	for (size_t i = 0; i < d->n_copies; i++) {
		buf_addf(b, "%s<%s%s", d->copy[i].to, d->copy[i].stage ? d->copy[i].stage : "",
			 d->copy[i].stage ? ":" : "");
		strv_each (k, &d->copy[i].from)
			buf_addf(b, "%s%s", k ? "," : "", d->copy[i].from.v[k]);
		buf_addc(b, ';');
	}
	buf_addf(b, "%zu|%s", d->runs, d->commit ? d->commit : "");
}

static void dockerfile(void)
{
	for (size_t i = 0; i + 1 < ARRAY_SIZE(dockerfiles); i++) {
		const char *text = dockerfiles[i].text, *want = dockerfiles[i].want;
		struct dockerfile d = { 0 };
		auto_buf got = BUF_INIT(1u << 16);
		struct err err = { 0 };

		if (dockerfile_parse("D", text, strlen(text), &d, &err) < 0)
			buf_addf(&got, "!%.*s", (int)strcspn(err.text + 2, ":"), err.text + 2);
		else
			dump(&d, &got);
		tap_is_str(buf_str(&got), want, dockerfiles[i].name);
		dockerfile_done(&d);
	}
	{
		struct dockerfile d = { 0 };
		struct err err = { 0 };

		tap_ok(dockerfile_parse("D", "FROM x\n\0\n", 9, &d, &err) == -ERR_INPUT, "%s",
		       err.text);
	}
}

/* task.toml that is refused, with the place. */
static const struct {
	const char *text, *error;
} bad[] = {
	{ "schema_version = \"2.0\"", "$.schema_version" },
	{ "[verifier]\ntimeout_sec = -1", "$.verifier.timeout_sec" },
	{ "[verifier]\nenvironment_mode = \"own\"", "$.verifier.environment_mode" },
	{ "[verifier]\nenvironment_mode = \"shared\"\n[verifier.environment]\ncpus = 1",
	  "$.verifier.environment" },
	{ "[agent]\nnetwork_mode = \"open\"", "$.agent.network_mode" },
	{ "[agent]\nallowed_hosts = [\"a.org\"]", "$.agent.allowed_hosts" },
	{ "[environment]\nmemory = \"lots\"", "$.environment.memory" },
	{ "[environment]\nmemory = \"1G\"\nmemory_mb = 512", "$.environment.memory" },
	{ "[environment]\nenv = { A = 1 }", "$.environment.env" },
	{ "[[verifier.collect]]\nservice = \"x\"", "$.verifier.collect" },
	{ "artifacts = [1]", "$.artifacts" },
	{ "a = ", "t:1:5" },
};

static void toml(void)
{
	static const char text[] =
		"schema_version = \"1.4\"\nartifacts = [\"/a\", { source = \"/b\", exclude = [\"c\"] }]\n"
		"[task]\nname = \"o/n\"\n[agent]\ntimeout_sec = 5.5\nnetwork_mode = \"allowlist\"\n"
		"allowed_hosts = [\"a.org\"]\n[verifier.environment]\nallow_internet = false\n"
		"[[verifier.collect]]\ncommand = \"x\"\n[environment]\ncpus = 2\nmemory_mb = 1_024\n"
		"storage = \"2g\"\nwhat = 1\nenv = { A = \"b=c\" }\n";
	struct harbor_toml t = { 0 };
	struct err err = { 0 };

	tap_ok(harbor_toml_parse("t", text, sizeof(text) - 1, &t, &err) == 0, "a whole one %s",
	       err.text);
	tap_is_str(t.name, "o/n", "name");
	tap_ok(t.agent_timeout == 5.5 && t.verifier_timeout == -1 && t.cpus == 2 &&
		       t.memory_mb == 1024 && t.storage_mb == 2048,
	       "numbers");
	tap_is_str(t.agent_mode, "allowlist", "the agent's network");
	tap_ok(t.agent_hosts.n == 1 && strcmp(t.agent_hosts.v[0], "a.org") == 0, "its hosts");
	tap_is_str(t.verifier_mode, "no-network", "the verifier's, by the old key");
	tap_is_str(t.environment_mode, "separate", "an environment of its own makes it separate");
	tap_ok(t.artifacts.n == 2 && strcmp(t.artifacts.v[1], "/b") == 0, "artefacts");
	tap_ok(t.collect.n == 1 &&
		       strcmp(((struct harbor_collect *)t.collect.v)->service, "main") == 0 &&
		       ((struct harbor_collect *)t.collect.v)->timeout_sec == 60,
	       "a collect command with its defaults");
	tap_ok(t.env.n == 1 && strcmp(t.env.v[0], "A=b=c") == 0, "variables");
	tap_ok(t.unknown.n == 1 && strcmp(t.unknown.v[0], "environment.what") == 0,
	       "unknown keys are noted");
	harbor_toml_done(&t);
	tap_ok(harbor_toml_parse("t", "", 0, &t, &err) == 0 && !t.agent_mode && !t.steps,
	       "an empty one has defaults");
	harbor_toml_done(&t);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		tap_ok(harbor_toml_parse("t", bad[i].text, strlen(bad[i].text), &t, &err) ==
				       -ERR_INPUT &&
			       strstr(err.text, bad[i].error),
		       "%s", err.text);
}

static void put(const char *dir, const char *name, const char *text)
{
	auto_free char *path = path_join(dir, name), *parent = path_dir(path);

	if (fd_mkdirs(parent, 0755, NULL) < 0 ||
	    fd_replace_file(path, text, strlen(text), NULL) < 0)
		abort();
}

static void trees(const char *dir)
{
	auto_free char *from = path_join(dir, "from"), *to = path_join(dir, "to"),
		       *run = path_join(from, "d/run");
	auto_free char *link = path_join(from, "d/l"), *copied = path_join(to, "d/l"),
		       *mode = path_join(to, "d/run");
	auto_free char *out = path_join(from, "d/out"), *fifo = path_join(from, "fifo");
	struct err err = { 0 };
	char target[64] = "";
	struct stat st = { 0 };

	put(dir, "from/d/run", "x\n");
	if (chmod(run, 0750) < 0 || symlink("../d/run", link) < 0)
		abort();
	tap_ok(harbor_tree_copy(from, to, &err) == 0, "a tree %s", err.text);
	tap_ok(stat(mode, &st) == 0 && (st.st_mode & 0777) == 0750, "permissions stay");
	tap_ok(readlink(copied, target, sizeof(target) - 1) > 0 && strcmp(target, "../d/run") == 0,
	       "links stay");
	put(dir, "from/d/run", "y\n");
	tap_ok(harbor_tree_copy(from, to, &err) == 0, "over what is there %s", err.text);
	if (symlink("../../secret", out) < 0)
		abort();
	tap_ok(harbor_tree_copy(from, to, &err) == -ERR_INPUT &&
		       strstr(err.text, "d/out: the link leads out"),
	       "%s", err.text);
	if (unlink(out) < 0 || mkfifo(fifo, 0600) < 0)
		abort();
	tap_ok(harbor_tree_copy(from, to, &err) == -ERR_INPUT && strstr(err.text, "fifo: neither"),
	       "%s", err.text);
}

static void sums(const char *dir)
{
	static const struct {
		const char *text;
		bool good;
	} lists[] = {
		{ "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  d/x\n", true },
		{ "73CB3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac *./d/x\n\n",
		  true },
		{ "", true },
		{ "83cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  d/x\n",
		  false },
		{ "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  ../x\n",
		  false },
		{ "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  /etc/passwd\n",
		  false },
		{ "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  d\n", false },
		{ "73cb3858a687a849  d/x\n", false },
	};
	auto_free char *tree = path_join(dir, "sums"), *list = path_join(dir, "list");
	struct err err = { 0 };

	put(dir, "sums/d/x", "x\n");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		put(dir, "list", lists[i].text);
		err = (struct err){ 0 };
		tap_ok((harbor_tree_sums(tree, list, &err) == 0) == lists[i].good, "sums %zu %s", i,
		       err.text);
	}
}

int main(void)
{
	char dir[] = "/tmp/proctor-harbor-XXXXXX";

	if (!mkdtemp(dir))
		abort();
	dockerfile();
	toml();
	trees(dir);
	sums(dir);
	tap_ok(fd_remove_tree(AT_FDCWD, dir) == 0, "the directory is gone");
	return tap_done();
}
