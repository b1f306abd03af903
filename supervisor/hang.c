#include "supervisor/hang.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/systab.h"
#include "supervisor/procfs.h"

enum { PROCESSES_MAX = 1000, SCAN_MAX = 65536, FILE_MAX = 4096, NAME_MAX_ = 64 };

struct one {
	pid_t pid, ppid;
	char state;
	char name[NAME_MAX_];
	bool below; /* the root, or a descendant */
};

static int read_small(pid_t pid, const char *name, struct buf *b)
{
	auto_free char *path = mem_printf("/proc/%d/%s", (int)pid, name);

	return fd_read_file(path, b, NULL);
}

/* pid (name) state ppid ...; the name may hold blanks and brackets. False when it is gone. */
static bool look(pid_t pid, struct one *ret)
{
	auto_buf text = BUF_INIT(FILE_MAX);
	const char *open, *close;
	int ppid;

	if (read_small(pid, "stat", &text) < 0)
		return false;
	open = strchr(buf_str(&text), '(');
	close = strrchr(buf_str(&text), ')');
	if (!open || !close || sscanf(close, ") %c %d", &ret->state, &ppid) != 2)
		return false;
	ret->pid = pid;
	ret->ppid = ppid;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1), open + 1);
	return true;
}

char hang_state(pid_t pid)
{
	struct one p;

	return look(pid, &p) ? p.state : 0;
}

/* Everything that runs here. Caller frees *ret. */
static size_t look_all(struct one **ret)
{
	DIR *d = opendir("/proc");
	struct one *v = NULL;
	size_t n = 0, cap = 0;
	struct dirent *de;

	while (d && (de = readdir(d)) && n < SCAN_MAX) {
		long pid = strtol(de->d_name, NULL, 10);
		struct one p = { 0 };

		if (pid <= 0 || !look((pid_t)pid, &p))
			continue;
		MEM_GROW(v, cap, n + 1);
		v[n++] = p;
	}
	if (d)
		closedir(d);
	*ret = v;
	return n;
}

/* Mark @root and what descends from it: a level each time, as deep as there are processes. */
static void mark(struct one *v, size_t n, pid_t root)
{
	bool more = true;

	for (size_t depth = 0; more && depth < PROCESSES_MAX; depth++) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (v[i].below)
				continue;
			v[i].below = v[i].pid == root;
			for (size_t k = 0; k < n && !v[i].below; k++)
				v[i].below = v[k].below && v[k].pid == v[i].ppid;
			more = more || v[i].below;
		}
	}
}

/* Calls whose first argument is a descriptor that they may wait for. */
static bool waits_for_fd(const char *call)
{
	static const char *const names[] = {
		"read",      "pread64", "readv",  "write",  "pwrite64",  "writev",     "recvmsg",
		"recvfrom",  "sendmsg", "sendto", "accept", "accept4",   "connect",    "fsync",
		"fdatasync", "flock",   "fcntl",  "ioctl",  "ftruncate", "getdents64", "epoll_wait"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], call) == 0)
			return true;
	}
	return false;
}

/* "NUMBER 0xARG ... SP PC", "running", or "-1 SP PC" (proc_pid_syscall(5)). */
static void put_call(struct json_w *w, pid_t pid)
{
	auto_buf text = BUF_INIT(FILE_MAX);
	unsigned long long nr, arg;
	char name[32], link[32];
	int at = 0;

	if (read_small(pid, "syscall", &text) < 0 ||
	    sscanf(buf_str(&text), "%llu %llx%n", &nr, &arg, &at) < 2 || !at) {
		json_null(w, "syscall");
		json_null(w, "args");
		json_null(w, "waits_for");
		return;
	}
	json_str(w, "syscall", systab_name(nr, name));
	text.data[strcspn(text.data, "\n")] = '\0';
	json_str(w, "args", strchr(text.data, ' ') + 1);
	if (waits_for_fd(systab_name(nr, name))) {
		auto_free char *what = NULL;

		snprintf(link, sizeof(link), "fd/%llu", arg);
		what = procfs_link(pid, link);
		json_str(w, "waits_for", what);
	} else {
		json_null(w, "waits_for");
	}
}

static void put(struct json_w *w, const struct one *p)
{
	auto_buf wchan = BUF_INIT(FILE_MAX);
	char state[2] = { p->state, '\0' };

	json_open(w, NULL, '{');
	json_i64(w, "pid", p->pid);
	json_i64(w, "ppid", p->ppid);
	json_str(w, "name", p->name);
	json_str(w, "state", state);
	json_str(w, "wchan", read_small(p->pid, "wchan", &wchan) == 0 ? buf_str(&wchan) : NULL);
	put_call(w, p->pid);
	json_close(w, '}');
}

int hang_write(const char *dir, const char *why, pid_t root, struct err *err)
{
	auto_free char *path = path_join(dir, "hang.json");
	auto_buf b = BUF_INIT(8u << 20);
	struct json_w w = { .b = &b, .pretty = true };
	struct one *v = NULL;
	size_t n = look_all(&v), told = 0;

	mark(v, n, root);
	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.hang/1");
	json_str(&w, "why", why);
	json_open(&w, "processes", '[');
	for (size_t i = 0; i < n && told < PROCESSES_MAX; i++) {
		if (!v[i].below)
			continue;
		put(&w, &v[i]);
		told++;
	}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(&b, '\n');
	free(v);
	return fd_replace_file(path, buf_str(&b), b.len, err);
}
