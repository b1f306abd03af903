#include "supervisor/pgserver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/profile.h"

#define PROGRAMS          "/usr/lib/postgresql" /* of Debian's packages: MAJOR/bin */
#define SERVER_DIR        "/pg"
#define HOME_DIR          "/home/agent"
#define PROFILE_OF_SERVER "server"
#define DISK_ENTRIES      100000

enum { MAJOR_MIN = 14, WORDS_MAX = 600 };

/* What the box's first command does: a database, its roles, its SQL; then it holds the box until our end of its input
 * closes. "sql:" marks what is wrong with the scenario's own statements. */
static const char script[] =
	"set -u\n"
	"bin=$1 db=$2 here=$PWD\n"
	"try() { \"$@\" >log 2>&1 || { tail -c 500 log; tail -n 3 server.log 2>/dev/null; exit 1; }; }\n"
	"try \"$bin/initdb\" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions\n"
	"cat conf >>data/postgresql.conf\n"
	"cat hba >data/pg_hba.conf\n"
	"try \"$bin/pg_ctl\" start -s -w -t 60 -D \"$here/data\" -l \"$here/server.log\"\n"
	"q() { \"$bin/psql\" -X -q -w -v ON_ERROR_STOP=1 -v VERBOSITY=terse -h \"$here\" -U postgres \"$@\"; }\n"
	"try q -d postgres -f roles.sql\n"
	"q -d \"$db\" -1 -f first.sql >log 2>&1 || { printf 'sql:'; tail -c 500 log; exit 1; }\n"
	"echo ready\n"
	"exec cat >/dev/null\n";

/* A database that lives as long as a run: nothing is made to last. No vacuum by itself, which would move rows about. */
static const char conf[] = "listen_addresses = '127.0.0.1'\n"
			   "port = 5432\n"
			   "unix_socket_directories = '" SERVER_DIR "'\n"
			   "ssl = off\n"
			   "fsync = off\n"
			   "synchronous_commit = off\n"
			   "full_page_writes = off\n"
			   "wal_level = minimal\n"
			   "max_wal_senders = 0\n"
			   "max_wal_size = 64MB\n"
			   "min_wal_size = 32MB\n"
			   "autovacuum = off\n"
			   "max_connections = 40\n"
			   "shared_buffers = 16MB\n"
			   "huge_pages = off\n"
			   "dynamic_shared_memory_type = mmap\n"
			   "max_parallel_workers = 0\n"
			   "jit = off\n"
			   "temp_file_limit = 64MB\n"
			   "timezone = 'UTC'\n"
			   "log_timezone = 'UTC'\n"
			   "lc_messages = 'C'\n"
			   "password_encryption = 'scram-sha-256'\n"
			   "log_min_messages = fatal\n"
			   "log_min_error_statement = panic\n"
			   "log_statement = 'none'\n";

/* The socket is in its own box; over TCP come the agent's. */
static const char hba[] = "local all postgres trust\n"
			  "host all postgres 127.0.0.1/32 reject\n"
			  "host all all 127.0.0.1/32 scram-sha-256\n";

/* --- the host's programs ------------------------------------------------------------------------- */

static unsigned long newest(DIR *d)
{
	unsigned long best = 0;
	struct dirent *de;

	while ((de = readdir(d))) {
		auto_free char *path = mem_printf(PROGRAMS "/%s/bin/postgres", de->d_name);
		unsigned long n = strtoul(de->d_name, NULL, 10);

		if (n > best && n < 1000 && access(path, X_OK) == 0)
			best = n;
	}
	return best;
}

char *pgserver_find(struct err *err)
{
	DIR *d = opendir(PROGRAMS);
	unsigned long best = d ? newest(d) : 0;

	if (d)
		closedir(d);
	if (best >= MAJOR_MIN)
		return mem_printf(PROGRAMS "/%lu/bin", best);
	err_set(err, ERR_HOST,
		"the scenario's service of kind \"postgresql\" needs a PostgreSQL server (%d or later) in " PROGRAMS
		" of this host; install the Debian package postgresql (apt-get install postgresql)",
		MAJOR_MIN);
	return NULL;
}

/* --- start --------------------------------------------------------------------------------------- */

static int write_file(const char *dir, const char *name, const char *text, struct err *err)
{
	auto_free char *path = path_join(dir, name);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0 || fchmod(fd, 0644) < 0)
		return err_sys(err, "cannot write %s", path);
	return 0;
}

