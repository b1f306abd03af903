/* tests/tools/fakemodel.py as a child of a test. Needs -DFAKEMODEL="path". */
#ifndef TESTS_LIB_FAKEMODEL_H
#define TESTS_LIB_FAKEMODEL_H

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct fakemodel {
	pid_t pid;
	int in; /* it ends when this closes */
	unsigned port;
};

/* Start it; @cert and @key NULL: without TLS. False when there is no python3. */
static inline bool fakemodel_start(struct fakemodel *f, const char *cert, const char *key)
{
	int in[2], out[2];
	FILE *from;

	if (pipe(in) < 0 || pipe(out) < 0)
		return false;
	f->pid = fork();
	if (f->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		for (int fd = 3; fd < 20; fd++)
			close(fd);
		if (cert)
			execlp("python3", "python3", FAKEMODEL, "--tls", cert, key, (char *)NULL);
		else
			execlp("python3", "python3", FAKEMODEL, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	f->in = in[1];
	from = fdopen(out[0], "r");
	f->port = 0;
	if (fscanf(from, "port %u", &f->port) != 1)
		f->port = 0;
	fclose(from);
	return f->port != 0;
}

static inline void fakemodel_stop(struct fakemodel *f)
{
	close(f->in);
	if (f->pid > 0)
		waitpid(f->pid, NULL, 0);
}

/* GET @path without TLS into @out. */
static inline void fakemodel_get(const struct fakemodel *f, const char *path, char *out, size_t max)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)f->port),
				 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char ask[256];
	size_t n = 0;
	ssize_t got = 0;
	int len = snprintf(ask, sizeof(ask),
			   "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	    write(fd, ask, (size_t)len) == len)
		while (n + 1 < max && (got = read(fd, out + n, max - 1 - n)) > 0)
			n += (size_t)got;
	out[n] = '\0';
	close(fd);
}

#endif
