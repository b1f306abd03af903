#include "profiles/lookup_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "profiles/input_internal.h"
#include "profiles/profile.h"

#define NAMES_MAX 4096 /* entries of a directory that are offered as the nearest name */

static const struct {
	const char *what;
	const char *user;    /* below the user's configuration directory */
	const char *shipped; /* below the data directory */
} kinds[] = {
	[LOOKUP_PROFILE] = { "profile", "proctor/profiles", "" },
	[LOOKUP_AGENT] = { "agent", "proctor/agents", "agents" },
};

bool lookup_is_path(const char *name)
{
	return strchr(name, '/') || str_ends(name, ".json") || strcmp(name, "-") == 0;
}

/* A build directory of ours around the running program: "meson-private" tells it from a place that
 * only happens to have a folder of that name. NULL when there is none. */
static char *build_data(void)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	auto_free char *dir = NULL;

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	dir = path_dir(exe);
	for (int up = 0; up < 4 && strcmp(dir, "/") != 0; up++) {
		auto_free char *mark = path_join(dir, "meson-private");
		auto_free char *data = path_join(dir, "profiles/data");
		auto_free char *base = path_join(data, "base.json");
		char *parent;

		if (access(mark, F_OK) == 0 && access(base, R_OK) == 0)
			return take_ptr(&data);
		parent = path_dir(dir);
		free(dir);
		dir = parent;
	}
	return NULL;
}

char *lookup_datadir(void)
{
	const char *env = getenv("PROCTOR_DATADIR");
	char *build;

	if (env && env[0] == '/')
		return mem_strdup(env);
	if (access(PROCTOR_DATADIR "/base.json", R_OK) == 0)
		return mem_strdup(PROCTOR_DATADIR);
	build = build_data();
	return build ? build : mem_strdup(PROCTOR_DATADIR);
}

char *profile_program(const char *name)
{
	/* From a build directory the data may be the source's, and programs are not there. */
	char *dirs[] = { lookup_datadir(), build_data(), mem_strdup(PROCTOR_DATADIR) };
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_free char *path = dirs[i] && !found ? path_join(dirs[i], name) : NULL;

		if (path && access(path, X_OK) == 0)
			found = take_ptr(&path);
		free(dirs[i]);
	}
	return found;
}

/* The user's directory for @kind, NULL when it cannot be known. A relative XDG_CONFIG_HOME does not
 * count (XDG base directory specification): it would depend on the current directory. */
static char *user_dir(enum lookup_kind kind)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	auto_free char *config = NULL;

	if (xdg && xdg[0] == '/')
		return path_join(xdg, kinds[kind].user);
	if (!home || home[0] != '/')
		return NULL;
	config = path_join(home, ".config");
	return path_join(config, kinds[kind].user);
}

static void add_names(struct strv *names, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *de;

	if (!d)
		return;
	while ((de = readdir(d)) && names->n < NAMES_MAX) {
		size_t n = strlen(de->d_name);

		if (n > 5 && str_ends(de->d_name, ".json"))
			strv_take(names, mem_strndup(de->d_name, n - 5));
	}
	closedir(d);
}

static int not_found(enum lookup_kind kind, const char *name, const struct strv *dirs,
		     struct err *err)
{
	auto_strv names = { 0 };
	const char *near = NULL;

	strv_each (i, dirs)
		add_names(&names, dirs->v[i]);
	if (names.n)
		near = str_nearest(name, (const char *const *)names.v);
	return err_set(
		err, ERR_INPUT,
		"there is no %s \"%.200s\"%s%.200s%s; looked for %.200s.json in %s%s%s; a path "
		"needs a slash or the ending .json",
		kinds[kind].what, name, near ? ", did you mean \"" : "", near ? near : "",
		near ? "\"?" : "", name, dirs->v[0], dirs->n > 1 ? " and " : "",
		dirs->n > 1 ? dirs->v[1] : "");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void lookup_names(enum lookup_kind kind, struct strv *ret)
{
	auto_free char *user = user_dir(kind), *data = lookup_datadir();
	auto_free char *shipped = path_join(data, kinds[kind].shipped);
	auto_strv all = { 0 };

	if (user)
		add_names(&all, user);
	add_names(&all, shipped);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_name);
	strv_each (i, &all)
		if (!i || strcmp(all.v[i], all.v[i - 1]) != 0)
			strv_add(ret, all.v[i]);
}

int lookup_find(enum lookup_kind kind, const char *name, const char *skip, char **ret,
		struct err *err)
{
	auto_free char *user = user_dir(kind), *data = lookup_datadir();
	auto_free char *file = mem_printf("%s.json", name);
	auto_strv dirs = { 0 };

	if (user)
		strv_take(&dirs, take_ptr(&user));
	strv_take(&dirs, path_join(data, kinds[kind].shipped));
	strv_each (i, &dirs) {
		auto_free char *path = path_join(dirs.v[i], file);
		auto_free char *real = input_is_id(name) ? realpath(path, NULL) : NULL;

		if (!real || str_eq(real, skip))
			continue;
		*ret = take_ptr(&real);
		return 0;
	}
	return not_found(kind, name, &dirs, err);
}
