/* Predicates of arbitrary JSON (how they are read is chosen by the first byte), decided over a trace: the lines behind
 * "---", or a fixed small one. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "verifier/pred_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char small[] =
	"{\"schema\":\"proctor.trace/1\"}\n"
	"{\"n\":1,\"t\":1500000,\"pid\":5,\"k\":\"spawn\",\"child\":6,\"child_cmd\":1}\n"
	"{\"n\":2,\"t\":3000000,\"k\":\"image\",\"path\":\"a.c\",\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n"
	"{\"n\":3,\"t\":4500000,\"k\":\"fork\",\"call\":1,\"arm\":\"shifted\"}\n"
	"{\"n\":4,\"t\":6000000,\"k\":\"edit\",\"path\":\"a.c\",\"lines\":[1,2],\"by\":\"user\",\"pre\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n"
	"{\"n\":5,\"t\":7500000,\"k\":\"intervene\",\"order\":1,\"effect\":\"edit\",\"applied\":1}\n"
	"{\"n\":6,\"t\":9000000,\"k\":\"note\",\"message\":1,\"call\":2}\n"
	"{\"n\":7,\"t\":10500000,\"pid\":6,\"cmd\":1,\"k\":\"read\",\"path\":\"/workspace/./a.c\",\"lines\":[1,9],\"shown\":[2,3]}\n"
	"{\"n\":8,\"t\":12000000,\"pid\":6,\"cmd\":1,\"k\":\"edit\",\"path\":\"b/c\\\\xff\",\"by\":\"agent\"}\n"
	"{\"n\":9,\"t\":13500000,\"cmd\":1,\"k\":\"command\",\"class\":\"test\",\"argv\":[\"sh\",\"-c\",\"x\"]}\n"
	"{\"n\":10,\"t\":15000000,\"pid\":6,\"cmd\":1,\"k\":\"exit\",\"status\":1}\n"
	"{\"n\":11,\"t\":16500000,\"k\":\"service\",\"service\":\"s\",\"event\":\"request\",\"route\":\"/x\",\"code\":200,\"mutating\":1}\n"
	"{\"n\":12,\"t\":18000000,\"k\":\"end\",\"reason\":\"exited\"}\n";

static int passed(void *arg, const char *id)
{
	(void)arg;
	return (int)(strlen(id) % 3) - 1;
}

static void check(const struct pred_finding *f, size_t from)
{
	if (f->n <= from || f->v[from].depth != 0)
		abort();
	for (size_t i = from; i < f->n; i++)
		if (!f->v[i].asked || !f->v[i].reason || f->v[i].records.n > PRED_PROOF_MAX ||
		    f->v[i].records.n > f->v[i].records.total)
			abort();
}

static void decide(struct pred_set *set, const struct pred *p, enum pred_as as, const char *trace,
		   size_t n)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	auto_free char *path = mem_printf("/proc/self/fd/%d", fd);
	struct pred_run run = { .dir = "/nonexistent",
				.trace = path,
				.workdir = "/workspace",
				.model = true,
				.test = passed };
	struct pred_finding f = { 0 };
	uint64_t matched = 0, of = 0;
	struct err err;

	if (fd < 0 || fd_write_all(fd, trace, n) < 0)
		abort();
	if (pred_scan(set, &run, &err) == 0) {
		if (as == PRED_AS_MILESTONES &&
		    (pred_milestones(set, p, &f, &matched, &of, &err) < 0 || matched > of))
			abort();
		if (as == PRED_AS_MILESTONES)
			check(&f, 0);
		pred_finding_done(&f);
		if (pred_eval(set, p, &f, &err) == 0)
			check(&f, 0);
		pred_finding_done(&f);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	const char *cut = size > 1 ? memmem(text, size - 1, "\n---\n", 5) : NULL;
	size_t n = cut ? (size_t)(cut - text) : size - 1;
	enum pred_as as = size ? (enum pred_as)(data[0] % 4) : PRED_AS_ANY;
	struct json_src src = { 0 };
	struct pred_set *set;
	struct pred *p = NULL;
	struct err err;

	if (size < 2 || size > 1u << 16)
		return 0;
	if (json_parse("pred", text, n, &src, &err) < 0)
		return 0;
	set = pred_set_new();
	if (pred_parse(set, &src, "$", src.root, as, &p, &err) == 0) {
		const char *trace = cut ? cut + 5 : small;

		decide(set, p, as, trace, cut ? size - 1 - n - 5 : sizeof(small) - 1);
	}
	json_src_done(&src);
	pred_set_free(set);
	return 0;
}
