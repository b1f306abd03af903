#include "supervisor/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "profiles/task.h"
#include "sandbox/janitor.h"
#include "study/mine.h"
#include "verifier/basetree.h"
#include "verifier/traj.h"

struct opts {
	const char *task, *format, *workdir, *out;
	uint64_t max, min_models, merge_gap;
	int algorithm, lines;
	bool unfinished, all_edits, enclosing, quiet;
};

/* clang-format off */
static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "task file: its reference patch is the last resort, its hidden tests are noise, its tree is what lines are counted in" },
	{ 'a', "algorithm", OPT_ENUM, offsetof(struct opts, algorithm), "NAME",
	  "edits (the released miner, default) or reads+edits (overlap of both, by tiers)", mine_algorithm_names },
	{ 'l', "lines", OPT_ENUM, offsetof(struct opts, lines), "WHOSE",
	  "lines of the base tree (base, default), of the final trees (final), or whole hunks there (hunk)", mine_lines_names },
	{ 0, "max", OPT_U64, offsetof(struct opts, max), "N", "at most N regions, 1 to 8 (default 8)" },
	{ 0, "min-models", OPT_U64, offsetof(struct opts, min_models), "N",
	  "models that must agree on a line (default: 2 with edits, all with reads+edits)" },
	{ 0, "merge-gap", OPT_U64, offsetof(struct opts, merge_gap), "N",
	  "regions with at most N lines between them become one (default: 0 with edits, 3 with reads+edits)" },
	{ 0, "enclosing", OPT_FLAG, offsetof(struct opts, enclosing), NULL,
	  "grow regions of one line to the function around them; needs --task" },
	{ 0, "all-edits", OPT_FLAG, offsetof(struct opts, all_edits), NULL,
	  "count lines that were edited and put back before the end" },
	{ 0, "unfinished", OPT_FLAG, offsetof(struct opts, unfinished), NULL,
	  "count trajectories that did not come to their own end" },
	{ 'f', "format", OPT_STR, offsetof(struct opts, format), "NAME",
	  "run, atif, normalised, swe-agent or mini-swe-agent (default: told by the contents)" },
	{ 'w', "workdir", OPT_STR, offsetof(struct opts, workdir), "DIR",
	  "where the repository was for the agent, when the record does not say" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "FILE", "write the regions there, not to standard output" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "no summary on standard error" },
	{ 0 },
};
/* clang-format on */

static int read_base(void *arg, const char *path, struct buf *out, struct err *err)
{
	return basetree_read(arg, path, out, err);
}

/* One operand: FILE, or MODEL=FILE. A file of that very name wins. */
static int load(const struct opts *o, const char *operand, struct trajs *t, struct err *err)
{
	const char *eq = strchr(operand, '=');
	size_t before = t->n;
	bool named = eq && eq > operand && access(operand, F_OK) != 0;
	int rc = trajs_load(named ? eq + 1 : operand, o->format, o->workdir, t, err);

	for (size_t i = before; rc == 0 && named && i < t->n; i++) {
		free(t->v[i].model);
		t->v[i].model = mem_strndup(operand, (size_t)(eq - operand));
	}
	return rc;
}

static int same_task(const struct trajs *t, const struct task *task, struct err *err)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].instance_id && !str_eq(t->v[i].instance_id, task->instance_id))
			return err_set(err, ERR_INPUT, "%s is of task %s, not of %s", t->v[i].file,
				       t->v[i].instance_id, task->instance_id);
	return 0;
}

static void summary(const struct trajs *t, const struct mine_result *r)
{
	const struct regionfile *rf = &r->file;

	for (size_t i = 0; i < t->n; i++) {
		const struct traj *v = &t->v[i];
		auto_free char *file = cmd_safe(v->file), *model = cmd_safe(v->model);
		size_t edits = 0, reads = 0;

		for (size_t k = 0; k < v->n; k++) {
			edits += v->v[k].edit;
			reads += !v->v[k].edit && !v->v[k].scan;
		}
		fprintf(stderr, "%s: %s, %s, %s: %zu reads, %zu edits%s\n", file, v->format, model,
			v->finished ? "finished" : "not finished", reads, edits,
			v->exact ? ", exact" : "");
	}
	strv_each (i, &r->notes) {
		auto_free char *note = cmd_safe(r->notes.v[i]);

		fprintf(stderr, "note: %s\n", note);
	}
	fprintf(stderr, "%" PRIu64 " trajector%s of %zu model%s; %s: %zu of %" PRIu64 " regions\n",
		r->used, r->used == 1 ? "y" : "ies", rf->models.n, rf->models.n == 1 ? "" : "s",
		rf->tier ? rf->tier : "no lines", rf->n, r->found);
	for (size_t i = 0; i < rf->n; i++) {
		auto_free char *path = cmd_safe(rf->region[i].path);

		fprintf(stderr, "  %s:%" PRIu64 "-%" PRIu64 "  %zu model%s\n", path,
			rf->region[i].start, rf->region[i].end, rf->region[i].models.n,
			rf->region[i].models.n == 1 ? "" : "s");
	}
}

