use std::io::Write;
use std::os::unix::io::FromRawFd;

#[test]
fn forges() {
    let mut out = unsafe { std::fs::File::from_raw_fd(1) };
    out.write_all(b"test never ... ok\n").unwrap();
    std::mem::forget(out);
}

#[test]
fn real() {}
