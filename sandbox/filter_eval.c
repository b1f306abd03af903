/* A classic BPF machine over struct seccomp_data, as the kernel runs it (net/core/filter.c,
 * seccomp_check_filter()): 32-bit words, absolute loads at multiples of four only. Anything that
 * the kernel would refuse to load evaluates to KILL_PROCESS. */
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>

#include "sandbox/filter.h"

struct machine {
	uint32_t a, x, mem[BPF_MEMWORDS];
	unsigned pc;
	const uint32_t *data; /* struct seccomp_data as words */
};

static int load(struct machine *m, const struct sock_filter *f)
{
	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		if (f->k % 4 || f->k >= sizeof(struct seccomp_data))
			return -1;
		m->a = m->data[f->k / 4];
		return 0;
	case BPF_IMM:
		m->a = f->k;
		return 0;
	case BPF_MEM:
		if (f->k >= BPF_MEMWORDS)
			return -1;
		m->a = m->mem[f->k];
		return 0;
	case BPF_LEN:
		m->a = sizeof(struct seccomp_data);
		return 0;
	default:
		return -1;
	}
}

static int load_x(struct machine *m, const struct sock_filter *f)
{
	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		m->x = f->k;
		return 0;
	case BPF_MEM:
		if (f->k >= BPF_MEMWORDS)
			return -1;
		m->x = m->mem[f->k];
		return 0;
	case BPF_LEN:
		m->x = sizeof(struct seccomp_data);
		return 0;
	default:
		return -1;
	}
}

static int store(struct machine *m, const struct sock_filter *f)
{
	if (f->k >= BPF_MEMWORDS)
		return -1;
	m->mem[f->k] = BPF_CLASS(f->code) == BPF_ST ? m->a : m->x;
	return 0;
}

static int compute(struct machine *m, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		m->a += v;
		return 0;
	case BPF_SUB:
		m->a -= v;
		return 0;
	case BPF_MUL:
		m->a *= v;
		return 0;
	case BPF_DIV:
		if (!v)
			return -1;
		m->a /= v;
		return 0;
	case BPF_AND:
		m->a &= v;
		return 0;
	case BPF_OR:
		m->a |= v;
		return 0;
	case BPF_XOR:
		m->a ^= v;
		return 0;
	case BPF_LSH:
		m->a = v < 32 ? m->a << v : 0;
		return 0;
	case BPF_RSH:
		m->a = v < 32 ? m->a >> v : 0;
		return 0;
	case BPF_NEG:
		m->a = -m->a;
		return 0;
	default:
		return -1;
	}
}

static int jump(struct machine *m, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;
	int hit;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		m->pc += f->k;
		return 0;
	case BPF_JEQ:
		hit = m->a == v;
		break;
	case BPF_JGT:
		hit = m->a > v;
		break;
	case BPF_JGE:
		hit = m->a >= v;
		break;
	case BPF_JSET:
		hit = (m->a & v) != 0;
		break;
	default:
		return -1;
	}
	m->pc += hit ? f->jt : f->jf;
	return 0;
}

static int misc(struct machine *m, const struct sock_filter *f)
{
	if (BPF_MISCOP(f->code) == BPF_TAX)
		m->x = m->a;
	else
		m->a = m->x;
	return 0;
}

static int (*const classes[8])(struct machine *m, const struct sock_filter *f) = {
	[BPF_LD] = load,     [BPF_LDX] = load_x, [BPF_ST] = store,  [BPF_STX] = store,
	[BPF_ALU] = compute, [BPF_JMP] = jump,   [BPF_MISC] = misc,
};

unsigned filter_eval(const struct sock_fprog *prog, unsigned arch, int nr,
		     const unsigned long long args[6])
{
	uint32_t words[sizeof(struct seccomp_data) / 4];
	struct machine m = { .data = words };
	struct seccomp_data data = { .nr = nr, .arch = arch };

	for (int i = 0; i < 6; i++)
		data.args[i] = args ? args[i] : 0;
	memcpy(words, &data, sizeof(words));
	/* The kernel has no empty programs: one that is empty here was never loaded. */
	if (!prog->len)
		return SECCOMP_RET_ALLOW;
	while (m.pc < prog->len) {
		const struct sock_filter *f = &prog->filter[m.pc++];
		int (*step)(struct machine *, const struct sock_filter *) =
			classes[BPF_CLASS(f->code)];

		if (BPF_CLASS(f->code) == BPF_RET)
			return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
		if (step(&m, f) < 0)
			break;
	}
	return SECCOMP_RET_KILL_PROCESS;
}
