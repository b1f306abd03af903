/* The final patch, taken from outside after the box is dead: what the overlay's upper layer changed
 * against the lower one. Binary-safe, untracked files included, modes and symlinks right. */
#ifndef VERIFIER_CAPTURE_H
#define VERIFIER_CAPTURE_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/str.h"
#include "sandbox/workspace.h"

struct capture {
	struct buf diff; /* git-format diff text */
	uint64_t files, added, removed;
	uint64_t ignored; /* changed files that the base's .gitignore files exclude, looked at */
	char sha256[DIGEST_HEX];
	struct strv dropped; /* paths left out and why: "big.bin: larger than 256M" */
};

/* Compare upper with lower. Files that the base's own .gitignore files exclude are left out (an
 * agent cannot widen or narrow that by editing them); .git is never part; pipes, sockets, devices,
 * files above GITSTORE_BLOB_MAX and what would bring both sides together above 256M are left out
 * and named. Bytes are read with no link followed. Text above GITSTORE_TEXT_MAX comes as binary
 * hunks, whose lines are not counted. 0 or negative; *ret is untouched then. Free with
 * capture_done(). */
int capture_take(struct workspace *ws, struct capture *ret, struct err *err);

/* As capture_take() without the rules of .gitignore: the tree as the agent left it, with caches and
 * build products. */
int capture_tree(struct workspace *ws, struct capture *ret, struct err *err);

/* Free. */
void capture_done(struct capture *c);

#endif
