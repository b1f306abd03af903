/* What the released rule says of a command, what the trace says it did, and why they differ. */
#include "verifier/compare.h"

#include <math.h>

#include "tests/lib/fakerun.h"
#include "tests/lib/tap.h"

#define RUN ", \"state\": \"done\", \"task\": { \"workdir\": \"/workspace\" }, \"model\": null"
#define RUN_MODEL                                                                                  \
	", \"state\": \"done\", \"task\": { \"workdir\": \"/workspace\" }, \"model\": { \"name\": \"m\" }"

static const char plan[] = "{\"schema\":\"proctor.plan/1\",\"scenario\":{\"regions\":["
			   "{\"path\":\"src/a.c\",\"start\":10,\"end\":20,\"evidence\":null},"
			   "{\"path\":\"Makefile\",\"start\":1,\"end\":4,\"evidence\":null}]}}";

struct row {
	const char *name, *cls, *argv; /* argv as JSON */
	const char *records; /* kinds and members during the command, "kind|members;..." */
	int region;          /* -1: no row at all */
	const char *released, *kernel; /* letters: r, e; o, b, a, e, s */
	enum compare_reason reason;
};

#define READ(l) "read|\"path\":\"src/a.c\",\"fd\":3,\"off\":0,\"len\":9,\"lines\":" l
#define TOUCH(l, e, lines)                                                                         \
	"touch|\"region\":0,\"level\":\"" l "\",\"event\":\"" e "\",\"lines\":" lines              \
	",\"path\":\"src/a.c\""
#define EDIT(p, lines) "edit|\"path\":\"" p "\",\"lines\":" lines ",\"by\":\"agent\""

/* clang-format off */
static const struct row rows[] = {
	{ "sed of the region", "read", "\"sed\",\"-n\",\"10,12p\",\"src/a.c\"",
	  READ("[1,90]") ";" TOUCH("argv", "read", "[10,12]"), 0, "r", "oba", COMPARE_AGREE },
	{ "sed of other lines", "read", "\"sed\",\"-n\",\"50,60p\",\"src/a.c\"",
	  READ("[1,90],\"shown\":[50,60]") ";" TOUCH("bytes", "read", "[10,20],\"unasked\":1"), 0, "", "ob",
	  COMPARE_AGREE },
	{ "head of other lines", "read", "\"head\",\"-n\",\"5\",\"src/a.c\"",
	  READ("[1,90],\"shown\":[1,5]") ";" TOUCH("bytes", "read", "[10,20],\"unasked\":1"), 0, "r", "ob",
	  COMPARE_WHOLE_FILE },
	{ "head -c reads only the head", "read", "\"head\",\"-c\",\"9\",\"src/a.c\"",
	  READ("[1,1]"), 0, "r", "o", COMPARE_WHOLE_FILE },
	{ "cat that never ran", "other", "\"sh\",\"-c\",\"false && cat src/a.c\"", "", 0, "r", "",
	  COMPARE_NOT_OPENED },
	{ "grep -r is a scan", "search", "\"grep\",\"-rn\",\"x\",\"src/a.c\"",
	  TOUCH("bytes", "read", "[10,20],\"scan\":\"program\""), 0, "r", "os", COMPARE_BY_OUTPUT },
	{ "sed -i elsewhere in the file", "edit", "\"sed\",\"-i\",\"s/x/y/\",\"src/a.c\"",
	  EDIT("src/a.c", "[80,80]"), 0, "e", "", COMPARE_EDIT_NO_LINES },
	{ "sed -i that changes nothing", "edit", "\"sed\",\"-i\",\"s/x/y/\",\"src/a.c\"", "", 0, "e", "",
	  COMPARE_NO_CHANGE },
	{ "sed -i in the region", "edit", "\"sed\",\"-i\",\"s/x/y/\",\"src/a.c\"",
	  EDIT("src/a.c", "[11,11]") ";" TOUCH("bytes", "edit", "[11,11]"), 0, "e", "oe",
	  COMPARE_AGREE },
	{ "python with a computed name", "other", "\"python3\",\"mend.py\"",
	  READ("[1,90]") ";" TOUCH("bytes", "read", "[10,20]"), 0, "", "oba", COMPARE_UNNAMED },
	{ "the compiler", "build", "\"gcc\",\"-c\",\"src/a.c\"",
	  READ("[1,90]") ";" TOUCH("bytes", "read", "[10,20]"), 0, "", "oba", COMPARE_PROGRAM },
	{ "a form that is not read", "other", "\"awk\",\"1\",\"src/a.c\"",
	  READ("[1,90]") ";" TOUCH("bytes", "read", "[10,20]"), 0, "", "oba", COMPARE_UNREAD },
	{ "Makefile has no dot", "edit", "\"sed\",\"-i\",\"1d\",\"Makefile\"",
	  EDIT("Makefile", "[1,1]") ";touch|\"region\":1,\"level\":\"bytes\",\"event\":\"edit\","
	  "\"lines\":[1,1],\"path\":\"Makefile\"", 1, "", "oe", COMPARE_NO_DOT },
	{ "nothing to do with it", "other", "\"ls\"", "", -1, "", "", COMPARE_AGREE },
};
/* clang-format on */

