fn main() {}

#[test]
fn passes() {}