static int print(const struct opts *o, const struct mine_result *r, struct err *err)
{
	auto_buf text = BUF_INIT(4u << 20);

	regionfile_print(&r->file, &text);
	if (o->out)
		return fd_replace_file(o->out, buf_str(&text), text.len, err);
	return cmd_print(&text) == 0 ? 0 : err_set(err, ERR_SYS, "nothing was written");
}

static int mine(const struct opts *o, const struct trajs *t, const struct task *task,
		struct basetree *tree, struct err *err)
{
	struct mine_io io = { .read = read_base, .arg = tree };
	struct mine_options mo = {
		.algorithm = (enum mine_algorithm)o->algorithm,
		.lines = (enum mine_lines)o->lines,
		.max = o->max,
		.min_models = o->min_models,
		.merge_gap = o->merge_gap,
		.unfinished = o->unfinished,
		.all_edits = o->all_edits,
		.enclosing = o->enclosing,
		.reference = task ? task->patch : NULL,
		.hidden = task ? &task->test.hidden : NULL,
		.io = tree ? &io : NULL,
	};
	struct mine_result r = { .used = 0 };
	int rc;

	if (o->merge_gap == UINT64_MAX)
		mo.merge_gap = o->algorithm == MINE_EDITS ? 0 : 3;
	rc = mine_regions(t, &mo, &r, err);
	if (rc == 0 && task && !r.file.instance_id)
		r.file.instance_id = mem_strdup(task->instance_id);
	if (rc == 0 && !o->quiet)
		summary(t, &r);
	if (rc == 0)
		rc = print(o, &r, err);
	if (rc == 0 && !r.file.n)
		rc = 1;
	mine_result_done(&r);
	return rc;
}

static int check(const struct opts *o, const struct strv *files, struct err *err)
{
	if (!files->n)
		return err_set(err, ERR_USAGE,
			       "mine: give at least one run directory or trajectory");
	if (!o->max || o->max > REGIONFILE_MAX)
		return err_set(err, ERR_USAGE, "--max must be 1 to %u", REGIONFILE_MAX);
	if (o->enclosing && !o->task)
		return err_set(err, ERR_USAGE, "--enclosing needs --task for the files' contents");
	if (o->enclosing && o->lines != MINE_BASE)
		return err_set(err, ERR_USAGE, "--enclosing goes with --lines base only");
	return 0;
}

static int whole(void *arg, const struct strv *files, struct err *err)
{
	const struct opts *o = arg;
	struct trajs t = { 0 };
	struct task *task = NULL;
	struct basetree *tree = NULL;
	struct janitor *jan = NULL;
	int rc = check(o, files, err);

	if (rc == 0 && o->task)
		rc = task_load(o->task, &task, err);
	strv_each (i, files)
		if (rc == 0)
			rc = load(o, files->v[i], &t, err);
	if (rc == 0 && task)
		rc = same_task(&t, task, err);
	if (rc == 0 && task)
		rc = janitor_start(&jan, NULL, err);
	if (rc == 0 && task) {
		rc = basetree_open(task, jan, &tree, err);
		if (rc < 0 && !o->enclosing) {
			auto_free char *why = cmd_safe(err->text);

			fprintf(stderr, "note: without the task's source: %s\n", why);
			rc = 0;
		}
	}
	if (rc == 0)
		rc = mine(o, &t, task, tree, err);
	basetree_free(tree);
	janitor_finish(jan);
	task_free(task);
	trajs_done(&t);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { .max = REGIONFILE_MAX, .merge_gap = UINT64_MAX };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_mine = {
	.name = "mine",
	.summary = "find critical regions where several models' reads and edits overlap",
	.synopsis = "[--task FILE] [options] [MODEL=]RUN|TRAJECTORY...",
	.text = "Reads run directories of proctor, which have exact lines (best with watch=workspace), and\n"
		"trajectories of mini-swe-agent, SWE-agent, ATIF and the exchange form of SWE-Touch, and\n"
		"prints proctor.regions/1. All are of one task; several of one model count together.\n"
		"MODEL= names the model of a record that does not, or replaces the name.\n"
		"\n"
		"edits: lines that at least two models edited; when there are none, that one did; when\n"
		"there are none, those of the reference patch. Most models first.\n"
		"\n"
		"reads+edits: lines that all edited in files that all read and edited; then in any file;\n"
		"then in tests and the like; then lines that all read; then the reference patch.\n"
		"\n"
		"What a final diff tells of edits counts alone, when there is one.\n"
		"\n"
		"Exit status: 0 regions were found, 1 none, 2 usage, 3 a bad file.\n",
	.rows = rows,
	.run = run,
};
