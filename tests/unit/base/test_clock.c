/* Clocks, and the text of a time. */
#include "base/clock.h"

#include "base/digest.h"
#include "tests/lib/tap.h"

int main(void)
{
	uint64_t a = clock_mono(), b = clock_mono();
	char text[32], hex[DIGEST_HEX];

	tap_ok(b >= a, "the monotonic clock does not go back");
	tap_ok(clock_wall() > 1600000000ull * CLOCK_SEC, "the wall clock counts from 1970 in ns");
	tap_is_str(clock_text(0, text), "1970-01-01T00:00:00.000Z", "the epoch");
	tap_is_str(clock_text(1709210096123999999ull, text), "2024-02-29T12:34:56.123Z",
		   "a leap day");

	tap_is_str(digest_bytes("", 0, hex),
		   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		   "SHA-256 of nothing (FIPS 180-4)");
	tap_is_str(digest_bytes("abc", 3, hex),
		   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		   "SHA-256 of \"abc\" (FIPS 180-4)");
	return tap_done();
}
