/* A profile file of arbitrary bytes: read over the shipped profile that it extends, printed as the
 * plan prints it, freed; and the same bytes as a --set. Names are looked up in the shipped data
 * only. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/plan.h"

#define SET_MAX 4096 /* a command line is longer, but nobody's --set is */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(struct profile *p)
{
	struct task task = { .instance_id = NULL };
	struct agent agent = { .name = NULL };
	const struct plan plan = { .task = &task, .agent = &agent, .profile = p };
	auto_buf b = BUF_INIT(64u << 20);
	cJSON *json;

	plan_print(&plan, &b);
	json = cJSON_Parse(buf_str(&b));
	if (!json)
		abort();
	cJSON_Delete(json);
}

static void set(const uint8_t *data, size_t size)
{
	static const char start[] = "{ \"schema\": \"proctor.profile/1\" }";
	auto_free char *text = mem_dup(data, size);
	struct profile *p = NULL;
	struct err err = { 0 };

	if (profile_parse("start", start, sizeof(start) - 1, NULL, &p, &err) < 0)
		abort();
	if (plan_set(p, text, &err) < 0 && err.code != ERR_USAGE)
		abort();
	profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = NULL;
	struct err err = { 0 };
	int rc;

	if (setenv("XDG_CONFIG_HOME", "/nonexistent", 1) < 0)
		abort();
	rc = profile_parse("input", (const char *)data, size, NULL, &p, &err);
	if (rc == 0)
		print(p);
	else if (p || err.code != ERR_INPUT || !err.text[0])
		abort();
	profile_free(p);
	if (size < SET_MAX)
		set(data, size);
	return 0;
}
