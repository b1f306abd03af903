/* install.c: where a program is looked for, what the box is shown of it, the line for people. */
#include "profiles/install.h"

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

#define PACKAGE "node_modules/@acme/agent"

static struct agent *agent(const char *rest)
{
	auto_free char *text = mem_printf("{ \"schema\": \"proctor.agent/1\", \"name\": \"acme\","
					  " \"command\": [\"acme\"], \"install\": {%s} }",
					  rest);
	struct agent *a = NULL;
	struct err err = { 0 };

	if (agent_parse("text", text, strlen(text), NULL, &a, &err) < 0)
		tap_diag("%s", err.text);
	return a;
}

/* An installation as npm makes it: a link in .bin, the package beside it. */
static void npm(const char *dir, const char *version)
{
	auto_free char *program = path_join(dir, PACKAGE "/cli.js");
	auto_free char *bin = path_join(dir, "node_modules/.bin");
	auto_free char *link = path_join(bin, "acme");
	auto_free char *text = mem_printf("{\"version\": \"%s\"}", version);
	struct err err;

	scene_add(dir, PACKAGE "/cli.js", "#!/usr/bin/env node\n");
	scene_add(dir, PACKAGE "/package.json", text);
	if (chmod(program, 0755) < 0 || fd_mkdirs(bin, 0755, &err) < 0 ||
	    symlink("../@acme/agent/cli.js", link) < 0)
		abort();
}

static void found(const struct agent *a, bool host_root, const char *what, const char *dir,
		  const char *box, const char *version)
{
	struct install in = { 0 };
	struct err err = { 0 };

	if (!tap_ok(install_find(a, host_root, &in, &err) == 0, "%s %s", what, err.text))
		return;
	tap_is_str(in.dir, dir, "what is bound");
	tap_is_str(in.box, box, "where the box sees it");
	tap_is_str(in.version, version, "version");
	install_done(&in);
}

static void missing(const struct agent *a, const char *want)
{
	struct install in = { 0 };
	struct err err = { 0 };

	if (!tap_ok(install_find(a, true, &in, &err) == -ERR_HOST && strstr(err.text, want),
		    "not installed: %s", want))
		tap_diag("%s", err.text);
}

int main(void)
{
	char *dir = scene_new();
	struct agent *a = agent("\"npm\": \"@acme/agent@1.2.3\"");
	struct agent *b = agent("\"npm\": \"@acme/agent\", \"name\": \"other\","
				" \"program\": \"" PACKAGE "/cli.js\"");
	struct agent *sh = agent("\"npm\": \"sh@1\", \"program\": \"sh\"");
	auto_free char *agents = path_join(dir, "agents"), *mine = path_join(agents, "acme");
	auto_free char *other = path_join(agents, "other");
	auto_free char *home = path_join(dir, "home");
	auto_free char *user = path_join(home, ".local/share/proctor/agents/acme");
	auto_free char *prefix = path_join(dir, "prefix/lib"), *bin = path_join(dir, "prefix/bin");
	auto_free char *link = path_join(bin, "acme"), *tool = path_join(bin, "tool");
	auto_free char *line = NULL;
	struct agent *t = agent("\"npm\": \"t\", \"program\": \"tool\"");

	unsetenv("PROCTOR_AGENTS");
	setenv("HOME", home, 1);
	setenv("PATH", "/usr/bin:/bin", 1);
	missing(a, "npm install --prefix ~/.local/share/proctor/agents/acme @acme/agent@1.2.3");
	missing(b, "~/.local/share/proctor/agents/other");
	found(sh, true, "a program of the system", NULL, "/usr/bin/sh", NULL);

	npm(prefix, "0.9");
	scene_add(bin, "tool", "");
	if (chmod(tool, 0755) < 0 || symlink("../lib/" PACKAGE "/cli.js", link) < 0)
		abort();
	setenv("PATH", bin, 1);
	found(a, true, "in PATH, elsewhere", prefix, "/opt/agent/" PACKAGE "/cli.js", "0.9");
	found(t, true, "a lone program in PATH", bin, "/opt/agent/tool", NULL);

	npm(user, "1.0");
	found(a, true, "the user's wins", user, "/opt/agent/node_modules/.bin/acme", "1.0");
	setenv("PROCTOR_AGENTS", agents, 1);
	missing(b, "npm install --prefix");
	npm(mine, "1.2.3");
	npm(other, "2");
	found(a, false, "$PROCTOR_AGENTS wins", mine, "/opt/agent/node_modules/.bin/acme", "1.2.3");
	found(b, true, "a path below the installation", other, "/opt/agent/" PACKAGE "/cli.js",
	      "2");
	line = install_line(a);
	tap_ok(line && strstr(line, agents), "the line names that directory: %s", line);
	setenv("PROCTOR_AGENTS", "agents", 1);
	found(a, true, "a relative $PROCTOR_AGENTS does not count", user,
	      "/opt/agent/node_modules/.bin/acme", "1.0");
	agent_free(a);
	agent_free(b);
	agent_free(t);
	agent_free(sh);
	scene_done(dir);
	return tap_done();
}
