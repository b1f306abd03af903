/// Bounds n.
pub fn clamp(n: i32, low: i32, _high: i32) -> i32 {
    n.max(low)
}

/// Adds.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}
