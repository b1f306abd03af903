/* Continuations whose agent takes up its own session: what the record kept, what of it cannot come back, and the
 * comparison of the first requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/canon.h"
#include "gateway/record.h"
#include "supervisor/forkrun_internal.h"

#define RECORD_MAX (1u << 30) /* bytes of a model.jsonl, as MODEL_FILE_MAX */

enum { CONTEXT_MAX = 4096, LEFT_MAX = 64 };

/* --- the checkpoint ------------------------------------------------------------------------------ */

static void add_left(struct strv *left, const char *what, const struct strv *names)
{
	strv_each (i, names) {
		if (left->n < LEFT_MAX)
			strv_take(left, mem_printf("%s: %.200s", what, names->v[i]));
	}
}

/* What of the state at the step is in no file. */
static void list_left(const struct checkpoint_state *s, struct strv *left)
{
	add_left(left, "process", &s->processes);
	add_left(left, "held by an effect", &s->held);
	add_left(left, "service in use", &s->services);
	if (s->user)
		strv_add(left, "the user who reacts to the run, who would begin anew");
	if (s->messages)
		strv_take(left, mem_printf("%llu user message(s) that only the gateway knows",
					   (unsigned long long)s->messages));
}

static int refuse_left(const struct forkrun_record *r, struct err *err)
{
	auto_buf names = BUF_INIT(512);

	strv_each (i, &r->left)
		buf_addf(&names, "%s%.100s", i ? "; " : "", r->left.v[i]);
	return err_set(err, ERR_INPUT,
		       "%s: at the position %s there is more than files, and it does not come back "
		       "when a session is taken up: %s. Use --resume replay, which runs the prefix "
		       "again, or --leave-behind",
		       r->dir, r->at.text, buf_str(&names));
}

int forkrun_resume_read(const struct forkrun_request *req, struct forkrun_record *r,
			struct err *err)
{
	auto_free char *path = path_join(r->dir, "checkpoints.jsonl");
	int rc;

	r->store = path_join(r->dir, "checkpoints");
	if (r->at.call == 0)
		return err_set(err, ERR_INPUT,
			       "the position %s is in front of the first answer, where there is no "
			       "session to take up; use --resume replay, which costs nothing there",
			       r->at.text);
	if (access(path, R_OK) < 0)
		return err_set(
			err, ERR_INPUT,
			"%s: %s; a run with --set checkpoints=requests writes it. Record again "
			"with it, or use --resume replay",
			path, strerror(errno));
	rc = checkpointfile_load(path, r->at.call + 1, &r->state, err);
	if (rc < 0)
		return rc;
	if (r->state.why)
		return err_set(err, ERR_INPUT,
			       "%s: the checkpoint of request %llu is not whole: %s (%.200s); use "
			       "--resume replay",
			       r->dir, (unsigned long long)r->at.call + 1, r->state.why,
			       r->state.where ? r->state.where : "no name");
	list_left(&r->state, &r->left);
	return r->left.n && !req->leave_behind ? refuse_left(r, err) : 0;
}

/* --- the plan ------------------------------------------------------------------------------------ */

static int cannot(const struct agent *a, struct err *err)
{
	auto_buf names = BUF_INIT(1024);

	if (a->resume_command.n)
		return err_set(err, ERR_INPUT,
			       "agent \"%s\" speaks its own protocol (message_via native), which "
			       "begins a session and takes none up; use the agent without it, or "
			       "--resume replay",
			       a->name);
	agent_resumable(&names);
	return err_set(
		err, ERR_INPUT,
		"agent \"%s\" has no \"resume\" in its file, so nobody knows how it takes up a "
		"session; these have: %s. Use --resume replay",
		a->name, names.len ? buf_str(&names) : "none");
}

int forkrun_resume_plan(const struct forkrun_record *r, struct plan *p, struct err *err)
{
	const struct agent *a = p->agent;
	auto_free char *pattern = NULL, *path = NULL, *session = NULL;
	const char *found;
	int rc;

	if (!a->resume_command.n || a->via == VIA_NATIVE)
		return cannot(a, err);
	pattern = mem_printf("%s%s", p->home + 1, a->resume_session + 1);
	found = checkpoint_session(&r->state, pattern);
	if (!found)
		return err_set(
			err, ERR_INPUT,
			"%s: at request %llu agent \"%s\" had no session file %s; use --resume "
			"replay, or correct \"resume\" in the agent's file",
			r->dir, (unsigned long long)r->at.call + 1, a->name, a->resume_session);
	path = mem_printf("/%s", found);
	rc = agent_session(a, path, &session, err);
	return rc < 0 ? rc : plan_resume(p, session, err);
}

char *forkrun_resume_model(const struct forkrun_record *r, const char *then)
{
	if (r->first_dir)
		return mem_printf("resume-same:%s@%llu+%s", r->first_dir,
				  (unsigned long long)r->first_call, then);
	return mem_printf("resume:%s@%llu+%s", r->dir,
			  (unsigned long long)r->rd.call[r->at.call].call, then);
}

/* --- behind an arm ------------------------------------------------------------------------------- */

static int read_calls(const char *dir, struct recorded_list *ret, struct err *err)
{
	auto_free char *path = path_join(dir, "model.jsonl");
	auto_buf text = BUF_INIT(RECORD_MAX);
	int rc = fd_read_file(path, &text, err);

	return rc < 0 ? rc : record_read(path, buf_str(&text), text.len, ret, err);
}

/* The main request of @l with number @call, 0 = the first; NULL when there is none. */
static const struct recorded *main_call(const struct recorded_list *l, uint64_t call)
{
	const struct recorded *found = NULL;

	for (size_t i = 0; i < l->n; i++) {
		const struct recorded *one = &l->v[i];

		if (one->purpose != PURPOSE_MAIN || (call && one->call != call))
			continue;
		if (!found || one->call < found->call)
			found = one;
	}
	return found;
}

void forkrun_resume_made(struct forkrun_record *r, struct forkrun_arm *a)
{
	struct recorded_list was = { 0 }, now = { 0 };
	auto_buf diff = BUF_INIT(CONTEXT_MAX);
	const struct recorded *x, *y;
	struct err why;

	/* An arm that did not begin is told of by its failure or difference. */
	if (!a->made || a->failure || a->differs || !a->reached ||
	    read_calls(r->dir, &was, &why) < 0 || read_calls(a->dir, &now, &why) < 0)
		goto out;
	x = main_call(&was, r->rd.call[r->at.call].call);
	y = main_call(&now, 0);
	if (!x || !y)
		goto out;
	if (canon_context(x->canonical, x->canonical_n, y->canonical, y->canonical_n, &diff) == 1)
		a->context = mem_strdup(buf_str(&diff));
	if (!r->first_dir) {
		r->first_dir = mem_strdup(a->dir);
		r->first_call = y->call;
	}
out:
	recorded_done(&was);
	recorded_done(&now);
}
