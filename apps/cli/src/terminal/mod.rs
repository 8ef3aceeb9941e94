//! The one place where `stan` prints. Printable values are typed: literals, numbers, and [`Untrusted`] text, which is escaped. A
//! `String` cannot be printed, so that no file name, message or key reaches a terminal unescaped. `apps/cli/clippy.toml` forbids
//! every other access to the two streams.
#![expect(clippy::disallowed_methods, reason = "this module alone has the two streams")]

mod capture;
mod escape;
mod figures;
mod help;
mod style;
mod text;

use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;
pub(crate) use stan_engine::Untrusted;
use stan_engine::context::reports::{NotAnalysedFiles, not_analysed_line};

use crate::args::ColorChoice;
use crate::describe::Generated;

pub(crate) use capture::{capture, captured_stdin, is_captured};
pub(crate) use figures::{columns, counted, grouped};
pub(crate) use style::Style;
pub(crate) use text::{Show, Text, has_holes, say, source_line, text};

use escape::Escaping;

/// Standard output of one command. Nothing is sure to be written before [`Output::finish`].
pub(crate) struct Output {
    stream: BufWriter<Box<dyn Write>>,
    style: Style,
}

impl Output {
    pub(crate) fn new(choice: ColorChoice) -> Self {
        let stream: Box<dyn Write> =
            if is_captured() { Box::new(capture::CapturedStdout) } else { Box::new(io::stdout().lock()) };
        let style = Style::new(choice, !is_captured() && io::stdout().is_terminal());
        Self { stream: BufWriter::with_capacity(64 << 10, stream), style }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// One line; [`say!`] checks that there is a value for each `{}`.
    pub(crate) fn line(&mut self, format: &'static str, values: &[&dyn Show]) -> io::Result<()> {
        let mut line = Text::fill(format, values).into_string();
        line.push('\n');
        self.stream.write_all(line.as_bytes())
    }

    /// One JSON document on one line.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> io::Result<()> {
        self.document(|out| {
            serde_json::to_writer(&mut *out, document)?;
            out.write_all(b"\n")
        })
    }

    /// A document that the engine writes: JSON or a diagram. Hidden characters are written as `\uXXXX`, which is the same
    /// value in JSON.
    pub(crate) fn document(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut out = Escaping::new(&mut self.stream);
        write(&mut out)?;
        out.finish()
    }

    /// Prints which files are known only by name, if there are any.
    pub(crate) fn not_analysed(&mut self, files: &[NotAnalysedFiles]) -> io::Result<()> {
        match not_analysed_line(files) {
            Some(line) => say!(self, "{}", Untrusted::new(&line)),
            None => Ok(()),
        }
    }

    /// Prints text that is generated from the definition of the command line alone: completions and manual pages.
    pub(crate) fn generated(&mut self, text: &Generated) -> io::Result<()> {
        self.stream.write_all(text.as_bytes())
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// One message of a protocol over standard output, as one line. Hidden characters are written as `\uXXXX`, which is the
/// same value in JSON. Several threads may send.
pub(crate) fn send(message: &serde_json::Value) -> io::Result<()> {
    let mut line = Vec::new();
    let mut escaping = Escaping::new(&mut line);
    serde_json::to_writer(&mut escaping, message)?;
    escaping.write_all(b"\n")?;
    escaping.finish()?;
    let mut stream = io::stdout().lock();
    stream.write_all(&line)?;
    stream.flush()
}

/// Whether progress can be drawn on stderr.
pub(crate) fn stderr_is_terminal() -> bool {
    !is_captured() && io::stderr().is_terminal()
}

pub(crate) fn style_of_stderr(choice: ColorChoice) -> Style {
    Style::new(choice, stderr_is_terminal())
}

/// Prints one line on stderr. If stderr is closed, the error cannot be reported anywhere.
pub(crate) fn tell(line: &Text) {
    let line = format!("{}\n", line.as_str());
    if !capture::keep_stderr(line.as_bytes()) {
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Asks the terminal to put bytes on the clipboard (OSC 52). Returns false if there is no terminal.
pub(crate) fn copy(bytes: &[u8]) -> bool {
    if !stderr_is_terminal() {
        return false;
    }
    let sequence = format!("\x1b]52;c;{}\x07", base64(bytes));
    io::stderr().write_all(sequence.as_bytes()).is_ok()
}

/// The alphabet of RFC 4648 with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let group = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4 {
            let digit = ALPHABET[((group >> (18 - 6 * at)) & 63) as usize];
            out.push(if at > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

/// Replaces the line at the cursor by a stage, or clears it.
pub(crate) fn redraw(stage: &'static str, rest: &'static str) {
    let _ = io::stderr().write_all(format!("\r\x1b[K{stage}{rest}").as_bytes());
}

/// Replaces the last `drawn` lines above the cursor by these.
pub(crate) fn redraw_rows(rows: &[Text], drawn: usize) {
    let mut text = String::new();
    if drawn > 0 {
        text = format!("\x1b[{drawn}A");
    }
    rows.iter().for_each(|row| text.extend(["\r\x1b[K", row.as_str(), "\n"]));
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints help, or the parser's explanation of invalid arguments, which may have several lines.
pub(crate) fn print_usage(error: &clap::Error, choice: ColorChoice) {
    let is_terminal =
        if error.use_stderr() { stderr_is_terminal() } else { !is_captured() && io::stdout().is_terminal() };
    let style = Style::new(choice, is_terminal);
    let usage = error.render().to_string();
    let lines = usage.split_inclusive('\n');
    let shown: String = lines
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", help::line(line, style)),
            None => help::line(line, style),
        })
        .collect();
    if capture::keep_stderr(shown.as_bytes()) {
        return;
    }
    let _ = if error.use_stderr() {
        io::stderr().write_all(shown.as_bytes())
    } else {
        io::stdout().write_all(shown.as_bytes())
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_of_rfc_4648() {
        for (text, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(super::base64(text.as_bytes()), expected);
        }
    }
}
