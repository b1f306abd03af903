#include "base/opt.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const struct opt_row *by_name(const struct opt_row *rows, const char *name, size_t n)
{
	for (; rows->name; rows++) {
		if (strlen(rows->name) == n && memcmp(rows->name, name, n) == 0)
			return rows;
	}
	return NULL;
}

static const struct opt_row *by_letter(const struct opt_row *rows, char c)
{
	for (; rows->name; rows++) {
		if (rows->letter && rows->letter == c)
			return rows;
	}
	return NULL;
}

static int unknown(const struct opt_cmd *cmd, const char *word, struct err *err)
{
	const char *names[64], *near;
	size_t n = 0;

	for (const struct opt_row *r = cmd->rows; r->name && n < ARRAY_SIZE(names) - 1; r++)
		names[n++] = r->name;
	names[n] = NULL;
	near = str_nearest(word + strspn(word, "-"), names);
	return err_set(err, ERR_USAGE, "%s: unknown option %s%s%s%s; see 'proctor %s --help'",
		       cmd->name, word, near ? ", did you mean --" : "", near ? near : "",
		       near ? "?" : "", cmd->name);
}

static int store_enum(const struct opt_cmd *cmd, const struct opt_row *r, const char *val, int *to,
		      struct err *err)
{
	auto_buf list = BUF_INIT(4096);

	for (int i = 0; r->choices[i]; i++) {
		if (strcmp(r->choices[i], val) == 0) {
			*to = i;
			return 0;
		}
		buf_addf(&list, "%s%s", i ? ", " : "", r->choices[i]);
	}
	return err_set(err, ERR_USAGE, "%s: --%s: unknown value \"%s\"; choose one of: %s",
		       cmd->name, r->name, val, buf_str(&list));
}

static int store(const struct opt_cmd *cmd, const struct opt_row *r, const char *val, void *out,
		 struct err *err)
{
	char *p = (char *)out + r->off;

	switch (r->kind) {
	case OPT_FLAG:
		*(bool *)p = true;
		return 0;
	case OPT_STR:
		*(const char **)p = val;
		return 0;
	case OPT_LIST:
		strv_add((struct strv *)p, val);
		return 0;
	case OPT_U64:
		if (str_u64(val, (uint64_t *)p) < 0)
			return err_set(err, ERR_USAGE, "%s: --%s: \"%s\" is not a whole number",
				       cmd->name, r->name, val);
		return 0;
	case OPT_ENUM:
		return store_enum(cmd, r, val, (int *)p, err);
	}
	return -ERR_BUG;
}

/* One word that begins with a dash. Moves *i when the value is the next word. */
static int parse_word(const struct opt_cmd *cmd, int argc, char **argv, int *i, void *out,
		      struct err *err)
{
	const char *word = argv[*i], *val = NULL;
	const struct opt_row *r;

	if (word[1] == '-') {
		size_t n = strcspn(word + 2, "=");

		r = by_name(cmd->rows, word + 2, n);
		if (word[2 + n] == '=')
			val = word + 2 + n + 1;
	} else {
		r = by_letter(cmd->rows, word[1]);
		if (word[2])
			val = word + 2;
	}
	if (!r)
		return unknown(cmd, word, err);
	if (r->kind == OPT_FLAG) {
		if (val)
			return err_set(err, ERR_USAGE, "%s: --%s takes no value", cmd->name,
				       r->name);
	} else if (!val) {
		if (*i + 1 >= argc)
			return err_set(err, ERR_USAGE, "%s: --%s needs a value: %s", cmd->name,
				       r->name, r->arg);
		val = argv[++*i];
	}
	return store(cmd, r, val, out, err);
}

int opt_parse(const struct opt_cmd *cmd, int argc, char **argv, void *out, struct strv *rest,
	      struct err *err)
{
	bool options = true;

