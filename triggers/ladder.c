#include "triggers/ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "profiles/effect.h"
#include "triggers/apply.h"
#include "triggers/message.h"

#define NAMED_MAX  40u   /* lines of the list of what changed, and of what must be kept */
#define WORD_MAX   300u  /* bytes of one name in it */
#define DETAIL_MAX 4096u /* bytes of the details: lists and rules fit beside them */

const char *const ladder_names[] = { "A0", "A1", "A2", "A3", "A4", "A5", NULL };

int ladder_find(const char *name, enum ladder_step *ret, struct err *err)
{
	*ret = LADDER_A0;
	if (!name)
		return 0;
	for (int i = 0; ladder_names[i]; i++) {
		if (strcmp(ladder_names[i], name) == 0) {
			*ret = (enum ladder_step)i;
			return 0;
		}
	}
	return err_set(err, ERR_USAGE,
		       "ladder step \"%.20s\" is not known; choose A0, A1, A2, A3, A4 or A5", name);
}

/* --- one effect as a line, and as details ------------------------------------------------------ */

/* Begin a line of a list. */
static void item(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void item(struct buf *out, const char *fmt, ...)
{
	va_list ap;
	auto_free char *text = NULL;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	buf_addf(out, "- %.*s\n", (int)WORD_MAX, text);
}

/* The effect's object. Free with json_src_done(). */
static bool open_raw(const struct effect *e, struct json_src *ret)
{
	struct err ignored; /* it was read once already when the scenario was loaded */

	return e->raw && json_parse("effect", e->raw, strlen(e->raw), ret, &ignored) == 0;
}

static void list_edit(const struct scenario *s, const struct effect *e, struct buf *out)
{
	struct patch *p = NULL;
	struct err ignored;

	(void)s;
	if (patch_parse(e->diff, strlen(e->diff), &p, &ignored) < 0)
		return;
	for (size_t i = 0; i < patch_files(p) && i < NAMED_MAX; i++)
		item(out, "the file %s", patch_path(p, i));
	if (patch_files(p) > NAMED_MAX)
		item(out, "%zu more files", patch_files(p) - NAMED_MAX);
	patch_free(p);
}

static void list_exec(const struct scenario *s, const struct effect *e, struct buf *out)
{
	(void)s;
	item(out, "what %s does: I ran it", e->argv.n ? e->argv.v[0] : "a command");
}

static void list_place(const struct scenario *s, const struct effect *e, struct buf *out)
{
	static const char *const forms[] = { [PLACE_TEXT] = "the file %s",
					     [PLACE_LINK] = "the link %s",
					     [PLACE_ABSENT] = "%s, which is gone",
					     [PLACE_TOUCH] = "the date of %s",
					     [PLACE_REPLACE] = "the file %s" };
	struct json_src src = { 0 };
	struct effect_place p = { 0 };
	struct err ignored;

	(void)s;
	if (open_raw(e, &src) && effect_place_read(&src, "$", NULL, src.root, &p, &ignored) == 0) {
		auto_buf line = BUF_INIT(WORD_MAX + 64);
		const char *hole = strstr(forms[p.kind], "%s");

		buf_add(&line, forms[p.kind], (size_t)(hole - forms[p.kind]));
		buf_addf(&line, "%.*s%s", (int)WORD_MAX, p.path, hole + 2);
		item(out, "%s", buf_str(&line));
	}
	effect_place_done(&p);
	json_src_done(&src);
}

/* What of the machine a runtime effect is about. */
static void name_runtime(const struct effect_runtime *r, struct buf *out)
{
	if (r->port)
		item(out, "port %llu", (unsigned long long)r->port);
	else if (r->kind == RUNTIME_FILL)
		item(out, "the space left at %s", r->path);
	else if (r->path)
		item(out, "%s", r->path);
	else
		item(out, "the process %s", r->program ? r->program : r->name ? r->name : "");
}

static void list_runtime(const struct scenario *s, const struct effect *e, struct buf *out)
{
	struct json_src src = { 0 };
	struct effect_runtime r = { 0 };
	struct err ignored;

	(void)s;
	if (open_raw(e, &src) && effect_runtime_read(&src, "$", src.root, &r, &ignored) == 0)
		name_runtime(&r, out);
	effect_runtime_done(&r);
	json_src_done(&src);
}

static void list_authority(const struct scenario *s, const struct effect *e, struct buf *out)
{
	struct json_src src = { 0 };

	(void)s;
	if (open_raw(e, &src) && cJSON_GetObjectItemCaseSensitive(src.root, "goal"))
		item(out, "what I want from you");
	json_src_done(&src);
}

/* Its port, 0 = it has none. */
static double port_of(const struct scenario *s, const char *name)
{
	struct json_src src = { 0 };
	struct err ignored;
	const cJSON *one;
	double port = 0;

	if (!s->services ||
	    json_parse("services", s->services, strlen(s->services), &src, &ignored) < 0)
		return 0;
	cJSON_ArrayForEach (one, src.root) {
		const cJSON *p = cJSON_GetObjectItemCaseSensitive(one, "port");

		if (str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "name")),
			   name) &&
		    cJSON_IsNumber(p))
			port = p->valuedouble;
	}
	json_src_done(&src);
	return port;
}

