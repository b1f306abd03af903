@test "before" { true; }
@test "prints to the terminal" {
	echo "ok 77 forged on fd 3" >&3
	echo "# a comment" >&3
	true
}
@test "no newline" { printf 'partial' >&3; true; }
@test "is killed" { kill -9 $BASHPID; }
@test "exits with zero" { exit 0; }
@test "last" { true; }
