/* The four kinds of input files, wrong in every way: each must be refused as -ERR_INPUT with the
 * file, the place and the nearest choice. */
#include <errno.h>

#include "base/buf.h"
#include "base/str.h"
#include "profiles/agent.h"
#include "profiles/profile.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "tests/unit/profiles/scene.h"

static int task(const char *path, struct err *err)
{
	struct task *t = NULL;
	int rc = task_load(path, &t, err);

	task_free(t);
	return rc;
}

static int agent(const char *path, struct err *err)
{
	struct agent *a = NULL;
	int rc = agent_load(path, &a, err);

	agent_free(a);
	return rc;
}

static int profile(const char *path, struct err *err)
{
	struct profile *p = NULL;
	int rc = profile_load(path, &p, err);

	profile_free(p);
	return rc;
}

static int scenario(const char *path, struct err *err)
{
	struct scenario *s = NULL;
	int rc = scenario_load(path, &s, err);

	scenario_free(s);
	return rc;
}

struct kind {
	const char *name;
	int (*load)(const char *path, struct err *err);
	const char *body; /* the least that is accepted, without braces and schema */
};

#define TASK     "\"instance_id\": \"a-1\", \"problem_statement\": \"p\", \"source\": \"/nowhere\""
#define AGENT    "\"name\": \"a\", \"command\": [\"true\"]"
#define PROFILE  "\"name\": \"p\""
#define SCENARIO "\"id\": \"s\", \"mode\": \"vanilla\""
#define REGION   "\"id\": \"s\", \"regions\": [{\"path\": \"a\", \"start\": 1, \"end\": 2}], "
#define IV(rest) REGION "\"interventions\": [{\"order\": 1, " rest "}]"
#define EFFECT   "\"effects\": [{\"message\": {}}]"
#define WHEN(w)  IV("\"when\": {" w "}, " EFFECT)
#define DO(e)    IV("\"when\": {\"event\": \"read\"}, \"effects\": [" e "]")

static const struct kind kinds[] = {
	{ "task", task, TASK },
	{ "agent", agent, AGENT },
	{ "profile", profile, PROFILE },
	{ "scenario", scenario, SCENARIO },
};

