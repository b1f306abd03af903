/* From processes and tool calls to actions. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/path.h"
#include "verifier/rundir_internal.h"

enum { GROUPS_BACK = 8 };

static const struct class_name {
	const char *name;
	enum action_class cls;
} class_names[] = {
	/* clang-format off */
	{ "read",    ACTION_READ },
	{ "search",  ACTION_SEARCH },
	{ "edit",    ACTION_EDIT },
	{ "test",    ACTION_TEST },
	{ "build",   ACTION_BUILD },
	{ "vcs",     ACTION_VCS },
	{ "network", ACTION_NETWORK },
	{ "package", ACTION_PACKAGE },
	/* clang-format on */
};

/* Tools that carry out a search in the agent's own process, by words in their name. */
static const char *const search_words[] = { "grep", "glob", "search", "find", "list", "ls" };

static enum action_class class_of(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(class_names); i++)
		if (strcmp(class_names[i].name, name) == 0)
			return class_names[i].cls;
	return ACTION_OTHER;
}

/* The group that is open now; the first one is made on demand. */
static size_t group_now(struct rundir_reader *r)
{
	if (!r->n_groups) {
		MEM_GROW(r->group, r->cap_groups, 1);
		r->group[r->n_groups++] = (struct rundir_group){ 0 };
	}
	return r->n_groups - 1;
}

/* Open a group for @call unless it is open. */
static struct rundir_group *group_of(struct rundir_reader *r, uint64_t call)
{
	size_t g = group_now(r);

	if (g == 0 || r->group[g].call != call) {
		if (r->n_groups >= RUNDIR_ACTIONS_MAX) {
			r->rd->cut = true;
			return &r->group[g];
		}
		MEM_GROW(r->group, r->cap_groups, r->n_groups + 1);
		g = r->n_groups++;
		r->group[g] = (struct rundir_group){ .call = call };
	}
	return &r->group[g];
}

/* A new action; NULL when there are too many. */
static struct rundir_action *add(struct rundir_reader *r, const struct rundir_head *h, size_t group)
{
	struct rundir *rd = r->rd;

	if (rd->n_actions >= RUNDIR_ACTIONS_MAX) {
		rd->cut = true;
		return NULL;
	}
	MEM_GROW(rd->action, r->cap_actions, rd->n_actions + 1);
	MEM_GROW(r->pending, r->cap_pending, rd->n_actions + 1);
	r->pending[rd->n_actions] = (struct rundir_pending){ .group = group };
	rd->action[rd->n_actions] = (struct rundir_action){ .n = h->n,
							    .t = h->t,
							    .cls = ACTION_OTHER,
							    .call = r->group[group].call,
							    .status = -1 };
	return &rd->action[rd->n_actions++];
}

static size_t index_of(const struct map *m, uint64_t key)
{
	return (size_t)(uintptr_t)map_get(m, key);
}

static void remember(struct map *m, uint64_t key, size_t i)
{
	map_put(m, key, (void *)(uintptr_t)(i + 1));
}

/* The answer that asked for a command which begins now. A sub-agent's tool calls may still be under way when
 * another answer without a command has come. */
static size_t group_for_command(struct rundir_reader *r)
{
	size_t now = group_now(r);

	for (size_t back = 0; back < GROUPS_BACK && back < now; back++) {
		const struct rundir_group *g = &r->group[now - back];

		if (g->n_shell > g->n_commands)
			return now - back;
		if (back + 1 < now && !r->group[now - back - 1].subagent)
			break;
	}
	return now;
}

void rundir_on_spawn(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	uint64_t child = rundir_number(rec, "child"), cmd = rundir_number(rec, "child_cmd");
	size_t known = cmd ? index_of(&r->by_cmd, cmd) : 0;
	struct rundir_action *a;

	if (!child)
		return;
	if (!cmd) {
		map_del(&r->by_pid, child);
		return;
	}
	if (!known) {
		size_t g = group_for_command(r);

		a = add(r, h, g);
		if (!a)
			return;
		known = r->rd->n_actions;
		a->cmd = (uint32_t)cmd;
		r->group[g].n_commands++;
		r->pending[known - 1].pid = (int64_t)child;
		remember(&r->by_cmd, cmd, known - 1);
	}
	remember(&r->by_pid, child, known - 1);
}

static void take_argv(struct strv *to, const cJSON *rec)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(rec, "argv"), *e;

	strv_done(to);
	cJSON_ArrayForEach (e, item) {
		char *s = cJSON_IsString(e) ? mem_strdup(e->valuestring) : NULL;

		if (!s)
			continue;
		(void)json_unescape_bytes(s); /* the length is not needed */
		strv_take(to, s);
	}
}

