/* The predicate language: predicates by synthetic traces, what is refused at load, globs, sets of records, and the
 * reference page against the rows. Argument: docs/predicates.md. */
#include "verifier/pred.h"

#include "tests/lib/fakerun.h"
#include "tests/lib/tap.h"
#include "verifier/pred_internal.h"

/* One trace for all rows. Record numbers are in the comments; the fork is 10, the update 13, told 15, and the
 * agent's first change 21. */
static void make_first(struct fakerun *f)
{
	fakerun_new(f, ", \"state\": \"done\", \"task\": { \"workdir\": \"/workspace\" }");
	fakerun_rec(f, "exec", "\"pid\":100,\"path\":\"/bin/agent\",\"argv\":[\"agent\"]"); /* 1 */
	fakerun_command(f, 1, "read", "\"cat\",\"src/a.c\"",
			0); /* 2 spawn 3 exec 4 command 5 exit */
	fakerun_rec(f, "image", "\"path\":\"src/a.c\",\"sha256\":\"%s\"",
		    fakerun_image(f, "one\ntwo\nthree\n", (char[DIGEST_HEX]){ 0 })); /* 6 */
	fakerun_rec(f, "read",
		    "\"pid\":1001,\"cmd\":1,\"path\":\"src/a.c\",\"lines\":[1,3]");   /* 7 */
	fakerun_edit(f, "agent", 1, "src/b.c", NULL, "bee\n", 1, 1);                  /* 8 */
	fakerun_rec(f, "intervene", "\"order\":1,\"effect\":\"edit\",\"applied\":1"); /* 9 */
	fakerun_rec(f, "fork", "\"call\":2,\"action\":1,\"arm\":\"shifted\"");        /* 10 */
	fakerun_rec(f, "spawn", "\"pid\":100,\"child\":1002,\"child_cmd\":2");        /* 11 */
	fakerun_edit(f, "user", 0, "src/a.c", "one\ntwo\nthree\n", "one\nTWO\nNEW\nthree\n", 2,
		     3); /* 12 */
	fakerun_rec(f, "intervene",
		    "\"order\":1,\"round\":1,\"effect\":\"edit\",\"applied\":1"); /* 13 */
	fakerun_rec(f, "intervene",
		    "\"order\":1,\"round\":1,\"effect\":\"message\",\"applied\":1"); /* 14 */
	fakerun_rec(f, "note", "\"message\":1,\"call\":3");                          /* 15 */
	fakerun_rec(f, "command",
		    "\"cmd\":2,\"class\":\"test\",\"argv\":[\"make\",\"test\"]"); /* 16 */
	fakerun_rec(
		f, "read",
		"\"pid\":100,\"path\":\"/workspace/src/a.c\",\"lines\":[1,4],\"shown\":[2,2]"); /* 17 */
	fakerun_rec(
		f, "read",
		"\"pid\":100,\"path\":\"src/a.c\",\"lines\":[1,4],\"scan\":\"a search\""); /* 18 */
	fakerun_edit(f, "agent", 3, "build/a.o", NULL, "obj\n", 1, 1); /* 19: by a build */
	fakerun_edit(f, "agent", 3, "src/__pycache__/x.pyc", NULL, "obj\n", 1, 1); /* 20 */
	fakerun_edit(f, "agent", 4, "src/a.c", "one\nTWO\nNEW\nthree\n", "one\nTWO\nthree\nfour\n",
		     3, 4); /* 21 */
	fakerun_rec(f, "command",
		    "\"cmd\":3,\"class\":\"build\",\"argv\":[\"cc\",\"-c\"]"); /* 22 */
	fakerun_rec(
		f, "service",
		"\"service\":\"api\",\"event\":\"request\",\"method\":\"POST\","
		"\"route\":\"/v1/items/{id}\",\"code\":410,\"version\":\"v1\",\"mutating\":0"); /* 23 */
	fakerun_rec(
		f, "service",
		"\"service\":\"api\",\"event\":\"request\",\"method\":\"GET\","
		"\"route\":\"/v2/items\",\"code\":200,\"version\":\"v2\",\"mutating\":1"); /* 24 */
}

