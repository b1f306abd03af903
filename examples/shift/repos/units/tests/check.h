/* One line of TAP for each check; numbers go on through all files. */
#ifndef CHECK_H
#define CHECK_H

extern int checks;

/* Say whether @name holds. */
void check(int ok, const char *name);

/* The checks of others.c. */
void others(void);

#endif
