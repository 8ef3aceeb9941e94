//! Reads documents that the user names: a file, or standard input.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;

use stan_engine::SystemExt as _;
use stan_engine::context::NamedBytes;

use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Untrusted, captured_stdin, counted, text};
use crate::workspace::Workspace;

/// No document of a person or an assistant is larger.
const MAX_SIZE: u64 = 1 << 30;

/// The bytes of `file`, relative to the working directory; `-` is standard input.
pub(crate) fn read(workspace: &Workspace<'_>, file: &str) -> Result<NamedBytes, Failure> {
    let mut bytes = Vec::new();
    if file == "-" {
        if let Some(bytes) = captured_stdin() {
            return Ok(NamedBytes { name: "standard input".to_owned(), bytes });
        }
        io::stdin()
            .lock()
            .take(MAX_SIZE)
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::input(format!("cannot read standard input: {error}")))?;
        return Ok(NamedBytes { name: "standard input".to_owned(), bytes });
    }
    let path = workspace.path_of(file)?;
    workspace
        .engine
        .system()
        .read_at_most(Path::new(&path), MAX_SIZE, &mut bytes)
        .map_err(|error| Failure::input(format!("cannot read `{file}`: {error}")))?;
    Ok(NamedBytes { name: file.to_owned(), bytes })
}

/// A text from the command line; for `@FILE`, the contents of the file.
pub(crate) fn text_of(workspace: &Workspace<'_>, typed: &str) -> Result<String, Failure> {
    match typed.strip_prefix('@') {
        Some(file) => Ok(String::from_utf8_lossy(&read(workspace, file)?.bytes).into_owned()),
        None => Ok(typed.to_owned()),
    }
}

/// Of a larger log, only this much of its beginning and end is read: parsing takes up to twelve times its size in memory.
const LOG_HEAD: usize = 48 << 20;
const LOG_TAIL: usize = 16 << 20;

/// Reads a log, without its middle if it is very large; prints a note in that case.
pub(crate) fn read_log(workspace: &Workspace<'_>, messages: &Messages, file: &str) -> Result<NamedBytes, Failure> {
    let mut ends = Ends::new(LOG_HEAD, LOG_TAIL);
    let name = if file == "-" {
        if let Some(bytes) = captured_stdin() {
            ends.take(&bytes);
        } else {
            let mut buffer = vec![0; 1 << 16];
            let mut stdin = io::stdin().lock();
            loop {
                match stdin.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => ends.take(buffer.get(..count).unwrap_or_default()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(Failure::input(format!("cannot read standard input: {error}"))),
                }
            }
        }
        "standard input".to_owned()
    } else {
        let path = workspace.path_of(file)?;
        let read = workspace.engine.system().read_chunks(Path::new(&path), &mut |bytes| ends.take(bytes));
        read.map_err(|error| Failure::input(format!("cannot read `{file}`: {error}")))?;
        file.to_owned()
    };
    let (bytes, left_out) = ends.into_bytes();
    if left_out > 0 {
        let left_out = counted(left_out, "byte");
        messages.note(&text!(
            "{} in the middle of {} are not read: the log is too large",
            left_out,
            Untrusted::new(&name)
        ));
    }
    Ok(NamedBytes { name, bytes })
}

/// The beginning and the end of a stream.
struct Ends {
    head: Vec<u8>,
    most_head: usize,
    tail: VecDeque<u8>,
    most_tail: usize,
    dropped: u64,
}

impl Ends {
    fn new(most_head: usize, most_tail: usize) -> Self {
        Self { head: Vec::new(), most_head, tail: VecDeque::new(), most_tail, dropped: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = (self.most_head - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Copy only what stays in the tail.
        let skipped = rest.len().saturating_sub(self.most_tail);
        let rest = rest.get(skipped..).unwrap_or_default();
        let over = (self.tail.len() + rest.len()).saturating_sub(self.most_tail);
        self.tail.drain(..over);
        self.tail.extend(rest);
        self.dropped += (skipped + over) as u64;
    }

    /// The bytes, and how many are missing in the middle. Cuts at line breaks if there are any.
    fn into_bytes(mut self) -> (Vec<u8>, u64) {
        if self.dropped > 0 {
            let line_end = self.head.iter().rposition(|byte| *byte == b'\n').map_or(self.head.len(), |at| at + 1);
            self.dropped += (self.head.len() - line_end) as u64;
            self.head.truncate(line_end);
            let line = self.tail.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            self.dropped += line as u64;
            self.tail.drain(..line);
        }
        self.head.extend(self.tail);
        (self.head, self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str, dropped: u64) {
        for piece in [1, 3, 7, 100] {
            let mut ends = Ends::new(12, 8);
            text.as_bytes().chunks(piece).for_each(|bytes| ends.take(bytes));
            let (bytes, left_out) = ends.into_bytes();
            assert_eq!((String::from_utf8(bytes).unwrap().as_str(), left_out), (expected, dropped), "{text:?} {piece}");
        }
    }

    #[test]
    fn a_large_log_loses_whole_lines_of_its_middle() {
        check("", "", 0);
        check("one\ntwo\n", "one\ntwo\n", 0);
        check("one\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\n", 0);
        check("one\ntwo\nthree\nfour\nfive\nsix\n", "one\ntwo\nsix\n", 16);
        check(&"x".repeat(30), &"x".repeat(20), 10);
    }
}
