#include "supervisor/cmd.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task.h"
#include "study/behave.h"
#include "study/label.h"
#include "study/table.h"
#include "verifier/rundir.h"

struct opts {
	const char *task, *humans, *template;
	bool json, quiet;
};

static const struct opt_row rows[] = {
	{ 't', "task", OPT_STR, offsetof(struct opts, task), "FILE",
	  "task with the reference (default: the file that run.json names)" },
	{ 'H', "humans", OPT_STR, offsetof(struct opts, humans), "FILE",
	  "labels that people gave, one JSON object a line; they win over the rules" },
	{ 0, "template", OPT_STR, offsetof(struct opts, template), "FILE",
	  "write a line per failed run there, for people to fill in" },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL,
	  "print one JSON object with every behaviour.json and the agreement" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0 },
};

/* Life of one call. */
struct job {
	const struct opts *o;
	struct label_overrides humans;
	struct label *label; /* owned: of every run */
	size_t n, cap;
	struct buf text, template; /* what is printed; the template's lines */
};

/* A hostile path must not drive the terminal. */
static void put(struct buf *b, const char *s)
{
	table_safe(b, s);
}

static void say_behaviour(struct buf *b, const struct behave *v)
{
	if (!v->landed) {
		buf_adds(b, "  no user edit was applied\n");
		return;
	}
	buf_addf(
		b,
		"  %s%s%s%s; after the final edit: %llu reads, %llu searches, %llu edits, %llu tests\n",
		v->known ? response_name(v->response) : "unknown (images were not kept)",
		v->reread_first ? ", reopened before the next edit"
		: v->reopened   ? ", reopened"
				: "",
		v->tested ? ", tested" : "", v->told ? ", told" : "", (unsigned long long)v->reads,
		(unsigned long long)v->searches, (unsigned long long)v->edits,
		(unsigned long long)v->tests);
	if (v->noticed)
		buf_addf(b, "  noticed after %llu steps, %.3f s\n",
			 (unsigned long long)v->notice_steps, (double)v->notice_ns / 1e9);
	else
		buf_adds(b, "  never noticed\n");
	for (size_t i = 0; i < v->n; i++) {
		const struct linefate *f = &v->file[i].fate;

		buf_adds(b, "  ");
		put(b, v->file[i].path);
		buf_addf(
			b,
			": %zu lines added: %llu kept, %llu changed, %llu removed; %llu taken out, %llu back\n",
			f->n, (unsigned long long)f->kept, (unsigned long long)f->changed,
			(unsigned long long)f->removed, (unsigned long long)f->deleted,
			(unsigned long long)f->restored);
	}
}

static void say_label(struct buf *b, const struct label *l)
{
	const uint64_t *v = l->evidence.v;

	buf_addf(b, "  %s (%.1f): ", failure_name(l->failure), l->confidence);
	put(b, l->why);
	for (size_t i = 0; i < l->evidence.n; i++)
		buf_addf(b, "%s%llu", i ? ", " : " [records ", (unsigned long long)v[i]);
	buf_adds(b, l->evidence.n ? "]\n" : "\n");
	if (l->human == FAILURE_MAX)
		return;
	buf_addf(b, "  a person says %s", failure_name(l->human));
	if (l->human_by) {
		buf_adds(b, " (");
		put(b, l->human_by);
		buf_addc(b, ')');
	}
	if (l->human_note) {
		buf_adds(b, ": ");
		put(b, l->human_note);
	}
	buf_addc(b, '\n');
}

/* The task of the run; *ret NULL when nobody names one. */
static int load_task(const struct job *j, const struct rundir *rd, struct task **ret,
		     struct err *err)
{
	const char *file = j->o->task ? j->o->task : rundir_str(rd, "task.file");
	const char *id = rundir_str(rd, "task.instance_id"), *verdict = rundir_str(rd, "verdict");
	int rc;

