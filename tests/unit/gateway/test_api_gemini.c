/* Gemini generateContent. */
#include "tests/unit/gateway/api_scene.h"

#define PATH "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"

#define BODY                                                                                             \
	"{\"contents\":[{\"parts\":[{\"text\":\"Today's date is Monday\"},{\"text\":\"Fix\"}],"          \
	"\"role\":\"user\"},{\"parts\":[{\"text\":\"I\",\"thought\":true},{\"functionCall\":{\"id\":"    \
	"\"fc_1\",\"args\":{\"file_path\":\"a\"},\"name\":\"read_file\"},\"thoughtSignature\":\"c2\"}]," \
	"\"role\":\"model\"},{\"parts\":[{\"functionResponse\":{\"name\":\"read_file\",\"response\":"    \
	"{\"output\":\"one\\u0000\"},\"id\":\"fc_1\"}}],\"role\":\"user\"},"                             \
	"{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}}},"         \
	"{\"functionCall\":{\"name\":\"g\",\"args\":{}}},{\"functionCall\":{\"name\":\"f\",\"args\":"    \
	"{\"x\":2}}}]},{\"role\":\"function\",\"parts\":[{\"functionResponse\":{\"name\":\"f\","         \
	"\"response\":{\"n\":1}}},{\"functionResponse\":{\"name\":\"f\",\"response\":{\"n\":2}}},"       \
	"{\"functionResponse\":{\"name\":\"g\",\"response\":{\"n\":3}}}]}],"                             \
	"\"systemInstruction\":{\"parts\":[{\"text\":\"Be.\"}],\"role\":\"user\"},"                      \
	"\"tools\":[{\"functionDeclarations\":[{\"name\":\"read_file\"},{\"name\":\"f\"}]}],"            \
	"\"generationConfig\":{\"temperature\":1,\"maxOutputTokens\":77}}"

static void reading(void)
{
	struct api_request q;
	auto_free char *items = NULL;
	struct buf b = BUF_INIT(10000);

	scene_read(&q, AGENT_API_GEMINI, PATH, BODY);
	tap_is_str(q.model, "gemini-2.5-pro", "the model stands in the path");
	tap_ok(q.stream && !q.list && q.max_output == 77 && q.tools == 2, "stream, tokens, tools");
	tap_is_u64(q.n_items, 10, "items");
	tap_is_str(q.items[2].id, "fc_1", "an id that is given");
	tap_is_str(q.items[3].id, "fc_1", "is that of the response");
	tap_is_str(q.items[3].text, "one\xef\xbf\xbd", "text of a response");
	tap_is_str(q.items[7].id, q.items[4].id, "ids that are not: by name and order");
	tap_is_str(q.items[8].id, q.items[6].id, "the second of that name");
	tap_is_str(q.items[9].id, q.items[5].id, "another name");
	tap_ok(!str_eq(q.items[4].id, q.items[6].id), "and they differ");
	for (size_t i = 0; i < q.n_items; i++)
		buf_addf(&b, "%u%c ", q.items[i].entry, "SUACRO"[q.items[i].kind]);
	items = buf_steal(&b, NULL);
	tap_is_str(items, "0U 1A 1C 2R 3C 3C 3C 4R 4R 4R ", "kinds");
	api_request_done(&q);
	scene_read(&q, AGENT_API_GEMINI, "/v1beta/models/g:streamGenerateContent",
		   "{\"contents\":[]}");
	tap_ok(!q.stream && q.list, "without alt=sse it is a list");
	api_request_done(&q);
	scene_read(&q, AGENT_API_GEMINI, "/v1beta/models/g:countTokens",
		   "{\"generateContentRequest\":{\"contents\":[{\"parts\":[{\"text\":\"x\"}]}]}}");
	tap_is_u64(q.n_items, 1, "a count wraps the request");
	api_request_done(&q);
}

#define OURS "{\"role\":\"user\",\"parts\":[{\"text\":\"X\"}]}"

static void placing(void)
{
	static const struct {
		size_t after;
		const char *behind;
	} rows[] = {
		{ 0, "\"role\":\"user\"}," OURS ",{\"parts\":[{\"text\":\"I\"" },
		{ 1, "\"fc_1\"}}],\"role\":\"user\"}," OURS ",{\"role\":\"model\"" },
		{ 3, "\"fc_1\"}}],\"role\":\"user\"}," OURS ",{\"role\":\"model\"" },
		{ 5, "{\"n\":3}}}]}," OURS "]" },
		{ 99, "{\"n\":3}}}]}," OURS "]" },
	};
	struct api_request q;

	scene_read(&q, AGENT_API_GEMINI, PATH, BODY);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = scene_place(&q, rows[i].after, "X");

		tap_ok(strstr(got, rows[i].behind), "message behind item %zu", rows[i].after);
		tap_ok(strstr(got, "one\\u0000"), "  other bytes as sent");
	}
	api_request_done(&q);
}

