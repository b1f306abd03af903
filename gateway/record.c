#include "gateway/record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"

enum {
	FIELDS_ROOM = 128 << 20, /* bytes of the fields in front of the bodies: messages in them */
	PIECE = 1 << 20, /* bytes of a body that are escaped at once: the whole may be six times
				  * as long in the file */
};

/* In the order of enum api_finish. */
static const char *const finish_names[] = { "stop", "tools", "length", "filter", "other" };

static void write_placed(struct json_w *w, const struct exchange_record *r)
{
	json_open(w, "placed", '[');
	for (size_t i = 0; i < r->n_placed; i++) {
		const struct placed *p = &r->placed[i];

		json_open(w, NULL, '{');
		json_u64(w, "message", p->index);
		json_u64(w, "entry", p->entry);
		json_bool(w, "first", p->first);
		json_bool(w, "moved", p->again_elsewhere);
		json_bool(w, "lost", p->lost_now);
		json_str(w, "text",
			 r->anchors && p->index < r->anchors->n ? r->anchors->v[p->index].text
								: NULL);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void write_stripped(struct json_w *w, const struct exchange_record *r)
{
	json_open(w, "stripped", '[');
	for (size_t i = 0; i < r->n_stripped; i++)
		json_strn(w, NULL, r->stripped[i].what,
			  strnlen(r->stripped[i].what, sizeof(r->stripped[i].what)));
	json_close(w, ']');
}

static void write_usage(struct json_w *w, const struct api_answer *a)
{
	if (!a || !a->usage.known) {
		json_null(w, "usage");
		return;
	}
	json_open(w, "usage", '{');
	json_u64(w, "input", a->usage.input);
	json_u64(w, "cached", a->usage.cached);
	json_u64(w, "cache_write", a->usage.cache_write);
	json_u64(w, "output", a->usage.output);
	json_u64(w, "reasoning", a->usage.reasoning);
	json_close(w, '}');
}

static void write_answer(struct json_w *w, const struct exchange_record *r)
{
	const struct api_answer *a = r->parsed;

	json_u64(w, "status", r->status < 0 ? 0 : (uint64_t)r->status);
	json_bool(w, "sse", r->sse);
	json_str(w, "finish", a ? finish_names[a->finish] : NULL);
	json_bool(w, "complete", a && a->complete);
	json_str(w, "model_answered", a ? a->model : NULL);
	write_usage(w, a);
	json_u64(w, "web_requests", a ? a->web_requests : 0);
	if (r->micro == UINT64_MAX)
		json_null(w, "micro_dollars");
	else
		json_u64(w, "micro_dollars", r->micro);
	json_str(w, "price_row", r->price_row);
	json_u64(w, "tries", r->tries);
	json_u64(w, "retry_of", r->retry_of);
	json_str(w, "note", r->note);
}

/* How many of the @n bytes to take at once: whole characters, as pieces of one are no UTF-8. */
static size_t piece(const char *s, size_t n)
{
	size_t k = PIECE;

	if (n <= PIECE)
		return n;
	while (k > PIECE - 3 && ((unsigned char)s[k] & 0xc0) == 0x80)
		k--;
	return k;
}

/* 0, or -1: w->b is full, else errno says why @fd did not take it. */
static int write_body(int fd, struct json_w *w, const char *name, const char *s, size_t n)
{
	json_str(w, name, "");
	w->b->len--; /* its end comes later */
	for (size_t k; n; s += k, n -= k) {
		k = piece(s, n);
		json_escape(w->b, s, k);
		if (w->b->full || fd_write_all(fd, w->b->data, w->b->len) < 0)
			return -1;
		buf_clear(w->b);
	}
	buf_addc(w->b, '"');
	return 0;
}

/* As above. */
static int write_line(int fd, struct buf *b, const struct exchange_record *r)
{
	struct json_w w = { .b = b };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.model/1");
	json_u64(&w, "call", r->call);
	json_str(&w, "api", r->api);
	json_str(&w, "path", r->path);
	json_str(&w, "purpose", purpose_name(r->purpose));
	json_str(&w, "source", r->source);
	json_u64(&w, "t0", r->t0);
	json_u64(&w, "t_first", r->t_first);
	json_u64(&w, "t1", r->t1);
	json_str(&w, "model", r->model);
	write_placed(&w, r);
	write_stripped(&w, r);
	write_answer(&w, r);
	if (write_body(fd, &w, "request", r->request, r->request_n) < 0 ||
	    write_body(fd, &w, "canonical", r->canonical, r->canonical_n) < 0 ||
	    write_body(fd, &w, "answer", r->answer, r->answer_n) < 0)
		return -1;
	json_close(&w, '}');
	buf_addc(b, '\n');
	return b->full ? -1 : fd_write_all(fd, b->data, b->len);
}

int record_write(int fd, const struct exchange_record *r, struct err *err)
{
	auto_buf b = BUF_INIT(FIELDS_ROOM);

	int rc = write_line(fd, &b, r);

	if (rc < 0 && b.full)
		return err_set(err, ERR_LIMIT,
			       "the record of model call %llu is larger than %zu bytes",
			       (unsigned long long)r->call, b.max);
	if (rc < 0)
		return err_sys(err, "cannot write model call %llu to the record",
			       (unsigned long long)r->call);
	/* EINVAL: the file is of a kind that cannot be synced, such as a pipe (fdatasync(2)) */
	if (fdatasync(fd) < 0 && errno != EINVAL)
		return err_sys(err, "cannot sync model call %llu in the record",
			       (unsigned long long)r->call);
	return 0;
}
