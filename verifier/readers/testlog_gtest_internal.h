/* The console of GoogleTest and cmocka, for the reader that prefers GoogleTest's report. */
#ifndef VERIFIER_READERS_TESTLOG_GTEST_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_GTEST_INTERNAL_H

#include "verifier/readers/testlog_internal.h"

/* Read the console output; see testlog_gtest.c for ids and what must agree. */
void testlog_gtest_console(const struct testlog_input *in, struct test_results *out);

#endif
