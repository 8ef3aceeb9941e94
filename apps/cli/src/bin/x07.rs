//! The program `x07`: slices of x07 modules and context packs for agents.

#[path = "../describe.rs"]
mod describe;
#[path = "../usage.rs"]
mod usage;
#[path = "../x07/mod.rs"]
mod x07;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(x07::run(std::env::args_os().collect()))
}
