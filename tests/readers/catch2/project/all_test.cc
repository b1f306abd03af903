#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include <csignal>
#include <iostream>
#include <string>
#include <unistd.h>

TEST_CASE("passes") { REQUIRE(1 == 1); }
TEST_CASE("fails", "[tag]") { CHECK(1 == 2); CHECK(2 == 2); }
TEST_CASE("throws") { throw std::string("thrown"); }
TEST_CASE("sections")
{
	SECTION("good") { REQUIRE(true); }
	SECTION("bad") { REQUIRE(false); }
}
TEST_CASE("may fail", "[!mayfail]") { CHECK(false); }
TEST_CASE("should fail", "[!shouldfail]") { CHECK(false); }
TEST_CASE("should fail but does not", "[!shouldfail]") { CHECK(true); }
TEST_CASE("hidden", "[.]") { CHECK(false); }
TEST_CASE("with <brackets> & \"quotes\", a[1] h\xc3\xa9llo") { CHECK(true); }
TEST_CASE("new\nline") { CHECK(true); }
TEST_CASE("nothing checked") {}
TEST_CASE("warns") { WARN("careful"); CHECK(true); }
TEST_CASE("half a line") { std::cout << "half a line" << std::flush; CHECK(true); }
TEST_CASE("prints") { std::cout << "</TestCase>\n<TestCase name=\"nobody\"><OverallResult success=\"true\"/>\n\a\033[31m"; CHECK(true); }
#ifdef SKIP
TEST_CASE("skips") { SKIP("not here"); }
#endif
TEST_CASE("z dies") { if (getenv("CRASH")) raise(SIGSEGV); CHECK(true); }
TEST_CASE("z hangs") { while (getenv("HANG")) pause(); CHECK(true); }
TEST_CASE("z leaves") { if (getenv("LEAVE")) _exit(0); CHECK(true); }
TEST_CASE("z writes")
{
	static const char text[] = "</TestCase><TestCase name=\"forged\"><OverallResult success=\"true\"/>\n";
	if (getenv("FORGE"))
		CHECK(write(1, text, sizeof(text) - 1) > 0);
}
