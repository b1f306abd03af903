#include "study/export.h"

#include <string.h>

#include "study/export_internal.h"

/* clang-format off */
const struct export_format export_formats[] = {
	{ "swe-bench", "tasks", "SWE-bench rows, one a line", false, export_swebench },
	{ "multi-swe-bench", "tasks", "Multi-SWE-bench rows, one a line", false, export_multi },
	{ "swe-bench-predictions", "results", "SWE-bench predictions, one a line", false, export_predictions },
	{ "swe-bench-report", "results", "SWE-bench's report.json, test_output.txt and patch.diff of each instance", true, export_sb_report },
	{ "swe-bench-summary", "results", "SWE-bench's summary of a run (schema_version 2)", false, export_sb_summary },
	{ "multi-swe-bench-report", "results", "Multi-SWE-bench's report.json of each instance and final_report.json", true, export_multi_report },
	{ "ctrf", "results", "Common Test Report Format (JSON), a test per listed test", false, export_ctrf },
	{ "junit", "results", "JUnit XML, a suite per result", false, export_junit },
	{ "csv", "results", "comma-separated values, a line per result", false, export_csv },
	{ "harbor-task", "tasks", "the Harbor directories that tasks were imported from", true, export_harbor_task },
	{ "harbor", "results", "Harbor's job directory: config.json, result.json and a directory for each trial", true, export_harbor },
	{ "inspect", "results", "Inspect's eval log of each model, as MODEL.json and MODEL.eval", true, export_inspect },
	{ "atif", "runs", "ATIF-v1.7 trajectory of each run directory", true, export_atif },
	{ NULL },
};
/* clang-format on */

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}
