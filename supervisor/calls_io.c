#include "supervisor/on_syscall.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "supervisor/access.h"
#include "supervisor/calls_internal.h"
#include "supervisor/follow.h"
#include "supervisor/procfs.h"

enum { IOV_CAP = 1024 };

struct rfd *calls_rfd(struct tracee *t, unsigned i)
{
	return t->proc->fds->n ? fdtab_get(t->proc->fds, (int)t->call.arg[i]) : NULL;
}

void calls_appeared(struct sup *s, struct tracee *t)
{
	static const unsigned args[] = { 0, 1, 2,
					 4 }; /* where descriptors stand in the calls looked at */

	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		uint64_t fd = t->call.arg[args[i]] & UINT32_MAX;
		int file;

		if (fd > INT_MAX || fdtab_get(t->proc->fds, (int)fd))
			continue;
		file = watch_fd(&s->watch, t->tid, (int)fd);
		if (file >= 0)
			fdtab_put(t->proc->fds, (int)fd, file, true);
	}
}

/* Sum of the lengths of an iovec array in the tracee. */
static uint64_t iov_bytes(struct tracee *t, uint64_t addr, uint64_t count)
{
	struct iovec iov[64];
	uint64_t sum = 0;

	if (count > IOV_CAP)
		count = IOV_CAP;
	for (uint64_t i = 0; i < count;) {
		uint64_t want = count - i < 64 ? count - i : 64;
		ssize_t n = pt_read(t->tid, (struct remote){ addr + i * sizeof(iov[0]) }, iov,
				    want * sizeof(iov[0]));

		if (n < (ssize_t)sizeof(iov[0]))
			break;
		for (size_t k = 0; k < (size_t)n / sizeof(iov[0]); k++)
			sum += iov[k].iov_len;
		i += want;
	}
	return sum;
}

/* Offset and length that a read or write call asks for. */
static void span_of(struct tracee *t, uint64_t *off, uint64_t *len)
{
	uint64_t nr = t->call.nr;
	bool vector = nr == SYS_readv || nr == SYS_writev || nr == SYS_preadv ||
		      nr == SYS_pwritev || nr == SYS_preadv2 || nr == SYS_pwritev2;
	bool positioned = nr == SYS_pread64 || nr == SYS_pwrite64 || nr == SYS_preadv ||
			  nr == SYS_pwritev || nr == SYS_preadv2 || nr == SYS_pwritev2;

	*len = vector ? iov_bytes(t, t->call.arg[1], t->call.arg[2]) : t->call.arg[2];
	if (positioned && t->call.arg[3] != UINT64_MAX)
		*off = t->call.arg[3];
	else if (procfs_pos(t->tid, (int)t->call.arg[0], off) < 0)
		*off = 0;
}

void calls_read_entry(struct sup *s, struct tracee *t)
{
	struct rfd *r = calls_rfd(t, 0);

	if (!r)
		return;
	t->file = r->file;
	span_of(t, &t->off, &t->len);
	if (t->len)
		access_report(s, t, ACCESS_READ, t->file, t->off, t->len, true);
}

void calls_read_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	if (ret > 0 && (t->file >= 0 || s->level == TRACE_FULL))
		access_record(s, t, TK_READ, (int)t->call.arg[0], t->file, t->off, (uint64_t)ret);
	if (ret > 0 && t->file >= 0)
		access_report(s, t, ACCESS_READ, t->file, t->off, (uint64_t)ret, false);
}

void calls_write_entry(struct sup *s, struct tracee *t)
{
	struct rfd *r = calls_rfd(t, 0);

	(void)s; /* one signature for all handlers */
	if (!r)
		return;
	t->file = r->file;
	if (t->call.nr != SYS_ftruncate && t->call.nr != SYS_fallocate)
		span_of(t, &t->off, &t->len);
	else
		t->off = t->call.arg[1];
}

void calls_write_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	struct rfd *r = calls_rfd(t, 0);
	bool sizes = t->call.nr == SYS_ftruncate || t->call.nr == SYS_fallocate;

	if (ret < 0 || (ret == 0 && !sizes))
		return;
	if (r)
		r->wrote = true;
	if (r || s->level == TRACE_FULL)
		access_record(s, t, sizes ? TK_TRUNCATE : TK_WRITE, (int)t->call.arg[0],
			      r ? r->file : -1, t->off, (uint64_t)ret);
}

/* Bytes of the file that a mapping shows: the kernel rounds to pages, and a mapping can grow to the file's end
 * (mremap(2)) when its descriptor is long closed. */