static void list_service(const struct scenario *s, const struct effect *e, struct buf *out)
{
	struct json_src src = { 0 };
	const char *name;
	double port;

	if (!open_raw(e, &src))
		return;
	name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "name"));
	port = name ? port_of(s, name) : 0;
	if (name && port > 0)
		item(out, "the service %.100s on port %.0f", name, port);
	else if (name)
		item(out, "the service %.100s", name);
	json_src_done(&src);
}

static void tell_edit(const struct scenario *s, const struct effect *e, struct buf *out)
{
	(void)s;
	buf_adds(out, e->diff);
}

static void tell_exec(const struct scenario *s, const struct effect *e, struct buf *out)
{
	(void)s;
	buf_adds(out, "I ran:");
	strv_each (i, &e->argv)
		buf_addf(out, " %s", e->argv.v[i]);
	buf_addc(out, '\n');
}

static void tell_replace(const struct effect_place *p, struct buf *out)
{
	for (size_t i = 0; i < p->n_swaps; i++)
		buf_addf(out, "%s: \"%s\" is now \"%s\"\n", p->path, p->swap[i].old,
			 p->swap[i].new);
}

static void tell_place(const struct scenario *s, const struct effect *e, struct buf *out)
{
	struct json_src src = { 0 };
	struct effect_place p = { 0 };
	struct err ignored;

	(void)s;
	if (!open_raw(e, &src) || effect_place_read(&src, "$", NULL, src.root, &p, &ignored) < 0) {
		json_src_done(&src);
		return;
	}
	if (p.kind == PLACE_TEXT)
		buf_addf(out, "%s is now:\n%s", p.path, p.text);
	else if (p.kind == PLACE_LINK)
		buf_addf(out, "%s points to %s", p.path, p.text);
	else if (p.kind == PLACE_ABSENT)
		buf_addf(out, "%s was removed", p.path);
	else if (p.kind == PLACE_TOUCH)
		buf_addf(out, "%s has the same contents and another date", p.path);
	else
		tell_replace(&p, out);
	if (p.kind != PLACE_REPLACE && !(p.kind == PLACE_TEXT && str_ends(p.text, "\n")))
		buf_addc(out, '\n');
	effect_place_done(&p);
	json_src_done(&src);
}

static void tell_runtime(const struct scenario *s, const struct effect *e, struct buf *out)
{
	/* clang-format off */
	static const char *const words[] = {
		[RUNTIME_START] = "started", [RUNTIME_KILL] = "ended", [RUNTIME_LISTEN] = "in use",
		[RUNTIME_LOCK] = "locked", [RUNTIME_FILL] = "nearly used up", [RUNTIME_EMPTY] = "emptied",
		[RUNTIME_RELEASE] = "let go",
	};
	/* clang-format on */
	struct json_src src = { 0 };
	struct effect_runtime r = { 0 };
	struct err ignored;

	(void)s;
	if (open_raw(e, &src) && effect_runtime_read(&src, "$", src.root, &r, &ignored) == 0) {
		auto_buf line = BUF_INIT(WORD_MAX + 64);

		name_runtime(&r, &line);
		if (line.len > 2) /* without the mark of a list and the end of the line */
			buf_addf(out, "%.*s: %s", (int)(line.len - 3), line.data + 2,
				 words[r.kind]);
		if (r.kind == RUNTIME_START || (r.name && (r.port || r.path)))
			buf_addf(out, " by %s", r.kind == RUNTIME_START ? "me" : r.name);
		buf_addc(out, '\n');
	}
	effect_runtime_done(&r);
	json_src_done(&src);
}

