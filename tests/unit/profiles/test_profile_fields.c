/* profile_fields.c: every field of the contract's examples is listed, each with a line of text. */
#include "profiles/profile.h"

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

static const char *const some[] = {
	"task\tschema\t",
	"task\tinstance_id\tstring\trequired\t",
	"task\tenvironment.packages\tarray of strings\toptional\t",
	"task\ttest.timeout\tduration\toptional\t",
	"task\tFAIL_TO_PASS\t",
	"agent\tapi\tone of none|openai-chat|openai-responses|anthropic|gemini\toptional\t",
	"agent\tmessage_via\t",
	"agent\tfiles\tobject of strings\t",
	"agent\ttools.edit.args\tany\trequired\t",
	"agent\tinstall.npm\tstring\toptional\t",
	"agent\tnative.protocol\tone of none|pi-rpc|codex-app-server|claude-stream-json\t",
	"profile\textends\t",
	"profile\tmodel.delivery\tone of buffered|stream\t",
	"profile\tmodel.timeout\tduration\t",
	"profile\tfilesystem.workspace\tone of overlay|direct\t",
	"profile\tlimits.dollars\tmoney\toptional\t",
	"profile\tlimits.memory\tsize\t",
	"scenario\tregions[].path\tstring\trequired\t",
	"scenario\tinterventions[].when.event\tone of open|read|",
	"scenario\tinterventions[].effects[].message.template\t",
	"scenario\tchecks.prohibited\t",
	"scenario\tactors.stale\t",
};

int main(void)
{
	auto_buf b = BUF_INIT(1u << 20);
	char *line, *save = NULL;
	size_t lines = 0;

	profile_fields_doc(&b);
	for (size_t i = 0; i < ARRAY_SIZE(some); i++)
		tap_ok(strstr(buf_str(&b), some[i]), "listed: %s", some[i]);
	for (line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t tabs = 0;

		for (const char *p = line; *p; p++)
			tabs += *p == '\t';
		lines++;
		if (tabs != 4 || str_ends(line, "\t"))
			tap_ok(false, "four tabs and a text: %s", line);
	}
	tap_ok(lines > 80, "%zu fields", lines);
	return tap_done();
}
