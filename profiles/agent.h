/* An agent: a command line, the model API it speaks, and how a message reaches it. */
#ifndef PROFILES_AGENT_H
#define PROFILES_AGENT_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum agent_api {
	AGENT_API_NONE,
	AGENT_API_CHAT,
	AGENT_API_RESPONSES,
	AGENT_API_ANTHROPIC,
	AGENT_API_GEMINI
};

enum agent_message_via { VIA_GATEWAY, VIA_STDIN, VIA_PTY, VIA_FILE, VIA_EXEC };

struct agent {
	char *file; /* where it was read from, NULL for an agent made from argv */
	char *name;
	struct strv command; /* argv with {problem_statement} {model} {base_url} {key} {workdir};
			      * a leading "~/" is the box's HOME */
	int api;             /* enum agent_api */
	struct strv env;     /* "KEY=value", same templates */
	char *base_url_env, *key_env;
	struct strv files;      /* "~/path in the box=template file beside the agent file" */
	struct strv file_texts; /* contents of those templates, same order, read at load */
	char *install;          /* raw JSON, shown by doctor */
	enum agent_message_via via;
	char *via_arg; /* path of VIA_FILE, command of VIA_EXEC; NULL otherwise */
};

/* Read a proctor.agent/1 text of @n bytes that came from @name (used in error texts and kept as
 * agent->file). @dir: directory that holds the template files; NULL: there are none.
 * 0 or -ERR_INPUT with position. Free with agent_free(). */
int agent_parse(const char *name, const char *text, size_t n, const char *dir, struct agent **ret,
		struct err *err);

/* Read a proctor.agent/1 file. 0 or -ERR_INPUT with position. Free with agent_free(). */
int agent_load(const char *path, struct agent **ret, struct err *err);

/* An agent that is just @argv (NULL-terminated), no API, messages through stdin. */
struct agent *agent_from_argv(char *const *argv);

/* "none", "openai-chat", ... as in files. Static. */
const char *agent_api_name(enum agent_api api);

/* "gateway", "stdin", "pty", "file:", "exec:" as in files, without the argument. Static. */
const char *agent_via_name(enum agent_message_via via);

/* Free; NULL is fine. Returns NULL. */
struct agent *agent_free(struct agent *a);

#endif
