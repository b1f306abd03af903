#include "verifier/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "triggers/swetouch.h"

enum { PLAN_MAX = 16 << 20, REGIONS_MAX = 4096 };

/* clang-format off */
static const struct {
	const char *name, *text;
} reasons[] = {
	[COMPARE_AGREE] = { "agree", "both see it" },
	[COMPARE_EDIT_NO_LINES] = { "edit-without-lines",
		"an edit has no lines there, so any change of the file counts; other lines changed" },
	[COMPARE_NO_CHANGE] = { "no-change", "the text reads as an edit, but the contents stayed" },
	[COMPARE_WHOLE_FILE] = { "whole-file", "the read has no lines there; other lines were shown" },
	[COMPARE_NOT_OPENED] = { "not-opened", "the text names the file, but nobody opened it" },
	[COMPARE_BY_OUTPUT] = { "scan", "a search over files counts there and is a scan here" },
	[COMPARE_NO_DOT] = { "no-dot", "a name without a dot is never an edit there" },
	[COMPARE_UNNAMED] = { "not-in-text",
		"the text does not name the file: computed, globbed, behind a cd or in a script" },
	[COMPARE_PROGRAM] = { "program", "a test, build or version control program did it" },
	[COMPARE_UNREAD] = { "form", "the text names the file in a form that the rule does not read" },
};
/* clang-format on */

const char *compare_reason_name(enum compare_reason r)
{
	return reasons[r].name;
}

const char *compare_reason_text(enum compare_reason r)
{
	return reasons[r].text;
}

static int take_region(const cJSON *item, struct compare *c)
{
	const cJSON *path = cJSON_GetObjectItemCaseSensitive(item, "path");
	const cJSON *start = cJSON_GetObjectItemCaseSensitive(item, "start");
	const cJSON *end = cJSON_GetObjectItemCaseSensitive(item, "end");
	struct region *r = &c->region[c->n_regions];

	if (!cJSON_IsString(path) || !cJSON_IsNumber(start) || !cJSON_IsNumber(end) ||
	    start->valuedouble < 1 || end->valuedouble < start->valuedouble)
		return -1;
	*r = (struct region){ .path = mem_strdup(path->valuestring),
			      .start = (uint64_t)start->valuedouble,
			      .end = (uint64_t)end->valuedouble };
	(void)json_unescape_bytes(r->path); /* the length is not needed */
	c->n_regions++;
	return 0;
}

/* The regions as the plan of the run froze them. */
static int load_regions(const struct rundir *rd, struct compare *c, struct err *err)
{
	auto_free char *path = path_join(rd->dir, "plan.json");
	__attribute__((cleanup(json_src_done))) struct json_src src = { 0 };
	auto_buf text = BUF_INIT(PLAN_MAX);
	const cJSON *list, *item;
	int rc = fd_read_file(path, &text, err), n;

	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, &src, err);
	if (rc < 0)
		return rc;
	list = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(src.root, "scenario"), "regions");
	n = cJSON_GetArraySize(list);
	if (n <= 0 || n > REGIONS_MAX)
		return err_set(err, ERR_INPUT,
			       "%s: the run has no regions to compare; run it with --scenario FILE "
			       "(--mode vanilla fires nothing)",
			       path);
	c->region = mem_zalloc((size_t)n, sizeof(*c->region));
	cJSON_ArrayForEach (item, list)
		if (take_region(item, c) < 0)
			return json_complain(&src, "$.scenario.regions", err, "not a region");
	return 0;
}

/* Which action a record belongs to. Commands are found by number, tool calls in the agent's own process
 * (command 0) by their order: each reaches to the next. */
struct finder {
	struct map commands; /* number -> index + 1 */
	size_t *tool;        /* owned: indices of tool calls, in order */
	size_t n_tools;
};

static void finder_init(struct finder *f, const struct rundir *rd)
{
	f->tool = mem_zalloc(rd->n_actions + 1, sizeof(*f->tool));
	for (size_t i = 0; i < rd->n_actions; i++)
		if (rd->action[i].cmd)
			map_put(&f->commands, rd->action[i].cmd, (void *)(i + 1));
		else
			f->tool[f->n_tools++] = i;
}

static void finder_done(struct finder *f)
{
	map_done(&f->commands);
	free(f->tool);
}

/* Index of the action of record @n of command @cmd, SIZE_MAX = of none. A process that an in-process tool
 * started has a command that is no action of its own: then it is the tool call's. */
static size_t finder_get(const struct finder *f, const struct rundir *rd, uint64_t n, uint32_t cmd)
{
	size_t i = cmd ? (size_t)map_get(&f->commands, cmd) : 0, low = 0, high = f->n_tools;

	if (i)
		return i - 1;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (rd->action[f->tool[mid]].n <= n)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? f->tool[low - 1] : SIZE_MAX;
}

