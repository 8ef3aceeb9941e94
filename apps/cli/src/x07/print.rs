//! The one place where `x07` prints. Documents on standard output keep their canonical bytes (RFC 8785), because programs hash
//! and compare them, except on a terminal: there, hidden characters are printed as `\\uXXXX`.
#![expect(clippy::disallowed_methods, reason = "this module alone has the two streams")]

use std::io::{self, IsTerminal, Write};

use stan_engine::{Untrusted, visible_json};

use super::outcome::ProgramOutcome;

/// Prints the outcome of a command and returns its exit code.
pub(crate) fn print(outcome: &ProgramOutcome) -> u8 {
    // Print errors first: standard output may be a closed pipe.
    let _ = io::stderr().write_all(lines(&outcome.stderr).as_bytes());
    let mut stdout = io::stdout().lock();
    let written = match str::from_utf8(&outcome.stdout) {
        Ok(text) if stdout.is_terminal() => stdout.write_all(visible_json(text).as_bytes()),
        _ => stdout.write_all(&outcome.stdout),
    };
    match written.and_then(|()| stdout.flush()) {
        // A closed pipe is not a failure: the reader stopped on purpose.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = io::stderr().write_all(format!("write stdout: {error}\n").as_bytes());
            2
        }
        _ => outcome.exit_code,
    }
}

/// Escapes each line. Line breaks are trusted: `outcome` escapes untrusted text before it adds them.
fn lines(text: &str) -> String {
    text.split('\n').map(|line| Untrusted::new(line).to_string()).collect::<Vec<_>>().join("\n")
}
