#include "supervisor/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "verifier/gate.h"

struct opts {
	const char *task, *profile, *out;
	uint64_t repeats;
	bool json, accept_conflict, quiet;
};

static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "task that the scenarios belong to (default: task.json beside each scenario)" },
	{ 'n', "repeats", OPT_U64, offsetof(struct opts, repeats), "N",
	  "run every check N times; all must agree (default 1)" },
	{ 'p', "profile", OPT_STR, offsetof(struct opts, profile), "NAME|FILE",
	  "policy of the grading boxes (default: verify)" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "write NAME.gate.json for each scenario there" },
	{ 0, "accept-apply-conflict", OPT_FLAG, offsetof(struct opts, accept_conflict), NULL,
	  "exit 0 also when the reference no longer applies after the edit" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "print gate.json" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0 },
};

static int report(const struct opts *o, const struct scenario *sc, const struct gate_result *r,
		  struct err *err)
{
	auto_buf text = BUF_INIT(1u << 20);
	int rc = 0;

	gate_json(sc, r, &text);
	if (o->out) {
		auto_free char *name = mem_printf("%s/%s.gate.json", o->out, sc->id);

		rc = fd_mkdirs(o->out, 0755, err);
		if (rc == 0)
			rc = fd_replace_file(name, buf_str(&text), text.len, err);
	}
	if (rc == 0 && o->json)
		return cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	if (o->quiet)
		return rc;
	printf("%s: %s%s%s\n", sc->id, gate_verdict_name(r->verdict), r->reason ? ": " : "",
	       r->reason ? r->reason : "");
	for (size_t i = 0; i < r->n; i++)
		printf("  %-26s expected %-10s got %s\n", r->check[i].name,
		       r->check[i].expected ? "resolved" : "unresolved",
		       verdict_name(r->check[i].got));
	return rc;
}

/* 0 valid, 1 not, negative on error. */
static int one(const struct opts *o, const char *file, const struct profile *profile,
	       struct janitor *jan, struct err *err)
{
	auto_free char *dir = path_dir(file), *beside = path_join(dir, "task.json");
	unsigned repeats = o->repeats ? (unsigned)o->repeats : 1;
	struct scenario *sc = NULL;
	struct task *task = NULL;
	struct gate_result r = { 0 };
	int rc = scenario_load(file, &sc, err);

	if (rc == 0)
		rc = task_load(o->task ? o->task : beside, &task, err);
	if (rc == 0)
		rc = gate_run(task, sc, profile, repeats, jan, &r, err);
	if (rc == 0)
		rc = report(o, sc, &r, err);
	if (rc == 0)
		rc = r.verdict == GATE_VALID ||
				     (r.verdict == GATE_APPLY_CONFLICT && o->accept_conflict)
			     ? 0
			     : 1;
	gate_done(&r);
	task_free(task);
	scenario_free(sc);
	return rc;
}

static int whole(const struct opts *o, const struct strv *files, struct err *err)
{
	struct profile *profile = NULL;
	struct janitor *jan = NULL;
	int rc, worst = 0;

	if (!files->n)
		return err_set(err, ERR_USAGE, "gate: give at least one scenario file");
	rc = profile_load(o->profile ? o->profile : "verify", &profile, err);
	if (rc == 0)
		rc = janitor_start(&jan, NULL, err);
	for (size_t i = 0; rc >= 0 && i < files->n; i++) {
		rc = one(o, files->v[i], profile, jan, err);
		if (rc > worst)
			worst = rc;
	}
	janitor_finish(jan);
	profile_free(profile);
	return rc < 0 ? rc : worst;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };
	struct strv rest = { 0 };
	struct err err = { 0 };
	int status, rc;

	if (cmd_parse(cmd, argc, argv, &o, &rest, &status) == 0) {
		rc = whole(&o, &rest, &err);
		status = rc < 0 ? cmd_fail(rc, &err) : rc;
	}
	strv_done(&rest);
	return status;
}

const struct opt_cmd cmd_gate = {
	.name = "gate",
	.summary = "check that a scenario's edit does what it is meant to do",
	.synopsis = "[--task FILE] SCENARIO...",
	.text = "Counter-Edit: the tests fail with the edit alone, pass with the reference alone, and\n"
		"fail with the edit followed by the reference. Co-Edit: the same, but the last passes.\n"
		"Each check runs in a fresh box; the verdict is recomputed from the outcomes.\n"
		"\n"
		"Exit status: 0 all valid, 1 one is not (invalid, apply_conflict, infra), 2 usage, 3 a bad\n"
		"file, 4 and above as for run.\n",
	.rows = rows,
	.run = run,
};
