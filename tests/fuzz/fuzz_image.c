/* The JSON files of container images over arbitrary bytes; the first byte chooses which file it is. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profiles/image_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_one(char kind, const char *text, size_t n, struct image *im, struct err *err)
{
	struct image_ref ref;
	char sum[DIGEST_HEX];
	auto_free char *config = NULL;
	int rc;

	switch (kind) {
	case 'i':
		return image_json_index("input", text, n, NULL, &ref, err);
	case 't':
		return image_json_index("input", text, n, "latest", &ref, err);
	case 'm':
		return image_json_manifest("input", text, n, im, sum, err);
	case 'd':
		rc = image_json_docker("input", text, n, NULL, im, &config, err);
		if (rc == 0 && (!config || !*config))
			abort();
		return rc;
	case 'n':
		return image_json_docker("input", text, n, "name", im, &config, err);
	default:
		return image_json_config("input", text, n, im, err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *im = mem_zalloc(1, sizeof(*im));
	struct err err = { 0 };

	if (size) {
		int rc = read_one((char)data[0], (const char *)data + 1, size - 1, im, &err);

		if (rc < 0 && (rc != -ERR_INPUT || strncmp(err.text, "input", 5) != 0))
			abort();
	}
	if (im->n_layers > IMAGE_LAYERS_MAX || im->env.n > IMAGE_ENV_MAX)
		abort();
	strv_each (i, &im->env) {
		if (!strchr(im->env.v[i], '='))
			abort();
	}
	image_free(im);
	return 0;
}