static void make(struct fakerun *f)
{
	make_first(f);
	fakerun_rec(
		f, "tool",
		"\"call\":4,\"tool\":\"read_file\",\"does\":\"read\",\"path\":\"src/b.c\""); /* 25 */
	fakerun_rec(f, "connect",
		    "\"pid\":100,\"addr\":\"127.0.0.1\",\"port\":8080,\"ret\":-111,"
		    "\"verdict\":\"denied\",\"rule\":\"x\"");                      /* 26 */
	fakerun_rec(f, "note", "\"holder\":\"db\",\"pid\":7,\"what\":\"listen\""); /* 27 */
	fakerun_rec(f, "note", "\"holder\":\"db\",\"ended\":0");                   /* 28 */
	fakerun_rec(f, "rename",
		    "\"pid\":100,\"path\":\"old.c\",\"to\":\"new.c\",\"ret\":0");     /* 29 */
	fakerun_command(f, 5, "test", "\"sh\",\"-c\",\"make \\\"all\\\" tests\"", 2); /* 30..33 */
	fakerun_rec(f, "authority", "\"goal\":\"updated\",\"verifier\":\"v2\"");      /* 34 */
	fakerun_rec(
		f, "touch",
		"\"pid\":100,\"region\":0,\"level\":\"bytes\",\"event\":\"read\",\"path\":\"src/a.c\""); /* 35 */
	fakerun_rec(f, "open",
		    "\"pid\":100,\"path\":\"a\\\\\\\\\\\\xff\\\"b\",\"flags\":0"); /* 36 */
	fakerun_rec(f, "exit",
		    "\"pid\":1002,\"cmd\":2,\"status\":0"); /* 37: command 16's, at last */
	fakerun_rec(f, "end", "\"reason\":\"exited\"");     /* 38 */
}

struct row {
	const char *json;
	bool want;
	uint64_t proof; /* first record cited, 0 = none */
};

