/* Sources, trees, checkouts and repositories of the store, judged by the real git. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sandbox/gitstore.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"

struct made {
	struct gitstore st;
	git_oid commit, tree;
	struct git_history history;
	struct err err;
	char dir[64];
};

/* Import @source and lay out "outN/tree" with its repository. Returns the first failure. */
static int make(struct made *m, const char *source, const char *base)
{
	static unsigned n;
	char path[128];
	int rc;

	*m = (struct made){ 0 };
	snprintf(m->dir, sizeof(m->dir), "out%u", ++n);
	mkdir(m->dir, 0700);
	snprintf(path, sizeof(path), "%s/store.git", m->dir);
	rc = gitstore_open(path, &m->st, &m->err);
	if (rc == 0)
		rc = gitstore_import(&m->st, source, base, &m->commit, &m->tree, &m->history,
				     &m->err);
	snprintf(path, sizeof(path), "%s/tree", m->dir);
	if (rc == 0)
		rc = gitstore_checkout(&m->st, &m->tree, path, (int64_t)time(NULL) - 86400,
				       &m->err);
	if (rc == 0)
		rc = gitstore_make_repo(&m->st, &m->commit, path, &m->history, &m->err);
	return rc;
}

/* The result must be a sound, clean repository with one branch and nothing else. */
static void judge(const struct made *m, const char *what)
{
	auto_free char *refs =
		sh_out("cd %s/tree && git for-each-ref --format='%%(refname)'", m->dir);
	auto_free char *head = sh_out("cd %s/tree && git symbolic-ref HEAD", m->dir);
	auto_free char *status = sh_out("cd %s/tree && git status --porcelain", m->dir);
	auto_free char *left = sh_out("cd %s/tree && git fsck --full --unreachable 2>&1", m->dir);
	auto_free char *extra = sh_out("cd %s/tree/.git && ls -d logs hooks info ORIG_HEAD "
				       "packed-refs objects/info/* 2>/dev/null",
				       m->dir);

	tap_is_str(refs, "refs/heads/main", what);
	tap_is_str(head, "refs/heads/main", "HEAD is main");
	tap_is_str(status, "", "git status is clean");
	tap_is_str(left, "", "git fsck finds nothing, not even unreachable objects");
	tap_is_str(extra, "", "no reflogs, hooks, alternates");
}

static void make_source(void)
{
	sh("git init -q -b trunk src && cd src && git config gc.auto 0 && mkdir -p d/e && "
	   "echo one >a && printf 'x\\r\\ny' >d/crlf && printf '\\0\\1bin' >d/e/b.bin && "
	   "printf '#!/bin/sh\\n' >run && chmod +x run && ln -s d/e/b.bin link && "
	   "mkdir 'name with blank' && echo q >'name with blank/q\"uote' && "
	   "git add -A && git commit -qm first && "
	   "for i in 1 2 3 4 5 6; do seq $i 400 >big; git add big; git commit -qm c$i; done && "
	   "git tag -a -m t v1 && git rev-parse HEAD >../base && "
	   "echo THE-FIX >fix && git add fix && git commit -qm fix && "
	   "git rev-parse HEAD >../fix && "
	   "git branch other && echo s >>a && git stash -q && "
	   "git update-ref refs/remotes/o/x HEAD");
}

static void test_repository(const char *kind, const char *source)
{
	auto_free char *base = sh_out("cat base");
	auto_free char *fix = sh_out("cat fix");
	auto_free char *got = NULL;
	struct made m;
	int rc = make(&m, source, base);

	tap_ok(rc == 0, "%s: import, checkout, repository: %s", kind, m.err.text);
	tap_is_str(m.history.head, base, "history names the base commit");
	tap_is_u64(m.history.commits, 7, "commits up to the base");
	tap_ok(!m.history.made, "history is the source's");
	judge(&m, kind);
	tap_ok(sh("cd %s/tree && ! git cat-file -e %s 2>/dev/null", m.dir, fix) == 0,
	       "%s: the fix commit is not in the object database", kind);
	got = sh_out("cd %s/tree && git rev-list --objects --all | wc -l", m.dir);
	tap_is_u64(m.history.objects, strtoull(got, NULL, 10), "exactly the reachable objects");
	tap_ok(sh("diff -r --no-dereference -x .git -x fix %s/tree src", m.dir) == 0,
	       "%s: files are the source's", kind);
	gitstore_close(&m.st);
}

