//! Developer tasks, run as `cargo xtask <task>`.

mod bench_slice;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["bench", "slice", ..] => bench_slice::run(&arguments[2..]),
        _ => Err("usage: cargo xtask bench slice".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            #[expect(clippy::print_stderr, reason = "this is a program")]
            {
                eprintln!("{message}");
            }
            ExitCode::FAILURE
        }
    }
}
