setup_file() { false; }
@test "never runs" { true; }
@test "never runs either" { true; }