static void records(struct fakerun *f, const char *list, unsigned pid, unsigned cmd)
{
	auto_free char *copy = mem_strdup(list);
	char *save = NULL;

	for (char *p = strtok_r(copy, ";", &save); p; p = strtok_r(NULL, ";", &save)) {
		char *bar = strchr(p, '|');

		*bar = '\0';
		if (cmd)
			fakerun_rec(f, p, "\"pid\":%u,\"cmd\":%u,%s", pid, cmd, bar + 1);
		else
			fakerun_rec(f, p, "\"pid\":%u,%s", pid, bar + 1);
	}
}

static char *letters(const struct compare_row *r, char out[8])
{
	char *p = out;

	if (r->open)
		*p++ = 'o';
	if (r->bytes)
		*p++ = 'b';
	if (r->argv)
		*p++ = 'a';
	if (r->edit)
		*p++ = 'e';
	if (r->scan)
		*p++ = 's';
	*p = '\0';
	return out;
}

static void check(const struct row *row, const struct compare *c, size_t action)
{
	const struct compare_row *r = NULL;
	char kernel[8], released[3] = "";

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].action->cmd == action + 1 && (int)c->v[i].region == row->region)
			r = &c->v[i];
	if (row->region < 0 || !r) {
		tap_ok(row->region < 0 && !r, "%s: a row or none", row->name);
		return;
	}
	snprintf(released, sizeof(released), "%s%s", r->released_read ? "r" : "",
		 r->released_edit ? "e" : "");
	tap_is_str(released, row->released, row->name);
	tap_is_str(letters(r, kernel), row->kernel, row->name);
	tap_is_str(compare_reason_name(r->reason), compare_reason_name(row->reason), row->name);
}

static void table(void)
{
	size_t n = sizeof(rows) / sizeof(rows[0]);
	struct fakerun f;
	struct rundir rd = { 0 };
	struct compare c = { 0 };
	struct err err = { 0 };

	fakerun_new(&f, RUN);
	fakerun_file(&f, "plan.json", plan, strlen(plan));
	for (unsigned i = 0; i < n; i++) {
		fakerun_rec(&f, "spawn", "\"pid\":100,\"child\":%u,\"child_cmd\":%u", 1001 + i,
			    i + 1);
		fakerun_rec(&f, "exec", "\"pid\":%u,\"cmd\":%u,\"argv\":[%s]", 1001 + i, i + 1,
			    rows[i].argv);
		records(&f, rows[i].records, 1001 + i, i + 1);
		fakerun_rec(&f, "command", "\"cmd\":%u,\"class\":\"%s\",\"argv\":[%s]", i + 1,
			    rows[i].cls, rows[i].argv);
		fakerun_rec(&f, "exit", "\"pid\":%u,\"cmd\":%u,\"status\":0", 1001 + i, i + 1);
	}
	fakerun_save(&f);
	tap_ok(rundir_load(f.dir, &rd, &err) == 0 && compare_run(&rd, &c, &err) == 0, "compares %s",
	       err.text);
	for (size_t i = 0; i < n; i++)
		check(&rows[i], &c, i);
	tap_is_u64(c.both, 2, "seen by both");
	tap_is_u64(c.released, 6, "only by the released rule");
	tap_is_u64(c.kernel, 4, "only by the kernel");
	tap_is_u64(c.neither, 2 * n - 12, "by neither");
	tap_ok(compare_first(&c, true, WHEN_EDIT)->action->cmd == 7 &&
		       compare_first(&c, false, WHEN_EDIT)->action->cmd == 9,
	       "the first edit of each");
	tap_ok(compare_first(&c, true, WHEN_READ)->action->cmd == 1, "the first read");
	tap_ok(fabs(compare_kappa(&c) - ((18.0 / 28 - (8 * 6 + 20 * 22) / 784.0) /
					 (1 - (8 * 6 + 20 * 22) / 784.0))) < 1e-9,
	       "kappa");
	compare_done(&c);
	rundir_done(&rd);
	fakerun_done(&f);
}