static void test_reads_nothing(void)
{
	auto_free char *base = sh_out("cat base");
	auto_free char *opened = NULL;
	struct made m;

	make(&m, "src", base);
	if (system("command -v strace >/dev/null") != 0) {
		tap_skip("git status reads no file", "strace: not installed");
	} else {
		opened = sh_out("cd %s/tree && strace -f -e trace=openat git status 2>&1 | "
				"grep -E 'openat.*\"(a|run|big|link|d/|name)' | "
				"grep -v -e O_DIRECTORY -e ENOENT",
				m.dir);
		tap_is_str(opened, "", "git status opens no file of the work tree");
	}
	gitstore_close(&m.st);
}

static void test_errors(void)
{
	struct made m;
	int rc = make(&m, "src", "0123456789012345678901234567890123456789");

	tap_ok(rc == -ERR_INPUT, "an unknown commit is refused");
	tap_ok(strstr(m.err.text, "has 10 commits on 5 refs") != NULL, "... with counts: %s",
	       m.err.text);
	gitstore_close(&m.st);
	rc = make(&m, "src", "HEAD~1");
	tap_ok(rc == -ERR_INPUT, "no 40 hex digits: %s", m.err.text);
	gitstore_close(&m.st);
	rc = make(&m, "nowhere", NULL);
	tap_ok(rc == -ERR_INPUT, "no such source: %s", m.err.text);
	gitstore_close(&m.st);
	sh("git init -q empty");
	rc = make(&m, "empty", NULL);
	tap_ok(rc == -ERR_INPUT, "no commit yet: %s", m.err.text);
	gitstore_close(&m.st);
	sh("cd src && git bundle create -q ../inc.bundle trunk~2..trunk");
	rc = make(&m, "inc.bundle", NULL);
	tap_ok(rc == -ERR_INPUT && strstr(m.err.text, "incremental"), "incremental bundle: %s",
	       m.err.text);
	gitstore_close(&m.st);
	sh("head -c 100000 /dev/urandom >noise");
	rc = make(&m, "noise", NULL);
	tap_ok(rc == -ERR_INPUT, "noise: %s", m.err.text);
	gitstore_close(&m.st);
	sh("mkdir huge && echo x >huge/x && truncate -s 300M huge/big.bin");
	rc = make(&m, "huge", NULL);
	tap_ok(rc == -ERR_INPUT && strstr(m.err.text, "big.bin"), "a huge file: %s", m.err.text);
	gitstore_close(&m.st);
}

static void test_shallow(void)
{
	auto_free char *log = NULL;
	struct made m;

	sh("git clone -q --depth 3 --branch other file://$PWD/src shallow");
	tap_ok(make(&m, "shallow", NULL) == 0, "shallow clone: %s", m.err.text);
	judge(&m, "shallow");
	log = sh_out("cd %s/tree && git log --oneline | wc -l", m.dir);
	tap_is_str(log, "3", "history ends where the source's ends");
	gitstore_close(&m.st);
}

static void test_plain(const char *kind, const char *source, const char *want)
{
	auto_free char *log = NULL;
	struct made m;

	tap_ok(make(&m, source, NULL) == 0, "%s: %s", kind, m.err.text);
	tap_ok(m.history.made, "%s: one commit was made", kind);
	judge(&m, kind);
	log = sh_out("cd %s/tree && git log --oneline | wc -l", m.dir);
	tap_is_str(log, "1", kind);
	tap_ok(sh("diff -r --no-dereference -x .git %s/tree %s", m.dir, want) == 0,
	       "%s: files are the source's", kind);
	gitstore_close(&m.st);
	tap_ok(make(&m, source, "0123456789012345678901234567890123456789") == -ERR_INPUT,
	       "%s: has no base commit: %s", kind, m.err.text);
	gitstore_close(&m.st);
}

