//! Captures the standard streams of a command that runs inside another program (`stan mcp`). Only for the calling thread: commands
//! print from the thread that runs them.

use std::cell::RefCell;
use std::io::{self, Write};

/// The output of a captured command.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    stdin: Vec<u8>,
}

thread_local! {
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

/// Runs `work` with `stdin` as its standard input, and returns what it printed.
pub(crate) fn capture<T>(stdin: Vec<u8>, work: impl FnOnce() -> T) -> (T, Captured) {
    CAPTURED.set(Some(Captured { stdin, ..Captured::default() }));
    let result = work();
    (result, CAPTURED.take().unwrap_or_default())
}

/// Whether the output of this thread's command is captured.
pub(crate) fn is_captured() -> bool {
    CAPTURED.with_borrow(Option::is_some)
}

/// The standard input of a captured command; `None` if nothing is captured.
pub(crate) fn captured_stdin() -> Option<Vec<u8>> {
    CAPTURED.with_borrow_mut(|captured| captured.as_mut().map(|captured| std::mem::take(&mut captured.stdin)))
}

/// Captures `bytes` as stderr. `false` if nothing is captured.
pub(super) fn keep_stderr(bytes: &[u8]) -> bool {
    CAPTURED.with_borrow_mut(|captured| match captured {
        Some(captured) => {
            captured.stderr.extend_from_slice(bytes);
            true
        }
        None => false,
    })
}

/// Standard output of a captured command.
pub(super) struct CapturedStdout;

impl Write for CapturedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CAPTURED.with_borrow_mut(|captured| {
            if let Some(captured) = captured {
                captured.stdout.extend_from_slice(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
