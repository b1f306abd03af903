/* What a record must look like: keys as rows. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "verifier/pred_internal.h"

#define K(k) PRED_KIND(TK_##k)

#define WITH_PATH                                                                                  \
	(K(EXEC) | K(OPEN) | K(READ) | K(WRITE) | K(MAP) | K(CLOSE) | K(IMAGE) | K(EDIT) |         \
	 K(RENAME) | K(LINK) | K(UNLINK) | K(TRUNCATE) | K(MKDIR) | K(CHMOD) | K(TOUCH) | K(TOOL))
#define WITH_LINES (K(READ) | K(WRITE) | K(MAP) | K(EDIT) | K(TOUCH) | K(TOOL))
#define WITH_ARGV  (K(COMMAND) | K(EXEC))
#define WITH_RET                                                                                   \
	(K(OPEN) | K(RENAME) | K(LINK) | K(UNLINK) | K(TRUNCATE) | K(MKDIR) | K(CHMOD) |           \
	 K(CONNECT) | K(BIND) | K(SYSCALL))
#define WITH_STATUS (K(COMMAND) | K(EXIT) | K(MODEL) | WITH_RET)
#define EVERY       (PRED_KIND(TK_MAX) - 1)

enum { STATUS_NUMBER, STATUS_OK, STATUS_FAILED };

/* clang-format off */
static const char *const by_names[] = { "agent", "user", NULL };
static const char *const class_names[] = { "read", "search", "edit", "test", "build", "vcs", "network", "package",
	"other", NULL };
static const char *const does_names[] = { "read", "edit", "shell", "other", NULL };
static const char *const verdict_names[] = { "allow", "deny", NULL };
static const char *const user_names[] = { "no-op", "question", "redirect", "new_requirement", "check_external", "gone", NULL };
static const char *const purpose_names[] = { "main", "side", "count", "compact", "subagent", NULL };
/* clang-format on */

struct pred_key_row {
	const char *key;
	uint64_t kinds; /* that have it */
	int (*read)(const struct json_src *src, const char *where, const cJSON *item,
		    const struct pred_key_row *row, struct pred_value *v, struct err *err);
	bool (*test)(const struct pred_value *v, struct pred_rec *rec, enum pred_member m);
	enum pred_member member;
	const char *const *choices;
	const char *doc;
};

/* One text of a key, or of its list. */
static int add_text(const struct json_src *src, const char *where, const cJSON *item,
		    const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	const char *s = cJSON_GetStringValue(item);

	if (!s || !s[0] || strlen(s) > PRED_TEXT_MAX)
		return json_complain(src, where, err,
				     "expected a text of 1 to %u bytes, or a list of them",
				     PRED_TEXT_MAX);
	for (size_t i = 0; row->choices && row->choices[i]; i++) {
		if (strcmp(row->choices[i], s) != 0)
			continue;
		strv_add(&v->text, s);
		return 0;
	}
	if (row->choices)
		return pred_unknown(src, where, row->key, s, row->choices, err);
	strv_add(&v->text, s);
	return 0;
}

static int read_texts(const struct json_src *src, const char *where, const cJSON *item,
		      const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	const cJSON *one;
	int rc = 0, n = cJSON_GetArraySize(item);

	if (!cJSON_IsArray(item))
		return add_text(src, where, item, row, v, err);
	if (n < 1 || n > (int)PRED_LIST_MAX)
		return json_complain(src, where, err, "expected 1 to %u entries", PRED_LIST_MAX);
	cJSON_ArrayForEach (one, item) {
		auto_free char *at = mem_printf("%s[%zu]", where, v->text.n);

		if (rc == 0)
			rc = add_text(src, at, one, row, v, err);
	}
	return rc;
}

static int read_globs(const struct json_src *src, const char *where, const cJSON *item,
		      const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	int rc = read_texts(src, where, item, row, v, err);

	if (rc < 0)
		return rc;
	v->glob = mem_zalloc(v->text.n, sizeof(*v->glob));
	strv_each (i, &v->text) {
		const char *s = v->text.v[i];

		while (str_starts(s, "./") && s[2])
			s += 2;
		if (strpbrk(s, "*?") && strlen(s) >= PRED_GLOB_MAX)
			return json_complain(src, where, err,
					     "a pattern with wildcards has at most %u bytes",
					     PRED_GLOB_MAX - 1);
		pred_glob_new(&v->glob[v->n_globs++], s);
	}
	return 0;
}