/* Records by action: for each action the first one, for each record the next of the same action. */
struct chain {
	size_t *first, *next; /* owned; index + 1, 0 = none */
};

static void chain_init(struct chain *c, size_t n_actions, size_t n)
{
	c->first = mem_zalloc(n_actions + 1, sizeof(*c->first));
	c->next = mem_zalloc(n + 1, sizeof(*c->next));
}

/* To be called from the last record to the first. */
static void chain_add(struct chain *c, size_t action, size_t k)
{
	if (action == SIZE_MAX)
		return;
	c->next[k] = c->first[action];
	c->first[action] = k + 1;
}

static void chain_done(struct chain *c)
{
	free(c->first);
	free(c->next);
}

static struct compare_row *row_of(struct compare *c, const struct rundir_action *a, uint64_t region)
{
	for (size_t i = c->n; i > 0 && c->v[i - 1].action == a; i--)
		if (c->v[i - 1].region == region)
			return &c->v[i - 1];
	MEM_GROW(c->v, c->cap, c->n + 1);
	c->v[c->n] = (struct compare_row){ .action = a, .region = region };
	return &c->v[c->n++];
}

static bool overlaps(const struct region *r, uint64_t first, uint64_t last)
{
	return !first || (first <= r->end && last >= r->start);
}

/* What the released rule makes of a tool call: bridged file calls carry a path, a view also lines. */
static void tool_events(const struct rundir_action *a, struct swetouch *out)
{
	bool edit = a->cls == ACTION_EDIT;

	if (!a->path || (!edit && a->cls != ACTION_READ))
		return;
	MEM_GROW(out->v, out->cap, out->n + 1);
	out->v[out->n++] = (struct swetouch_event){ edit, mem_strdup(a->path), edit ? 0 : a->first,
						    edit ? 0 : a->last };
}

static void released_side(struct compare *c, const struct rundir_action *a, const char *workdir)
{
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };

	if (a->tool)
		tool_events(a, &t);
	else if (a->argv.n)
		swetouch_command(&t, a->argv.v);
	for (size_t k = 0; k < t.n; k++)
		for (size_t r = 0; r < c->n_regions; r++) {
			struct compare_row *row;

			if (!swetouch_same_path(t.v[k].path, c->region[r].path, workdir) ||
			    !overlaps(&c->region[r], t.v[k].first, t.v[k].last))
				continue;
			row = row_of(c, a, r);
			*(t.v[k].edit ? &row->released_edit : &row->released_read) = true;
			row->released_first = t.v[k].first;
			row->released_last = t.v[k].last;
		}
}

static void kernel_touch(struct compare_row *row, const struct rundir_touch *t)
{
	bool counts = !t->scan;

	row->open = true;
	row->scan |= t->scan;
	if (t->edit) {
		row->edit = true;
	} else {
		row->bytes |= counts;
		row->argv |= counts && !t->unasked;
	}
	if (!t->first)
		return;
	row->first = row->first && row->first < t->first ? row->first : t->first;
	row->last = row->last > t->last ? row->last : t->last;
}

/* The action whose rows begin at @from read or changed @path, whatever lines of it. */
static void elsewhere(struct compare *c, size_t from, const char *path, bool edit)
{
	for (size_t i = from; i < c->n; i++)
		if (strcmp(c->region[c->v[i].region].path, path) == 0)
			*(edit ? &c->v[i].changed : &c->v[i].open) = true;
}

/* Does the text name the file, by its path or by its base name? */
static bool names(const struct rundir_action *a, const char *path)
{
	const char *base = path_base(path);

	if (a->path && strcmp(a->path, path) == 0)
		return true;
	strv_each (i, &a->argv)
		if (strstr(a->argv.v[i], base))
			return true;
	return false;
}

static enum compare_reason released_only(const struct compare_row *row)
{
	if (row->released_edit)
		return row->changed ? COMPARE_EDIT_NO_LINES : COMPARE_NO_CHANGE;
	if (row->scan)
		return COMPARE_BY_OUTPUT;
	return row->open ? COMPARE_WHOLE_FILE : COMPARE_NOT_OPENED;
}

static enum compare_reason kernel_only(const struct compare_row *row, const char *path)
{
	static const unsigned programs =
		1u << ACTION_TEST | 1u << ACTION_BUILD | 1u << ACTION_VCS | 1u << ACTION_PACKAGE;
	bool named = names(row->action, path);

	if (row->edit && named && !strchr(path_base(path), '.'))
		return COMPARE_NO_DOT;
	if (programs >> row->action->cls & 1)
		return COMPARE_PROGRAM;
	return named ? COMPARE_UNREAD : COMPARE_UNNAMED;
}

