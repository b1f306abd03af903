#include "profiles/simulator.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define SHIPPED "prompts/simulator.txt"

struct simulator *simulator_free(struct simulator *sim)
{
	if (!sim)
		return NULL;
	model_free(sim->model);
	prices_free(sim->prices);
	free(sim->name);
	free(sim->prompt_file);
	free(sim->prompt);
	free(sim);
	return NULL;
}

/* The prompt's text into @b. 0 or -ERR_INPUT. */
static int read_prompt(const char *file, struct buf *b, struct err *err)
{
	size_t bad;

	if (fd_read_file(file, b, err) < 0)
		return err_wrap(err, "the simulator's system prompt");
	if (!str_utf8(buf_str(b), b->len, &bad) || memchr(buf_str(b), '\0', b->len))
		return err_set(err, ERR_INPUT,
			       "%s: the simulator's system prompt must be UTF-8 without NUL bytes",
			       file);
	if (!buf_str(b)[strspn(buf_str(b), " \t\r\n")])
		return err_set(err, ERR_INPUT, "%s: the simulator's system prompt is empty", file);
	return 0;
}

static int take_prompt(struct simulator *sim, const struct profile *p, struct err *err)
{
	auto_buf b = BUF_INIT(SIMULATOR_PROMPT_MAX);
	auto_free char *dir = profile_datadir();
	int rc;

	sim->prompt_file = p->sim_prompt ? mem_strdup(p->sim_prompt) : path_join(dir, SHIPPED);
	rc = read_prompt(sim->prompt_file, &b, err);
	if (rc < 0)
		return rc;
	digest_bytes(buf_str(&b), b.len, sim->prompt_sha256);
	sim->prompt = buf_steal(&b, NULL);
	return 0;
}

/* An endpoint must be told which model; the others need a name for the record only. */
static int take_name(struct simulator *sim, struct err *err)
{
	const struct model *m = sim->model;

	if (m->kind == MODEL_LIVE && !m->name)
		return err_set(
			err, ERR_USAGE,
			"--simulator %.200s: name the model behind the URL, as in %.200s#NAME",
			m->spec, m->url);
	sim->name = mem_strdup(m->name ? m->name : "simulator");
	return 0;
}

int simulator_load(const char *spec, const char *cwd, const struct profile *p,
		   struct simulator **ret, struct err *err)
{
	struct simulator *sim = mem_zalloc(1, sizeof(*sim));
	int rc = model_parse_for("--simulator", "simulator.jsonl", spec, cwd, &sim->model, err);

	sim->temperature = p->sim_temperature;
	sim->max_tokens = p->sim_max_tokens;
	sim->timeout = p->sim_timeout;
	sim->whole = p->sim_timeout + p->sim_timeout / 2;
	sim->retries = p->sim_retries;
	if (rc == 0)
		rc = take_name(sim, err);
	if (rc == 0)
		rc = take_prompt(sim, p, err);
	if (rc == 0)
		rc = prices_load(p->prices, &sim->prices, err);
	if (rc == 0)
		*ret = take_ptr(&sim);
	simulator_free(sim);
	return rc;
}

void simulator_speak_as(struct simulator *sim, const struct user *u)
{
	if (!u->prompt)
		return;
	free(sim->prompt);
	free(sim->prompt_file);
	sim->prompt = mem_strdup(u->prompt);
	sim->prompt_file = mem_strdup(u->prompt_file);
	memcpy(sim->prompt_sha256, u->prompt_sha256, sizeof(sim->prompt_sha256));
}

int simulator_check(const struct simulator *sim, struct err *err)
{
	auto_buf b = BUF_INIT(SIMULATOR_PROMPT_MAX);
	char now[DIGEST_HEX];
	int rc;

	if (!sim)
		return 0;
	rc = read_prompt(sim->prompt_file, &b, err);
	if (rc < 0)
		return rc;
	if (strcmp(digest_bytes(buf_str(&b), b.len, now), sim->prompt_sha256) != 0)
		return err_set(err, ERR_INPUT,
			       "%s: the plan was made with a simulator's system prompt of SHA-256 "
			       "%.12s..., the file has %.12s... now; make the plan again",
			       sim->prompt_file, sim->prompt_sha256, now);
	return 0;
}

bool simulator_same_endpoint(const struct simulator *sim, const struct model *m,
			     const char *api_url, const char *own_url)
{
	const char *a, *b;

	/* A replay with a live end asks that end, and so does a session taken up again. */
	while (m && m->kind >= MODEL_REPLAY)
		m = m->then;
	if (!sim || !m || m->kind != MODEL_LIVE)
		return false;
	a = m->url ? m->url : api_url;
	for (m = sim->model; m && m->kind == MODEL_REPLAY;)
		m = m->then;
	if (!a || !m || m->kind != MODEL_LIVE)
		return false;
	b = m->url ? m->url : own_url;
	return str_eq(a, b);
}

/* Where answers come from; a chain is two long at most (profiles/model.h). */
static void print_source(const struct model *m, const char *key, struct json_w *w)
{
	char hex[DIGEST_HEX];

	if (!m) {
		json_null(w, key);
		return;
	}
	json_open(w, key, '{');
	json_str(w, "kind", model_kind_name(m->kind));
	json_str(w, "url", m->url);
	json_str(w, "file", m->file);
	if (m->text)
		json_str(w, "sha256", digest_bytes(m->text, m->text_n, hex));
	if (m->kind == MODEL_REPLAY) {
		json_bool(w, "loose", m->loose);
		if (m->upto != UINT64_MAX)
			json_u64(w, "upto", m->upto);
		print_source(m->then, "then", w);
	}
	json_close(w, '}');
}

void simulator_print(const struct simulator *sim, struct json_w *w)
{
	if (!sim) {
		json_null(w, "simulator");
		return;
	}
	json_open(w, "simulator", '{');
	print_source(sim->model, "source", w);
	json_str(w, "model", sim->name);
	json_str(w, "prompt_file", sim->prompt_file);
	json_str(w, "prompt_sha256", sim->prompt_sha256);
	json_dbl(w, "temperature", sim->temperature);
	json_u64(w, "max_tokens", sim->max_tokens);
	json_u64(w, "timeout_ns", sim->timeout);
	json_u64(w, "retries", sim->retries);
	json_str(w, "prices_sha256", sim->prices->sha256);
	json_close(w, '}');
}
