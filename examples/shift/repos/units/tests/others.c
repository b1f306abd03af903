#include "check.h"

#include <string.h>

#include "format.h"
#include "list.h"
#include "settings.h"

static void written(const char *name, unsigned long n, const char *want)
{
	char text[32];

	format_size(text, sizeof(text), n);
	check(strcmp(text, want) == 0, name);
}

static void lists(void)
{
	struct list_sum sum;

	check(list_add("1k,2k,512", &sum) == 0 && sum.entries == 3 && sum.sum == 3512 &&
		      sum.greatest == 2000,
	      "a list is added up");
	check(list_add("", &sum) == 0 && sum.entries == 0, "an empty list");
	check(list_add("1k,x,2", &sum) == -1 && sum.entries == 2, "the bad entry is told");
	check(list_add("1k,", &sum) == -1, "nothing behind a comma");
}

static void lines(void)
{
	static const char text[] = "# sizes\ncache = 64k\n\nlog=2k\ncache = 1k\n";
	struct setting v[4];

	check(settings_read(text, v, 4) == 2 && v[0].size == 1000 && strcmp(v[1].name, "log") == 0,
	      "settings are read, later ones count");
	check(settings_read("a = 1\nb 2\n", v, 4) == -2, "the bad line is told");
	check(settings_read("a = 1\nb = 2\n", v, 1) == -2, "too many settings");
}

void others(void)
{
	char text[32];

	written("written without a unit", 1001, "1001");
	written("written with one", 12000, "12k");
	written("nothing is written as 0", 0, "0");
	check(format_column(text, sizeof(text), 5000, 6) == 6 && strcmp(text, "    5k") == 0,
	      "a column");
	lists();
	lines();
}
