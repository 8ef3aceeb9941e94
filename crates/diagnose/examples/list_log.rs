//! Prints the diagnostics of a log as JSON: `cargo run -p stan-diagnose --example list_log LOG`.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example for developers")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: list_log LOG")?;
    println!("{}", serde_json::to_string(&stan_diagnose::parse(&std::fs::read(path)?, None))?);
    Ok(())
}
