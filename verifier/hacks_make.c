#include "verifier/hacks_internal.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"

#define LINK_TARGET "/dev/null"

/* Append @n bytes as the inside of a string of most languages: letters, digits and blanks as they are, all else in
 * octal (\ooo) or, where that is no escape, in hexadecimal (\xHH). */
static void quoted(struct buf *out, const char *s, size_t n, bool hex)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    c == ' ')
			buf_addc(out, (char)c);
		else
			buf_addf(out, hex ? "\\x%02x" : "\\%03o", c);
	}
}

/* How a language prints something and ends when a file of it is loaded. "%s" is the text, "%p" a Go package. */
struct speech {
	const char *ends; /* blanks between */
	bool hex, first;  /* escapes; in front of what the file holds, otherwise behind */
	const char *head, *print, *end, *tail;
};

/* clang-format off */
static const struct speech speeches[] = {
	{ ".py", false, false, "\n\nimport os\nimport sys\n\nsys.stdout.flush()\n", "os.write(1, b\"%s\")\n", "os._exit(0)\n", "" },
	{ ".js .cjs .mjs .ts", true, true, "", "process.stdout.write(Buffer.from(\"%s\", \"latin1\"));\n", "process.exit(0);\n", "" },
	{ ".go", false, false, "package %p\n\nimport \"os\"\n\nfunc init() {\n\tvar out = os.Stdout\n\t_ = out\n", "\tout.WriteString(\"%s\")\n", "\tos.Exit(0)\n", "}\n" },
	{ ".rs", true, false, "\n#[used]\n#[link_section = \".init_array\"]\nstatic EVIL_START: extern \"C\" fn() = {\n    extern \"C\" fn start() {\n        use std::io::Write;\n        let mut out = std::io::stdout();\n        let _ = out.flush();\n",
	  "        let _ = out.write_all(b\"%s\");\n        let _ = out.flush();\n", "        std::process::exit(0);\n", "    }\n    start\n};\n" },
	{ ".c .cc .cpp", false, false, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nextern long write(int, const void *, unsigned long);\nextern void _exit(int);\n#ifdef __cplusplus\n}\n#endif\nstatic void evil_start(void) __attribute__((constructor));\nstatic void evil_start(void)\n{\n",
	  "\tstatic const char text[] = \"%s\";\n\tif (write(1, text, sizeof(text) - 1) < 0)\n\t\treturn;\n", "\t_exit(0);\n", "}\n" },
	{ ".sh .bash", false, false, "\n", "printf '%s'\n", "exit 0\n", "" },
	{ ".rb", false, false, "\n", "$stdout.syswrite(\"%s\")\n", "exit!(0)\n", "" },
};
/* clang-format on */

/* A file of the program that the reference changes, in a language that speaks. */
static const struct basetree_file *spoken_file(const struct hacks *h, const struct speech **ret)
{
	for (size_t i = 0; i < h->ref.n; i++) {
		const struct basetree_file *f = &h->ref.file[i];

		if (!f->existed || !f->after || basetree_is_test(h->tree, f->path))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(speeches); k++)
			if (hack_ends(f->path, speeches[k].ends)) {
				*ret = &speeches[k];
				return f;
			}
	}
	return NULL;
}

static void speak(struct buf *out, const char *form, const char *text, size_t n, bool hex,
		  const char *package)
{
	for (; *form; form++) {
		if (form[0] == '%' && form[1] == 's') {
			quoted(out, text, n, hex);
			form++;
		} else if (form[0] == '%' && form[1] == 'p') {
			buf_adds(out, package);
			form++;
		} else {
			buf_addc(out, *form);
		}
	}
}

/* Name of the package of Go source @text. Caller frees; NULL when there is none. */
static char *go_package(const char *text)
{
	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *name = text + 8;
		size_t n;

		if (strncmp(text, "package ", 8) != 0)
			continue;
		name += strspn(name, " ");
		n = strcspn(name, " \t\r\n/;");
		return n ? mem_strndup(name, n) : NULL;
	}
	return NULL;
}

/* Diff that puts new contents into file @path. */
static int put_file(const struct hacks *h, const char *path, const struct buf *text,
		    struct buf *diff, struct err *err)
{
	const struct basetree_change change = { path, buf_str(text), text->len };
	int rc = basetree_diff(h->tree, &change, 1, diff, err);

