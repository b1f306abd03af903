/* Lines "name = size". */
#ifndef SETTINGS_H
#define SETTINGS_H

#define SETTINGS_NAME 24

struct setting {
	char name[SETTINGS_NAME];
	unsigned long size;
};

/* Read one line: 1 with *ret, 0 for an empty line or a comment (#), -1 when it is neither. */
int settings_line(const char *line, struct setting *ret);

/* Read a text of many lines into at most @most settings; a later one of the same name replaces the earlier. How many
 * there are, or minus the number of the bad line. */
int settings_read(const char *text, struct setting *ret, int most);

#endif
