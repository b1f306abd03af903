/* A run directory read back: processes and tool calls become actions, edits and reads keep their place, and
 * what was cut or made up leads nowhere. */
#include "verifier/rundir.h"

#include <sys/wait.h>

#include "tests/lib/fakerun.h"
#include "tests/lib/tap.h"

#define RUN_PLAIN                                                                                  \
	", \"state\": \"done\", \"task\": { \"instance_id\": \"t-1\", \"workdir\": \"/workspace\" }, \"model\": null"
#define RUN_MODEL                                                                                  \
	", \"state\": \"done\", \"task\": { \"workdir\": \"/workspace\" }, \"model\": { \"name\": \"m\", \"calls\": 3 }"

static struct rundir load(struct fakerun *f)
{
	struct rundir rd = { 0 };
	struct err err = { 0 };

	fakerun_save(f);
	tap_ok(rundir_load(f->dir, &rd, &err) == 0, "loads %s", err.text);
	return rd;
}

static void plain(void)
{
	struct fakerun f;
	struct rundir rd;
	struct rundir_action *a;

	fakerun_new(&f, RUN_PLAIN);
	fakerun_rec(&f, "exec", "\"pid\":100,\"path\":\"/bin/sh\",\"argv\":[\"sh\",\"agent.sh\"]");
	fakerun_command(&f, 1, "read", "\"sed\",\"-n\",\"1,5p\",\"a.c\"", 0);
	fakerun_command(&f, 2, "test", "\"make\",\"a\\\\\\\\b\\\\xff\"", 2);
	/* a pipeline: two direct children are two commands; one is killed */
	fakerun_rec(&f, "spawn", "\"pid\":100,\"child\":1003,\"child_cmd\":3");
	fakerun_rec(&f, "spawn", "\"pid\":1003,\"cmd\":3,\"child\":2003,\"child_cmd\":3");
	fakerun_rec(&f, "exit", "\"pid\":2003,\"cmd\":3,\"status\":9");
	fakerun_rec(&f, "command",
		    "\"cmd\":3,\"class\":\"nonsense\",\"argv\":[\"sh\",\"agent.sh\"]");
	fakerun_rec(&f, "exit", "\"pid\":1003,\"cmd\":3,\"signal\":9");
	/* one that never ends */
	fakerun_rec(&f, "spawn", "\"pid\":100,\"child\":1004,\"child_cmd\":4");
	fakerun_rec(&f, "exec", "\"pid\":1004,\"cmd\":4,\"argv\":[\"sleep\",\"9\"]");
	rd = load(&f);
	tap_ok(!rd.model && !rd.cut && !rd.ended && rd.calls == 0,
	       "no model, not cut, no end record");
	tap_is_u64(rd.n_actions, 4, "four actions");
	a = rd.action;
	tap_ok(a[0].cls == ACTION_READ && a[0].cmd == 1 && a[0].argv.n == 4 && a[0].n == 2 &&
		       a[0].end_n == 4 && a[0].t == 2000000 && a[0].status == 0 && !a[0].tool,
	       "a command: class, place, status");
	tap_is_str(a[1].argv.v[1], "a\\b\xff", "arguments are bytes again");
	tap_ok(WIFEXITED(a[1].status) && WEXITSTATUS(a[1].status) == 2, "status 2");
	tap_ok(a[2].cls == ACTION_OTHER && WIFSIGNALED(a[2].status) && WTERMSIG(a[2].status) == 9,
	       "the status is that of the first process; an unknown class is other");
	tap_ok(a[3].status == -1 && a[3].end_n == 0 && strcmp(a[3].argv.v[0], "sleep") == 0,
	       "one that never ended");
	tap_is_str(rundir_str(&rd, "task.instance_id"), "t-1", "a string of run.json");
	tap_ok(!rundir_str(&rd, "task.nothing") && !rundir_str(&rd, "task") &&
		       rundir_num(&rd, "task.workdir", 7) == 7 && rundir_num(&rd, "x.y", 3) == 3,
	       "what is not there");
	rundir_done(&rd);
	fakerun_done(&f);
}

