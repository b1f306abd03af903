/* What a scenario declares and changes of a PostgreSQL server: read here, carried out where the server is started
 * (supervisor/pgserver.h) and where its connections go through (services/pgrelay_internal.h). */
#ifndef SERVICES_SERVICE_POSTGRESQL_H
#define SERVICES_SERVICE_POSTGRESQL_H

#include "base/json.h"

/* Port of the server in its own network; the agent sees the declared one. */
#define SERVICE_POSTGRESQL_PORT 5432

struct postgresql_role {
	char *name, *password; /* password: of "password" changes and declarations, NULL = none */
};

struct postgresql_decl {
	char *name, *kind, *database, *sql;
	uint64_t port;
	struct json_array roles; /* struct postgresql_role; the first owns the database */
};

/* An effect; what is NULL does not change. */
struct postgresql_change {
	char *name, *sql, *revoke, *grant, *terminate;
	struct postgresql_role password;
	bool down;
};

/* Read a declaration. 0 or -ERR_INPUT. Free with service_postgresql_decl_done(). */
int service_postgresql_decl_read(const struct json_src *src, const char *where, const cJSON *item,
				 struct postgresql_decl *ret, struct err *err);

/* Free; {0} is fine. */
void service_postgresql_decl_done(struct postgresql_decl *d);

/* Read an effect. 0 or -ERR_INPUT. Free with service_postgresql_change_done(). */
int service_postgresql_change_read(const struct json_src *src, const cJSON *change,
				   struct postgresql_change *ret, struct err *err);

/* Free; {0} is fine. */
void service_postgresql_change_done(struct postgresql_change *c);

#endif
