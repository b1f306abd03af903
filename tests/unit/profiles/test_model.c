/* model.c: every form of --model, and what is said about those that are none. */
#include "profiles/model.h"

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

/* clang-format off */
static const struct {
	const char *spec;
	enum model_kind kind;
	const char *name, *url;
	const char *file; /* below the scene */
} good[] = {
	{ "gpt-5",				MODEL_LIVE, "gpt-5", NULL, NULL },
	{ "openai/gpt-5.1@2025",		MODEL_LIVE, "openai/gpt-5.1@2025", NULL, NULL },
	{ "qwen3:8b",				MODEL_LIVE, "qwen3:8b", NULL, NULL },
	{ "http://127.0.0.1:8000/v1",		MODEL_LIVE, NULL, "http://127.0.0.1:8000/v1", NULL },
	{ "http://127.9.9.9",			MODEL_LIVE, NULL, "http://127.9.9.9", NULL },
	{ "http://localhost:1/",		MODEL_LIVE, NULL, "http://localhost:1", NULL },
	{ "http://[::1]:80/a//#m",		MODEL_LIVE, "m", "http://[::1]:80/a", NULL },
	{ "https://api.example.com/v1#m-1",	MODEL_LIVE, "m-1", "https://api.example.com/v1", NULL },
	{ "HTTPS://[2001:db8::1]",		MODEL_LIVE, NULL, "HTTPS://[2001:db8::1]", NULL },
	{ "script:s.json",			MODEL_SCRIPT, NULL, NULL, "s.json" },
	{ "script:a@3.json",			MODEL_SCRIPT, NULL, NULL, "a@3.json" },
	{ "replay:r.jsonl",			MODEL_REPLAY, "rec", NULL, "r.jsonl" },
	{ "replay:run",				MODEL_REPLAY, "rec", NULL, "run/model.jsonl" },
	{ "replay-loose:odd.jsonl",		MODEL_REPLAY, NULL, NULL, "odd.jsonl" },
	{ "replay:empty.jsonl@0",		MODEL_REPLAY, NULL, NULL, "empty.jsonl" },
	{ "resume:r.jsonl@3+script:s.json",	MODEL_RESUME, "rec", NULL, "r.jsonl" },
	{ "resume-same:run@3+m",		MODEL_RESUME, "rec", NULL, "run/model.jsonl" },
	{ "replay:a@3.json",			MODEL_REPLAY, NULL, NULL, "a@3.json" },
};

static const struct {
	const char *spec;
	enum err_code code;
	const char *want; /* part of the error */
} bad[] = {
	{ "",				 ERR_USAGE, "1 to 200 printable" },
	{ "a b",			 ERR_USAGE, "1 to 200 printable" },
	{ "-m",				 ERR_USAGE, "1 to 200 printable" },
	{ "m\n",			 ERR_USAGE, "1 to 200 printable" },
	{ "scirpt:f",			 ERR_USAGE, "did you mean \"script:\"" },
	{ "replay_loose:f",		 ERR_USAGE, "did you mean \"replay-loose:\"" },
	{ "http:127.0.0.1",		 ERR_USAGE, "begins with https://" },
	{ "ftp://a.org",		 ERR_USAGE, "begins with https://" },
	{ "://a.org",			 ERR_USAGE, "begins with https://" },
	{ "http://a.org/v1",		 ERR_USAGE, "in the clear" },
	{ "http://127.0.0.1.nip.io/",	 ERR_USAGE, "in the clear" },
	{ "http://127.1/",		 ERR_USAGE, "in the clear" },
	{ "http://localhost.a.org/",	 ERR_USAGE, "in the clear" },
	{ "http://[::ffff:127.0.0.1]/",	 ERR_USAGE, "in the clear" },
	{ "http://10.0.0.1:8000",	 ERR_USAGE, "in the clear" },
	{ "https://",			 ERR_USAGE, "no host" },
	{ "https:///v1",		 ERR_USAGE, "no host" },
	{ "https://:80/v1",		 ERR_USAGE, "no host" },
	{ "https://a_$(x)/",		 ERR_USAGE, "no host" },
	{ "https://sk-1@a.org/",	 ERR_USAGE, "must not hold a user" },
	{ "https://a.org\\@b.org/",	 ERR_USAGE, "no blanks" },
	{ "https://a.org/v1?key=1",	 ERR_USAGE, "no query" },
	{ "https://a.org:0/",		 ERR_USAGE, "port" },
	{ "https://a.org:65536/",	 ERR_USAGE, "port" },
	{ "https://a.org:/",		 ERR_USAGE, "port" },
	{ "https://[::1]x/",		 ERR_USAGE, "port" },
	{ "https://[::1/",		 ERR_USAGE, "brackets" },
	{ "https://[a.org]/",		 ERR_USAGE, "brackets" },
	{ "https://a.org/#",		 ERR_USAGE, "1 to 200 printable" },
	{ "script:",			 ERR_USAGE, "name of the file is missing" },
	{ "replay:@3",			 ERR_USAGE, "name of the file is missing" },
	{ "replay:r.jsonl@99999999999999999999", ERR_USAGE, "too large" },
	{ "replay:r.jsonl@1+",		 ERR_USAGE, "1 to 200 printable" },
	{ "replay:r.jsonl@1+replay:r.jsonl", ERR_USAGE, "cannot follow a replay" },
	{ "resume:r.jsonl",		 ERR_USAGE, "which request goes on, and who answers" },
	{ "resume:r.jsonl@3",		 ERR_USAGE, "which request goes on, and who answers" },
	{ "replay:r.jsonl@1+resume:r.jsonl@1+m", ERR_USAGE, "cannot follow a replay" },
	{ "replay:r.jsonl@1+http://a.org", ERR_USAGE, "in the clear" },
	{ "script:gone.json",		 ERR_INPUT, "--model script:gone.json: cannot read" },
	{ "replay:r.jsonl@x",		 ERR_INPUT, "cannot read" },
	{ "replay:r.jsonl@1+script:gone", ERR_INPUT, "cannot read" },
};
/* clang-format on */

