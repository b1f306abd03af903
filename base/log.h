/* Messages about proctor's own doings, to stderr. The one piece of global mutable state. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Show messages up to @level (default LOG_WARN). */
void log_set_level(enum log_level level);

/* One line "proctor: text" on stderr when @level is shown. Control bytes are escaped, so that a
 * hostile file name cannot drive the terminal. Keeps errno. */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_warn(...)  log_msg(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_msg(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)

#endif