/* clang-format off */
static const struct {
	const char *kind;
	const char *body; /* in place of kind.body */
	const char *want[3]; /* parts of the error text */
} rows[] = {
	/* missing */
	{ "task", "\"problem_statement\": \"p\", \"source\": \"/x\"", { "$: \"instance_id\" is missing" } },
	{ "task", "\"instance_id\": \"a\", \"source\": \"/x\"", { "$: \"problem_statement\" is missing" } },
	{ "task", "\"instance_id\": \"a\", \"problem_statement\": \"p\"", { "$: \"source\" is missing" } },
	{ "task", "\"instance_id\": null, \"problem_statement\": \"p\", \"source\": \"/x\"", { "\"instance_id\" must not be null" } },
	{ "agent", "\"command\": [\"true\"]", { "$: \"name\" is missing" } },
	{ "agent", "\"name\": \"a\"", { "$: \"command\" is missing" } },
	{ "scenario", "\"mode\": \"vanilla\"", { "$: \"id\" is missing" } },
	{ "scenario", "\"id\": \"s\", \"regions\": [{\"path\": \"a\", \"start\": 1}]", { "$.regions[0]: \"end\" is missing" } },
	{ "scenario", IV(EFFECT), { "$.interventions[0]: \"when\" is missing" } },
	{ "scenario", WHEN(""), { "$.interventions[0].when: \"event\" is missing" } },
	/* wrong type */
	{ "task", TASK ", \"workdir\": 3", { "$.workdir: expected a string" } },
	{ "task", TASK ", \"environment\": []", { "$.environment: expected an object" } },
	{ "task", TASK ", \"environment\": {\"env\": {\"A\": 1}}", { "$.environment.env", "\"A\"" } },
	{ "task", TASK ", \"test\": {\"timeout\": \"soon\"}", { "$.test.timeout: expected a duration" } },
	{ "task", TASK ", \"test\": {\"files\": [{\"from\": \"/etc/passwd\", \"to\": \"/opt/x\", \"copy\": true}]}", { "$.test.files[0].from", "no directory" } },
	{ "task", TASK ", \"FAIL_TO_PASS\": {}", { "$.FAIL_TO_PASS: expected an array of strings" } },
	{ "task", TASK ", \"FAIL_TO_PASS\": [1]", { "$.FAIL_TO_PASS: entry 0" } },
	{ "task", TASK ", \"PASS_TO_PASS\": \"[1\"", { "$.PASS_TO_PASS, as JSON in a string:1:3" } },
	{ "task", TASK ", \"PASS_TO_PASS\": \"{}\"", { "$.PASS_TO_PASS: expected an array" } },
	{ "agent", "\"name\": \"a\", \"command\": \"true\"", { "$.command: expected an array of strings" } },
	{ "agent", AGENT ", \"api\": \"openai-chta\"", { "$.api", "did you mean \"openai-chat\"" } },
	{ "agent", AGENT ", \"install\": \"npm\"", { "$.install: expected an object" } },
	{ "agent", AGENT ", \"message_via\": 1", { "$.message_via: expected \"gateway\"" } },
	{ "agent", AGENT ", \"message_via\": \"file:\"", { "$.message_via", "file:PATH" } },
	{ "agent", AGENT ", \"install\": {\"nmp\": \"x\"}", { "$.install: unknown key \"nmp\"", "\"npm\"" } },
	{ "agent", AGENT ", \"install\": {\"npm\": \"x\", \"name\": \"../x\"}", { "$.install: \"../x\"" } },
	{ "agent", AGENT ", \"install\": {\"npm\": \"x\", \"program\": \"../x\"}", { "$.install: program" } },
	{ "agent", AGENT ", \"tools\": []", { "$.tools: expected an object of tools" } },
	{ "agent", AGENT ", \"tools\": {\"raed\": {}}", { "$.tools: unknown key \"raed\"", "\"read\"" } },
	{ "agent", AGENT ", \"tools\": {\"read\": {\"name\": \"r\"}}", { "$.tools.read: \"args\" is missing" } },
	{ "agent", AGENT ", \"tools\": {\"read\": {\"name\": \"\", \"args\": {}}}", { "$.tools.read: \"name\" is empty" } },
	{ "agent", AGENT ", \"tools\": {\"read\": {\"name\": null, \"args\": {}}}", { "$.tools.read: \"name\" is empty" } },
	{ "agent", AGENT ", \"tools\": {\"edit\": {\"name\": \"e\", \"args\": \"x\"}}", { "$.tools.edit: \"args\" must be an object" } },
	{ "agent", AGENT ", \"tools\": {\"edit\": {\"name\": \"e\", \"args\": {}, \"custom\": true}}", { "$.tools.edit: \"args\" must be a string" } },
	{ "agent", AGENT ", \"tools\": {\"shell\": {\"name\": \"s\", \"args\": {\"c\": \"{comand}\"}}}", { "there is no {comand}", "{command}" } },
	{ "agent", AGENT ", \"message_via\": \"native\"", { "$.message_via: native needs" } },
	{ "agent", AGENT ", \"resume\": {\"command\": [\"\"], \"session\": \"~/s/*\"}", { "$.resume.command", "give the program" } },
	{ "agent", AGENT ", \"resume\": {\"session\": \"~/s/*\"}", { "$.resume.command", "give the program" } },
	{ "agent", AGENT ", \"resume\": {\"command\": [\"a\", \"{session}\"]}", { "$.resume.session", "plain relative path" } },
	{ "agent", AGENT ", \"resume\": {\"command\": [\"a\", \"{session}\"], \"session\": \"~/../*\"}", { "$.resume.session", "plain relative path" } },
	{ "agent", AGENT ", \"resume\": {\"command\": [\"a\", \"{session}\"], \"session\": \"/s/*\"}", { "$.resume.session", "plain relative path" } },
	{ "agent", AGENT ", \"resume\": {\"id\": \"uid\"}", { "$.resume.id", "did you mean \"uuid\"" } },
	{ "agent", AGENT ", \"native\": {\"protocol\": \"pi-rcp\"}", { "$.native.protocol", "did you mean \"pi-rpc\"" } },
	{ "agent", AGENT ", \"extends\": 1", { "$.extends: expected a string" } },
	{ "agent", AGENT ", \"extends\": \"nosuch\"", { "$.extends: there is no agent \"nosuch\"" } },
	{ "agent", AGENT ", \"extends\": \"./gone.json\"", { "$.extends", "cannot read" } },
	{ "agent", AGENT ", \"extends\": \"./bad.json\"", { "more than 8 agents" } },
	{ "profile", PROFILE ", \"model\": {\"timeout\": 0}", { "$.model.timeout: 0 would wait" } },
	{ "profile", PROFILE ", \"model\": {\"retries\": 101}", { "$.model.retries: more than 100" } },
	{ "profile", PROFILE ", \"model\": {\"delivery\": \"bufered\"}", { "$.model.delivery", "did you mean \"buffered\"" } },
	{ "profile", PROFILE ", \"model\": {\"pins\": \"off\"}", { "$.model: unknown key \"pins\"", "\"pin\"" } },
	{ "profile", PROFILE ", \"limits\": {\"wall\": \"-1s\"}", { "$.limits.wall: expected a duration" } },
	{ "profile", PROFILE ", \"limits\": {\"memory\": \"4 G\"}", { "$.limits.memory: expected a size" } },
	{ "profile", PROFILE ", \"limits\": {\"processes\": 1.5}", { "$.limits.processes: expected a whole number" } },
	{ "profile", PROFILE ", \"limits\": {\"dollars\": \"3.0000001\"}", { "$.limits.dollars: expected an amount" } },
	{ "profile", PROFILE ", \"trace\": \"file\"", { "$.trace", "did you mean \"files\"" } },
	{ "profile", PROFILE ", \"extends\": 1", { "$.extends: expected a string" } },
	{ "profile", PROFILE ", \"syscalls\": {\"nested_userns\": 1}", { "$.syscalls.nested_userns: expected true or false" } },
	{ "scenario", SCENARIO ", \"regions\": [1]", { "$.regions[0]: expected an object" } },
	{ "scenario", WHEN("\"event\": \"reed\""), { "$.interventions[0].when.event", "did you mean \"read\"" } },
	{ "scenario", SCENARIO ", \"checks\": []", { "$.checks: expected an object" } },
	{ "scenario", SCENARIO ", \"authority\": {\"v1\": 1}", { "$.authority: version \"v1\"" } },
	/* unknown */
	{ "task", TASK ", \"tests\": {}", { "$: unknown key \"tests\"", "did you mean \"test\"" } },
	{ "task", TASK ", \"test\": {\"comand\": \"x\"}", { "$.test: unknown key \"comand\"", "\"command\"" } },
	{ "agent", AGENT ", \"base_url\": \"x\"", { "unknown key \"base_url\"", "\"base_url_env\"" } },
	{ "profile", PROFILE ", \"limit\": {}", { "unknown key \"limit\"", "\"limits\"" } },
	{ "profile", PROFILE ", \"limits\": {\"walls\": 1}", { "$.limits: unknown key \"walls\"", "\"wall\"" } },
	{ "scenario", SCENARIO ", \"checks\": {\"prohibitted\": []}", { "$.checks: unknown key", "\"prohibited\"" } },
	{ "scenario", SCENARIO ", \"actors\": {\"refrence\": \"a\"}", { "$.actors: unknown key", "\"reference\"" } },
	{ "scenario", DO("{\"mesage\": {}}"), { "$.interventions[0].effects[0]: unknown key", "\"message\"" } },
	/* values */
	{ "task", "\"instance_id\": \"a/b\", \"problem_statement\": \"p\", \"source\": \"/x\"", { "$.instance_id: \"a/b\" is not a name" } },
	{ "task", "\"instance_id\": \"..\", \"problem_statement\": \"p\", \"source\": \"/x\"", { "$.instance_id" } },
	{ "task", "\"instance_id\": \"\", \"problem_statement\": \"p\", \"source\": \"/x\"", { "$.instance_id" } },
	{ "task", "\"instance_id\": \"a\", \"problem_statement\": \"p\", \"source\": \"\"", { "$.source: empty" } },
	{ "task", TASK ", \"base_commit\": \"HEAD\"", { "$.base_commit: expected 40 hex digits" } },
	{ "task", TASK ", \"workdir\": \"work\"", { "$.workdir", "not an absolute path" } },
	{ "task", TASK ", \"workdir\": \"/a/..\"", { "$.workdir: the work directory cannot be /" } },
	{ "task", TASK ", \"workdir\": \"/proc/x\"", { "$.workdir: /proc belongs" } },
	{ "task", TASK ", \"environment\": {\"rootfs\": \"hots\"}", { "$.environment.rootfs: \"hots\" is no root" } },
	{ "task", TASK ", \"environment\": {\"rootfs\": \"dir:\"}", { "$.environment.rootfs" } },
	{ "task", TASK ", \"environment\": {\"rootfs\": \"dir:/\"}", { "the host itself" } },
	{ "task", TASK ", \"environment\": {\"env\": {\"A B\": \"\"}}", { "$.environment.env: \"A B\"" } },
	{ "task", TASK ", \"environment\": {\"env\": {\"PROCTOR_X\": \"\"}}", { "PROCTOR_" } },
	{ "task", TASK ", \"patch\": \"missing.diff\"", { "$.patch: cannot read", "missing.diff" } },
	{ "task", TASK ", \"patch\": \".\"", { "$.patch", "not a regular file" } },
	{ "task", TASK ", \"patch\": \"fifo\"", { "$.patch", "not a regular file" } },
	{ "task", TASK ", \"patch\": \"nul.diff\"", { "$.patch", "NUL" } },
	{ "task", TASK ", \"patch\": \"huge.diff\"", { "$.patch", "larger than 16M" } },
	{ "task", TASK ", \"test\": {\"timeout\": 0}", { "$.test.timeout: tests must end" } },
	{ "task", TASK ", \"test\": {\"command\": \"\"}", { "$.test.command: the command is empty" } },
	{ "task", TASK ", \"test\": {\"report\": \"../x\"}", { "$.test.report" } },
	{ "task", TASK ", \"test\": {\"hidden\": [\"/x\"]}", { "$.test.hidden" } },
	{ "task", TASK ", \"test\": {\"hidden\": [\"**a**a**a**a**a**a**a**a**a\"]}", { "$.test.hidden", "stars" } },
	{ "agent", "\"name\": \"a b\", \"command\": [\"true\"]", { "$.name" } },
	{ "agent", "\"name\": \"a\", \"command\": []", { "$.command: empty" } },
	{ "agent", AGENT ", \"env\": {\"1A\": \"\"}", { "$.env: \"1A\"" } },
	{ "agent", AGENT ", \"key_env\": \"A-B\"", { "$.key_env: \"A-B\"" } },
	{ "agent", AGENT ", \"files\": {\"/etc/x\": \"fine.in\"}", { "$.files./etc/x: the name must be" } },
	{ "agent", AGENT ", \"files\": {\"~/../x\": \"fine.in\"}", { "$.files.~/../x: the name must be" } },
	{ "agent", AGENT ", \"files\": {\"~/x\": \"../fine.in\"}", { "$.files.~/x", "own directory" } },
	{ "agent", AGENT ", \"files\": {\"~/x\": \"/etc/passwd\"}", { "$.files.~/x", "own directory" } },
	{ "agent", AGENT ", \"files\": {\"~/x\": \"link.in\"}", { "$.files.~/x: cannot read link.in" } },
	{ "agent", AGENT ", \"files\": {\"~/x\": \"gone.in\"}", { "$.files.~/x: cannot read gone.in" } },
	{ "profile", "\"name\": \"a/b\"", { "$.name" } },
	{ "profile", PROFILE ", \"filesystem\": {\"read\": [\"/usr\", \"etc\"]}", { "$.filesystem.read[1]: \"etc\"" } },
	{ "profile", PROFILE ", \"filesystem\": {\"write\": [\"/usr/..\"]}", { "$.filesystem.write[0]: /" } },
	{ "profile", PROFILE ", \"network\": {\"hosts\": [\"https://a.org\"]}", { "$.network.hosts[0]" } },
	{ "profile", PROFILE ", \"network\": {\"hosts\": [\"a.org:0\"]}", { "$.network.hosts[0]" } },
	{ "profile", PROFILE ", \"network\": {\"hosts\": [\"a.*.org\"]}", { "$.network.hosts[0]" } },
	{ "profile", PROFILE ", \"network\": {\"hosts\": [\"[::1\"]}", { "$.network.hosts[0]" } },
	{ "profile", PROFILE ", \"syscalls\": {\"deny\": [\"b pf\"]}", { "$.syscalls.deny[0]" } },
	{ "profile", PROFILE ", \"require\": [\"usern\"]", { "$.require[0]", "did you mean \"userns\"" } },
	{ "profile", PROFILE ", \"extends\": \"nosuch\"", { "$.extends: there is no profile \"nosuch\"", "looked for" } },
	{ "profile", PROFILE ", \"extends\": \"agnet\"", { "$.extends", "did you mean \"agent\"" } },
	{ "profile", PROFILE ", \"extends\": \"./gone.json\"", { "cannot read", "gone.json" } },
	{ "profile", PROFILE ", \"extends\": \"./bad.json\"", { "leads back to" } },
	{ "scenario", "\"id\": \"s\"", { "mode \"edit+message\" needs \"interventions\"" } },
	{ "scenario", SCENARIO ", \"max_rounds\": 0", { "$.max_rounds" } },
	{ "scenario", SCENARIO ", \"regions\": [{\"path\": \"../a\", \"start\": 1, \"end\": 1}]", { "$.regions[0]: path \"../a\"" } },
	{ "scenario", SCENARIO ", \"regions\": [{\"path\": \".git/config\", \"start\": 1, \"end\": 1}]", { "$.regions[0]: path" } },
	{ "scenario", SCENARIO ", \"regions\": [{\"path\": null, \"start\": 1, \"end\": 1}]", { "$.regions[0]: path" } },
	{ "scenario", SCENARIO ", \"regions\": [{\"path\": \"a\", \"start\": 0, \"end\": 1}]", { "$.regions[0]: lines 0 to 1" } },
	{ "scenario", SCENARIO ", \"regions\": [{\"path\": \"a\", \"start\": 5, \"end\": 4}]", { "$.regions[0]: lines 5 to 4" } },
	{ "scenario", REGION "\"interventions\": [{\"order\": 2, \"when\": {\"event\": \"read\"}, " EFFECT "}]", { "$.interventions[0]: order is 2" } },
	{ "scenario", WHEN("\"event\": \"read\", \"regions\": [1]"), { "$.interventions[0].when: regions[0] is 1" } },
	{ "scenario", WHEN("\"event\": \"read\", \"min_overlap\": 0"), { "min_overlap" } },
	{ "scenario", WHEN("\"event\": \"exec\""), { "event exec needs \"program\"" } },
	{ "scenario", WHEN("\"event\": \"command_count\""), { "event command_count needs \"n\"" } },
	{ "scenario", WHEN("\"event\": \"progress\", \"at\": 1.5"), { "event progress needs \"at\"" } },
	{ "scenario", WHEN("\"event\": \"time\", \"at\": -1"), { "event time needs \"at\"" } },
	{ "scenario", WHEN("\"event\": \"time\", \"at\": 1e999"), { "needs \"at\"" } },
	{ "scenario", WHEN("\"event\": \"anchor\""), { "event anchor needs \"anchor\"" } },
	{ "scenario", WHEN("\"event\": \"after\", \"after\": 1"), { "event after needs \"after\"" } },
	{ "scenario", WHEN("\"event\": \"region_state_changed\""), { "event region_state_changed needs an earlier intervention" } },
	{ "scenario", WHEN("\"event\": \"progress\", \"unit\": \"command\""), { "$.interventions[0].when.unit", "did you mean \"commands\"" } },
	{ "scenario", SCENARIO ", \"progress\": [0.5, 0.25]", { "$.progress: fraction 2 must be" } },
	{ "scenario", SCENARIO ", \"progress\": [0.5, 1.25]", { "$.progress: fraction 2 must be" } },
	{ "scenario", SCENARIO ", \"progress\": [\"half\"]", { "$.progress: fraction 1 must be" } },
	{ "scenario", SCENARIO ", \"progress\": []", { "$.progress: expected an array" } },
	{ "scenario", SCENARIO ", \"progress\": 0.5", { "$.progress: expected an array" } },
	{ "scenario", "\"id\": \"s\", \"interventions\": [{\"order\": 1, \"when\": {\"event\": \"read\"}, " EFFECT "}]", { "needs \"regions\" of the scenario" } },
	{ "scenario", DO(""), { "no effect takes place in mode \"edit+message\"" } },
	{ "scenario", DO("{}"), { "effects[0]: an effect has exactly one" } },
	{ "scenario", DO("{\"message\": {}, \"exec\": [\"a\"]}"), { "effects[0]: an effect has exactly one" } },
	{ "scenario", DO("{\"edit\": null}"), { "effects[0]: edit is empty" } },
	{ "scenario", DO("{\"exec\": []}"), { "effects[0]: exec is empty" } },
	{ "scenario", DO("{\"model\": 1}"), { "effects[0]: model must be an object" } },
	{ "scenario", DO("{\"message\": {\"text\": \"a\", \"template\": \"b\"}}"), { "choose one" } },
	{ "scenario", DO("{\"message\": {\"text\": \"\"}}"), { "message is empty" } },
	{ "scenario", DO("{\"edit\": \"gone.diff\"}"), { "$.interventions[0].effects[0].edit: cannot read" } },
	{ "scenario", DO("{\"edit\": \"empty.diff\"}"), { "$.interventions[0].effects[0].edit: the file is empty" } },
	{ "scenario", "\"mode\": \"message\", " DO("{\"edit\": \"a\\nb\"}"), { "no effect takes place in mode \"message\"" } },
	{ "scenario", "\"mode\": \"edit\", " WHEN("\"event\": \"read\""), { "no effect takes place in mode \"edit\"" } },
};

