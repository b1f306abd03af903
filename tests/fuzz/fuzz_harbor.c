/* Foreign files of Harbor tasks: by its first byte the rest is a task.toml, a Dockerfile, a reward directory's file, or a
 * recorded answer. Whatever comes in: no crash, errors that name the file, paths that are absolute. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/dockerfile.h"
#include "study/import_harbor.h"
#include "study/turns.h"
#include "verifier/testlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void toml(const char *s, size_t n)
{
	struct harbor_toml t = { 0 };
	struct err err = { 0 };
	int rc = harbor_toml_parse("input", s, n, &t, &err);

	if (rc == 0 && (!t.environment_mode || t.agent_timeout < -1 || t.cpus > 1e12))
		abort();
	if (rc < 0 && strncmp(err.text, "input:", 6) != 0)
		abort();
	harbor_toml_done(&t);
}

static void docker(const char *s, size_t n)
{
	struct dockerfile d = { 0 };
	struct err err = { 0 };
	int rc = dockerfile_parse("input", s, n, &d, &err);

	if (rc < 0 && strncmp(err.text, "input:", 6) != 0)
		abort();
	if (rc == 0 && d.workdir && d.workdir[0] != '/')
		abort();
	for (size_t i = 0; i < d.n_copies; i++)
		if (d.copy[i].to[0] != '/' || !d.copy[i].from.n)
			abort();
	dockerfile_done(&d);
}

static void reward(const char *s, size_t n, unsigned which)
{
	static const char *const names[] = { "reward.txt", "reward.json", "ctrf.json" };
	struct testlog_file f[] = { { "reward.txt", "1", 1 }, { names[which % 3], s, n } };
	struct testlog_input in = { .log = "",
				    .files = f + (which % 3 == 0),
				    .n_files = 1 + (which % 3 != 0) };
	struct test_results r = { 0 };

	if (testlog_find("reward")->read(&in, &r, NULL) < 0 || (r.incomplete && !r.note))
		abort();
	testlog_done(&r);
}

static void say(void *arg, bool system, const char *text)
{
	(void)system;
	*(size_t *)arg += strlen(text);
}

static void turns(const char *s, size_t n, unsigned which)
{
	static const char *const apis[] = { "openai-chat", "openai-responses", "anthropic",
					    "gemini" };
	const char *api = apis[which / 2 % 4];
	cJSON *o = cJSON_ParseWithLength(s, n);
	size_t total = 0;
	struct turn t;

	turn_init(&t);
	if (turn_read(api, which % 2, s, n, &t) && t.n_calls > TURN_CALLS_MAX)
		abort();
	turn_results(api, o, &t);
	turn_opening(api, o, say, &total);
	turn_done(&t);
	cJSON_Delete(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = NULL;
	unsigned kind;

	if (!size)
		return 0;
	kind = data[0];
	text = mem_dup(data + 1, size - 1);
	if (kind == 'T')
		toml(text, size - 1);
	else if (kind == 'D')
		docker(text, size - 1);
	else if (kind >= '0' && kind <= '2')
		reward(text, size - 1, kind - '0');
	else if (kind >= 'a' && kind <= 'h')
		turns(text, size - 1, kind - 'a');
	return 0;
}
