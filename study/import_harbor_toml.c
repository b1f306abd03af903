#include "study/import_harbor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/toml.h"

#define COLLECT_MAX 100u

enum kind { TEXT, NUMBER, ENV };

#define OFF(field) offsetof(struct harbor_toml, field)

/* clang-format off */
/* What is used. Numbers may be whole or not, and are not negative. */
static const struct row {
	const char *path;
	enum kind kind;
	size_t off;
} rows[] = {
	{ "schema_version",                TEXT,   OFF(schema_version) },
	{ "version",                       TEXT,   OFF(schema_version) }, /* 1.0 */
	{ "task.name",                     TEXT,   OFF(name) },
	{ "metadata.base_commit",          TEXT,   OFF(base_commit) },
	{ "metadata.repo",                 TEXT,   OFF(repo) },
	{ "agent.timeout_sec",             NUMBER, OFF(agent_timeout) },
	{ "verifier.timeout_sec",          NUMBER, OFF(verifier_timeout) },
	{ "verifier.environment_mode",     TEXT,   OFF(environment_mode) },
	{ "verifier.env",                  ENV,    OFF(verifier_env) },
	{ "environment.cpus",              NUMBER, OFF(cpus) },
	{ "environment.memory_mb",         NUMBER, OFF(memory_mb) },
	{ "environment.storage_mb",        NUMBER, OFF(storage_mb) },
	{ "environment.docker_image",      TEXT,   OFF(docker_image) },
	{ "environment.workdir",           TEXT,   OFF(workdir) },
	{ "environment.os",                TEXT,   OFF(os) },
	{ "environment.env",               ENV,    OFF(env) },
	{ "solution.env",                  ENV,    OFF(solution_env) },
};

/* Keys of Harbor's schema, 1.0 to 1.4, as far down as they are looked at here. */
static const struct {
	const char *table, *keys;
} schema[] = {
	{ "", " schema_version version task metadata verifier agent environment solution source steps artifacts "
	      "multi_step_reward_strategy multi_step_reward_mode " },
	{ "task", " name version description authors keywords " },
	{ "agent", " timeout_sec user network_mode allowed_hosts " },
	{ "verifier", " timeout_sec env user network_mode allowed_hosts environment_mode environment continuous collect " },
	{ "solution", " env " },
	{ "environment", " build_timeout_sec docker_image os cpus memory_mb storage_mb gpus gpu_types tpu mcp_servers env "
			 "skills_dir healthcheck workdir allow_internet network_mode allowed_hosts memory storage " },
};
/* clang-format on */

static void collect_done(struct harbor_toml *t)
{
	struct harbor_collect *c = t->collect.v;

	for (size_t i = 0; i < t->collect.n; i++) {
		free(c[i].command);
		free(c[i].service);
	}
	free(c);
}

void harbor_toml_done(struct harbor_toml *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		void *field = (char *)t + rows[i].off;

		if (rows[i].kind == TEXT) {
			free(*(char **)field);
			*(char **)field = NULL;
		}
	}
	free(t->agent_mode);
	free(t->verifier_mode);
	strv_done(&t->agent_hosts);
	strv_done(&t->env);
	strv_done(&t->verifier_env);
	strv_done(&t->solution_env);
	strv_done(&t->artifacts);
	strv_done(&t->unknown);
	collect_done(t);
	*t = (struct harbor_toml){ 0 };
}

/* Member at a dotted path; NULL when it is not there. */
static const cJSON *at(const cJSON *root, const char *path)
{
	while (root && *path) {
		size_t n = strcspn(path, ".");
		auto_free char *key = mem_strndup(path, n);

		root = cJSON_IsObject(root) ? cJSON_GetObjectItemCaseSensitive(root, key) : NULL;
		path += n + (path[n] == '.');
	}
	return root;
}

static int complain(const struct json_src *src, const char *path, struct err *err, const char *what)
{
	auto_free char *where = mem_printf("$.%s", path);

	return json_complain(src, where, err, "%s", what);
}

static int list(const struct json_src *src, const char *path, const cJSON *v, struct strv *out,
		struct err *err)
{
	const cJSON *e;

	if (!cJSON_IsArray(v))
		return complain(src, path, err, "expected an array of strings");
	cJSON_ArrayForEach (e, v) {
		if (!cJSON_IsString(e))
			return complain(src, path, err, "expected an array of strings");
		strv_add(out, e->valuestring);
	}
	return 0;
}

static int env(const struct json_src *src, const char *path, const cJSON *v, struct strv *out,
	       struct err *err)
{
	const cJSON *e;