static int read_number(const struct json_src *src, const char *where, const cJSON *item,
		       const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	double x = cJSON_IsNumber(item) ? item->valuedouble : -1;

	(void)row;
	if (!(x >= 0 && x <= 9007199254740992.0) || x != (double)(uint64_t)x)
		return json_complain(src, where, err, "expected a whole number");
	v->lo = v->hi = (uint64_t)x;
	return 0;
}

static int read_flag(const struct json_src *src, const char *where, const cJSON *item,
		     const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	(void)row;
	if (!cJSON_IsBool(item))
		return json_complain(src, where, err, "expected true or false");
	v->flag = cJSON_IsTrue(item);
	return 0;
}

static int read_message(const struct json_src *src, const char *where, const cJSON *item,
			const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	if (cJSON_IsTrue(item))
		return 0; /* any: lo stays 0 */
	return read_number(src, where, item, row, v, err);
}

static int read_status(const struct json_src *src, const char *where, const cJSON *item,
		       const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	static const char *const words[] = { "ok", "failed", NULL };
	const char *s = cJSON_GetStringValue(item);

	if (s && (strcmp(s, "ok") == 0 || strcmp(s, "failed") == 0)) {
		v->hi = s[0] == 'o' ? STATUS_OK : STATUS_FAILED;
		return 0;
	}
	if (s)
		return pred_unknown(src, where, row->key, s, words, err);
	if (read_number(src, where, item, row, v, NULL) < 0)
		return json_complain(src, where, err, "expected \"ok\", \"failed\" or a number");
	v->hi = STATUS_NUMBER;
	return 0;
}

static int read_lines(const struct json_src *src, const char *where, const cJSON *item,
		      const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	struct pred_value end = { 0 };

	if (cJSON_GetArraySize(item) != 2 || read_number(src, where, item->child, row, v, NULL) ||
	    read_number(src, where, item->child->next, row, &end, NULL) || v->lo < 1 ||
	    end.lo < v->lo)
		return json_complain(src, where, err,
				     "expected [first, last], lines from 1, such as [10, 20]");
	v->hi = end.lo;
	return 0;
}

static int read_kinds(const struct json_src *src, const char *where, const cJSON *item,
		      const struct pred_key_row *row, struct pred_value *v, struct err *err)
{
	const char *names[TK_MAX + 1];
	struct pred_key_row with = *row;
	int rc;

	for (int k = 0; k < TK_MAX; k++)
		names[k] = tracerec_name((enum trace_kind)k);
	names[TK_MAX] = NULL;
	with.choices = names;
	rc = read_texts(src, where, item, &with, v, err);
	strv_each (i, &v->text)
		v->lo |= PRED_KIND(tracerec_kind(v->text.v[i]));
	return rc;
}

static bool test_texts(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	return pred_rec_has(rec, m) && strv_has(&v->text, pred_rec_text(rec, m));
}

static bool any_glob(const struct pred_value *v, const char *s)
{
	for (size_t i = 0; i < v->n_globs; i++)
		if (pred_glob_match(&v->glob[i], s))
			return true;
	return false;
}

static bool test_globs(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	return pred_rec_has(rec, m) && any_glob(v, pred_rec_text(rec, m));
}

/* A pattern that is written from the root meets what lies in the workspace, too. */
static bool path_fits(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	const char *path = pred_rec_has(rec, m) ? pred_rec_path(rec, m) : "";
	auto_free char *whole = NULL;

	if (!path[0])
		return false;
	if (any_glob(v, path))
		return true;
	if (path[0] == '/' || !rec->workdir)
		return false;
	for (size_t i = 0; i < v->n_globs; i++) {
		if (v->glob[i].text[0] != '/')
			continue;
		if (!whole)
			whole = strcmp(path, ".") == 0 ? mem_strdup(rec->workdir)
						       : path_join(rec->workdir, path);
		if (pred_glob_match(&v->glob[i], whole))
			return true;
	}
	return false;
}

static bool test_path(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	(void)m;
	if (path_fits(v, rec, PM_PATH))
		return true;
	return (rec->kind == TK_RENAME || rec->kind == TK_LINK) && path_fits(v, rec, PM_TO);
}

static bool test_program(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	const char *s = pred_rec_program(rec), *base = path_base(s);

	(void)m;
	for (size_t i = 0; s[0] && i < v->n_globs; i++)
		if (pred_glob_match(&v->glob[i], v->glob[i].slash ? s : base))
			return true;
	return false;
}

static bool test_argv(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	const char *s = pred_rec_argv(rec);

	(void)m;
	strv_each (i, &v->text)
		if (!strstr(s, v->text.v[i]))
			return false;
	return true;
}

/* "allow" stands for "allowed", "deny" for "denied". */
static bool test_verdict(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	const char *s = pred_rec_text(rec, m);

	strv_each (i, &v->text)
		if (v->text.v[i][0] == s[0])
			return true;
	return false;
}

