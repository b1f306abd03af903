/* A package index: its pages in both forms, what effects make of them, declarations that are refused. What pip and npm make
 * of it: tests/run/services_index.sh. */
#include "services/service.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/services/play.h"

#define JSON_TYPE "application/vnd.pypi.simple.v1+json"

static const char text[] =
	"{\"name\":\"i\",\"kind\":\"index\",\"port\":8082,\"packages\":["
	"{\"name\":\"A_b.C\",\"version\":\"1.0\",\"files\":{\"m.py\":\"\"},\"python\":\">=3.6\",\"forms\":[\"wheel\",\"sdist\"]},"
	"{\"name\":\"a-b-c\",\"version\":\"1.0\",\"variant\":\"x\",\"files\":{\"m.py\":\"1\"},\"unpublished\":true},"
	"{\"name\":\"a-b-c\",\"version\":\"1.1\",\"files\":{\"m.py\":\"2\"},\"unpublished\":true},"
	"{\"name\":\"raw\",\"version\":\"1\",\"filename\":\"raw-1.tar.gz\",\"bytes\":\"AP8=\",\"yanked\":\"a \\\"b\\\"\"},"
	"{\"name\":\"@t/p\",\"version\":\"1.9.0\",\"ecosystem\":\"npm\",\"files\":{\"index.js\":\"\"},\"requires\":[\"@t/q@^1\",\"r\"]},"
	"{\"name\":\"@t/p\",\"version\":\"1.10.0\",\"ecosystem\":\"npm\",\"files\":{\"index.js\":\"\"}},"
	"{\"name\":\"@t/p\",\"version\":\"2.0.0-rc1\",\"ecosystem\":\"npm\",\"files\":{\"index.js\":\"\"},\"unpublished\":true}]}";

#define GET(path, code, says)                                                                      \
	{                                                                                          \
		"GET", path, NULL, NULL, NULL, code, false, says                                   \
	}
#define GET_JSON(path, code, says)                                                                 \
	{                                                                                          \
		"GET", path, NULL, NULL, NULL, code, false, says, JSON_TYPE                        \
	}

static void test_pages(void)
{
	struct service *s = made(text);

	/* clang-format off */
	PLAY(s,
	     GET("/simple/", 200, "<a href=\"/simple/a-b-c/\">a-b-c</a><br>\n<a href=\"/simple/raw/\">"),
	     GET_JSON("/simple", 200, "{\"projects\":[{\"name\":\"a-b-c\"},{\"name\":\"raw\"}],\"meta\":{\"api-version\":\"1.0\"}}"),
	     GET("/simple/a-b-c/", 200, "/files/a-b-c/a_b_c-1.0-py3-none-any.whl#sha256="),
	     GET("/simple/a-b-c/", 200, "data-requires-python=\"&#62;=3.6\">a_b_c-1.0.tar.gz"),
	     GET("/simple/A..b__c", 200, "a_b_c-1.0.tar.gz"),
	     GET_JSON("/simple/a%2db-c/", 200, "\"url\":\"/files/a-b-c/a_b_c-1.0.tar.gz\""),
	     GET("/simple/raw/", 200, "data-yanked=\"a &#34;b&#34;\""),
	     GET_JSON("/simple/raw/", 200, "\"yanked\":\"a \\\"b\\\"\""),
	     GET("/files/raw/raw-1.tar.gz", 200, ""),
	     GET("/files/a-b-c/raw-1.tar.gz", 404, "nothing here"),
	     GET("/files/raw", 404, "nothing here"),
	     GET("/simple/none/", 404, "nothing here"),
	     GET("/simple/%zz/", 400, "the path is none"),
	     GET("/simple/%00/", 400, "the path is none"),
	     GET("/simples/", 404, "nothing here"),
	     { "POST", "/npm/-/npm/v1/security/audits", NULL, NULL, "{}", 405, false, "use GET" },
	     GET("/npm/@t%2fp", 200, "\"dist-tags\":{\"latest\":\"1.10.0\"}"),
	     GET("/npm/@t/p", 200, "\"dependencies\":{\"@t/q\":\"^1\",\"r\":\"*\"},\"dist\":{\"tarball\":\"http://127.0.0.1:8082/npm/@t/p/-/p-1.9.0.tgz\""),
	     GET("/npm/@t/p/-/p-1.9.0.tgz", 200, "\x1f\x8b"),
	     GET("/npm/@t/p/-/p-2.0.0-rc1.tgz", 404, "nothing here"),
	     GET("/npm/raw", 404, "nothing here"));
	/* clang-format on */
	service_free(s);
}

