#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct err *err, enum err_code code, int sys, const char *fmt, va_list ap)
{
	err->code = code;
	err->sys = sys;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		fill(err, code, 0, fmt, ap);
		va_end(ap);
	}
	errno = saved;
	return -(int)code;
}

int err_sys(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t n;

	if (err) {
		va_start(ap, fmt);
		fill(err, ERR_SYS, saved, fmt, ap);
		va_end(ap);
		n = strlen(err->text);
		snprintf(err->text + n, sizeof(err->text) - n, ": %s", strerror(saved));
	}
	errno = saved;
	return -(int)ERR_SYS;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char inner[ERR_TEXT_MAX];
	va_list ap;
	size_t n;

	if (!err || err->code == ERR_NONE)
		return -(int)ERR_BUG;
	memcpy(inner, err->text, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	if (n + 3 < sizeof(err->text)) {
		size_t room = sizeof(err->text) - n - 3, len = strnlen(inner, sizeof(inner));

		memcpy(err->text + n, ": ", 2);
		if (len > room)
			len = room;
		memcpy(err->text + n + 2, inner, len);
		err->text[n + 2 + len] = '\0';
	}
	return -(int)err->code;
}

int err_exit_status(int rc)
{
	return rc < 0 ? -rc : 0;
}

static const struct {
	enum err_code code;
	const char *name;
} code_names[] = {
	{ ERR_NONE, "none" },       { ERR_USAGE, "usage" }, { ERR_INPUT, "input" },
	{ ERR_HOST, "host" },       { ERR_SYS, "system" },  { ERR_LIMIT, "limit" },
	{ ERR_REFUSED, "refused" }, { ERR_CHILD, "child" }, { ERR_BUG, "bug" },
};

const char *err_code_name(enum err_code code)
{
	for (size_t i = 0; i < sizeof(code_names) / sizeof(code_names[0]); i++) {
		if (code_names[i].code == code)
			return code_names[i].name;
	}
	return "unknown";
}

void ensure_failed(const char *file, int line, const char *cond, const char *what)
{
	fprintf(stderr, "proctor: bug at %s:%d: %s (%s)\n", file, line, what, cond);
	abort();
}
