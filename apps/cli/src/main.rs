//! The program `stan`: arguments in, one engine call, output and exit code out.

fn main() {}
