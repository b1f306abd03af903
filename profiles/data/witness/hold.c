/* Holds something in the box for an effect: a port or a lock. Started without a name of its own (from an anonymous
 * file on descriptor 0), so that it is what the scenario calls it to everybody who looks.
 *
 *   hold NAME listen PORT [ANSWER]   every address; ANSWER goes to everybody who connects, who is then let go;
 *                                    without it connections stay open
 *   hold NAME flock PATH             exclusive, not waited for; the file is made when it is not there
 *   hold NAME fcntl PATH             the same by fcntl(2)
 *
 * Says "ok" on standard output, or why not, and closes it. Ends by a signal. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEPT = 64 };

static void say(const char *text)
{
	size_t n = strlen(text);

	if (write(1, text, n) != (ssize_t)n)
		_exit(1);
}

static void fail(const char *what)
{
	char text[200];

	snprintf(text, sizeof(text), "%s: %s\n", what, strerror(errno));
	say(text);
	_exit(1);
}

/* From here on we are only what our name says. */
static void settle(int argc, char **argv, const char *name)
{
	int null = open("/dev/null", O_RDWR);
	size_t room = 0;

	say("ok\n");
	prctl(PR_SET_NAME, name);
	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
	}
	close(1);
	/* The words of the command line lie one behind the other (proc_pid_cmdline(5)). */
	for (int i = 0; i < argc; i++)
		room += strlen(argv[i]) + 1;
	memset(argv[0], 0, room);
	snprintf(argv[0], room, "%s", name);
}

static int listener(const char *port)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6,
				   .sin6_port = htons((uint16_t)atoi(port)) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = at.sin6_port };
	int one = 1, zero = 0, s = socket(AF_INET6, SOCK_STREAM, 0);

	if (s >= 0) {
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
		if (bind(s, (void *)&at, sizeof(at)) == 0 && listen(s, 128) == 0)
			return s;
		if (errno == EADDRINUSE)
			fail("bind");
		close(s);
	}
	s = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (s < 0 || bind(s, (void *)&four, sizeof(four)) < 0 || listen(s, 128) < 0)
		fail("bind");
	return s;
}

static void serve(int s, const char *answer)
{
	int kept[KEPT], n = 0;

	for (;;) {
		int c = accept(s, NULL, NULL);

		if (c < 0)
			continue;
		if (answer) {
			(void)!write(c, answer, strlen(answer));
			shutdown(c, SHUT_RDWR);
			close(c);
			continue;
		}
		if (n >= KEPT)
			close(kept[n % KEPT]);
		kept[n++ % KEPT] = c;
	}
}

static void lock(const char *kind, const char *path)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CREAT, 0644);

	if (fd < 0)
		fail(path);
	if (strcmp(kind, "flock") == 0 ? flock(fd, LOCK_EX | LOCK_NB) : fcntl(fd, F_SETLK, &all))
		fail(kind);
}

int main(int argc, char **argv)
{
	char *name, *answer = NULL;
	int s = -1;

	if (argc < 4)
		return 2;
	name = strdup(argv[1]);
	if (argc > 4)
		answer = strdup(argv[4]);
	if (strcmp(argv[2], "listen") == 0)
		s = listener(argv[3]);
	else
		lock(argv[2], argv[3]);
	settle(argc, argv, name);
	if (s >= 0)
		serve(s, answer);
	for (;;)
		pause();
}
