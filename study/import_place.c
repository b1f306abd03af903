/* What a row does not carry: where the repository is, how its tests are run, who reads them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "study/import_rows_internal.h"
#include "verifier/compat.h"
#include "verifier/testlog.h"

#define COMMAND_MAX 131071u /* bytes: the kernel takes no longer word (MAX_ARG_STRLEN, execve(2)) */

/* Names below --sources: "{0}" owner, "{1}" name, "{2}" instance. In the order looked at. */
static const char *const source_forms[] = {
	"{2}",      "{2}.git",      "{2}.bundle",      "{0}/{1}", "{0}/{1}.git", "{0}/{1}.bundle",
	"{0}__{1}", "{0}__{1}.git", "{0}__{1}.bundle", "{1}",     "{1}.git",     "{1}.bundle",
};

static char *fill_form(const char *form, const char *const words[3])
{
	auto_buf b = BUF_INIT(4096);

	while (*form) {
		if (form[0] == '{') {
			buf_adds(&b, words[form[1] - '0']);
			form += 3;
		} else {
			buf_addc(&b, *form++);
		}
	}
	return buf_steal(&b, NULL);
}

/* An absolute path, or NULL. */
static char *find_source(const char *dir, const char *const words[3])
{
	for (size_t i = 0; i < ARRAY_SIZE(source_forms); i++) {
		auto_free char *name = fill_form(source_forms[i], words);
		auto_free char *path = path_join(dir, name);
		char *real;

		if (path_is_tame(name) && access(path, R_OK) == 0 && (real = realpath(path, NULL)))
			return real;
	}
	return NULL;
}

/* "owner/name", or NULL parts. */
static bool split_repo(const char *repo, char **owner, char **name)
{
	const char *slash = repo ? strchr(repo, '/') : NULL;

	if (!slash || slash == repo || !slash[1] || strchr(slash + 1, '/'))
		return false;
	*owner = mem_strndup(repo, (size_t)(slash - repo));
	*name = mem_strdup(slash + 1);
	return row_is_id(*owner) && row_is_id(*name);
}

static int place_source(const struct rows_ctx *ctx, struct row *row, const char *repo,
			struct err *err)
{
	const char *dir = ctx->o->sources;
	auto_free char *owner = NULL, *name = NULL;

	if (!split_repo(repo, &owner, &name))
		return row_complain(row, err, "repo \"%.200s\" is not of the form owner/name",
				    repo ? repo : "");
	if (dir) {
		const char *const words[3] = { owner, name, row->task.instance_id };

		row->task.source = find_source(dir, words);
	}
	if (row->task.source)
		return 0;
	row->task.source = mem_printf("%s__%s", owner, name);
	if (dir)
		row_reason(row,
			   "no repository: looked in %s for %s, %s/%s, %s__%s and %s, each also "
			   "with .git and .bundle",
			   dir, row->task.instance_id, owner, name, owner, name, name);
	else
		row_reason(row, "no repository: give --sources DIR");
	return 0;
}

char *import_rootfs(const char *spec, const char *id, const char *image, const char *dir)
{
	auto_buf b = BUF_INIT(65536);
	auto_free char *base = realpath(dir, NULL), *path = NULL;
	const char *text;
	size_t n;

	while (*spec) {
		if (str_starts(spec, "{instance_id}")) {
			buf_adds(&b, id);
			spec += strlen("{instance_id}");
		} else if (str_starts(spec, "{image}")) {
			/* as one component of a path: a registry's name has slashes */
			for (const char *s = image ? image : ""; *s; s++)
				buf_addc(&b, *s == '/' || *s == ':' ? '_' : *s);
			spec += strlen("{image}");
		} else {
			buf_addc(&b, *spec++);
		}
	}
	text = buf_str(&b);
	n = strcspn(text, ":");
	if (!text[n] || text[n + 1] == '/')
		return mem_strdup(text);
	path = path_join(base ? base : dir, text + n + 1);
	return mem_printf("%.*s:%s", (int)n, text, path);
}

static int place_rootfs(const struct rows_ctx *ctx, struct row *row, const char *image,
			struct err *err)
{
	const char *s = ctx->o->rootfs;

	if (!s || strcmp(s, "host") == 0)
		return 0;
	if (strstr(s, "{image}") && (!image || !*image))
		return row_complain(row, err, "--rootfs has {image}, and the row names none");
	row->task.rootfs = import_rootfs(s, row->task.instance_id, image, ".");
	return 0;
}

int row_place(const struct rows_ctx *ctx, struct row *row, const char *repo, const char *image,
	      const char *workdir, struct err *err)
{
	int rc = place_source(ctx, row, repo, err);

	if (rc == 0)
		rc = place_rootfs(ctx, row, image, err);
	if (rc == 0 && !row->task.workdir)
		row->task.workdir = mem_strdup(workdir);
	return rc;
}

void row_utf8(struct row *row, const char *name, char **s)
{
	auto_buf b = BUF_INIT(ROWS_TASK_MAX);
	size_t bad;

	if (!*s || str_utf8(*s, strlen(*s), NULL))
		return;
	row_reason(row, "%s is not UTF-8", name);
	for (const char *p = *s; *p;) {
		size_t n = strlen(p);

		bad = n;
		str_utf8(p, n, &bad);
		buf_add(&b, p, bad);
		p += bad;
		if (*p) {
			buf_adds(&b, "\xef\xbf\xbd");
			p++;
		}
	}
	free(*s);
	*s = buf_steal(&b, NULL);
}

