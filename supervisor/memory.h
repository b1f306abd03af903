/* Memory of the libraries that we build on. */
#ifndef SUPERVISOR_MEMORY_H
#define SUPERVISOR_MEMORY_H

/* Let cJSON, libgit2 and libevent take memory from base/mem.h: when there is none left the program ends as it does
 * for memory of our own. Left to themselves they give up half-way, and a record lacks a field (cJSON) or a tree is
 * freed twice (libgit2 1.5). Call first of all: none of them may have allocated anything. */
void memory_setup(void);

#endif
