/* Where an agent's program is on the host, and where the box shows it. Agents are installed by
 * people, never by us: what is missing is named with the line that installs it. */
#ifndef PROFILES_INSTALL_H
#define PROFILES_INSTALL_H

#include <stdbool.h>

#include "base/err.h"
#include "profiles/agent.h"

/* Where an agent's own installation appears in the box. */
#define AGENT_DIR "/opt/agent"

/* An installation that was found. Owns everything; {0} is nothing. */
struct install {
	char *program; /* on the host */
	char *dir;     /* directory to be bound at AGENT_DIR; NULL: every box shows the program */
	char *box;     /* path of the program in the box */
	char *version; /* of the package, NULL when it does not say */
};

/* Look for the program of @a (whose package is named): in $PROCTOR_AGENTS/NAME, in
 * ~/.local/share/proctor/agents/NAME, then in PATH. @host_root: the box shows the host's /usr.
 * 0, or -ERR_HOST with the line that installs it. Free with install_done(). */
int install_find(const struct agent *a, bool host_root, struct install *ret, struct err *err);

/* The line that installs @a's package: "npm install --prefix DIR NAME@VERSION"; NULL when @a names
 * no package. Caller frees. */
char *install_line(const struct agent *a);

/* Paths of the shipped agent files, sorted, into @out. */
void install_shipped(struct strv *out);

/* Free; {0} is fine. */
void install_done(struct install *in);

#endif
