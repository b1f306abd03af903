#include "gateway/dns_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

enum {
	HEADER = 12,
	FLAG_QR = 0x8000,
	FLAG_AA = 0x0400,
	FLAG_RD = 0x0100,
	FLAG_RA = 0x0080,
	OPCODE = 0x7800,
	CLASS_IN = 1,
	CLASS_ANY = 255,
	RECORDS_MAX = 16, /* of the additional section of a query: OPT, perhaps a signature */
	LABEL_MAX = 63,
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t **p, unsigned v)
{
	*(*p)++ = (uint8_t)(v >> 8);
	*(*p)++ = (uint8_t)v;
}

static bool host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* One byte of a label into text form, what is no host character as "\DDD" (RFC 1035, 5.1). */
static void name_byte(struct dns_query *q, size_t *len, uint8_t byte)
{
	char c = (char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
	char text[5] = { c, '\0' };

	if (!host_char(c)) {
		q->host_name = false;
		(void)snprintf(text, sizeof(text), "\\%03u", byte);
	}
	/* Only escapes make the text longer than the wire form: such a name is no host's and is
	 * shown cut. */
	for (const char *t = text; *t && *len + 1 < sizeof(q->name); t++)
		q->name[(*len)++] = *t;
}

/* Names such as "127.1" and "0x7f.1" are addresses to old library calls. */
static bool last_part_is_number(const char *name)
{
	const char *last = strrchr(name, '.');

	last = last ? last + 1 : name;
	if (last[strspn(last, "0123456789")] == '\0')
		return true;
	return last[0] == '0' && last[1] == 'x' &&
	       last[2 + strspn(last + 2, "0123456789abcdef")] == '\0';
}

/* The question's name at @at; a pointer (compression) has no earlier name to point to.
 * Returns where the name ends, 0 when it is malformed. */
static size_t read_name(const uint8_t *msg, size_t n, size_t at, struct dns_query *q)
{
	size_t len = 0, wire = 1;

	q->host_name = true;
	while (at < n && msg[at]) {
		size_t label = msg[at++];

		wire += label + 1;
		if (label > LABEL_MAX || wire > 255 || label > n - at)
			return 0;
		if (len && len + 1 < sizeof(q->name))
			q->name[len++] = '.';
		while (label--)
			name_byte(q, &len, msg[at++]);
	}
	q->name[len] = '\0';
	if (len == 0 || last_part_is_number(q->name))
		q->host_name = false;
	return at < n ? at + 1 : 0;
}

/* Pass over the owner name of a record; a pointer ends it. 0 when it is malformed. */
static size_t skip_name(const uint8_t *msg, size_t n, size_t at)
{
	while (at < n && msg[at]) {
		if ((msg[at] & 0xc0) == 0xc0)
			return n - at >= 2 ? at + 2 : 0;
		if (msg[at] > LABEL_MAX)
			return 0;
		at += (size_t)msg[at] + 1;
	}
	return at < n ? at + 1 : 0;
}

/* The additional section: OPT is wanted, everything else passed over. A code. */
static int read_additional(const uint8_t *msg, size_t n, size_t at, unsigned count,
			   struct dns_query *q)
{
	bool bad_version = false;

	if (count > RECORDS_MAX)
		return DNS_FORMERR;
	for (; count; count--) {
		size_t owner = at, size;

		at = skip_name(msg, n, at);
		if (at == 0 || n - at < 10)
			return DNS_FORMERR;
		size = get16(msg + at + 8);
		if (size > n - at - 10)
			return DNS_FORMERR;
		if (get16(msg + at) == DNSQ_OPT) {
			/* RFC 6891, 6.1.1: at most one, owned by the root. */
			if (q->edns || msg[owner] != 0)
				return DNS_FORMERR;
			q->edns = true;
			bad_version = msg[at + 5] != 0;
		}
		at += 10 + size;
	}
	if (at != n)
		return DNS_FORMERR;
	return bad_version ? DNS_BADVERS : DNS_NOERROR;
}

int dns_read(const uint8_t *msg, size_t n, struct dns_query *q)
{
	size_t at;
	int code;

	*q = (struct dns_query){ .msg = msg, .question_end = HEADER };
	if (n < HEADER)
		return -1;
	q->flags = get16(msg + 2);
	if (q->flags & FLAG_QR)
		return -1;
	if (q->flags & OPCODE)
		return DNS_NOTIMP;
	/* One question, nothing answered (RFC 9619). */
	if (get16(msg + 4) != 1 || get16(msg + 6) != 0 || get16(msg + 8) != 0)
		return DNS_FORMERR;
	at = read_name(msg, n, HEADER, q);
	if (at == 0 || n - at < 4)
		return DNS_FORMERR;
	q->qtype = get16(msg + at);
	q->qclass = get16(msg + at + 2);
	q->question_end = at + 4;
	code = read_additional(msg, n, at + 4, get16(msg + 10), q);
	if (code != DNS_NOERROR)
		return code;
	if (q->qclass != CLASS_IN && q->qclass != CLASS_ANY)
		return DNS_REFUSED;
	if (q->qtype == DNSQ_OPT)
		return DNS_FORMERR;
	/* 128 to 255 are no types of records: transfers, ANY (RFC 6895, 3.1; RFC 8482). */
	return q->qtype >= 128 && q->qtype <= DNSQ_ANY ? DNS_NOTIMP : DNS_NOERROR;
}

/* Text without escapes into wire form; it came from read_name(). */
static void put_name(uint8_t **p, const char *name)
{
	while (*name) {
		size_t n = strcspn(name, ".");

		ensure(n > 0 && n <= LABEL_MAX, "a host name");
		*(*p)++ = (uint8_t)n;
		memcpy(*p, name, n);
		*p += n;
		name += n + (name[n] == '.');
	}
	*(*p)++ = 0;
}

static void put_record(uint8_t **p, const struct dns_record *rec)
{
	uint8_t *size;

	put16(p, 0xc000 | HEADER); /* the question's name */
	put16(p, rec->type);
	put16(p, CLASS_IN);
	put16(p, 0);
	put16(p, DNS_TTL);
	size = *p;
	*p += 2;
	if (rec->type == DNSQ_PTR) {
		put_name(p, rec->target);
	} else {
		size_t n = rec->type == DNSQ_A ? 4 : 16;

		memcpy(*p, rec->addr, n);
		*p += n;
	}
	put16(&size, (unsigned)(*p - size - 2));
}

/* RFC 6891, 6.1.2. */
static void put_opt(uint8_t **p, int code)
{
	*(*p)++ = 0;
	put16(p, DNSQ_OPT);
	put16(p, DNS_EDNS_SIZE);
	*(*p)++ = (uint8_t)(code >> 4);
	*(*p)++ = 0; /* version */
	put16(p, 0); /* flags */
	put16(p, 0); /* options */
}

size_t dns_answer(const struct dns_query *q, int code, const struct dns_record *rec,
		  uint8_t out[DNS_ANSWER_MAX])
{
	bool asked = q->question_end > HEADER;
	bool has = asked && code == DNS_NOERROR && rec && rec->type;
	uint8_t *p = out + 2;

	memcpy(out, q->msg, q->question_end);
	/* AA and RA both: stub resolvers take an empty answer without them for a lame server's. */
	put16(&p, (unsigned)(FLAG_QR | FLAG_AA | FLAG_RA | (q->flags & (OPCODE | FLAG_RD)) |
			     (code & 0xf)));
	put16(&p, asked);
	put16(&p, has);
	put16(&p, 0);
	put16(&p, q->edns);
	p = out + q->question_end;
	if (has)
		put_record(&p, rec);
	if (q->edns)
		put_opt(&p, code);
	return (size_t)(p - out);
}

bool dns_reverse(const char *name, uint32_t *ret)
{
	unsigned part[4];
	int end = -1;

	if (strlen(name) > sizeof("255.255.255.255.in-addr.arpa") - 1 ||
	    sscanf(name, "%3u.%3u.%3u.%3u.in-addr.arpa%n", &part[3], &part[2], &part[1], &part[0],
		   &end) != 4 ||
	    end < 0 || name[end])
		return false;
	*ret = 0;
	for (size_t i = 0; i < 4; i++) {
		if (part[i] > 255)
			return false;
		*ret = *ret << 8 | part[i];
	}
	return true;
}
