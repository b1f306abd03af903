/* What the readers of Maven and Gradle share: both write JUnit XML, one file per class. */
#ifndef VERIFIER_READERS_TESTLOG_JVM_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_JVM_INTERNAL_H

#include "verifier/readers/testlog_run_internal.h"

/* Read the XML reports of @in (several files, one behind the other) into @out, with ids "Class.test";
 * a class that failed as a whole has the id "Class". Failures and number of tests in *ret.
 * 0 or negative with @err set. */
int testlog_jvm_xml(const struct testlog_input *in, struct test_results *out,
		    struct testlog_sums *ret, struct err *err);

#endif
