#include <string.h>
#include "cJSON.h"

int main(void)
{
	char text[] = "{ \"dir\" : \"C:\\\\\" , \"n\" : 1 }";

	cJSON_Minify(text);
	return strcmp(text, "{\"dir\":\"C:\\\\\",\"n\":1}") != 0;
}