static uint64_t map_len(const struct tracee *t)
{
	uint64_t len = t->call.arg[1];
	struct stat st;

	if (procfs_fd_stat(t->tid, (int)t->call.arg[4], &st) < 0 || (uint64_t)st.st_size <= t->off)
		return len;
	return len > (uint64_t)st.st_size - t->off ? len : (uint64_t)st.st_size - t->off;
}

void calls_mmap_entry(struct sup *s, struct tracee *t)
{
	struct rfd *r = (t->call.arg[3] & MAP_ANONYMOUS) ? NULL : calls_rfd(t, 4);

	if (!r)
		return;
	t->file = r->file;
	t->off = t->call.arg[5];
	t->len = map_len(t);
	/* Whatever may be done with it now: mprotect(2) can allow more at any time. */
	access_report(s, t, ACCESS_READ, t->file, t->off, t->len, true);
}

void calls_mmap_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	struct rfd *r;

	if (t->file < 0 || (ret < 0 && ret > -4096))
		return;
	r = calls_rfd(t, 4);
	access_record(s, t, TK_MAP, (int)t->call.arg[4], t->file, t->off, t->len);
	if (r && r->write && (t->call.arg[3] & MAP_TYPE) != MAP_PRIVATE)
		fileset_add(&t->proc->maps, t->file);
	access_report(s, t, ACCESS_READ, t->file, t->off, t->len, false);
}

/* Where the source, its offset pointer, the target and the count stand in the three calls. */
static void copy_args(const struct tracee *t, unsigned *in, unsigned *in_off, unsigned *out,
		      unsigned *count)
{
	bool sendfile_call = t->call.nr == SYS_sendfile;

	*in = sendfile_call ? 1 : 0;
	*in_off = sendfile_call ? 2 : 1;
	*out = sendfile_call ? 0 : 2;
	*count = sendfile_call ? 3 : 4;
}

void calls_copy_entry(struct sup *s, struct tracee *t)
{
	unsigned in, in_off, out, count;
	struct rfd *r;

	copy_args(t, &in, &in_off, &out, &count);
	r = calls_rfd(t, in);
	if (!r)
		return;
	t->file = r->file;
	t->len = t->call.arg[count];
	t->off = 0;
	if (!t->call.arg[in_off] ||
	    pt_read(t->tid, (struct remote){ t->call.arg[in_off] }, &t->off, 8) != 8)
		(void)procfs_pos(t->tid, r->fd, &t->off); /* unknown stays 0: the whole file */
	access_report(s, t, ACCESS_READ, t->file, t->off, t->len, true);
}

void calls_copy_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	unsigned in, in_off, out, count;
	struct rfd *to;

	if (ret <= 0)
		return;
	copy_args(t, &in, &in_off, &out, &count);
	if (t->file >= 0) {
		access_record(s, t, TK_READ, (int)t->call.arg[in], t->file, t->off, (uint64_t)ret);
		access_report(s, t, ACCESS_READ, t->file, t->off, (uint64_t)ret, false);
	}
	to = calls_rfd(t, out);
	if (to) {
		to->wrote = true;
		access_record(s, t, TK_WRITE, to->fd, to->file, 0, (uint64_t)ret);
	}
}

/* Does a task that shares the table of @t, as far as we know, hold @file under number @fd still? Another
 * thread may have opened it again before we heard of the close, or have a table of its own by now. */
static bool still_open(struct sup *s, const struct tracee *t, int fd, int file)
{
	map_each (slot, &s->ts.by_tid) {
		const struct tracee *u = slot->val;

		if (u->proc && u->proc->fds == t->proc->fds &&
		    watch_fd(&s->watch, u->tid, fd) == file)
			return true;
	}
	return false;
}

/* The descriptor is gone: an edit is complete when the last one that could write closes. */
static void closed(struct sup *s, struct tracee *t, int fd)
{
	struct rfd r;

	if (!fdtab_del(t->proc->fds, fd, &r))
		return;
	if (still_open(s, t, fd, r.file))
		fdtab_put(t->proc->fds, fd, r.file, r.write);
	if (r.wrote && !access_pass_on(s, t->proc, r.file))
		access_changed(s, t->proc, r.file);
}

