/* The XML of libcheck, for its reader. */
#ifndef VERIFIER_READERS_TESTLOG_XMLRUN_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_XMLRUN_INTERNAL_H

#include "verifier/readers/testlog_internal.h"

/* Read the report of libcheck's CK_XML_LOG_FILE_NAME; ids as in testlog_check.c. */
void testlog_xmlrun_check(const struct testlog_input *in, struct test_results *out);

#endif
