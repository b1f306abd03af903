#[test]
fn passes() {
    assert_eq!(sample::double(2), 4);
}

#[test]
fn fails() {
    panic!("no");
}
