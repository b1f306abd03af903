/* A temporary directory with small files for the tests of profiles/, and the four example files of
 * the contract. Not for use outside tests/unit/profiles. */
#ifndef TESTS_UNIT_PROFILES_SCENE_H
#define TESTS_UNIT_PROFILES_SCENE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "tests/lib/tap.h"

/* Absolute path of a new directory; removed by scene_done(). Ends the program when it cannot be
 * made: nothing after it could mean anything. */
static inline char *scene_new(void)
{
	char template[] = "/tmp/proctor-profiles-XXXXXX";
	char *dir = mkdtemp(template);

	if (!dir)
		abort();
	return realpath(dir, NULL);
}

/* Remove it with everything in it and free the name. */
static inline void scene_done(char *dir)
{
	tap_ok(fd_remove_tree(AT_FDCWD, dir) == 0, "the temporary directory is gone");
	free(dir);
}

/* Write @text to @name below @dir (parents are made). Returns the path; caller frees. */
static inline char *scene_put(const char *dir, const char *name, const char *text)
{
	char *path = path_join(dir, name);
	auto_free char *parent = path_dir(path);
	auto_fd int fd = -1;
	struct err err;

	if (fd_mkdirs(parent, 0755, &err) < 0)
		abort();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		abort();
	return path;
}

/* As scene_put() for a file whose path nobody needs. */
static inline void scene_add(const char *dir, const char *name, const char *text)
{
	free(scene_put(dir, name, text));
}

#define SCENE_DIFF                                                                                 \
	"diff --git a/src/calc.c b/src/calc.c\n--- a/src/calc.c\n+++ b/src/calc.c\n"               \
	"@@ -1 +1 @@\n-int a;\n+long a;\n"

/* clang-format off */
/* The examples of the file contract, comments and all. */
#define SCENE_TASK                                                                                 \
	"{ \"schema\": \"proctor.task/1\",\n"                                                      \
	"  \"instance_id\": \"acme__calc-12\",\n"                                                  \
	"  \"repo\": \"acme/calc\", \"base_commit\": \"\", \"version\": \"1.2\",\n"                \
	"  \"problem_statement\": \"add() overflows for large inputs.\",\n"                        \
	"  \"source\": \"repo/\",                     // git repository, bundle, ...\n"            \
	"  \"workdir\": \"/workspace\",               // where the agent sees it\n"                \
	"  \"environment\": { \"rootfs\": \"host\", \"env\": {\"LANG\": \"C.UTF-8\"}, \"packages\": [\"python3-pytest\"] },\n" \
	"  \"patch\": \"reference.diff\",             // inline diff text or a file name\n"        \
	"  \"test_patch\": \"hidden-tests.diff\",\n"                                               \
	"  \"test\": { \"command\": \"python3 -m pytest -q tests\", \"reader\": \"pytest\", \"timeout\": \"10m\",\n" \
	"            \"hidden\": [\"tests/**\"], \"report\": \"junit.xml\" },\n"                   \
	"  \"FAIL_TO_PASS\": [\"tests/test_add.py::test_big\"], \"PASS_TO_PASS\": [\"tests/test_add.py::test_small\"] }\n"

#define SCENE_AGENT                                                                                \
	"{ \"schema\": \"proctor.agent/1\", \"name\": \"pi\",\n"                                   \
	"  \"command\": [\"pi\", \"--print\", \"--mode\", \"json\", \"{problem_statement}\"],\n"   \
	"  \"api\": \"openai-chat\",                  // openai-chat | openai-responses | ...\n"   \
	"  \"env\": {\"PI_OFFLINE\": \"1\"}, \"base_url_env\": \"OPENAI_BASE_URL\", \"key_env\": \"OPENAI_API_KEY\",\n" \
	"  \"files\": {\"~/.pi/agent/models.json\": \"models.json.in\"},   // templates\n"         \
	"  \"install\": {\"npm\": \"@mariozechner/pi-coding-agent\"},\n"                           \
	"  \"message_via\": \"gateway\" }             // gateway | stdin | pty | ...\n"

#define SCENE_PROFILE                                                                              \
	"{ \"schema\": \"proctor.profile/1\", \"name\": \"agent\", \"extends\": \"base\",\n"       \
	"  \"filesystem\": { \"rootfs\": \"host\", \"read\": [\"/usr\", \"/etc/ssl\"], \"write\": [], \"hide\": [\"/etc/shadow\"], \"home\": \"empty\" },\n" \
	"  \"network\": { \"mode\": \"allowlist\", \"hosts\": [\"*.example.org\", \"api.example.com:443\"] },\n" \
	"  \"syscalls\": { \"deny\": [\"ptrace\", \"bpf\"], \"nested_userns\": false },\n"         \
	"  \"limits\": { \"wall\": \"1h\", \"cpu\": \"30m\", \"memory\": \"4G\", \"processes\": 512, \"open_files\": 4096, \"disk\": \"8G\", \"output\": \"64M\",\n" \
	"              \"model_calls\": 250, \"input_tokens\": 0, \"output_tokens\": 0, \"total_tokens\": 1000000, \"dollars\": \"3.00\" },\n" \
	"  \"on_limit\": \"finish\",                  // finish | refuse | kill\n"                 \
	"  \"grace\": \"30s\", \"trace\": \"files\", \"require\": [\"userns\", \"seccomp\", \"overlay\"] }\n"

#define SCENE_SCENARIO                                                                             \
	"{ \"schema\": \"proctor.scenario/1\", \"id\": \"counter-edit-1\", \"instance_id\": \"acme__calc-12\", \"family\": \"counter-edit\",\n" \
	"  \"mode\": \"edit+message\",                // vanilla | edit+message | ...\n"           \
	"  \"max_rounds\": 3,\n"                                                                   \
	"  \"regions\": [ {\"path\": \"src/calc.c\", \"start\": 10, \"end\": 24, \"evidence\": \"mined\"} ],\n" \
	"  \"interventions\": [\n"                                                                 \
	"    { \"order\": 1,\n"                                                                    \
	"      \"when\": { \"event\": \"read_or_edit\",           // open | read | ...\n"          \
	"                \"regions\": [0], \"touch\": \"bytes\",  // open | bytes | ...\n"         \
	"                \"min_overlap\": 1, \"count_scans\": false,\n"                            \
	"                \"at\": 0.5, \"n\": 12, \"program\": \"pytest\", \"after\": 1 },\n"       \
	"      \"timing\": \"after-command\",                   // at-touch | after-read | ...\n"  \
	"      \"effects\": [\n"                                                                   \
	"        { \"edit\": \"edit.diff\" },\n"                                                   \
	"        { \"message\": { \"text\": \"I changed the limit check.\", \"template\": null } },\n" \
	"        { \"exec\": [\"sh\", \"-c\", \"...\"] },\n"                                       \
	"        { \"model\": { \"session\": \"expire\" } },\n"                                    \
	"        { \"authority\": { \"goal\": \"v2\", \"verifier\": \"v2\" } } ] } ],\n"           \
	"  \"checks\": { \"task\": {}, \"preservation\": [], \"prohibited\": [], \"fresh_observation\": {}, \"recovery_order\": [] },\n" \
	"  \"authority\": { \"v1\": {\"problem_statement\": \"...\", \"test\": {}}, \"v2\": {} },\n" \
	"  \"actors\": { \"reference\": \"ref.diff\", \"unadapted\": \"...\", \"stale\": \"...\", \"recovery\": \"...\" } }\n"
/* clang-format on */

#endif
