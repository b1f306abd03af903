/* The quick look at an edit, and the syntax of what it makes, by the languages' own tools in a box. */
#include "verifier/screen.h"

#include "tests/unit/verifier/worlds.h"
#include "verifier/syntax.h"

struct row {
	const char *name, *edit;
	bool co, fits;
	const char *stage;
	enum screen_visible visible;
};

/* clang-format off */
static const struct row rows[] = {
	{ "counter edit that shows", WORLD_ONLY("add() { echo big; }"), false, true, "", VISIBLE_BROKEN },
	{ "counter edit that does not show", WORLD_ONLY("add() { if [ \"$1\" = 1 ]; then echo 3; fi; }"), false, true, "", VISIBLE_GREEN },
	{ "edit that the reference survives", WORLD_ONLY("# a note"), false, false, "user_edit_plus_reference", VISIBLE_UNKNOWN },
	{ "co-edit", WORLD_ONLY("# a note"), true, true, "", VISIBLE_GREEN },
	{ "co-edit that solves the task", WORLD_FIX, true, false, "user_edit_only", VISIBLE_UNKNOWN },
	{ "edit of the tests", WORLD_NEW("tests/x.sh", "x"), true, false, "user_edit_plus_reference", VISIBLE_UNKNOWN },
	{ "edit that does not apply", "--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n", false, false, "user_edit_plus_reference", VISIBLE_UNKNOWN },
};

static const struct {
	const char *name, *edit, *path;
	enum syntax_verdict want;
} checks[] = {
	{ "a good script", WORLD_ONLY("# a note"), "src/add.sh", SYNTAX_GOOD },
	{ "a torn script", WORLD_ONLY("if then"), "src/add.sh", SYNTAX_BAD },
	{ "a name with a quote", WORLD_NEW("src/it's.sh", "if then"), "src/it's.sh", SYNTAX_UNCHECKED },
	{ "no tool for it", WORLD_NEW("src/x.dat", "x"), "src/x.dat", SYNTAX_UNCHECKED },
};
/* clang-format on */

static void run_row(const struct task *t, const struct world *w, const struct row *r)
{
	struct screener s = { .task = t, .profile = w->profile, .co = r->co };
	auto_free char *reason = NULL;
	struct screen got = { .reason = NULL };
	struct err err = { .text = "" };

	tap_ok(screen_reference(&s, &reason, &err) == 1 && s.limit > 0,
	       "%s: the reference solves the task", r->name);
	tap_ok(screen_edit(&s, r->edit, &got, &err) == 0 && got.fits == r->fits &&
		       str_eq(got.stage, r->stage) && got.visible == r->visible,
	       "%s: %s %s %s %s", r->name, got.fits ? "fits" : "does not fit", got.stage,
	       screen_visible_name(got.visible), got.reason ? got.reason : err.text);
	screen_done(&got);
}

int main(int argc, char **argv)
{
	struct world w;
	struct task t;

	if (!world_begin(argc, argv, &w))
		return tap_done();
	t = world_task(&w);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&t, &w, &rows[i]);
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		auto_free char *why = NULL;
		enum syntax_verdict got = SYNTAX_UNCHECKED;
		struct err err = { .text = "" };
		int rc = syntax_check(&t, checks[i].edit, &checks[i].path, 1, w.profile, NULL, &got,
				      &why, &err);

		tap_ok(rc == 0 && got == checks[i].want && why && *why, "%s: %s: %s",
		       checks[i].name, syntax_name(got), why ? why : err.text);
	}
	world_task_done(&t);
	world_free(&w);
	return tap_done();
}
