/* The table of firings: sequences of commands through the real engine by the rule swe-touch-1.0, against
 * a world in memory. Each row says which intervention fires, in which round, at which command. */
#include "triggers/engine.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tests/unit/triggers/table.h"
#include "tests/unit/triggers/world.h"

#define LINE_DIFF(n)                                                                               \
	"--- a/src/calc.c\\n+++ b/src/calc.c\\n@@ -" n ",1 +" n ",1 @@\\n-line" n "\\n+user" n "\\n"

static const struct {
	char letter;
	const char *from, *to, *diff;
} edits[] = {
	{ 'A', "user11", "line11", WORLD_DIFF },
	{ 'B', "user20", "line20", LINE_DIFF("20") },
	{ 'C', "user25", "line25", LINE_DIFF("25") },
	{ 'Z', "", "", "--- a/src/none.c\\n+++ b/src/none.c\\n@@ -1,1 +1,1 @@\\n-a\\n+b\\n" },
};

static const char *diff_of(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		if (edits[i].letter == letter)
			return edits[i].diff;
	return "";
}

/* "re+3:A", "n5:B", "p8:A", "s2:C" as JSON. Caller frees. */
static char *intervention(const char *spec, unsigned order)
{
	char kind[4] = "", edit = spec[strlen(spec) - 1];
	unsigned number = 0, overlap = 1;
	const char *p = spec;
	auto_free char *when = NULL;

	for (size_t i = 0; isalpha((unsigned char)*p) && i < sizeof(kind) - 1; i++)
		kind[i] = *p++;
	while (isdigit((unsigned char)*p))
		number = number * 10 + (unsigned)(*p++ - '0');
	if (*p == '+')
		overlap = (unsigned)strtoul(p + 1, NULL, 10);
	if (strcmp(kind, "n") == 0)
		when = mem_printf("\"event\":\"command_count\",\"n\":%u", number);
	else if (strcmp(kind, "p") == 0)
		when = mem_printf("\"event\":\"progress\",\"n\":%u", number);
	else if (strcmp(kind, "s") == 0)
		when = mem_printf("\"event\":\"region_state_changed\",\"after\":%u", number);
	else
		when = mem_printf("\"event\":\"%s\"", strcmp(kind, "r") == 0   ? "read"
						      : strcmp(kind, "e") == 0 ? "edit"
									       : "read_or_edit");
	return mem_printf("{\"order\":%u,\"when\":{%s,\"touch\":\"swe-touch-1.0\",\"regions\":[0],"
			  "\"min_overlap\":%u},\"effects\":[{\"edit\":\"%s\"},{\"message\":{}}]}",
			  order, when, overlap, diff_of(edit));
}

/* "MODE K=N IV..." */
static void set_up(struct world *w, char *spec)
{
	auto_buf json = BUF_INIT(1u << 20);
	char *save = NULL, *mode = strtok_r(spec, " ", &save), *k = strtok_r(NULL, " ", &save);
	unsigned n = 0, rounds = (unsigned)strtoul(k + 2, NULL, 10);
	struct err err = { ERR_NONE, 0, "" };

	memset(w, 0, sizeof(*w));
	world_reset(w);
	buf_addf(&json, "{\"schema\":\"proctor.scenario/1\",\"id\":\"s\",\"mode\":\"%s\",", mode);
	if (rounds)
		buf_addf(&json, "\"max_rounds\":%u,", rounds);
	buf_adds(&json, "\"regions\":[{\"path\":\"src/calc.c\",\"start\":10,\"end\":12}],"
			"\"interventions\":[");
	for (char *iv; (iv = strtok_r(NULL, " ", &save));) {
		auto_free char *one = intervention(iv, ++n);

		buf_addf(&json, "%s%s", n > 1 ? "," : "", one);
	}
	buf_adds(&json, "]}");
	if (scenario_parse("row", buf_str(&json), json.len, NULL, &w->sc, &err) < 0 ||
	    engine_new(w->sc, &world_ops, w, &w->e, &err) < 0) {
		tap_ok(false, "set up: %s", err.text);
		exit(1);
	}
	engine_set_workdir(w->e, "/workspace");
}

