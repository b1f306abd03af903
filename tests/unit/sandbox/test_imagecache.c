/* Images that are odd and images that are hostile, unpacked; what the cache holds before and after. */
#include "sandbox/imagecache.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"

/* Read and unpack @text. 0 or negative; *ret is to be done with. */
static int get(const char *text, const struct imagecache_max *max, struct imagecache_root *ret,
	       struct err *err)
{
	struct image *im = NULL;
	int rc = image_read(text, &im, err);

	*ret = (struct imagecache_root){ .use_fd = -1 };
	if (rc == 0)
		rc = imagecache_root(text, im, max, ret, err);
	image_free(im);
	return rc;
}

static void is(const char *root, const char *cmd, const char *want, const char *name)
{
	auto_free char *got = sh_out("cd '%s' && { %s; } 2>&1", root + strlen("dir:"), cmd);

	tap_is_str(got, want, name);
}

static void odd(const char *dir)
{
	auto_free char *text = mem_printf("oci:%s/odd/odd:latest", dir);
	auto_free char *plain = mem_printf("oci:%s/odd/odd-plain", dir);
	struct imagecache_root r, again;
	struct err err = { 0 };

	if (!tap_ok(get(text, NULL, &r, &err) == 0, "an odd image is unpacked")) {
		tap_diag("%s", err.text);
		return;
	}
	is(r.rootfs, "cat etc/absolute", "absolute name", "an absolute name is meant in the image");
	is(r.rootfs, "cat etc/passwd", "the image's own", "its own files are where they belong");
	is(r.rootfs, "ls d; cat d/three d/four", "four\nthree\ntwo\n34",
	   "a white-out hides; links on the way stay in the image, also with too many ..");
	is(r.rootfs, "ls -A opaque", "new", "an opaque directory hides all below it");
	is(r.rootfs, "cat twice hard; [ twice -ef hard ] && echo same", "secondsecondsame",
	   "of two members the later one, and a hard link to it");
	is(r.rootfs, "stat -c %a suid closed closed-dir", "755\n600\n700",
	   "no set-uid bit; nothing that its owner cannot read");
	is(r.rootfs, "ls -d null disk pipe 2>/dev/null | wc -l", "0", "no devices, no pipes");
	is(r.rootfs, "cat late; [ late -ef d/two ] && echo same", "2same",
	   "a hard link to a file of a lower layer");
	is(r.rootfs, "cat becomes-dir/x becomes-file; cat etc/out", "xfno link any more",
	   "what changes its kind");
	is(r.rootfs, "find . -name '.wh*' | wc -l", "0", "no white-out is left");
	is(r.rootfs, "ls | grep -c umlaut", "1", "a name with a newline is one name");
	is(r.rootfs, "find . ! -user $(id -u) | wc -l", "0", "everything is ours");
	tap_ok(get(plain, NULL, &again, &err) == 0 && strcmp(again.rootfs, r.rootfs) == 0,
	       "the same image, packed otherwise, is the same");
	imagecache_done(&again);
	imagecache_done(&r);
}

static void hostile(const char *dir)
{
	auto_free char *list = mem_printf("%s/hostile", dir);
	DIR *d = opendir(list);
	struct dirent *de;
	unsigned n = 0;

	while (d && (de = readdir(d))) {
		auto_buf why = BUF_INIT(4096);
		auto_free char *text = mem_printf("oci:%s/%s", list, de->d_name);
		auto_free char *file = mem_printf("%s/%s.why", list, de->d_name);
		struct imagecache_root r;
		struct err err = { 0 };
		int rc;

		if (access(file, R_OK) < 0 || fd_read_file(file, &why, NULL) < 0)
			continue;
		n++;
		rc = get(text, NULL, &r, &err);
		if (!tap_ok(rc == -ERR_INPUT && strstr(err.text, buf_str(&why)), "refused: %s",
			    de->d_name))
			tap_diag("rc %d: %s", rc, rc < 0 ? err.text : "");
		tap_ok(!r.rootfs && r.use_fd < 0, "nothing is given");
	}
	if (d)
		closedir(d);
	tap_ok(n >= 20, "there are hostile images");
	is("dir:cache", "ls images | wc -l; ls -A work 2>/dev/null | wc -l", "0\n0",
	   "no image of theirs, nothing in the making");
}

static void bounds(const char *dir)
{
	auto_free char *text = mem_printf("oci:%s/odd/odd", dir);
	const struct imagecache_max few = { 1u << 30, 5 }, small = { 16384, 1000 };
	struct imagecache_root r;
	struct err err = { 0 };

	tap_ok(get(text, &few, &r, &err) == -ERR_INPUT && strstr(err.text, "entries"),
	       "too many entries");
	tap_ok(get(text, &small, &r, &err) == -ERR_INPUT && strstr(err.text, "GiB"),
	       "too many bytes");
	is("dir:cache", "ls images layers | grep -c '^[0-9a-f]'; ls -A work 2>/dev/null | wc -l",
	   "0\n0", "nothing is left");
}