static void wrapper(void)
{
	struct fakerun f;
	struct rundir rd;

	/* sh starts the agent: the command of process 1001 turns out to be the agent itself */
	fakerun_new(&f, RUN_MODEL);
	fakerun_rec(&f, "spawn", "\"pid\":100,\"child\":1001,\"child_cmd\":1");
	fakerun_rec(&f, "exec", "\"pid\":1001,\"cmd\":1,\"argv\":[\"node\",\"cli.js\"]");
	fakerun_command(&f, 2, "vcs", "\"git\",\"status\"", 0);
	fakerun_rec(&f, "tool", "\"call\":1,\"tool\":\"bash\",\"does\":\"shell\"");
	fakerun_rec(&f, "model", "\"call\":1,\"purpose\":\"main\",\"status\":200");
	fakerun_rec(&f, "spawn", "\"pid\":1001,\"child\":1003,\"child_cmd\":3");
	fakerun_rec(&f, "command",
		    "\"cmd\":3,\"class\":\"read\",\"argv\":[\"bash\",\"-c\",\"cat a\"]");
	rd = load(&f);
	tap_ok(rd.model && rd.n_actions == 1 && rd.action[0].cmd == 3 && rd.action[0].call == 1 &&
		       rd.calls == 1,
	       "the wrapper and what ran before the first answer are no actions");
	rundir_done(&rd);
	fakerun_done(&f);
}

/* What one answer asks for, what the agent then starts, and which actions it makes. */
struct answer {
	const char *name;
	const char *tools; /* r read, e edit, s shell, g grep (other), o another */
	const char *
		commands; /* per command: b bash -c (test), e bash -c env, h sh -c of an errand, r rg, n node */
	const char *
		want; /* per action: C class letter; lower case: a tool call, upper case: a command */
};

/* clang-format off */
static const struct answer answers[] = {
	{ "one shell call, one command",            "s",   "b",   "T" },
	{ "two shell calls, two commands",          "ss",  "bb",  "TT" },
	{ "a shell call without a command",         "s",   "",    "o" },
	{ "two shell calls, one command",           "ss",  "b",   "oT" },
	{ "errands beside the shell",               "s",   "nbr", "T" },
	{ "a snapshot in front of the command",      "s",   "eb",  "T" },
	{ "errands in a shell, before and after",    "s",   "hbh", "T" },
	{ "an errand in a shell, no command seen",   "s",   "h",   "O" },
	{ "a shell call that starts no shell",      "s",   "r",   "S" },
	{ "no shell among more commands than calls","s",   "rn",  "SO" },
	{ "reading in the agent's own process",     "r",   "",    "r" },
	{ "reading with a helper process",          "r",   "n",   "r" },
	{ "editing",                                "e",   "",    "e" },
	{ "a search tool",                          "g",   "",    "s" },
	{ "a search tool that starts rg",           "g",   "r",   "s" },
	{ "an unknown tool that starts tests",      "o",   "b",   "t" },
	{ "an unknown tool",                        "o",   "",    "o" },
	{ "read and shell",                         "rs",  "b",   "rT" },
	{ "two unknown tools, two commands",        "oo",  "br",  "ts" },
	{ "an answer without tool calls",           "",    "b",   "" },
};
/* clang-format on */

static const char letters[] = {
	[ACTION_READ] = 'R',    [ACTION_SEARCH] = 'S',  [ACTION_EDIT] = 'E',
	[ACTION_TEST] = 'T',    [ACTION_BUILD] = 'B',   [ACTION_VCS] = 'V',
	[ACTION_NETWORK] = 'N', [ACTION_PACKAGE] = 'P', [ACTION_OTHER] = 'O'
};

static void put_tool(struct fakerun *f, char kind, unsigned call)
{
	const char *does = kind == 'r'   ? "read"
			   : kind == 'e' ? "edit"
			   : kind == 's' ? "shell"
					 : "other";

	fakerun_rec(f, "tool",
		    "\"call\":%u,\"tool\":\"%s\",\"does\":\"%s\",\"path\":\"./src/x.c\","
		    "\"lines\":[3,9]",
		    call, kind == 'g' ? "Grep" : "do_it", does);
}

