#include "supervisor/netproc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/procfs.h"

enum { LINES_MAX = 200000 };

/* Inode of the socket with local @port by the table @file of a task, 0 when there is none. */
static uint64_t inode_in(pid_t pid, const char *file, uint16_t port)
{
	char path[64], line[512];
	uint64_t inode = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, file);
	f = fopen(path, "re");
	if (!f)
		return 0;
	for (int i = 0; i < LINES_MAX && !inode && fgets(line, sizeof(line), f); i++) {
		unsigned local, state;
		uint64_t ino;

		/* sl local:port remote:port st tx:rx tr:when retrnsmt uid timeout inode */
		if (sscanf(line,
			   " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s "
			   "%" SCNu64,
			   &local, &state, &ino) == 3 &&
		    local == port && ino)
			inode = ino;
	}
	fclose(f);
	return inode;
}

static uint64_t inode_of(struct sup *s, bool udp, uint16_t port)
{
	static const char *const tables[2][2] = { { "tcp", "tcp6" }, { "udp", "udp6" } };

	map_each (slot, &s->ts.by_pid) {
		struct process *p = slot->val;
		uint64_t inode;

		if (p->ended)
			continue;
		inode = inode_in(p->pid, tables[udp][0], port);
		if (!inode)
			inode = inode_in(p->pid, tables[udp][1], port);
		return inode; /* one namespace: any process shows all of it */
	}
	return 0;
}

/* A socket looked for in a process. */
struct search {
	pid_t pid;
	char want[40];
	bool found;
};

static bool is_wanted(void *arg, int fd)
{
	auto_free char *link = NULL;
	struct search *look = arg;
	char name[32];

	snprintf(name, sizeof(name), "fd/%d", fd);
	link = procfs_link(look->pid, name);
	look->found = link && strcmp(link, look->want) == 0;
	return !look->found;
}

static bool holds(pid_t pid, uint64_t inode)
{
	struct search look = { .pid = pid };

	snprintf(look.want, sizeof(look.want), "socket:[%" PRIu64 "]", inode);
	procfs_each_fd(pid, is_wanted, &look);
	return look.found;
}

struct process *netproc_find(struct sup *s, bool udp, uint16_t port, struct process *first)
{
	uint64_t inode = port ? inode_of(s, udp, port) : 0;

	if (!inode)
		return NULL;
	if (first && !first->ended && holds(first->pid, inode))
		return first;
	map_each (slot, &s->ts.by_pid) {
		struct process *p = slot->val;

		if (p != first && !p->ended && holds(p->pid, inode))
			return p;
	}
	return NULL;
}
