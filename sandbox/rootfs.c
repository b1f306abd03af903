/* What stands in the box's root: for "host" a small tree made in memory with the host's /usr bound
 * read-only and a chosen /etc; for "dir:" that directory. Over both lies an overlay, so what the
 * box writes is on the scratch disk and alone there. */
#include "sandbox/box_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define RO_ATTR  (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define RW_ATTR  (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define COPY_MAX (4ull << 30) /* bytes of one copied tree */

/* clang-format off */
/* Directories that every root has; home and workdir come from the description. */
static const struct {
	const char *path;
	mode_t mode;
} dirs[] = {
	{ "/etc",       0755 },
	{ "/var",       0755 },
	{ "/var/cache", 0755 },
	{ "/var/lib",   0755 },
	{ "/var/log",   0755 },
	{ "/var/spool", 0755 },
	{ "/var/tmp",   01777 },
	{ "/tmp",       01777 },
	{ "/run",       0755 },
	{ "/run/lock",  01777 },
	{ "/opt",       0755 },
	{ "/srv",       0755 },
	{ "/mnt",       0755 },
	{ "/media",     0755 },
	{ "/home",      0755 },
	{ "/root",      0700 },
	{ "/sys",       0555 },
};

/* Top-level names that are system code: a symlink of the host is made again, a directory bound. */
static const char *const system_dirs[] = {
	"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32",
};

/* Entries of the host's /etc that are copied: settings that libc and common tools read and that
 * tell nothing of this host or its users. Symlinks are made again as they are. A name with "*" is
 * a pattern. */
static const char *const etc_copy[] = {
	"bash.bashrc", "bindresvport.blacklist", "debian_version", "ethertypes", "fpc*.cfg",
	"gai.conf", "gprofng.rc", "host.conf", "inputrc", "issue", "issue.net", "ld.so.cache",
	"ld.so.conf", "locale.alias", "locale.conf", "localtime", "login.defs", "lsb-release",
	"magic", "magic.mime", "manpath.config", "matplotlibrc", "mime.types", "mtab", "nanorc",
	"networks", "odbcinst.ini", "os-release", "profile", "protocols", "redhat-release", "rmt",
	"rpc", "screenrc", "services", "shells", "system-release", "timezone", "wgetrc",
};

/* Directories of the host's /etc that are bound read-only: large, and without secrets. */
static const char *const etc_bind[] = {
	"alternatives", "ca-certificates", "crypto-policies", "emacs", "fonts", "gdb",
	"ghostscript", "ImageMagick*", "java*", "ld.so.conf.d", "lua*", "maven", "perl", "php*",
	"pki/ca-trust", "pki/tls/certs", "python*", "R", "ruby*", "sgml", "ssl/certs", "terminfo",
	"texmf", "vim", "xml",
};
/* clang-format on */

static void add_etc_copy(struct ops *ops, const char *name)
{
	auto_free char *path = mem_printf("/etc/%s", name);
	char link[1024];
	ssize_t n = readlink(path, link, sizeof(link) - 1);

	if (n > 0) {
		link[n] = '\0';
		ops_add(ops, OPS_SYMLINK, path, link)->optional = true;
		return;
	}
	if (access(path, R_OK) == 0) {
		struct ops_row *r = ops_add(ops, OPS_COPY, path, path);

		r->optional = true;
		r->mode = 0644;
	}
}

static void add_etc_bind(struct ops *ops, const char *name)
{
	auto_free char *path = mem_printf("/etc/%s", name);
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		ops_bind(ops, ops_source(ops, path, true, true, RO_ATTR), path, false);
}

/* Names in /etc that @row means: itself, or all with its prefix. */
static void each_etc(struct ops *ops, const char *row, void (*add)(struct ops *, const char *))
{
	struct dirent *de;
	DIR *d;

	if (!strchr(row, '*')) {
		add(ops, row);
		return;
	}
	d = opendir("/etc");
	if (!d)
		return;
	while ((de = readdir(d))) {
		if (str_path_glob(row, de->d_name))
			add(ops, de->d_name);
	}
	closedir(d);
}

static void add_file(struct ops *ops, const char *path, const char *text, mode_t mode)
{
	ops_add(ops, OPS_FILE, path, text)->mode = mode;
}