/* clang-format off */
static const struct row rows[] = {
	{ "{'exists':{'kind':'read','path':'src/a.c'}}", true, 7 },
	{ "{'exists':{'kind':'read','path':'src/a.c'},'after':'update'}", true, 17 },
	{ "{'exists':{'kind':'read','path':'src/a.c','scan':false},'after':{'record':17}}", false, 0 },
	{ "{'exists':{'kind':'read','path':'src/a.c','scan':true}}", true, 18 },
	{ "{'exists':{'kind':'read','path':'/workspace/src/*.c'},'after':'fork'}", true, 17 },
	{ "{'exists':{'kind':'read','path':['docs/**','**/a.c']},'before':'fork'}", true, 7 },
	{ "{'exists':{'kind':'read','lines':[3,3]},'after':'fork','before':{'record':18}}", false, 0 },
	{ "{'exists':{'kind':'read','lines':[2,9]},'after':'fork'}", true, 17 },
	{ "{'absent':{'kind':'unlink'}}", true, 0 },
	{ "{'absent':{'kind':'edit','by':'agent'},'after':'update'}", false, 19 },
	{ "{'absent':{'kind':'edit','by':'user'},'before':'fork'}", true, 0 },
	{ "{'exists':{'by':'user','kind':'edit'}}", true, 12 },
	{ "{'exists':{'by':'agent','kind':'service'}}", true, 23 },
	{ "{'count':{'kind':'edit','by':'agent'},'min':4,'max':4}", true, 8 },
	{ "{'count':{'kind':'edit','by':'agent'},'max':3}", false, 8 },
	{ "{'count':{'kind':'edit','path':'build/**'},'min':1,'after':'update','before':'first_mutation'}", true, 19 },
	/* records are a millisecond apart: the update is 13, the read 17 */
	{ "{'exists':{'kind':'read','path':'src/a.c'},'after':'update','within':'4ms'}", true, 17 },
	{ "{'exists':{'kind':'read','path':'src/a.c'},'after':'update','within':'3ms'}", false, 0 },
	{ "{'exists':{'kind':'read','path':'src/a.c','scan':false},'after':'update','at_least':'4ms','within':1}", true, 17 },
	{ "{'exists':{'kind':'read','path':'src/a.c','scan':false},'after':'update','at_least':'5ms'}", false, 0 },
	{ "{'exists':{'kind':'read','path':'src/a.c'},'within':0.007}", true, 7 },
	{ "{'absent':{'kind':'read','path':'src/a.c'},'within':'6ms'}", true, 0 },
	{ "{'count':{'kind':'read'},'at_least':'8ms','min':2,'max':2}", true, 17 },
	{ "{'exists':{'kind':'read'},'after':{'record':17},'before':{'record':19},'within':'1h'}", true, 18 },
	{ "{'exists':{'kind':'read'},'after':'end','within':'1h'}", false, 0 },
	/* a command lies in a window when all of it does */
	{ "{'exists':{'class':'test'},'after':'update'}", true, 32 },
	{ "{'exists':{'class':'test'},'after':'update','before':{'record':32}}", false, 0 },
	{ "{'exists':{'class':'test'},'after':'fork','before':'first_mutation'}", true, 16 },
	{ "{'exists':{'class':['build','vcs']}}", true, 22 },
	{ "{'exists':{'class':'test','status':'ok'}}", true, 16 },
	{ "{'exists':{'class':'test','status':'failed'}}", true, 32 },
	{ "{'exists':{'class':'test','status':2}}", true, 32 },
	{ "{'exists':{'class':'build','status':'ok'}}", false, 0 },
	{ "{'exists':{'kind':'command','argv':['make','test'],'program':'make'}}", true, 16 },
	{ "{'exists':{'kind':'command','argv':'make \\\"all\\\" tests'}}", true, 32 },
	{ "{'exists':{'kind':'exec','program':'ca*'}}", false, 0 },
	{ "{'exists':{'kind':'exec','program':'/bin/*'}}", true, 1 },
	{ "{'exists':{'tool':'read*','does':'read'}}", true, 25 },
	{ "{'exists':{'does':['edit','shell']}}", false, 0 },
	{ "{'exists':{'service':'api','route':'/v1/**','code':410,'method':'POST','version':'v1'}}", true, 23 },
	{ "{'exists':{'service':'a*','mutating':true}}", true, 24 },
	{ "{'exists':{'service':'api','mutating':false,'event':'request'}}", true, 23 },
	{ "{'exists':{'kind':'connect','verdict':'deny','port':8080,'status':'failed'}}", true, 26 },
	{ "{'exists':{'kind':'connect','status':'ok'}}", false, 0 },
	{ "{'exists':{'holder':'db','ended':true}}", true, 28 },
	{ "{'exists':{'holder':'d?','ended':false}}", true, 27 },
	{ "{'exists':{'message':1}}", true, 15 },
	{ "{'exists':{'message':2}}", false, 0 },
	{ "{'exists':{'message':true}}", true, 15 },
	{ "{'exists':{'region':0}}", true, 35 },
	{ "{'exists':{'kind':'rename','path':'new.c','status':'ok'}}", true, 29 },
	{ "{'exists':{'order':1,'effect':'message','applied':true}}", true, 14 },
	{ "{'exists':{'goal':'updated','verifier':['v1','v2']}}", true, 34 },
	{ "{'exists':{'kind':'open','path':'a\\\\\\\\*b'}}", false, 0 },
	{ "{'exists':{'kind':'open','path':'a?*\\\"b'}}", true, 36 },
	{ "{'exists':[{'kind':'unlink'},{'kind':'rename'}]}", true, 29 },
	/* references */
	{ "{'exists':{'kind':'read'},'after':{'first':{'kind':'edit','by':'user'}},'before':{'last':{'kind':'edit'}}}", true, 17 },
	{ "{'exists':{'kind':'tool'},'after':{'last':{'kind':'service'},'before':{'record':24}}}", true, 25 },
	{ "{'absent':{'kind':'note'},'after':'told','before':'first_mutation'}", true, 0 },
	{ "{'exists':{'kind':'note'},'after':'update','before':'first_mutation'}", true, 15 },
	{ "{'exists':{'kind':'read'},'after':{'first':{'kind':'unlink'}}}", false, 0 },
	{ "{'absent':{'kind':'read'},'after':{'first':{'kind':'unlink'}}}", true, 0 },
	{ "{'exists':{'kind':'read'},'before':{'first':{'kind':'unlink'}}}", true, 7 },
	{ "{'exists':{'kind':'read'},'before':'start'}", false, 0 },
	{ "{'exists':{'kind':'read'},'after':'end'}", false, 0 },
	{ "{'exists':{'kind':'end'},'after':'start','before':'end'}", true, 38 },
	{ "{'exists':{'kind':'end'},'after':{'record':4000}}", false, 0 },
	/* order */
	{ "{'order':[{'id':'look','match':{'kind':'read'}},{'id':'edit','match':{'kind':'edit','by':'agent'},'needs':['look']}]}", true, 7 },
	{ "{'order':[{'id':'edit','match':{'kind':'edit','path':'src/a.c'},'needs':['look']},{'id':'look','match':{'kind':'read'}}],'after':'update'}", true, 17 },
	{ "{'order':[{'id':'t','match':{'class':'test'},'needs':['s']},{'id':'s','match':{'service':'api','code':200},'needs':['e']},{'id':'e','match':{'kind':'edit','path':'src/a.c','by':'agent'}}]}", true, 21 },
	{ "{'order':[{'id':'a','match':{'kind':'authority'}},{'id':'b','match':{'kind':'service'},'needs':['a']}]}", false, 34 },
	{ "{'order':[{'match':{'kind':'unlink'}}]}", false, 0 },
	/* logic */
	{ "{'all':[{'exists':{'kind':'read'}},{'absent':{'kind':'unlink'}}]}", true, 7 },
	{ "{'all':[{'exists':{'kind':'read'}},{'exists':{'kind':'unlink'}}]}", false, 7 },
	{ "{'any':[{'exists':{'kind':'unlink'}},{'exists':{'kind':'edit'}}]}", true, 8 },
	{ "{'any':[{'exists':{'kind':'unlink'}}]}", false, 0 },
	{ "{'not':{'exists':{'kind':'unlink'}}}", true, 0 },
	{ "{'not':{'not':{'exists':{'kind':'fork'}}}}", true, 10 },
	/* files */
	{ "{'file':{'path':'src/a.c','contains':['TWO','four'],'lacks':'NEW'}}", true, 21 },
	{ "{'file':{'path':'src/a.c','contains':'NEW'}}", false, 21 },
	{ "{'file':{'path':'src/a.c','contains':'NEW','at':'first_mutation'}}", false, 21 },
	{ "{'file':{'path':'src/a.c','contains':'NEW','at':{'record':17}}}", true, 12 },
	{ "{'file':{'path':'src/a.c','contains':'two','at':'fork'}}", true, 6 },
	{ "{'file':{'path':'src/b.c','exists':true}}", true, 8 },
	{ "{'file':{'path':'src/b.c','exists':false,'at':{'record':7}}}", true, 0 },
	{ "{'file':{'path':'README','contains':'base text'}}", true, 0 },
	{ "{'file':{'path':'nowhere','exists':false}}", true, 0 },
	{ "{'file':{'path':'src/a.c','sha256':'0000000000000000000000000000000000000000000000000000000000000000'}}", false, 21 },
	{ "{'lines_kept':{'intervention':1,'min':0.5}}", true, 12 },
	{ "{'lines_kept':{'intervention':1}}", false, 12 },
	{ "{'lines_kept':{'intervention':1,'path':'src/b.c'}}", false, 0 },
	{ "{'lines_kept':{'intervention':2}}", false, 0 },
	{ "{'tests':['good']}", true, 0 },
	{ "{'tests':['good','bad']}", false, 0 },
	{ "{'tests':['unheard of']}", false, 0 },
	{ "{'name':'called','exists':{'kind':'read'},'arm':'shifted'}", true, 7 },
};

