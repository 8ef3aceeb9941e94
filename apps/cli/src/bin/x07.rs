//! The program `x07`: slices of x07 modules and context packs for agents.

fn main() {}
