/* checkpointfile.c: a box at a request from the changes up to it, its session, and lines that are refused. */
#include "supervisor/checkpointfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define SHA "7babda9baa47603585f87b4b7afffd3aac40868469a178df5773f1dbf469d4fc"
#define LINE(call, more, changed)                                                                  \
	"{\"schema\":\"proctor.checkpoints/1\",\"n\":1,\"call\":" call                             \
	",\"settled\":true,\"stored\":0" more ",\"changed\":[" changed "]}\n"
#define REST ",\"processes\":[],\"held\":[],\"services\":[],\"user\":false,\"messages\":0"
#define FILE_AT(area, path)                                                                        \
	"{\"area\":\"" area "\",\"path\":\"" path                                                  \
	"\",\"kind\":\"f\",\"mode\":420,\"size\":3,\"mtime\":7,\"ns\":5,\"sha256\":\"" SHA "\"}"
#define OF(area, path, kind) "{\"area\":\"" area "\",\"path\":\"" path "\",\"kind\":\"" kind "\"}"

static const char whole[] = LINE("1", REST,
				 FILE_AT("box", "home/a/s-1.jsonl") "," FILE_AT(
					 "workspace", "n") "," OF("workspace", "gone", "-"))
	LINE("2",
	     ",\"processes\":[\"sleep 9\"],\"held\":[\"port\"],\"services\":[\"api\"],\"user\":true,\"messages\":2",
	     FILE_AT("box", "home/a/s-0.jsonl") "," OF(
		     "workspace", "n",
		     "=") ",{\"area\":\"workspace\",\"path\":\"l\",\"kind\":\"l\",\"link\":\"n\"}")
		LINE("3", ",\"why\":\"too many\",\"where\":\"x\"" REST,
		     FILE_AT("workspace", "n") "," OF("box", "home/a/s-1.jsonl", "="));

/* clang-format on */

static int parse(const char *text, uint64_t call, struct checkpoint_state *ret, struct err *err)
{
	return checkpointfile_parse("c", text, strlen(text), call, ret, err);
}

static const struct snapshot_entry *find(const struct checkpoint_state *c, const char *path)
{
	for (size_t i = 0; i < c->n[SNAPSHOT_WORKSPACE]; i++) {
		if (strcmp(c->v[SNAPSHOT_WORKSPACE][i].path, path) == 0)
			return &c->v[SNAPSHOT_WORKSPACE][i];
	}
	return NULL;
}

static void states(void)
{
	struct checkpoint_state c = { 0 };
	struct err err = { 0 };
	const struct snapshot_entry *e;

	tap_ok(parse(whole, 1, &c, &err) == 0, "the first %s", err.text);
	e = find(&c, "n");
	tap_ok(e && e->kind == 'f' && e->mode == 0644 && e->size == 3 && e->mtime == 7000000005 &&
		       strcmp(e->sha256, SHA) == 0,
	       "a file with all that is kept of it");
	tap_ok(find(&c, "gone") && find(&c, "gone")->kind == '-', "and one that is gone");
	tap_ok(c.settled && !c.why && !c.processes.n && !c.user && !c.messages,
	       "nothing but files");
	tap_is_str(checkpoint_session(&c, "home/a/s-?.jsonl"), "home/a/s-1.jsonl", "its session");
	tap_is_str(checkpoint_session(&c, "home/*"), NULL, "* stays in a component");
	checkpoint_state_done(&c);
	tap_ok(parse(whole, 2, &c, &err) == 0 && !find(&c, "n") && find(&c, "l"),
	       "the second: what is as it began is out");
	tap_ok(c.processes.n == 1 && c.held.n == 1 && c.services.n == 1 && c.user &&
		       c.messages == 2,
	       "what is no file");
	tap_is_str(checkpoint_session(&c, "home/a/s-?.jsonl"), "home/a/s-1.jsonl",
		   "of several sessions the one that was there first");
	checkpoint_state_done(&c);
	tap_ok(parse(whole, 3, &c, &err) == 0 && find(&c, "n"), "the third: again");
	tap_is_str(c.why, "too many", "not whole, and why");
	tap_is_str(checkpoint_session(&c, "home/a/s-?.jsonl"), "home/a/s-0.jsonl",
		   "the other one is left");
	checkpoint_state_done(&c);
	tap_ok(parse(whole, 4, &c, &err) == -ERR_INPUT &&
		       strstr(err.text, "no checkpoint of request 4"),
	       "%s", err.text);
	tap_ok(checkpointfile_load("/nowhere", 1, &c, &err) < 0, "no file: %s", err.text);
}

/* clang-format off */
static const struct {
	const char *what, *text, *want;
} bad[] = {
	{ "no JSON", "x\n", "line 1" },
	{ "another schema", "{\"schema\":\"proctor.steps/1\"}\n", "schema" },
	{ "no call", "{\"schema\":\"proctor.checkpoints/1\",\"n\":1}\n", "call" },
	{ "an area", LINE("1", REST, OF("host", "a", "-")), "an area that there is not" },
	{ "out of it", LINE("1", REST, OF("box", "../a", "-")), "a path that is none" },
	{ "out of it in the middle", LINE("1", REST, OF("box", "a/../../b", "-")), "a path that is none" },
	{ "absolute", LINE("1", REST, OF("box", "/etc/passwd", "-")), "a path that is none" },
	{ "empty", LINE("1", REST, OF("box", "", "-")), "a path that is none" },
	{ "a dot", LINE("1", REST, OF("box", "a/./b", "-")), "a path that is none" },
	{ "a slash at the end", LINE("1", REST, OF("box", "a/", "d")), "a path that is none" },
	{ "a kind", LINE("1", REST, OF("box", "a", "x")), "a kind that there is not" },
	{ "two kinds", LINE("1", REST, OF("box", "a", "fd")), "a kind that there is not" },
	{ "no digest", LINE("1", REST, OF("box", "a", "f")), "a file without digest" },
	{ "a digest that leads elsewhere", LINE("1", REST, "{\"area\":\"box\",\"path\":\"a\",\"kind\":\"f\",\"sha256\":\"../../../../../../../../../../../../../../../../../../../etc/passwd\"}"), "a file without digest" },
	{ "setuid", LINE("1", REST, "{\"area\":\"box\",\"path\":\"a\",\"kind\":\"d\",\"mode\":2541}"), "a mode or time" },
	{ "a time", LINE("1", REST, "{\"area\":\"box\",\"path\":\"a\",\"kind\":\"d\",\"ns\":1000000000}"), "a mode or time" },
	{ "no target", LINE("1", REST, OF("box", "a", "l")), "a link without target" },
	{ "a line that was cut", "{\"schema\":\"proctor.check", "no checkpoint of request 1" },
};
/* clang-format on */

int main(void)
{
	states();
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct checkpoint_state c = { 0 };
		struct err err = { 0 };

		tap_ok(parse(bad[i].text, 1, &c, &err) == -ERR_INPUT &&
			       strstr(err.text, bad[i].want),
		       "%s: %s", bad[i].what, err.text);
		tap_ok(!c.n[0] && !c.n[1] && !c.v[0], "%s: nothing is left", bad[i].what);
	}
	return tap_done();
}
