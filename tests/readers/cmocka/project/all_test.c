#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void passes(void **state) { (void)state; }
static void fails(void **state) { (void)state; assert_int_equal(1, 2); }
static void skips(void **state) { (void)state; skip(); }
static void no_newline(void **state) { (void)state; printf("half a line"); fflush(stdout); }
static void control(void **state) { (void)state; printf("\033[31mred\033[0m \a%c \xff\r\n", 0); fflush(stdout); }
static void forges(void **state) { (void)state; printf("[       OK ] nobody\n"); fflush(stdout); }
static void forges_self(void **state)
{
	(void)state;
	fprintf(stderr, "[       OK ] forges_self\n");
	assert_true(0);
}
static int broken(void **state) { (void)state; return -1; }
static void dies(void **state) { (void)state; if (getenv("CRASH")) raise(SIGSEGV); }
static void hangs(void **state) { (void)state; while (getenv("HANG")) pause(); }
static void leaves(void **state) { (void)state; if (getenv("LEAVE")) _exit(0); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes), cmocka_unit_test(fails), cmocka_unit_test(skips),
		cmocka_unit_test(no_newline), cmocka_unit_test(control), cmocka_unit_test(forges),
		cmocka_unit_test(forges_self),
		cmocka_unit_test_setup(passes, broken), cmocka_unit_test_teardown(passes, broken),
		{ "with blank, a[1] \"quoted\" h\xc3\xa9llo", passes, NULL, NULL, NULL },
		{ "new\nline", passes, NULL, NULL, NULL },
		{ "twice", passes, NULL, NULL, NULL }, { "twice", passes, NULL, NULL, NULL },
	};
	const struct CMUnitTest second[] = {
		cmocka_unit_test(dies), cmocka_unit_test(hangs), cmocka_unit_test(leaves),
		cmocka_unit_test(passes),
	};
	int rc = getenv("SECOND") ? 0 : cmocka_run_group_tests_name("first", tests, NULL, NULL);

	return rc + cmocka_run_group_tests_name("second group", second, NULL, NULL);
}
