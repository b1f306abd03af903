#include "study/engine.h"

#include <stddef.h>

const struct engine_ops *const engine_all[] = { &engine_local, NULL };
const char *const engine_names[] = { "local", NULL };
