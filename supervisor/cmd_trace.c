#include "supervisor/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tracerec.h"
#include "supervisor/trace_touches.h"
#include "supervisor/tracetext.h"

static const char *const formats[] = { "text", "json", "csv", NULL };

struct opts {
	int format;
	struct strv kinds;
	bool touches;
};

static const struct opt_row rows[] = {
	{ 'f', "format", OPT_ENUM, offsetof(struct opts, format), "FORMAT",
	  "output format; csv is for --touches", formats },
	{ 'k', "kind", OPT_LIST, offsetof(struct opts, kinds), "KIND",
	  "only records of this kind (exec, open, touch, ...); may be given again" },
	{ 0, "touches", OPT_FLAG, offsetof(struct opts, touches), NULL,
	  "command by command: the regions that the rule swe-touch-1.0 says it touches, and those the "
	  "kernel saw touched" },
	{ 0 },
};

struct job {
	const struct opts *o;
	struct buf out;
};

static int each(const cJSON *rec, void *arg)
{
	struct job *j = arg;
	const char *kind = tracetext_kind(rec);

	if (j->o->kinds.n && (!kind || !strv_has(&j->o->kinds, kind)))
		return 0;
	if (j->o->format == 0) {
		tracetext_add(&j->out, rec);
	} else {
		char *text = cJSON_PrintUnformatted(rec);

		buf_adds(&j->out, text);
		buf_addc(&j->out, '\n');
		cJSON_free(text);
	}
	if (j->out.len > (1u << 20)) {
		int status = cmd_print(&j->out);

		buf_clear(&j->out);
		return status;
	}
	return 0;
}

static int check_kinds(const struct opts *o, struct err *err)
{
	const char *names[TK_MAX + 1];

	for (int k = 0; k < TK_MAX; k++)
		names[k] = tracerec_name((enum trace_kind)k);
	names[TK_MAX] = NULL;
	for (size_t i = 0; i < o->kinds.n; i++) {
		const char *near;

		if (tracerec_kind(o->kinds.v[i]) != TK_MAX)
			continue;
		near = str_nearest(o->kinds.v[i], names);
		return err_set(err, ERR_USAGE, "trace: no record kind \"%s\"%s%s%s", o->kinds.v[i],
			       near ? ", did you mean \"" : "", near ? near : "",
			       near ? "\"?" : "");
	}
	return 0;
}

/* The commands of a run against its regions. */
static int touches(const struct opts *o, const char *dir, struct err *err)
{
	auto_buf out = BUF_INIT(256u << 20);
	int rc = trace_touches(dir, (enum touches_format)o->format, &out, err);

	return rc < 0 ? rc : cmd_print(&out);
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	struct job j = { .o = o, .out = BUF_INIT(64u << 20) };
	auto_free char *path = NULL;
	bool cut = false;
	int rc;

	if (rest->n != 1)
		return err_set(err, ERR_USAGE, "trace: give one run directory");
	if (o->touches)
		return touches(o, rest->v[0], err);
	if (o->format == TOUCHES_CSV)
		return err_set(err, ERR_USAGE, "trace: --format csv goes with --touches");
	rc = check_kinds(o, err);
	if (rc == 0)
		rc = cmd_run_file(rest->v[0], "trace.jsonl", &path, err);
	if (rc == 0)
		rc = tracerec_read(path, each, &j, &cut, err);
	if (rc == 0)
		rc = cmd_print(&j.out);
	buf_done(&j.out);
	if (cut)
		log_warn("%s ends in the middle of a record: the run was killed", path);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };
	int status = cmd_main(cmd, argc, argv, &o, whole);

	strv_done(&o.kinds);
	return status;
}

const struct opt_cmd cmd_trace = {
	.name = "trace",
	.summary = "print the events of a run",
	.synopsis = "RUN [--format text|json|csv] [--kind KIND] [--touches]",
	.text = "One line per record: seconds since the start, process, command, kind, fields.\n"
		"\n"
		"--touches: one line per command and region that either rule says it touched. The kernel's\n"
		"side lists what was seen (open, bytes, argv, edit; scan does not count) and which lines of\n"
		"the region; the last column says why the two differ.\n",
	.rows = rows,
	.run = run,
};
