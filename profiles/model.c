#include "profiles/model.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"

#define SPEC_MAX   4096 /* bytes of a --model */
#define NAME_BYTES 200  /* bytes of a model's name */

struct form {
	const char *prefix;
	enum model_kind kind;
	bool loose;
};

/* clang-format off */
static const struct form forms[] = {
	{ "script:",       MODEL_SCRIPT, false },
	{ "replay:",       MODEL_REPLAY, false },
	{ "replay-loose:", MODEL_REPLAY, true },
	{ "resume:",       MODEL_RESUME, true },
	{ "resume-same:",  MODEL_RESUME, false },
};

static const char *const prefixes[] = { "script", "replay", "replay-loose", "resume", "resume-same", "http", "https", NULL };

/* In the order of enum model_kind. */
static const char *const kind_names[] = { "live", "script", "replay", "resume" };
/* clang-format on */

const char *model_kind_name(enum model_kind kind)
{
	return kind_names[kind];
}

struct model *model_free(struct model *m)
{
	while (m) {
		struct model *then = m->then;

		free(m->spec);
		free(m->name);
		free(m->url);
		free(m->file);
		free(m->text);
		free(m);
		m = then;
	}
	return NULL;
}

/* Set @err to "--model SPEC: text". */
static int complain(const struct model *m, struct err *err, const char *text)
{
	return err_set(err, ERR_USAGE, "%s %.200s: %s", m->option, m->spec, text);
}

/* Printable and without blanks: it becomes part of a URL or a JSON text, and is shown. */
static bool plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"<>\\^`{|}", s[i]))
			return false;
	}
	return true;
}

static bool name_fits(const char *name)
{
	size_t n = strlen(name);

	return n && n <= NAME_BYTES && plain(name, n) && name[0] != '-';
}

static int take_name(struct model *m, const char *name, struct err *err)
{
	size_t colon = strcspn(name, ":");
	auto_free char *first = mem_strndup(name, colon);
	const char *near = name[colon] ? str_nearest(first, prefixes) : NULL;

	if (near && strcmp(near, first) == 0)
		return complain(m, err, "a URL begins with https:// or http://");
	if (near)
		return err_set(err, ERR_USAGE,
			       "%s %.200s: there is no form \"%s:\", did you mean \"%s:\"?",
			       m->option, m->spec, first, near);
	if (!name_fits(name))
		return complain(m, err,
				"a model's name has 1 to 200 printable characters without blanks");
	m->name = mem_strdup(name);
	return 0;
}

/* Host of a URL that is this machine by its spelling; nothing is looked up. */
static bool loopback(const char *host)
{
	struct in_addr a4;
	struct in6_addr a6;

	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host, &a4) == 1)
		return ntohl(a4.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, host, &a6) == 1 && IN6_IS_ADDR_LOOPBACK(&a6);
}

static bool name_ok(const char *host)
{
	size_t n = 0;

	while (isalnum((unsigned char)host[n]) || (host[n] && strchr("-._", host[n])))
		n++;
	return n > 0 && n < 254 && !host[n] && isalnum((unsigned char)host[0]);
}

/* "HOST[:PORT]" of @n bytes; *ret_loopback says whether it is this machine. NULL, or what is wrong.
 * A user in front of "@" fails as a host name: such a URL would put a key into the plan. */
static const char *check_authority(const char *s, size_t n, bool *ret_loopback)
{
	bool v6 = n > 0 && *s == '[';
	const char *end = v6 ? memchr(s, ']', n) : memchr(s, ':', n);
	size_t len = end ? (size_t)(end - s) : n;
	auto_free char *host = mem_strndup(s + v6, len - v6), *port = NULL;
	struct in6_addr a6;
	uint64_t v;

	if (memchr(s, '@', n))
		return "a URL must not hold a user or a key; keys come from the environment";
	if (v6 && (!end || inet_pton(AF_INET6, host, &a6) != 1))
		return "the address in brackets is not an IPv6 address";
	if (!v6 && !name_ok(host))
		return "the URL has no host; an example is http://127.0.0.1:8000/v1";
	*ret_loopback = loopback(host);
	len += v6;
	if (len == n)
		return NULL;
	port = mem_strndup(s + len + 1, n - len - 1);
	if (s[len] != ':' || str_u64(port, &v) < 0 || v == 0 || v > 65535)
		return "the port of the URL is not a number from 1 to 65535";
	return NULL;
}

static int take_url(struct model *m, const char *url, struct err *err)
{
	size_t n = strcspn(url, "#"), scheme = strcspn(url, ":"), authority;
	bool tls = scheme == 5 && strncasecmp(url, "https", 5) == 0, here = false;
	const char *host = url + scheme + strlen("://"), *wrong;

	if (!tls && !(scheme == 4 && strncasecmp(url, "http", 4) == 0))
		return complain(m, err, "a URL begins with https:// or http://");
	if (!plain(url, n) || memchr(url, '?', n))
		return complain(m, err, "a URL has no blanks, no query and no quotes");
	authority = strcspn(host, "/#");
	wrong = check_authority(host, authority, &here);
	if (wrong)
		return complain(m, err, wrong);
	if (!tls && !here)
		return complain(m, err,
				"http would send the key over the network in the clear; use https, "
				"or http to this machine (127.0.0.1, localhost, [::1])");
	if (url[n] && take_name(m, url + n + 1, err) < 0)
		return -ERR_USAGE;
	while (n > 0 && url[n - 1] == '/')
		n--;
	m->url = mem_strndup(url, n);
	return 0;
}