/* What is refused, and a part of the message. */
static const struct refused {
	const char *json, *why;
} refused[] = {
	{ "{'exists':{'kind':'read'},'within':'20 parsecs'}", "within must be a duration from 1ms to 24h" },
	{ "{'exists':{'kind':'read'},'within':0}", "within must be a duration" },
	{ "{'exists':{'kind':'read'},'witin':'2s'}", "did you mean \"within\"" },
	{ "{'exists':{'kind':'read'},'within':'2s','at_least':'3s'}", "at_least is longer than within" },
	{ "{'file':{'path':'a','exists':true},'within':'2s'}", "key here" },
	{ "{}", "there are: all, any" },
	{ "7", "there are: all, any" },
	{ "{'exist':{'kind':'read'}}", "did you mean \"exists\"" },
	{ "{'exists':{'kind':'raed'}}", "exists.kind: no kind \"raed\", did you mean \"read\"" },
	{ "{'exists':{'kinds':'read'}}", "did you mean \"kind\"" },
	{ "{'exists':{}}", "at least one key" },
	{ "{'exists':[]}", "1 to 64" },
	{ "{'exists':{'kind':'command','path':'a'}}", "no record has \"path\"" },
	{ "{'exists':{'class':'test','tool':'x'}}", "no record has \"tool\"" },
	{ "{'exists':{'class':'tests'}}", "did you mean \"test\"" },
	{ "{'exists':{'kind':'read'},'after':'updat'}", "did you mean \"update\"" },
	{ "{'exists':{'kind':'read'},'afer':'update'}", "did you mean \"after\"" },
	{ "{'exists':{'kind':'read'},'after':7}", "name of a point" },
	{ "{'exists':{'kind':'read'},'after':{'frist':{'kind':'edit'}}}", "did you mean \"first\"" },
	{ "{'exists':{'kind':'read'},'after':{'record':0}}", "number from 1" },
	{ "{'exists':{'kind':'read'},'after':{'record':1,'before':'end'}}", "exactly one" },
	{ "{'exists':{'kind':'read'},'absent':{'kind':'read'}}", "two predicates" },
	{ "{'exists':{'kind':'read','lines':[3,1]}}", "lines from 1" },
	{ "{'exists':{'kind':'exit','status':'okay'}}", "no status" },
	{ "{'exists':{'kind':'read','scan':1}}", "true or false" },
	{ "{'count':{'kind':'read'}}", "\"min\" or \"max\"" },
	{ "{'count':{'kind':'read'},'min':2,'max':1}", "greater" },
	{ "{'order':[{'id':'a','match':{'kind':'read'},'needs':['b']}]}", "no step \"b\"" },
	{ "{'order':[{'id':'a','match':{'kind':'read'},'needs':['b']},{'id':'b','match':{'kind':'read'},'needs':['a']}]}", "needs itself" },
	{ "{'order':[{'id':'a','match':{'kind':'read'}},{'id':'a','match':{'kind':'read'}}]}", "two steps" },
	{ "{'order':[{'id':'a'}]}", "\"match\"" },
	{ "{'order':[{'id':'a','match':{'kind':'read'},'need':[]}]}", "did you mean \"needs\"" },
	{ "{'file':{'path':'../x','exists':true}}", "relative to the workspace" },
	{ "{'file':{'path':'x'}}", "say what is asked" },
	{ "{'file':{'path':'x','contain':'y'}}", "did you mean \"contains\"" },
	{ "{'lines_kept':{'intervention':0}}", "from 1" },
	{ "{'lines_kept':{'intervention':1,'min':2}}", "share" },
	{ "{'tests':[]}", "at least one" },
	{ "{'all':[]}", "1 to 64" },
	{ "{'all':[{'exists':{'kind':'read'},'arm':'clean'}]}", "no key here \"arm\"" },
	{ "{'exists':{'kind':'read'},'arm':'shift'}", "did you mean \"shifted\"" },
	{ "{'exists':{'kind':'read'},'name':''}", "name must be" },
};

