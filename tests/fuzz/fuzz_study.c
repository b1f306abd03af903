/* The plan of a study, job.json and cell.json: read or refused; names that are taken are names of files. What a run writes
 * is looked at while it runs: whole lines, never more than there is. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/attempt.h"
#include "study/cells.h"
#include "study/live.h"
#include "study/studyplan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void plan(const char *text, size_t n)
{
	struct study_plan p = { .file = NULL };
	auto_buf settings = BUF_INIT(1u << 20);
	auto_free uint32_t *order = NULL;
	struct err err;

	if (studyplan_parse("fuzz.json", text, n, "/dir", &p, &err) < 0)
		return;
	for (size_t i = 0; i < p.agents.n; i++)
		if (strchr(studyplan_agent(&p, i)->name, '/'))
			abort();
	for (size_t i = 0; i < p.conditions.n; i++)
		if (strchr(studyplan_condition(&p, i)->name, '/'))
			abort();
	if (p.out[0] != '/')
		abort();
	studyplan_settings(&p, &settings);
	order = cells_order(&p, 64);
	studyplan_done(&p);
}

static void attempt(const char *text, size_t n)
{
	struct attempt a = { .end = 0 }, again = { .end = 0 };
	auto_buf out = BUF_INIT(64u << 20);
	struct err err;

	if (attempt_parse("fuzz", text, n, &a, &err) < 0)
		return;
	attempt_print(&a, &out);
	if (attempt_parse("again", buf_str(&out), out.len, &again, &err) < 0)
		abort();
	if (a.end != again.end || !str_eq(a.why, again.why) ||
	    !str_eq(a.figures.result, again.figures.result) ||
	    a.figures.tokens != again.figures.tokens)
		abort();
	attempt_done(&a);
	attempt_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = mem_dup(data, size);
	struct cell_job job = { .key = NULL };
	struct live live = { .steps = 0 };
	struct err err;

	plan(text, size);
	if (cells_job("fuzz", text, size, &job, &err) == 0)
		cells_job_done(&job);
	attempt(text, size);
	if (live_model(&live.run[0], text, size) > size ||
	    live_trace(&live, &live.run[0], text, size) > size)
		abort();
	return 0;
}
