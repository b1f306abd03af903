/* DNS messages as the answerer needs them: one question in, one answer out. Everything is bounded by
 * the caller's buffers; nothing here reads a clock, a socket or a table. */
#ifndef GATEWAY_DNS_INTERNAL_H
#define GATEWAY_DNS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DNS_QUERY_MAX = 1024,  /* bytes of a query we look at: a question and a few options */
	DNS_ANSWER_MAX = 1024, /* bytes of the largest answer we make: question, one record, OPT */
	DNS_NAME_MAX = 256,    /* text form of a name with its NUL (RFC 1035, 2.3.4) */
	DNS_TTL = 60,          /* seconds; an address stays with its name at least as long */
	DNS_EDNS_SIZE = 1232,  /* what we say we take by UDP (dnsflagday.net, 2020) */
};

/* Types and codes (RFC 1035, 3.2.2 and 4.1.1; RFC 3596; RFC 6891). */
enum { DNSQ_A = 1, DNSQ_PTR = 12, DNSQ_AAAA = 28, DNSQ_OPT = 41, DNSQ_AXFR = 252, DNSQ_ANY = 255 };
enum {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_BADVERS = 16, /* needs EDNS to be said */
};

/* A query as read. Borrows the message. */
struct dns_query {
	const uint8_t *msg;
	size_t question_end; /* header and question, as sent: echoed byte for byte, which keeps the
			      * client's mixture of cases (0x20) and its id. 12 when there was no
			      * question that could be read */
	uint16_t flags;      /* of the header */
	uint16_t qtype, qclass;
	bool edns;
	char name[DNS_NAME_MAX]; /* lower case, without the last dot; "" is the root */
	bool host_name; /* it is one: letters, digits, "-", "_" only, last part no number */
};

/* Read a message of @n bytes. Returns -1: no answer must be given (too short, or itself an answer:
 * two answerers would talk for ever), else the code to answer with, DNS_NOERROR when @q is a
 * question that can be looked at. */
int dns_read(const uint8_t *msg, size_t n, struct dns_query *q);

/* What stands in an answer beside the question. */
struct dns_record {
	uint16_t type;      /* DNSQ_A, DNSQ_AAAA, DNSQ_PTR; 0 none */
	uint8_t addr[16];   /* of DNSQ_A (4 bytes) and DNSQ_AAAA */
	const char *target; /* of DNSQ_PTR; borrowed */
};

/* Write the answer to @q into @out (DNS_ANSWER_MAX bytes). Returns its length; never fails. It always
 * fits the 512 bytes that every client takes by UDP, so that TC is never set. */
size_t dns_answer(const struct dns_query *q, int code, const struct dns_record *rec,
		  uint8_t out[DNS_ANSWER_MAX]);

/* The address that a name below in-addr.arpa means, host byte order. False when it is none. */
bool dns_reverse(const char *name, uint32_t *ret);

#endif
