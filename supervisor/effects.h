/* The engine's hands: holds the world, writes the workspace in place, carries messages, and turns
 * touches and firings into records. */
#ifndef SUPERVISOR_EFFECTS_H
#define SUPERVISOR_EFFECTS_H

#include "supervisor/sup.h"
#include "triggers/engine.h"

/* The function table; its argument is the struct sup. */
extern const struct engine_ops effects_ops;

#endif