static void refuse(struct service *s, const char *effect, const char *says)
{
	struct err err = { 0 };

	tap_ok(change(s, effect, &err) == -ERR_INPUT && strstr(err.text, says), "refused: %s",
	       err.text);
}

static void test_effects(void)
{
	struct service *s = made(text);
	auto_buf b = BUF_INIT(4096);
	struct json_w w = { .b = &b };

	/* clang-format off */
	changed(s, "{\"name\":\"i\",\"publish\":{\"package\":\"A.b.c\",\"version\":\"1.1\"}}");
	changed(s, "{\"name\":\"i\",\"replace\":{\"package\":\"a-b-c\",\"version\":\"1.0\",\"variant\":\"x\"}}");
	PLAY(s,
	     GET("/simple/a-b-c/", 200, "a_b_c-1.1-py3"),
	     GET("/files/a-b-c/a_b_c-1.0.tar.gz", 404, NULL),
	     GET("/files/a-b-c/a_b_c-1.0-py3-none-any.whl", 200, "PK"));
	changed(s, "{\"name\":\"i\",\"yank\":{\"package\":\"a-b-c\",\"version\":\"1.1\"}}");
	PLAY(s, GET_JSON("/simple/a-b-c/", 200, "\"yanked\":true"));
	changed(s, "{\"name\":\"i\",\"yank\":{\"package\":\"@t/p\",\"version\":\"1.10.0\",\"reason\":\"bad\"}}");
	PLAY(s, GET("/npm/@t/p", 200, "\"latest\":\"1.9.0\""), GET("/npm/@t/p", 200, "\"deprecated\":\"bad\""));
	changed(s, "{\"name\":\"i\",\"publish\":{\"package\":\"@t/p\",\"version\":\"2.0.0-rc1\"}}");
	PLAY(s, GET("/npm/@t/p", 200, "\"latest\":\"2.0.0-rc1\""));
	changed(s, "{\"name\":\"i\",\"remove\":{\"package\":\"a-b-c\"}}");
	PLAY(s, GET("/simple/a-b-c/", 404, NULL), GET_JSON("/simple/", 200, "{\"projects\":[{\"name\":\"raw\"}]"));
	refuse(s, "{\"name\":\"i\",\"remove\":{\"package\":\"a-b-c\"}}", "there is no a-b-c");
	refuse(s, "{\"name\":\"i\",\"publish\":{\"package\":\"raw\",\"version\":\"1\"}}", "published already");
	refuse(s, "{\"name\":\"i\",\"publish\":{\"package\":\"raw\"}}", "no package");
	refuse(s, "{\"name\":\"i\",\"replace\":{\"package\":\"raw\",\"version\":\"1\"}}", "no other variant");
	refuse(s, "{\"name\":\"i\",\"yank\":{\"package\":\"raw\"}}", "without a version");
	refuse(s, "{\"name\":\"i\",\"yank\":{\"package\":\"raw\",\"version\":\"1\",\"reason\":\"a\\nb\"}}", "one line");
	refuse(s, "{\"name\":\"i\",\"yank\":{\"package\":\"raw\",\"version\":\"1\"},\"remove\":{\"package\":\"raw\"}}", "at a time");
	/* clang-format on */
	json_open(&w, NULL, '{');
	service_summary(s, &w);
	json_close(&w, '}');
	tap_ok(strstr(buf_str(&b), "\"version\":\"7\",\"published\":[\"raw 1 (yanked)\""),
	       "the state at the end: %s", buf_str(&b));
	service_free(s);
}