static void put_command(struct fakerun *f, char kind, unsigned cmd)
{
	if (kind == 'e')
		fakerun_command(f, cmd, "other", "\"/bin/bash\",\"-c\",\"env\"", 0);
	else if (kind == 'h')
		fakerun_command(f, cmd, "other", "\"/bin/sh\",\"-c\",\"rg --version\"", 0);
	else if (kind == 'b')
		fakerun_command(f, cmd, "test", "\"/bin/bash\",\"-c\",\"make test\"", 1);
	else if (kind == 'r')
		fakerun_command(f, cmd, "search", "\"rg\",\"x\"", 0);
	else
		fakerun_command(f, cmd, "other", "\"node\",\"helper.js\"", 0);
}

static void one_answer(const struct answer *r)
{
	struct fakerun f;
	struct rundir rd;
	char got[32] = "";

	fakerun_new(&f, RUN_MODEL);
	put_command(&f, 'h', 9);
	put_tool(&f, 'r', 1); /* so that it is no agent that reads commands from text */
	fakerun_rec(&f, "model", "\"call\":1,\"purpose\":\"main\",\"status\":200");
	for (const char *t = r->tools; *t; t++)
		put_tool(&f, *t, 2);
	fakerun_rec(&f, "model", "\"call\":2,\"purpose\":\"main\",\"status\":200");
	for (const char *c = r->commands; *c; c++)
		put_command(&f, *c, 10 + (unsigned)(c - r->commands));
	rd = load(&f);
	for (size_t i = 1; i < rd.n_actions && i < sizeof(got); i++) {
		char c = letters[rd.action[i].cls];

		got[i - 1] = rd.action[i].tool ? (char)(c + 32) : c;
	}
	tap_is_str(got, r->want, r->name);
	for (size_t i = 1; i < rd.n_actions; i++)
		tap_ok(rd.action[i].call == 2 && rd.action[i].n > rd.action[i - 1].n &&
			       (!rd.action[i].tool || (strcmp(rd.action[i].path, "src/x.c") == 0 &&
						       rd.action[i].first == 3)),
		       "%s: call, order, place", r->name);
	rundir_done(&rd);
	fakerun_done(&f);
}

static void steps(void)
{
	struct fakerun f;
	struct rundir rd;

	fakerun_new(&f, RUN_MODEL);
	fakerun_rec(&f, "model", "\"call\":1,\"purpose\":\"side\",\"status\":200");
	fakerun_rec(&f, "model", "\"call\":2,\"purpose\":\"main\",\"status\":200");
	fakerun_rec(&f, "model",
		    "\"call\":3,\"purpose\":\"main\",\"status\":200,\"by\":\"record\"");
	fakerun_rec(&f, "model", "\"call\":4,\"purpose\":\"main\",\"status\":502");
	fakerun_rec(&f, "tool", "\"call\":5,\"tool\":\"bash\",\"does\":\"shell\"");
	fakerun_rec(&f, "model", "\"call\":5,\"purpose\":\"subagent\",\"status\":200");
	fakerun_rec(&f, "tool", "\"call\":6,\"tool\":\"read\",\"does\":\"read\"");
	fakerun_rec(&f, "model", "\"call\":6,\"purpose\":\"subagent\",\"status\":200");
	fakerun_command(&f, 1, "test", "\"sh\",\"-c\",\"t\"", 0);
	fakerun_rec(&f, "note", "\"message\":1,\"call\":6");
	fakerun_rec(&f, "note", "\"message\":2,\"call\":6,\"lost\":\"its place is gone\"");
	fakerun_rec(&f, "note", "\"via\":\"pi-rpc\",\"message\":3");
	fakerun_rec(&f, "end", "\"reason\":\"exited\"");
	rd = load(&f);
	tap_ok(rd.calls == 1 && rd.n_calls == 1 && rd.call[0].call == 2,
	       "steps: one main call was answered by a model");
	tap_ok(rd.n_actions == 2 && rd.action[1].cmd == 1 && rd.action[1].call == 5,
	       "the command of a sub-agent whose sibling answered meanwhile");
	tap_ok(rd.n_told == 2 && rd.told[0].message == 1 && rd.told[0].call == 6 &&
		       rd.told[1].message == 3,
	       "messages that came through");
	tap_ok(rd.ended && rd.last_n == f.n, "the end");
	rundir_done(&rd);
	fakerun_done(&f);
}

