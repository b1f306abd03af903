setup() {
	. ./num.sh
}

@test "add" {
	[ "$(add 1 2)" = 3 ]
}

@test "from below" {
	[ "$(clamp -1 0 5)" = 0 ]
}
