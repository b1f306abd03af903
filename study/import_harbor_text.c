#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/netrules.h"
#include "study/import_harbor_internal.h"
#include "study/import_rows_internal.h"

#define SCRIPT_MAX (1u << 20) /* bytes of a test command */

#define VERIFIER_TIMEOUT 600 /* seconds; Harbor's default */

/* "${NAME:-default}" gives its default; "${NAME}" would come from the host, which no box sees: false. */
static bool resolved(const char *value, struct buf *out)
{
	const char *s = value;

	while (*s) {
		const char *close = str_starts(s, "${") ? strchr(s, '}') : NULL, *dflt;

		if (!close) {
			buf_addc(out, *s++);
			continue;
		}
		dflt = strstr(s, ":-");
		if (!dflt || dflt > close)
			return false;
		buf_add(out, dflt + 2, (size_t)(close - dflt) - 2);
		s = close + 1;
	}
	return true;
}

/* Variables of @from that do not depend on the host, as "KEY=value". */
static void variables(struct harbor *h, const struct strv *from, struct strv *out)
{
	strv_each (i, from) {
		const char *eq = strchr(from->v[i], '=');
		auto_buf value = BUF_INIT(SCRIPT_MAX);

		if (resolved(eq + 1, &value))
			strv_take(out, mem_printf("%.*s=%s", (int)(eq - from->v[i]), from->v[i],
						  buf_str(&value)));
		else
			harbor_note(h, "variable %.*s comes from the host and is left out",
				    (int)(eq - from->v[i]), from->v[i]);
	}
}

static void exports(struct buf *out, const struct strv *env)
{
	strv_each (i, env) {
		const char *eq = strchr(env->v[i], '=');

		buf_addf(out, "export %.*s=", (int)(eq - env->v[i]), env->v[i]);
		row_quote(out, eq + 1);
		buf_addc(out, '\n');
	}
}

