/* An agent: a command line, the model API it speaks, and how a message reaches it. */
#ifndef PROFILES_AGENT_H
#define PROFILES_AGENT_H

#include <stdbool.h>

#include "base/buf.h"
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

enum agent_message_via { VIA_GATEWAY, VIA_STDIN, VIA_PTY, VIA_FILE, VIA_EXEC, VIA_NATIVE };

/* Steer protocols that agents have of their own: user messages go into the agent's transcript. */
enum agent_native {
	NATIVE_NONE,
	NATIVE_PI_RPC,
	NATIVE_CODEX_APP_SERVER,
	NATIVE_CLAUDE_STREAM_JSON
};

/* What {session} is: of the session file's name. */
enum agent_session_id {
	SESSION_NAME, /* without its extension */
	SESSION_UUID, /* the UUID at its end */
	SESSION_PATH  /* absolute path in the box */
};

#define AGENT_RESUME_PROMPT "Go on with the task."

/* What a tool of the agent does: scripts are written in these, and tool calls are read by them. */
enum agent_tool_kind {
	AGENT_TOOL_READ,
	AGENT_TOOL_EDIT,
	AGENT_TOOL_SHELL,
	AGENT_TOOL_WRITE,
	AGENT_TOOL_MAX
};

/* One tool of the agent: its name and its arguments as a template. Placeholders in string values:
 * {path} {abspath} {first} {last} {count} {offset0} {old} {new} {command} {content} {patch} (codex's
 * apply_patch text for an edit or a write); a value that is just a number placeholder ("{first}")
 * becomes a number. */
struct agent_tool {
	int kind;    /* enum agent_tool_kind */
	char *name;  /* as the model calls it */
	char *args;  /* raw JSON object with placeholders; for a custom tool a JSON string */
	bool custom; /* Responses: custom_tool_call with plain text input */
};

struct agent {
	char *file; /* where it was read from, NULL for an agent made from argv */
	char *name;
	struct strv command; /* argv with {problem_statement} {model} {base_url} {key} {workdir};
			      * a leading "~/" is the box's HOME */
	int api;             /* enum agent_api */
	struct strv env;     /* "KEY=value", same templates */
	char *base_url_env, *key_env; /* set by the plan when the agent has an API */
	struct strv files;            /* "~/path in the box=template file beside the agent file" */
	struct strv file_texts;       /* contents of those templates, same order, read at load */
	char *install;                /* raw JSON, shown by doctor */
	char *shipped;           /* "install.shipped": program that comes with us; NULL = none */
	char *package;           /* "install.npm": NAME@VERSION; NULL = nothing to look for */
	char *program;           /* "install.program": name of the program that the package has, or
				     * a path below the installation; NULL = that of command */
	char *install_name;      /* "install.name": directory of the installation below the agents'
				     * directory; NULL = name */
	struct json_array tools; /* of struct agent_tool */
	char *default_model;     /* {model} when --model names none; NULL = "model" */
	int native;              /* enum agent_native; command of native_command then */
	struct strv native_command; /* argv when message_via is native */
	struct strv
		resume_command; /* argv that takes a session up again; {session} and {prompt} beside the
				 * templates of command; empty = the agent cannot */
	char *resume_session; /* glob of its session files, below HOME */
	int resume_id;        /* enum agent_session_id */
	char *resume_prompt;  /* what it is told then; NULL = AGENT_RESUME_PROMPT */
	char *sandbox; /* how the agent's own sandbox is handled, one sentence; shown by doctor */
	enum agent_message_via via;
	char *via_arg; /* path of VIA_FILE, command of VIA_EXEC; NULL otherwise */
};

/* Read a proctor.agent/1 text of @n bytes that came from @name (used in error texts and kept as
 * agent->file). @dir: directory that holds the template files; NULL: there are none.
 * 0 or -ERR_INPUT with position. Free with agent_free(). */
int agent_parse(const char *name, const char *text, size_t n, const char *dir, struct agent **ret,
		struct err *err);

/* Read a proctor.agent/1 file; "extends" names another agent file or shipped agent that gives every
 * field not said here. 0 or -ERR_INPUT with position. Free with agent_free(). */
int agent_load(const char *path, struct agent **ret, struct err *err);

/* An agent that is just @argv (NULL-terminated), no API, messages through stdin. */
struct agent *agent_from_argv(char *const *argv);

/* "none", "openai-chat", ... as in files. Static. */
const char *agent_api_name(enum agent_api api);

/* "gateway", "stdin", "pty", "file:", "exec:" as in files, without the argument. Static. */
const char *agent_via_name(enum agent_message_via via);

/* "none", "pi-rpc", ... as in files. Static. */
const char *agent_native_name(enum agent_native native);

/* "name", "uuid", "path" as in files. Static. */
const char *agent_session_id_name(enum agent_session_id id);

/* {session} for the session file at @path (absolute, in the box). Caller frees. 0, or -ERR_INPUT when its name
 * has no UUID where the agent's row asks for one. */
int agent_session(const struct agent *a, const char *path, char **ret, struct err *err);

/* Names of the agents, the user's and the shipped ones, that can take a session up again, "claude, codex, pi", into @out. */
void agent_resumable(struct buf *out);

/* "read", "edit", "shell", "write" as in files. Static. */
const char *agent_tool_name(enum agent_tool_kind kind);

/* The row of @a for @kind, NULL when it has none. Borrowed. */
const struct agent_tool *agent_tool(const struct agent *a, enum agent_tool_kind kind);

/* Free; NULL is fine. Returns NULL. */
struct agent *agent_free(struct agent *a);

#endif
