#include "supervisor/cmd.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "sandbox/imagecache.h"

struct opts {
	bool json;
	const char *age;
};

static const struct opt_row rows[] = {
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL, "list: print as JSON" },
	{ 0, "older-than", OPT_STR, offsetof(struct opts, age), "TIME",
	  "prune: only images that no box has used for this time, such as 30d (default: all)" },
	{ 0 },
};

struct show {
	struct buf *out;
	struct json_w *w; /* NULL = text */
};

static void list_one(void *arg, const struct imagecache_entry *e)
{
	struct show *s = arg;
	char when[32];

	clock_text((uint64_t)e->used * CLOCK_SEC, when);
	if (!s->w) {
		buf_addf(s->out, "%s %6" PRIu64 " MiB  %s%s\n", e->id, e->bytes >> 20, when,
			 e->busy ? "  in use" : "");
		return;
	}
	json_open(s->w, NULL, '{');
	json_str(s->w, "id", e->id);
	json_u64(s->w, "bytes", e->bytes);
	json_str(s->w, "used", when);
	json_bool(s->w, "in_use", e->busy);
	json_close(s->w, '}');
}

static void removed(void *arg, const struct imagecache_entry *e)
{
	struct show *s = arg;

	buf_addf(s->out, "removed %s\n", e->id);
}

static int list(const struct opts *o, struct buf *out, struct err *err)
{
	struct json_w w = { .b = out, .pretty = true };
	struct show s = { out, o->json ? &w : NULL };
	int rc;

	if (o->json) {
		json_open(&w, NULL, '{');
		json_str(&w, "schema", "proctor.images/1");
		json_open(&w, "images", '[');
	}
	rc = imagecache_list(list_one, &s, err);
	if (o->json) {
		json_close(&w, ']');
		json_close(&w, '}');
		buf_addc(out, '\n');
	}
	return rc;
}

static int prune(const struct opts *o, struct buf *out, struct err *err)
{
	struct show s = { out, NULL };
	uint64_t age = 0;

	if (o->age && str_duration(o->age, &age) < 0)
		return err_set(err, ERR_USAGE,
			       "images: --older-than \"%s\" is no time; write it as in 12h or 30d",
			       o->age);
	return imagecache_prune(age / CLOCK_SEC, removed, &s, err);
}

static int whole(void *opts, const struct strv *rest, struct err *err)
{
	static const char *const words[] = { "list", "prune", NULL };
	const struct opts *o = opts;
	auto_buf out = BUF_INIT(64u << 20);
	const char *word = rest->n ? rest->v[0] : words[0], *near;
	int rc, shown;

	if (rest->n > 1)
		return err_set(err, ERR_USAGE, "images: one of list and prune");
	if (strcmp(word, words[0]) != 0 && strcmp(word, words[1]) != 0) {
		near = str_nearest(word, words);
		return err_set(err, ERR_USAGE, "images: unknown \"%s\"; %s%s", word,
			       near ? "did you mean " : "choose list or prune", near ? near : "");
	}
	rc = strcmp(word, words[0]) == 0 ? list(o, &out, err) : prune(o, &out, err);
	shown = cmd_print(&out); /* what was removed before a failure is told */
	return rc == 0 && shown ? -ERR_SYS : rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_images = {
	.name = "images",
	.summary = "show or clear the unpacked container images",
	.synopsis = "[list [--json] | prune [--older-than TIME]]",
	.text = "Images that tasks name as oci:LAYOUT or docker-archive:FILE are unpacked once, into\n"
		"PROCTOR_IMAGES (default: ~/.cache/proctor/images). What a box uses is never removed.\n",
	.rows = rows,
	.run = run,
};