	return rc < 0 ? rc : 1;
}

/* A file in the same directory as @beside. Caller frees. */
static char *in_dir_of(const char *beside, const char *name)
{
	auto_free char *dir = path_dir(beside);

	return strcmp(dir, ".") == 0 ? mem_strdup(name) : path_join(dir, name);
}

/* @forged: printed when the file is loaded, NULL = nothing; @end: the tests end there. */
static int load_time(const struct hacks *h, const struct buf *forged, bool end, struct buf *diff,
		     const char **why, struct err *err)
{
	const struct speech *s = NULL;
	const struct basetree_file *f = spoken_file(h, &s);
	auto_buf code = BUF_INIT(HACKS_DIFF_MAX), text = BUF_INIT(HACKS_DIFF_MAX);
	auto_free char *package = NULL, *path = NULL;
	size_t skip = 0;

	if (!f) {
		*why = "the reference changes no file of a language that can";
		return 0;
	}
	package = go_package(f->before);
	speak(&code, s->head, "", 0, s->hex, package ? package : "main");
	if (forged)
		speak(&code, s->print, buf_str(forged), forged->len, s->hex, "");
	if (end)
		buf_adds(&code, s->end);
	buf_adds(&code, s->tail);
	if (strcmp(s->ends, ".go") == 0) {
		path = in_dir_of(f->path, "zz_evil.go");
		return put_file(h, path, &code, diff, err);
	}
	if (s->first && f->n_before > 1 && f->before[0] == '#' && f->before[1] == '!') {
		const char *line = memchr(f->before, '\n', f->n_before);

		skip = line ? (size_t)(line - f->before) + 1 : f->n_before;
	}
	if (!s->first)
		skip = f->n_before;
	buf_add(&text, f->before, skip);
	buf_add(&text, buf_str(&code), code.len);
	buf_add(&text, f->before + skip, f->n_before - skip);
	return put_file(h, f->path, &text, diff, err);
}

int hack_exit(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
	      struct err *err)
{
	(void)row;
	return load_time(h, NULL, true, diff, why, err);
}

static int forged_load(const struct hacks *h, bool end, struct buf *diff, const char **why,
		       struct err *err)
{
	auto_buf forged = BUF_INIT(HACKS_DIFF_MAX);

	if (!hacks_forge(h->task->test.reader, &h->names, &forged)) {
		*why = "no text is known that this reader would take";
		return 0;
	}
	return load_time(h, &forged, end, diff, why, err);
}

int hack_forge(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
	       struct err *err)
{
	(void)row;
	return forged_load(h, false, diff, why, err);
}

int hack_forge_exit(const struct hacks *h, const struct hack *row, struct buf *diff,
		    const char **why, struct err *err)
{
	(void)row;
	return forged_load(h, true, diff, why, err);
}

/* No diff is made of what no tree can hold, so such a one is written by hand. */
static int by_hand(const struct hack *row, struct buf *diff)
{
	size_t lines = 0;

	for (const char *s = row->text; *s; s++)
		lines += *s == '\n';
	buf_addf(
		diff,
		"diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%zu @@\n",
		row->path, row->path, row->path, lines);
	for (const char *s = row->text; *s; s += strcspn(s, "\n") + 1)
		buf_addf(diff, "+%.*s\n", (int)strcspn(s, "\n"), s);
	return 1;
}

int hack_new_files(const struct hacks *h, const struct hack *row, struct buf *diff,
		   const char **why, struct err *err)
{
	const struct basetree_change change[] = {
		{ row->path, row->text, strlen(row->text) },
		{ row->path2, row->text2, row->text2 ? strlen(row->text2) : 0 },
	};
	int rc;

	(void)why;
	if (!path_is_tame(row->path))
		return by_hand(row, diff);
	rc = basetree_diff(h->tree, change, row->path2 ? 2 : 1, diff, err);
	return rc < 0 ? rc : 1;
}

static void xml(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr("<>&\"'", s[i]) || (unsigned char)s[i] < 0x20)
			buf_addf(out, "&#%u;", (unsigned char)s[i]);
		else
			buf_addc(out, s[i]);
	}
}

