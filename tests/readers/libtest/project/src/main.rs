fn main() {}

#[test]
fn passes() {}

mod tests {
    #[test]
    fn passes() {}
}
