/* From calls to accesses: builds struct access for the engine and hands it over. */
#ifndef SUPERVISOR_ACCESS_H
#define SUPERVISOR_ACCESS_H

#include "supervisor/sup.h"

/* An access of @t to workspace file @path (borrowed), as the engine takes it; without lines. */
struct access access_of(const struct tracee *t, enum access_kind kind, const char *path,
			uint64_t off, uint64_t len);

/* Trace record about bytes of descriptor @fd, @file -1 when it is not followed. Reads come with their
 * lines, the lines that the program was to show, and why they are a scan. */
void access_record(struct sup *s, struct tracee *t, enum trace_kind kind, int fd, int file,
		   uint64_t off, uint64_t len);

/* Followed file @file is opened, read ([off, off+len)), before (@before) or after the fact. Without a
 * region that is nobody's business. */
void access_report(struct sup *s, struct tracee *t, enum access_kind kind, int file, uint64_t off,
		   uint64_t len, bool before);

/* The contents of followed file @file may have changed by process @p. */
void access_changed(struct sup *s, struct process *p, int file);

/* A descriptor through which followed file @file was written has closed. When @p itself, a child or
 * its parent still holds another one that can write (a shell's redirection: opened, duplicated,
 * closed, inherited), the edit goes on there and is judged at its close: true. */
bool access_pass_on(struct sup *s, struct process *p, int file);

/* Region files may be others now (rename, link, unlink): look again and judge those that are; all of
 * them when @contents may have changed under the same name (truncate by path). */
void access_recheck(struct sup *s, struct process *p, bool contents);

/* Count a distinct workspace file that @p opens under the name @path relative to @at. */
void access_seen(struct process *p, int at, const char *path, size_t n);

/* Follow the descriptors of @tid, a task of @p, that lead to followed files and came about unseen. Returns how many
 * there were. */
unsigned access_find_fds(struct sup *s, struct process *p, pid_t tid);

#endif
