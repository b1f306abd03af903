#include "supervisor/cmdtrack.h"

#include "tests/lib/tap.h"

int main(void)
{
	char *cat[] = { (char *)"cat", (char *)"f", NULL };
	char *test[] = { (char *)"make", (char *)"test", NULL };
	char *shell[] = { (char *)"/bin/bash", (char *)"-c", (char *)"cat f", NULL };
	struct cmdtrack c = { 0 };
	struct command *a = cmdtrack_fork(&c, 10), *b = cmdtrack_fork(&c, 11);

	tap_ok(a->id == 1 && b->id == 2, "each direct child is a command");
	tap_ok(cmdtrack_exec(&c, 1, cat) == a, "its first program announces it");
	tap_ok(!cmdtrack_exec(&c, 1, test), "the second does not");
	tap_is_str(classify_name(a->cls), "test", "the highest class of its programs is its class");
	tap_is_str(a->argv.v[0], "cat", "argv is that of the first");
	tap_is_u64(a->programs, 2, "programs are counted");
	cmdtrack_close(&c, 1);
	tap_ok(!cmdtrack_get(&c, 1), "an ended command is gone");
	tap_ok(!cmdtrack_exec(&c, 1, cat), "what it left behind announces nothing");
	tap_ok(cmdtrack_get(&c, 2) == b, "the other goes on");
	cmdtrack_exec(&c, 2, cat);
	cmdtrack_edited(&c, 2);
	tap_is_str(classify_name(b->cls), "edit", "cat that writes a file edits");
	cmdtrack_exec(&c, 2, test);
	cmdtrack_edited(&c, 2);
	tap_is_str(classify_name(b->cls), "test", "a test run that does is still a test run");
	cmdtrack_edited(&c, 1);
	tap_ok(!cmdtrack_again(&c, 2, test), "a wrapper that executes no shell text stays");
	tap_ok(cmdtrack_again(&c, 2, shell) == b && b->argv.n == 3, "one that does is forgotten");
	tap_is_str(b->argv.v[2], "cat f", "the text behind it is the command");
	tap_ok(!cmdtrack_again(&c, 1, shell), "an ended command has no second text");
	tap_ok(!cmdtrack_get(&c, 0), "the agent's own process is no command");
	cmdtrack_done(&c);
	return tap_done();
}