static void stripping(void)
{
	struct api_request q;
	struct api_strip what[9];
	size_t n;

	scene_read(
		&q, AGENT_API_GEMINI, PATH,
		"{\"contents\":[{\"role\":\"user\",\"parts\":[{\"fileData\":{\"fileUri\":"
		"\"https://e.org/v\"}},{\"file_data\":{\"file_uri\":\"gs://b/o\"}},{\"inlineData\":"
		"{\"mimeType\":\"image/png\",\"data\":\"AA==\"}},{\"functionResponse\":{\"name\":\"f\","
		"\"parts\":[{\"fileData\":{\"fileUri\":\"https://e.org/w\"}}]}}]}],"
		"\"tools\":[{\"googleSearch\":{}},{\"url_context\":{}},{\"functionDeclarations\":[],"
		"\"codeExecution\":{}}],\"toolConfig\":{}}");
	auto_free char *got = scene_strip(&q, &n, what, 9);
	tap_is_u64(n, 6, "taken out");
	tap_is_str(what[0].what, "tool googleSearch", "told");
#define GONE "{\"text\":\"[removed: remote URL]\"}"
	tap_is_str(
		got,
		"{\"contents\":[{\"role\":\"user\",\"parts\":[" GONE "," GONE ",{\"inlineData\":"
		"{\"mimeType\":\"image/png\",\"data\":\"AA==\"}},{\"functionResponse\":{\"name\":"
		"\"f\",\"parts\":[" GONE "]}}]}],\"tools\":[{\"functionDeclarations\":[]}],"
		"\"toolConfig\":{}}",
		"stripped");
	api_request_done(&q);
	scene_read(&q, AGENT_API_GEMINI, PATH,
		   "{\"contents\":[],\"tools\":[{\"googleSearch\":{}}],\"toolConfig\":{}}");
	auto_free char *none = scene_strip(&q, &n, what, 9);
	tap_is_str(none, "{\"contents\":[]}", "an empty list goes with its settings");
	api_request_done(&q);
}

static void capping(void)
{
	static const struct {
		const char *body, *want;
	} rows[] = {
		{ "{\"contents\":[]}",
		  "{\"contents\":[],\"generationConfig\":{\"maxOutputTokens\":50}}" },
		{ "{\"contents\":[],\"generationConfig\":{\"maxOutputTokens\":77}}",
		  "{\"contents\":[],\"generationConfig\":{\"maxOutputTokens\":50}}" },
		{ "{\"contents\":[],\"generation_config\":{\"max_output_tokens\":77}}",
		  "{\"contents\":[],\"generation_config\":{\"max_output_tokens\":50}}" },
		{ "{\"contents\":[],\"generationConfig\":null}",
		  "{\"contents\":[],\"generationConfig\":{\"maxOutputTokens\":50}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request q;

		scene_read(&q, AGENT_API_GEMINI, PATH, rows[i].body);
		auto_free char *got = scene_cap(&q, 50);
		tap_is_str(got, rows[i].want, "capped");
		api_request_done(&q);
	}
}

#define C(parts, rest)                                                                             \
	"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}" rest "}]"
#define USAGE                                                                                      \
	",\"usageMetadata\":{\"promptTokenCount\":1000,\"cachedContentTokenCount\":400,"           \
	"\"candidatesTokenCount\":50,\"thoughtsTokenCount\":20,\"totalTokenCount\":1070}"

/* clang-format off */
static const struct scene_answer answers[] = {
	{ "thoughts are output too; usage is in every chunk",
	  C("{\"text\":\"hm\",\"thought\":true}", "") ",\"usageMetadata\":{\"promptTokenCount\":1000,"
	  "\"thoughtsTokenCount\":20,\"totalTokenCount\":1020}}\n\n" C("{\"text\":\"He\"}", "") "}\n\n"
	  C("{\"text\":\"y\"}", ",\"finishReason\":\"STOP\"") USAGE ",\"modelVersion\":\"m\"}\n\n",
	  true, "stop Hey", "1000/400/0/70/20" },
	{ "calls", C("{\"functionCall\":{\"id\":\"i\",\"name\":\"f\",\"args\":{\"x\":1}}},{\"functionCall\":"
	  "{\"name\":\"g\"}}", ",\"finishReason\":\"STOP\"") "}\n\n", true, "tools - f({\"x\":1})i g({})",
	  "unknown" },
	{ "tokens of the provider's tools are input", C("{\"text\":\"x\"}", ",\"finishReason\":\"STOP\"")
	  ",\"usageMetadata\":{\"promptTokenCount\":10,\"toolUsePromptTokenCount\":5,"
	  "\"candidatesTokenCount\":3}}\n\n", true, "stop x", "15/0/0/3/0" },
	{ "cut", C("{\"text\":\"x\"}", "") "}\n\n", true, "cut: no candidate of the answer has a finishReason",
	  "unknown" },
	{ "length", C("{\"text\":\"x\"}", ",\"finishReason\":\"MAX_TOKENS\"") "}\n\n", true, "length x", "unknown" },
	{ "safety", C("", ",\"finishReason\":\"SAFETY\"") "}\n\n", true, "filter -", "unknown" },
	{ "malformed call", C("", ",\"finishReason\":\"MALFORMED_FUNCTION_CALL\"") "}\n\n", true, "other -",
	  "unknown" },
	{ "blocked prompt", "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n", true, "filter -",
	  "unknown" },
	{ "error event", C("{\"text\":\"x\"}", "") "}\n\ndata: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n",
	  true, "cut: the stream broke off with an error: busy", "unknown" },
	{ "error body", "{\"error\":{\"code\":400,\"message\":\"no\",\"status\":\"X\"}}", true, "error: no",
	  "unknown" },
	{ "body", "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}]"
	  USAGE "}", false, "stop hi", "1000/400/0/70/20" },
	{ "list of chunks", "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n,\n"
	  "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"}]},\"finishReason\":\"STOP\"}]" USAGE "}]",
	  false, "stop ab", "1000/400/0/70/20" },
	{ "list that is cut", "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}]", false,
	  "cut: no candidate of the answer has a finishReason", "unknown" },
};
/* clang-format on */

