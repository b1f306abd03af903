/* Run directories made by hand, for tests of what reads them back.
 * Not for use outside tests/: it exits when the machine does not let it write. */
#ifndef TESTS_LIB_FAKERUN_H
#define TESTS_LIB_FAKERUN_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

/* Life: fakerun_new() -> records, images, files -> fakerun_save() -> fakerun_done(). */
struct fakerun {
	char dir[64];
	struct buf trace, firings;
	unsigned n; /* last record */
};

static inline void fakerun_die(const char *what)
{
	perror(what);
	exit(1);
}

/* Write file @name of the run directory. */
static inline void fakerun_file(struct fakerun *f, const char *name, const char *text, size_t n)
{
	auto_free char *path = path_join(f->dir, name);
	struct err err;

	if (fd_replace_file(path, text, n, &err) < 0)
		fakerun_die(err.text);
}

/* A directory with run.json of @members (what stands behind "schema", with its comma). */
static inline void fakerun_new(struct fakerun *f, const char *members)
{
	auto_free char *run = mem_printf("{ \"schema\": \"proctor.run/1\"%s }", members);
	auto_free char *images = NULL;

	*f = (struct fakerun){ .dir = "/tmp/fakerun-XXXXXX",
			       .trace = BUF_INIT(64u << 20),
			       .firings = BUF_INIT(64u << 20) };
	if (!mkdtemp(f->dir))
		fakerun_die("mkdtemp");
	images = path_join(f->dir, "images");
	if (mkdir(images, 0755) < 0)
		fakerun_die("mkdir");
	fakerun_file(f, "run.json", run, strlen(run));
	buf_adds(&f->trace, "{\"schema\":\"proctor.trace/1\",\"run\":\"r\"}\n");
}

/* One record: kind, and its other members as JSON ("" when none). Returns its number; its time is that
 * many milliseconds. */
static inline unsigned fakerun_rec(struct fakerun *f, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static inline unsigned fakerun_rec(struct fakerun *f, const char *kind, const char *fmt, ...)
{
	auto_free char *more = NULL;
	va_list ap;

	va_start(ap, fmt);
	more = mem_vprintf(fmt, ap);
	va_end(ap);
	f->n++;
	buf_addf(&f->trace, "{\"n\":%u,\"t\":%u000000,\"k\":\"%s\"%s%s}\n", f->n, f->n, kind,
		 more[0] ? "," : "", more);
	return f->n;
}

/* Keep @text as an image; its digest into @out. NULL: "". Returns @out. */
static inline char *fakerun_image(struct fakerun *f, const char *text, char out[DIGEST_HEX])
{
	auto_free char *name = NULL;

	out[0] = '\0';
	if (!text)
		return out;
	digest_bytes(text, strlen(text), out);
	name = mem_printf("images/%s", out);
	fakerun_file(f, name, text, strlen(text));
	return out;
}

/* An edit record of @path from @before to @after (NULL: no file), images kept; @cmd 0 with @by "user". */
static inline unsigned fakerun_edit(struct fakerun *f, const char *by, unsigned cmd,
				    const char *path, const char *before, const char *after,
				    unsigned first, unsigned last)
{
	char pre[DIGEST_HEX], post[DIGEST_HEX];
	auto_free char *from = NULL, *to = NULL;

	fakerun_image(f, before, pre);
	fakerun_image(f, after, post);
	from = before ? mem_printf(",\"pre\":\"%s\"", pre) : mem_strdup("");
	to = after ? mem_printf(",\"post\":\"%s\"", post) : mem_strdup("");
	return fakerun_rec(
		f, "edit",
		"\"pid\":%u,\"cmd\":%u,\"path\":\"%s\",\"lines\":[%u,%u],\"by\":\"%s\"%s%s",
		by[0] == 'u' ? 0 : 1000 + cmd, cmd, path, first, last, by, from, to);
}

/* A whole command of class @cls: spawn, exec, command, exit; @status is its exit status. Process 1000 + cmd,
 * child of process 100. Returns the number of its first record. */
static inline unsigned fakerun_command(struct fakerun *f, unsigned cmd, const char *cls,
				       const char *argv, int status)
{
	unsigned n = fakerun_rec(f, "spawn", "\"pid\":100,\"child\":%u,\"child_cmd\":%u",
				 1000 + cmd, cmd);

	fakerun_rec(f, "exec", "\"pid\":%u,\"cmd\":%u,\"argv\":[%s]", 1000 + cmd, cmd, argv);
	fakerun_rec(f, "command", "\"cmd\":%u,\"class\":\"%s\",\"argv\":[%s]", cmd, cls, argv);
	fakerun_rec(f, "exit", "\"pid\":%u,\"cmd\":%u,\"status\":%d", 1000 + cmd, cmd, status);
	return n;
}

/* Write what was collected. */
static inline void fakerun_save(struct fakerun *f)
{
	fakerun_file(f, "trace.jsonl", buf_str(&f->trace), f->trace.len);
	fakerun_file(f, "interventions.jsonl", buf_str(&f->firings), f->firings.len);
}

/* Remove it. */
static inline void fakerun_done(struct fakerun *f)
{
	fd_remove_tree(AT_FDCWD, f->dir);
	buf_done(&f->trace);
	buf_done(&f->firings);
}

#endif
