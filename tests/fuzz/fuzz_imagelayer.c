/* A layer of arbitrary bytes, unpacked and laid over another in a real cache: bounded, no crash, and
 * nothing appears beside the cache. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/imagecache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LAYERS 2

static void put(int dir, const char *name, const void *p, size_t n)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, p, n) < 0)
		abort();
}

/* The bytes are the upper layer over an empty one. Its diff_id is
 * that of the bytes as they are, so only what is not compressed gets through to the end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct imagecache_max max = { 1u << 22, 200 };
	char dir[] = "/tmp/proctor-fuzz-XXXXXX";
	struct imagecache_root root = { .use_fd = -1 };
	struct image_layer layer[LAYERS] = { { 0 } };
	struct image im = { .layers = layer, .n_layers = LAYERS, .config = (char *)"{}" };
	auto_fd int fd = -1;
	auto_free char *cache = NULL;

	if (!mkdtemp(dir))
		abort();
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	im.path = dir;
	layer[0].name = (char *)"lower";
	layer[1].name = (char *)"upper";
	put(fd, "lower", "", 0);
	put(fd, "upper", data, size);
	digest_bytes("", 0, layer[0].diff_id);
	digest_bytes(data, size, layer[1].diff_id);
	digest_bytes("{}", 2, im.digest);
	cache = mem_printf("%s/cache", dir);
	setenv("PROCTOR_IMAGES", cache, 1);
	(void)imagecache_root("oci:x", &im, &max, &root, NULL);
	imagecache_done(&root);
	if (access("/tmp/escaped", F_OK) == 0 || fd_remove_tree(fd, "cache") < 0 ||
	    unlinkat(fd, "lower", 0) < 0 || unlinkat(fd, "upper", 0) < 0 || rmdir(dir) < 0)
		abort(); /* also when something was put beside them */
	return 0;
}
