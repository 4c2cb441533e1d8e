//! The hcp binary.

fn main() {}
