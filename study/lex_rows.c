#include "study/lex.h"

#include <string.h>

/* clang-format off */
const struct lex_lang lex_langs[] = {
	{ .name = "C", .suffixes = ".c .h .cc .cpp .cxx .hpp .hh", .blocks = LEX_BRACES,
	  .line_comment = "//", .open_comment = "/*", .close_comment = "*/", .directives = true, .prefixes = true,
	  .quote = { { "\"", "\"", true, false }, { "'", "'", true, false } },
	  .keywords = " auto bool break case catch char class const constexpr continue default delete do double else enum "
		      "extern false float for goto if inline int long namespace new nullptr operator private protected "
		      "public register return short signed sizeof static struct switch template this throw true try "
		      "typedef typename union unsigned using virtual void volatile while NULL " },
	{ .name = "Python", .suffixes = ".py .pyi", .blocks = LEX_INDENT, .line_comment = "#", .prefixes = true,
	  .quote = { { "\"\"\"", "\"\"\"", true, true }, { "'''", "'''", true, true }, { "\"", "\"", true, false },
		     { "'", "'", true, false } },
	  .keywords = " False None True and as assert async await break class continue def del elif else except finally "
		      "for from global if import in is lambda nonlocal not or pass raise return try while with yield " },
	{ .name = "JavaScript", .suffixes = ".js .mjs .cjs .jsx .ts .mts .cts .tsx", .blocks = LEX_BRACES,
	  .line_comment = "//", .open_comment = "/*", .close_comment = "*/", .regex = true, .in_names = "$",
	  .quote = { { "`", "`", true, true }, { "\"", "\"", true, false }, { "'", "'", true, false } },
	  .keywords = " async await break case catch class const continue debugger default delete do else enum export "
		      "extends false finally for function if import in instanceof interface let new null of return "
		      "static super switch this throw true try type typeof var void while with yield undefined " },
	{ .name = "Go", .suffixes = ".go", .blocks = LEX_BRACES,
	  .line_comment = "//", .open_comment = "/*", .close_comment = "*/",
	  .quote = { { "`", "`", false, true }, { "\"", "\"", true, false }, { "'", "'", true, false } },
	  .keywords = " break case chan const continue default defer else fallthrough false for func go goto if import "
		      "interface map nil package range return select struct switch true type var " },
	{ .name = "Ruby", .suffixes = ".rb .rake .gemspec", .blocks = LEX_END, .line_comment = "#",
	  .open_comment = "\n=begin", .close_comment = "\n=end", .regex = true, .in_names = "@$?!",
	  .quote = { { "%w[", "]", true, true }, { "%i[", "]", true, true }, { "\"", "\"", true, true },
		     { "'", "'", true, true }, { "`", "`", true, true } },
	  .keywords = " BEGIN END alias and begin break case class def do else elsif end ensure false for if in module next "
		      "nil not or raise redo rescue retry return self super then true undef unless until when while "
		      "yield " },
	{ .name = "Java", .suffixes = ".java", .blocks = LEX_BRACES,
	  .line_comment = "//", .open_comment = "/*", .close_comment = "*/", .in_names = "$",
	  .quote = { { "\"\"\"", "\"\"\"", true, true }, { "\"", "\"", true, false }, { "'", "'", true, false } },
	  .keywords = " abstract assert boolean break byte case catch char class const continue default do double else enum "
		      "extends false final finally float for goto if implements import instanceof int interface long "
		      "native new null package private protected public return short static strictfp super switch "
		      "synchronized this throw throws transient true try void volatile while " },
	{ .name = "Rust", .suffixes = ".rs", .blocks = LEX_BRACES,
	  .line_comment = "//", .open_comment = "/*", .close_comment = "*/", .nested_comments = true, .prefixes = true,
	  .quote = { { "\"", "\"", true, true }, { "'", "'", true, false } },
	  .keywords = " as async await break const continue crate dyn else enum extern false fn for if impl in let loop "
		      "match mod move mut pub ref return self Self static struct super trait true type unsafe use "
		      "where while None Some Ok Err " },
	{ .name = NULL },
};
/* clang-format on */

const struct lex_lang *lex_lang_of(const char *path)
{
	for (const struct lex_lang *l = lex_langs; l->name; l++) {
		for (const char *s = l->suffixes; *s;) {
			size_t n = strcspn(s, " "), p = strlen(path);

			if (p > n && memcmp(path + p - n, s, n) == 0)
				return l;
			s += n + strspn(s + n, " ");
		}
	}
	return NULL;
}
