//! Writers: a graph as JSON, dot, Mermaid or a few lines of counts. All stream, and all give the same bytes for equal graphs.
//! They do not sort, because the graph is already sorted.

mod diagram;
mod json;
mod text;

use std::io::{self, Write};

pub use diagram::{write_dot, write_mermaid};
pub use json::{write_cycles_json, write_json};
pub use text::write_stats;

/// Collects small pieces before they reach `out`, which may be an unbuffered pipe.
struct Sink<'o> {
    buffer: Vec<u8>,
    out: &'o mut dyn Write,
}

const FLUSH_AT: usize = 64 * 1024;

impl<'o> Sink<'o> {
    fn new(out: &'o mut dyn Write) -> Self {
        Self { buffer: Vec::with_capacity(FLUSH_AT + 4096), out }
    }

    /// Called between pieces, so that writing a piece needs no error handling.
    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FLUSH_AT {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }

    fn text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        write_number(&mut self.buffer, number);
    }
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests;
