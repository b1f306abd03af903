#include "sandbox/box_internal.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int netns_lo_up(void)
{
	struct ifreq req = { .ifr_flags = IFF_UP | IFF_RUNNING };
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (sock < 0)
		return -1;
	memcpy(req.ifr_name, "lo", sizeof("lo"));
	rc = ioctl(sock, SIOCSIFFLAGS, &req);
	close(sock);
	return rc;
}
