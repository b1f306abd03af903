/* Session files told from outside: changes are seen, links are not followed. */
#include "supervisor/sessionfiles.h"

#include "tests/lib/sh.h"
#include "tests/lib/tap.h"

int main(void)
{
	const char *dir = sh_enter();
	const char *pattern = "home/.a/*/s-?.jsonl";
	uint64_t last, now;

	tap_is_u64(sessionfiles_sign("none", pattern), 0, "no directory");
	sh("mkdir -p home/.a/x home/.a/y other; echo 1 >home/.a/x/t.jsonl; echo 1 >other/s-1.jsonl");
	tap_is_u64(sessionfiles_sign(".", pattern), 0, "no file of that name");
	sh("ln -s ../../other home/.a/z; ln -s ../../../other/s-1.jsonl home/.a/x/s-9.jsonl");
	tap_is_u64(sessionfiles_sign(".", pattern), 0,
		   "neither through a directory nor by itself is a link followed");
	sh("echo 1 >home/.a/x/s-1.jsonl");
	last = sessionfiles_sign(".", pattern);
	tap_ok(last != 0, "a session file");
	tap_is_u64(sessionfiles_sign(".", pattern), last, "looked at again it is the same");
	sh("echo 2 >>home/.a/x/s-1.jsonl");
	now = sessionfiles_sign(".", pattern);
	tap_ok(now != last && now, "longer");
	last = now;
	sh("echo 1 >home/.a/y/s-2.jsonl");
	now = sessionfiles_sign(".", pattern);
	tap_ok(now != last && now, "one more");
	last = now;
	sh("touch -d @1 home/.a/y/s-2.jsonl");
	tap_ok(sessionfiles_sign(".", pattern) != last, "written again in the same length");
	sh_leave(dir);
	return tap_done();
}