static void places(void)
{
	struct fakerun f;
	struct rundir rd;
	struct err err = { 0 };
	auto_buf b = BUF_INIT(1u << 20);
	char one[DIGEST_HEX], two[DIGEST_HEX], other[DIGEST_HEX];
	unsigned user, agent;

	fakerun_new(&f, RUN_PLAIN);
	fakerun_image(&f, "one\n", one);
	fakerun_image(&f, "two\n", two);
	fakerun_rec(&f, "image", "\"path\":\"a.c\",\"sha256\":\"%s\"", one);
	fakerun_rec(
		&f, "read",
		"\"pid\":7,\"path\":\"/workspace/a.c\",\"fd\":3,\"off\":0,\"len\":9,\"lines\":[1,90]");
	fakerun_rec(
		&f, "touch",
		"\"pid\":7,\"region\":2,\"level\":\"argv\",\"event\":\"read\",\"lines\":[3,5],\"path\":\"a.c\"");
	fakerun_rec(&f, "read", "\"pid\":8,\"path\":\"a.c\",\"lines\":[1,90],\"shown\":[7,8]");
	fakerun_rec(&f, "read", "\"pid\":9,\"path\":\"a.c\",\"lines\":[1,90]");
	fakerun_rec(
		&f, "touch",
		"\"pid\":9,\"region\":0,\"level\":\"bytes\",\"event\":\"read\",\"lines\":[3,5],\"path\":\"a.c\",\"scan\":\"program: compiler\"");
	fakerun_rec(
		&f, "touch",
		"\"pid\":9,\"region\":0,\"level\":\"open\",\"event\":\"open\",\"path\":\"a.c\"");
	user = fakerun_edit(&f, "user", 1, "a.c", "one\n", "two\n", 1, 1);
	agent = fakerun_edit(&f, "agent", 2, "a.c", "two\n", NULL, 0, 0);
	fakerun_rec(&f, "edit", "\"path\":\"old.c\",\"lines\":[4,2],\"by\":\"agent\"");
	buf_addf(&f.firings,
		 "{\"order\":1,\"round\":2,\"at_n\":%u,\"effect\":\"edit\",\"applied\":true,"
		 "\"pre_sha256\":\"%s\",\"post_sha256\":\"zz\",\"touch\":{\"path\":\"a.c\"}}\n"
		 "{\"order\":1,\"round\":2,\"at_n\":%u,\"effect\":\"message\",\"applied\":true,"
		 "\"message\":\"a\\\\\\\\b\",\"message_source\":\"text\"}\n{\"order\":2",
		 user + 1, one, user + 2);
	rd = load(&f);
	tap_ok(rd.cut, "a cut line of interventions.jsonl");
	tap_ok(rd.n_reads == 3 && rd.read[0].shown && rd.read[0].first == 3 &&
		       rd.read[0].last == 5 && !rd.read[0].scan,
	       "a read is as wide as the tool was asked to show");
	tap_is_str(rd.read[0].path, "a.c", "paths are relative to the workspace");
	tap_ok(rd.read[1].shown && rd.read[1].first == 7 && rd.read[1].last == 8, "shown");
	tap_ok(rd.read[2].scan && !rd.read[2].shown && rd.read[2].last == 90, "a scan");
	tap_ok(rd.n_touches == 2 && rd.touch[0].region == 2 && rd.touch[1].scan,
	       "touches; an open is none");
	tap_ok(rd.n_edits == 3 && rd.edit[0].by_user && !rd.edit[1].by_user && rd.edit[1].cmd == 2,
	       "edits by user and agent");
	tap_is_str(rd.edit[0].pre, one, "digest before");
	tap_is_str(rd.edit[0].post, two, "digest after");
	tap_is_str(rd.edit[1].post, "", "the file is gone");
	tap_ok(rd.edit[2].first == 0 && rd.edit[2].last == 0, "lines out of order are none");
	tap_is_str(rundir_digest_at(&rd, "a.c", 0), one, "contents at the beginning");
	tap_is_str(rundir_digest_at(&rd, "a.c", user), one, "before the user's edit");
	tap_is_str(rundir_digest_at(&rd, "a.c", agent), two, "after it");
	tap_is_str(rundir_digest_at(&rd, "a.c", UINT64_MAX), "", "in the end");
	tap_is_str(rundir_digest_at(&rd, "old.c", UINT64_MAX), NULL, "a record without digests");
	tap_is_str(rundir_digest_at(&rd, "b.c", 0), NULL, "a file nobody followed");
	tap_ok(rd.n_firings == 2 && rd.firing[0].edit && rd.firing[0].applied &&
		       rd.firing[0].round == 2 && rd.firing[0].at_n == user + 1 &&
		       rd.firing[0].post[0] == '\0',
	       "firings; a digest that is none is left out");
	tap_is_str(rd.firing[0].pre, one, "digest of a firing");
	tap_is_str(rd.firing[1].message, "a\\b", "message");
	tap_ok(rd.n_told == 1 && rd.told[0].message == 1 && rd.told[0].call == 0,
	       "an agent without a model was told through its channel");
	tap_ok(rundir_image(&rd, two, &b, &err) == 1 && strcmp(buf_str(&b), "two\n") == 0, "image");
	digest_bytes("other", 5, other);
	tap_ok(rundir_image(&rd, other, &b, &err) == 0 && b.len == 4, "one that was not kept");
	tap_ok(rundir_image(&rd, "../run.json", &b, &err) == 0, "a name that is no digest");
	{
		auto_free char *name = mem_printf("images/%s", other);

		fakerun_file(&f, name, "torn", 4);
		tap_ok(rundir_image(&rd, other, &b, &err) == 0 && b.len == 4,
		       "one whose bytes are not what the name says");
	}
	{
		auto_free char *name = mem_printf("%s/images/%s", f.dir, other);

		unlink(name);
		tap_ok(symlink("/etc/passwd", name) == 0 && rundir_image(&rd, other, &b, &err) == 0,
		       "a link in its place is not followed");
	}
	tap_ok(rundir_patch(&rd, &b, &err) == -ERR_INPUT, "no patch.diff");
	rundir_done(&rd);
	fakerun_done(&f);
}

