/* What the probe says must agree with what a box can do here; and the texts of what is missing. */
#include "sandbox/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sandbox/probe_internal.h"
#include "tests/unit/sandbox/box_help.h"

static void tests(void)
{
	struct probe p;
	auto_strv want = { 0 };
	struct err err = { 0 };
	uint64_t t = clock_mono();
	struct help h;
	bool box;

	probe_run(&p);
	tap_diag("probed in %.1f ms", (double)(clock_mono() - t) / 1e6);
	for (int l = 0; l < LAYER_MAX; l++) {
		tap_ok(p.layer[l].detail != NULL && p.layer[l].on == !p.layer[l].fix, "%s: %s%s%s",
		       layer_name((enum layer)l), p.layer[l].detail, p.layer[l].fix ? "; " : "",
		       p.layer[l].fix ? p.layer[l].fix : "");
		if (l != LAYER_CGROUP && l != LAYER_LANDLOCK && l != LAYER_PTRACE)
			strv_add(&want, layer_name((enum layer)l));
	}
	help_open(&h);
	box = strcmp(help_sh(&h, "echo yes"), "yes") == 0;
	help_close(&h);
	tap_ok(box == (probe_require(&p, &want, &err) == 0), "probe and box agree: %s", err.text);
	tap_ok(p.idmap == (geteuid() == 0) || !p.idmap, "idmapped mounts: %d", p.idmap);
	strv_add(&want, "overlai");
	tap_ok(probe_require(&p, &want, &err) == -ERR_INPUT && strstr(err.text, "\"overlay\""),
	       "unknown layer: %s", err.text);
	strv_done(&want);
	strv_add(&want, "netns");
	strv_add(&want, "seccomp");
	p.layer[LAYER_NETNS].on = p.layer[LAYER_SECCOMP].on = false;
	if (!p.layer[LAYER_NETNS].fix)
		p.layer[LAYER_NETNS].fix = probe_fix(LAYER_NETNS, EPERM);
	if (!p.layer[LAYER_SECCOMP].fix)
		p.layer[LAYER_SECCOMP].fix = probe_fix(LAYER_SECCOMP, EINVAL);
	tap_ok(probe_require(&p, &want, &err) == -ERR_HOST && strstr(err.text, "netns") &&
		       strstr(err.text, "CONFIG_SECCOMP_FILTER"),
	       "all that is missing is named: %s", err.text);
	probe_done(&p);
	tap_ok(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD, "no child is left");
}

int main(void)
{
	return help_main(tests);
}