/* Files of /etc that are written new, so that nothing of the host's users or network shows. */
static void add_identity(const struct box_spec *spec, struct ops *ops)
{
	const char *host = spec->hostname ? spec->hostname : "proctor";
	auto_free char *passwd =
		mem_printf("root:x:0:0:root:/root:/bin/sh\n"
			   "agent:x:%d:%d:agent:%s:/bin/bash\n"
			   "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
			   BOX_UID, BOX_UID, spec->home);
	auto_free char *group =
		mem_printf("root:x:0:\ntty:x:5:\nagent:x:%d:\nnogroup:x:65534:\n", BOX_UID);
	auto_free char *hosts = mem_printf("127.0.0.1\tlocalhost %s\n"
					   "::1\tlocalhost ip6-localhost ip6-loopback\n",
					   host);
	auto_free char *hostname = mem_printf("%s\n", host);

	add_file(ops, "/etc/passwd", passwd, 0644);
	add_file(ops, "/etc/group", group, 0644);
	add_file(ops, "/etc/hosts", hosts, 0644);
	add_file(ops, "/etc/hostname", hostname, 0644);
	add_file(ops, "/etc/resolv.conf", "nameserver 127.0.0.1\n", 0644);
}

static void add_host_etc(struct ops *ops)
{
	add_file(ops, "/etc/nsswitch.conf",
		 "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"
		 "networks: files\nprotocols: files\nservices: files\nethers: files\nrpc: files\n",
		 0644);
	for (size_t i = 0; i < ARRAY_SIZE(etc_copy); i++)
		each_etc(ops, etc_copy[i], add_etc_copy);
	add_etc_copy(ops, "ssl/openssl.cnf");
	for (size_t i = 0; i < ARRAY_SIZE(etc_bind); i++)
		each_etc(ops, etc_bind[i], add_etc_bind);
}

static void add_system_dirs(struct ops *ops)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_dirs); i++) {
		auto_free char *path = mem_printf("/%s", system_dirs[i]);
		char link[256];
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		struct stat st;

		if (n > 0) {
			link[n] = '\0';
			ops_add(ops, OPS_SYMLINK, path, link);
		} else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_nlink > 2) {
			ops_bind(ops, ops_source(ops, path, true, false, RO_ATTR), path, false);
		}
	}
}

static int host_root(const struct box_spec *spec, const char *dir, const struct ids *ids,
		     struct ops *ops, struct err *err)
{
	int rc = overlay_skeleton(dir, ids, ops, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		ops_dir(ops, dirs[i].path, dirs[i].mode);
	add_system_dirs(ops);
	add_identity(spec, ops);
	add_host_etc(ops);
	return 0;
}

/* Host path @path appears as @dst. As root it appears as owned by the box where the kernel can do
 * that; elsewhere read-only paths stay as they are, and must be open to others. @what names the wish
 * in errors. */
static int add_path(const char *path, const char *dst, const char *what, uint64_t attr,
		    const struct ids *ids, struct ops *ops, struct err *err)
{
	bool write = !(attr & MOUNT_ATTR_RDONLY);
	int fd = -1, rc, src;
	struct stat st;

	if (path[0] != '/')
		return err_set(err, ERR_INPUT, "path \"%s\" must be absolute (%s)", path, what);
	if (stat(path, &st) < 0)
		return err_set(err, ERR_INPUT, "path %s: %s (%s)", path, strerror(errno), what);
	if (ids->mapped) {
		rc = ids_mount(ids, path, true, false, &fd, err);
		if (rc == 1 && write)
			return err_set(
				err, ERR_HOST,
				"%s cannot be bound writable: this kernel or file system has "
				"no idmapped mounts; run proctor as the owner of %s instead "
				"of root",
				path, path);
		if (rc == 1 && S_ISDIR(st.st_mode) && (st.st_mode & 05) != 05)
			return err_set(err, ERR_HOST,
				       "%s is closed to others (mode %03o), and this kernel has no "
				       "idmapped mounts (%s); open it with: chmod -R go+rX %s",
				       path, st.st_mode & 0777, what, path);
		if (rc == 1)
			rc = ids_mount(ids, path, false, true, &fd, err);
		if (rc < 0)
			return rc;
		src = ops_source_fd(ops, path, fd, attr);
	} else {
		src = ops_source(ops, path, true, false, attr);
	}
	ops_bind(ops, src, dst, !S_ISDIR(st.st_mode));
	return 0;
}

/* Host paths that the profile shows in addition. */
static int add_paths(const struct strv *paths, uint64_t attr, const struct ids *ids,
		     struct ops *ops, struct err *err)
{
	const char *what = attr & MOUNT_ATTR_RDONLY ? "filesystem.read" : "filesystem.write";
	int rc = 0;

