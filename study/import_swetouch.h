/* The released SWE-Touch records (schema 1.0.0, one JSON object a line) as scenarios. Fields are strict: an
 * unknown, missing or contradictory one is an error with file and line. Text in them stems from a model. */
#ifndef STUDY_IMPORT_SWETOUCH_H
#define STUDY_IMPORT_SWETOUCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "study/taskset.h"

#define IMPORT_RECORDS_MAX 100000u      /* lines of all files together */
#define IMPORT_FILE_MAX    (256u << 20) /* bytes of one file */
#define IMPORT_LINE_MAX    (1u << 20) /* bytes of one record; the released ones have up to 30000 */

/* Benchmarks of the release, in the order of their names in records. */
enum import_benchmark { IMPORT_VERIFIED, IMPORT_PRO, IMPORT_DEEPSWE, IMPORT_BENCHMARKS };

/* Validation of a Counter-Edit as recorded. The three after the first two are also fallback reasons. */
enum import_status {
	IMPORT_VALIDATED,
	IMPORT_APPLY_CONFLICT,
	IMPORT_REFERENCE_FAILED,
	IMPORT_REFERENCE_OVERRIDES,
	IMPORT_INVALID,
	IMPORT_STATUSES
};

/* Names as in records: "swe_bench_verified", "validated_counter_edit". Static. */
const char *import_benchmark_name(enum import_benchmark b);
const char *import_status_name(enum import_status s); /* see import_benchmark_name() */

#define IMPORT_ROUNDS_MAX 16u /* interventions of one record; the released ones have 3 */

/* Counts of one benchmark. */
struct import_counts {
	uint64_t records, with_patch, text_only;
	uint64_t status[IMPORT_STATUSES];         /* of all records */
	uint64_t fallback[IMPORT_STATUSES];       /* reasons of the text-only ones */
	uint64_t distinct[IMPORT_ROUNDS_MAX + 1]; /* records with patch by distinct rounds */
	uint64_t co_edit;                         /* helpful edits with a patch */
	uint64_t imported;
};

struct import_options {
	const char *out;             /* directory, made when it is not there */
	const struct taskset *tasks; /* NULL = names of tasks are not looked up */
	bool accept_conflict;        /* import records whose reference no longer applies */
	uint64_t rounds;             /* K; 0 = as recorded */
	int mode; /* enum scenario_mode; -1 = edit+message, message for text-only */
};

struct import_result {
	struct import_counts count[IMPORT_BENCHMARKS];
	uint64_t scenarios, co_edits; /* files written */
	struct strv conflicts;        /* instances left out: the reference does not apply */
	struct strv no_task;          /* ... no task of that name among the tasks */
	struct strv no_effect;        /* ... text-only, and the mode has no messages */
};

/* Read all of @files and write OUT/INSTANCE.scenario.json, OUT/INSTANCE.co-edit.json and OUT/import.json. An
 * instance that stands in two records is an error. All records are read before the first file is written, so
 * that a bad line leaves nothing behind. 0 or negative. Free with import_done(). */
int import_swetouch(const struct strv *files, const struct import_options *o,
		    struct import_result *ret, struct err *err);

/* One record (a line of @n bytes, called @name in error texts) as scenario texts: *scenario, and *co_edit when
 * its helpful edit has a patch (otherwise it stays empty). 0 or -ERR_INPUT. For tests and fuzzing; the options'
 * out and tasks are not looked at. */
int import_record(const char *name, const char *line, size_t n, const struct import_options *o,
		  struct buf *scenario, struct buf *co_edit, struct err *err);

/* Free; {0} is fine. */
void import_done(struct import_result *r);

/* import.json ("proctor.import/1"). */
void import_json(const struct import_result *r, struct buf *out);

#endif
