#include "supervisor/cmd.h"

#include "base/json.h"
#include "base/mem.h"
#include "profiles/install.h"
#include "sandbox/probe.h"

struct opts {
	bool json, agents;
};

static const struct opt_row rows[] = {
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print as JSON" },
	{ 0, "agents", OPT_FLAG, offsetof(struct opts, agents), NULL,
	  "say which of the shipped agents are installed, and how to install the others" },
	{ 0 },
};

static void as_json(const struct probe *p, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.doctor/1");
	json_open(&w, "layers", '{');
	for (int l = 0; l < LAYER_MAX; l++) {
		json_open(&w, layer_name((enum layer)l), '{');
		json_bool(&w, "on", p->layer[l].on);
		json_str(&w, "detail", p->layer[l].detail);
		json_str(&w, "fix", p->layer[l].fix);
		json_close(&w, '}');
	}
	json_close(&w, '}');
	json_close(&w, '}');
	buf_addc(out, '\n');
}

static void as_text(const struct probe *p, struct buf *out)
{
	for (int l = 0; l < LAYER_MAX; l++) {
		const struct probe_row *r = &p->layer[l];

		buf_addf(out, "%-14s %-3s %s\n", layer_name((enum layer)l), r->on ? "on" : "OFF",
			 r->detail ? r->detail : "");
		if (!r->on && r->fix)
			buf_addf(out, "%-18s fix: %s\n", "", r->fix);
	}
}

static int layers(const struct opts *o, struct buf *out)
{
	bool all = true;
	struct probe p;

	probe_run(&p);
	if (o->json)
		as_json(&p, out);
	else
		as_text(&p, out);
	/* Control groups are a help, not a need: their lack alone is no failure. */
	for (int l = 0; l < LAYER_MAX; l++)
		all &= p.layer[l].on || l == LAYER_CGROUP;
	probe_done(&p);
	return all ? 0 : 1;
}

static void agent_json(struct json_w *w, const struct agent *a, const struct install *in)
{
	auto_free char *line = install_line(a);

	json_open(w, a->name, '{');
	json_bool(w, "installed", in->program != NULL);
	json_str(w, "program", in->program);
	json_str(w, "directory", in->dir);
	json_str(w, "version", in->version);
	json_str(w, "api", agent_api_name((enum agent_api)a->api));
	json_str(w, "message_via", agent_via_name(a->via));
	json_str(w, "install", line);
	json_str(w, "sandbox", a->sandbox);
	json_close(w, '}');
}

static void agent_text(struct buf *out, const struct agent *a, const struct install *in)
{
	auto_free char *line = install_line(a);

	if (in->program)
		buf_addf(out, "%-15s %-10s %s\n", a->name, in->version ? in->version : "found",
			 in->program);
	else
		buf_addf(out, "%-15s %-10s %s\n", a->name, "MISSING", line ? line : "");
	if (a->sandbox)
		buf_addf(out, "%-15s %s\n", "", a->sandbox);
}

/* 1 when none is installed: there is nothing to run a task with then. */
static int agents(const struct opts *o, struct buf *out, struct err *err)
{
	struct json_w w = { .b = out, .pretty = true };
	auto_strv files = { 0 };
	size_t found = 0;
	int rc = 0;

	install_shipped(&files);
	if (o->json) {
		json_open(&w, NULL, '{');
		json_str(&w, "schema", "proctor.doctor/1");
		json_open(&w, "agents", '{');
	}
	for (size_t i = 0; i < files.n && rc == 0; i++) {
		struct install in = { 0 };
		struct agent *a = NULL;

		rc = agent_load(files.v[i], &a, err);
		if (rc == 0 && a->package) {
			/* What is missing shows as an empty installation, with the line. */
			found += install_find(a, true, &in, NULL) == 0;
			if (o->json)
				agent_json(&w, a, &in);
			else
				agent_text(out, a, &in);
		}
		install_done(&in);
		agent_free(a);
	}
	if (o->json) {
		json_close(&w, '}');
		json_close(&w, '}');
		buf_addc(out, '\n');
	}
	return rc < 0 ? rc : found == 0;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	auto_buf out = BUF_INIT(1u << 20);
	struct err err = { 0 };
	struct opts o = { 0 };
	struct strv rest = { 0 };
	int status;

	if (cmd_parse(cmd, argc, argv, &o, &rest, &status) == 0) {
		int rc = o.agents ? agents(&o, &out, &err) : layers(&o, &out);

		status = rc < 0 ? cmd_fail(rc, &err) : cmd_print(&out);
		if (status == 0)
			status = rc;
	}
	strv_done(&rest);
	return status;
}

const struct opt_cmd cmd_doctor = {
	.name = "doctor",
	.summary = "say which layers of isolation this machine offers, and how to get the rest",
	.synopsis = "[--agents] [--json]",
	.text = "Every layer is found by trying it in a throw-away process.\n"
		"\n"
		"With --agents: where each shipped agent is installed ($PROCTOR_AGENTS/NAME,\n"
		"~/.local/share/proctor/agents/NAME, PATH), its version, and what becomes of a\n"
		"sandbox of its own. Nothing is ever installed; the line that does it is shown.\n"
		"\n"
		"Exit status: 0 when all layers but control groups are on, 1 when one is missing;\n"
		"with --agents, 1 when no agent is installed.\n",
	.rows = rows,
	.run = run,
};
