#include "gateway/turnlink.h"

#include <string.h>

#include "gateway/lastcall.h"

struct telling {
	void (*tell)(void *arg, struct gw_msg *m);
	void *arg;
	uint64_t call;
};

static void parts(const struct telling *t, enum gw_last what, const char *s, size_t n)
{
	struct gw_msg m = { .type = GW_LAST, .v = { t->call, what } };

	gw_parts(&m, s, n < LASTCALL_MAX ? n : LASTCALL_MAX, t->tell, t->arg);
}

static void on_said(void *arg, const char *text, size_t n)
{
	parts(arg, GWL_SAID, text, n);
}

static void on_call(void *arg, const struct buf *command, const struct buf *output)
{
	parts(arg, GWL_DID, buf_str(command), command->len);
	parts(arg, GWL_GOT, buf_str(output), output->len);
}

void turnlink_request(void (*tell)(void *arg, struct gw_msg *m), void *arg, uint64_t call,
		      const struct api_request *q)
{
	struct telling t = { tell, arg, call };
	const struct lastcall_turn turn = { .said = on_said, .call = on_call, .arg = &t };

	lastcall_turn(q, &turn);
}

void turnlink_answer(void (*tell)(void *arg, struct gw_msg *m), void *arg, uint64_t call,
		     const char *text)
{
	struct telling t = { tell, arg, call };

	parts(&t, GWL_SAID, text ? text : "", strlen(text ? text : ""));
}
