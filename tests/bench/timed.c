/* timed COMMAND...: run it, then print "TIMED <ns>" on standard output. Measures from inside whatever
 * watches, so that start-up of the watcher is not counted. */
#include <stdio.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t begin = now();
	int status = 0;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (pid == 0) {
		dup2(2, 1);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	printf("TIMED %llu\n", (unsigned long long)(now() - begin));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