static bool test_number(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	return pred_rec_has(rec, m) && pred_rec_number(rec, m) == v->lo;
}

/* A member that says yes by being there and not 0, false or null. */
static bool test_flag(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	bool is = pred_rec_has(rec, m) && rec->v[m].s[0] != 'f' && rec->v[m].s[0] != 'n' &&
		  !(rec->v[m].n == 1 && rec->v[m].s[0] == '0');

	return is == v->flag;
}

/* The end of a holder has a status, which may be 0. */
static bool test_there(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	return pred_rec_has(rec, m) == v->flag;
}

static bool test_message(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	uint64_t n = pred_rec_number(rec, m);

	return n && !pred_rec_has(rec, PM_LOST) && (!v->lo || v->lo == n);
}

static bool test_lines(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	uint64_t first, last;

	(void)m;
	pred_rec_lines(rec, &first, &last);
	return !first || (first <= v->hi && last >= v->lo);
}

static bool by_user(struct pred_rec *rec)
{
	const char *s;

	if (rec->kind == TK_INTERVENE || rec->kind == TK_AUTHORITY)
		return true;
	if (rec->kind == TK_NOTE)
		return pred_rec_has(rec, PM_HOLDER) || pred_rec_has(rec, PM_MESSAGE);
	s = rec->kind == TK_SERVICE ? pred_rec_text(rec, PM_EVENT) : pred_rec_text(rec, PM_BY);
	return strcmp(s, rec->kind == TK_SERVICE ? "change" : "user") == 0;
}

static bool by_agent(struct pred_rec *rec)
{
	const char *s;

	if (rec->kind == TK_EDIT)
		return strcmp(pred_rec_text(rec, PM_BY), "agent") == 0;
	if (rec->kind == TK_SERVICE) {
		s = pred_rec_text(rec, PM_EVENT);
		return strcmp(s, "change") != 0 && strcmp(s, "start") != 0 && strcmp(s, "end") != 0;
	}
	return rec->pid || rec->kind == TK_COMMAND || rec->kind == TK_TOOL;
}

static bool test_by(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	(void)m;
	strv_each (i, &v->text)
		if (v->text.v[i][0] == 'u' ? by_user(rec) : by_agent(rec))
			return true;
	return false;
}

static bool status_fits(const struct pred_value *v, int64_t status)
{
	if (v->hi == STATUS_NUMBER)
		return status >= 0 && (uint64_t)status == v->lo;
	return (v->hi == STATUS_OK) == (status == 0);
}

/* Of every kind but `command`, which may wait for it. */
static bool test_status(const struct pred_value *v, struct pred_rec *rec, enum pred_member m)
{
	uint64_t n;

	(void)m;
	if (PRED_KIND(rec->kind) & WITH_RET) {
		bool failed = pred_rec_has(rec, PM_RET) && rec->v[PM_RET].s[0] == '-';

		return status_fits(v, failed ? -1
				      : v->hi == STATUS_NUMBER
					      ? (int64_t)pred_rec_number(rec, PM_RET)
					      : 0);
	}
	n = pred_rec_number(rec, PM_STATUS);
	if (rec->kind == TK_MODEL)
		return status_fits(v, v->hi == STATUS_NUMBER ? (int64_t)n : n >= 400 || !n);
	if (pred_rec_has(rec, PM_SIGNAL))
		n = 256 + pred_rec_number(rec, PM_SIGNAL);
	return status_fits(v, (int64_t)n);
}