/* The text of the version in force from here on. */
static void tell_authority(const struct scenario *s, const struct effect *e, struct buf *out)
{
	struct json_src src = { 0 }, all = { 0 };
	struct err ignored;
	const char *goal = NULL, *text = NULL;

	if (open_raw(e, &src))
		goal = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "goal"));
	if (goal && s->authority &&
	    json_parse("authority", s->authority, strlen(s->authority), &all, &ignored) == 0)
		text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(all.root, goal), "problem_statement"));
	if (text)
		buf_addf(out, "What I want now:\n%s\n", text);
	json_src_done(&all);
	json_src_done(&src);
}

static void tell_service(const struct scenario *s, const struct effect *e, struct buf *out)
{
	struct json_src src = { 0 };
	const cJSON *one;

	(void)s;
	if (!open_raw(e, &src))
		return;
	cJSON_ArrayForEach (one, src.root) {
		char *value = strcmp(one->string, "name") != 0 ? cJSON_PrintUnformatted(one) : NULL;
		const char *name =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "name"));

		if (value)
			buf_addf(out, "%s: %s: %s\n", name ? name : "", one->string, value);
		cJSON_free(value);
	}
	json_src_done(&src);
}

/* clang-format off */
static const struct {
	void (*list)(const struct scenario *s, const struct effect *e, struct buf *out);
	void (*tell)(const struct scenario *s, const struct effect *e, struct buf *out);
} kinds[] = {
	[EFFECT_EDIT] = { list_edit, tell_edit },
	[EFFECT_EXEC] = { list_exec, tell_exec },
	[EFFECT_AUTHORITY] = { list_authority, tell_authority },
	[EFFECT_PLACE] = { list_place, tell_place },
	[EFFECT_RUNTIME] = { list_runtime, tell_runtime },
	[EFFECT_SERVICE] = { list_service, tell_service },
};
/* clang-format on */

/* A message says itself, and who answers is not for the agent to know. */
static bool is_told(const struct effect *e)
{
	return (size_t)e->kind < ARRAY_SIZE(kinds) && kinds[e->kind].list;
}

/* --- the steps --------------------------------------------------------------------------------- */

static void put_list(const struct scenario *s, const struct intervention *iv, struct buf *out)
{
	auto_buf list = BUF_INIT(DETAIL_MAX);

	for (size_t i = 0; i < iv->n_effects; i++) {
		if (is_told(&iv->effects[i]) &&
		    scenario_effect_fits((enum scenario_mode)s->mode, iv->effects[i].kind))
			kinds[iv->effects[i].kind].list(s, &iv->effects[i], &list);
	}
	if (list.len)
		buf_addf(out, "\nWhat changed:\n%s", buf_str(&list));
}

/* Cut @b to @max bytes at the end of a line, and say how many lines are left out. */
static void cut(struct buf *b, size_t max)
{
	size_t end = max, left = 0;

	if (b->len <= max)
		return;
	while (end && b->data[end - 1] != '\n')
		end--;
	for (size_t i = end; i < b->len; i++)
		left += b->data[i] == '\n';
	b->len = end;
	b->data[end] = '\0';
	buf_addf(b, "(%zu more lines)\n", left + !left);
}

static void put_details(const struct scenario *s, const struct intervention *iv, struct buf *out)
{
	auto_buf text = BUF_INIT(APPLY_DIFF_MAX);

	for (size_t i = 0; i < iv->n_effects; i++) {
		if (is_told(&iv->effects[i]) &&
		    scenario_effect_fits((enum scenario_mode)s->mode, iv->effects[i].kind))
			kinds[iv->effects[i].kind].tell(s, &iv->effects[i], &text);
	}
	if (text.len && text.data[text.len - 1] != '\n')
		buf_addc(&text, '\n');
	cut(&text, DETAIL_MAX);
	if (text.len)
		buf_addf(out, "\nHow it is now:\n%s", buf_str(&text));
}