static void test_archives(void)
{
	sh("cp -r --no-dereference src plain && rm -rf plain/.git && ln plain/a plain/hard && "
	   "echo u >\"$(printf 'plain/\\303\\274n\\377')\" && "
	   "tar czf p.tgz plain && cd plain && tar cJf ../q.tar.xz . && "
	   "tar cf ../r.tar --format=pax ./* && cd ..");
	test_plain("plain directory", "plain", "plain");
	test_plain("tar.gz with one top directory", "p.tgz", "wrap");
	test_plain("tar.xz of ./", "q.tar.xz", "plain");
	test_plain("pax tar", "r.tar", "plain");
}

static void test_hostile_archive(const char *what, const char *python)
{
	struct made m;
	int rc;

	sh("python3 - <<'E'\nimport tarfile, io\nt = tarfile.open('h.tar', 'w')\n"
	   "def add(n, **k):\n i = tarfile.TarInfo(n)\n for a, b in k.items(): setattr(i, a, b)\n"
	   " t.addfile(i, io.BytesIO(b'x' * i.size))\n%s\nt.close()\nE",
	   python);
	rc = make(&m, "h.tar", NULL);
	tap_ok(rc == -ERR_INPUT || rc == -ERR_LIMIT, "%s: %s", what, m.err.text);
	gitstore_close(&m.st);
}

static void test_hostile(void)
{
	test_hostile_archive("..", "add('a/../../x', size=1)");
	test_hostile_archive("absolute", "add('/etc/x', size=1)");
	test_hostile_archive("device", "add('d', type=tarfile.CHRTYPE, devmajor=1, devminor=3)");
	test_hostile_archive("fifo", "add('f', type=tarfile.FIFOTYPE)");
	test_hostile_archive("hard link out",
			     "add('h', type=tarfile.LNKTYPE, linkname='../../etc/x')");
	test_hostile_archive("hard link to nothing",
			     "add('h', type=tarfile.LNKTYPE, linkname='y')");
	test_hostile_archive("file and directory", "add('a', size=1)\nadd('a-b', size=1)\n"
						   "add('a/b', size=1)");
	test_hostile_archive("link and directory",
			     "add('a', type=tarfile.SYMTYPE, linkname='/etc')\n"
			     "add('a/passwd', size=1)");
	test_hostile_archive("nested .git", "add('x/y/.git/config', size=1)\nadd('z', size=1)");
	test_hostile_archive(".GIT", "add('.GIT/hooks/x', size=1)");
	test_hostile_archive("link for .git",
			     "add('.git/HEAD', size=1)\n"
			     "add('.git/objects', type=tarfile.SYMTYPE, linkname='/')");
	test_hostile_archive("large member", "add('big', size=257 << 20)");
}

/* Tree objects are data: names that a file system or git would not allow. */
static void test_hostile_tree(void)
{
	static const char *const names[] = { "..", ".git", ".GIT", "a/b" };

	sh("git init -q bad && cd bad && echo x >f && git add f && git commit -qm x");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct made m;

		sh("cd bad && b=$(git hash-object f) && python3 - \"$b\" '%s' >t <<'E'\n"
		   "import sys\n"
		   "sys.stdout.buffer.write(b'100644 ' + sys.argv[2].encode() + b'\\0' + "
		   "bytes.fromhex(sys.argv[1]))\nE\n"
		   "t=$(git hash-object --literally -t tree -w t) && "
		   "git commit-tree -m bad $t >../badc",
		   names[i]);
		auto_free char *commit = sh_out("cat badc");
		tap_ok(make(&m, "bad", commit) == -ERR_INPUT, "tree with \"%s\": %s", names[i],
		       m.err.text);
		gitstore_close(&m.st);
	}
}