void rundir_on_exec(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	size_t i = h->cmd ? index_of(&r->by_cmd, h->cmd) : 0;

	if (!i || r->pending[i - 1].executed)
		return;
	r->pending[i - 1].executed = true;
	take_argv(&r->rd->action[i - 1].argv, rec);
}

void rundir_on_exit(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	size_t i = h->cmd ? index_of(&r->by_cmd, h->cmd) : 0;
	uint64_t sig = rundir_number(rec, "signal");

	if (!i || r->pending[i - 1].pid != h->pid || r->rd->action[i - 1].status >= 0)
		return;
	r->rd->action[i - 1].status =
		sig ? W_EXITCODE(0, (int)(sig & 0x7f))
		    : W_EXITCODE((int)(rundir_number(rec, "status") & 0xff), 0);
	map_del(&r->by_pid, (uint64_t)h->pid);
}

void rundir_on_command(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	size_t i = h->cmd ? index_of(&r->by_cmd, h->cmd) : 0;
	auto_free char *cls = rundir_string(rec, "class");
	struct rundir_action *a;

	if (!i)
		return;
	a = &r->rd->action[i - 1];
	a->end_n = h->n;
	a->cls = class_of(cls);
	take_argv(&a->argv, rec);
}

void rundir_on_model(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	struct rundir *rd = r->rd;
	auto_free char *purpose = rundir_string(rec, "purpose");
	uint64_t call = rundir_number(rec, "call"), status = rundir_number(rec, "status");
	bool sub = str_eq(purpose, "subagent"), own = cJSON_HasObjectItem(rec, "by");

	rd->model = true;
	if (own || status >= 400 || (!sub && !str_eq(purpose, "main")))
		return;
	group_of(r, call)->subagent = sub;
	if (sub || rd->n_calls >= RUNDIR_ACTIONS_MAX)
		return;
	MEM_GROW(rd->call, r->cap_calls, rd->n_calls + 1);
	rd->call[rd->n_calls++] = (struct rundir_call){ h->n, h->t, call };
	rd->calls++;
}

static bool is_search(const char *tool)
{
	for (size_t i = 0; tool && i < ARRAY_SIZE(search_words); i++)
		if (strcasestr(tool, search_words[i]))
			return true;
	return false;
}

void rundir_on_tool(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec)
{
	auto_free char *does = rundir_string(rec, "does");
	struct rundir_group *g = group_of(r, rundir_number(rec, "call"));
	size_t at = (size_t)(g - r->group);
	struct rundir_action *a;
	struct rundir_pending *p;

	r->rd->model = true;
	g->n_tools++;
	a = add(r, h, at);
	if (!a)
		return;
	p = &r->pending[r->rd->n_actions - 1];
	a->tool = rundir_string(rec, "tool");
	a->path = rundir_path(r, rec, "path");
	rundir_lines(rec, "lines", &a->first, &a->last);
	a->end_n = h->n;
	p->shell = str_eq(does, "shell");
	p->other = !p->shell && !str_eq(does, "read") && !str_eq(does, "edit");
	r->group[at].n_shell += p->shell;
	if (!p->other)
		a->cls = p->shell ? ACTION_OTHER : class_of(does);
	else if (is_search(a->tool))
		a->cls = ACTION_SEARCH;
}

void rundir_own_process(struct rundir_reader *r, int64_t pid)
{
	size_t i = index_of(&r->by_pid, (uint64_t)pid);

	if (i)
		r->pending[i - 1].dropped = true;
}

static bool is_shell(const struct strv *argv)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "fish" };
	const char *base = argv->n ? path_base(argv->v[0]) : "";

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (strcmp(base, shells[i]) == 0)
			return true;
	return false;
}

static uint64_t argv_key(const struct strv *argv)
{
	uint64_t h = 0;

	strv_each (i, argv)
		h = h * 31 + map_hash(argv->v[i], strlen(argv->v[i])) + 1;
	return h;
}

/* Commands that the agent started when no answer asked for one: its errands, by their arguments. */
static void find_errands(const struct rundir_reader *r, struct map *errands)
{
	for (size_t i = 0; i < r->rd->n_actions; i++) {
		const struct rundir_action *a = &r->rd->action[i];

		if (a->cmd && !r->group[r->pending[i].group].n_shell)
			map_put(errands, argv_key(&a->argv), (void *)(uintptr_t)1);
	}
}

/* Which commands of an answer go when there are more than it asked for, in the order in which they do. */
enum errand { ERRAND_KNOWN, ERRAND_NO_SHELL, ERRAND_EARLY, ERRAND_MAX };

static bool is_errand(const struct rundir_action *a, enum errand kind, const struct map *errands)
{
	if (kind == ERRAND_KNOWN)
		return map_get(errands, argv_key(&a->argv)) != NULL;
	return kind == ERRAND_EARLY ? is_shell(&a->argv) : !is_shell(&a->argv);
}

