#[test]
fn unbuilt() {
    undefined();
}
