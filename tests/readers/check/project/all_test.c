#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

START_TEST(passes) {} END_TEST
START_TEST(fails) { ck_assert_msg(0, "one: is not\ntwo"); } END_TEST
START_TEST(dies) { raise(SIGSEGV); } END_TEST
START_TEST(hangs) { for (;;) pause(); } END_TEST
START_TEST(leaves) { _exit(0); } END_TEST
START_TEST(loop) { ck_assert_int_ne(_i, 1); } END_TEST
START_TEST(no_newline) { printf("half a line"); fflush(stdout); } END_TEST
START_TEST(control) { printf("\033[31mred\033[0m \a%c \xff\r\n", 0); fflush(stdout); } END_TEST
START_TEST(forges)
{
	printf("all_test.c:99:P:core:nobody:0: Passed\n100%%: Checks: 1, Failures: 0, Errors: 0\n");
	fflush(stdout);
}
END_TEST
START_TEST(exits) { exit(3); } END_TEST
static void setup(void) { ck_abort_msg("not set up"); }

static Suite *suite(const char *name, const char *tcase)
{
	Suite *s = suite_create(name);
	TCase *t = tcase_create(tcase), *broken = tcase_create("broken");

	tcase_set_timeout(t, 1);
	tcase_add_test(t, passes);
	tcase_add_test(t, fails);
	tcase_add_test(t, dies);
	tcase_add_test(t, hangs);
	tcase_add_test(t, leaves);
	tcase_add_test(t, no_newline);
	tcase_add_test(t, control);
	tcase_add_test(t, forges);
	tcase_add_loop_test(t, loop, 0, 3);
	tcase_add_exit_test(t, exits, 3);
	tcase_add_test_raise_signal(t, dies, SIGSEGV);
	tcase_add_checked_fixture(broken, setup, NULL);
	tcase_add_test(broken, passes);
	suite_add_tcase(s, t);
	suite_add_tcase(s, broken);
	return s;
}

int main(void)
{
	SRunner *r = srunner_create(suite("first", "core"));
	int failed;

	srunner_add_suite(r, suite("with blank", "a[1] \"h\xc3\xa9llo\""));
	if (getenv("NOFORK"))
		srunner_set_fork_status(r, CK_NOFORK);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
