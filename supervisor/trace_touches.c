#include "supervisor/trace_touches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "triggers/shwords.h"
#include "verifier/compare.h"
#include "verifier/rundir.h"

enum { SHOWN = 58 /* bytes of a command in the text form */ };

/* What a person would call the action: the shell text, the words, or the tool and its file. */
static char *action_text(const struct rundir_action *a)
{
	const char *text;
	char *joined;

	if (a->tool)
		return mem_printf("%s %s", a->tool, a->path ? a->path : "");
	text = a->argv.n ? shwords_text(a->argv.v) : NULL;
	joined = text ? shwords_client(text) : NULL;
	if (text)
		return joined ? joined : mem_strdup(text);
	joined = mem_strdup(a->argv.n ? a->argv.v[0] : "");
	for (size_t i = 1; i < a->argv.n; i++) {
		char *more = mem_printf("%s %s", joined, a->argv.v[i]);

		free(joined);
		joined = more;
	}
	return joined;
}

/* Words of the two sides, "read 10-20", "edit", "open bytes argv". */
static char *released_text(const struct compare_row *r)
{
	auto_buf b = BUF_INIT(256);

	if (r->released_read)
		buf_adds(&b, "read");
	if (r->released_edit)
		buf_adds(&b, r->released_read ? "+edit" : "edit");
	if (b.len && r->released_first)
		buf_addf(&b, " %llu-%llu", (unsigned long long)r->released_first,
			 (unsigned long long)r->released_last);
	return mem_strdup(b.len ? buf_str(&b) : "-");
}

static char *kernel_text(const struct compare_row *r)
{
	const struct {
		bool on;
		const char *word;
	} words[] = { { r->open && !r->bytes && !r->edit && !r->scan, "open" },
		      { r->scan, "scan" },
		      { r->bytes, "bytes" },
		      { r->argv, "argv" },
		      { r->edit, "edit" } };
	auto_buf b = BUF_INIT(256);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].on)
			buf_addf(&b, "%s%s", b.len ? " " : "", words[i].word);
	if (b.len && r->first)
		buf_addf(&b, " %llu-%llu", (unsigned long long)r->first,
			 (unsigned long long)r->last);
	return mem_strdup(b.len ? buf_str(&b) : "-");
}

static const char *const classes[] = { "read", "search",  "edit",    "test", "build",
				       "vcs",  "network", "package", "other" };

/* At most SHOWN printable bytes: the agent's text must not drive the terminal. */
static void plain(const char *text, char out[SHOWN + 1])
{
	size_t n = 0;

	for (; text[n] && n < SHOWN; n++)
		out[n] = text[n] == '\n' || text[n] == '\t'      ? ' '
			 : (unsigned char)text[n] - 0x20u < 0x5f ? text[n]
								 : '?';
	out[n] = '\0';
}

static void text_row(struct buf *out, const struct compare_row *r, size_t number)
{
	auto_free char *what = action_text(r->action), *released = released_text(r),
		       *kernel = kernel_text(r);
	char shown[SHOWN + 1];

	plain(what, shown);
	buf_addf(out, "%4zu %-7s %-*s %2llu  %-14s %-22s %s\n", number, classes[r->action->cls],
		 SHOWN, shown, (unsigned long long)r->region, released, kernel,
		 compare_reason_name(r->reason));
}

static void firsts_text(struct buf *out, const struct rundir *rd, const struct compare *c)
{
	static const enum when_event events[] = { WHEN_READ_OR_EDIT, WHEN_READ, WHEN_EDIT };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const struct compare_row *a = compare_first(c, true, events[i]);
		const struct compare_row *b = compare_first(c, false, events[i]);

		buf_addf(out, "first %s: released ", scenario_event_name(events[i]));
		if (a)
			buf_addf(out, "at action %zu", (size_t)(a->action - rd->action) + 1);
		else
			buf_adds(out, "never");
		if (b)
			buf_addf(out, ", kernel at action %zu\n",
				 (size_t)(b->action - rd->action) + 1);
		else
			buf_adds(out, ", kernel never\n");
	}
}

