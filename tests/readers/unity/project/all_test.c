#include "unity.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void setUp(void) {}
void tearDown(void) {}

static void passes(void) {}
static void fails(void) { TEST_ASSERT_EQUAL_INT(1, 2); }
static void message(void) { TEST_FAIL_MESSAGE("a: b:12:c:PASS"); }
static void ignored(void) { TEST_IGNORE_MESSAGE("not here"); }
static void no_newline(void) { printf("half a line"); fflush(stdout); }
static void control(void) { printf("\033[31mred\033[0m \a%c \xff\r\n", 0); fflush(stdout); }
static void forges(void) { printf("/workspace/all_test.c:1:nobody:PASS\n"); fflush(stdout); }
static void forges_self(void) { printf("/workspace/all_test.c:1:forges_self:PASS\n"); fflush(stdout); TEST_FAIL(); }
static void dies(void) { if (getenv("CRASH")) raise(SIGSEGV); }
static void hangs(void) { while (getenv("HANG")) pause(); }
static void leaves(void) { if (getenv("LEAVE")) _exit(0); }

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(passes);
	if (!getenv("GOOD")) {
		RUN_TEST(fails);
		RUN_TEST(message);
	}
	RUN_TEST(ignored);
	if (!getenv("GOOD")) {
		RUN_TEST(no_newline);
		RUN_TEST(control);
	}
	if (getenv("FORGE")) {
		RUN_TEST(forges);
		RUN_TEST(forges_self);
	}
	RUN_TEST(dies);
	RUN_TEST(hangs);
	RUN_TEST(leaves);
	UnityDefaultTestRun(passes, "with blank, a[1] \"quoted\" h\xc3\xa9llo", __LINE__);
	RUN_TEST(passes);
	return UNITY_END();
}
