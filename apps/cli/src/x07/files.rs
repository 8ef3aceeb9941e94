//! The files that the user names, and standard input: all I/O of the program.

use std::io::{self, Read};
use std::path::Path;

use stan_engine::{DocumentStore, OsSystem, SystemExt as _, write_document};

/// The real files.
pub(crate) struct ProgramFiles;

impl DocumentStore for ProgramFiles {
    fn read(&mut self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if name == "-" {
            io::stdin().lock().read_to_end(&mut bytes)?;
        } else {
            OsSystem.read_into(Path::new(name), &mut bytes)?;
        }
        Ok(bytes)
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_document(&OsSystem, Path::new(name), bytes)
    }
}

/// The working directory at start; `.` when it cannot be determined.
#[expect(clippy::disallowed_methods, reason = "only the program knows the working directory")]
pub(crate) fn working_directory() -> String {
    std::env::current_dir().map_or_else(|_| ".".to_owned(), |path| path.to_string_lossy().into_owned())
}
