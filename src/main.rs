//! The `tetrion` program.
fn main() {}