/* clang-format on */

static char *quoted(const char *json)
{
	char *s = mem_strdup(json);

	for (char *p = s; *p; p++)
		if (*p == '\'')
			*p = '"';
	return s;
}

static int passed(void *arg, const char *id)
{
	(void)arg;
	return strcmp(id, "good") == 0 ? 1 : strcmp(id, "bad") == 0 ? 0 : -1;
}

static int base(void *arg, const char *path, struct buf *out, struct err *err)
{
	(void)arg;
	(void)err;
	if (strcmp(path, "README") != 0)
		return 0;
	buf_adds(out, "the base text\n");
	return 1;
}

static struct pred *parse(struct pred_set *set, const char *json, enum pred_as as, struct err *err)
{
	auto_free char *text = quoted(json);
	struct json_src src = { 0 };
	struct pred *p = NULL;

	if (json_parse("t", text, strlen(text), &src, err) < 0 ||
	    pred_parse(set, &src, "$.checks.x", src.root, as, &p, err) < 0)
		p = NULL;
	json_src_done(&src);
	return p;
}

static void table(void)
{
	struct pred_run run = {
		.workdir = "/workspace", .model = true, .test = passed, .base = base
	};
	struct pred_set *set = pred_set_new();
	struct pred *p[ARRAY_SIZE(rows)];
	const struct pred_facts *facts;
	struct err err = { 0 };
	struct fakerun f;

	make(&f);
	fakerun_save(&f);
	run.dir = f.dir;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		p[i] = parse(set, rows[i].json, PRED_AS_ANY, &err);
		if (!p[i])
			tap_ok(false, "%s is read: %s", rows[i].json, err.text);
	}
	tap_ok(pred_scan(set, &run, &err) == 0, "the trace is read %s", err.text);
	facts = pred_facts(set);
	tap_ok(facts->fork == 10 && facts->update == 13 && facts->told == 15 &&
		       facts->mutation == 21 && facts->last_n == 38 && facts->ended &&
		       !facts->cut && !facts->gap && facts->authority == 34 && facts->applied == 2,
	       "points: fork %llu, update %llu, told %llu, mutation %llu",
	       (unsigned long long)facts->fork, (unsigned long long)facts->update,
	       (unsigned long long)facts->told, (unsigned long long)facts->mutation);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pred_finding v = { 0 };

		if (!p[i] || pred_eval(set, p[i], &v, &err) < 0) {
			tap_ok(false, "%s is decided %s", rows[i].json, err.text);
			continue;
		}
		tap_ok(v.v[0].ok == rows[i].want && v.v[0].reason &&
			       (v.v[0].records.n ? v.v[0].records.v[0] : 0) == rows[i].proof,
		       "%s: %d, record %llu: %s", rows[i].json, v.v[0].ok,
		       (unsigned long long)(v.v[0].records.n ? v.v[0].records.v[0] : 0),
		       v.v[0].reason ? v.v[0].reason : "");
		pred_finding_done(&v);
	}
	pred_set_free(set);
	fakerun_done(&f);
}