/* Tool calls of an agent with a model: paths by the call, processes of theirs belong to them. */
static void tools(void)
{
	struct fakerun f;
	struct rundir rd = { 0 };
	struct compare c = { 0 };
	struct err err = { 0 };

	fakerun_new(&f, RUN_MODEL);
	fakerun_file(&f, "plan.json", plan, strlen(plan));
	fakerun_rec(
		&f, "tool",
		"\"call\":1,\"tool\":\"read\",\"does\":\"read\",\"path\":\"/workspace/src/a.c\","
		"\"lines\":[12,14]");
	fakerun_rec(&f, "model", "\"call\":1,\"purpose\":\"main\",\"status\":200");
	fakerun_rec(
		&f, "read",
		"\"pid\":100,\"path\":\"src/a.c\",\"fd\":3,\"off\":0,\"len\":9,\"lines\":[1,90]");
	fakerun_rec(&f, "touch",
		    "\"pid\":100,\"region\":0,\"level\":\"argv\",\"event\":\"read\","
		    "\"lines\":[12,14],\"path\":\"src/a.c\"");
	fakerun_rec(&f, "tool",
		    "\"call\":2,\"tool\":\"edit\",\"does\":\"edit\",\"path\":\"src/a.c\"");
	fakerun_rec(&f, "model", "\"call\":2,\"purpose\":\"main\",\"status\":200");
	fakerun_edit(&f, "agent", 0, "src/a.c", "a\n", "b\n", 15, 15);
	fakerun_rec(&f, "touch",
		    "\"pid\":1000,\"region\":0,\"level\":\"bytes\",\"event\":\"edit\","
		    "\"lines\":[15,15],\"path\":\"src/a.c\"");
	fakerun_save(&f);
	tap_ok(rundir_load(f.dir, &rd, &err) == 0 && compare_run(&rd, &c, &err) == 0, "compares %s",
	       err.text);
	tap_ok(c.actions == 2 && c.n == 2 && c.both == 2, "two tool calls, both seen by both");
	tap_ok(c.n == 2 && c.v[0].released_read && c.v[0].argv && c.v[0].first == 12 &&
		       c.v[0].released_first == 12,
	       "a read with its lines");
	tap_ok(c.n == 2 && c.v[1].released_edit && c.v[1].edit && !c.v[1].released_first,
	       "an edit without");
	compare_done(&c);
	rundir_done(&rd);
	fakerun_done(&f);
}

static void refused(void)
{
	static const char *const plans[] = {
		"{\"scenario\":null}", "{\"scenario\":{\"regions\":[]}}",
		"{\"scenario\":{\"regions\":[{\"path\":\"a\",\"start\":0,\"end\":4}]}}",
		"{\"scenario\":{\"regions\":[{\"path\":\"a\",\"start\":9,\"end\":4}]}}",
		"{\"scenario\":{\"regions\":[3]}}"
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		struct fakerun f;
		struct rundir rd = { 0 };
		struct compare c = { 0 };
		struct err err = { 0 };

		fakerun_new(&f, RUN);
		fakerun_file(&f, "plan.json", plans[i], strlen(plans[i]));
		fakerun_save(&f);
		tap_ok(rundir_load(f.dir, &rd, &err) == 0 &&
			       compare_run(&rd, &c, &err) == -ERR_INPUT && !c.v && !c.region,
		       "refused: %s", err.text);
		rundir_done(&rd);
		fakerun_done(&f);
	}
}

int main(void)
{
	table();
	tools();
	refused();
	return tap_done();
}
