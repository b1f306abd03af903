#include "base/tracerec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* clang-format off */
static const char *const names[TK_MAX] = {
	[TK_EXEC] = "exec",         [TK_SPAWN] = "spawn",       [TK_EXIT] = "exit",
	[TK_OPEN] = "open",         [TK_READ] = "read",         [TK_WRITE] = "write",
	[TK_MAP] = "map",           [TK_CLOSE] = "close",       [TK_EDIT] = "edit",
	[TK_IMAGE] = "image",       [TK_RENAME] = "rename",     [TK_LINK] = "link",
	[TK_UNLINK] = "unlink",     [TK_TRUNCATE] = "truncate", [TK_MKDIR] = "mkdir",
	[TK_CHMOD] = "chmod",       [TK_CONNECT] = "connect",   [TK_BIND] = "bind",
	[TK_DNS] = "dns",           [TK_KILL] = "kill",         [TK_SYSCALL] = "syscall",
	[TK_SIGNAL] = "signal",     [TK_DENY] = "deny",         [TK_TOUCH] = "touch",
	[TK_INTERVENE] = "intervene", [TK_MODEL] = "model",       [TK_TOOL] = "tool",
	[TK_RELAY] = "relay",       [TK_BUDGET] = "budget",     [TK_COMMAND] = "command",
	[TK_STEP] = "step",         [TK_FORK] = "fork",         [TK_AUTHORITY] = "authority",
	[TK_SERVICE] = "service",
	[TK_NOTE] = "note",         [TK_END] = "end",
};
/* clang-format on */

const char *tracerec_name(enum trace_kind kind)
{
	return kind < TK_MAX ? names[kind] : "?";
}

enum trace_kind tracerec_kind(const char *name)
{
	for (int k = 0; k < TK_MAX; k++) {
		if (strcmp(names[k], name) == 0)
			return (enum trace_kind)k;
	}
	return TK_MAX;
}

static void key_of(struct buf *b, const char *key)
{
	buf_adds(b, ",\"");
	buf_adds(b, key);
	buf_adds(b, "\":");
}

void tracerec_begin(struct buf *b, enum trace_kind kind, const struct tracerec_head *head)
{
	buf_adds(b, "{\"n\":");
	buf_addu(b, head->n);
	tracerec_u64(b, "t", head->t);
	if (head->pid) {
		tracerec_u64(b, "pid", (uint64_t)head->pid);
		if (head->tid != head->pid)
			tracerec_u64(b, "tid", (uint64_t)head->tid);
	}
	if (head->cmd)
		tracerec_u64(b, "cmd", head->cmd);
	if (head->ep)
		tracerec_u64(b, "ep", head->ep);
	buf_adds(b, ",\"k\":\"");
	buf_adds(b, names[kind]);
	buf_addc(b, '"');
}

void tracerec_str(struct buf *b, const char *key, const char *s, size_t n)
{
	key_of(b, key);
	buf_addc(b, '"');
	json_escape(b, s, n);
	buf_addc(b, '"');
}

void tracerec_u64(struct buf *b, const char *key, uint64_t v)
{
	key_of(b, key);
	buf_addu(b, v);
}

void tracerec_i64(struct buf *b, const char *key, int64_t v)
{
	key_of(b, key);
	if (v < 0)
		buf_addc(b, '-');
	buf_addu(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void tracerec_lines(struct buf *b, uint64_t first, uint64_t last)
{
	if (!first)
		return;
	key_of(b, "lines");
	buf_addc(b, '[');
	buf_addu(b, first);
	buf_addc(b, ',');
	buf_addu(b, last);
	buf_addc(b, ']');
}

void tracerec_strings(struct buf *b, const char *key, char *const *v, size_t n)
{
	key_of(b, key);
	buf_addc(b, '[');
	for (size_t i = 0; i < n; i++) {
		buf_adds(b, i ? ",\"" : "\"");
		json_escape(b, v[i], strlen(v[i]));
		buf_addc(b, '"');
	}
	buf_addc(b, ']');
}

void tracerec_end(struct buf *b)
{
	buf_adds(b, "}\n");
}

int tracerec_read(const char *path, int (*fn)(const cJSON *rec, void *arg), void *arg,
		  bool *ret_cut, struct err *err)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t cap = 0, no = 0;
	ssize_t n;
	int rc = 0;

	*ret_cut = false;
	if (!f)
		return err_set(err, ERR_INPUT,
			       "cannot read %s: %s; give a run directory or its trace.jsonl", path,
			       strerror(errno));
	while (rc == 0 && (n = getline(&line, &cap, f)) > 0) {
		cJSON *rec = cJSON_Parse(line);

		no++;
		if (rec) {
			rc = fn(rec, arg);
			cJSON_Delete(rec);
		} else if (line[n - 1] != '\n') {
			*ret_cut = true;
		} else {
			rc = err_set(err, ERR_INPUT, "%s:%zu: not a trace record", path, no);
		}
	}
	free(line);
	if (f != stdin)
		fclose(f);
	return rc;
}