	if (!cJSON_IsObject(v))
		return complain(src, path, err, "expected a table of strings");
	cJSON_ArrayForEach (e, v) {
		if (!cJSON_IsString(e))
			return complain(src, path, err, "expected a table of strings");
		strv_take(out, mem_printf("%s=%s", e->string, e->valuestring));
	}
	return 0;
}

static int read_row(const struct json_src *src, const struct row *r, struct harbor_toml *t,
		    struct err *err)
{
	const cJSON *v = at(src->root, r->path);
	void *field = (char *)t + r->off;

	if (!v)
		return 0;
	if (r->kind == ENV)
		return env(src, r->path, v, field, err);
	if (r->kind == NUMBER) {
		if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= 1e12))
			return complain(src, r->path, err, "expected a number, 0 or more");
		*(double *)field = v->valuedouble;
		return 0;
	}
	if (!cJSON_IsString(v))
		return complain(src, r->path, err, "expected a string");
	free(*(char **)field);
	*(char **)field = mem_strdup(v->valuestring);
	return 0;
}

/* Sizes of schema 1.0: "2G", "512M", "1024K"; megabytes otherwise. */
static int old_size(const struct json_src *src, const char *path, double *mb, struct err *err)
{
	const cJSON *v = at(src->root, path);
	char *end;
	double n;

	if (!v)
		return 0;
	n = cJSON_IsString(v) ? strtod(v->valuestring, &end) : -1;
	if (!(n >= 0 && n <= 1e9) || end == v->valuestring || !*end || end[1] ||
	    !strchr("GMKgmk", *end))
		return complain(src, path, err, "expected a size such as \"2G\" or \"512M\"");
	n *= (*end | 0x20) == 'g' ? 1024 : (*end | 0x20) == 'm' ? 1 : 1.0 / 1024;
	if (*mb >= 0 && floor(*mb) != floor(n))
		return complain(src, path, err, "contradicts the field that ends in _mb");
	*mb = floor(n);
	return 0;
}

static bool is_mode(const char *s)
{
	return str_eq(s, "public") || str_eq(s, "no-network") || str_eq(s, "allowlist");
}

/* Mode and hosts of table @table into *mode and @hosts; what it does not say stays as it was. */
static int network(const struct json_src *src, const char *table, char **mode, struct strv *hosts,
		   struct err *err)
{
	auto_free char *p_mode = mem_printf("%s.network_mode", table);
	auto_free char *p_hosts = mem_printf("%s.allowed_hosts", table);
	auto_free char *p_old = mem_printf("%s.allow_internet", table);
	const cJSON *m = at(src->root, p_mode), *h = at(src->root, p_hosts),
		    *old = at(src->root, p_old);
	bool allow = m && cJSON_IsString(m) && strcmp(m->valuestring, "allowlist") == 0;

	if (m && (!cJSON_IsString(m) || !is_mode(m->valuestring)))
		return complain(src, p_mode, err,
				"expected \"public\", \"no-network\" or \"allowlist\"");
	if (h && !allow)
		return complain(src, p_hosts, err, "hosts go with network_mode \"allowlist\" only");
	if (old && !cJSON_IsBool(old))
		return complain(src, p_old, err, "expected true or false");
	if (!m && !old)
		return 0;
	free(*mode);
	*mode = mem_strdup(m ? m->valuestring : cJSON_IsTrue(old) ? "public" : "no-network");
	strv_done(hosts);
	return h ? list(src, p_hosts, h, hosts, err) : 0;
}

/* [agent] and [verifier] override [environment]. */
static int networks(const struct json_src *src, struct harbor_toml *t, struct err *err)
{
	auto_strv hosts = { 0 };
	int rc = network(src, "environment", &t->agent_mode, &t->agent_hosts, err);

	if (rc == 0)
		t->verifier_mode = mem_strdup(t->agent_mode);
	if (rc == 0)
		rc = network(src, "agent", &t->agent_mode, &t->agent_hosts, err);
	if (rc == 0)
		rc = network(src, "verifier.environment", &t->verifier_mode, &hosts, err);
	if (rc == 0)
		rc = network(src, "verifier", &t->verifier_mode, &hosts, err);
	return rc;
}