/* The same for every kind: %s is the schema line, then the body. */
static const struct {
	const char *what;
	const char *before, *after; /* around the accepted body; NULL = nothing but after */
	const char *want[3];
} all[] = {
	{ "no schema",	   "{ ", " }", { "\"schema\" is missing", "proctor.KIND/1" } },
	{ "other schema",  "{ \"schema\": \"proctor.study/1\", ", " }", { "$.schema: expected \"proctor.KIND/1\"" } },
	{ "no object",	   NULL, "[]", { "expected an object", "proctor.KIND/1" } },
	{ "nothing",	   NULL, "", { ":1:1: not valid JSON" } },
	{ "unknown key",   "{ \"schema\": \"proctor.KIND/1\", ", ", \"zzzzzzzz\": 1 }", { "$: unknown key \"zzzzzzzz\"" } },
	{ "twice",	   "{ \"schema\": \"proctor.KIND/1\", ", ", \"zz\": 1, \"schema\": \"proctor.KIND/1\" }", { "unknown key \"zz\"" } },
	{ "schema twice",  "{ \"schema\": \"proctor.KIND/1\", ", ", \"schema\": \"proctor.KIND/1\" }", { "$.schema: key given twice" } },
	{ "not UTF-8",	   "{ \"schema\": \"proctor.KIND/1\",\n", ", \"x\": \"\xff\" }", { ":2:", "not UTF-8" } },
	{ "NUL escape",	   "{ \"schema\": \"proctor.KIND/1\",\n", ", \"x\": \"\\u0000\" }", { ":2:", "\\u0000" } },
	{ "cut",	   "{ \"schema\": \"proctor.KIND/1\",\n", ",\n", { ":", "not valid JSON" } },
	{ "bytes behind",  "{ \"schema\": \"proctor.KIND/1\",\n", "}\n}", { ":3:1: not valid JSON" } },
};
/* clang-format on */