static void chain(const char *dir)
{
	struct model *m = NULL;
	struct err err = { 0 };

	if (!tap_ok(model_parse("replay:empty.jsonl@12+https://a.org/v1#m", dir, &m, &err) == 0,
		    "a replay that goes on live %s", err.text))
		return;
	tap_is_u64(m->upto, 12, "so many answers");
	tap_is_str(m->name, "m", "the name of what follows");
	tap_ok(m->then && m->then->kind == MODEL_LIVE && !m->then->then, "what follows");
	tap_is_str(m->then ? m->then->url : NULL, "https://a.org/v1", "its URL");
	model_free(m);
	m = NULL;
	tap_ok(model_parse("replay-loose:r.jsonl@1+script:s.json", dir, &m, &err) == 0 &&
		       m->loose && m->then->kind == MODEL_SCRIPT,
	       "a loose replay, then a script");
	tap_is_str(m ? m->name : NULL, "rec", "the recorded name wins");
	model_free(m);
}

static void one_good(const char *dir, size_t i)
{
	auto_free char *file = good[i].file ? path_join(dir, good[i].file) : NULL;
	struct model *m = NULL;
	struct err err = { 0 };

	if (!tap_ok(model_parse(good[i].spec, dir, &m, &err) == 0, "%s %s", good[i].spec, err.text))
		return;
	tap_ok(m->kind == good[i].kind && model_kind_name(m->kind), "kind");
	tap_is_str(m->spec, good[i].spec, "as given");
	tap_is_str(m->name, good[i].name, "name");
	tap_is_str(m->url, good[i].url, "URL");
	tap_is_str(m->file, file, "file");
	tap_ok(!!m->text == (m->kind != MODEL_LIVE), "contents are read");
	model_free(m);
}

int main(void)
{
	char *dir = scene_new();
	auto_free char *long_name = mem_alloc(202);

	scene_add(dir, "s.json", "{}");
	scene_add(dir, "a@3.json", "{}\n");
	scene_add(dir, "r.jsonl", "{\"call\": 1, \"model\": \"rec\"}\n{\"call\": 2}\n");
	scene_add(dir, "run/model.jsonl", "{\"call\": 1, \"model\": \"rec\"}\n");
	scene_add(dir, "odd.jsonl", "{\"model\": \"a b\"}\n");
	scene_add(dir, "empty.jsonl", "");
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		one_good(dir, i);
	chain(dir);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct model *m = NULL;
		struct err err = { 0 };
		int rc = model_parse(bad[i].spec, dir, &m, &err);

		if (!tap_ok(rc == -(int)bad[i].code && !m && strstr(err.text, bad[i].want),
			    "refused: %s", bad[i].want))
			tap_diag("%s: rc %d: %s", bad[i].spec, rc, err.text);
	}
	memset(long_name, 'x', 201);
	long_name[201] = '\0';
	tap_ok(model_parse(long_name, dir, &(struct model *){ NULL }, NULL) == -ERR_USAGE,
	       "a name that is too long");
	tap_ok(model_free(NULL) == NULL, "nothing can be freed");
	scene_done(dir);
	return tap_done();
}