static void refusals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct pred_set *set = pred_set_new();
		struct err err = { 0 };

		tap_ok(!parse(set, refused[i].json, PRED_AS_ANY, &err) &&
			       strstr(err.text, refused[i].why) && strstr(err.text, "$.checks.x"),
		       "%s: %s", refused[i].json, err.text);
		pred_set_free(set);
	}
}

static void depth(void)
{
	struct pred_set *set = pred_set_new();
	auto_buf b = BUF_INIT(1u << 16);
	struct err err = { 0 };

	for (int i = 0; i < 20; i++)
		buf_adds(&b, "{'not':");
	buf_adds(&b, "{'exists':{'kind':'read'}}");
	for (int i = 0; i < 20; i++)
		buf_adds(&b, "}");
	tap_ok(!parse(set, buf_str(&b), PRED_AS_ANY, &err) && strstr(err.text, "deeper than 16"),
	       "%s", err.text);
	pred_set_free(set);
	set = pred_set_new();
	for (unsigned i = 0; i < PRED_MATCHES_MAX; i++)
		parse(set, "{'exists':{'kind':'read'}}", PRED_AS_ANY, &err);
	tap_ok(!parse(set, "{'exists':{'kind':'read'}}", PRED_AS_ANY, &err) &&
		       strstr(err.text, "more than 256 matches"),
	       "%s", err.text);
	pred_set_free(set);
}

