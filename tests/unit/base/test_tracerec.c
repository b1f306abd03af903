/* Trace records: what is written is valid JSON and reads back; cut and broken files. */
#include "base/tracerec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static void names(void)
{
	bool same = true;

	for (int k = 0; k < TK_MAX; k++)
		same = same &&
		       tracerec_kind(tracerec_name((enum trace_kind)k)) == (enum trace_kind)k;
	tap_ok(same, "every kind has a name of its own");
	tap_ok(tracerec_kind("nothing") == TK_MAX, "an unknown name");
	tap_is_str(tracerec_name(TK_MAX), "?", "name of no kind");
}

static void write_one(struct buf *b, uint64_t n)
{
	const struct tracerec_head head = {
		.n = n, .t = UINT64_MAX, .pid = 10, .tid = 11, .cmd = 3, .ep = 2
	};
	char *argv[] = { (char[]){ "sh" }, (char[]){ "a\xff\n" } };

	tracerec_begin(b, TK_READ, &head);
	tracerec_str(b, "path", "a\\b\xfe", 4);
	tracerec_u64(b, "off", 7);
	tracerec_i64(b, "ret", INT64_MIN);
	tracerec_lines(b, 3, 9);
	tracerec_strings(b, "argv", argv, 2);
	tracerec_end(b);
}

struct seen {
	unsigned n;
	bool good;
	int stop_at;
};

static int look(const cJSON *rec, void *arg)
{
	struct seen *s = arg;
	const cJSON *argv = cJSON_GetObjectItemCaseSensitive(rec, "argv");
	const cJSON *lines = cJSON_GetObjectItemCaseSensitive(rec, "lines");
	char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(rec, "path"));

	s->n++;
	if (path) {
		auto_free char *copy = mem_strdup(path);

		json_unescape_bytes(copy);
		s->good = s->good && strcmp(copy, "a\\b\xfe") == 0 &&
			  cJSON_GetArraySize(argv) == 2 &&
			  cJSON_GetArrayItem(lines, 1)->valueint == 9 &&
			  cJSON_GetObjectItemCaseSensitive(rec, "ep")->valueint == 2;
	}
	return s->stop_at && (int)s->n == s->stop_at ? 77 : 0;
}

static void reading(void)
{
	char name[] = "/tmp/proctor-trace-XXXXXX";
	auto_buf b = BUF_INIT(1u << 20);
	struct seen s = { .good = true };
	struct err err = { 0 };
	auto_fd int fd = mkstemp(name);
	bool cut = true;

	for (uint64_t i = 1; i <= 100; i++)
		write_one(&b, i);
	fd_write_all(fd, buf_str(&b), b.len);
	tap_ok(tracerec_read(name, look, &s, &cut, &err) == 0 && s.n == 100 && s.good && !cut,
	       "100 records come back %s", err.text);
	s = (struct seen){ .good = true, .stop_at = 5 };
	tap_ok(tracerec_read(name, look, &s, &cut, &err) == 77 && s.n == 5, "the reader may stop");
	tap_ok(ftruncate(fd, (off_t)b.len - 3) == 0, "a file cut by a kill");
	s = (struct seen){ .good = true };
	tap_ok(tracerec_read(name, look, &s, &cut, &err) == 0 && s.n == 99 && cut,
	       "is read up to the cut");
	lseek(fd, 0, SEEK_END);
	fd_write_all(fd, "\n{\"n\":1}\n", 9);
	tap_ok(tracerec_read(name, look, &s, &cut, &err) == -ERR_INPUT && strstr(err.text, ":100:"),
	       "a bad line in the middle is an error: %s", err.text);
	unlink(name);
	tap_ok(tracerec_read(name, look, &s, &cut, &err) == -ERR_INPUT, "no file is an error");
}

static void small_heads(void)
{
	const struct tracerec_head head = { .n = 1, .t = 2 };
	const struct tracerec_head own = { .n = 1, .t = 2, .pid = 5, .tid = 5 };
	auto_buf b = BUF_INIT(1000);

	tracerec_begin(&b, TK_END, &head);
	tracerec_lines(&b, 0, 0);
	tracerec_end(&b);
	tap_is_str(buf_str(&b), "{\"n\":1,\"t\":2,\"k\":\"end\"}\n",
		   "fields that are zero are left out");
	buf_clear(&b);
	tracerec_begin(&b, TK_NOTE, &own);
	tracerec_end(&b);
	tap_is_str(buf_str(&b), "{\"n\":1,\"t\":2,\"pid\":5,\"k\":\"note\"}\n",
		   "the tid is left out when it is the pid");
}

int main(void)
{
	names();
	reading();
	small_heads();
	return tap_done();
}
