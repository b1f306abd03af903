/* Errors as values: code, errno, text that grows outwards and never overflows. */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "tests/lib/tap.h"

static void codes(void)
{
	static const struct {
		enum err_code code;
		const char *name;
		int status;
	} rows[] = {
		{ ERR_USAGE, "usage", 2 }, { ERR_INPUT, "input", 3 }, { ERR_HOST, "host", 4 },
		{ ERR_SYS, "system", 5 },  { ERR_LIMIT, "limit", 6 }, { ERR_REFUSED, "refused", 7 },
		{ ERR_CHILD, "child", 8 }, { ERR_BUG, "bug", 70 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		int rc = err_set(&err, rows[i].code, "x");

		tap_is_u64((uint64_t)err_exit_status(rc), (uint64_t)rows[i].status, rows[i].name);
		tap_is_str(err_code_name(err.code), rows[i].name, "name of the code");
	}
	tap_is_u64((uint64_t)err_exit_status(0), 0, "status of success");
	tap_is_u64((uint64_t)err_exit_status(5), 0, "status of a positive result");
	tap_is_str(err_code_name((enum err_code)99), "unknown", "name of no code");
}

static void texts(void)
{
	struct err err = { 0 };
	char big[3000];

	errno = EMFILE;
	tap_ok(err_sys(&err, "open %s", "a") == -ERR_SYS, "err_sys returns the code");
	tap_ok(err.sys == EMFILE && errno == EMFILE, "errno is kept and recorded");
	tap_is_str(err.text, "open a: Too many open files", "text with errno");
	tap_ok(err_wrap(&err, "box %d", 7) == -ERR_SYS, "err_wrap keeps the code");
	tap_is_str(err.text, "box 7: open a: Too many open files", "text grows outwards");
	tap_ok(err_set(NULL, ERR_INPUT, "x") == -ERR_INPUT, "no err object is fine");
	errno = ENOENT;
	tap_ok(err_sys(NULL, "x") == -ERR_SYS && errno == ENOENT, "also for err_sys");
	tap_ok(err_wrap(NULL, "x") == -ERR_BUG, "wrapping nothing is a bug");
	err = (struct err){ 0 };
	tap_ok(err_wrap(&err, "x") == -ERR_BUG, "wrapping an empty error is a bug");

	memset(big, 'y', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	err_set(&err, ERR_INPUT, "%s", big);
	tap_is_u64(strlen(err.text), ERR_TEXT_MAX - 1, "a long text is cut");
	err_wrap(&err, "front");
	tap_ok(strncmp(err.text, "front: yyy", 10) == 0 && strlen(err.text) < ERR_TEXT_MAX,
	       "wrapping a full text keeps the front");
	err_wrap(&err, "%s", big);
	tap_is_u64(strlen(err.text), ERR_TEXT_MAX - 1, "a context longer than the text is cut");
	errno = EIO;
	err_sys(&err, "%s", big);
	tap_is_u64(strlen(err.text), ERR_TEXT_MAX - 1, "no room for the errno text");
}

int main(void)
{
	codes();
	texts();
	return tap_done();
}
