/* Messages on stderr: levels, and no way for a hostile name to drive the terminal. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

/* What one message writes to descriptor 2. */
static void caught(struct buf *out, enum log_level level, const char *name)
{
	int saved = dup(2), p[2];

	buf_clear(out);
	if (pipe2(p, O_CLOEXEC) < 0)
		return;
	dup2(p[1], 2);
	errno = EXDEV;
	log_msg(level, "file %s", name);
	tap_ok(errno == EXDEV, "errno is kept");
	dup2(saved, 2);
	close(saved);
	close(p[1]);
	fd_read_all(p[0], out);
	close(p[0]);
}

int main(void)
{
	auto_buf b = BUF_INIT(65536);
	char huge[5000];

	caught(&b, LOG_WARN, "a");
	tap_is_str(buf_str(&b), "proctor: file a\n", "a warning");
	caught(&b, LOG_INFO, "a");
	tap_is_str(buf_str(&b), "", "less important messages are quiet");
	caught(&b, LOG_ERROR, "\x1b[2J\x07\x7f");
	tap_is_str(buf_str(&b), "proctor: file \\x1b[2J\\x07\\x7f\n", "control bytes are escaped");
	memset(huge, 1, sizeof(huge));
	huge[sizeof(huge) - 1] = '\0';
	caught(&b, LOG_ERROR, huge);
	tap_ok(b.len > 4000 && b.len < 6100 && buf_str(&b)[b.len - 1] == '\n',
	       "a long message is cut and ends its line");
	log_set_level(LOG_DEBUG);
	caught(&b, LOG_DEBUG, "a");
	tap_is_str(buf_str(&b), "proctor: file a\n", "everything at level debug");
	return tap_done();
}
