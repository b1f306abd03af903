/* What the readers of XML share, and the XML of libcheck for its reader. */
#ifndef VERIFIER_READERS_TESTLOG_XMLRUN_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_XMLRUN_INTERNAL_H

#include <expat.h>
#include <stddef.h>

#include "verifier/readers/testlog_internal.h"

/* Value of attribute @name, NULL when the element has none. */
const char *testlog_xml_attr(const char *const *atts, const char *name);

/* Give @n clean bytes to @p, until a handler stops it or they are broken. What came of it is told by what
 * the handlers saw. In pieces that grow twofold: expat copies all of a piece, whose document may be short
 * and followed by thousands, and scans a token that a piece cuts again (CVE-2023-52425). */
void testlog_xml_feed(XML_Parser p, const char *s, size_t n);

/* Read the report of libcheck's CK_XML_LOG_FILE_NAME; ids as in testlog_check.c. */
void testlog_xmlrun_check(const struct testlog_input *in, struct test_results *out);

#endif
