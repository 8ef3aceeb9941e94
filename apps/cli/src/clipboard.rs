//! The clipboard, through the platform's own tool. The list of tools is fixed; nothing from the repository is run.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::messages::Messages;
use crate::terminal::{self, text};

/// Terminals limit the length of an escape sequence to about this.
const MAX_COPY_BYTES: usize = 74_000;

/// Programs that copy their standard input to the clipboard.
const TOOLS: &[(&str, &[&str])] = &[
    ("pbcopy", &[]),
    ("wl-copy", &[]),
    ("xclip", &["-selection", "clipboard"]),
    ("xsel", &["--clipboard", "--input"]),
    ("clip.exe", &[]),
];

/// Copies a text to the clipboard: through the terminal, and through the platform's own tool. Warns if that may have failed.
pub(crate) fn copy_and_tell(bytes: &[u8], messages: &Messages) {
    let by_terminal = terminal::copy(bytes);
    let by_tool = copy(bytes);
    if by_terminal && !by_tool && bytes.len() > MAX_COPY_BYTES {
        messages.note(&text!("the text has {} bytes; the terminal may have cut the copy", bytes.len()));
    }
    if !by_terminal && !by_tool {
        messages.warnings(&["there is neither a terminal nor a clipboard tool to copy with".to_owned()]);
    }
}

/// Returns true if one of the tools succeeded.
fn copy(bytes: &[u8]) -> bool {
    TOOLS.iter().any(|(program, arguments)| copy_with(program, arguments, bytes))
}

fn copy_with(program: &str, arguments: &[&str], bytes: &[u8]) -> bool {
    let child =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    // Dropping stdin closes the pipe: the tool reads up to its end.
    let written = child.stdin.take().is_some_and(|mut stdin| stdin.write_all(bytes).is_ok());
    child.wait().is_ok_and(|status| status.success()) && written
}
