/* Mixed files of a base and a patch, both hostile: the first byte chooses the file, "\n=====\n" stands between
 * base and patch. What was put together must stay as it is when it is judged once more: otherwise something of
 * the runner's part was still the patch's. Names, links and modes of patches are tried on the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/admitpatch.h"
#include "verifier/protect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {
	"Makefile",     "setup.cfg", "tox.ini", "pyproject.toml", "Cargo.toml",
	"package.json", "pom.xml",   "go.mod",  "rules.mk",       "data.pth",
};

static void again(const struct protect_rules *rules, struct protect_file f, const struct buf *text)
{
	struct protect_end end;

	f.after = buf_str(text);
	f.after_len = text->len;
	protect_judge(rules, &f, &end);
	if (end.action == PROTECT_QUARANTINED ||
	    (end.action == PROTECT_MERGED &&
	     (end.text.len != text->len || memcmp(buf_str(&end.text), f.after, text->len) != 0)))
		abort();
	protect_end_done(&end);
}

static void admit(const char *text, size_t n)
{
	auto_free char *name = mem_strndup(text, n);
	uint32_t mode =
		n >= 4 ? (uint32_t)(unsigned char)text[0] << 10 | (unsigned char)text[1] : 0;

	(void)admitpatch_name(name);
	(void)admitpatch_link_leaves(name, text, n);
	mode = admitpatch_mode(mode);
	if (mode && admitpatch_mode(mode) != mode)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "\n=====\n";
	struct protect_rules rules = { .command = "make test && npm test" };
	auto_free char *copy = mem_dup(data, size), *base = NULL, *new = NULL;
	struct protect_file f = { .mode = 0100644 };
	struct protect_end end;
	char *at;

	admit(copy, size);
	if (size < 2)
		return 0;
	f.path = paths[(unsigned char)copy[0] % ARRAY_SIZE(paths)];
	at = memmem(copy, size, mark, sizeof(mark) - 1);
	if (at) {
		f.before_len = (size_t)(at + 1 - (copy + 1));
		f.before = base = mem_dup(copy + 1, f.before_len);
		at += sizeof(mark) - 1;
	} else {
		at = copy + 1;
	}
	f.after_len = size - (size_t)(at - copy);
	f.after = new = mem_dup(at, f.after_len);
	protect_judge(&rules, &f, &end);
	if (end.action == PROTECT_MERGED)
		again(&rules, f, &end.text);
	protect_end_done(&end);
	return 0;
}