/* The digest of a file, as its page says it. */
static void digest_of(const char *declared, char out[65])
{
	auto_free char *all =
		mem_printf("{\"name\":\"i\",\"kind\":\"index\",\"port\":8082,\"packages\":[%s]}",
			   declared);
	struct service *s = made(all);
	struct service_answer a = { .body = BUF_INIT(SERVICE_BODY_MAX) };
	struct service_request q = { .method = "GET", .path = "/simple/m/", .body = "" };
	const char *at;

	service_answer(s, &q, &a);
	at = strstr(buf_str(&a.body), "#sha256=");
	snprintf(out, 65, "%.64s", at ? at + 8 : "");
	buf_done(&a.body);
	service_free(s);
}

/* Bytes that pip's hashes are made of are the same on every machine and in every time zone. */
static void test_bytes(void)
{
	static const char *const zones[] = { "UTC", "Pacific/Kiritimati", "America/Adak" };

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		char wheel[65], sdist[65];

		setenv("TZ", zones[i], 1);
		digest_of("{\"name\":\"m\",\"version\":\"1\",\"files\":{\"m.py\":\"X = 1\\n\"}}",
			  wheel);
		digest_of(
			"{\"name\":\"m\",\"version\":\"1\",\"files\":{\"m.py\":\"X = 1\\n\"},\"forms\":[\"sdist\"]}",
			sdist);
		tap_is_str(wheel,
			   "27dbe17bafa2d3a9d78eeb580b38d7d838208fb478fbff68f808561665c49aa4",
			   zones[i]);
		tap_is_str(sdist,
			   "3dde0b85f79de6a84c8655e637511c76ba3570d4d3517642b3d3b1d6e00ec962",
			   zones[i]);
	}
}

static void test_refused(void)
{
	/* clang-format off */
	static const struct {
		const char *package, *says;
	} rows[] = {
		{ "", "packages: 1 to" },
		{ "{\"name\":\"a b\",\"version\":\"1\",\"files\":{}}", "must be of A-Z" },
		{ "{\"name\":\"-a\",\"version\":\"1\",\"files\":{}}", "must be of A-Z" },
		{ "{\"name\":\"@x\",\"version\":\"1\",\"ecosystem\":\"npm\",\"files\":{}}", "must be of A-Z" },
		{ "{\"name\":\"@x/../y\",\"version\":\"1\",\"ecosystem\":\"npm\",\"files\":{}}", "must be of A-Z" },
		{ "{\"name\":\"a\",\"version\":\"one\",\"files\":{}}", "is none, such as" },
		{ "{\"name\":\"a\",\"version\":\"1\"}", "a package has \"from\"" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"files\":{},\"bytes\":\"\"}", "a package has \"from\"" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"files\":{\"x\":1}}", "relative path" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"files\":{\"/x\":\"\"}}", "relative path" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"files\":{},\"python\":\"1\\n2\"}", "one line each" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"files\":{},\"requires\":[\"\"]}", "one line each" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"files\":{},\"ecosystem\":\"pyton\"}", "did you mean \"python\"" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"files\":{}},{\"name\":\"A\",\"version\":\"1\",\"variant\":\"b\",\"files\":{}}", "is there twice" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"filename\":\"a/b\",\"bytes\":\"\"}", "filename" },
		{ "{\"name\":\"a\",\"version\":\"1\",\"filename\":\"a\",\"bytes\":\"x\"}", "no base64" },
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *all = mem_printf(
			"{\"name\":\"i\",\"kind\":\"index\",\"port\":8082,\"packages\":[%s]}",
			rows[i].package);
		struct service *s = NULL;
		struct err err = { 0 };

		tap_ok(make(all, &s, &err) == -ERR_INPUT && !s && strstr(err.text, rows[i].says),
		       "refused: %s", err.text);
	}
}

int main(void)
{
	test_pages();
	test_effects();
	test_bytes();
	test_refused();
	return tap_done();
}
