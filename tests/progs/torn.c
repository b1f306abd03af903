/* Readers and writers for the torn-read test. The file has two marks far apart that the user's edit
 * changes together ("old" to "new"); a reader that sees one changed and the other not has seen
 * a torn edit.
 *
 *   torn FILE ROUNDS: 4 readers, 3 writers of bytes elsewhere, 1 writer that takes the edit back by
 *   renaming a fresh file over FILE, ROUNDS times, waiting each time until the edit has come.
 * Prints "rounds N reads N torn N"; status 0 when torn is 0. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READERS = 4, SCRIBES = 3, LINES = 100, LINE = 16, SIZE = LINES * LINE };

struct shared {
	atomic_ulong reads, torn, rounds, stop;
};

static void make(char text[SIZE], const char *mark)
{
	for (int i = 0; i < LINES; i++) {
		char line[LINE + 1];

		snprintf(line, sizeof(line), "%03d %-11s\n", i + 1, i == 9 || i == 89 ? mark : "-");
		memcpy(text + i * LINE, line, LINE);
	}
}

/* 0 both old, 1 both new, 2 torn, -1 no whole file. */
static int look(const char *file)
{
	char text[SIZE + 1];
	int fd = open(file, O_RDONLY), a, b;
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n != SIZE)
		return -1;
	a = memcmp(text + 9 * LINE + 4, "new", 3) == 0;
	b = memcmp(text + 89 * LINE + 4, "new", 3) == 0;
	return a == b ? a : 2;
}

static void reader(struct shared *sh, const char *file)
{
	while (!atomic_load(&sh->stop)) {
		int seen = look(file);

		if (seen >= 0)
			atomic_fetch_add(&sh->reads, 1);
		if (seen == 2)
			atomic_fetch_add(&sh->torn, 1);
	}
	_exit(0);
}

static void scribe(struct shared *sh, const char *file, int which)
{
	for (unsigned n = 0; !atomic_load(&sh->stop); n++) {
		int fd = open(file, O_WRONLY);
		char c = (char)('a' + n % 26);

		if (fd < 0)
			continue;
		if (pwrite(fd, &c, 1, (60 + which) * LINE + 6) < 0 && errno != ENOSPC)
			_exit(1);
		close(fd);
	}
	_exit(0);
}

/* The edit comes inside the rename; a moment may pass until a look sees it, never more. */
static int taker(struct shared *sh, const char *file, unsigned long rounds)
{
	char text[SIZE], tmp[4096];

	snprintf(tmp, sizeof(tmp), "%s.tmp", file);
	make(text, "old");
	for (unsigned long i = 0; i < rounds; i++) {
		int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0644);

		if (fd < 0 || write(fd, text, SIZE) != SIZE || close(fd) < 0 ||
		    rename(tmp, file) < 0)
			return -1;
		if (look(file) == 1)
			atomic_fetch_add(&sh->rounds, 1);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct shared *sh =
		mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[READERS + SCRIBES];
	int rc;

	if (argc != 3 || sh == MAP_FAILED)
		return 2;
	for (int i = 0; i < READERS + SCRIBES; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			if (i < READERS)
				reader(sh, argv[1]);
			scribe(sh, argv[1], i - READERS);
		}
	}
	rc = taker(sh, argv[1], strtoul(argv[2], NULL, 10));
	atomic_store(&sh->stop, 1);
	for (int i = 0; i < READERS + SCRIBES; i++)
		waitpid(pid[i], NULL, 0);
	printf("rounds %lu reads %lu torn %lu\n", atomic_load(&sh->rounds), atomic_load(&sh->reads),
	       atomic_load(&sh->torn));
	return rc < 0 || atomic_load(&sh->torn) ? 1 : 0;
}
