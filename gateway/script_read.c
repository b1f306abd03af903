#include "gateway/script_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TOFF(field) offsetof(struct script_turn, field)
#define EOFF(field) offsetof(struct script_expect, field)
#define FOFF(field) offsetof(struct script_fault, field)
#define UOFF(field) offsetof(struct api_usage, field)

/* Look at the value later, when what it depends on has been read. */
static int keep(const struct json_src *src, const char *where, const cJSON *item, void *field,
		struct err *err)
{
	(void)src;
	(void)where;
	(void)err; /* nothing can be wrong yet */
	*(const cJSON **)field = item;
	return 0;
}

/* In the order of enum api_finish; "other" cannot be written. */
static const char *const finishes[] = { "stop", "tools", "length", "filter", NULL };

/* clang-format off */
static const struct json_field usage_rows[] = {
	{ "input", JSON_U64, UOFF(input), .doc = "input tokens, cached ones included" },
	{ "cached", JSON_U64, UOFF(cached), .doc = "of these, read from the cache" },
	{ "cache_write", JSON_U64, UOFF(cache_write), .doc = "of these, written to the cache" },
	{ "output", JSON_U64, UOFF(output), .doc = "output tokens, reasoning included" },
	{ "reasoning", JSON_U64, UOFF(reasoning), .doc = "of these, reasoning" },
	{ NULL },
};

static const struct json_field expect_rows[] = {
	{ "contains", JSON_STRV, EOFF(contains), .doc = "each stands in a user message or a result" },
	{ "lacks", JSON_STRV, EOFF(lacks), .doc = "none of these does" },
	{ "last_contains", JSON_STRV, EOFF(last_contains), .doc = "each stands in the last of them" },
	{ "tools_offered", JSON_STRV, EOFF(tools_offered), .doc = "names of tools the agent offers" },
	{ NULL },
};

static const struct json_field fault_rows[] = {
	{ "times", JSON_U64, FOFF(times), .doc = "how often, default always" },
	{ "status", JSON_U64, FOFF(status), .doc = "HTTP status with an error body" },
	{ "message", JSON_STR, FOFF(message), .doc = "text of that body" },
	{ "retry_after", JSON_DURATION, FOFF(retry_after), .doc = "when to come again" },
	{ "cut", JSON_DOUBLE, FOFF(cut), .doc = "share of the answer's bytes that come" },
	{ "no_end", JSON_BOOL, FOFF(no_end), .doc = "the terminal event is missing" },
	{ "comments", JSON_BOOL, FOFF(comments), .doc = "comment lines between the events" },
	{ "silence", JSON_BOOL, FOFF(silence), .doc = "nothing comes at all" },
	{ NULL },
};

static const struct json_field turn_rows[] = {
	{ "expect", JSON_OBJECT, TOFF(expect), .rows = expect_rows, .doc = "what the request must hold" },
	{ "text", JSON_STR, TOFF(text), .doc = "what the model says" },
	{ "tools", JSON_CUSTOM, TOFF(tools), .parse = keep, .doc = "what the model does" },
	{ "usage", JSON_OBJECT, TOFF(usage), .rows = usage_rows, .doc = "tokens of this answer" },
	{ "finish", JSON_ENUM, TOFF(finish), .choices = finishes, .doc = "default tools with tools, else stop" },
	{ "delay", JSON_DURATION, TOFF(delay), .doc = "pause before the answer" },
	{ "fault", JSON_OBJECT, TOFF(fault), .rows = fault_rows, .doc = "what goes wrong" },
	{ NULL },
};

struct side {
	char *text;
	struct api_usage usage;
};

static const struct json_field side_rows[] = {
	{ "text", JSON_STR, offsetof(struct side, text), .doc = "answer to side calls, default \"ok\"" },
	{ "usage", JSON_OBJECT, offsetof(struct side, usage), .rows = usage_rows, .doc = "tokens of this answer" },
	{ NULL },
};

struct top {
	struct api_usage usage;
	const cJSON *turns, *side; /* borrowed */
};

static const struct json_field top_rows[] = {
	{ "usage", JSON_OBJECT, offsetof(struct top, usage), .rows = usage_rows, .doc = "tokens of each answer that says none" },
	{ "turns", JSON_CUSTOM, offsetof(struct top, turns), true, .parse = keep, .doc = "answers of the main conversation" },
	{ "side", JSON_CUSTOM, offsetof(struct top, side), .parse = keep, .doc = "answer to everything else" },
	{ NULL },
};
/* clang-format on */

static int check_usage(const struct json_src *src, const char *where, struct api_usage *u,
		       struct err *err)
{
	if (u->cached > u->input || u->cache_write > u->input - u->cached)
		return json_complain(
			src, where, err,
			"usage: \"cached\" and \"cache_write\" are parts of \"input\"");
	if (u->reasoning > u->output)
		return json_complain(src, where, err, "usage: \"reasoning\" is part of \"output\"");
	u->known = true;
	return 0;
}

