#include "verifier/readers/testlog_jvm_internal.h"

#include <string.h>

#include "base/mem.h"

int testlog_jvm_xml(const struct testlog_input *in, struct test_results *out,
		    struct testlog_sums *ret, struct err *err)
{
	struct test_results xml = { 0 };
	int rc = testlog_read_junit(in, &xml, err);

	if (xml.incomplete)
		testlog_incomplete(out, "%s", xml.note);
	ret->summaries = 1;
	for (size_t i = 0; i < xml.n; i++) {
		const struct test_result *t = &xml.v[i];
		const char *sep = strstr(t->name, "::");
		size_t n = sep ? (size_t)(sep - t->name) : strlen(t->name);
		auto_free char *id = NULL;
		struct test_result *to;

		/* "Class::Class" is an error in what surrounds the tests of a class. */
		if (!sep || !sep[2] || strcmp(sep + 2, t->name) == 0 ||
		    (strncmp(sep + 2, t->name, n) == 0 && !sep[2 + n]))
			id = mem_strndup(t->name, n);
		else
			id = mem_printf("%.*s.%s", (int)n, t->name, sep + 2);
		testlog_add_worse(out, id, strlen(id), t->status, t->from, t->to);
		to = testlog_get(out, id);
		if (to && to->again < t->again)
			to->again = t->again;
		ret->total++;
		ret->failed += t->status == TEST_FAILED || t->status == TEST_ERROR;
	}
	testlog_done(&xml);
	return rc;
}
