/* Lists of sizes: "1k,2k,512". */
#ifndef LIST_H
#define LIST_H

struct list_sum {
	unsigned entries;
	unsigned long sum, greatest;
};

/* Add up a list. 0, or -1 with the number of the bad entry, from 1, in ret->entries. An empty text is a list of
 * nothing. */
int list_add(const char *text, struct list_sum *ret);

#endif
