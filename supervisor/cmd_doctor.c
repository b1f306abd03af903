#include "supervisor/cmd.h"

#include "base/json.h"
#include "sandbox/probe.h"

struct opts {
	bool json;
};

static const struct opt_row rows[] = {
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print as JSON" },
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

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	auto_buf out = BUF_INIT(1u << 20);
	struct opts o = { 0 };
	struct strv rest = { 0 };
	struct probe p;
	int status;

	if (cmd_parse(cmd, argc, argv, &o, &rest, &status) == 0) {
		bool all = true;

		probe_run(&p);
		if (o.json)
			as_json(&p, &out);
		else
			as_text(&p, &out);
		/* Control groups are a help, not a need: their lack alone is no failure. */
		for (int l = 0; l < LAYER_MAX; l++)
			all &= p.layer[l].on || l == LAYER_CGROUP;
		probe_done(&p);
		status = cmd_print(&out);
		if (status == 0 && !all)
			status = 1;
	}
	strv_done(&rest);
	return status;
}

const struct opt_cmd cmd_doctor = {
	.name = "doctor",
	.summary = "say which layers of isolation this machine offers, and how to get the rest",
	.synopsis = "[--json]",
	.text = "Every layer is found by trying it in a throw-away process.\n"
		"\n"
		"Exit status: 0 when all layers but control groups are on, 1 when one is missing.\n",
	.rows = rows,
	.run = run,
};