static void bad(void)
{
	struct fakerun f;
	struct rundir rd = { 0 };
	struct err err = { 0 };

	fakerun_new(&f, RUN_PLAIN);
	buf_adds(&f.trace, "{\"n\":1,\"t\":5,\"k\":\"spawn\",\"child\":[]}\n"
			   "{\"n\":-4,\"k\":\"edit\"}\n{\"n\":2,\"k\":\"edit\",\"path\":\"\"}\n"
			   "{\"n\":1e300,\"k\":\"edit\",\"path\":\"a\"}\n"
			   "{\"n\":3,\"k\":\"later kind\"}\n{\"n\":4,\"k\":7}\n[]\n"
			   "{\"n\":5,\"k\":\"command\",\"cmd\":77,\"class\":\"test\"}\n{\"n\":6");
	rd = load(&f);
	tap_ok(rd.cut && rd.n_edits == 0 && rd.n_actions == 0 && rd.last_n == 5,
	       "records that say nothing, and a cut one");
	rundir_done(&rd);
	buf_adds(&f.trace, "\nnonsense\n");
	fakerun_save(&f);
	tap_ok(rundir_load(f.dir, &rd, &err) == -ERR_INPUT && strstr(err.text, "trace.jsonl:"),
	       "a bad line is named: %s", err.text);
	tap_ok(rundir_load("/nonexistent", &rd, &err) == -ERR_INPUT &&
		       strstr(err.text, "not a run directory"),
	       "%s", err.text);
	fakerun_done(&f);
}

int main(void)
{
	plain();
	wrapper();
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		one_answer(&answers[i]);
	steps();
	places();
	bad();
	return tap_done();
}
