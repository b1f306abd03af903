#include "profiles/install.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/lookup_internal.h"
#include "profiles/profile.h"

#define AGENTS_USER ".local/share/proctor/agents" /* below HOME */
#define MODULES     "node_modules"
#define SHIPPED_MAX 1024 /* agent files */

void install_done(struct install *in)
{
	free(in->program);
	free(in->dir);
	free(in->box);
	free(in->version);
	*in = (struct install){ 0 };
}

static const char *directory_of(const struct agent *a)
{
	return a->install_name ? a->install_name : a->name;
}

/* The variable @name when it holds an absolute path. */
static const char *absolute(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] == '/' ? v : NULL;
}

/* Directories that hold installations, the one that a new one should go to first. */
static void places(struct strv *out)
{
	const char *agents = absolute("PROCTOR_AGENTS"), *home = absolute("HOME");

	if (agents)
		strv_add(out, agents);
	if (home)
		strv_take(out, path_join(home, AGENTS_USER));
}

char *install_line(const struct agent *a)
{
	const char *agents = absolute("PROCTOR_AGENTS");

	if (!a->package)
		return NULL;
	return mem_printf("npm install --prefix %s/%s %s", agents ? agents : "~/" AGENTS_USER,
			  directory_of(a), a->package);
}

/* A program's path below its installation. */
static char *below(const char *program)
{
	return strchr(program, '/') ? mem_strdup(program) : path_join(MODULES "/.bin", program);
}

static bool executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool in_places(const struct agent *a, const char *program, struct install *ret)
{
	auto_free char *rel = below(program);
	auto_strv dirs = { 0 };

	places(&dirs);
	strv_each (i, &dirs) {
		auto_free char *dir = path_join(dirs.v[i], directory_of(a));
		auto_free char *path = path_join(dir, rel);

		if (!executable(path))
			continue;
		ret->program = take_ptr(&path);
		ret->dir = realpath(dir, NULL);
		ret->box = path_join(AGENT_DIR, rel);
		return true;
	}
	return false;
}

static char *in_path(const char *program)
{
	const char *path = getenv("PATH");

	while (path && *path && !strchr(program, '/')) {
		size_t n = strcspn(path, ":");
		auto_free char *dir = mem_strndup(path, n);
		auto_free char *full = path_join(dir, program);

		if (dir[0] == '/' && executable(full))
			return take_ptr(&full);
		path += n + (path[n] == ':');
	}
	return NULL;
}

/* Is @real part of what the box's root shows with the host's programs (sandbox/rootfs.c)? */
static bool shown(const char *real)
{
	static const char *const tops[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64" };

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		if (path_beneath(real, tops[i]))
			return true;
	}
	return false;
}

/* A program somewhere in PATH: bound is the directory that holds its package's node_modules, or
 * just the one it lies in. */
static void from_path(char *found, bool host_root, struct install *ret)
{
	char *real = realpath(found, NULL);
	const char *modules = real ? strstr(real, "/" MODULES "/") : NULL;

	ret->program = found;
	if (!real || (host_root && shown(real))) {
		ret->box = mem_strdup(found);
		free(real);
		return;
	}
	ret->dir = modules ? mem_strndup(real, (size_t)(modules - real)) : path_dir(real);
	ret->box = mem_printf(AGENT_DIR "%s", real + strlen(ret->dir));
	free(real);
}

/* "version" of the package's own description; unreadable or odd: not said. */
static char *version_of(const char *dir, const char *package)
{
	const char *at = strrchr(package, '@');
	size_t n = at && at > package ? (size_t)(at - package) : strlen(package);
	auto_free char *path = mem_printf("%s/" MODULES "/%.*s/package.json", dir, (int)n, package);
	struct json_src src = { 0 };
	const char *v;
	char *ret;

	if (json_load(path, &src, NULL) < 0)
		return NULL;
	v = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "version"));
	ret = v ? mem_strndup(v, 64) : NULL;
	json_src_done(&src);
	return ret;
}

static void add_version(const struct agent *a, struct install *in)
{
	auto_free char *real = realpath(in->program, NULL), *dir = NULL;
	const char *modules = real ? strstr(real, "/" MODULES "/") : NULL;

	if (in->dir)
		dir = mem_strdup(in->dir);
	else if (modules)
		dir = mem_strndup(real, (size_t)(modules - real));
	if (dir)
		in->version = version_of(dir, a->package);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void install_shipped(struct strv *out)
{
	auto_free char *data = lookup_datadir();
	auto_free char *dir = path_join(data, "agents");
	DIR *d = opendir(dir);
	auto_strv names = { 0 };
	struct dirent *de;

	if (!d)
		return;
	while ((de = readdir(d)) && names.n < SHIPPED_MAX) {
		size_t n = strlen(de->d_name);

		if (n > 5 && str_ends(de->d_name, ".json"))
			strv_take(&names, mem_strndup(de->d_name, n - 5));
	}
	closedir(d);
	/* By name: with the ending, "pi-native" would come before "pi". */
	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), compare);
	strv_each (i, &names)
		strv_take(out, mem_printf("%s/%s.json", dir, names.v[i]));
}

/* A program that comes with us: one file in a directory of its own. */
static int find_shipped(const struct agent *a, struct install *ret, struct err *err)
{
	auto_free char *name = mem_printf("%s/%s", a->shipped, a->shipped);

	ret->program = profile_program(name);
	if (!ret->program)
		return err_set(
			err, ERR_HOST,
			"agent \"%s\": this installation has no program \"%s\" (built without "
			"a static C library); install libc6-dev and build again",
			a->name, a->shipped);
	ret->dir = path_dir(ret->program);
	ret->box = path_join(AGENT_DIR, a->shipped);
	ret->version = mem_strdup(PROCTOR_VERSION);
	return 0;
}

int install_find(const struct agent *a, bool host_root, struct install *ret, struct err *err)
{
	const char *program = a->program ? a->program : a->command.v[0];
	auto_free char *line = install_line(a);
	char *found;

	if (a->shipped)
		return find_shipped(a, ret, err);
	if (!in_places(a, program, ret)) {
		found = in_path(program);
		if (!found)
			return err_set(err, ERR_HOST,
				       "agent \"%s\" is not installed: there is no program %s in "
				       "$PROCTOR_AGENTS/%s, ~/" AGENTS_USER
				       "/%s or PATH; install it with: %s",
				       a->name, program, directory_of(a), directory_of(a), line);
		from_path(found, host_root, ret);
	}
	add_version(a, ret);
	return 0;
}
