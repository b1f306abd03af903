#include "sandbox/ops.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

static const char *keep(struct ops *o, const char *s)
{
	if (!s)
		return NULL;
	strv_add(&o->strings, s);
	return o->strings.v[o->strings.n - 1];
}

void ops_done(struct ops *o)
{
	for (size_t i = 0; i < o->n_source; i++)
		mem_close(&o->source[i].fd);
	for (size_t i = 0; i < o->n_held; i++)
		mem_close(&o->held[i]);
	free(o->held);
	free(o->row);
	free(o->source);
	strv_done(&o->strings);
	memset(o, 0, sizeof(*o));
}

int ops_source(struct ops *o, const char *path, bool recursive, bool optional, uint64_t attr)
{
	struct ops_source *s;

	MEM_GROW(o->source, o->cap_source, o->n_source + 1);
	s = &o->source[o->n_source];
	*s = (struct ops_source){
		.path = keep(o, path),
		.fd = -1,
		.recursive = recursive,
		.optional = optional,
		.attr = attr,
	};
	return (int)o->n_source++;
}

int ops_source_fd(struct ops *o, const char *path, int fd_take, uint64_t attr)
{
	int i = ops_source(o, path, false, false, attr);

	o->source[i].fd = fd_take;
	return i;
}

void ops_hold(struct ops *o, int fd_take)
{
	MEM_GROW(o->held, o->cap_held, o->n_held + 1);
	o->held[o->n_held++] = fd_take;
}

struct ops_row *ops_add(struct ops *o, enum ops_kind kind, const char *dst, const char *text)
{
	struct ops_row *r;

	MEM_GROW(o->row, o->cap, o->n + 1);
	r = &o->row[o->n++];
	*r = (struct ops_row){
		.kind = kind,
		.source = -1,
		.mode = 0755,
		.dst = keep(o, dst),
		.text = keep(o, text),
	};
	return r;
}

void ops_dir(struct ops *o, const char *dst, mode_t mode)
{
	ops_add(o, OPS_DIR, dst, NULL)->mode = mode;
}

void ops_bind(struct ops *o, int source, const char *dst, bool is_file)
{
	bool optional = o->source[source].optional;
	struct ops_row *r;

	o->source[source].file = is_file;
	/* The mount point hangs on the same condition as the mount: without its source neither. */
	r = ops_add(o, is_file ? OPS_FILE : OPS_DIR, dst, is_file ? "" : NULL);
	r->source = source;
	r->optional = optional || is_file;
	r->mode = is_file ? 0644 : 0755;
	r = ops_add(o, OPS_BIND, dst, NULL);
	r->source = source;
	r->optional = optional;
}

struct ops_row *ops_fs(struct ops *o, const char *type, const char *options, const char *dst,
		       uint64_t attr)
{
	struct ops_row *r;

	ops_dir(o, dst, 0755);
	r = ops_add(o, OPS_FS, dst, options);
	r->extra = keep(o, type);
	r->attr = attr;
	return r;
}

static bool makes(enum ops_kind kind)
{
	return kind == OPS_DIR || kind == OPS_SYMLINK || kind == OPS_FILE || kind == OPS_COPY;
}

static bool mounts(const struct ops_row *r)
{
	return (r->kind == OPS_BIND || r->kind == OPS_FS || r->kind == OPS_OVERLAY) && r->dst;
}

void ops_split(struct ops *o)
{
	for (size_t i = 0; i < o->n; i++) {
		bool clear = makes(o->row[i].kind);

		for (size_t k = 0; clear && k < i; k++)
			clear = !mounts(&o->row[k]) || !path_beneath(o->row[i].dst, o->row[k].dst);
		o->row[i].early = clear;
	}
}

const char *ops_name(enum ops_kind kind)
{
	/* clang-format off */
	static const char *const names[OPS_MAX] = {
		[OPS_LAYER]   = "mount the layer",
		[OPS_OVERLAY] = "mount the overlay",
		[OPS_BIND]    = "bind",
		[OPS_SELF]    = "protect",
		[OPS_FS]      = "mount",
		[OPS_DIR]     = "make directory",
		[OPS_SYMLINK] = "make link",
		[OPS_FILE]    = "write file",
		[OPS_COPY]    = "copy file",
		[OPS_HIDE]    = "hide",
	};
	/* clang-format on */

	return kind < OPS_MAX ? names[kind] : "?";
}
