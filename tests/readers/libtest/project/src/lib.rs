//! ```
//! assert_eq!(sample::double(2), 4);
//! ```

/// Twice as much.
///
/// ```
/// assert_eq!(sample::double(1), 2);
/// ```
///
/// ```
/// assert_eq!(sample::double(1), 3);
/// ```
///
/// ```should_panic
/// panic!("as it should");
/// ```
///
/// ```no_run
/// loop {}
/// ```
///
/// ```compile_fail
/// let x: u8 = "text";
/// ```
///
/// ```ignore
/// not rust
/// ```
pub fn double(n: u32) -> u32 {
    n * 2
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    #[test]
    fn passes() {}

    #[test]
    fn fails() {
        println!("test tests::nobody ... ok");
        println!("test result: ok. 99 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(1, 2, "one is not two");
    }

    #[test]
    fn err() -> Result<(), String> {
        Err("an error".into())
    }

    #[test]
    #[ignore]
    fn ignored() {}

    #[test]
    #[ignore = "why ... not, ok"]
    fn ignored_why() {}

    #[test]
    #[should_panic]
    fn should_panic() {
        panic!("good");
    }

    #[test]
    #[should_panic(expected = "other")]
    fn should_panic_wrongly() {
        panic!("bad");
    }

    #[test]
    #[should_panic]
    fn should_panic_not() {}

    #[test]
    fn ünïcode_名前() {}

    #[test]
    fn prints() {
        println!("out");
        eprintln!("err");
    }

    #[test]
    fn half_a_line() {
        print!("half a line");
    }

    #[test]
    fn control() {
        println!("\x1b[31mred\x1b[0m \0 nul \r overwritten");
        std::io::stdout().write_all(b"\xff byte\n").unwrap();
    }
}
