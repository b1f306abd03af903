#include "supervisor/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"

enum { BATCH = 1 << 17, LINE_ROOM = 1 << 20 };

static int create(const char *dir, const char *name, struct err *err)
{
	auto_free char *path = path_join(dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);

	return fd < 0 ? err_sys(err, "cannot create %s", path) : fd;
}

int sink_open(struct sink *s, const char *dir, const char *plan_digest, const char *run_id,
	      struct err *err)
{
	struct json_w w = { .b = &s->line };
	char when[32];

	*s = (struct sink){ .trace_fd = -1, .interventions_fd = -1 };
	s->line.max = BATCH + LINE_ROOM;
	s->trace_fd = create(dir, "trace.jsonl", err);
	if (s->trace_fd < 0)
		return s->trace_fd;
	s->interventions_fd = create(dir, "interventions.jsonl", err);
	if (s->interventions_fd < 0)
		return s->interventions_fd;
	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.trace/1");
	json_str(&w, "run", run_id);
	json_str(&w, "plan_digest", plan_digest);
	json_str(&w, "started", clock_text(clock_wall(), when));
	json_close(&w, '}');
	buf_addc(&s->line, '\n');
	return 0;
}

struct buf *sink_begin(struct sink *s, enum trace_kind kind, pid_t pid, pid_t tid, uint32_t cmd,
		       uint32_t epoch)
{
	struct tracerec_head head = {
		.n = ++s->n,
		.t = s->start ? clock_mono() - s->start : 0,
		.pid = pid,
		.tid = tid,
		.cmd = cmd,
		.ep = epoch,
	};

	tracerec_begin(&s->line, kind, &head);
	return &s->line;
}

void sink_end(struct sink *s)
{
	tracerec_end(&s->line);
	if (s->line.len >= BATCH)
		sink_flush(s);
}

void sink_flush(struct sink *s)
{
	if (!s->line.len || s->trace_fd < 0)
		return;
	/* Behind a line that was cut nothing more is written: only the last one of a file may be. */
	if (!s->error && fd_write_all(s->trace_fd, s->line.data, s->line.len) < 0)
		s->error = errno;
	if (s->error)
		s->lost++;
	buf_clear(&s->line);
}

void sink_intervention(struct sink *s, const struct buf *line)
{
	sink_flush(s);
	if (!s->error && fd_write_all(s->interventions_fd, buf_str(line), line->len) < 0)
		s->error = errno;
	if (fdatasync(s->interventions_fd) < 0 && !s->error)
		s->error = errno;
	if (fdatasync(s->trace_fd) < 0 && !s->error)
		s->error = errno;
}

void sink_close(struct sink *s)
{
	sink_flush(s);
	mem_close(&s->trace_fd);
	mem_close(&s->interventions_fd);
	buf_done(&s->line);
}
