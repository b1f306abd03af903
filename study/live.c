#include "study/live.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/table.h"

#define READ_MAX (4u << 20)  /* bytes at a look */
#define LINE_MAX (64u << 10) /* of a touch record that is parsed */

/* Where the runs of an attempt are: itself, or the arms of a pair. */
static const char *const places[LIVE_RUNS] = { ".", "clean", "shifted" };

/* Number behind @key in @line, which is @n bytes; false when it is not there or no number. A key of ours cannot stand inside a
 * string: there its quotes are escaped. */
static bool number_after(const char *line, size_t n, const char *key, uint64_t *ret)
{
	const char *at = memmem(line, n, key, strlen(key));
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	if (*at < '0' || *at > '9')
		return false;
	*ret = strtoull(at, &end, 10);
	return true;
}

uint64_t live_model(struct live_run *r, const char *text, uint64_t n)
{
	const char *at = text, *end;

	while ((end = memchr(at, '\n', (size_t)(text + n - at)))) {
		size_t len = (size_t)(end - at);
		uint64_t in = 0, out = 0, cost = 0;
		const char *usage = memmem(at, len, "\"usage\":{", 9);
		/* What a record answers again before a fork costs nothing. */
		bool again = memmem(at, len, "\"source\":\"replay\"", 17) != NULL;
		bool used = usage && !again;

		if (used) {
			(void)number_after(usage, len - (size_t)(usage - at), "\"input\":", &in);
			(void)number_after(usage, len - (size_t)(usage - at), "\"output\":", &out);
		}
		r->calls += memmem(at, len, "\"purpose\":\"main\"", 16) != NULL;
		r->tokens += in + out;
		if (used && number_after(at, len, "\"micro_dollars\":", &cost))
			r->micro_dollars += cost;
		else
			r->unknown |= used;
		at = end + 1;
	}
	return (uint64_t)(at - text);
}

static void take_touch(struct live *l, const char *line, size_t n)
{
	struct json_src src = { 0 };
	auto_buf safe = BUF_INIT(LINE_MAX);
	const cJSON *path, *event, *lines;

	if (n > LINE_MAX || json_parse("trace", line, n, &src, NULL) < 0)
		return;
	path = cJSON_GetObjectItemCaseSensitive(src.root, "path");
	event = cJSON_GetObjectItemCaseSensitive(src.root, "event");
	lines = cJSON_GetObjectItemCaseSensitive(src.root, "lines");
	if (cJSON_IsString(path) && cJSON_IsString(event) &&
	    !cJSON_GetObjectItemCaseSensitive(src.root, "scan")) {
		const cJSON *first = cJSON_GetArrayItem(lines, 0);
		const cJSON *last = cJSON_GetArrayItem(lines, 1);

		l->touches++;
		table_safe(&safe, event->valuestring);
		buf_addc(&safe, ' ');
		table_safe(&safe, path->valuestring);
		if (cJSON_IsNumber(first) && cJSON_IsNumber(last))
			buf_addf(&safe, ":%.0f-%.0f", first->valuedouble, last->valuedouble);
		snprintf(l->touch, sizeof(l->touch), "%.*s", LIVE_TOUCH_MAX - 1, buf_str(&safe));
	}
	json_src_done(&src);
}

uint64_t live_trace(struct live *l, struct live_run *r, const char *text, uint64_t n)
{
	const char *at = text, *end;

	while ((end = memchr(at, '\n', (size_t)(text + n - at)))) {
		size_t len = (size_t)(end - at);

		if (memmem(at, len, "\"k\":\"touch\"", 11))
			take_touch(l, at, len);
		else if (memmem(at, len, "\"k\":\"spawn\"", 11) &&
			 memmem(at, len, "\"child_cmd\":", 12))
			r->commands++;
		at = end + 1;
	}
	return (uint64_t)(at - text);
}

/* What stands behind @from in DIR/NAME, at most READ_MAX bytes. Caller frees *ret. */
static uint64_t news(const char *dir, const char *name, uint64_t from, char **ret)
{
	auto_free char *path = path_join(dir, name);
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return 0;
	*ret = mem_alloc(READ_MAX + 1);
	n = pread(fd, *ret, READ_MAX, (off_t)from);
	if (n < 0)
		n = 0;
	(*ret)[n] = '\0';
	return (uint64_t)n;
}

/* A line longer than a look is passed over piece by piece: it is a request's body. */
static uint64_t step(uint64_t taken, uint64_t n)
{
	return taken || n < READ_MAX ? taken : n;
}

void live_look(struct live *l, const char *dir)
{
	uint64_t calls = 0, commands = 0;

	l->tokens = l->micro_dollars = 0;
	l->cost_known = true;
	for (size_t i = 0; i < LIVE_RUNS; i++) {
		auto_free char *run = path_join(dir, places[i]), *model = NULL, *trace = NULL;
		struct live_run *r = &l->run[i];
		uint64_t n = news(run, "model.jsonl", r->model_at, &model);

		if (n)
			r->model_at += step(live_model(r, model, n), n);
		n = news(run, "trace.jsonl", r->trace_at, &trace);
		if (n)
			r->trace_at += step(live_trace(l, r, trace, n), n);
		calls += r->calls;
		commands += r->commands;
		l->tokens += r->tokens;
		l->micro_dollars += r->micro_dollars;
		l->cost_known &= !r->unknown;
	}
	l->steps = calls ? calls : commands;
}