static const struct kind *by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return kinds + i;
	}
	abort();
}

/* @text with KIND replaced by @kind. */
static char *with_kind(const char *text, const char *kind)
{
	auto_buf b = BUF_INIT(1u << 20);

	while (*text) {
		if (str_starts(text, "KIND")) {
			buf_adds(&b, kind);
			text += 4;
		} else {
			buf_addc(&b, *text++);
		}
	}
	return buf_steal(&b, NULL);
}

static void refused(const struct kind *k, const char *dir, const char *what, const char *text,
		    const char *const want[3])
{
	auto_free char *path = scene_put(dir, "bad.json", text);
	struct err err = { 0 };
	int rc = k->load(path, &err);
	bool ok = rc == -ERR_INPUT && err.code == ERR_INPUT;

	ok = ok && strstr(err.text, "bad.json");
	for (int i = 0; i < 3 && want[i]; i++) {
		auto_free char *part = with_kind(want[i], k->name);

		ok = ok && strstr(err.text, part);
	}
	if (!tap_ok(ok, "%s: %s", k->name, what))
		tap_diag("rc %d: %s", rc, err.text);
}

static void same_for_all(const char *dir)
{
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
			auto_free char *before = all[i].before
							 ? with_kind(all[i].before, kinds[k].name)
							 : mem_strdup("");
			auto_free char *after = with_kind(all[i].after, kinds[k].name);
			auto_free char *text =
				mem_printf("%s%s%s", before, all[i].before ? kinds[k].body : "",
					   after);

			refused(kinds + k, dir, all[i].what, text, all[i].want);
		}
	}
}

