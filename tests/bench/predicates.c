/* predicates [RECORDS [PREDICATES]]: a made-up trace of a million records, a hundred predicates over it. Prints the
 * seconds of reading and deciding, those of parsing the same file as JSON and nothing else, and their ratio.
 * Exit status 1 when an answer is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "tests/lib/fakerun.h"
#include "base/tracerec.h"
#include "verifier/pred.h"

enum { RECORDS = 1000000, PREDICATES = 100 };

/* What a run mostly consists of; the numbers vary. */
static void put(struct buf *b, unsigned n)
{
	static const char *const forms[] = {
		"\"pid\":%u,\"cmd\":%u,\"k\":\"open\",\"path\":\"/usr/lib/python3/dist-packages/mod%u/__init__.py\",\"flags\":524288",
		"\"pid\":%u,\"cmd\":%u,\"k\":\"read\",\"path\":\"src/pkg/module_%u.py\",\"fd\":3,\"off\":0,\"len\":4096,\"lines\":[1,120]",
		"\"pid\":%u,\"cmd\":%u,\"k\":\"close\",\"path\":\"src/pkg/module_%u.py\",\"fd\":3",
		"\"pid\":%u,\"cmd\":%u,\"k\":\"write\",\"path\":\"/tmp/out%u.log\",\"fd\":4,\"off\":0,\"len\":80",
		"\"pid\":%u,\"cmd\":%u,\"k\":\"exec\",\"path\":\"/usr/bin/python3\",\"argv\":[\"python3\",\"-m\",\"unittest\",\"test_%u\"],\"cwd\":\"/workspace\"",
		"\"pid\":%u,\"cmd\":%u,\"k\":\"edit\",\"path\":\"src/pkg/module_%u.py\",\"lines\":[10,12],\"by\":\"agent\","
		"\"pre\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\","
		"\"post\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
	};

	buf_addf(b, "{\"n\":%u,\"t\":%u000,", n, n);
	buf_addf(b, forms[n * 7 % 13 % 6], 100 + n % 50, n / 500, n % 300);
	buf_adds(b, "}\n");
}

static void make(const char *path, unsigned records)
{
	FILE *f = fopen(path, "we");
	struct buf b = BUF_INIT(64u << 20);

	for (unsigned n = 1; f && n <= records; n++) {
		if (n == records / 2)
			buf_addf(&b, "{\"n\":%u,\"k\":\"fork\",\"call\":1,\"arm\":\"shifted\"}\n",
				 n);
		else if (n == records / 2 + 1)
			buf_addf(
				&b,
				"{\"n\":%u,\"k\":\"intervene\",\"order\":1,\"effect\":\"edit\",\"applied\":1}\n",
				n);
		else if (n == records)
			buf_addf(&b, "{\"n\":%u,\"k\":\"end\",\"reason\":\"exited\"}\n", n);
		else
			put(&b, n);
		if (b.len > 1u << 20 || n == records) {
			fwrite(buf_str(&b), 1, b.len, f);
			buf_clear(&b);
		}
	}
	buf_done(&b);
	if (!f || fclose(f) != 0)
		fakerun_die(path);
}

static struct pred *parse(struct pred_set *set, unsigned i, struct err *err)
{
	static const char *const forms[] = {
		"{\"exists\":{\"kind\":\"read\",\"path\":\"src/pkg/module_%u.py\"},\"after\":\"update\"}",
		"{\"absent\":{\"kind\":[\"open\",\"read\"],\"path\":\"**/secret_%u/*.py\"}}",
		"{\"count\":{\"kind\":\"exec\",\"program\":\"python*\",\"argv\":[\"unittest\",\"test_%u\"]},\"min\":1}",
		"{\"order\":[{\"id\":\"a\",\"match\":{\"kind\":\"read\",\"path\":\"src/**/module_%u.py\",\"lines\":[5,9]}},"
		"{\"id\":\"b\",\"match\":{\"kind\":\"edit\",\"by\":\"agent\"},\"needs\":[\"a\"]}],\"after\":\"fork\"}",
		"{\"exists\":{\"kind\":\"write\",\"path\":\"/tmp/*%u.log\"},\"after\":{\"last\":{\"kind\":\"edit\"},\"before\":\"update\"}}",
	};
	auto_free char *text = mem_printf(forms[i % 5], i);
	struct json_src src = { 0 };
	struct pred *p = NULL;

	if (json_parse("bench", text, strlen(text), &src, err) < 0 ||
	    pred_parse(set, &src, "$", src.root, PRED_AS_ANY, &p, err) < 0)
		fakerun_die(err->text);
	json_src_done(&src);
	return p;
}

static int nothing(const cJSON *rec, void *arg)
{
	(void)rec;
	++*(uint64_t *)arg;
	return 0;
}

/* All @n predicates over the trace of @dir. Seconds; 0 when an answer is wrong. */
static double decide(const char *dir, unsigned n)
{
	struct pred_run run = { .dir = dir, .workdir = "/workspace", .model = true };
	struct pred_set *set = pred_set_new();
	auto_free struct pred **p = mem_zalloc(n, sizeof(struct pred *));
	struct err err = { 0 };
	uint64_t from;
	bool good = true;

	for (unsigned i = 0; i < n; i++)
		p[i] = parse(set, i, &err);
	from = clock_mono();
	if (pred_scan(set, &run, &err) < 0)
		fakerun_die(err.text);
	for (unsigned i = 0; i < n; i++) {
		struct pred_finding f = { 0 };

		if (pred_eval(set, p[i], &f, &err) < 0)
			fakerun_die(err.text);
		good &= f.v[0].ok;
		if (!f.v[0].ok)
			printf("# wrong: %s: %s\n", f.v[0].asked, f.v[0].reason);
		pred_finding_done(&f);
	}
	pred_set_free(set);
	return good ? (double)(clock_mono() - from) / 1e9 : 0;
}

int main(int argc, char **argv)
{
	unsigned records = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : RECORDS;
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : PREDICATES;
	char dir[] = "/tmp/predicates-XXXXXX";
	auto_free char *path = NULL;
	double seconds, plain;
	uint64_t from, seen = 0;
	struct rusage ru;
	struct stat st;
	struct err err;
	bool cut;

	if (!mkdtemp(dir))
		fakerun_die("mkdtemp");
	path = path_join(dir, "trace.jsonl");
	make(path, records);
	seconds = decide(dir, n);
	getrusage(RUSAGE_SELF, &ru);
	from = clock_mono();
	if (tracerec_read(path, nothing, &seen, &cut, &err) < 0)
		fakerun_die(err.text);
	plain = (double)(clock_mono() - from) / 1e9;
	if (stat(path, &st) == 0)
		printf("%llu records, %.0f MB, %u predicates: %.2f s, %.0f MiB; plain JSON parse: %.2f s; "
		       "ratio %.2f\n",
		       (unsigned long long)seen, (double)st.st_size / 1e6, n, seconds,
		       (double)ru.ru_maxrss / 1024, plain, seconds / plain);
	fd_remove_tree(AT_FDCWD, dir);
	return seconds > 0 ? 0 : 1;
}
