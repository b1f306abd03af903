/* What the agent did since a user was last asked, and the record of what that user made of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "supervisor/simcontext.h"
#include "supervisor/userproc_internal.h"

void userdid_clear(struct userproc *u)
{
	free(u->said);
	free(u->command);
	u->said = u->command = NULL;
	strv_done(&u->commands);
	strv_done(&u->outputs);
	strv_done(&u->changed);
	u->did_bytes = 0;
	u->omitted = 0;
}

static void drop_first(struct userproc *u)
{
	u->did_bytes -= strlen(u->commands.v[0]) + strlen(u->outputs.v[0]);
	free(u->commands.v[0]);
	free(u->outputs.v[0]);
	memmove(u->commands.v, u->commands.v + 1, u->commands.n * sizeof(*u->commands.v));
	memmove(u->outputs.v, u->outputs.v + 1, u->outputs.n * sizeof(*u->outputs.v));
	u->commands.n--;
	u->outputs.n--;
	u->omitted++;
}

/* A command and its output; the newest are kept. */
static void add_did(struct userproc *u, const char *output)
{
	strv_take(&u->commands, u->command ? take_ptr(&u->command) : mem_strdup(""));
	strv_add(&u->outputs, output);
	u->did_bytes += strlen(u->commands.v[u->commands.n - 1]) + strlen(output);
	while (u->commands.n > 1 &&
	       (u->commands.n > USERPROC_COMMANDS_MAX || u->did_bytes > USERPROC_DID_MAX))
		drop_first(u);
}

void userproc_last(struct sup *s, const struct gw_msg *m)
{
	struct userproc *u = s->user;
	char *text;

	if (!u || m->v[1] < GWL_SAID || m->v[1] > GWL_GOT)
		return;
	if (m->v[2] == 0)
		buf_clear(&u->part);
	if (m->v[2] != u->part.len || buf_add(&u->part, m->text, m->n) < 0 || u->part.len < m->v[3])
		return;
	text = mem_strndup(buf_str(&u->part), u->part.len);
	switch (m->v[1]) {
	case GWL_SAID:
		free(u->said);
		u->said = text[0] ? take_ptr(&text) : NULL;
		break;
	case GWL_DID:
		free(u->command);
		u->command = take_ptr(&text);
		break;
	default:
		add_did(u, text);
		break;
	}
	free(text);
}

void userdid_context(struct sup *s, struct buf *out)
{
	const struct userproc *u = s->user;
	const char *task = s->plan->task->problem_statement;

	buf_adds(out, "The task as the developer was given it:\n");
	if (task)
		simcontext_clean(out, task, strlen(task), SIMCONTEXT_STATEMENT);
	buf_adds(out, "\n\nWhat you have said so far:\n");
	strv_each (i, &u->spoken) {
		buf_addf(out, "%zu. ", i + 1);
		simcontext_clean(out, u->spoken.v[i], strlen(u->spoken.v[i]), SIMCONTEXT_EVENT);
		buf_addc(out, '\n');
	}
	if (!u->spoken.n)
		buf_adds(out, "nothing\n");
	buf_adds(out, "\nWhat has happened since you were last asked, as JSON:\n");
	buf_add(out, buf_str(&u->asked), u->asked.len);
	buf_adds(
		out,
		"\nAnswer with one JSON object: {\"action\": \"no-op\", \"question\", \"redirect\", "
		"\"new_requirement\" or \"check_external\", \"text\": what you say to the "
		"developer (not for no-op)}. No-op is the usual answer.\n");
}

void userdid_record(struct sup *s, const struct userline_answer *a, const char *unsaid, bool late)
{
	struct userproc *u = s->user;
	auto_buf line = BUF_INIT(2 * USERLINE_OUT_MAX);
	auto_free char *asked = mem_strndup(buf_str(&u->asked), u->asked.len);
	struct json_w w = { .b = &line };

	asked[strcspn(asked, "\n")] = '\0';
	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.user/1");
	json_u64(&w, "turn", u->turn);
	json_u64(&w, "call", u->call);
	json_raw(&w, "asked", asked[0] ? asked : "null");
	json_str(&w, "action", userline_name(a->action));
	json_str(&w, "text", a->text);
	json_str(&w, "note", a->note);
	json_str(&w, "wrong", a->wrong);
	json_str(&w, "unsaid", unsaid);
	json_bool(&w, "late", late);
	json_u64(&w, "ms", (clock_mono() - u->asked_at) / CLOCK_MS);
	json_close(&w, '}');
	buf_addc(&line, '\n');
	if (line.full || line.len > USERPROC_RECORD_MAX - u->recorded)
		return;
	u->recorded += line.len;
	if (fd_write_all(u->record_fd, buf_str(&line), line.len) < 0 && !s->sink->error)
		s->sink->error = errno;
}
