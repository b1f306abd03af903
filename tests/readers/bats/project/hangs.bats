@test "before" { true; }
@test "hangs" { exec sleep 1000; }