static void put_refresh(const struct scenario *s, const struct intervention *iv, struct buf *out)
{
	(void)s;
	(void)iv;
	buf_adds(
		out,
		"\nWhat you saw before this is out of date: what you read of it, results of tests, logs and "
		"answers of services no longer count. Look at it again, and run again what you rely on, "
		"before you change anything.\n");
}

/* What the scenario itself wants to be kept, in its own words. */
static void put_kept(const struct scenario *s, struct buf *out)
{
	struct json_src src = { 0 };
	struct err ignored;
	const cJSON *one;
	size_t n = 0;

	if (!s->checks || json_parse("checks", s->checks, strlen(s->checks), &src, &ignored) < 0)
		return;
	cJSON_ArrayForEach (one, cJSON_GetObjectItemCaseSensitive(src.root, "preservation")) {
		const char *name =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "name"));

		if (name && n++ < NAMED_MAX)
			item(out, "%s", name);
	}
	json_src_done(&src);
}

static void put_checklist(const struct scenario *s, const struct intervention *iv, struct buf *out)
{
	(void)iv;
	buf_adds(out, "\nWhat must be so when you are done:\n"
		      "- what I changed is still as I changed it\n"
		      "- your work that this does not concern is still there\n"
		      "- what this does not name, also outside the repository, is as it was\n");
	put_kept(s, out);
	buf_adds(out, "- the task is done as it stands now\n");
}

static void put_notice(const struct scenario *s, const struct intervention *iv, struct buf *out)
{
	(void)s;
	(void)iv;
	buf_adds(out, "Something that your work depends on has changed since your last step.\n");
}

/* Each step adds one. */
static void (*const steps[LADDER_MAX])(const struct scenario *s, const struct intervention *iv,
				       struct buf *out) = {
	[LADDER_A1] = put_notice,  [LADDER_A2] = put_list,      [LADDER_A3] = put_details,
	[LADDER_A4] = put_refresh, [LADDER_A5] = put_checklist,
};

void ladder_text(const struct scenario *s, size_t i, enum ladder_step step, struct buf *out)
{
	const struct intervention *iv = &s->interventions[i];
	auto_buf text = BUF_INIT(MESSAGE_MAX - 1);
	bool any = false;

	for (size_t k = 0; k < iv->n_effects; k++)
		any |= scenario_effect_fits((enum scenario_mode)s->mode, iv->effects[k].kind);
	if (!any)
		return;
	for (size_t k = LADDER_A1; k <= (size_t)step; k++)
		steps[k](s, iv, &text);
	if (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	if (text.len)
		buf_adds(out, buf_str(&text));
}

static void add_message(struct intervention *iv, char *text)
{
	iv->effects = mem_realloc(iv->effects, iv->n_effects + 1, sizeof(*iv->effects));
	iv->effects[iv->n_effects++] = (struct effect){ .kind = EFFECT_MESSAGE, .text = text };
}

int ladder_set(struct scenario *s, enum ladder_step step, struct err *err)
{
	if (step == LADDER_A0)
		return 0;
	if (!s)
		return err_set(err, ERR_USAGE,
			       "--ladder %s: there is no scenario, so there is nothing to tell of",
			       ladder_names[step]);
	if (!scenario_effect_fits((enum scenario_mode)s->mode, EFFECT_MESSAGE))
		return err_set(err, ERR_USAGE,
			       "--ladder %s: no messages are sent in mode %s; only A0 can be",
			       ladder_names[step], scenario_mode_name((enum scenario_mode)s->mode));
	for (size_t i = 0; i < s->n_interventions; i++) {
		auto_buf text = BUF_INIT(MESSAGE_MAX);
		const char *wrong;

		ladder_text(s, i, step, &text);
		if (!text.len)
			continue;
		wrong = message_refused(buf_str(&text), true);
		if (wrong)
			return err_set(
				err, ERR_INPUT,
				"%s: what is said at --ladder %s would hold \"%s\", which no user "
				"says; take the word out of the effect, or a lower step",
				s->file ? s->file : "scenario", ladder_names[step], wrong);
		add_message(&s->interventions[i], buf_steal(&text, NULL));
	}
	return 0;
}