static void close_many(struct sup *s, struct tracee *t)
{
	uint32_t first = (uint32_t)t->call.arg[0], last = (uint32_t)t->call.arg[1];
	struct fdtab *tab = t->proc->fds;

	if ((t->call.arg[2] & CLOSE_RANGE_UNSHARE) && t->proc->threads < 2) {
		t->proc->fds = fdtab_copy(tab);
		fdtab_unref(tab);
		tab = t->proc->fds;
	}
	if (t->call.arg[2] & CLOSE_RANGE_CLOEXEC)
		return;
	for (size_t i = tab->n; i-- > 0;) {
		uint32_t fd = (uint32_t)tab->v[i].fd;

		if (fd >= first && fd <= last)
			closed(s, t, (int)fd);
		if (i > tab->n)
			i = tab->n;
	}
}

void calls_close_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	uint64_t nr = t->call.nr;
	struct rfd *from;

	/* close(2): the descriptor is gone even when an error is returned, but for EBADF. */
	if (nr == SYS_close) {
		closed(s, t, (int)t->call.arg[0]);
		return;
	}
	if (ret < 0)
		return;
	if (nr == SYS_close_range) {
		close_many(s, t);
		return;
	}
	if ((int)t->call.arg[0] == (int)t->call.arg[1])
		return;
	closed(s, t, (int)t->call.arg[1]);
	from = calls_rfd(t, 0);
	if (from)
		fdtab_put(t->proc->fds, (int)ret, from->file, from->write);
}

void calls_dup_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	struct rfd *from = calls_rfd(t, 0);

	(void)s; /* one signature for all handlers */
	if (!from || ret < 0)
		return;
	/* The kernel looks at the low half only. */
	if (t->call.nr == SYS_fcntl && (uint32_t)t->call.arg[1] != F_DUPFD &&
	    (uint32_t)t->call.arg[1] != F_DUPFD_CLOEXEC)
		return;
	fdtab_put(t->proc->fds, (int)ret, from->file, from->write);
}

/* Bytes of @from change hands without a read; @len 0: to its end. */
static void cloned(struct sup *s, struct tracee *t, const struct rfd *from, uint64_t off,
		   uint64_t len)
{
	struct stat st;

	if (!from)
		return;
	if (!len && procfs_fd_stat(t->tid, from->fd, &st) == 0 && (uint64_t)st.st_size > off)
		len = (uint64_t)st.st_size - off;
	access_record(s, t, TK_READ, from->fd, from->file, off, len);
	access_report(s, t, ACCESS_READ, from->file, off, len, false);
}

/* ioctl_ficlone(2), ioctl_ficlonerange(2), ioctl_fideduperange(2): the last tells whether bytes are the same. */
void calls_ioctl_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	uint32_t cmd = (uint32_t)t->call.arg[1];
	struct rfd *to = calls_rfd(t, 0);
	struct file_clone_range range = { 0 };

	if (ret != 0)
		return;
	if (cmd == (uint32_t)FICLONE)
		cloned(s, t, calls_rfd(t, 2), 0, 0);
	else if (cmd == (uint32_t)FICLONERANGE &&
		 pt_read(t->tid, (struct remote){ t->call.arg[2] }, &range, sizeof(range)) ==
			 (ssize_t)sizeof(range))
		cloned(s, t, fdtab_get(t->proc->fds, (int)range.src_fd), range.src_offset,
		       range.src_length);
	else if (cmd == (uint32_t)FIDEDUPERANGE)
		cloned(s, t, to, 0, 0);
	if (to && (cmd == (uint32_t)FICLONE || cmd == (uint32_t)FICLONERANGE))
		to->wrote = true;
}

void calls_munmap_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	uint64_t left = FOLLOW_BYTES_MAX;

	for (size_t i = 0; ret >= 0 && i < t->proc->maps.n; i++) {
		if (follow_afford(s, t->proc->maps.v[i], &left))
			access_changed(s, t->proc, t->proc->maps.v[i]);
	}
}

void calls_unshare_entry(struct sup *s, struct tracee *t)
{
	(void)s; /* one signature for all handlers */
	t->want_exit = (t->call.arg[0] & CLONE_FILES) && t->proc->fds->refs > 1;
}

void calls_unshare_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	struct fdtab *shared = t->proc->fds;

	(void)s; /* one signature for all handlers */
	if (ret < 0 || !(t->call.arg[0] & CLONE_FILES) || shared->refs < 2)
		return;
	/* The other threads of the process share it still: all of them are taken to. */
	if (t->proc->threads > 1)
		return;
	t->proc->fds = fdtab_copy(shared);
	fdtab_unref(shared);
}
