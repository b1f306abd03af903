/* swe-touch-1.0 from a command to the decision: events of the text and of what was printed, then path, event
 * and lines against the regions, as the engine does it at the end of a command. */
#include "base/buf.h"
#include "base/str.h"
#include "tests/lib/tap.h"
#include "tests/unit/triggers/table.h"
#include "triggers/match.h"
#include "triggers/swetouch.h"

#define WORKDIR     "/workspace"
#define COLUMNS     7
#define REGIONS_MAX 8

enum column { REGIONS, EVENT, COMMAND, OUTPUT, DECISION, BLIND, KERNEL };

struct place {
	const char *path;
	struct region_now now;
};

static unsigned rows, fired, blind;

static enum when_event event_of(const char *name)
{
	return strcmp(name, "edit") == 0   ? WHEN_EDIT
	       : strcmp(name, "read") == 0 ? WHEN_READ
					   : WHEN_READ_OR_EDIT;
}

/* "PATH:FIRST-LAST,...", cut up in place. */
static size_t parse_regions(char *text, struct place *out)
{
	char *save = NULL;
	size_t n = 0;

	for (char *one = strtok_r(text, ",", &save); one && n < REGIONS_MAX;
	     one = strtok_r(NULL, ",", &save), n++) {
		char *colon = strrchr(one, ':');

		*colon = '\0';
		out[n].path = one;
		out[n].now.index = n;
		out[n].now.at.first = strtoull(colon + 1, &colon, 10);
		out[n].now.at.last = strtoull(colon + 1, NULL, 10);
	}
	return n;
}

/* The first event, then the first region, that satisfies the trigger. */
static char *decide(const struct swetouch *t, enum when_event event, const struct place *p,
		    size_t n)
{
	const struct when w = { .event = (int)event, .touch = TOUCH_SWE_TOUCH_1, .min_overlap = 1 };

	for (size_t k = 0; k < t->n; k++)
		for (size_t i = 0; i < n; i++)
			if (swetouch_same_path(t->v[k].path, p[i].path, WORKDIR) &&
			    match_swetouch(&w, event, &t->v[k], &p[i].now))
				return mem_printf("%s %s:%" PRIu64 "-%" PRIu64,
						  t->v[k].edit ? "edit" : "read", p[i].path,
						  p[i].now.at.first, p[i].now.at.last);
	return mem_strdup("-");
}

static void run_row(char **f)
{
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };
	char *const argv[] = { (char *)"bash", (char *)"-c", f[COMMAND], NULL };
	auto_free char *regions = mem_strdup(f[REGIONS]);
	auto_free char *got = NULL;
	struct place p[REGIONS_MAX];
	size_t n = parse_regions(regions, p);

	table_unescape(f[COMMAND]);
	table_unescape(f[OUTPUT]);
	swetouch_command(&t, argv);
	if (strcmp(f[OUTPUT], "-") != 0)
		swetouch_output(&t, argv, f[OUTPUT], strlen(f[OUTPUT]));
	got = decide(&t, event_of(f[EVENT]), p, n);
	for (char *c = f[COMMAND]; *c; c++)
		*c = *c == '\n' || *c == '#' ? '~' : *c;
	tap_is_str(got, f[DECISION], f[COMMAND]);
	rows++;
	fired += strcmp(f[DECISION], "-") != 0;
	blind += strcmp(f[BLIND], "-") != 0;
}

int main(int argc, char **argv)
{
	auto_buf b = BUF_INIT(1u << 20);
	char *save = NULL, *text;

	if (fd_read_file(argc > 1 ? argv[1] : "tests/tables/decisions.tsv", &b, NULL) < 0) {
		tap_ok(false, "the table can be read");
		return tap_done();
	}
	text = b.data;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *field[COLUMNS], *at = line;
		size_t n = 0;

		if (line[0] == '#' && !rows)
			continue;
		while (n < COLUMNS && (field[n] = strsep(&at, "\t")))
			n++;
		if (n < COLUMNS) {
			tap_ok(false, "a row has %d columns: %s", COLUMNS, line);
			continue;
		}
		run_row(field);
	}
	tap_ok(rows >= 120, "%u rows", rows);
	tap_ok(fired >= 40 && rows - fired >= 40, "%u fire, %u do not", fired, rows - fired);
	tap_ok(blind >= 40, "%u rows show a blind spot", blind);
	return tap_done();
}
