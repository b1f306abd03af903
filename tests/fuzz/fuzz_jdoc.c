/* JSON of arbitrary bytes: the tree is whole, edits at places the first bytes choose give JSON again,
 * and no edit gives the text itself. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/jedit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_node(const struct jdoc *d, uint32_t i)
{
	const struct jnode *v = &d->v[i];
	uint32_t n = 0, at = v->start;
	auto_buf s = BUF_INIT(3 * d->n + 1);
	uint64_t number;

	if (v->start >= v->end || v->end > d->n || v->next <= i || v->next > d->n_nodes)
		abort();
	jdoc_each (c, d, i) {
		if (d->v[c].start <= at || d->v[c].end >= v->end)
			abort();
		at = d->v[c].end;
		n++;
	}
	if (n != v->n)
		abort();
	if (jdoc_str(d, i, &s) == 0 && s.full)
		abort();
	(void)jdoc_u64(d, i, &number); /* no crash is all that is asked */
}

/* One change of the kind and at the place that @b say. */
static void change(const struct jdoc *d, struct jedit *e, const uint8_t *b)
{
	uint32_t parent = b[1] % d->n_nodes, child = jdoc_first(d, parent);

	for (unsigned k = b[2] % 4; k && child != JNONE; k--)
		child = jdoc_next(d, parent, child);
	switch (b[0] % 4) {
	case 0:
		jedit_replace(e, d, parent, "\"new\"");
		break;
	case 1:
		if (child != JNONE)
			jedit_remove(e, d, parent, child);
		break;
	case 2:
		jedit_insert(e, d, parent, child, "{\"x\":1}");
		break;
	default:
		jedit_set(e, d, parent, b[2] & 4 ? "a" : "b", "[]");
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { HEAD = 9 };
	auto_buf out = BUF_INIT(4 * size + 1000), same = BUF_INIT(size + 1);
	struct jdoc d, again;
	struct jedit e = { 0 };
	struct err err = { 0 };

	if (size < HEAD)
		return 0;
	if (jdoc_parse(&d, (const char *)data + HEAD, size - HEAD, &err) < 0) {
		if (d.v || err.code != ERR_INPUT || !err.text[0])
			abort();
		return 0;
	}
	for (uint32_t i = 0; i < d.n_nodes && i < 200; i++)
		check_node(&d, i);
	if (jedit_apply(&e, &d, &same) < 0 || same.len != d.n ||
	    memcmp(buf_str(&same), d.text, d.n) != 0)
		abort();
	for (int i = 0; i < HEAD; i += 3)
		change(&d, &e, data + i);
	if (jedit_apply(&e, &d, &out) == 0) {
		if (jdoc_parse(&again, buf_str(&out), out.len, NULL) < 0)
			abort();
		jdoc_done(&again);
	}
	jedit_done(&e);
	jdoc_done(&d);
	return 0;
}
