/* The list of all input fields, made from the rows that read them. */
#include "profiles/profile.h"

#include "base/mem.h"
#include "profiles/rows_internal.h"

/* clang-format off */
static const char *const type_names[] = {
	[JSON_STR]	= "string",
	[JSON_BOOL]	= "true or false",
	[JSON_U64]	= "whole number",
	[JSON_DOUBLE]	= "number",
	[JSON_SIZE]	= "size",
	[JSON_DURATION] = "duration",
	[JSON_MONEY]	= "money",
	[JSON_STRV]	= "array of strings",
	[JSON_ENV]	= "object of strings",
	[JSON_ENUM]	= "one of",
	[JSON_OBJECT]	= "object",
	[JSON_ARRAY]	= "array of objects",
	[JSON_U64V]	= "array of whole numbers",
	[JSON_RAW]	= "any",
	[JSON_CUSTOM]	= "see text",
};
/* clang-format on */

/* Levels of objects in the rows are few and fixed, so this recursion is bounded. */
static void fields(struct buf *out, const char *kind, const char *prefix,
		   const struct json_field *rows)
{
	for (; rows->name; rows++) {
		auto_free char *path = mem_printf("%s%s%s", prefix, rows->name,
						  rows->kind == JSON_ARRAY ? "[]" : "");
		auto_free char *below = mem_printf("%s.", path);

		buf_addf(out, "%s\t%s\t%s", kind, path, type_names[rows->kind]);
		for (const char *const *c = rows->choices; c && *c; c++)
			buf_addf(out, "%s%s", c == rows->choices ? " " : "|", *c);
		buf_addf(out, "\t%s\t%s\n", rows->required ? "required" : "optional",
			 rows->doc ? rows->doc : "");
		if (rows->rows)
			fields(out, kind, below, rows->rows);
	}
}

void profile_fields_doc(struct buf *out)
{
	static const struct {
		const char *kind;
		const struct json_field *rows;
	} kinds[] = {
		{ "task", task_rows },
		{ "agent", agent_rows },
		{ "profile", profile_rows },
		{ "scenario", scenario_rows },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		buf_addf(out, "%s\tschema\tstring\trequired\talways \"proctor.%s/1\"\n",
			 kinds[i].kind, kinds[i].kind);
		fields(out, kinds[i].kind, "", kinds[i].rows);
	}
}