/* The interpreter that @script names, "bash" otherwise. */
static void interpreter(const struct harbor *h, const char *script, struct buf *out)
{
	auto_free char *path = path_join(h->dir, script);
	auto_buf b = BUF_INIT(HARBOR_FILE_MAX);
	size_t n;

	if (fd_read_file(path, &b, NULL) == 0 && str_starts(buf_str(&b), "#!")) {
		const char *s = buf_str(&b) + 2;

		s += strspn(s, " \t");
		n = strspn(s,
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._- ");
		if (*s == '/' && (s[n] == '\n' || s[n] == '\r')) {
			buf_add(out, s, n);
			return;
		}
	}
	buf_adds(out, "bash");
}

/* What [[verifier.collect]] takes from the agent's work tree, and then the tree as it was: tests with an environment of
 * their own see the agent's work only through what was collected. */
static int collected(struct harbor *h, struct buf *out, struct err *err)
{
	const struct harbor_collect *c = h->toml.collect.v;

	if (!h->toml.collect.n)
		return 0;
	if (str_eq(h->toml.environment_mode, "separate") && !h->commit)
		return err_set(
			err, ERR_INPUT,
			"%s: [[verifier.collect]] with a separate environment needs a repository and its base "
			"commit; give --sources",
			h->dir);
	/* The agent's change stands in the index, as it would after its run. */
	if (h->commit)
		buf_addf(out, "git reset -q --soft %s || exit 125\n", h->commit);
	for (size_t i = 0; i < h->toml.collect.n; i++) {
		if (strcmp(c[i].service, "main") != 0) {
			harbor_note(h, "a collect command of service \"%s\" is left out",
				    c[i].service);
			continue;
		}
		buf_addf(out, "timeout %.0f sh -c ", ceil(c[i].timeout_sec));
		row_quote(out, c[i].command);
		buf_adds(out, " || echo 'a collect command failed' >&2\n");
	}
	if (str_eq(h->toml.environment_mode, "separate"))
		buf_addf(out, "git reset -q --hard %s && git clean -dffqx || exit 125\n",
			 h->commit);
	return 0;
}

static int command(struct harbor *h, struct buf *out, struct err *err)
{
	auto_strv env = { 0 };
	int rc;

	buf_adds(out, "mkdir -p /logs/agent /logs/artifacts 2>/dev/null\n");
	rc = collected(h, out, err);
	variables(h, &h->toml.verifier_env, &env);
	exports(out, &env);
	buf_adds(out, "exec ");
	interpreter(h, "tests/test.sh", out);
	buf_adds(out, " /tests/test.sh");
	if (rc == 0 && out->full)
		rc = err_set(err, ERR_INPUT, "%s: verifier commands of more than 1M", h->dir);
	return rc;
}

static void text(cJSON *o, const char *key, const char *s)
{
	if (s)
		cJSON_AddStringToObject(o, key, s);
}

static void strings(cJSON *o, const char *key, const struct strv *v)
{
	cJSON *a = cJSON_AddArrayToObject(o, key);

	strv_each (i, v)
		cJSON_AddItemToArray(a, cJSON_CreateString(v->v[i]));
}

static void megabytes(cJSON *o, const char *key, double mb)
{
	auto_free char *size = mem_printf("%.0fM", mb);

	if (mb >= 1)
		cJSON_AddStringToObject(o, key, size);
}

static void limits(struct harbor *h, cJSON *environment)
{
	cJSON *o = cJSON_CreateObject();
	const struct harbor_toml *t = &h->toml;

	megabytes(o, "memory", t->memory_mb);
	megabytes(o, "storage", t->storage_mb);
	if (t->cpus > 0 && t->cpus <= 4096)
		cJSON_AddNumberToObject(o, "cpus", ceil(t->cpus));
	if (t->agent_timeout > 0)
		cJSON_AddNumberToObject(o, "agent_timeout", ceil(t->agent_timeout));
	if (o->child)
		cJSON_AddItemToObject(environment, "limits", o);
	else
		cJSON_Delete(o);
}

/* Harbor writes IPv6 addresses without brackets. */
static void network(struct harbor *h, cJSON *environment)
{
	auto_strv hosts = { 0 };
	cJSON *o;

	if (!h->toml.agent_mode)
		return;
	o = cJSON_AddObjectToObject(environment, "network");
	cJSON_AddStringToObject(o, "mode", h->toml.agent_mode);
	strv_each (i, &h->toml.agent_hosts) {
		const char *s = h->toml.agent_hosts.v[i];

		strv_take(&hosts, strchr(s, ':') && !strchr(s, '/') && *s != '['
					  ? mem_printf("[%s]", s)
					  : mem_strdup(s));
	}
	if (hosts.n)
		strings(o, "hosts", &hosts);
}

static void environment(struct harbor *h, cJSON *root)
{
	cJSON *o = cJSON_AddObjectToObject(root, "environment"), *env;
	auto_strv vars = { 0 };

	text(o, "rootfs", h->rootfs);
	variables(h, &h->toml.env, &vars);
	strv_each (i, &h->docker.env)
		strv_add(&vars, h->docker.env.v[i]);
	env = cJSON_CreateObject();
	strv_each (i, &vars) {
		const char *eq = strchr(vars.v[i], '=');
		auto_free char *key = mem_strndup(vars.v[i], (size_t)(eq - vars.v[i]));

		if (!cJSON_GetObjectItemCaseSensitive(env, key))
			cJSON_AddStringToObject(env, key, eq + 1);
	}
	cJSON_AddItemToObject(o, "env", env);
	limits(h, o);
	network(h, o);
}

static void tests(struct harbor *h, cJSON *root, const char *cmd)
{
	cJSON *o = cJSON_AddObjectToObject(root, "test"), *files, *f;
	auto_free char *from = mem_printf("%s.harbor/tests", h->id);
	double timeout = h->toml.verifier_timeout > 0 ? h->toml.verifier_timeout : VERIFIER_TIMEOUT;
	struct strv none = { 0 }, reward = { 0 };

	text(o, "command", cmd);
	text(o, "reader", "reward");
	text(o, "report", "/logs/verifier");
	cJSON_AddNumberToObject(o, "timeout", ceil(timeout));
	files = cJSON_AddArrayToObject(o, "files");
	f = cJSON_CreateObject();
	text(f, "from", from);
	text(f, "to", "/tests");
	cJSON_AddItemToArray(files, f);
	strv_add(&reward, "reward");
	strings(root, "FAIL_TO_PASS", &reward);
	strings(root, "PASS_TO_PASS", &none);
	strv_done(&reward);
}

/* solve.sh, when there is no patch to use. */
static void solution(struct harbor *h, cJSON *root)
{
	auto_free char *from = mem_printf("%s.harbor/solution", h->id);
	auto_buf cmd = BUF_INIT(SCRIPT_MAX);
	auto_strv env = { 0 };
	cJSON *o, *f;

	if (h->patch || !harbor_has(h->dir, "solution/solve.sh"))
		return;
	variables(h, &h->toml.solution_env, &env);
	exports(&cmd, &env);
	buf_adds(&cmd, "exec ");
	interpreter(h, "solution/solve.sh", &cmd);
	buf_adds(&cmd, " /solution/solve.sh");
	o = cJSON_AddObjectToObject(root, "solution");
	text(o, "command", buf_str(&cmd));
	f = cJSON_CreateObject();
	text(f, "from", from);
	text(f, "to", "/solution");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(o, "files"), f);
}

/* What has no place in a task. */
static void losses(struct harbor *h)
{
	const struct harbor_toml *t = &h->toml;

	if (!str_eq(t->verifier_mode, "no-network"))
		harbor_note(h, "the tests run without network (the task's verifier has %s)",
			    t->verifier_mode ? t->verifier_mode : "public");
	if (t->verifier_has_image)
		harbor_note(
			h,
			"the verifier's own environment is not used: tests run in the task's root file system");
	if (harbor_has(h->dir, "environment/docker-compose.yaml"))
		harbor_note(h, "docker-compose.yaml is not carried out");
	strv_each (i, &t->unknown)
		harbor_note(h, "task.toml: key \"%s\" is not of Harbor's schema", t->unknown.v[i]);
}

int harbor_task_text(struct harbor *h, struct buf *out, struct err *err)
{
	auto_buf cmd = BUF_INIT(SCRIPT_MAX);
	auto_free char *printed = NULL;
	cJSON *root;
	int rc = command(h, &cmd, err);

	if (rc < 0)
		return rc;
	root = cJSON_CreateObject();
	text(root, "schema", "proctor.task/1");
	text(root, "instance_id", h->id);
	text(root, "repo", h->toml.repo ? h->toml.repo : h->toml.name);
	text(root, "base_commit", h->commit);
	text(root, "problem_statement", h->statement);
	text(root, "source", h->source);
	text(root, "workdir", h->workdir);
	environment(h, root);
	text(root, "patch", h->patch);
	tests(h, root, buf_str(&cmd));
	solution(h, root);
	losses(h);
	printed = cJSON_Print(root);
	cJSON_Delete(root);
	ensure(printed, "out of memory");
	buf_adds(out, printed);
	buf_addc(out, '\n');
	return 0;
}
