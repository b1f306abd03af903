setup() {
	if [ "$BATS_TEST_NUMBER" -eq 2 ]; then
		echo "setup of the second fails"
		return 1
	fi
}
teardown() {
	[ "$BATS_TEST_NUMBER" -ne 3 ]
}
@test "setup passes" { true; }
@test "setup fails" { true; }
@test "teardown fails" { true; }
@test "passes" { true; }
