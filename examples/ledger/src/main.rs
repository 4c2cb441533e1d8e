//! The ledger tool.

fn main() {}