	for (size_t i = 0; i < paths->n && rc == 0; i++)
		rc = add_path(paths->v[i], paths->v[i], what, attr, ids, ops, err);
	return rc;
}

/* A copy in @dir, which belongs to the box as it is. */
static int add_copy(const struct box_bind *b, const char *what, size_t i, const char *dir,
		    const struct ids *ids, struct ops *ops, struct err *err)
{
	auto_free char *to = mem_printf("%s/copy%zu", dir, i);
	struct stat st;
	int rc, fd = -1;

	if (stat(b->host, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INPUT, "path %s is no directory that can be copied (%s)",
			       b->host, what);
	rc = ids_copy(ids, b->host, to, COPY_MAX, err);
	if (rc == 0 && ids->mapped)
		rc = ids_mount(ids, to, false, false, &fd,
			       err); /* the scratch is closed to the box */
	if (rc < 0)
		return rc;
	ops_bind(ops,
		 fd >= 0 ? ops_source_fd(ops, to, fd, RW_ATTR)
			 : ops_source(ops, to, true, false, RW_ATTR),
		 b->box, false);
	return 0;
}

static int add_binds(const struct box_spec *spec, const char *dir, const struct ids *ids,
		     struct ops *ops, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < spec->n_binds && rc == 0; i++) {
		const struct box_bind *b = &spec->binds[i];
		const char *what = b->what ? b->what : "the installation of the agent";

		rc = b->copy ? add_copy(b, what, i, dir, ids, ops, err)
			     : add_path(b->host, b->box, what, RO_ATTR, ids, ops, err);
	}
	return rc;
}

/* "relative path" or "relative path=template name"; a leading "~/" means HOME, too. */
static int add_home(const struct box_spec *spec, struct ops *ops, struct err *err)
{
	ops_dir(ops, spec->home, 0700);
	if (!spec->home_files)
		return 0;
	strv_each (i, spec->home_files) {
		const char *entry = spec->home_files->v[i];
		const char *name = str_starts(entry, "~/") ? entry + 2 : entry;
		auto_free char *rel = mem_strndup(name, strcspn(name, "="));
		auto_free char *path = mem_printf("%s/%s", spec->home, rel);

		if (!path_is_tame(rel))
			return err_set(err, ERR_INPUT,
				       "agent file \"%s\" must be a plain path below HOME", rel);
		if (!spec->home_texts || i >= spec->home_texts->n)
			return err_set(err, ERR_BUG, "agent file \"%s\" has no contents", rel);
		add_file(ops, path, spec->home_texts->v[i], 0600);
	}
	return 0;
}

int rootfs_plan(const struct box_spec *spec, const char *dir, const struct ids *ids,
		struct ops *ops, struct err *err)
{
	const struct profile *pr = spec->profile;
	int rc;

	if (str_eq(spec->rootfs, "host")) {
		rc = host_root(spec, dir, ids, ops, err);
	} else if (str_starts(spec->rootfs, "dir:/")) {
		rc = overlay_root(spec->rootfs + 4, dir, ids, ops, err);
		if (rc == 0)
			add_identity(spec, ops);
	} else {
		return err_set(err, ERR_INPUT,
			       "root file system \"%s\" is unknown; use \"host\" or \"dir:/path\"",
			       spec->rootfs);
	}
	if (rc < 0)
		return rc;
	devproc_plan(spec, ops);
	for (size_t i = 0; i < 2; i++)
		ops_dir(ops, i ? "/var/tmp" : "/tmp", 01777);
	for (size_t i = 0; spec->dirs && i < spec->dirs->n; i++)
		ops_dir(ops, spec->dirs->v[i], 0755);
	rc = add_home(spec, ops, err);
	if (rc == 0)
		rc = add_binds(spec, dir, ids, ops, err);
	if (rc == 0 && pr)
		rc = add_paths(&pr->read, RO_ATTR, ids, ops, err);
	if (rc == 0 && pr)
		rc = add_paths(&pr->write, RW_ATTR, ids, ops, err);
	if (rc == 0)
		rc = overlay_workspace(spec, dir, ids, ops, err);
	if (rc < 0 || !pr)
		return rc;
	strv_each (i, &pr->hide)
		ops_add(ops, OPS_HIDE, pr->hide.v[i], NULL);
	return 0;
}