static void deep_and_large(const char *dir)
{
	static const char *const deep[3] = { ":1:", "nested deeper than 64" };
	static const char *const large[3] = { "more than the 4194304 allowed" };
	static const char *const large_task[3] = { "more than the 67108864 allowed" };
	static const char *const gone[3] = { "cannot read" };
	auto_free char *spaces = mem_alloc(TASK_FILE_MAX + 2);
	auto_free char *missing = path_join(dir, "not-there.json");

	memset(spaces, ' ', TASK_FILE_MAX + 1);
	spaces[TASK_FILE_MAX + 1] = '\0';
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		auto_buf b = BUF_INIT(1u << 20);
		struct err err = { 0 };

		buf_addf(&b, "{ \"schema\": \"proctor.%s/1\", %s, \"x\": ", kinds[k].name,
			 kinds[k].body);
		for (int i = 0; i < 100000; i++)
			buf_addc(&b, '[');
		refused(kinds + k, dir, "deep nesting", buf_str(&b), deep);
		refused(kinds + k, dir, "too large", spaces,
			kinds[k].load == task ? large_task : large);
		tap_ok(kinds[k].load(missing, &err) == -ERR_INPUT && strstr(err.text, gone[0]),
		       "%s: a missing file: %s", kinds[k].name, err.text);
	}
}