static void print_text(struct buf *out, const struct rundir *rd, const struct compare *c)
{
	double kappa = compare_kappa(c);

	for (size_t i = 0; i < c->n_regions; i++) {
		buf_addf(out, "region %zu: ", i);
		json_escape(out, c->region[i].path, strlen(c->region[i].path));
		buf_addf(out, ":%llu-%llu\n", (unsigned long long)c->region[i].start,
			 (unsigned long long)c->region[i].end);
	}
	buf_addf(out, "%4s %-7s %-*s %2s  %-14s %-22s %s\n", "#", "class", SHOWN, "action", "r",
		 "released", "kernel", "because");
	for (size_t i = 0; i < c->n; i++)
		text_row(out, &c->v[i], (size_t)(c->v[i].action - rd->action) + 1);
	firsts_text(out, rd, c);
	buf_addf(out, "%llu actions: both %llu, only released %llu, only kernel %llu, neither %llu",
		 (unsigned long long)c->actions, (unsigned long long)c->both,
		 (unsigned long long)c->released, (unsigned long long)c->kernel,
		 (unsigned long long)c->neither);
	if (!isnan(kappa))
		buf_addf(out, "; kappa %.2f", kappa);
	buf_addc(out, '\n');
}

static void json_row(struct json_w *w, const struct rundir *rd, const struct compare_row *r)
{
	auto_free char *what = action_text(r->action);
	size_t number = (size_t)(r->action - rd->action) + 1;

	json_open(w, NULL, '{');
	json_u64(w, "action", number);
	json_u64(w, "n", r->action->n);
	json_u64(w, "command", r->action->cmd);
	json_str(w, "class", classes[r->action->cls]);
	json_str(w, "text", what);
	json_u64(w, "region", r->region);
	json_open(w, "released", '{');
	json_bool(w, "read", r->released_read);
	json_bool(w, "edit", r->released_edit);
	json_u64(w, "first", r->released_first);
	json_u64(w, "last", r->released_last);
	json_close(w, '}');
	json_open(w, "kernel", '{');
	json_bool(w, "open", r->open);
	json_bool(w, "scan", r->scan);
	json_bool(w, "bytes", r->bytes);
	json_bool(w, "argv", r->argv);
	json_bool(w, "edit", r->edit);
	json_u64(w, "first", r->first);
	json_u64(w, "last", r->last);
	json_close(w, '}');
	json_str(w, "reason", compare_reason_name(r->reason));
	json_close(w, '}');
}

static void print_json(struct buf *out, const struct rundir *rd, const struct compare *c)
{
	struct json_w w = { .b = out };
	double kappa = compare_kappa(c);

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.touches/1");
	json_u64(&w, "actions", c->actions);
	json_u64(&w, "both", c->both);
	json_u64(&w, "released_only", c->released);
	json_u64(&w, "kernel_only", c->kernel);
	json_u64(&w, "neither", c->neither);
	if (isnan(kappa))
		json_null(&w, "kappa");
	else
		json_dbl(&w, "kappa", kappa);
	json_open(&w, "rows", '[');
	for (size_t i = 0; i < c->n; i++)
		json_row(&w, rd, &c->v[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(out, '\n');
}

/* RFC 4180. */
static void csv_field(struct buf *out, const char *s)
{
	buf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			buf_addc(out, '"');
		buf_addc(out, *s);
	}
	buf_addc(out, '"');
}

static void print_csv(struct buf *out, const struct rundir *rd, const struct compare *c)
{
	buf_adds(out, "action,class,text,region,released,kernel,reason\r\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_row *r = &c->v[i];
		auto_free char *what = action_text(r->action), *released = released_text(r),
			       *kernel = kernel_text(r);

		buf_addf(out, "%zu,%s,", (size_t)(r->action - rd->action) + 1,
			 classes[r->action->cls]);
		csv_field(out, what);
		buf_addf(out, ",%llu,%s,%s,%s\r\n", (unsigned long long)r->region, released, kernel,
			 compare_reason_name(r->reason));
	}
}

int trace_touches(const char *dir, enum touches_format format, struct buf *out, struct err *err)
{
	static void (*const forms[])(struct buf *, const struct rundir *,
				     const struct compare *) = {
		[TOUCHES_TEXT] = print_text,
		[TOUCHES_JSON] = print_json,
		[TOUCHES_CSV] = print_csv,
	};
	struct rundir rd = { 0 };
	struct compare c = { 0 };
	int rc = rundir_load(dir, &rd, err);

	if (rc == 0)
		rc = compare_run(&rd, &c, err);
	if (rc == 0)
		forms[format](out, &rd, &c);
	compare_done(&c);
	rundir_done(&rd);
	return rc;
}
