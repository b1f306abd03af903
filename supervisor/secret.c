#include "supervisor/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECRET_MAX = 4000, MAP_BYTES = 4096 };

/* The string stands in the block that the kernel made, which every child gets a copy of; it may stand there
 * more than once, of which getenv(3) tells the first. */
static void wipe(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environ; e && *e; e++) {
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			explicit_bzero(*e + n + 1, strlen(*e + n + 1));
	}
	unsetenv(name);
}

int secret_take(const char *const *names, struct secret *ret, struct err *err)
{
	const char *from = NULL, *value = NULL;
	void *p;

	*ret = (struct secret){ 0 };
	for (size_t i = 0; names[i] && !value; i++) {
		from = names[i];
		value = getenv(from);
		if (value && !value[0])
			value = NULL;
	}
	if (value && strlen(value) > SECRET_MAX)
		return err_set(err, ERR_INPUT,
			       "variable %s holds more than %d bytes; that is no "
			       "model key",
			       from, SECRET_MAX);
	if (value) {
		p = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
		if (p == MAP_FAILED)
			return err_sys(err, "cannot keep the model key");
		(void)madvise(p, MAP_BYTES, MADV_DONTDUMP); /* a core is never written with it */
		(void)mlock(p, MAP_BYTES); /* not allowed to some: then it may reach the swap */
		if (madvise(p, MAP_BYTES, MADV_DONTFORK) < 0) {
			munmap(p, MAP_BYTES);
			return err_sys(err, "cannot keep the model key from children");
		}
		ret->text = p;
		ret->map = MAP_BYTES;
		memcpy(ret->text, value, strlen(value) + 1);
	}
	for (size_t i = 0; names[i]; i++)
		wipe(names[i]);
	return 0;
}

void secret_done(struct secret *s)
{
	if (s->text) {
		explicit_bzero(s->text, s->map);
		munmap(s->text, s->map);
	}
	*s = (struct secret){ 0 };
}
