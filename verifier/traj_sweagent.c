/* SWE-agent's .traj: a list of actions with observations and the state of its tools. The windowed tools (open,
 * goto, scroll, edit a:b) number the lines they show; str_replace_editor is told by its words. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "triggers/shwords.h"
#include "verifier/traj_internal.h"

bool traj_is_sweagent(const char *path, const char *text, size_t n)
{
	(void)path;
	return memmem(text, n, "\"trajectory\"", 12) && memmem(text, n, "\"observation\"", 13) &&
	       memmem(text, n, "\"action\"", 8);
}

/* The file that a window shows: "[File: NAME (12 lines total)]". Caller frees; NULL = no window. */
static char *window_file(const char *observation)
{
	const char *at = strstr(observation, "[File: "), *end, *paren;

	if (!at)
		return NULL;
	at += strlen("[File: ");
	end = at + strcspn(at, "\n");
	for (paren = end; paren > at && *paren != '('; paren--)
		;
	if (paren == at || paren[-1] != ' ' || !strstr(paren, "lines total"))
		return NULL;
	return mem_strndup(at, (size_t)(paren - 1 - at));
}

static void set_open(struct traj_rec *r, const char *path)
{
	if (!path || !*path || str_eq(path, "n/a") || path == r->open_file)
		return;
	free(r->open_file);
	r->open_file = mem_strdup(path);
}

/* A window was shown: its lines are a read, and its file is open. */
static void window(struct traj_rec *r, const char *observation)
{
	auto_free char *file = window_file(observation);

	if (!file)
		return;
	set_open(r, file);
	traj_listing(r, file, observation);
}

static bool refused(const char *observation)
{
	static const char *const words[] = { "has introduced new syntax error",
					     "No replacement was performed",
					     "Text not found",
					     "text not found",
					     "No file open",
					     "Usage: " };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(observation, words[i]))
			return true;
	return false;
}

/* "edit 12:15" with the new lines behind it, up to end_of_edit. */
static bool edit_lines(struct traj_rec *r, const char *text, const char *file)
{
	auto_free char *rel = traj_rec_path(r, file);
	auto_free char *new = NULL;
	uint64_t a, b;
	const char *end;
	char *p;

	if (!isdigit((unsigned char)*text))
		return false;
	a = strtoull(text, &p, 10);
	if (*p++ != ':' || !isdigit((unsigned char)*p))
		return false;
	b = strtoull(p, &p, 10);
	p += strcspn(p, "\n");
	p += *p == '\n';
	end = strstr(p, "end_of_edit");
	new = mem_strndup(p, end ? (size_t)(end - p) : strlen(p));
	if (!rel || !a || b < a || b > 100000000)
		return true;
	traj_rec_add(r, true, file, a, b);
	traj_seen_edit(r->seen, rel, a, b - a + 1, new);
	return true;
}

static void edit_unknown(struct traj_rec *r, const char *file)
{
	auto_free char *rel = traj_rec_path(r, file);

	if (!rel)
		return;
	traj_rec_add(r, true, file, 0, 0);
	traj_seen_edit(r->seen, rel, 0, 0, "");
}

/* Words of one action as the shell would cut them. */
struct words {
	char *const *v;
	size_t n;
	const char *text;        /* behind the first word */
	const char *observation; /* what came back */
};

/* edit of the open file: by lines, by "search" "replace", or somewhere. */
static void do_edit(struct traj_rec *r, const struct words *w)
{
	auto_free char *rel = r->open_file ? traj_rec_path(r, r->open_file) : NULL;
	uint64_t a, b;

	if (!rel || refused(w->observation))
		return;
	if (edit_lines(r, w->text, r->open_file))
		return;
	if (w->n >= 3 && traj_seen_find(r->seen, rel, w->v[1], &a, &b))
		traj_replace(r, r->open_file, w->v[1], w->v[2]);
	else
		edit_unknown(r, r->open_file);
}

static void do_insert(struct traj_rec *r, const struct words *w)
{
	auto_free char *rel = r->open_file ? traj_rec_path(r, r->open_file) : NULL;
	uint64_t at;

	if (!rel || refused(w->observation))
		return;
	if (w->n < 3 || str_u64(w->v[2], &at) < 0 || !at) {
		edit_unknown(r, r->open_file);
		return;
	}
	traj_rec_add(r, true, r->open_file, at, at + 1);
	traj_seen_edit(r->seen, rel, at + 1, 0, w->v[1]);
}

static void do_open(struct traj_rec *r, const struct words *w)
{
	if (w->n >= 2)
		set_open(r, w->v[1]);
}

static void do_create(struct traj_rec *r, const struct words *w)
{
	if (w->n < 2)
		return;
	set_open(r, w->v[1]);
	edit_unknown(r, w->v[1]);
}

static void do_nothing(struct traj_rec *r, const struct words *w)
{
	(void)r;
	(void)w; /* the window tells */
}

/* str_replace_editor COMMAND PATH [--option VALUE...], as the arguments of the tool. */
static void do_editor(struct traj_rec *r, const struct words *w)
{
	cJSON *args = cJSON_CreateObject();
	cJSON *range = NULL;

	for (size_t i = 1; args && i < w->n; i++) {
		const char *s = w->v[i];

		if (i <= 2 && s[0] != '-') {
			cJSON_AddStringToObject(args, i == 1 ? "command" : "path", s);
		} else if (str_eq(s, "--view_range")) {
			range = cJSON_AddArrayToObject(args, "view_range");
		} else if (range && cJSON_GetArraySize(range) < 2) {
			cJSON_AddItemToArray(range, cJSON_CreateNumber(strtod(s, NULL)));
		} else if (str_starts(s, "--") && i + 1 < w->n) {
			cJSON_AddStringToObject(args, s + 2, w->v[++i]);
		}
	}
	if (!refused(w->observation))
		traj_tool(r, "str_replace_editor", args, w->observation);
	cJSON_Delete(args);
}

