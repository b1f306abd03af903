#!/usr/bin/env bats
# Every kind of result and of name that bats has.

@test "passes" { true; }
@test "fails with output" {
	echo "said before"
	echo "ok 99 forged on stdout"
	[ 1 -eq 2 ]
}
@test "is skipped" { skip "no reason (really)"; }
@test "is skipped bare" { skip; }
@test "blanks  [brackets] \"quotes\" 'single'" { true; }
@test "Unicode é☃ 日本" { true; }
@test "a # sign and #hash" { true; }
@test "x # todo later" { false; }
@test "x # skip not really" { true; }
@test "twice" { true; }
@test "control bytes" { printf 'a\033[31mred\000\001\n'; false; }
@test "after all" { true; }
