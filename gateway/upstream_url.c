#include "gateway/upstream_internal.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

bool upstream_url_loopback(const struct sockaddr *a)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)(const void *)a;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)(const void *)a;

	if (a->sa_family == AF_INET)
		return ntohl(a4->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a6->sin6_addr);
}

/* Is @host an address? *ret_loop: one of this machine; "localhost" is, too (RFC 6761). */
static bool is_address(const char *host, bool *ret_loop)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, host, &a4.sin_addr) == 1) {
		*ret_loop = upstream_url_loopback((const struct sockaddr *)&a4);
		return true;
	}
	if (inet_pton(AF_INET6, host, &a6.sin6_addr) == 1) {
		*ret_loop = upstream_url_loopback((const struct sockaddr *)&a6);
		return true;
	}
	*ret_loop = strcasecmp(host, "localhost") == 0;
	return false;
}

/* Length of a version segment at the start of @s ("/v1", "/v1beta"), 0 when there is none. */
static size_t version_len(const char *s)
{
	size_t n = 2;

	if (s[0] != '/' || s[1] != 'v' || !isdigit((unsigned char)s[2]))
		return 0;
	while (isalnum((unsigned char)s[n]))
		n++;
	return s[n] == '/' || s[n] == '\0' || s[n] == '?' ? n : 0;
}

/* Does the path of an endpoint stand for a version? When it ends in one; and clients of APIs whose
 * base URL ends in a version take any path as it is. */
static bool is_versioned(const char *path, const struct api *api)
{
	const char *last = strrchr(path, '/');

	if (!last)
		return false;
	return version_len(last) > 0 || *api->base_path;
}

/* Host and port of "host:port/..." at @s. 0 or -1. */
static int read_authority(const char *s, struct upstream_base *b, size_t *ret_len)
{
	size_t n = strcspn(s, "/?#"), host = *s == '[' ? strcspn(s, "]") : strcspn(s, ":/?#");
	const char *rest;
	unsigned long port = b->tls ? 443 : 80;

	if (!n || host + (*s == '[') > n || host >= UPSTREAM_NAME_MAX || memchr(s, '@', n))
		return -1;
	rest = s + host + (*s == '[');
	b->host = *s == '[' ? mem_strndup(s + 1, host - 1) : mem_strndup(s, host);
	if (*rest == ':') {
		char *end;

		port = strtoul(rest + 1, &end, 10);
		if (end != s + n || port == 0 || port > 65535)
			return -1;
	} else if (rest != s + n) {
		return -1;
	}
	b->port = (uint16_t)port;
	*ret_len = n;
	return *b->host ? 0 : -1;
}

int upstream_url_read(const char *url, const struct api *api, struct upstream_base *ret,
		      struct err *err)
{
	struct upstream_base b = { .tls = strncasecmp(url, "https://", 8) == 0 };
	const char *rest = url + (b.tls ? 8 : 7);
	size_t n = strlen(url), authority = 0;
	bool loop = false;

	if ((!b.tls && strncasecmp(url, "http://", 7) != 0) || n > UPSTREAM_URL_MAX / 2 ||
	    strpbrk(url, "?#") || read_authority(rest, &b, &authority) < 0) {
		upstream_url_done(&b);
		return err_set(err, ERR_INPUT,
			       "model endpoint %.200s: not a URL; an example is "
			       "http://127.0.0.1:8000/v1",
			       url);
	}
	b.address = is_address(b.host, &loop);
	if (!b.tls && !loop) {
		upstream_url_done(&b);
		return err_set(
			err, ERR_INPUT,
			"model endpoint %.200s: http would send the key in the clear; use https, "
			"or http to this machine",
			url);
	}
	while (n > 0 && url[n - 1] == '/')
		n--;
	b.prefix = mem_strndup(url, n);
	b.versioned = is_versioned(b.prefix + (rest - url) + authority, api);
	*ret = b;
	return 0;
}

void upstream_url_done(struct upstream_base *b)
{
	free(b->prefix);
	free(b->host);
	*b = (struct upstream_base){ 0 };
}

/* Parameters of a query that pass. Keys above all do not: ours goes in a header. */
static const char *const params[] = { "alt=sse", "beta=true" };

static void add_query(const char *query, struct buf *out)
{
	char sep = '?';

	while (*query) {
		size_t n = strcspn(query, "&");

		for (size_t i = 0; i < ARRAY_SIZE(params); i++) {
			if (strlen(params[i]) == n && strncmp(params[i], query, n) == 0) {
				buf_addf(out, "%c%s", sep, params[i]);
				sep = '&';
			}
		}
		query += n + (query[n] == '&');
	}
}

int upstream_url_make(const struct upstream_base *b, const struct api *api, const char *target,
		      struct buf *out)
{
	size_t n = strcspn(target, "?#"), version = version_len(target);

	/* Names of models have no other characters; "%" could hide a "..". */
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)target[i]) && !strchr("/-._:@", target[i]))
			return -1;
	}
	if (target[0] != '/' || (n > 1 && target[1] == '/'))
		return -1;
	for (const char *s = target; (s = strstr(s, "..")) && s < target + n; s++)
		return -1;
	buf_adds(out, b->prefix);
	if (!b->versioned && !version)
		buf_adds(out, api->id == AGENT_API_GEMINI ? "/v1beta" : "/v1");
	if (b->versioned)
		buf_add(out, target + version, n - version);
	else
		buf_add(out, target, n);
	add_query(target[n] == '?' ? target + n + 1 : "", out);
	return out->full ? -1 : 0;
}
