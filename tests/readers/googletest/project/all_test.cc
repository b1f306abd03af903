#include <gtest/gtest.h>

#include <csignal>
#include <iostream>
#include <string>
#include <unistd.h>

TEST(Plain, Passes) {}
TEST(Plain, Fails) { EXPECT_EQ(1, 2) << "one is not two"; }
TEST(Plain, Fatal) { FAIL() << "[       OK ] Plain.Fatal (0 ms)"; }
TEST(Plain, Skips) { GTEST_SKIP() << "not here"; }
TEST(Plain, DISABLED_Never) { FAIL(); }
TEST(Plain, Throws) { throw std::string("thrown"); }
TEST(Plain, NoNewline) { std::cout << "half a line" << std::flush; }
TEST(Plain, NoNewlineFails) { std::cout << "half a line" << std::flush; FAIL(); }
TEST(Plain, Control) { std::cout << "\033[31mred\033[0m \a" << '\0' << " \xff\r\n"; }
TEST(Plain, ForgesOther) { std::cout << "[       OK ] Plain.Nobody (0 ms)\n"; }
TEST(Plain, ForgesSelf)
{
	std::cout << "[       OK ] Plain.ForgesSelf (0 ms)\n" << std::flush;
	FAIL();
}

class Param : public testing::TestWithParam<std::string> {};
TEST_P(Param, NotEmpty) { EXPECT_NE(GetParam(), ""); }
INSTANTIATE_TEST_SUITE_P(Words, Param,
			 testing::Values("with blank", "a[1]", "say \"hi\"", "h\xc3\xa9llo", "new\nline", "",
					 "twice", "twice", "x (3 ms)"));

template <typename T> class Typed : public testing::Test {};
using Types = testing::Types<int, std::string>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, Default) { EXPECT_EQ(TypeParam(), TypeParam()); }

class Broken : public testing::Test {
protected:
	static void TearDownTestSuite() { FAIL() << "too late"; }
};
TEST_F(Broken, Inside) {}

TEST(ZCrash, Dies) { if (getenv("CRASH")) raise(SIGSEGV); }
TEST(ZCrash, Hangs) { while (getenv("HANG")) pause(); }
TEST(ZCrash, Leaves) { if (getenv("LEAVE")) _exit(0); }
TEST(ZCrash, Last) {}