/* What the file goes through during a command. */
static void happen(struct world *w, const char *what, uint32_t cmd)
{
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		if (what[0] == edits[i].letter && !what[1])
			world_replace(w, edits[i].from, edits[i].to);
	if (strcmp(what, "a") == 0)
		world_replace(w, "line11", "user11");
	else if (strcmp(what, "top") == 0)
		world_replace(w, "line1\n", "new\nnew\nline1\n");
	else if (strcmp(what, "gone") == 0)
		world_set(w, "a\nb\nc\nd\n");
	else if (strcmp(what, "back") == 0)
		world_reset(w);
	else if (strcmp(what, "deny") == 0 || strcmp(what, "allow") == 0)
		w->write_fails = what[0] == 'd';
	world_changed(w, cmd);
}

static void command(struct world *w, char *text, uint32_t cmd)
{
	char *out = strstr(text, " => ");

	world_log(w, "<%u>", cmd);
	if (out)
		*out = '\0';
	while (*text == '{') {
		char *end = strchr(text, '}');

		*end = '\0';
		happen(w, text + 1, cmd);
		text = end + 1;
	}
	world_begin(w, cmd, text);
	if (out)
		engine_output(w->e, cmd, out + 4, strlen(out + 4));
	world_end(w, cmd);
}

/* The log of the world as "1.1@2 !2.2@3"; effects of one firing are one. */
static char *outcome(const struct world *w)
{
	auto_buf b = BUF_INIT(4096);
	char last[64] = "";
	unsigned cmd = 0, order, round;

	for (const char *p = w->log; *p; p++) {
		char one[64];
		bool fired = strncmp(p, "[fired ", 7) == 0;

		if (*p == '<')
			cmd = (unsigned)strtoul(p + 1, NULL, 10);
		if (!fired && strncmp(p, "[refused ", 9) != 0)
			continue;
		if (sscanf(p + (fired ? 7 : 9), "%u/%u", &order, &round) != 2)
			continue;
		snprintf(one, sizeof(one), "%s%u.%u@%u", fired ? "" : "!", order, round, cmd);
		if (strcmp(one, last) != 0)
			buf_addf(&b, "%s%s", b.len ? " " : "", one);
		snprintf(last, sizeof(last), "%s", one);
	}
	if (!b.len)
		buf_addc(&b, '-');
	return buf_steal(&b, NULL);
}

/* Messages: one for each firing in the modes that have them, none for a refusal. */
static unsigned messages_due(const char *want, int mode)
{
	unsigned n = 0;

	for (const char *p = want; *p; p++)
		n += *p == '@';
	for (const char *p = want; *p; p++)
		n -= *p == '!';
	return mode == MODE_EDIT || mode == MODE_VANILLA ? 0 : n;
}

static void row(char *scenario, char *commands, const char *want, const char *name)
{
	auto_free char *got = NULL;
	struct world w;
	uint32_t cmd = 0;

	set_up(&w, scenario);
	while (commands) {
		char *next = strstr(commands, " ;; ");

		if (next)
			*next = '\0';
		command(&w, commands, ++cmd);
		commands = next ? next + 4 : NULL;
	}
	got = outcome(&w);
	if (!tap_is_str(got, want, name))
		tap_diag("%s", w.log);
	if (w.n_messages != messages_due(want, w.sc->mode) || w.bad_holds)
		tap_ok(false, "%s: %u messages", name, w.n_messages);
	world_done(&w);
}

int main(int argc, char **argv)
{
	auto_buf b = BUF_INIT(1u << 20);
	auto_free char *text = NULL;
	char *save = NULL;
	unsigned n = 0;

	if (fd_read_file(argc > 1 ? argv[1] : "tests/tables/firing.tsv", &b, NULL) < 0)
		return 1;
	text = buf_steal(&b, NULL);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *field[4] = { line };

		for (size_t i = 1; i < ARRAY_SIZE(field) && field[i - 1]; i++) {
			field[i] = strchr(field[i - 1], '\t');
			if (field[i])
				*field[i]++ = '\0';
		}
		if (line[0] == '#' || !field[3])
			continue;
		row(field[0], field[1], field[2], field[3]);
		n++;
	}
	tap_ok(n >= 60, "60 rows or more: %u", n);
	return tap_done();
}
