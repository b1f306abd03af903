#include "study/export.h"

#include <string.h>

#include "study/export_internal.h"

/* clang-format off */
const struct export_format export_formats[] = {
	{ "swe-bench", false, export_swebench },
	{ "multi-swe-bench", false, export_multi },
	{ "swe-bench-predictions", false, export_predictions },
	{ "swe-bench-report", true, export_sb_report },
	{ "swe-bench-summary", false, export_sb_summary },
	{ "multi-swe-bench-report", true, export_multi_report },
	{ "ctrf", false, export_ctrf },
	{ "junit", false, export_junit },
	{ "csv", false, export_csv },
	{ "harbor-task", true, export_harbor_task },
	{ "harbor", true, export_harbor },
	{ "inspect", true, export_inspect },
	{ "atif", true, export_atif },
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