	*ret = NULL;
	if (!file || (verdict && strcmp(verdict, "unresolved") != 0))
		return 0; /* only a failure is compared with the reference */
	rc = task_load(file, ret, err);
	if (rc < 0)
		return err_wrap(err, "%s: its task%s", rd->dir,
				j->o->task ? "" : " (say --task when it has moved)");
	if (!str_eq(id, (*ret)->instance_id))
		return err_set(err, ERR_INPUT, "%s is a run of task %s, not of %s", rd->dir,
			       id ? id : "?", (*ret)->instance_id);
	return 0;
}

static void report(struct job *j, const struct rundir *rd, const struct behave *b,
		   const struct label *l, bool graded, const char *file)
{
	if (j->o->json) {
		if (j->n > 1)
			buf_addc(&j->text, ',');
		buf_adds(&j->text, file);
		return;
	}
	put(&j->text, rd->dir);
	buf_adds(&j->text, "\n");
	if (rd->cut || !rd->ended)
		buf_adds(&j->text,
			 "  files of the run are cut: what happened later is not known\n");
	say_behaviour(&j->text, b);
	if (graded)
		say_label(&j->text, l);
	else
		buf_adds(&j->text, "  not graded: no label\n");
}

/* A run has been read: label it, write its file, keep the label. */
static int label_run(struct job *j, const struct rundir *rd, const struct behave *b,
		     struct err *err)
{
	auto_free char *verdict = path_join(rd->dir, "verdict.json");
	auto_free char *path = path_join(rd->dir, "behaviour.json");
	auto_buf file = BUF_INIT(256u << 20);
	bool graded = access(verdict, F_OK) == 0;
	struct label_key key;
	struct task *task = NULL;
	struct label l = { .human = FAILURE_MAX };
	int rc = graded ? load_task(j, rd, &task, err) : 0;

	if (rc == 0)
		rc = label_of(rd, b, task, &l, err);
	task_free(task);
	if (rc < 0)
		return rc;
	label_key_of(rd, &key);
	(void)label_override(&j->humans, &key, &l); /* most runs have nobody's word */
	if (l.failure != FAILURE_NONE)
		label_template(&key, &l, &j->template);
	label_key_done(&key);
	MEM_GROW(j->label, j->cap, j->n + 1);
	j->label[j->n++] = l;
	label_json(rd, b, graded ? &l : NULL, &file);
	rc = fd_replace_file(path, buf_str(&file), file.len, err);
	if (rc == 0)
		report(j, rd, b, &l, graded, buf_str(&file));
	return rc;
}

static int one(struct job *j, const char *dir, struct err *err)
{
	struct rundir rd = { 0 };
	struct behave b = { 0 };
	int rc = rundir_load(dir, &rd, err);

	if (rc == 0)
		rc = behave_of(&rd, &b, err);
	if (rc == 0)
		rc = label_run(j, &rd, &b, err);
	behave_done(&b);
	rundir_done(&rd);
	return rc;
}

static bool is_run(const char *dir)
{
	auto_free char *mark = path_join(dir, "run.json");

	return access(mark, F_OK) == 0;
}

/* A run directory, or a directory of them. */
static int each(struct job *j, const char *dir, struct err *err)
{
	struct dirent **names = NULL;
	int rc = 0, n = is_run(dir) ? 0 : scandir(dir, &names, NULL, alphasort), runs = 0;

	if (is_run(dir))
		return one(j, dir, err);
	for (int i = 0; i < n; i++) {
		auto_free char *sub = path_join(dir, names[i]->d_name);

		if (rc == 0 && names[i]->d_name[0] != '.' && is_run(sub)) {
			runs++;
			rc = one(j, sub, err);
		}
		free(names[i]);
	}
	free(names);
	if (rc == 0 && !runs)
		rc = err_set(err, ERR_INPUT,
			     "%s is no run directory and holds none; give the --out of a run", dir);
	return rc;
}