	for (int i = 1; i < argc; i++) {
		int rc;

		if (!options || argv[i][0] != '-' || !argv[i][1]) {
			strv_add(rest, argv[i]);
			if (cmd->rest_is_command)
				options = false;
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			options = false;
			continue;
		}
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return 1;
		rc = parse_word(cmd, argc, argv, &i, out, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void add_choices(const struct opt_row *r, struct buf *out)
{
	if (r->kind != OPT_ENUM)
		return;
	buf_adds(out, " (");
	for (int i = 0; r->choices[i]; i++)
		buf_addf(out, "%s%s", i ? ", " : "", r->choices[i]);
	buf_adds(out, ")");
}

void opt_help(const struct opt_cmd *cmd, struct buf *out)
{
	buf_addf(out, "usage: proctor %s %s\n\n%s\n", cmd->name, cmd->synopsis, cmd->summary);
	if (cmd->text)
		buf_addf(out, "\n%s", cmd->text);
	buf_adds(out, "\noptions:\n");
	for (const struct opt_row *r = cmd->rows; r->name; r++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", r->letter ? '-' : ' ',
			 r->letter ? r->letter : ' ', r->letter ? ", " : "  ", r->name,
			 r->arg ? " " : "", r->arg ? r->arg : "");
		buf_addf(out, "  %-30s %s", left, r->help);
		add_choices(r, out);
		buf_addc(out, '\n');
	}
	buf_addf(out, "  %-30s %s\n", "-h, --help", "show this text");
}

/* Text for roff: a leading dot or quote would be a request, a backslash an escape, and a bare
 * dash a hyphen. */
static void roff(struct buf *out, const char *s)
{
	bool bol = true;

	for (; *s; s++) {
		if (bol && (*s == '.' || *s == '\''))
			buf_adds(out, "\\&");
		bol = *s == '\n';
		if (*s == '\\')
			buf_adds(out, "\\e");
		else if (*s == '-')
			buf_adds(out, "\\-");
		else
			buf_addc(out, *s);
	}
}

void opt_man(const struct opt_cmd *cmd, const char *version, struct buf *out)
{
	buf_addf(out, ".TH PROCTOR\\-%s 1 \"\" \"proctor %s\" \"proctor manual\"\n", cmd->name,
		 version);
	buf_addf(out, ".SH NAME\nproctor\\-%s \\- ", cmd->name);
	roff(out, cmd->summary);
	buf_addf(out, "\n.SH SYNOPSIS\n.B proctor %s\n", cmd->name);
	roff(out, cmd->synopsis);
	buf_adds(out, "\n.SH DESCRIPTION\n.nf\n");
	roff(out, cmd->text ? cmd->text : cmd->summary);
	buf_adds(out, "\n.fi\n.SH OPTIONS\n");
	for (const struct opt_row *r = cmd->rows; r->name; r++) {
		buf_adds(out, ".TP\n");
		if (r->letter)
			buf_addf(out, "\\fB\\-%c\\fR, ", r->letter);
		buf_adds(out, "\\fB\\-\\-");
		roff(out, r->name);
		buf_adds(out, "\\fR");
		if (r->arg) {
			buf_adds(out, " \\fI");
			roff(out, r->arg);
			buf_adds(out, "\\fR");
		}
		buf_addc(out, '\n');
		roff(out, r->help);
		add_choices(r, out);
		buf_addc(out, '\n');
	}
	buf_adds(out, ".SH SEE ALSO\n.BR proctor (1)\n");
}

void opt_completion(const struct opt_cmd *const *cmds, struct buf *out)
{
	buf_adds(out, "_proctor() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} words\n"
		      "\tcase ${COMP_WORDS[1]-} in\n");
	for (const struct opt_cmd *const *c = cmds; *c; c++) {
		buf_addf(out, "\t%s) words='", (*c)->name);
		for (const struct opt_row *r = (*c)->rows; r->name; r++)
			buf_addf(out, "--%s ", r->name);
		buf_adds(out, "--help' ;;\n");
	}
	buf_adds(out, "\t*) words='");
	for (const struct opt_cmd *const *c = cmds; *c; c++)
		buf_addf(out, "%s ", (*c)->name);
	buf_adds(out, "' ;;\n\tesac\n"
		      "\tif [[ $cur == -* || $COMP_CWORD -eq 1 ]]; then\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		      "\telse\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n\tfi\n}\n"
		      "complete -F _proctor proctor\n");
}
