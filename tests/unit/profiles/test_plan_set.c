/* plan_set.c: every field of a profile from the command line, and what is said about wrong ones. */
#include "profiles/plan.h"

#include "tests/unit/profiles/scene.h"

/* clang-format off */
static const struct {
	const char *set;
	const char *want; /* part of the printed profile */
} good[] = {
	{ "limits.wall=10m",		      "\"wall\": \"10m\"" },
	{ "limits.wall=90",		      "\"wall\": \"90s\"" },
	{ "limits.memory=512M",		      "\"memory\": \"512M\"" },
	{ "limits.processes=7",		      "\"processes\": \"7\"" },
	{ "limits.dollars=1.25",	      "\"dollars\": \"1.25\"" },
	{ "limits.cpu=0",		      "\"cpu\": \"0\"" },
	{ "trace=full",			      "\"trace\": \"full\"" },
	{ "watch=workspace",		      "\"watch\": \"workspace\"" },
	{ "on_limit=kill",		      "\"on_limit\": \"kill\"" },
	{ "grace=500ms",		      "\"grace\": \"500ms\"" },
	{ "network.mode=public",	      "\"mode\": \"public\"" },
	{ "network.hosts=a.org,*.b.org:443",  "\"*.b.org:443\"\n" },
	{ "network.hosts=[2001:db8::1]:80",   "\"[2001:db8::1]:80\"" },
	{ "model.delivery=stream",	      "\"delivery\": \"stream\"" },
	{ "model.provider_tools=refuse",      "\"provider_tools\": \"refuse\"" },
	{ "model.pin=off",		      "\"pin\": \"off\"" },
	{ "model.reattach=once",	      "\"reattach\": \"once\"" },
	{ "model.timeout=30s",		      "\"timeout\": \"30s\"" },
	{ "model.retries=0",		      "\"retries\": 0" },
	{ "model.prices=/p/prices.json",      "\"prices\": \"/p/prices.json\"" },
	{ "model.prices=",		      "\"prices\": null" },
	{ "model.tell_limits=true",	      "\"tell_limits\": true" },
	{ "syscalls.nested_userns=true",      "\"nested_userns\": true" },
	{ "syscalls.deny=bpf,ptrace",	      "\"ptrace\"\n" },
	{ "filesystem.read=/a,/b/../c",	      "\"/c\"\n" },
	{ "filesystem.rootfs=dir:/some/root", "\"rootfs\": \"dir:/some/root\"" },
	{ "filesystem.workspace=direct",      "\"workspace\": \"direct\"" },
	{ "require=",			      "\"require\": []" },
	{ "require=userns",		      "\"userns\"\n" },
};

static const struct {
	const char *set;
	const char *want; /* part of the error */
} bad[] = {
	{ "limits.wal=1",	       "did you mean \"limits.wall\"" },
	{ "limit.wall=1",	       "did you mean \"limits.wall\"" },
	{ "wall=1",		       "did you mean \"limits.wall\"" },
	{ "nested_userns=true",	       "did you mean \"syscalls.nested_userns\"" },
	{ "limits=1",		       "there is no field \"limits\"" },
	{ "limits.wall.x=1",	       "there is no field \"limits.wall.x\"" },
	{ "zzzzzzzzzzzz=1",	       "docs/formats" },
	{ "schema=proctor.profile/1",  "there is no field \"schema\"" },
	{ "extends=strict",	       "--profile NAME" },
	{ "limits.wall",	       "expected FIELD=VALUE" },
	{ "=1",			       "expected FIELD=VALUE" },
	{ "",			       "expected FIELD=VALUE" },
	{ ".=1",		       "there is no field" },
	{ "limits.=1",		       "there is no field" },
	{ "limits.wall=",	       "expected a duration" },
	{ "limits.wall=1w",	       "expected a duration" },
	{ "limits.processes=many",     "expected a whole number" },
	{ "limits.processes=99999999999999999999", "expected a whole number" },
	{ "syscalls.nested_userns=yes", "expected true or false" },
	{ "model.timeout=0",	       "0 would wait for ever" },
	{ "timeout=1",		       "did you mean \"model.timeout\"" },
	{ "trace=ful",		       "did you mean \"full\"" },
	{ "watch=workspce",	       "did you mean \"workspace\"" },
	{ "require=usern",	       "did you mean \"userns\"" },
	{ "filesystem.read=etc",       "not an absolute path" },
	{ "filesystem.rootfs=hots",    "is no root file system" },
	{ "name=a b",		       "is not a name" },
	{ "name=\xff",		       "not UTF-8" },
};
/* clang-format on */

/* The profile as the plan prints it: all that --set can change. */
static char *printed(struct profile *profile)
{
	struct task task = { .instance_id = NULL };
	struct agent agent = { .name = NULL };
	const struct plan plan = { .task = &task, .agent = &agent, .profile = profile };
	auto_buf b = BUF_INIT(1u << 20);

	plan_print(&plan, &b);
	return buf_steal(&b, NULL);
}

int main(void)
{
	char *dir = scene_new();

	setenv("XDG_CONFIG_HOME", dir, 1);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct profile *p = NULL;
		struct err err = { 0 };
		auto_free char *text = NULL;

		if (profile_load("agent", &p, &err) < 0)
			abort();
		tap_ok(plan_set(p, good[i].set, &err) == 0, "%s %s", good[i].set, err.text);
		text = printed(p);
		if (!tap_ok(strstr(text, good[i].want), "gives %s", good[i].want))
			tap_diag("%s", text);
		profile_free(p);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct profile *p = NULL;
		struct err err = { 0 };
		int rc;

		if (profile_load("agent", &p, &err) < 0)
			abort();
		rc = plan_set(p, bad[i].set, &err);
		if (!tap_ok(rc == -ERR_USAGE && err.code == ERR_USAGE &&
				    strstr(err.text, "--set ") == err.text &&
				    strstr(err.text, bad[i].want),
			    "%s is refused: %s", strchr(bad[i].set, 0xff) ? "name=" : bad[i].set,
			    bad[i].want))
			tap_diag("rc %d: %s", rc, err.text);
		profile_free(p);
	}
	tap_ok(plan_set(NULL, "nothing", NULL) == -ERR_USAGE, "err may be NULL");
	scene_done(dir);
	return tap_done();
}