static void test_repo_archive(void)
{
	auto_free char *fix = sh_out("cat fix");
	auto_free char *base = sh_out("cat base");
	struct made m;

	sh("tar czf repo.tgz src && cd src && tar cf ../repo2.tar .");
	test_repository("archive of a repository", "repo.tgz");
	test_repository("archive of a repository without top", "repo2.tar");
	tap_ok(make(&m, "repo.tgz", NULL) == 0, "HEAD of an archived repository");
	tap_is_str(m.history.head, fix, "... is its head");
	gitstore_close(&m.st);
	/* Nothing of the archive may make us read objects from elsewhere. */
	sh("cp -r src alt && rm -rf alt/.git/objects/* && mkdir alt/.git/objects/info && "
	   "echo $PWD/src/.git/objects >alt/.git/objects/info/alternates && tar cf alt.tar alt");
	tap_ok(make(&m, "alt.tar", base) == -ERR_INPUT, "alternates in an archive: %s", m.err.text);
	gitstore_close(&m.st);
	tap_ok(make(&m, "alt", base) == 0, "alternates of the user's own clone: %s", m.err.text);
	judge(&m, "alternates");
	gitstore_close(&m.st);
}

static void test_update(void)
{
	auto_buf out = BUF_INIT(1 << 20);
	auto_buf diff = BUF_INIT(1 << 20);
	auto_free char *base = sh_out("cat base");
	char x[] = "new\n", run[] = "run", d[] = "d", deep[] = "p/q/r.txt", in_a[] = "a/in",
	     a[] = "a";
	char bad[] = "../x", d_b[] = "d/e/b.bin", link[] = "link/x";
	struct git_change c[] = {
		{ .path = deep, .mode = 0100755, .data = x, .len = 4 },
		{ .path = in_a, .mode = 0100644, .data = x, .len = 4 },
		{ .path = a, .mode = 0 },
		{ .path = d, .mode = 0 },
		{ .path = d_b, .mode = 0 },
		{ .path = run, .mode = 0100644, .data = x, .len = 4 },
	};
	struct git_change refuse[] = {
		{ .path = bad, .mode = 0100644, .data = x, .len = 4 },
		{ .path = link, .mode = 0100644, .data = x, .len = 4 },
		{ .path = run, .mode = 040000, .data = x, .len = 4 },
	};
	struct err err = { 0 };
	struct made m;
	uint32_t mode = 0;
	git_oid tree, same;

	make(&m, "src", base);
	tap_ok(gitstore_update(&m.st, &m.tree, c, ARRAY_SIZE(c), &tree, &err) == 0, "update: %s",
	       err.text);
	tap_ok(gitstore_read(&m.st, &tree, deep, &out, &mode, &err) == 1 && mode == 0100755 &&
		       out.len == 4,
	       "a new file in new directories");
	tap_ok(gitstore_read(&m.st, &tree, d_b, &out, &mode, &err) == 0, "a removed directory");
	tap_ok(gitstore_read(&m.st, &tree, in_a, &out, &mode, &err) == 1, "file to directory");
	tap_ok(gitstore_read(&m.st, &tree, "a/in/x", &out, &mode, &err) == 0, "below a file");
	tap_ok(gitstore_read(&m.st, &m.tree, "link", &out, &mode, &err) == 1 && mode == 0120000,
	       "a symbolic link is not followed");
	for (size_t i = 0; i < ARRAY_SIZE(refuse); i++)
		tap_ok(gitstore_update(&m.st, &m.tree, &refuse[i], 1, &same, &err) == -ERR_INPUT,
		       "refused: %s", err.text);
	tap_ok(gitstore_update(&m.st, &m.tree, NULL, 0, &same, &err) == 0 &&
		       git_oid_equal(&same, &m.tree),
	       "no changes, same tree");
	tap_ok(gitstore_diff(&m.st, &m.tree, &tree, &diff, &err) == 0, "diff: %s", err.text);
	FILE *f = fopen("u.diff", "w");
	fwrite(diff.data, 1, diff.len, f);
	fclose(f);
	tap_ok(sh("cd %s/tree && git apply --index ../../u.diff && test \"$(git write-tree)\" = %s",
		  m.dir, git_oid_tostr_s(&tree)) == 0,
	       "git apply gives the same tree");
	buf_clear(&diff);
	diff.max = 100;
	tap_ok(gitstore_diff(&m.st, NULL, &tree, &diff, &err) == -ERR_LIMIT, "bounded diff: %s",
	       err.text);
	gitstore_close(&m.st);
}