static void milestones(void)
{
	static const struct {
		const char *json;
		uint64_t matched;
	} v[] = {
		/* clang-format off */
		{ "[{'id':'a','match':{'kind':'read'}},{'id':'b','match':{'kind':'service'},'needs':['a']}]", 2 },
		/* the first step is late: leaving it out keeps the other two */
		{ "[{'id':'a','match':{'kind':'authority'}},{'id':'b','match':{'kind':'fork'},'needs':['a']},"
		  "{'id':'c','match':{'kind':'tool'},'needs':['b']}]", 2 },
		{ "[{'match':{'kind':'unlink'}},{'match':{'kind':'fork'}},{'match':{'kind':'tool'}}]", 2 },
		{ "[{'match':{'kind':'unlink'}}]", 0 },
		/* clang-format on */
	};
	struct pred_run run = { .workdir = "/workspace", .model = true };
	struct pred_set *set = pred_set_new();
	struct pred *p[ARRAY_SIZE(v)];
	struct err err = { 0 };
	struct fakerun f;

	make(&f);
	fakerun_save(&f);
	run.dir = f.dir;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		p[i] = parse(set, v[i].json, PRED_AS_MILESTONES, &err);
	tap_ok(pred_scan(set, &run, &err) == 0, "the trace is read %s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		struct pred_finding found = { 0 };
		uint64_t matched = 99, of = 0;

		pred_milestones(set, p[i], &found, &matched, &of, &err);
		tap_ok(matched == v[i].matched && of == p[i]->n_steps, "%s: %llu of %llu",
		       v[i].json, (unsigned long long)matched, (unsigned long long)of);
		pred_finding_done(&found);
	}
	pred_set_free(set);
	fakerun_done(&f);
}

/* Observation between the update and the first change. */
static void observation(void)
{
	struct pred_run run = { .workdir = "/workspace", .model = true };
	struct pred_set *set = pred_set_new();
	struct pred_finding v = { 0 };
	struct err err = { 0 };
	struct pred *good, *late;
	struct fakerun f;
	int rc;

	make(&f);
	fakerun_save(&f);
	run.dir = f.dir;
	good = parse(set, "{'any_of':[{'kind':'read','path':'src/a.c'}]}", PRED_AS_OBSERVATION,
		     &err);
	late = parse(set,
		     "{'any_of':[{'service':'api'}],'mutation':{'kind':'edit','path':'build/*'}}",
		     PRED_AS_OBSERVATION, &err);
	tap_ok(good && late && pred_of_update(good), "read %s", err.text);
	tap_ok(pred_scan(set, &run, &err) == 0, "the trace is read %s", err.text);
	tap_is_u64(pred_facts(set)->mutation, 19, "a scenario's own notion of a change");
	rc = pred_eval(set, good, &v, &err);
	tap_ok(rc == 0 && v.v[0].ok && v.v[0].records.v[0] == 17 && v.v[0].after == 13 &&
		       v.v[0].before == 19,
	       "%s", v.v[0].reason);
	pred_finding_done(&v);
	rc = pred_eval(set, late, &v, &err);
	tap_ok(rc == 0 && !v.v[0].ok && v.v[0].outside.v[0] == 23, "%s", v.v[0].reason);
	pred_finding_done(&v);
	pred_set_free(set);
	fakerun_done(&f);
}

