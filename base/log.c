#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level shown = LOG_WARN;

void log_set_level(enum log_level level)
{
	shown = level;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	char raw[1500], line[4 * sizeof(raw) + 16];
	int saved = errno;
	size_t n;
	va_list ap;

	if (level > shown)
		return;
	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	n = (size_t)snprintf(line, sizeof(line), "proctor: ");
	for (const unsigned char *p = (const unsigned char *)raw; *p; p++) {
		if ((*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f)
			n += (size_t)snprintf(line + n, 5, "\\x%02x", (unsigned)*p);
		else
			line[n++] = (char)*p;
	}
	line[n++] = '\n';
	/* stderr is gone: there is nobody left to tell. */
	if (write(2, line, n) < 0)
		errno = saved;
	errno = saved;
}
