/* Entry and exit handlers of on_syscall.c's table, by family: calls_names.c for paths, calls_io.c
 * for descriptors and bytes, calls_net.c for addresses and passed descriptors. */
#ifndef SUPERVISOR_CALLS_INTERNAL_H
#define SUPERVISOR_CALLS_INTERNAL_H

#include "supervisor/sup.h"

/* Each: called at the entry (t->call is filled) or exit (@ret: result or negative errno). */
void calls_open_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_open_exit(struct sup *s, struct tracee *t, int64_t ret);    /* see above */
void calls_exec_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_exec_exit(struct sup *s, struct tracee *t, int64_t ret);    /* see above */
void calls_names_entry(struct sup *s, struct tracee *t);               /* see above */
void calls_names_exit(struct sup *s, struct tracee *t, int64_t ret);   /* see above */
void calls_chdir_entry(struct sup *s, struct tracee *t);               /* see above */
void calls_misc_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_misc_exit(struct sup *s, struct tracee *t, int64_t ret);    /* see above */
void calls_kill_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_addr_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_addr_exit(struct sup *s, struct tracee *t, int64_t ret);    /* see above */
void calls_read_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_read_exit(struct sup *s, struct tracee *t, int64_t ret);    /* see above */
void calls_write_entry(struct sup *s, struct tracee *t);               /* see above */
void calls_write_exit(struct sup *s, struct tracee *t, int64_t ret);   /* see above */
void calls_mmap_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_mmap_exit(struct sup *s, struct tracee *t, int64_t ret);    /* see above */
void calls_copy_entry(struct sup *s, struct tracee *t);                /* see above */
void calls_copy_exit(struct sup *s, struct tracee *t, int64_t ret);    /* see above */
void calls_close_exit(struct sup *s, struct tracee *t, int64_t ret);   /* see above */
void calls_dup_exit(struct sup *s, struct tracee *t, int64_t ret);     /* see above */
void calls_unshare_entry(struct sup *s, struct tracee *t);             /* see above */
void calls_unshare_exit(struct sup *s, struct tracee *t, int64_t ret); /* see above */
void calls_ioctl_exit(struct sup *s, struct tracee *t, int64_t ret);   /* see above */
void calls_munmap_exit(struct sup *s, struct tracee *t, int64_t ret);  /* see above */
void calls_sendmsg_entry(struct sup *s, struct tracee *t);             /* see above */
void calls_sendmsg_exit(struct sup *s, struct tracee *t, int64_t ret); /* see above */
void calls_recvmsg_entry(struct sup *s, struct tracee *t);             /* see above */
void calls_recvmsg_exit(struct sup *s, struct tracee *t, int64_t ret); /* see above */

/* Region descriptor in argument @i of the present call, NULL when it is none. */
struct rfd *calls_rfd(struct tracee *t, unsigned i);

/* While an open is under way whose descriptor others may use before we hear of it: follow the descriptors of the
 * present call of @t that lead to a region's file. */
void calls_appeared(struct sup *s, struct tracee *t);

/* A refusal that the kernel returned as @ret for @what: record and count it when it is one. */
void calls_denied(struct sup *s, struct tracee *t, const char *what, int64_t ret);

#endif