/* Packs in all states: loose, packed with deltas, several packs, base in the middle of chains. */
static void test_packed(void)
{
	sh("cp -r src packed && cd packed && git repack -adq --depth=50 && echo z >z && "
	   "git add z && "
	   "git commit -qm z && git branch -f other && git reset -q --hard HEAD~1 && "
	   "git repack -dq");
	sh("cp -r src many && cd many && git gc -q && for i in 7 8 9; do seq $i 500 >big; "
	   "git commit -qam m$i; git repack -dq; done; git reset -q --hard $(cat ../fix)");
	sh("git clone -q --bare src bare.git && git clone -q --mirror src mirror.git && "
	   "git -C src worktree add -q ../tree-of-src trunk~1 2>/dev/null; "
	   "git -C src bundle create -q "
	   "../all.bundle --all HEAD");
	test_repository("loose objects", "src");
	test_repository("packed", "packed");
	test_repository("many packs", "many");
	test_repository("bare", "bare.git");
	test_repository("worktree", "tree-of-src");
	test_repository("bundle", "all.bundle");
	sh("git -C src worktree remove -f ../tree-of-src");
}

static void test_many_files(void)
{
	auto_free char *status = NULL;
	struct made m;
	uint64_t t;

	sh("mkdir wide && cd wide && python3 - <<'E'\nimport os\nfor i in range(20000):\n"
	   " d = 'd%%03d/e%%d' %% (i // 100, i %% 7)\n os.makedirs(d, exist_ok=True)\n"
	   " open('%%s/f%%d' %% (d, i), 'w').write('line %%d\\n' %% i * 40)\nE");
	t = clock_mono();
	tap_ok(make(&m, "wide", NULL) == 0, "20,000 files: %s", m.err.text);
	tap_diag("import, checkout and repository of 20,000 files: %.2f s",
		 (double)(clock_mono() - t) / 1e9);
	status = sh_out("cd %s/tree && git status --porcelain", m.dir);
	tap_is_str(status, "", "git status is clean");
	gitstore_close(&m.st);
}

static void test_submodule(void)
{
	struct made m;

	sh("git init -q super && cd super && git -c protocol.file.allow=always submodule -q add "
	   "../bare.git sub && git commit -qm s");
	tap_ok(make(&m, "super", NULL) == 0, "submodule: %s", m.err.text);
	tap_ok(sh("cd %s/tree && test -d sub && test -z \"$(ls -A sub)\" && "
		  "git ls-tree HEAD sub | grep -q ^160000 && test -z \"$(git status --porcelain)\"",
		  m.dir) == 0,
	       "an empty directory, and the tree keeps the link");
	gitstore_close(&m.st);
}

int main(void)
{
	const char *dir = sh_enter();

	make_source();
	test_packed();
	test_reads_nothing();
	test_errors();
	test_shallow();
	test_update();
	sh("mkdir wrap && cp -r --no-dereference src wrap/plain && rm -rf wrap/plain/.git && "
	   "ln wrap/plain/a wrap/plain/hard && "
	   "echo u >\"$(printf 'wrap/plain/\\303\\274n\\377')\"");
	test_archives();
	test_hostile();
	test_hostile_tree();
	test_repo_archive();
	test_submodule();
	test_many_files();
	sh_leave(dir);
	return tap_done();
}
