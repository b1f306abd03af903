/* How an agent's session is named, and who has one. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "profiles/agent.h"
#include "profiles/lookup_internal.h"

enum { UUID_LEN = 36, NAMED_MAX = 40 };

/* RFC 9562, section 4: 8-4-4-4-12 hexadecimal digits. */
static bool is_uuid(const char *s)
{
	for (size_t i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : !strchr("0123456789abcdefABCDEF", s[i]))
			return false;
	}
	return true;
}

int agent_session(const struct agent *a, const char *path, char **ret, struct err *err)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');
	size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);

	if (a->resume_id == SESSION_PATH) {
		*ret = mem_strdup(path);
		return 0;
	}
	if (a->resume_id == SESSION_UUID) {
		if (n < UUID_LEN || !is_uuid(base + n - UUID_LEN))
			return err_set(err, ERR_INPUT,
				       "the session file %s has no UUID at the end of its name, as "
				       "agent \"%s\" (resume.id) says",
				       path, a->name);
		base += n - UUID_LEN;
		n = UUID_LEN;
	}
	/* It becomes an argument of its own and must not be taken for an option. */
	if (!n || base[0] == '-')
		return err_set(err, ERR_INPUT, "the session file %s has no name to call it by",
			       path);
	*ret = mem_strndup(base, n);
	return 0;
}

void agent_resumable(struct buf *out)
{
	auto_strv names = { 0 };
	size_t n = 0;

	lookup_names(LOOKUP_AGENT, &names);
	for (size_t i = 0; i < names.n && n < NAMED_MAX; i++) {
		auto_free char *path = NULL;
		struct agent *a = NULL;
		struct err why;

		/* One that cannot be read is no suggestion. */
		if (lookup_find(LOOKUP_AGENT, names.v[i], NULL, &path, &why) == 0 &&
		    agent_load(path, &a, &why) == 0 && a->resume_command.n && a->via != VIA_NATIVE)
			buf_addf(out, "%s%s", n++ ? ", " : "", names.v[i]);
		agent_free(a);
	}
}
