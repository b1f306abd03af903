#include "supervisor/effects.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/box.h"
#include "supervisor/effects_internal.h"
#include "supervisor/evidence.h"
#include "supervisor/gwlink.h"
#include "supervisor/gwsim.h"
#include "supervisor/helpers.h"
#include "supervisor/hold.h"
#include "supervisor/steer.h"

enum { FILE_MAX = 16 << 20 };

static int op_hold(void *arg, bool on, struct err *err)
{
	struct sup *s = arg;

	(void)err; /* stopping cannot fail: a task that cannot be stopped is gone */
	if (on && !s->holding)
		hold_stop(s, NULL, 0); /* the task whose stop this is has stopped already */
	if (!on && s->holding && !s->alone)
		hold_release(s);
	s->holding = on;
	return 0;
}

static int op_read(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err)
{
	struct sup *s = arg;
	auto_fd int fd = fd_open_beneath(s->box->ws_fd, path, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EXDEV))
		return 0; /* a link or nothing in its place: the region's file is not there */
	if (fd < 0)
		return err_sys(err, "cannot read %s in the workspace", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (st.st_size > FILE_MAX)
		return err_set(err, ERR_LIMIT, "%s in the workspace is larger than 16 MiB", path);
	if (fd_read_all(fd, out) < 0)
		return err_sys(err, "cannot read %s in the workspace", path);
	*mode = st.st_mode & 0100 ? 0100755 : 0100644;
	return 1;
}

static int remove_file(int ws_fd, const char *path)
{
	auto_free char *dir = path_dir(path);
	auto_fd int at = fd_open_beneath(ws_fd, dir, O_RDONLY | O_DIRECTORY, 0);

	if (at < 0 || unlinkat(at, path_base(path), 0) < 0)
		return errno == ENOENT ? 0 : -1;
	return 0;
}

static int op_write(void *arg, const char *path, const void *data, size_t n, uint32_t mode,
		    struct err *err)
{
	struct sup *s = arg;
	uint64_t changed;
	int rc = 0;

	box_act_as(s->box, true);
	if (mode == 0) {
		if (remove_file(s->box->ws_fd, path) < 0)
			rc = err_sys(err, "cannot remove %s in the workspace", path);
	} else {
		auto_fd int fd = effects_open(s->box->ws_fd, path, mode == 0100755 ? 0755 : 0644);
		struct stat st;

		if (fd < 0 || effects_write(fd, data, n) < 0)
			rc = err_sys(err, "cannot write %s in the workspace", path);
		else if (fstat(fd, &st) == 0 && (st.st_mode & 0100) != (mode & 0100) &&
			 fchmod(fd, mode == 0100755 ? 0755 : 0644) < 0)
			rc = err_sys(err, "cannot set the mode of %s in the workspace", path);
	}
	box_act_as(s->box, false);
	watch_refresh(&s->watch, &changed);
	return rc;
}

/* Append the message to a file in the box, which the agent reads when it likes. */
static int message_to_file(struct sup *s, const char *path, const char *text, struct err *err)
{
	auto_free char *line = mem_printf("%s\n", text);
	auto_free char *rel = path_normal(path + strspn(path, "/"));
	auto_fd int fd = -1;
	int rc = 0;

	box_act_as(s->box, true);
	fd = fd_open_beneath(s->box->root_fd, rel, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
			     0);
	if (fd < 0 && errno == ENOENT)
		fd = fd_open_beneath(s->box->root_fd, rel, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0 || fd_write_all(fd, line, strlen(line)) < 0)
		rc = err_sys(err, "cannot write the message to %s in the box", path);
	box_act_as(s->box, false);
	return rc;
}

static int message_to_stdin(struct sup *s, const char *text, struct err *err)
{
	auto_free char *line = mem_printf("%s\n", text);

	if (relay_send(s->relay, line, strlen(line)) < 0)
		return err_set(err, ERR_CHILD,
			       "the agent's standard input is closed; "
			       "choose another message_via for this agent");
	return 0;
}

static int op_exec(void *arg, char *const *argv, struct err *err)
{
	struct sup *s = arg;

	return helpers_start(&s->helpers, s->box, argv, s->plan->env.v, s->plan->task->workdir,
			     err);
}

static void op_budget(void *arg, struct buf *out)
{
	const struct sup *s = arg;

	budget_text(&s->budget, out);
}

static int op_message(void *arg, const char *text, struct err *err)
{
	struct sup *s = arg;
	const struct agent *a = s->plan->agent;

	switch (a->via) {
	case VIA_FILE:
		return message_to_file(s, a->via_arg, text, err);
	case VIA_STDIN:
	case VIA_PTY:
		return message_to_stdin(s, text, err);
	case VIA_EXEC: {
		char *const argv[] = { (char *)"sh",
				       (char *)"-c",
				       a->via_arg,
				       (char *)"sh",
				       (char *)(uintptr_t)text,
				       NULL };

		return op_exec(arg, argv, err);
	}
	case VIA_NATIVE:
		return steer_message(s, text, err);
	case VIA_GATEWAY:
		break;
	}
	return gwlink_message(s, text, err);
}

