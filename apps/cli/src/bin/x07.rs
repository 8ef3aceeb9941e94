//! The program `x07`: slices of x07 modules and context packs for agents.
#![expect(clippy::print_stdout, reason = "programs talk to the terminal")]

fn main() {
    println!("x07 {}", env!("CARGO_PKG_VERSION"));
}
