#include "supervisor/cmd.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/runfile.h"

struct opts {
	bool json;
};

static const struct opt_row rows[] = {
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print as JSON" },
	{ 0 },
};

/* The smallest change that would allow what was refused. First row that fits wins. */
static const struct {
	const char *what, *rule, *change;
} advice[] = {
	{ "connect *", "network.mode no-network*",
	  "name the host: --set network.mode=allowlist --set network.hosts=HOST" },
	{ "dns *", "network.mode no-network*",
	  "name the host: --set network.mode=allowlist --set network.hosts=HOST" },
	{ "*", "network.hosts*",
	  "add the host to network.hosts of the profile, or use mode public" },
	{ "connect *", "*private*",
	  "private addresses need a rule of their own in network.hosts, such as 10.0.0.5:8080" },
	{ "connect *", "*address*",
	  "nothing allows it: this host's own, link-local and metadata addresses stay closed" },
	{ "request *", "model routes only",
	  "nothing allows it: only the routes of the model API are served" },
	{ "model *", "model.provider_tools*",
	  "nothing allows it: the provider would reach the network for the agent" },
	{ "model *", "model.pin*", "give --model without a name, or --set model.pin=off" },
	{ "open /proc/*", "*",
	  "/proc is read-only for the agent; nothing in the profile opens it" },
	{ "open *", "filesystem: mounted read-only*",
	  "add the directory to filesystem.write of the profile (it then reaches the host)" },
	{ "open *", "filesystem: permission*",
	  "add the path to filesystem.read of the profile, or make it readable for others" },
	{ "*", "limits.disk", "raise limits.disk, e.g. --set limits.disk=16G" },
	{ "*", "syscalls*", "the policy filter refuses the call; see syscalls in the profile" },
	{ "*", "*", "no single field allows it" },
};

/* End reasons and what moves them. */
static const struct {
	const char *reason, *change;
} ends[] = {
	{ "limit:wall", "raise limits.wall, e.g. --set limits.wall=2h" },
	{ "limit:cpu", "raise limits.cpu, e.g. --set limits.cpu=2h" },
	{ "limit:memory", "raise limits.memory, e.g. --set limits.memory=8G" },
	{ "limit:processes", "raise limits.processes, e.g. --set limits.processes=2048" },
	{ "limit:disk", "raise limits.disk, e.g. --set limits.disk=16G" },
	{ "limit:output", "raise limits.output, e.g. --set limits.output=256M" },
	{ "limit:model_calls", "raise limits.model_calls, e.g. --set limits.model_calls=500" },
	{ "limit:input_tokens",
	  "raise limits.input_tokens, e.g. --set limits.input_tokens=2000000" },
	{ "limit:output_tokens",
	  "raise limits.output_tokens, e.g. --set limits.output_tokens=200000" },
	{ "limit:total_tokens",
	  "raise limits.total_tokens, e.g. --set limits.total_tokens=2000000" },
	{ "limit:dollars",
	  "raise limits.dollars, e.g. --set limits.dollars=10; a model without a price "
	  "needs a row in the price file" },
};

static const char *string_of(const cJSON *obj, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsString(item) ? item->valuestring : "";
}

static const char *advise(const char *what, const char *rule)
{
	for (size_t i = 0; i < ARRAY_SIZE(advice); i++) {
		if (fnmatch(advice[i].what, what, 0) == 0 && fnmatch(advice[i].rule, rule, 0) == 0)
			return advice[i].change;
	}
	return "";
}

static void put_row(struct json_w *w, struct buf *out, bool json, const char *what,
		    const char *rule, double count, const char *change)
{
	if (json) {
		json_open(w, NULL, '{');
		json_str(w, "what", what);
		json_str(w, "rule", rule);
		json_u64(w, "count", (uint64_t)count);
		json_str(w, "change", change);
		json_close(w, '}');
		return;
	}
	json_escape(out, what, strlen(what));
	buf_addf(out, "\n    refused by: %s (%.0f times)\n    to allow:   %s\n", rule, count,
		 change);
}

static void explain(const cJSON *root, bool json, struct buf *out)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "denied"), *d;
	const char *reason = string_of(cJSON_GetObjectItemCaseSensitive(root, "end"), "reason");
	struct json_w w = { .b = out, .pretty = true };
	size_t start;

	if (json)
		json_open(&w, NULL, '[');
	start = out->len;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (strcmp(ends[i].reason, reason) == 0)
			put_row(&w, out, json, "the run itself was ended", reason, 1,
				ends[i].change);
	}
	cJSON_ArrayForEach (d, list) {
		const cJSON *count = cJSON_GetObjectItemCaseSensitive(d, "count");
		const char *what = string_of(d, "what"), *rule = string_of(d, "rule");

		put_row(&w, out, json, what, rule, cJSON_IsNumber(count) ? count->valuedouble : 1,
			advise(what, rule));
	}
	if (json)
		json_close(&w, ']');
	else if (out->len == start)
		buf_adds(out, "nothing was refused in what this run recorded\n"
			      "(reads that fail are recorded with --trace full only)");
	buf_addc(out, '\n');
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	auto_buf out = BUF_INIT(64u << 20);
	struct opts o = { 0 };
	struct strv rest = { 0 };
	struct runfile rf = { 0 };
	struct err err = { 0 };
	int status, rc;

	if (cmd_parse(cmd, argc, argv, &o, &rest, &status) == 0) {
		rc = rest.n == 1 ? runfile_load(rest.v[0], &rf, &err)
				 : err_set(&err, ERR_USAGE, "explain: give one run directory");
		if (rc == 0)
			explain(rf.src.root, o.json, &out);
		status = rc < 0 ? cmd_fail(rc, &err) : cmd_print(&out);
	}
	runfile_done(&rf);
	strv_done(&rest);
	return status;
}

const struct opt_cmd cmd_explain = {
	.name = "explain",
	.summary = "say what was refused in a run, by which rule, and what would allow it",
	.synopsis = "RUN [--json]",
	.text = "Lists each refusal once with its count, the rule behind it, and the smallest change of\n"
		"the profile that would allow it.\n",
	.rows = rows,
	.run = run,
};