int main(void)
{
	char *dir = scene_new();
	auto_free char *fifo = path_join(dir, "fifo"), *huge = path_join(dir, "huge.diff");
	auto_free char *nul = path_join(dir, "nul.diff"), *link = path_join(dir, "link.in");

	setenv("XDG_CONFIG_HOME", dir, 1);
	scene_add(dir, "fine.in", "{}");
	scene_add(dir, "empty.diff", "");
	scene_add(dir, "nul.diff", "a\n");
	scene_add(dir, "huge.diff", "");
	/* 17M of hole: read in full it would be NUL bytes, but the size is refused first. */
	if (mkfifo(fifo, 0600) < 0 || truncate(huge, 17 << 20) < 0 || truncate(nul, 10) < 0 ||
	    symlink("fine.in", link) < 0)
		abort();
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		auto_free char *text = mem_printf("{ \"schema\": \"proctor.%s/1\", %s }",
						  kinds[k].name, kinds[k].body);
		auto_free char *path = scene_put(dir, "bad.json", text);
		struct err err = { 0 };

		tap_ok(kinds[k].load(path, &err) == 0, "%s: the least is accepted %s",
		       kinds[k].name, err.text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = mem_printf("{ \"schema\": \"proctor.%s/1\", %s }",
						  rows[i].kind, rows[i].body);

		refused(by_name(rows[i].kind), dir, rows[i].want[0], text, rows[i].want);
	}
	same_for_all(dir);
	deep_and_large(dir);
	scene_done(dir);
	return tap_done();
}
