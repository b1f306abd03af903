/* Profile field "watch": "workspace": files without regions that the box reads, writes, makes, renames or
 * removes are followed like those with regions, from the moment before that happens. Where a name leads
 * is asked of the kernel, inside the box's root; what was opened is told by the descriptor. */
#ifndef SUPERVISOR_FOLLOW_H
#define SUPERVISOR_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/sup.h"

/* Files without regions that are followed in one run; the rest is left out with a note. */
#define FOLLOW_MAX 4096u

/* Files and levels of a directory that is renamed. */
#define FOLLOW_TREE_MAX  4096u
#define FOLLOW_DEPTH_MAX 32u

/* Bytes of files without regions that are looked at for one call of the box: it waits meanwhile, and so do
 * limits. What is beyond is judged at its next change, or at the end of the run. */
#define FOLLOW_BYTES_MAX (64ull << 20)

/* Is there room in *left, FOLLOW_BYTES_MAX at first, to judge @file? Takes its size off. Files with
 * regions are always judged. */
bool follow_afford(struct sup *s, int file, uint64_t *left);

/* May @path, which a task is about to open (t->flags), be one to follow? Scans are left alone unless they
 * write. False in mode "regions". */
bool follow_hint(struct sup *s, struct tracee *t, const char *path, int at);

/* Does @path (relative to descriptor @at) lead to a file with a region now, by our look from outside? */
bool follow_leads_to_region(struct sup *s, struct tracee *t, const char *path, int at);

/* Before an open that may make, empty or write @path (relative to descriptor @at): take what it holds. */
void follow_open(struct sup *s, struct tracee *t, const char *path, int at);

/* Descriptor @fd was opened. @file: the file that watch_fd() found, or -1. Returns the file to follow it
 * as, or -1 when it is none of ours or only a scan reads it. */
int follow_opened(struct sup *s, struct tracee *t, int fd, int file);

/* Is the rename, link, unlink or truncate that is about to happen (t->path, t->path2) about files to
 * follow? Then it must happen while nobody else runs. */
bool follow_concerns(struct sup *s, struct tracee *t);

/* Nobody else runs: take what the files of that call hold. */
void follow_names(struct sup *s, struct tracee *t);

/* It has happened: judge them. */
void follow_renamed(struct sup *s, struct tracee *t);

/* The contents of @file may have changed, and with it those of other names of the same file: judge the
 * others (hard links, a file renamed while it was open). */
void follow_others(struct sup *s, struct process *p, int file);

#endif
