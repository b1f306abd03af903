/* What a patch may bring into a tree at all, whoever wrote it: names, modes and links. A patch is
 * read and applied in object space (triggers/apply.h, sandbox/gitstore.h), so "..", absolute names
 * and names below a link cannot get through there; this is about what a tree could hold and a
 * checkout, git or a tool of the tests would then be led astray by. Pure. */
#ifndef VERIFIER_ADMITPATCH_H
#define VERIFIER_ADMITPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADMITPATCH_GITLINK 0160000u /* mode of a submodule in a tree */

/* Why no tree of ours takes a file called @path, NULL when it is fine: a component that some file
 * system reads as ".git" (any case; followed by dots, blanks or ":stream" as NTFS has it; its short
 * names "git~1" to "git~9"; with code points that HFS+ ignores), one that is longer than 255 bytes, a
 * path longer than 4000 bytes, or a backslash, which is a separator elsewhere, in front of ".git" or
 * "..". Static text. */
const char *admitpatch_name(const char *path);

/* Does the symbolic link @path with the @n bytes of target @to lead out of the tree? Judged by its text:
 * absolute; more ".." than there are directories above; a ".." behind a name, since that name may be a link
 * itself and then ".." is not what it looks like; a NUL byte; nothing at all. */
bool admitpatch_link_leaves(const char *path, const char *to, size_t n);

/* The mode that a tree gets for @mode of a diff: 0100644 or 0100755 for any regular file (by its owner's
 * execute bit, as git does), 0120000 and ADMITPATCH_GITLINK as they are; 0 for every other type. */
uint32_t admitpatch_mode(uint32_t mode);

#endif
