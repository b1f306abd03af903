#include "services/service_postgresql.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "services/service_internal.h"

enum { ROLES_MAX = 16, NAME_MAX_BYTES = 60, PASSWORD_MAX = 200 };

struct server {
	uint64_t changes;
};

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field role_rows[] = {
	{ "name", JSON_STR, OFF(postgresql_role, name), true },
	{ "password", JSON_STR, OFF(postgresql_role, password), true },
	{ NULL },
};

static const struct json_field decl_rows[] = {
	{ "name", JSON_STR, OFF(postgresql_decl, name), true },
	{ "kind", JSON_STR, OFF(postgresql_decl, kind), true },
	{ "port", JSON_U64, OFF(postgresql_decl, port), true },
	{ "database", JSON_STR, OFF(postgresql_decl, database), .doc = "default: the name of the first role" },
	{ "sql", JSON_STR, OFF(postgresql_decl, sql), .doc = "run by the first role; a name that ends in .sql is a file" },
	{ "roles", JSON_ARRAY, OFF(postgresql_decl, roles), true, .rows = role_rows, .size = sizeof(struct postgresql_role), .doc = "the first owns the database" },
	{ NULL },
};

static const struct json_field change_rows[] = {
	{ "name", JSON_STR, OFF(postgresql_change, name) },
	{ "down", JSON_BOOL, OFF(postgresql_change, down), .doc = "true: connections are cut and refused" },
	{ "sql", JSON_STR, OFF(postgresql_change, sql), .doc = "run by the first role in one transaction; a name that ends in .sql is a file" },
	{ "password", JSON_OBJECT, OFF(postgresql_change, password), .rows = role_rows, .doc = "{name, password}: another password" },
	{ "revoke", JSON_STR, OFF(postgresql_change, revoke), .doc = "a role that may not connect any more" },
	{ "grant", JSON_STR, OFF(postgresql_change, grant), .doc = "a role that may again" },
	{ "terminate", JSON_STR, OFF(postgresql_change, terminate), .doc = "a role whose sessions end, \"\" all" },
	{ NULL },
};
/* clang-format on */

/* A name that needs no quotes: what is made of it is SQL. */
static bool good_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && n <= NAME_MAX_BYTES && !s[n] && !(s[0] >= '0' && s[0] <= '9') &&
	       !str_starts(s, "pg_") && strcmp(s, "postgres") != 0;
}

static int check_role(const struct json_src *src, const char *where, const char *name,
		      const char *password, struct err *err)
{
	if (name && !good_name(name))
		return json_complain(
			src, where, err,
			"role \"%s\" must be of a-z 0-9 _, not postgres and not pg_...", name);
	if (password &&
	    (!password[0] || strlen(password) > PASSWORD_MAX || strpbrk(password, "'\\\r\n")))
		return json_complain(src, where, err,
				     "a password has 1 to %d bytes, no quote and no backslash",
				     PASSWORD_MAX);
	return 0;
}

static int check_decl(const struct json_src *src, const char *where,
		      const struct postgresql_decl *d, struct err *err)
{
	const struct postgresql_role *r = d->roles.v;
	int rc = 0;

	if (d->roles.n < 1 || d->roles.n > ROLES_MAX)
		return json_complain(src, where, err, "roles: 1 to %d", ROLES_MAX);
	for (size_t i = 0; rc == 0 && i < d->roles.n; i++) {
		rc = check_role(src, where, r[i].name, r[i].password, err);
		for (size_t k = 0; rc == 0 && k < i; k++) {
			if (str_eq(r[k].name, r[i].name))
				rc = json_complain(src, where, err, "role \"%s\" is there twice",
						   r[i].name);
		}
	}
	if (rc == 0 && d->database && !good_name(d->database))
		rc = json_complain(src, where, err, "database \"%s\" must be of a-z 0-9 _",
				   d->database);
	return rc;
}

int service_postgresql_decl_read(const struct json_src *src, const char *where, const cJSON *item,
				 struct postgresql_decl *ret, struct err *err)
{
	struct postgresql_decl d = { 0 };
	int rc = json_read(src, where, item, decl_rows, &d, err);

	if (rc == 0)
		rc = check_decl(src, where, &d, err);
	if (rc == 0 && !d.database)
		d.database = mem_strdup(((struct postgresql_role *)d.roles.v)[0].name);
	if (rc < 0)
		service_postgresql_decl_done(&d);
	else
		*ret = d;
	return rc;
}

void service_postgresql_decl_done(struct postgresql_decl *d)
{
	json_release(decl_rows, d);
}

int service_postgresql_change_read(const struct json_src *src, const cJSON *change,
				   struct postgresql_change *ret, struct err *err)
{
	struct postgresql_change c = { 0 };
	int rc = json_read(src, "service", change, change_rows, &c, err);

	if (rc == 0)
		rc = check_role(src, "service.password", c.password.name, c.password.password, err);
	if (rc == 0)
		rc = check_role(src, "service.revoke", c.revoke, NULL, err);
	if (rc == 0)
		rc = check_role(src, "service.grant", c.grant, NULL, err);
	if (rc == 0)
		rc = check_role(src, "service.terminate",
				c.terminate && c.terminate[0] ? c.terminate : NULL, NULL, err);
	if (rc < 0)
		service_postgresql_change_done(&c);
	else
		*ret = c;
	return rc;
}

void service_postgresql_change_done(struct postgresql_change *c)
{
	json_release(change_rows, c);
}

/* --- the row: what the process of the services has of it ------------------------------------------ */

static int pg_open(const struct json_src *src, const char *where, const cJSON *item, void **ret,
		   struct err *err)
{
	struct postgresql_decl d = { 0 };
	int rc = service_postgresql_decl_read(src, where, item, &d, err);

	service_postgresql_decl_done(&d);
	if (rc == 0)
		*ret = mem_zalloc(1, sizeof(struct server));
	return rc;
}

static int pg_change(void *state, const struct json_src *src, const cJSON *change, struct err *err)
{
	struct server *s = state;
	struct postgresql_change c = { 0 };
	int rc = service_postgresql_change_read(src, change, &c, err);

	service_postgresql_change_done(&c);
	s->changes += rc == 0;
	return rc;
}

static void pg_answer(void *state, const struct service_request *q, struct service_answer *out)
{
	(void)state;
	(void)q;
	service_error(out, 400, "this is no HTTP");
}

static void pg_summary(const void *state, struct json_w *w)
{
	json_u64(w, "changes", ((const struct server *)state)->changes);
}

const struct service_row service_postgresql = {
	.kind = "postgresql",
	.relayed = true,
	.open = pg_open,
	.answer = pg_answer,
	.change = pg_change,
	.summary = pg_summary,
	.free = free,
};