/* clang-format off */
static const struct pred_key_row rows[] = {
	{ "kind", EVERY, read_kinds, NULL, PM_K, NULL, "kind of record, or a list of kinds" },
	{ "path", WITH_PATH, read_globs, test_path, PM_PATH, NULL, "glob, or a list of them: relative to the workspace, or from the root; of a rename or link either end" },
	{ "by", EVERY, read_texts, test_by, PM_BY, by_names, "who made it: agent or user (an intervention, a change of a service, a message)" },
	{ "lines", WITH_LINES, read_lines, test_lines, PM_LINES, NULL, "[first, last] that must overlap what was read or changed; a record without lines is of all" },
	{ "scan", K(READ) | K(MAP) | K(WRITE) | K(TOUCH), read_flag, test_flag, PM_SCAN, NULL, "true: a read that nobody looks at (a search, a compiler, an indexer); false: one that counts" },
	{ "class", K(COMMAND), read_texts, test_texts, PM_CLASS, class_names, "class of the command, or a list: read, search, edit, test, build, vcs, network, package, other" },
	{ "program", WITH_ARGV, read_globs, test_program, PM_PATH, NULL, "glob of the program's name, or of its path when it has a slash" },
	{ "argv", WITH_ARGV, read_texts, test_argv, PM_ARGV, NULL, "text, or a list, that all stand in the arguments (joined by blanks)" },
	{ "status", WITH_STATUS, read_status, test_status, PM_STATUS, NULL, "ok, failed or a number: exit status of the command's first process or the process, HTTP status of the model, result of the call" },
	{ "tool", K(TOOL), read_globs, test_globs, PM_TOOL, NULL, "glob of the tool's name, or a list" },
	{ "does", K(TOOL), read_texts, test_texts, PM_DOES, does_names, "what the tool does, or a list: read, edit, shell, other" },
	{ "service", K(SERVICE), read_globs, test_globs, PM_SERVICE, NULL, "glob of the side service's name, or a list" },
	{ "event", K(SERVICE), read_texts, test_texts, PM_EVENT, NULL, "what happened there, or a list: request, change, connect, query, error, end" },
	{ "method", K(SERVICE), read_texts, test_texts, PM_METHOD, NULL, "method of the request, or a list" },
	{ "route", K(SERVICE), read_globs, test_globs, PM_ROUTE, NULL, "glob of the route, or a list" },
	{ "code", K(SERVICE), read_number, test_number, PM_CODE, NULL, "status that the service answered with" },
	{ "version", K(SERVICE), read_texts, test_texts, PM_VERSION, NULL, "version of the service that answered, or a list" },
	{ "mutating", K(SERVICE), read_flag, test_flag, PM_MUTATING, NULL, "true: the request changed the service's state" },
	{ "what", K(SERVICE) | K(DENY), read_globs, test_globs, PM_WHAT, NULL, "glob of what was asked or denied, or a list" },
	{ "verdict", K(CONNECT) | K(BIND) | K(DNS), read_texts, test_verdict, PM_VERDICT, verdict_names, "allow or deny" },
	{ "host", K(CONNECT) | K(DNS) | K(RELAY), read_globs, test_globs, PM_HOST, NULL, "glob of the host's name, or a list" },
	{ "port", K(CONNECT) | K(BIND), read_number, test_number, PM_PORT, NULL, "port" },
	{ "region", K(TOUCH), read_number, test_number, PM_REGION, NULL, "number of the critical region, from 0" },
	{ "holder", K(NOTE), read_globs, test_globs, PM_HOLDER, NULL, "glob of the name of a process that the scenario holds, or a list" },
	{ "ended", K(NOTE), read_flag, test_there, PM_ENDED, NULL, "true: that process has ended" },
	{ "message", K(NOTE), read_message, test_message, PM_MESSAGE, NULL, "number of a user message that reached the model, or true for any" },
	{ "order", K(INTERVENE), read_number, test_number, PM_ORDER, NULL, "order of the intervention" },
	{ "effect", K(INTERVENE), read_texts, test_texts, PM_EFFECT, NULL, "kind of its effect, or a list" },
	{ "applied", K(INTERVENE), read_flag, test_flag, PM_APPLIED, NULL, "was it applied?" },
	{ "goal", K(AUTHORITY), read_texts, test_texts, PM_GOAL, NULL, "version of the goal that is in force from there on" },
	{ "verifier", K(AUTHORITY), read_texts, test_texts, PM_VERIFIER, NULL, "version of the verifier" },
	{ "purpose", K(MODEL), read_texts, test_texts, PM_PURPOSE, purpose_names, "what the call was for, or a list" },
	{ "user", K(NOTE), read_texts, test_texts, PM_USER, user_names, "what a user that reacts did in its turn, or a list" },
};
/* clang-format on */

struct pred_doc *pred_match_docs(size_t *ret_n)
{
	struct pred_doc *v = mem_zalloc(ARRAY_SIZE(rows), sizeof(*v));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		v[i] = (struct pred_doc){ rows[i].key, rows[i].doc };
	*ret_n = ARRAY_SIZE(rows);
	return v;
}

static const struct pred_key_row *row_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return &rows[i];
	return NULL;
}