static int collects(const struct json_src *src, struct harbor_toml *t, struct err *err)
{
	const cJSON *v = at(src->root, "verifier.collect"), *e;
	struct harbor_collect *c;

	if (!v)
		return 0;
	if (!cJSON_IsArray(v) || cJSON_GetArraySize(v) > (int)COLLECT_MAX)
		return complain(src, "verifier.collect", err, "expected at most 100 tables");
	c = t->collect.v = mem_zalloc((size_t)cJSON_GetArraySize(v) + 1, sizeof(*c));
	cJSON_ArrayForEach (e, v) {
		const cJSON *command = at(e, "command"), *service = at(e, "service"),
			    *sec = at(e, "timeout_sec");

		if (!cJSON_IsString(command) || (service && !cJSON_IsString(service)) ||
		    (sec &&
		     !(cJSON_IsNumber(sec) && sec->valuedouble > 0 && sec->valuedouble < 1e9)))
			return complain(
				src, "verifier.collect", err,
				"expected command (string), service (string) and timeout_sec (number)");
		c[t->collect.n++] = (struct harbor_collect){
			.command = mem_strdup(command->valuestring),
			.service = mem_strdup(service ? service->valuestring : "main"),
			.timeout_sec = sec ? sec->valuedouble : 60,
		};
	}
	return 0;
}

/* Paths, or tables with "source". */
static int artifacts(const struct json_src *src, struct harbor_toml *t, struct err *err)
{
	const cJSON *v = at(src->root, "artifacts"), *e;

	cJSON_ArrayForEach (e, v) {
		const cJSON *path = cJSON_IsObject(e) ? at(e, "source") : e;

		if (!cJSON_IsString(path))
			return complain(src, "artifacts", err,
					"expected paths, or tables with \"source\"");
		strv_add(&t->artifacts, path->valuestring);
	}
	return 0;
}

static int check(const struct json_src *src, struct harbor_toml *t, struct err *err)
{
	static const char *const versions[] = { "1.0", "1.1", "1.2", "1.3", "1.4" };
	const cJSON *steps = at(src->root, "steps");
	bool known = !t->schema_version;

	for (size_t i = 0; i < ARRAY_SIZE(versions) && !known; i++)
		known = strcmp(t->schema_version, versions[i]) == 0;
	if (!known)
		return complain(src, "schema_version", err, "known are 1.0 to 1.4");
	if (t->environment_mode && !str_eq(t->environment_mode, "shared") &&
	    !str_eq(t->environment_mode, "separate"))
		return complain(src, "verifier.environment_mode", err,
				"expected \"shared\" or \"separate\"");
	t->verifier_has_image = at(src->root, "verifier.environment") != NULL;
	if (t->verifier_has_image && str_eq(t->environment_mode, "shared"))
		return complain(src, "verifier.environment", err,
				"contradicts environment_mode \"shared\"");
	if (!t->environment_mode)
		t->environment_mode = mem_strdup(t->verifier_has_image ? "separate" : "shared");
	t->steps = steps ? (size_t)cJSON_GetArraySize(steps) : 0;
	return 0;
}

static void unknown(const cJSON *root, struct harbor_toml *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(schema); i++) {
		const cJSON *table = at(root, schema[i].table), *e;

		if (!cJSON_IsObject(table))
			continue;
		cJSON_ArrayForEach (e, table) {
			auto_free char *word = mem_printf(" %s ", e->string);

			if ((strchr(e->string, ' ') || !strstr(schema[i].keys, word)) &&
			    t->unknown.n < 100)
				strv_take(&t->unknown,
					  mem_printf("%s%s%s", schema[i].table,
						     *schema[i].table ? "." : "", e->string));
		}
	}
}

int harbor_toml_parse(const char *name, const char *text, size_t n, struct harbor_toml *ret,
		      struct err *err)
{
	struct harbor_toml t = { .agent_timeout = -1,
				 .verifier_timeout = -1,
				 .cpus = -1,
				 .memory_mb = -1,
				 .storage_mb = -1 };
	struct json_src src = { 0 };
	int rc = toml_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(rows) && rc == 0; i++)
		rc = read_row(&src, &rows[i], &t, err);
	if (rc == 0)
		rc = old_size(&src, "environment.memory", &t.memory_mb, err);
	if (rc == 0)
		rc = old_size(&src, "environment.storage", &t.storage_mb, err);
	if (rc == 0)
		rc = networks(&src, &t, err);
	if (rc == 0)
		rc = collects(&src, &t, err);
	if (rc == 0)
		rc = artifacts(&src, &t, err);
	if (rc == 0)
		rc = check(&src, &t, err);
	if (rc == 0)
		unknown(src.root, &t);
	json_src_done(&src);
	if (rc < 0)
		harbor_toml_done(&t);
	else
		*ret = t;
	return rc;
}