/* Read the file named by @name, or the record in the run directory of that name. */
static int take_file(struct model *m, const char *name, const char *cwd, struct err *err)
{
	auto_buf b = BUF_INIT(MODEL_FILE_MAX);
	struct stat st;
	int rc;

	if (!*name)
		return complain(m, err, "the name of the file is missing");
	m->file = strcmp(name, "-") == 0 ? mem_strdup(name) : path_join(cwd, name);
	if (m->kind >= MODEL_REPLAY && stat(m->file, &st) == 0 && S_ISDIR(st.st_mode)) {
		char *inside = path_join(m->file, m->record);

		free(m->file);
		m->file = inside;
	}
	rc = fd_read_file(m->file, &b, err);
	if (rc < 0)
		return err_wrap(err, "%s %.200s", m->option, m->spec);
	m->text = buf_steal(&b, &m->text_n);
	return 0;
}

/* The "@N" of "FILE@N" or "FILE@N+MODEL": the first "@" with digits up to the end or a "+".
 * NULL when there is none, so that names of files may hold "@". */
static const char *find_count(const char *s)
{
	for (s = strchr(s, '@'); s; s = strchr(s + 1, '@')) {
		size_t n = strspn(s + 1, "0123456789");

		if (n && (!s[n + 1] || s[n + 1] == '+'))
			return s;
	}
	return NULL;
}

/* The agent is told the model of the recorded run, or its requests would differ from the record:
 * "model" of the first line. NULL when that line does not say. */
static char *recorded_name(const struct model *m)
{
	const char *end = memchr(m->text, '\n', m->text_n);
	struct json_src src = { 0 };
	const char *name;
	char *ret = NULL;

	if (!end || json_parse(m->file, m->text, (size_t)(end - m->text), &src, NULL) < 0)
		return NULL;
	name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "model"));
	if (name && name_fits(name))
		ret = mem_strdup(name);
	json_src_done(&src);
	return ret;
}

static int parse(const struct model *like, const char *spec, const char *cwd, bool nested,
		 struct model **ret, struct err *err);

static int take_replay(struct model *m, const char *s, const char *cwd, struct err *err)
{
	const char *at = find_count(s);
	auto_free char *name = mem_strndup(s, at ? (size_t)(at - s) : strlen(s)), *count = NULL;
	int rc = 0;

	m->upto = UINT64_MAX;
	if (at) {
		const char *plus = at + 1 + strspn(at + 1, "0123456789");

		count = mem_strndup(at + 1, (size_t)(plus - at - 1));
		if (str_u64(count, &m->upto) < 0 || m->upto == UINT64_MAX)
			return complain(m, err, "the number behind @ is too large");
		if (*plus)
			rc = parse(m, plus + 1, cwd, true, &m->then, err);
	}
	if (rc == 0 && m->kind == MODEL_RESUME && !m->then)
		rc = complain(m, err,
			      "give \"@CALL+MODEL\": which request goes on, and who answers");
	if (rc == 0)
		rc = take_file(m, name, cwd, err);
	if (rc == 0)
		m->name = recorded_name(m);
	if (rc == 0 && m->then && !m->name)
		m->name = mem_strdup(m->then->name);
	return rc;
}

static const struct form *form_of(const char *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (str_starts(spec, forms[i].prefix))
			return forms + i;
	}
	return NULL;
}

/* For the option of @like. @nested: behind "@N+", where no replay may stand; the recursion is one level
 * deep. */
static int parse(const struct model *like, const char *spec, const char *cwd, bool nested,
		 struct model **ret, struct err *err)
{
	const struct form *f = form_of(spec);
	struct model *m = mem_zalloc(1, sizeof(*m));
	int rc;

	m->option = like->option;
	m->record = like->record;
	m->spec = mem_strdup(spec);
	m->kind = f ? f->kind : MODEL_LIVE;
	if (strlen(spec) > SPEC_MAX)
		rc = complain(m, err, "longer than 4096 bytes");
	else if (nested && m->kind >= MODEL_REPLAY)
		rc = complain(m, err, "a replay cannot follow a replay");
	else if (m->kind == MODEL_RESUME && !str_eq(m->option, "--model"))
		rc = complain(m, err, "only an agent has a session that can be taken up again");
	else if (m->kind >= MODEL_REPLAY) {
		m->loose = f->loose;
		rc = take_replay(m, spec + strlen(f->prefix), cwd, err);
	} else if (f)
		rc = take_file(m, spec + strlen(f->prefix), cwd, err);
	else if (strstr(spec, "://"))
		rc = take_url(m, spec, err);
	else
		rc = take_name(m, spec, err);
	if (rc == 0)
		*ret = take_ptr(&m);
	model_free(m);
	return rc;
}

int model_parse_for(const char *option, const char *record, const char *spec, const char *cwd,
		    struct model **ret, struct err *err)
{
	const struct model like = { .option = option, .record = record };

	return parse(&like, spec, cwd, false, ret, err);
}

int model_parse(const char *spec, const char *cwd, struct model **ret, struct err *err)
{
	return model_parse_for("--model", "model.jsonl", spec, cwd, ret, err);
}
