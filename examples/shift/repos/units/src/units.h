/* Sizes with a unit. */
#ifndef UNITS_H
#define UNITS_H

/* Read "12", "12k" or "3M" into *ret. 0, or -1 when it is no size. */
int units_parse(const char *text, unsigned long *ret);

#endif
