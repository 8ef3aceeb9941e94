//! A document that the user names: a file, or standard input.

use std::io::{self, Read};
use std::path::Path;

use stan_engine::SystemExt as _;
use stan_engine::context::NamedBytes;

use crate::exit::Failure;
use crate::terminal::captured_stdin;
use crate::workspace::Workspace;

/// No document that people or assistants write is larger.
const MAX_SIZE: u64 = 1 << 30;

/// The bytes of `file`, relative to where the program was started; `-` is standard input.
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
    let path = workspace.absolute(file).ok_or_else(|| Failure::input(format!("the path `{file}` is not UTF-8")))?;
    workspace
        .engine
        .system()
        .read_at_most(Path::new(&path), MAX_SIZE, &mut bytes)
        .map_err(|error| Failure::input(format!("cannot read `{file}`: {error}")))?;
    Ok(NamedBytes { name: file.to_owned(), bytes })
}
