#include "verifier/readers/testlog_internal.h"

int testlog_read_exit(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const char name[] = "exit-code";

	(void)err; /* cannot fail; the row's type has it */
	testlog_add(out, name, sizeof(name) - 1, in->exit_status ? TEST_FAILED : TEST_PASSED, 0,
		    in->log_len);
	return 0;
}