static const struct {
	const char *name;
	void (*fn)(struct traj_rec *r, const struct words *w);
} actions[] = {
	{ "open", do_open },
	{ "goto", do_nothing },
	{ "scroll_down", do_nothing },
	{ "scroll_up", do_nothing },
	{ "set_cursors", do_nothing },
	{ "create", do_create },
	{ "edit", do_edit },
	{ "insert", do_insert },
	{ "str_replace_editor", do_editor },
	{ "find_file", do_nothing },
	{ "search_dir", do_nothing },
	{ "search_file", do_nothing },
	{ "submit", do_nothing },
	{ "exit", do_nothing },
};

void traj_action(struct traj_rec *r, const char *action, const char *observation)
{
	__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };
	struct words w = { .observation = observation ? observation : "" };
	size_t name = 0;

	action += strspn(action, " \t\n");
	name = strcspn(action, " \t\n");
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strlen(actions[i].name) != name || strncmp(actions[i].name, action, name) != 0)
			continue;
		shwords_parse(&s, action);
		w.text = action + name + strspn(action + name, " ");
		if (s.n) {
			w.v = s.v[0].words.v;
			w.n = s.v[0].words.n;
		}
		actions[i].fn(r, &w);
		window(r, w.observation);
		return;
	}
	traj_command(r, action, observation);
}

/* The state beside a step: an object, or its text in older versions. */
static void state(struct traj_rec *r, const char *name, const cJSON *step, char **ret_dir)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(step, "state");
	struct json_src src = { 0 };
	struct err err;
	const char *dir;

	if (cJSON_IsString(item) &&
	    traj_parse(name, item->valuestring, strlen(item->valuestring), &src, &err) == 0)
		item = src.root;
	if (cJSON_IsObject(item)) {
		set_open(r, traj_str(item, "open_file"));
		dir = traj_str(item, "working_dir");
		if (dir && *dir == '/') {
			free(*ret_dir);
			*ret_dir = mem_strdup(dir);
		}
	}
	json_src_done(&src);
}

/* Where the repository was: by name in the configuration, unless the first command ran elsewhere (a record
 * that was made again under another configuration). Caller frees. */
static char *root_of(const cJSON *config, const cJSON *steps, struct traj_rec *r, const char *name)
{
	const cJSON *repo = traj_member(config, "env.repo.repo_name");
	auto_free char *named = cJSON_IsString(repo) ? mem_printf("/%s", repo->valuestring) : NULL;
	auto_free char *dir = NULL;

	state(r, name, cJSON_GetArrayItem(steps, 0), &dir);
	if (named && (!dir || path_beneath(dir, named)))
		return take_ptr(&named);
	return take_ptr(&dir);
}

static void walk(struct traj_rec *r, const char *name, const cJSON *steps)
{
	const cJSON *step;

	cJSON_ArrayForEach (step, steps) {
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(step, "state");
		const char *action = traj_str(step, "action");
		auto_free char *raw =
			traj_text(cJSON_GetObjectItemCaseSensitive(step, "observation"));

		r->step++;
		/* the text form is from before the action, the object from behind it */
		if (cJSON_IsString(item))
			state(r, name, step, &r->cwd);
		if (action)
			traj_action(r, action, raw);
		if (cJSON_IsObject(item))
			state(r, name, step, &r->cwd);
	}
}

static void named(struct traj_rec *r, const char *path, const cJSON *root, const cJSON *config)
{
	const cJSON *model = traj_member(config, "agent.model.name");
	const cJSON *id = traj_member(config, "problem_statement.id");
	auto_free char *stem = traj_rec_stem(path);
	const char *own = traj_str(root, "instance_id");

	traj_rec_name(r,
		      own                  ? own
		      : stem               ? stem
		      : cJSON_IsString(id) ? id->valuestring
					   : NULL,
		      cJSON_IsString(model) ? model->valuestring : NULL);
}

int traj_read_sweagent(const char *path, const char *text, size_t n, const char *workdir,
		       struct trajs *out, struct err *err)
{
	struct json_src src = { 0 }, inner = { 0 };
	const cJSON *steps, *config, *info;
	const char *status;
	struct traj_rec r;
	struct err ignored;

	if (traj_parse(path, text, n, &src, err) < 0)
		return -ERR_INPUT;
	steps = traj_member(src.root, "trajectory");
	if (!cJSON_IsArray(steps)) {
		json_complain(&src, "$.trajectory", err, "expected an array of steps");
		json_src_done(&src);
		return -ERR_INPUT;
	}
	config = traj_member(src.root, "replay_config");
	if (cJSON_IsString(config)) /* some versions write it as text */
		config = traj_parse(path, config->valuestring, strlen(config->valuestring), &inner,
				    &ignored) == 0
				 ? inner.root
				 : NULL;
	traj_rec_begin(&r, out, path, "swe-agent", workdir);
	if (!r.root)
		r.root = root_of(config, steps, &r, path);
	named(&r, path, src.root, config);
	walk(&r, path, steps);
	info = traj_member(src.root, "info");
	status = traj_str(info, "exit_status");
	traj_rec_traj(&r)->end = mem_strdup(status);
	/* "submitted (exit_cost)" and its like were cut off and submitted by the harness */
	traj_rec_traj(&r)->finished = str_eq(status, "submitted");
	traj_rec_final(&r, traj_str(info, "submission"));
	traj_rec_end(&r);
	json_src_done(&inner);
	json_src_done(&src);
	return 0;
}