static int unknown_key(const struct json_src *src, const char *where, const char *key,
		       struct err *err)
{
	const char *names[ARRAY_SIZE(rows) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		names[i] = rows[i].key;
	names[ARRAY_SIZE(rows)] = NULL;
	return pred_unknown(src, where, "key of a match", key, names, err);
}

/* No kind is left that has @row and the keys before it. */
static int no_kind(const struct json_src *src, const char *where, const struct pred_key_row *row,
		   uint64_t before, struct err *err)
{
	auto_buf has = BUF_INIT(4096), left = BUF_INIT(4096);

	for (int k = 0; k < TK_MAX; k++) {
		if (row->kinds & PRED_KIND(k))
			buf_addf(&has, " %s", tracerec_name((enum trace_kind)k));
		if (before & PRED_KIND(k))
			buf_addf(&left, " %s", tracerec_name((enum trace_kind)k));
	}
	return json_complain(
		src, where, err,
		"no record has \"%s\" beside the other keys: it belongs to kinds%s, and "
		"they leave%s",
		row->key, buf_str(&has), buf_str(&left));
}

static int read_key(const struct json_src *src, const char *where, const cJSON *item,
		    struct pred_alt *a, struct err *err)
{
	auto_free char *at = mem_printf("%s.%s", where, item->string);
	const struct pred_key_row *row = row_of(item->string);
	struct pred_key *k = &a->key[a->n];
	uint64_t before = a->kinds;
	int rc;

	if (!row)
		return unknown_key(src, where, item->string, err);
	for (size_t i = 0; i < a->n; i++)
		if (a->key[i].row == row)
			return json_complain(src, at, err, "this key is given twice");
	k->row = row;
	a->n++;
	rc = row->read(src, at, item, row, &k->v, err);
	if (rc < 0)
		return rc;
	a->kinds &= row->test ? row->kinds : k->v.lo;
	return a->kinds ? 0 : no_kind(src, at, row, before, err);
}

static int read_alt(const struct json_src *src, const char *where, const cJSON *item,
		    struct pred_alt *a, struct err *err)
{
	const cJSON *one;
	int n = cJSON_GetArraySize(item), rc = 0;

	if (!cJSON_IsObject(item) || n < 1)
		return json_complain(src, where, err,
				     "a match is an object with at least one key, such as "
				     "{\"kind\": \"read\", \"path\": \"src/**\"}");
	a->kinds = EVERY;
	a->key = mem_zalloc((size_t)n, sizeof(*a->key));
	cJSON_ArrayForEach (one, item)
		if (rc == 0)
			rc = read_key(src, where, one, a, err);
	for (size_t i = 0; i < a->n; i++)
		if (a->key[i].row->test == test_status)
			a->status = &a->key[i];
	return rc;
}

int pred_match_read(const struct json_src *src, const char *where, const cJSON *item,
		    struct pred_match *m, struct err *err)
{
	const cJSON *one;
	int rc = 0, n = cJSON_IsArray(item) ? cJSON_GetArraySize(item) : 1;

	if (n < 1 || n > (int)PRED_LIST_MAX)
		return json_complain(src, where, err, "expected 1 to %u matches", PRED_LIST_MAX);
	m->text = cJSON_PrintUnformatted(item);
	m->alt = mem_zalloc((size_t)n, sizeof(*m->alt));
	if (!cJSON_IsArray(item))
		return read_alt(src, where, item, &m->alt[m->n++], err);
	cJSON_ArrayForEach (one, item) {
		auto_free char *at = mem_printf("%s[%zu]", where, m->n);

		if (rc == 0)
			rc = read_alt(src, at, one, &m->alt[m->n++], err);
	}
	return rc;
}

bool pred_alt_status(const struct pred_alt *a, int64_t status)
{
	return status >= 0 && status_fits(&a->status->v, status);
}

enum pred_answer pred_alt_test(const struct pred_alt *a, struct pred_rec *rec, int64_t status)
{
	enum pred_answer yes = PRED_YES;

	if (!(a->kinds & PRED_KIND(rec->kind)))
		return PRED_NO;
	for (size_t i = 0; i < a->n; i++) {
		const struct pred_key *k = &a->key[i];

		if (!k->row->test)
			continue;
		if (rec->kind == TK_COMMAND && k == a->status) {
			if (status >= 0 && !pred_alt_status(a, status))
				return PRED_NO;
			yes = status < 0 ? PRED_LATER : yes;
			continue;
		}
		if (!k->row->test(&k->v, rec, k->row->member))
			return PRED_NO;
	}
	return yes;
}

static void value_done(struct pred_value *v)
{
	for (size_t i = 0; i < v->n_globs; i++)
		pred_glob_done(&v->glob[i]);
	free(v->glob);
	strv_done(&v->text);
}

void pred_match_done(struct pred_match *m)
{
	for (size_t i = 0; i < m->n; i++) {
		for (size_t k = 0; k < m->alt[i].n; k++)
			value_done(&m->alt[i].key[k].v);
		free(m->alt[i].key);
	}
	free(m->alt);
	free(m->text);
	pred_bits_done(&m->hits);
	*m = (struct pred_match){ 0 };
}
