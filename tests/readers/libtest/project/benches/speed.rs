#![feature(test)]
extern crate test;

#[bench]
fn quick(b: &mut test::Bencher) {
    b.iter(|| sample::double(2));
}

#[test]
fn not_a_bench() {}