static bool released_of(const struct compare_row *row)
{
	return row->released_read || row->released_edit;
}

static bool kernel_of(const struct compare_row *row)
{
	return row->argv || row->edit;
}

/* Rows where neither counts (a bare open, a scan) stay for the reader, as agreement on "no". */
static void judge(struct compare *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct compare_row *row = &c->v[i];
		const char *path = c->region[row->region].path;
		bool released = released_of(row), kernel = kernel_of(row);

		c->both += released && kernel;
		c->released += released && !kernel;
		c->kernel += kernel && !released;
		if (released != kernel)
			row->reason = released ? released_only(row) : kernel_only(row, path);
	}
	c->neither = c->actions * c->n_regions - c->both - c->released - c->kernel;
}

/* Everything of the trace, by action. */
struct sides {
	const struct rundir *rd;
	struct finder finder;
	struct chain touches, reads, edits;
};

static void sides_init(struct sides *s)
{
	const struct rundir *rd = s->rd;

	finder_init(&s->finder, rd);
	chain_init(&s->touches, rd->n_actions, rd->n_touches);
	chain_init(&s->reads, rd->n_actions, rd->n_reads);
	chain_init(&s->edits, rd->n_actions, rd->n_edits);
	for (size_t k = rd->n_touches; k-- > 0;)
		chain_add(&s->touches, finder_get(&s->finder, rd, rd->touch[k].n, rd->touch[k].cmd),
			  k);
	for (size_t k = rd->n_reads; k-- > 0;)
		chain_add(&s->reads, finder_get(&s->finder, rd, rd->read[k].n, rd->read[k].cmd), k);
	for (size_t k = rd->n_edits; k-- > 0;)
		if (!rd->edit[k].by_user)
			chain_add(&s->edits,
				  finder_get(&s->finder, rd, rd->edit[k].n, rd->edit[k].cmd), k);
}

static void sides_done(struct sides *s)
{
	finder_done(&s->finder);
	chain_done(&s->touches);
	chain_done(&s->reads);
	chain_done(&s->edits);
}

static void one_action(struct compare *c, const struct sides *s, size_t i, const char *workdir)
{
	const struct rundir *rd = s->rd;
	size_t from = c->n;

	released_side(c, &rd->action[i], workdir);
	for (size_t k = s->touches.first[i]; k; k = s->touches.next[k - 1])
		if (rd->touch[k - 1].region < c->n_regions)
			kernel_touch(row_of(c, &rd->action[i], rd->touch[k - 1].region),
				     &rd->touch[k - 1]);
	for (size_t k = s->reads.first[i]; k; k = s->reads.next[k - 1])
		elsewhere(c, from, rd->read[k - 1].path, false);
	for (size_t k = s->edits.first[i]; k; k = s->edits.next[k - 1])
		elsewhere(c, from, rd->edit[k - 1].path, true);
}

int compare_run(const struct rundir *rd, struct compare *ret, struct err *err)
{
	struct compare c = { .actions = rd->n_actions };
	struct sides s = { .rd = rd };
	int rc = load_regions(rd, &c, err);

	if (rc < 0) {
		compare_done(&c);
		return rc;
	}
	sides_init(&s);
	for (size_t i = 0; i < rd->n_actions; i++)
		one_action(&c, &s, i, rundir_str(rd, "task.workdir"));
	sides_done(&s);
	judge(&c);
	*ret = c;
	return 0;
}

void compare_done(struct compare *c)
{
	for (size_t i = 0; i < c->n_regions; i++)
		free(c->region[i].path);
	free(c->region);
	free(c->v);
	*c = (struct compare){ 0 };
}

double compare_kappa(const struct compare *c)
{
	double n = (double)(c->both + c->released + c->kernel + c->neither);
	double a = (double)(c->both + c->released), b = (double)(c->both + c->kernel);
	double agree, chance;

	if (n <= 0)
		return NAN;
	agree = ((double)c->both + (double)c->neither) / n;
	chance = (a * b + (n - a) * (n - b)) / (n * n);
	return chance < 1 ? (agree - chance) / (1 - chance) : NAN;
}

const struct compare_row *compare_first(const struct compare *c, bool released,
					enum when_event event)
{
	bool reads = event == WHEN_READ || event == WHEN_READ_OR_EDIT;
	bool edits = event == WHEN_EDIT || event == WHEN_READ_OR_EDIT;

	for (size_t i = 0; i < c->n; i++) {
		const struct compare_row *row = &c->v[i];

		if ((reads && (released ? row->released_read : row->argv)) ||
		    (edits && (released ? row->released_edit : row->edit)))
			return row;
	}
	return NULL;
}