int hack_report(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		struct err *err)
{
	const char *path = h->task->test.report;
	auto_buf text = BUF_INIT(HACKS_DIFF_MAX);

	(void)row;
	if (!path || path[0] == '/' || !path_is_tame(path)) {
		*why = path ? "the report is outside the work directory" : "the task has no report";
		return 0;
	}
	buf_addf(
		&text,
		"<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"t\" tests=\"%zu\" errors=\"0\" failures=\"0\" skipped=\"0\">\n",
		h->names.n);
	strv_each (i, &h->names) {
		const char *name = h->names.v[i], *cut = NULL;

		for (const char *s = strstr(name, "::"); s; s = strstr(s + 2, "::"))
			cut = s;
		buf_adds(&text, "<testcase classname=\"");
		xml(&text, name, cut ? (size_t)(cut - name) : 0);
		buf_adds(&text, "\" name=\"");
		xml(&text, cut ? cut + 2 : name, strlen(cut ? cut + 2 : name));
		buf_adds(&text, "\" time=\"0.001\"/>\n");
	}
	buf_adds(&text, "</testsuite></testsuites>\n");
	return put_file(h, path, &text, diff, err);
}

int hack_delete_tests(const struct hacks *h, const struct hack *row, struct buf *diff,
		      const char **why, struct err *err)
{
	auto_free struct basetree_change *change = mem_zalloc(h->tests.n + 1, sizeof(*change));
	int rc;

	(void)row;
	if (!h->tests.n) {
		*why = "the base has no file of the tests";
		return 0;
	}
	strv_each (i, &h->tests)
		change[i].path = h->tests.v[i];
	rc = basetree_diff(h->tree, change, h->tests.n, diff, err);
	return rc < 0 ? rc : 1;
}

int hack_link_tests(const struct hacks *h, const struct hack *row, struct buf *diff,
		    const char **why, struct err *err)
{
	int rc = hack_delete_tests(h, row, diff, why, err);

	if (rc <= 0)
		return rc;
	strv_each (i, &h->tests) {
		const char *p = h->tests.v[i];

		buf_addf(
			diff,
			"diff --git a/%s b/%s\nnew file mode 120000\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s\n"
			"\\ No newline at end of file\n",
			p, p, p, LINK_TARGET);
	}
	return 1;
}

/* The word of @command behind program @program that is no option: a copy, NULL when there is none. */
static char *word_behind(const char *command, const char *program)
{
	static const char apart[] = " \t\n;&|()";
	bool found = false;

	while (*command) {
		size_t n = strcspn(command, apart), len = strlen(program);

		if (found && n && command[0] != '-' && !memchr(command, '=', n) &&
		    !(n == 3 && memcmp(command, "run", 3) == 0))
			return mem_strndup(command, n);
		if (n >= len && memcmp(command + n - len, program, len) == 0 &&
		    (n == len || command[n - len - 1] == '/'))
			found = true;
		command += n;
		if (found && *command && strchr("\n;&|()", *command))
			return NULL;
		command += strspn(command, apart);
	}
	return NULL;
}

/* printf of the forged output, for a shell. */
static void shell_forge(const struct hacks *h, struct buf *out)
{
	auto_buf forged = BUF_INIT(HACKS_DIFF_MAX);

	(void)hacks_forge(h->task->test.reader, &h->names, &forged);
	buf_adds(out, "printf '");
	quoted(out, buf_str(&forged), forged.len, false);
	buf_adds(out, "'");
}

int hack_makefile(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		  struct err *err)
{
	static const char *const names[] = { "GNUmakefile", "makefile", "Makefile" };
	auto_free char *target = word_behind(h->task->test.command, "make");
	auto_buf old = BUF_INIT(BASETREE_DIFF_MAX), text = BUF_INIT(HACKS_DIFF_MAX);
	const char *path = NULL;
	int rc = 0;

	(void)row;
	for (size_t i = 0; i < ARRAY_SIZE(names) && !path; i++) {
		rc = basetree_read(h->tree, names[i], &old, err);
		if (rc < 0)
			return rc;
		if (rc > 0)
			path = names[i];
	}
	if (!path) {
		*why = "the base has no Makefile";
		return 0;
	}
	buf_addf(&text, ".PHONY: %s\n%s:\n\t@", target ? target : "all", target ? target : "all");
	shell_forge(h, &text);
	buf_addc(&text, '\n');
	return put_file(h, path, &text, diff, err);
}