static void leftovers(const char *dir)
{
	auto_free char *text = mem_printf("oci:%s/odd/odd", dir);
	struct imagecache_root r;
	struct err err = { 0 };

	sh("cd cache && mkdir -p work/x/y && echo half >work/x/y/z && chmod 0 work/x");
	tap_ok(get(text, NULL, &r, &err) == 0, "unpacked beside a leftover: %s", err.text);
	is("dir:cache", "ls -A work | wc -l", "0", "which is gone");
	imagecache_done(&r);
	sh("chmod 777 cache");
	tap_ok(get(text, NULL, &r, &err) == -ERR_HOST && strstr(err.text, "PROCTOR_IMAGES"),
	       "a cache that others can write is not used");
	sh("chmod 700 cache");
}

static void count(void *arg, const struct imagecache_entry *e)
{
	*(unsigned *)arg += 1 + 100 * e->busy;
}

static void prune(const char *dir)
{
	auto_free char *text = mem_printf("oci:%s/odd/odd", dir);
	struct imagecache_root r;
	struct err err = { 0 };
	unsigned n = 0;

	tap_ok(get(text, NULL, &r, &err) == 0, "an image in use");
	tap_ok(imagecache_list(count, &n, &err) == 0 && n == 101, "it is listed as such");
	n = 0;
	tap_ok(imagecache_prune(0, count, &n, &err) == 0 && n == 0, "and is not removed");
	is("dir:cache", "ls images layers | grep -c '^[0-9a-f]'", "4", "nor are its layers");
	imagecache_done(&r);
	tap_ok(imagecache_prune(3600, count, &n, &err) == 0 && n == 0,
	       "not used for too short a time");
	tap_ok(imagecache_prune(0, count, &n, &err) == 0 && n == 1, "unused, it is removed");
	is("dir:cache", "ls images layers | grep -c '^[0-9a-f]'; ls -A work | wc -l", "0\n0",
	   "with its layers");
	n = 0;
	setenv("PROCTOR_IMAGES", "no-such-directory", 1);
	tap_ok(imagecache_list(count, &n, &err) == 0 && n == 0 &&
		       access("no-such-directory", F_OK) < 0,
	       "no cache: nothing to list, and none is made");
}

static void forms(const char *dir)
{
	static const char *const bad[][2] = {
		{ "oci:%s/odd", "no file index.json" },
		{ "oci:%s/odd/odd:other", "there is: latest" },
		{ "oci:%s/none", "no such directory or file" },
		{ "docker-archive:%s/odd/odd", "write \"oci:LAYOUT\"" },
		{ "docker-archive:%s/odd.tar", "write \"oci:LAYOUT\"" },
		{ "oci:%s/hostile/climbs.why", "cannot read image" },
	};
	auto_free char *tarred = mem_printf("oci:%s/odd.tar:latest", dir);
	struct image *im = NULL;
	struct err err = { 0 };

	sh("tar -C '%s/odd/odd' -cf '%s/odd.tar' .", dir, dir);
	tap_ok(image_read(tarred, &im, &err) == 0 && im->n_layers == 3,
	       "a layout in a tar archive: %s", err.text);
	if (im) {
		tap_is_str(im->tag, "latest", "with a tag");
		tap_is_str(im->env.n ? im->env.v[0] : "", "PATH=/bin", "and its environment");
	}
	image_free(im);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_buf text = BUF_INIT(4096);
		const char *at = strchr(bad[i][0], '%');

		im = NULL;
		buf_add(&text, bad[i][0], (size_t)(at - bad[i][0]));
		buf_addf(&text, "%s%s", dir, at + 2);
		if (!tap_ok(image_read(buf_str(&text), &im, &err) == -ERR_INPUT &&
				    strstr(err.text, bad[i][1]),
			    "refused: %s", bad[i][0]))
			tap_diag("%s", err.text);
		image_free(im);
	}
}

int main(int argc, char **argv)
{
	auto_free char *maker = realpath(argc > 1 ? argv[1] : "tests/tools/image.py", NULL);
	const char *dir = sh_enter();

	if (!maker)
		return 1;
	sh("umask 022; mkdir -m 700 cache; python3 '%s' hostile hostile; python3 '%s' odd odd",
	   maker, maker);
	setenv("PROCTOR_IMAGES", "cache", 1);
	forms(dir);
	hostile(dir);
	sh("rm -rf cache; mkdir -m 700 cache");
	bounds(dir);
	odd(dir);
	sh("rm -rf cache; mkdir -m 700 cache");
	leftovers(dir);
	prune(dir);
	sh_leave(dir);
	return tap_done();
}