/* What the agent could know when it asked for its first change. */
static void asked(void)
{
	static const struct {
		const char *name,
			*records; /* m answer, l look, e edit in process, s spawn of command 7, E edit
					     * by it, o the same by an older command */
		bool fresh;
	} v[] = {
		{ "a look, an answer, a change", "mlme", true },
		{ "a look and a change for one answer", "mle", false },
		{ "the tool that changes reads by itself", "mmle", false },
		{ "no look", "mme", false },
		{ "a look before a command that changes", "mlmsE", true },
		{ "the command itself looks", "msleE", false },
		{ "a look while the command is asked for", "mlsE", false },
		{ "a server of before the update changes a file", "omlme", true },
		{ "without answers: a look, a command", "lsE", true },
		{ "without answers: one command", "slE", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		struct pred_set *set = pred_set_new();
		struct pred_run run = { .workdir = "/workspace", .model = true };
		struct pred_finding found = { 0 };
		struct err err = { 0 };
		struct fakerun f;
		struct pred *p = parse(set, "{'any_of':[{'kind':'read','path':'a'}]}",
				       PRED_AS_OBSERVATION, &err);

		fakerun_new(&f, "");
		fakerun_rec(&f, "spawn", "\"pid\":100,\"child\":1006,\"child_cmd\":6");
		fakerun_rec(&f, "fork", "\"arm\":\"shifted\"");
		fakerun_rec(&f, "intervene", "\"order\":1,\"effect\":\"edit\",\"applied\":1");
		for (const char *c = v[i].records; *c; c++) {
			if (*c == 'm')
				fakerun_rec(&f, "model",
					    "\"call\":1,\"purpose\":\"main\",\"status\":200");
			else if (*c == 'l')
				fakerun_rec(&f, "read", "\"pid\":1,\"path\":\"a\"");
			else if (*c == 's')
				fakerun_rec(&f, "spawn",
					    "\"pid\":100,\"child\":1007,\"child_cmd\":7");
			else
				fakerun_edit(&f, "agent",
					     *c == 'e'   ? 0
					     : *c == 'E' ? 7
							 : 6,
					     "a", "x\n", "y\n", 1, 1);
		}
		fakerun_save(&f);
		run.dir = f.dir;
		if (pred_scan(set, &run, &err) < 0 || pred_eval(set, p, &found, &err) < 0)
			tap_ok(false, "%s", err.text);
		else
			tap_ok(found.v[0].ok == v[i].fresh && pred_facts(set)->mutation, "%s: %s",
			       v[i].name, found.v[0].reason);
		pred_finding_done(&found);
		pred_set_free(set);
		fakerun_done(&f);
	}
}

static void torn(void)
{
	static const struct {
		const char *more;
		bool cut, gap, ended;
	} v[] = {
		{ "{\"n\":39,\"k\":\"no", true, false, true },
		{ "{\"n\":41,\"k\":\"note\"}\n", false, true, false },
		{ "{\"n\":5,\"k\":\"note\"}\n", false, true, true },
		{ "{\"n\":39,\"k\":\"later kind\"}\n[]\n7\n", false, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		struct pred_set *set = pred_set_new();
		struct pred_run run = { 0 };
		struct err err = { 0 };
		struct fakerun f;
		int rc;

		make(&f);
		buf_adds(&f.trace, v[i].more);
		fakerun_save(&f);
		run.dir = f.dir;
		rc = pred_scan(set, &run, &err);
		tap_ok(rc == 0 && pred_facts(set)->cut == v[i].cut &&
			       pred_facts(set)->gap == v[i].gap &&
			       pred_facts(set)->ended == v[i].ended,
		       "a trace that goes on with %.20s %s", v[i].more, err.text);
		pred_set_free(set);
		fakerun_done(&f);
	}
	{
		struct pred_set *set = pred_set_new();
		struct pred_run run = { 0 };
		struct err err = { 0 };
		struct fakerun f;

		make(&f);
		buf_adds(&f.trace, "nonsense\n");
		fakerun_save(&f);
		run.dir = f.dir;
		tap_ok(pred_scan(set, &run, &err) == -ERR_INPUT &&
			       strstr(err.text, "trace.jsonl:40"),
		       "%s", err.text);
		pred_set_free(set);
		fakerun_done(&f);
	}
}

/* docs/predicates.md has a table of each kind with exactly the rows of the program. */
static void reference(const char *file)
{
	static const char *const tables[] = { "predicate", "match", "window",
					      "reference", "step",  "file" };
	auto_buf b = BUF_INIT(1u << 20);
	struct err err = { 0 };

	if (!tap_ok(fd_read_file(file, &b, &err) == 0, "the reference page %s", err.text))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		auto_free char *head = mem_printf("\n| %s | meaning |\n", tables[i]);
		const char *at = strstr(buf_str(&b), head), *end;
		size_t n = 0, found = 0, lines = 0;
		struct pred_doc *docs = pred_docs(tables[i], &n);

		end = at ? strstr(at, "\n\n") : NULL;
		for (const char *p = at ? at + 1 : NULL; p && p < end; p = strchr(p + 1, '\n'))
			lines++;
		for (size_t k = 0; k < n && at; k++) {
			auto_free char *row =
				mem_printf("\n| `%s` | %s |", docs[k].key, docs[k].doc);
			const char *hit = strstr(at, row);

			if (hit && hit < end)
				found++;
			else
				tap_diag("not in table %s: %s", tables[i], row + 1);
		}
		/* a heading, a line under it, the rows */
		tap_ok(at && n && found == n && lines == n + 2,
		       "table %s: %zu of %zu rows, %zu lines", tables[i], found, n, lines);
		free(docs);
	}
}

int main(int argc, char **argv)
{
	table();
	refusals();
	depth();
	milestones();
	observation();
	asked();
	torn();
	if (argc > 1)
		reference(argv[1]);
	return tap_done();
}
