#include "supervisor/lastwords.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "supervisor/hang.h"
#include "supervisor/runpatch.h"
#include "supervisor/watchdog.h"
#include "verifier/capture.h"

/* Between two looks of the janitor; no more is counted for one, whatever the machine did meanwhile. */
#define LOOK_NS CLOCK_SEC

struct lastwords {
	char dir[PATH_MAX], scratch[PATH_MAX], lower[PATH_MAX], upper[PATH_MAX];
	bool lower_is_users;
	git_oid base_commit, base_tree;
	_Atomic int have_workspace, done; /* written by the supervisor, read after its death */
	_Atomic uint64_t beat; /* clock_mono() of the loop's last turn; 0 = it is not watched */
	pid_t owner;
	/* the janitor's own */
	uint64_t limit, seen, looked,
		still; /* ns: allowed, last beat, last look, how long without one */
	bool hung;
};

static void copy_path(char to[PATH_MAX], const char *from)
{
	snprintf(to, PATH_MAX, "%s", from ? from : "");
}

int lastwords_new(const char *dir, struct lastwords **ret, struct err *err)
{
	void *p = mmap(NULL, sizeof(struct lastwords), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return err_sys(err, "cannot map a shared page");
	*ret = p;
	copy_path((*ret)->dir, dir);
	(*ret)->owner = getpid();
	(*ret)->limit = watchdog_limit();
	return 0;
}

void lastwords_workspace(struct lastwords *lw, const struct workspace *ws)
{
	copy_path(lw->scratch, ws->scratch);
	copy_path(lw->lower, ws->lower);
	copy_path(lw->upper, ws->upper);
	lw->lower_is_users = ws->lower_is_users;
	lw->base_commit = ws->base_commit;
	lw->base_tree = ws->base_tree;
	atomic_store(&lw->have_workspace, 1);
}

void lastwords_done(struct lastwords *lw)
{
	atomic_store(&lw->done, 1);
}

void lastwords_beat(struct lastwords *lw, uint64_t now)
{
	atomic_store(&lw->beat, now);
}

int lastwords_watch(void *arg)
{
	struct lastwords *lw = arg;
	uint64_t beat = atomic_load(&lw->beat), now = clock_mono(), step = now - lw->looked;
	char state;
	struct err err;

	if (!lw->limit)
		return -1;
	if (!beat || beat != lw->seen || !lw->looked)
		lw->still = 0;
	else if ((state = hang_state(lw->owner)) != 'T' && state != 't')
		lw->still += step < LOOK_NS ? step : LOOK_NS;
	lw->seen = beat;
	lw->looked = now;
	if (lw->still < lw->limit)
		return (int)(LOOK_NS / CLOCK_MS);
	lw->hung = true;
	(void)hang_write(lw->dir, "proctor's event loop stands still", lw->owner,
			 &err); /* nobody to tell */
	return 0;
}

static bool take_patch(struct lastwords *lw, struct capture *c)
{
	auto_free char *to = path_join(lw->dir, "patch.diff");
	struct workspace ws = {
		.scratch = lw->scratch,
		.scratch_fd = -1,
		.lower = lw->lower,
		.upper = lw->upper,
		.lower_is_users = lw->lower_is_users,
		.base_commit = lw->base_commit,
		.base_tree = lw->base_tree,
	};
	struct err err;

	return (runpatch_apart(&ws, lw->scratch, c, &err) == 0 ||
		runpatch_apart(&ws, lw->dir, c, &err) == 0) &&
	       fd_replace_file(to, buf_str(&c->diff), c->diff.len, &err) == 0;
}

/* Give run.json the end that the supervisor could not write. */
static void end_run(struct lastwords *lw, const struct capture *c, bool have_patch)
{
	auto_free char *path = path_join(lw->dir, "run.json");
	struct json_src src = { 0 };
	auto_free char *text = NULL;
	cJSON *end, *patch;
	struct err err;

	const cJSON *state;

	if (json_load(path, &src, &err) < 0)
		return;
	state = cJSON_GetObjectItemCaseSensitive(src.root, "state");
	if (cJSON_IsString(state) && strcmp(state->valuestring, "done") == 0) {
		json_src_done(&src); /* the end was written; only the kill came late */
		return;
	}
	end = cJSON_CreateObject();
	cJSON_AddStringToObject(end, "reason", "error");
	cJSON_AddNullToObject(end, "status");
	cJSON_AddStringToObject(end, "detail",
				lw->hung ? "proctor stood still and was ended; see hang.json"
					 : "proctor was killed before the run ended");
	cJSON_DeleteItemFromObjectCaseSensitive(src.root, "state");
	cJSON_AddStringToObject(src.root, "state", "done");
	cJSON_AddItemToObject(src.root, "end", end);
	if (have_patch) {
		patch = cJSON_AddObjectToObject(src.root, "patch");
		cJSON_AddNumberToObject(patch, "files", (double)c->files);
		cJSON_AddNumberToObject(patch, "added", (double)c->added);
		cJSON_AddNumberToObject(patch, "removed", (double)c->removed);
		cJSON_AddStringToObject(patch, "sha256", c->sha256);
	}
	text = cJSON_Print(src.root);
	if (text)
		(void)fd_replace_file(path, text, strlen(text), &err); /* nobody left to tell */
	json_src_done(&src);
}

void lastwords_say(void *arg)
{
	struct lastwords *lw = arg;
	struct capture c = { 0 };
	bool have = false;

	if (atomic_load(&lw->done))
		return;
	if (atomic_load(&lw->have_workspace) && lw->upper[0])
		have = take_patch(lw, &c);
	end_run(lw, &c, have);
	capture_done(&c);
}

struct lastwords *lastwords_free(struct lastwords *lw)
{
	if (lw)
		munmap(lw, sizeof(*lw));
	return NULL;
}
