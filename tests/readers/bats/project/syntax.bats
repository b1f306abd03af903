@test "one" { true; }
@test "two" { if; }
