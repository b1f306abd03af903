/* Harbor task directories (task.toml of schema 1.0 to 1.4, instruction.md, environment/, tests/, solution/) as tasks
 * of this program; SWE-bench Pro V2 ships its tasks in this form. Directories and files are foreign. */
#ifndef STUDY_IMPORT_HARBOR_H
#define STUDY_IMPORT_HARBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "profiles/task.h"

#define HARBOR_TASKS_MAX 100000u
#define HARBOR_FILE_MAX  (16u << 20) /* bytes of instruction.md and of a reference patch */

/* A [[verifier.collect]] command: run after the agent, before the tests. */
struct harbor_collect {
	char *command, *service;
	double timeout_sec;
};

/* task.toml: what is used of it. Absent numbers are negative, absent texts NULL. */
struct harbor_toml {
	char *schema_version, *name;
	double agent_timeout, verifier_timeout; /* seconds */
	double cpus, memory_mb, storage_mb;
	char *docker_image, *workdir, *os;
	char *environment_mode;           /* "shared" or "separate" */
	bool verifier_has_image;          /* [verifier.environment] is there */
	char *agent_mode, *verifier_mode; /* network, after inheritance; NULL = public */
	struct strv agent_hosts;
	struct strv env, verifier_env, solution_env; /* "KEY=value", templates as written */
	struct strv artifacts;                       /* paths in the box */
	struct json_array collect;                   /* struct harbor_collect */
	size_t steps;                                /* [[steps]] */
	char *base_commit, *repo;                    /* of [metadata], where converters put them */
	struct strv unknown; /* keys of the file that Harbor's schema does not have */
};

/* Read task.toml of @n bytes called @name. Keys that the schema does not have are noted; wrong types, modes and
 * versions are errors. 0 or -ERR_INPUT. Free with harbor_toml_done(). */
int harbor_toml_parse(const char *name, const char *text, size_t n, struct harbor_toml *ret,
		      struct err *err);

/* Free; {0} is fine. */
void harbor_toml_done(struct harbor_toml *t);

struct harbor_options {
	const char *out;       /* directory, made when it is not there */
	const char *rootfs;    /* "host", "dir:PATH", "oci:LAYOUT[:TAG]", ...; NULL = "host" */
	const char *image_map; /* JSON object: image name to root file system, or NULL */
	const char *sources;   /* directory of repositories, or NULL */
};

struct harbor_result {
	size_t tasks;
	struct strv notes; /* "INSTANCE: what the task says that is not carried over as it was" */
};

/* Import every directory of @dirs that holds task.toml, and those right below one that does not. Written: for each
 * task OUT/INSTANCE.task.json, INSTANCE.extra.json ("proctor.extra/1"), INSTANCE.harbor/ (the directory as it was) and,
 * when the Dockerfile copies the work tree, INSTANCE.source/. Each task is checked before its files are written; a task that
 * cannot be imported is an error that names it. 0 or negative. Free with harbor_result_done(). */
int harbor_import(const struct strv *dirs, const struct harbor_options *o,
		  struct harbor_result *ret, struct err *err);

/* Free; {0} is fine. */
void harbor_result_done(struct harbor_result *r);

#endif