static void agreement_json(struct job *j, const struct label_agreement *a)
{
	struct json_w w = { .b = &j->text };

	buf_adds(&j->text, "],\"agreement\":");
	json_open(&w, NULL, '{');
	json_u64(&w, "n", a->n);
	json_u64(&w, "same", a->same);
	if (isnan(a->kappa))
		json_null(&w, "kappa");
	else
		json_dbl(&w, "kappa", a->kappa);
	json_open(&w, "table", '[');
	for (int r = 0; r < FAILURE_MAX; r++)
		for (int h = 0; h < FAILURE_MAX; h++) {
			if (!a->table[r][h])
				continue;
			json_open(&w, NULL, '{');
			json_str(&w, "rule", failure_name((enum failure)r));
			json_str(&w, "human", failure_name((enum failure)h));
			json_u64(&w, "n", a->table[r][h]);
			json_close(&w, '}');
		}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_adds(&j->text, "}\n");
}

static void agreement_text(struct job *j, const struct label_agreement *a)
{
	struct buf *b = &j->text;

	if (!a->n) {
		buf_adds(b, "agreement: nobody has labelled these runs\n");
		return;
	}
	buf_addf(b, "agreement: %llu of %llu (%.1f %%), ", (unsigned long long)a->same,
		 (unsigned long long)a->n, 100.0 * (double)a->same / (double)a->n);
	if (isnan(a->kappa))
		buf_adds(b, "kappa undefined: one type only\n");
	else
		buf_addf(b, "kappa %.3f\n", a->kappa);
	for (int r = 0; r < FAILURE_MAX; r++)
		for (int h = 0; h < FAILURE_MAX; h++)
			if (a->table[r][h])
				buf_addf(b, "  rule %-26s person %-26s %llu\n",
					 failure_name((enum failure)r),
					 failure_name((enum failure)h),
					 (unsigned long long)a->table[r][h]);
}

static int finish(struct job *j, struct err *err)
{
	struct label_agreement a;
	int rc = 0;

	label_agree(j->label, j->n, &a);
	if (j->o->json)
		agreement_json(j, &a);
	else if (j->o->humans)
		agreement_text(j, &a);
	if (j->o->template)
		rc = fd_replace_file(j->o->template, buf_str(&j->template), j->template.len, err);
	if (rc == 0 && j->text.full)
		rc = err_set(err, ERR_LIMIT,
			     "label: more than 256 MiB to print; every run has its behaviour.json");
	if (rc == 0 && (!j->o->quiet || j->o->json))
		rc = cmd_print(&j->text) == 0 ? 0 : -ERR_SYS;
	return rc;
}

static int whole(void *arg, const struct strv *dirs, struct err *err)
{
	const struct opts *o = arg;
	struct job j = { .o = o, .text = BUF_INIT(256u << 20), .template = BUF_INIT(256u << 20) };
	int rc = 0;

	if (!dirs->n)
		return err_set(err, ERR_USAGE, "label: give at least one run directory");
	if (o->humans)
		rc = label_overrides_load(o->humans, &j.humans, err);
	if (o->json)
		buf_adds(&j.text, "{\"schema\":\"proctor.labels/1\",\"runs\":[");
	for (size_t i = 0; i < dirs->n && rc == 0; i++)
		rc = each(&j, dirs->v[i], err);
	if (rc == 0)
		rc = finish(&j, err);
	for (size_t i = 0; i < j.n; i++)
		label_done(&j.label[i]);
	free(j.label);
	label_overrides_done(&j.humans);
	buf_done(&j.text);
	buf_done(&j.template);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_label = {
	.name = "label",
	.summary = "what an agent did after the user's edit, and why it failed",
	.synopsis = "[--task FILE] [--humans FILE] [--template FILE] RUN...",
	.text = "RUN is a run directory, or a directory that holds some. Writes behaviour.json into each: what\n"
		"became of the user's edit (kept, revised, reverted, replaced), what the agent read, edited and\n"
		"tested after it, when it noticed, and for a run that failed one of seven types of failure\n"
		"with a confidence, one sentence and the trace records that show it. Grade runs first.\n"
		"\n"
		"Types: retained_conflict, incorrect_replacement, incomplete_reconciliation, off_target,\n"
		"insufficient_evidence, verification_breakdown, other_defect. Rules give them; a file of people's\n"
		"labels overrides the rules, and how far both agree is printed (Cohen's kappa, table).\n"
		"\n"
		"Exit status: 0 done, 2 usage, 3 a bad file, 4 and above as for run.\n",
	.rows = rows,
	.run = run,
};