static int write_files(const struct postgresql_decl *d, const char *dir, struct err *err)
{
	const struct postgresql_role *r = d->roles.v;
	auto_buf roles = BUF_INIT(64 << 10);
	auto_free char *first =
		mem_printf("SET SESSION AUTHORIZATION %s;\n%s", r[0].name, d->sql ? d->sql : "");
	int rc = mkdir(dir, 0755) < 0 ? err_sys(err, "cannot make %s", dir) : 0;

	/* Names and passwords hold no quotes: service_postgresql.c. */
	for (size_t i = 0; i < d->roles.n; i++)
		buf_addf(&roles, "CREATE ROLE %s LOGIN PASSWORD '%s';\n", r[i].name, r[i].password);
	buf_addf(&roles, "CREATE DATABASE %s OWNER %s;\n", d->database, r[0].name);
	if (rc == 0)
		rc = write_file(dir, "start", script, err);
	if (rc == 0)
		rc = write_file(dir, "conf", conf, err);
	if (rc == 0)
		rc = write_file(dir, "hba", hba, err);
	if (rc == 0)
		rc = write_file(dir, "roles.sql", buf_str(&roles), err);
	return rc == 0 ? write_file(dir, "first.sql", first, err) : rc;
}

static char *const env[] = {
	(char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	(char *)"HOME=" HOME_DIR,
	(char *)"LC_ALL=C",
	(char *)"TZ=UTC",
	/* An effect must not wait for a transaction of the agent that waits for the effect. */
	(char *)"PGOPTIONS=-c lock_timeout=5s -c statement_timeout=20s -c client_min_messages=error",
	NULL,
};

static int start_box(struct pgserver *p, const struct workspace *ws, struct janitor *jan,
		     const struct profile *profile, const int stdio[3], struct err *err)
{
	auto_free char *lower = path_join(ws->scratch, "server-lower");
	auto_free char *work = path_join(ws->scratch, "server-work");
	char *argv[] = { (char *)"/bin/sh", (char *)"start", p->bin, p->database, NULL };
	struct box_spec spec = {
		.rootfs = "host",
		.profile = profile,
		.workdir = SERVER_DIR,
		.scratch = ws->scratch,
		.home = HOME_DIR,
		.argv = argv,
		.env = env,
		.ws_lower = lower,
		.ws_upper = p->upper,
		.ws_work = work,
		.stdio = { stdio[0], stdio[1], stdio[2] },
		.limits = profile->limits,
		.janitor = jan,
	};
	int rc;

	if (mkdir(p->upper, 0755) < 0 || mkdir(work, 0755) < 0)
		return err_sys(err, "cannot make the layers of the server's box");
	rc = box_start(&spec, &p->box, err);
	if (rc == 0)
		rc = box_release(p->box, err);
	if (rc == 0)
		rc = box_exec_error(p->box, true, err);
	return rc < 0 ? rc : 0;
}

/* Its first words: "ready", or why not. */
static int wait_ready(struct pgserver *p, struct err *err)
{
	uint64_t end = clock_mono() + PGSERVER_START_S * CLOCK_SEC, now;
	auto_buf b = BUF_INIT(4096);
	char part[512];
	ssize_t n = 1;

	while (n != 0 && !b.full && !(b.len && strstr(buf_str(&b), "ready\n"))) {
		struct pollfd f = { .fd = p->out, .events = POLLIN };

		now = clock_mono();
		if (now >= end || poll(&f, 1, (int)((end - now) / CLOCK_MS) + 1) == 0)
			return err_set(err, ERR_HOST, "PostgreSQL did not start within %d seconds",
				       PGSERVER_START_S);
		n = read(p->out, part, sizeof(part));
		if (n > 0)
			buf_add(&b, part, (size_t)n);
		else if (n < 0 && (errno == EINTR || errno == EAGAIN))
			n = 1;
		else
			n = 0;
	}
	if (b.len && strstr(buf_str(&b), "ready\n"))
		return 0;
	if (str_starts(buf_str(&b), "sql:"))
		return err_set(err, ERR_INPUT, "sql: %.*s", WORDS_MAX, buf_str(&b) + 4);
	return err_set(err, ERR_HOST, "PostgreSQL (%s) did not start: %.*s", p->bin, WORDS_MAX,
		       buf_str(&b));
}

static int make_pipe(int p[2], struct err *err)
{
	return pipe2(p, O_CLOEXEC) < 0 ? err_sys(err, "cannot make a pipe for a server") : 0;
}

int pgserver_start(const struct postgresql_decl *d, const struct workspace *ws, struct janitor *jan,
		   struct pgserver *ret, struct err *err)
{
	auto_free char *lower = path_join(ws->scratch, "server-lower");
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	struct profile *profile = NULL;
	int rc;

	*ret = (struct pgserver){ .in = -1, .out = -1, .words = -1 };
	ret->bin = pgserver_find(err);
	if (!ret->bin)
		return -(int)err->code;
	ret->database = mem_strdup(d->database);
	ret->owner = mem_strdup(((const struct postgresql_role *)d->roles.v)[0].name);
	ret->upper = path_join(ws->scratch, "server-upper");
	rc = profile_load(PROFILE_OF_SERVER, &profile, err);
	if (rc == 0)
		rc = write_files(d, lower, err);
	if (rc == 0)
		rc = make_pipe(in, err);
	if (rc == 0)
		rc = make_pipe(out, err);
	ret->in = in[1];
	ret->out = out[0];
	if (rc == 0) {
		const int stdio[3] = { in[0], out[1], out[1] };

		ret->disk = profile->limits.max[LIMIT_DISK];
		rc = start_box(ret, ws, jan, profile, stdio, err);
	}
	mem_close(&in[0]);
	mem_close(&out[1]);
	profile_free(profile);
	if (rc == 0)
		rc = wait_ready(ret, err);
	if (rc < 0)
		pgserver_done(ret);
	return rc < 0 ? err_wrap(err, "service \"%s\"", d->name) : 0;
}

/* --- changes ------------------------------------------------------------------------------------- */

/* SQL of a change, of the superuser: names need no quotes. Empty: the server has nothing to do. */
static void statements(const struct pgserver *p, const struct postgresql_change *c, struct buf *b)
{
	if (c->password.name)
		buf_addf(b, "ALTER ROLE %s PASSWORD '%s';\n", c->password.name,
			 c->password.password);
	if (c->revoke)
		buf_addf(b, "ALTER ROLE %s NOLOGIN;\n", c->revoke);
	if (c->grant)
		buf_addf(b, "ALTER ROLE %s LOGIN;\n", c->grant);
	if (c->sql)
		buf_addf(b, "SET SESSION AUTHORIZATION %s;\n%s\n;\nRESET SESSION AUTHORIZATION;\n",
			 p->owner, c->sql);
	if (c->terminate)
		buf_addf(
			b,
			"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE backend_type = "
			"'client backend' AND pid <> pg_backend_pid()%s%s%s;\n",
			c->terminate[0] ? " AND usename = '" : "", c->terminate,
			c->terminate[0] ? "'" : "");
}

static int memory_file(const struct buf *text, struct err *err)
{
	auto_fd int fd = memfd_create("sql", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, text->data, text->len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "cannot keep SQL in memory");
	return take_fd(&fd);
}

int pgserver_change(struct pgserver *p, const struct postgresql_change *c, struct err *err)
{
	auto_free char *psql = mem_printf("%s/psql", p->bin);
	char *const argv[] = {
		psql,
		(char *)"-X",
		(char *)"-q",
		(char *)"-w",
		(char *)"-1",
		(char *)"-v",
		(char *)"ON_ERROR_STOP=1",
		(char *)"-v",
		(char *)"VERBOSITY=terse",
		(char *)"-h",
		(char *)SERVER_DIR,
		(char *)"-U",
		(char *)"postgres",
		(char *)"-d",
		p->database,
		(char *)"-f",
		(char *)"-",
		NULL,
	};
	struct box_command cmd = { .argv = argv, .env = env };
	auto_buf sql = BUF_INIT(2 << 20);
	auto_fd int in = -1, null = -1, out = -1;
	int words[2], fd, rc;

	statements(p, c, &sql);
	if (!sql.len)
		return -1;
	if (p->box->reaped)
		return err_set(err, ERR_CHILD, "the server has ended");
	in = memory_file(&sql, err);
	if (in < 0)
		return in;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return err_sys(err, "cannot open /dev/null");
	rc = make_pipe(words, err);
	if (rc < 0)
		return rc;
	mem_close(&p->words);
	p->words = words[0];
	out = words[1];
	cmd.stdio[0] = in;
	cmd.stdio[1] = null;
	cmd.stdio[2] = out;
	rc = box_spawn(p->box, &cmd, &fd, NULL, err);
	return rc < 0 ? rc : fd;
}

int pgserver_changed(struct pgserver *p, int fd, struct err *err)
{
	char text[WORDS_MAX];
	int status = 0, rc = box_spawned(fd, "psql", 0, &status, err);
	ssize_t n;

	if (rc == 0)
		return err_set(err, ERR_CHILD, "the server was not done within %d seconds",
			       PGSERVER_CHANGE_S);
	if (rc < 0)
		return rc;
	(void)fcntl(p->words, F_SETFL, O_NONBLOCK); /* psql has ended: nothing more comes */
	n = read(p->words, text, sizeof(text) - 1);
	mem_close(&p->words);
	if (status == 0)
		return 0;
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return err_set(err, ERR_INPUT, "%s", text[0] ? text : "psql failed");
}

/* --- life ---------------------------------------------------------------------------------------- */

bool pgserver_full(const struct pgserver *p)
{
	uint64_t used = fd_tree_bytes(AT_FDCWD, p->upper, DISK_ENTRIES);

	return p->disk && used > p->disk;
}

void pgserver_done(struct pgserver *p)
{
	mem_close(&p->in);
	mem_close(&p->out);
	mem_close(&p->words);
	p->box = box_free(p->box);
	free(p->bin);
	free(p->database);
	free(p->owner);
	free(p->upper);
	*p = (struct pgserver){ .in = -1, .out = -1, .words = -1 };
}
