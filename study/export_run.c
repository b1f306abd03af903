#include "study/export_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/export.h"

void export_run_text(cJSON *o, const char *key, const char *s)
{
	auto_buf clean = BUF_INIT(EXPORT_TEXT_MAX);
	size_t n = s ? strlen(s) : 0, bad;

	if (!s) {
		cJSON_AddNullToObject(o, key);
		return;
	}
	while (!str_utf8(s, n, &bad)) {
		buf_add(&clean, s, bad);
		buf_adds(&clean, "\xef\xbf\xbd");
		s += bad + 1;
		n -= bad + 1;
	}
	buf_add(&clean, s, n);
	cJSON_AddStringToObject(o, key, buf_str(&clean));
}

char *export_run_time(uint64_t ns, char out[40])
{
	time_t sec = (time_t)(ns / CLOCK_SEC);
	struct tm tm = { 0 };
	char date[24];

	gmtime_r(&sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, 40, "%s.%03uZ", date, (unsigned)(ns % CLOCK_SEC / CLOCK_MS));
	return out;
}

uint64_t export_run_parse_time(const char *s)
{
	struct tm tm = { 0 };
	const char *end = s ? strptime(s, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	unsigned ms = 0;
	time_t sec;

	if (!end)
		return 0;
	if (*end == '.' && strspn(end + 1, "0123456789") == 3)
		ms = (unsigned)strtoul(end + 1, NULL, 10);
	sec = timegm(&tm);
	return sec < 0 ? 0 : (uint64_t)sec * CLOCK_SEC + ms * CLOCK_MS;
}

void export_run_print(cJSON *root, bool pretty, struct buf *out)
{
	auto_free char *text = pretty ? cJSON_Print(root) : cJSON_PrintUnformatted(root);

	ensure(text, "out of memory");
	buf_adds(out, text);
	buf_addc(out, '\n');
	cJSON_Delete(root);
}

char *export_run_uuid(const char *seed, char out[37])
{
	char sum[DIGEST_HEX];

	digest_bytes(seed, strlen(seed), sum);
	snprintf(out, 37, "%.8s-%.4s-8%.3s-%c%.3s-%.12s", sum, sum + 8, sum + 12,
		 "89ab"[sum[16] & 3], sum + 17, sum + 20);
	return out;
}
