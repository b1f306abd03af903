#[test]
fn a_first() {}

#[test]
fn hangs() {
    loop {
        std::thread::park();
    }
}