/* Actions @v[i] of one answer that had tool calls to run a command: the commands stand for these calls. Clients
 * also run errands of their own meanwhile: the same as at other times, or without a shell, or (a snapshot of the
 * environment) in front of the command. */
static void settle_shell(struct rundir_reader *r, const size_t *v, size_t n,
			 const struct map *errands)
{
	const struct rundir_action *a = r->rd->action;
	size_t commands = 0, shells = 0, calls = 0;

	for (size_t i = 0; i < n; i++) {
		if (r->pending[v[i]].dropped)
			continue;
		calls += r->pending[v[i]].shell;
		commands += a[v[i]].cmd != 0;
		shells += a[v[i]].cmd != 0 && is_shell(&a[v[i]].argv);
	}
	for (int kind = 0; kind < ERRAND_MAX && shells; kind++) {
		for (size_t i = 0; i < n && commands > calls; i++) {
			struct rundir_pending *p = &r->pending[v[i]];

			if (!a[v[i]].cmd || p->dropped ||
			    !is_errand(&a[v[i]], (enum errand)kind, errands))
				continue;
			p->dropped = true;
			commands--;
		}
	}
	for (size_t i = 0; i < n && commands; i++) {
		if (!r->pending[v[i]].shell)
			continue;
		r->pending[v[i]].dropped = true;
		commands--;
	}
}

/* The same without such calls: the commands belong to the tool calls; a tool of unknown kind is what its
 * command is. */
static void settle_tools(struct rundir_reader *r, const size_t *v, size_t n)
{
	struct rundir_action *a = r->rd->action;
	size_t tool = 0;

	for (size_t i = 0; i < n; i++) {
		if (!a[v[i]].cmd || r->pending[v[i]].dropped)
			continue;
		r->pending[v[i]].dropped = true;
		while (tool < n && !r->pending[v[tool]].other)
			tool++;
		if (tool == n)
			continue;
		a[v[tool]].cls = a[v[i]].cls;
		a[v[tool]].status = a[v[i]].status;
		tool++;
	}
}

/* What the agent did before the first answer, or after an answer that asked for nothing, nobody asked for:
 * not an action. Only an agent that never makes tool calls reads its commands from the text. */
static void settle_unasked(struct rundir_reader *r, const size_t *v, size_t n, bool text_agent)
{
	for (size_t i = 0; i < n; i++)
		if (!text_agent || !r->pending[v[i]].group)
			r->pending[v[i]].dropped = true;
}

static void free_action(struct rundir_action *a)
{
	strv_done(&a->argv);
	free(a->tool);
	free(a->path);
}

/* Keep what is an action, in order. */
static void compact(struct rundir_reader *r)
{
	struct rundir *rd = r->rd;
	size_t n = 0;

	for (size_t i = 0; i < rd->n_actions; i++) {
		if (r->pending[i].dropped)
			free_action(&rd->action[i]);
		else
			rd->action[n++] = rd->action[i];
	}
	rd->n_actions = n;
}

/* Indices of all actions, group by group, in order within a group: a counting sort. *ret_start: where each
 * group begins, one more behind the last. */
static size_t *by_group(const struct rundir_reader *r, size_t **ret_start)
{
	size_t n = r->rd->n_actions, *start = mem_zalloc(r->n_groups + 1, sizeof(*start));
	auto_free size_t *fill = mem_zalloc(r->n_groups + 1, sizeof(*fill));
	size_t *v = mem_zalloc(n ? n : 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		start[r->pending[i].group + 1]++;
	for (size_t g = 0; g < r->n_groups; g++)
		start[g + 1] += start[g];
	memcpy(fill, start, (r->n_groups + 1) * sizeof(*fill));
	for (size_t i = 0; i < n; i++)
		v[fill[r->pending[i].group]++] = i;
	*ret_start = start;
	return v;
}

void rundir_actions_settle(struct rundir_reader *r)
{
	auto_free size_t *start = NULL;
	auto_free size_t *v = by_group(r, &start);
	struct map errands = { 0 };
	bool text_agent = true;

	find_errands(r, &errands);
	for (size_t g = 0; g < r->n_groups; g++)
		text_agent &= r->group[g].n_tools == 0;
	for (size_t g = 0; r->rd->model && g < r->n_groups; g++) {
		const size_t *of = v + start[g];
		size_t n = start[g + 1] - start[g];

		if (r->group[g].n_shell)
			settle_shell(r, of, n, &errands);
		else if (r->group[g].n_tools)
			settle_tools(r, of, n);
		else
			settle_unasked(r, of, n, text_agent);
	}
	map_done(&errands);
	compact(r);
}
