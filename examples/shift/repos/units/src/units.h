/* Sizes with a unit. */
#ifndef UNITS_H
#define UNITS_H

/* Read "12", "12k" or "3M" into *ret. 0, or -1 when it is no size. */
int units_parse(const char *text, unsigned long *ret);

/* Factor of a unit, 0 when there is no such unit. */
unsigned long units_factor(char unit);

/* The greatest unit by which a number can be divided, its factor in *ret; 0 and 1 when there is none. */
char units_best(unsigned long n, unsigned long *ret);

#endif