static const char *const level_names[] = { "open", "bytes", "argv", "output", "swe-touch-1.0" };
static const char *const event_names[] = { "open", "read", "edit" };

static void op_touched(void *arg, const struct touch *t)
{
	struct sup *s = arg;
	struct buf *b = sink_begin(s->sink, TK_TOUCH, t->pid, t->pid, t->cmd, s->epoch);

	if (!t->scan)
		s->touches++;
	tracerec_u64(b, "region", t->region);
	tracerec_str(b, "level", level_names[t->level], strlen(level_names[t->level]));
	tracerec_str(b, "event", event_names[t->event], strlen(event_names[t->event]));
	tracerec_lines(b, t->first, t->last);
	tracerec_str(b, "path", t->path, strlen(t->path));
	if (t->scan)
		tracerec_str(b, "scan", t->scan, strlen(t->scan));
	if (t->unasked)
		tracerec_u64(b, "unasked", 1);
	sink_end(s->sink);
}

static const char *const timing_names[] = { "at-touch", "after-read", "after-command" };

static void firing_json(const struct sup *s, const struct firing *f, struct json_w *w)
{
	char sum[DIGEST_HEX];

	json_open(w, NULL, '{');
	json_u64(w, "order", f->order);
	json_u64(w, "round", f->round);
	json_u64(w, "at_n", s->sink->n);
	json_str(w, "timing", timing_names[f->timing]);
	json_str(w, "effect", scenario_effect_name(f->effect));
	json_bool(w, "applied", f->applied);
	json_str(w, "method", f->method);
	json_str(w, "reason", f->reason);
	json_str(w, "edit_sha256", f->edit_sha256);
	json_str(w, "pre_sha256", f->pre_sha256);
	json_str(w, "post_sha256", f->post_sha256);
	json_str(w, "message", f->message);
	json_str(w, "message_source", f->message_source);
	json_str(w, "message_sha256",
		 f->message ? digest_bytes(f->message, strlen(f->message), sum) : NULL);
	json_str(w, "template_sha256", f->template_sha256);
	if (f->simulator) {
		json_str(w, "model", f->simulator->model);
		json_str(w, "prompt_sha256", f->simulator->prompt_sha256);
		json_str(w, "context_sha256", f->simulator->context_sha256);
		json_str(w, "raw_sha256", f->simulator->raw_sha256);
		json_u64(w, "ms", f->simulator->ns / CLOCK_MS);
	}
	if (f->touch_event) {
		json_open(w, "touch", '{');
		json_str(w, "event", f->touch_event);
		json_str(w, "path", f->touch_path);
		json_open(w, "lines", '[');
		json_u64(w, NULL, f->touch_first);
		json_u64(w, NULL, f->touch_last);
		json_close(w, ']');
		json_str(w, "level", f->touch_level);
		json_u64(w, "command", f->touch_cmd);
		json_close(w, '}');
	}
	json_str(w, "plan_digest", s->plan->digest);
	json_close(w, '}');
}

static void op_fired(void *arg, const struct firing *f)
{
	struct sup *s = arg;
	auto_buf line = BUF_INIT(1 << 20);
	struct json_w w = { .b = &line };
	const char *effect = scenario_effect_name(f->effect);
	struct buf *b;

	/* One intervention is one epoch, however many effects it has. */
	if (f->applied && !f->late && (f->order != s->last_order || f->round != s->last_round)) {
		s->epoch++;
		s->last_order = f->order;
		s->last_round = f->round;
	}
	b = sink_begin(s->sink, TK_INTERVENE, 0, 0, f->touch_cmd, s->epoch);
	tracerec_u64(b, "order", f->order);
	tracerec_u64(b, "round", f->round);
	tracerec_str(b, "timing", timing_names[f->timing], strlen(timing_names[f->timing]));
	tracerec_str(b, "effect", effect, strlen(effect));
	tracerec_u64(b, "applied", f->applied);
	if (f->pre_sha256)
		tracerec_str(b, "pre", f->pre_sha256, strlen(f->pre_sha256));
	if (f->post_sha256)
		tracerec_str(b, "post", f->post_sha256, strlen(f->post_sha256));
	if (f->reason)
		tracerec_str(b, "reason", f->reason, strlen(f->reason));
	sink_end(s->sink);
	firing_json(s, f, &w);
	buf_addc(&line, '\n');
	sink_intervention(s->sink, &line);
}

const struct engine_ops effects_ops = {
	.hold = op_hold,
	.read = op_read,
	.write = op_write,
	.message = op_message,
	.later = gwsim_later,
	.budget = op_budget,
	.exec = op_exec,
	.touched = op_touched,
	.fired = op_fired,
	.edited = evidence_edited,
	.image = evidence_image,
	.digest = evidence_digest,
	.other = effects_other,
};