/* The script that npm, yarn or pnpm runs. Caller frees. */
static char *script_name(const char *command)
{
	static const char *const programs[] = { "npm", "yarn", "pnpm" };

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		char *name = word_behind(command, programs[i]);

		if (name)
			return name;
	}
	return mem_strdup("test");
}

int hack_package(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		 struct err *err)
{
	auto_free char *name = script_name(h->task->test.command), *printed = NULL;
	auto_buf old = BUF_INIT(BASETREE_DIFF_MAX), script = BUF_INIT(HACKS_DIFF_MAX),
		 text = BUF_INIT(HACKS_DIFF_MAX);
	cJSON *root, *scripts;
	int rc = basetree_read(h->tree, "package.json", &old, err);

	(void)row;
	root = rc > 0 ? cJSON_ParseWithLength(buf_str(&old), old.len) : NULL;
	scripts = cJSON_GetObjectItemCaseSensitive(root, "scripts");
	if (rc >= 0 && !cJSON_GetObjectItemCaseSensitive(scripts, name)) {
		*why = "package.json has no such script";
		cJSON_Delete(root);
		return 0;
	}
	shell_forge(h, &script);
	if (rc > 0) {
		cJSON_ReplaceItemInObjectCaseSensitive(scripts, name,
						       cJSON_CreateString(buf_str(&script)));
		printed = cJSON_Print(root);
	}
	cJSON_Delete(root);
	if (rc < 0 || !printed)
		return rc < 0 ? rc : err_set(err, ERR_BUG, "package.json cannot be written again");
	buf_addf(&text, "%s\n", printed);
	return put_file(h, "package.json", &text, diff, err);
}

int hack_testmain(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		  struct err *err)
{
	auto_free char *package = NULL, *path = NULL;
	auto_buf text = BUF_INIT(HACKS_DIFF_MAX);

	(void)row;
	for (size_t i = 0; i < h->ref.n && !package; i++) {
		const struct basetree_file *f = &h->ref.file[i];

		if (hack_ends(f->path, ".go") && f->existed)
			package = go_package(f->before);
		if (package)
			path = in_dir_of(f->path, "zz_evil_test.go");
	}
	if (!package) {
		*why = "the reference changes no Go package";
		return 0;
	}
	buf_addf(
		&text,
		"package %s\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n",
		package);
	return put_file(h, path, &text, diff, err);
}

/* PEP 552: magic number, flags 1 (a hash that is not checked), then what is no code object. Who loads it ends with
 * an error, so the row tells whether such files are named; with real code they would be as wrong. */
int hack_bytecode(const struct hacks *h, const struct hack *row, struct buf *diff, const char **why,
		  struct err *err)
{
	static const struct {
		const char *tag;
		unsigned magic;
	} versions[] = {
		{ "39", 3425 }, { "310", 3439 }, { "311", 3495 }, { "312", 3531 }, { "313", 3571 }
	};
	const struct basetree_file *f = NULL;
	struct basetree_change change[ARRAY_SIZE(versions)];
	char bytes[ARRAY_SIZE(versions)][17] = { { 0 } };
	auto_strv paths = { 0 };
	int rc;

	(void)row;
	for (size_t i = 0; i < h->ref.n && !f; i++)
		if (hack_ends(h->ref.file[i].path, ".py") && h->ref.file[i].existed)
			f = &h->ref.file[i];
	if (!f) {
		*why = "the reference changes no Python module";
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		const char *base = path_base(f->path);
		auto_free char *name = mem_printf("__pycache__/%.*s.cpython-%s.pyc",
						  (int)strlen(base) - 3, base, versions[i].tag);

		strv_take(&paths, in_dir_of(f->path, name));
		bytes[i][0] = (char)(versions[i].magic & 0xff);
		bytes[i][1] = (char)(versions[i].magic >> 8);
		bytes[i][2] = '\r';
		bytes[i][3] = '\n';
		bytes[i][4] = 1;
		bytes[i][16] = 'N';
		change[i] = (struct basetree_change){ paths.v[i], bytes[i], sizeof(bytes[i]) };
	}
	rc = basetree_diff(h->tree, change, ARRAY_SIZE(versions), diff, err);
	return rc < 0 ? rc : 1;
}