static void writing(void)
{
	static const char said[] = "tools I look.\n\"so\" "
				   "read({\"path\":\"a \\\"b\\\"\",\"first\":100})"
				   "fc_000000000000000000070000 patch({\"x\":\"\xc3\xa9\\n\"})mine";
	struct api_request q;

	scene_read(&q, AGENT_API_GEMINI, PATH, BODY);
	auto_free char *stream = scene_write(&q, false, said);
	tap_ok(!strncmp(stream, "data: {\"candidates\"", 19), "one event without a name");
	q.stream = false;
	auto_free char *body = scene_write(&q, false, said);
	tap_ok(body[0] == '{', "a body");
	q.list = true;
	auto_free char *list = scene_write(&q, false, said);
	tap_ok(list[0] == '[', "a list");
	auto_buf out = BUF_INIT(1000);
	q.api->error(429, "m", &out);
	tap_is_str(buf_str(&out),
		   "{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"RESOURCE_EXHAUSTED\"}}",
		   "error");
	buf_clear(&out);
	q.api->count(5, &out);
	tap_is_str(buf_str(&out), "{\"totalTokens\":5}", "count");
	buf_clear(&out);
	q.api->models("m", &out);
	tap_ok(strstr(buf_str(&out), "\"name\":\"models/m\""), "models");
	api_request_done(&q);
}

#define RUN(date, id, text)                                                                        \
	"{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Today's date is " date           \
	" (as\"},"                                                                                 \
	"{\"text\":\"" text "\"}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":"      \
	"\"read_file-" id                                                                          \
	"\",\"name\":\"read_file\",\"args\":{}}}]},{\"role\":\"user\",\"parts\":"                  \
	"[{\"functionResponse\":{\"id\":\"read_file-" id                                           \
	"\",\"name\":\"read_file\",\"response\":{}}}]}]}"

int main(void)
{
	reading();
	placing();
	stripping();
	capping();
	scene_answers(AGENT_API_GEMINI, answers, ARRAY_SIZE(answers));
	writing();
	scene_canon(AGENT_API_GEMINI, PATH, RUN("Monday, November 30, 2026", "1796025721-ab", "a"),
		    RUN("Tuesday, December 1, 2026", "1796025999-cd", "a"),
		    RUN("Tuesday, December 1, 2026", "1796025999-cd", "a "),
		    "$.contents[0].parts[1].text: recorded \"a\", now \"a \"");
	return tap_done();
}