/* --- test command --- */

void row_quote(struct buf *out, const char *s)
{
	buf_addc(out, '\'');
	for (; *s; s++)
		buf_adds(out, *s == '\'' ? "'\\''" : (char[]){ *s, 0 });
	buf_addc(out, '\'');
}

/* Endings of files that are no tests, as SWE-bench's harness has them. */
static const char *const data_endings[] = { ".json", ".png", "csv",  ".txt",  ".md",  ".jpg",
					    ".jpeg", ".pkl", ".yml", ".yaml", ".toml" };

static bool is_data(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(data_endings); i++)
		if (str_ends(path, data_endings[i]))
			return true;
	return false;
}

/* tests/a/b.py as a.b */
static char *django_module(const char *path)
{
	size_t n = strlen(path);
	char *s;

	if (str_ends(path, ".py"))
		n -= 3;
	s = mem_strndup(path, n);
	if (str_starts(s, "tests/"))
		memmove(s, s + 6, n - 6 + 1);
	for (char *p = s; *p; p++)
		*p = *p == '/' ? '.' : *p;
	return s;
}

static void add_word(struct buf *out, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "._-/+,:@%=";

	if (out->len)
		buf_addc(out, ' ');
	if (*word && *word != '-' && !word[strspn(word, plain)])
		buf_adds(out, word);
	else
		row_quote(out, word);
}

/* Name behind the last " b/" of a "diff --git" line; NULL when it is none. Caller frees. */
static char *diff_target(const char *line, size_t n)
{
	static const char head[] = "diff --git a/";

	if (n < sizeof(head) || memcmp(line, head, sizeof(head) - 1) != 0)
		return NULL;
	for (size_t i = n; i > 3; i--)
		if (memcmp(line + i - 3, " b/", 3) == 0)
			return mem_strndup(line + i, n - i);
	return NULL;
}

char *row_files(const char *patch, enum testspec_files kind)
{
	auto_buf out = BUF_INIT(1u << 20);

	while (patch && *patch && kind != TESTSPEC_NONE) {
		size_t n = strcspn(patch, "\n");
		auto_free char *path = diff_target(patch, n && patch[n - 1] == '\r' ? n - 1 : n);

		patch += n + (patch[n] == '\n');
		if (!path || is_data(path))
			continue;
		if (kind == TESTSPEC_DJANGO) {
			auto_free char *module = django_module(path);

			add_word(&out, module);
		} else {
			add_word(&out, path);
		}
	}
	return buf_steal(&out, NULL);
}

void row_check_command(struct row *row)
{
	char **command = &row->task.test.command;

	row_utf8(row, "the test command", command);
	if (*command && strlen(*command) > COMMAND_MAX)
		row_reason(row,
			   "the test command is larger than %u bytes, and no shell can be given it",
			   COMMAND_MAX);
}

/* {files} and {python} put in. */
static char *fill_command(const char *command, const char *files, const char *python)
{
	auto_buf b = BUF_INIT(2u << 20);

	while (*command) {
		if (str_starts(command, "{files}")) {
			buf_adds(&b, files);
			command += strlen("{files}");
		} else if (str_starts(command, "{python}")) {
			buf_adds(&b, python);
			command += strlen("{python}");
		} else {
			buf_addc(&b, *command++);
		}
	}
	return buf_steal(&b, NULL);
}

bool row_from_spec(const struct rows_ctx *ctx, struct row *row, const char *repo)
{
	const struct testspec_row *s = testspec_find(&ctx->user, repo, row->task.version);
	bool host = !row->task.rootfs;
	auto_free char *files = NULL;

	if (!s)
		s = testspec_find(&ctx->shipped, repo, row->task.version);
	if (!s)
		return false;
	files = row_files(row->task.test_patch, s->files);
	if (strstr(s->command, "{files}") && !*files)
		row_reason(row, "the test patch names no test file, and the command needs one");
	row->task.test.command =
		fill_command(host && s->host_command ? s->host_command : s->command, files,
			     s->python ? s->python : "python3");
	row->task.test.timeout = s->timeout;
	strv_copy(&row->task.env, &s->env);
	if (s->workdir) {
		free(row->task.workdir);
		row->task.workdir = mem_strdup(s->workdir);
	}
	row_reader(row, s->reader);
	return true;
}

/* --- reader --- */

void row_match(const struct rows_ctx *ctx, struct row *row, enum task_match own)
{
	row->task.test.match = !ctx->o->match                                  ? own
			       : strcmp(ctx->o->match, "swebench-compat") == 0 ? TASK_MATCH_SWEBENCH
									       : TASK_MATCH_EXACT;
}

/* Lists made by SWE-bench's harness are read by its parsers in their own mode, and otherwise by the reader for the
 * same runner. */
void row_reader(struct row *row, const char *parser)
{
	const struct testlog_reader *compat = compat_find(parser);
	const char *reader = testlog_find(parser) ? parser : NULL;

	if (compat && row->task.test.match == TASK_MATCH_SWEBENCH)
		reader = compat->name;
	else if (compat && !reader)
		reader = compat_exact(compat);
	if (!reader)
		row_reason(row, "no reader for the output of \"%.100s\"", parser);
	free(row->task.test.reader);
	row->task.test.reader = mem_strdup(reader);
}
