/* Typing for others, console control, line disciplines. */
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "escape.h"

/* clang-format off */
static const struct call calls[] = {
	{ "tiocsti", SYS_ioctl, { 0, TIOCSTI, PTR("x") } },
	{ "tiocsti-bit-32", SYS_ioctl, { 0, HI(TIOCSTI), PTR("x") } },
	{ "tiocsti-high-half", SYS_ioctl, { 0, HI_ALL(TIOCSTI), PTR("x") } },
	{ "tioclinux", SYS_ioctl, { 0, TIOCLINUX, PTR("\3") } },
	{ "tioclinux-bit-32", SYS_ioctl, { 0, HI(TIOCLINUX), PTR("\3") } },
	{ "tioclinux-high-half", SYS_ioctl, { 0, HI_ALL(TIOCLINUX), PTR("\3") } },
	{ "tiocsetd", SYS_ioctl, { 0, TIOCSETD, PTR("\2\0\0") } },
	{ "tiocsetd-bit-32", SYS_ioctl, { 0, HI(TIOCSETD), PTR("\2\0\0") } },
	{ "tioccons", SYS_ioctl, { 0, TIOCCONS } },
	{ "tioccons-high-half", SYS_ioctl, { 0, HI_ALL(TIOCCONS) } },
	{ NULL },
};
/* clang-format on */

const struct family family_terminal = {
	"terminal",
	.calls = calls,
};
