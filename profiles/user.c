#include "profiles/user.h"

#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "profiles/input_internal.h"
#include "profiles/rows_internal.h"

#define OFF(field) offsetof(struct user, field)

/* clang-format off */
const struct json_field user_rows[] = {
	{ "argv", JSON_STRV, OFF(argv), .doc = "program and arguments, started in /user" },
	{ "files", JSON_STRV, OFF(files), .doc = "files beside the scenario that stand in /user" },
	{ "prompt", JSON_STR, OFF(prompt_file), .doc = "file beside the scenario: system prompt of the model behind --simulator, instead of a program" },
	{ "messages", JSON_U64, OFF(messages), .doc = "messages that it may say, 1 to 100, default 5" },
	{ "every", JSON_U64, OFF(every), .doc = "asked at every n-th request to the model, default 1" },
	{ "wait", JSON_DURATION, OFF(wait), .doc = "how long an answer is waited for, at most 10m, default 20s" },
	{ "view", JSON_BOOL, OFF(view), .doc = "it sees the workspace, read-only, default true" },
	{ NULL },
};
/* clang-format on */

struct user *user_free(struct user *u)
{
	if (!u)
		return NULL;
	strv_done(&u->argv);
	strv_done(&u->files);
	strv_done(&u->texts);
	free(u->prompt);
	free(u->prompt_file);
	free(u);
	return NULL;
}

/* Contents of @name beside the scenario: below @max bytes. */
static int read_text(const struct json_src *src, const char *where, const char *dir,
		     const char *name, size_t max, char **ret, struct err *err)
{
	auto_free char *path = NULL;
	auto_fd int fd = -1;
	size_t bad;
	int rc;

	if (!dir)
		return json_complain(src, where, err, "\"%s\": a file cannot be named here", name);
	path = input_path(dir, name);
	fd = open(path, INPUT_OPEN_FLAGS);
	rc = input_file(src, where, fd, path, ret, err);
	if (rc == 0 && strlen(*ret) > max)
		rc = json_complain(src, where, err, "%s has more than %zu bytes", path, max);
	if (rc == 0 && !str_utf8(*ret, strlen(*ret), &bad))
		rc = json_complain(src, where, err, "%s is not UTF-8", path);
	return rc;
}

static int read_files(const struct json_src *src, const char *where, const char *dir,
		      struct user *u, struct err *err)
{
	auto_free char *at = mem_printf("%s.files", where);

	if (u->files.n > USER_FILES_MAX)
		return json_complain(src, at, err, "more than %d files", USER_FILES_MAX);
	strv_each (i, &u->files) {
		char *text = NULL;
		int rc = input_check_id(src, at, u->files.v[i], err);

		if (rc == 0)
			rc = read_text(src, at, dir, u->files.v[i], USER_FILE_BYTES, &text, err);
		if (rc < 0) {
			free(text);
			return rc;
		}
		strv_take(&u->texts, text);
	}
	return 0;
}

static int read_prompt(const struct json_src *src, const char *where, const char *dir,
		       struct user *u, struct err *err)
{
	auto_free char *at = mem_printf("%s.prompt", where);
	auto_free char *name = take_ptr(&u->prompt_file);
	int rc = read_text(src, at, dir, name, USER_PROMPT_BYTES, &u->prompt, err);

	if (rc < 0)
		return rc;
	if (!u->prompt[strspn(u->prompt, " \t\r\n")])
		return json_complain(src, at, err, "the file is empty");
	u->prompt_file = input_path(dir, name);
	digest_bytes(u->prompt, strlen(u->prompt), u->prompt_sha256);
	return 0;
}

static int check(const struct json_src *src, const char *where, const struct user *u,
		 struct err *err)
{
	if ((u->argv.n > 0) == (u->prompt_file != NULL))
		return json_complain(
			src, where, err,
			"a user has either \"argv\", its program, or \"prompt\", what a "
			"model is told");
	if (u->argv.n && !u->argv.v[0][0])
		return json_complain(src, where, err, "\"argv\" begins with an empty word");
	if (u->prompt_file && u->files.n)
		return json_complain(src, where, err, "\"files\" are for a program (\"argv\")");
	if (u->messages < 1 || u->messages > USER_MESSAGES_MAX)
		return json_complain(src, where, err, "\"messages\" must be from 1 to %d",
				     USER_MESSAGES_MAX);
	if (u->every < 1)
		return json_complain(src, where, err, "\"every\" must be 1 or more");
	if (u->wait < CLOCK_MS || u->wait > USER_WAIT_MAX_S * CLOCK_SEC)
		return json_complain(src, where, err, "\"wait\" must be from 1ms to 10m");
	return 0;
}

int user_read(const struct json_src *src, const char *where, const char *dir, const cJSON *item,
	      struct user **ret, struct err *err)
{
	struct user *u = mem_zalloc(1, sizeof(*u));
	int rc;

	u->messages = 5;
	u->every = 1;
	u->wait = 20 * CLOCK_SEC;
	u->view = true;
	if (cJSON_IsObject(item))
		rc = json_read(src, where, item, user_rows, u, err);
	else
		rc = json_complain(src, where, err, "expected an object");
	if (rc == 0)
		rc = check(src, where, u, err);
	if (rc == 0)
		rc = read_files(src, where, dir, u, err);
	if (rc == 0 && u->prompt_file)
		rc = read_prompt(src, where, dir, u, err);
	if (rc == 0)
		*ret = take_ptr(&u);
	user_free(u);
	return rc;
}

void user_print(const struct user *u, struct json_w *w)
{
	char hex[DIGEST_HEX];

	if (!u)
		return;
	json_open(w, "user", '{');
	json_strings(w, "argv", u->argv.v, u->argv.n);
	json_open(w, "files", '[');
	strv_each (i, &u->files) {
		json_open(w, NULL, '{');
		json_str(w, "name", u->files.v[i]);
		json_str(w, "sha256", digest_bytes(u->texts.v[i], strlen(u->texts.v[i]), hex));
		json_close(w, '}');
	}
	json_close(w, ']');
	json_str(w, "prompt_sha256", u->prompt ? u->prompt_sha256 : NULL);
	json_u64(w, "messages", u->messages);
	json_u64(w, "every", u->every);
	json_u64(w, "wait_ns", u->wait);
	json_bool(w, "view", u->view);
	json_close(w, '}');
}
