#include "verifier/wording.h"

#include "triggers/message.h"

const char *wording_refused(const char *text)
{
	return message_refused(text, false);
}