static int check_fault(const struct json_src *src, const char *where, struct script_turn *t,
		       struct err *err)
{
	const struct script_fault *f = &t->fault;

	if (f->status && (f->status < 300 || f->status > 599))
		return json_complain(src, where, err,
				     "fault: expected a status from 300 to 599, found %llu",
				     (unsigned long long)f->status);
	if (f->cut >= 1)
		return json_complain(src, where, err,
				     "fault: \"cut\" is a share, from 0 to less than 1");
	if (!f->times)
		return json_complain(src, where, err, "fault: 0 times is never");
	if (!f->status && f->cut < 0 && !f->no_end && !f->comments && !f->silence)
		return json_complain(src, where, err,
				     "fault: say what goes wrong: status, cut, no_end, comments or "
				     "silence");
	t->faulty = true;
	return 0;
}

static int read_turn(const struct json_src *src, const char *where, const cJSON *item,
		     const struct agent *agent, const char *workdir, size_t number,
		     struct script_turn *t, struct err *err)
{
	auto_free char *tools = mem_printf("%s.tools", where);
	int rc;

	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object");
	t->finish = -1;
	t->fault.times = UINT64_MAX;
	t->fault.cut = -1;
	rc = json_read(src, where, item, turn_rows, t, err);
	if (rc == 0)
		rc = check_usage(src, where, &t->usage, err);
	if (rc == 0 && cJSON_GetObjectItemCaseSensitive(item, "fault"))
		rc = check_fault(src, where, t, err);
	if (rc == 0)
		rc = script_tools_read(src, tools, agent, workdir, number, t, err);
	if (rc == 0 && !t->text && !t->n_calls && !t->fault.status && !t->fault.silence)
		rc = json_complain(src, where, err, "a turn needs \"text\" or \"tools\"");
	if (t->finish < 0)
		t->finish = t->n_calls ? FINISH_TOOLS : FINISH_STOP;
	t->tools = NULL;
	return rc;
}

static int read_turns(const struct json_src *src, const struct top *top, const struct agent *agent,
		      const char *workdir, struct script_text *ret, struct err *err)
{
	const cJSON *e;
	int rc = 0;

	if (!cJSON_IsArray(top->turns) || cJSON_GetArraySize(top->turns) > SCRIPT_TURNS_MAX)
		return json_complain(src, "$.turns", err, "expected an array of at most %d objects",
				     SCRIPT_TURNS_MAX);
	ret->turns = mem_zalloc((size_t)cJSON_GetArraySize(top->turns) + 1, sizeof(*ret->turns));
	cJSON_ArrayForEach (e, top->turns) {
		auto_free char *at = mem_printf("$.turns[%zu]", ret->n_turns);
		struct script_turn *t = &ret->turns[ret->n_turns++];

		t->usage = top->usage;
		rc = read_turn(src, at, e, agent, workdir, ret->n_turns, t, err);
		if (rc < 0)
			break;
	}
	return rc;
}

static int read_side(const struct json_src *src, const struct top *top, struct script_text *ret,
		     struct err *err)
{
	struct side s = { .usage = top->usage };
	int rc = 0;

	if (top->side && !cJSON_IsObject(top->side))
		return json_complain(src, "$.side", err, "expected an object");
	if (top->side)
		rc = json_read(src, "$.side", top->side, side_rows, &s, err);
	if (rc == 0)
		rc = check_usage(src, "$.side", &s.usage, err);
	ret->side = s.text ? s.text : mem_strdup("ok");
	ret->side_usage = s.usage;
	return rc;
}

int script_text_read(const char *name, const char *text, size_t n, const struct agent *agent,
		     const char *workdir, struct script_text *ret, struct err *err)
{
	struct json_src src = { 0 };
	struct script_text t = { 0 };
	struct top top = { 0 };
	int rc;

	if (n > JSON_FILE_MAX)
		return err_set(err, ERR_INPUT, "%s: a script has at most %u bytes", name,
			       JSON_FILE_MAX);
	rc = json_parse(name, text, n, &src, err);
	if (rc < 0)
		return rc;
	rc = json_check_schema(&src, "script", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, top_rows, &top, err);
	if (rc == 0)
		rc = check_usage(&src, "$", &top.usage, err);
	t.usage = top.usage;
	if (rc == 0)
		rc = read_turns(&src, &top, agent, workdir, &t, err);
	if (rc == 0)
		rc = read_side(&src, &top, &t, err);
	json_src_done(&src);
	if (rc < 0)
		script_text_done(&t);
	else
		*ret = t;
	return rc;
}

void script_text_done(struct script_text *t)
{
	for (size_t i = 0; i < t->n_turns; i++) {
		struct script_turn *turn = &t->turns[i];

		for (size_t k = 0; k < turn->n_calls; k++) {
			free(turn->calls[k].id);
			free(turn->calls[k].name);
			free(turn->calls[k].args);
		}
		free(turn->calls);
		free(turn->why);
		json_release(turn_rows, turn);
	}
	free(t->turns);
	free(t->side);
	*t = (struct script_text){ 0 };
}
