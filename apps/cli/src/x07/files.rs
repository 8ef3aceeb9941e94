//! The files that the user names, and standard input: the program's one door to the outside.

use std::io::{self, Read};
use std::path::Path;

use stan_engine::DocumentStore;
use stan_repo::{OsSystem, System};

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
        write_atomically(Path::new(name), bytes)
    }
}

/// Where the program was started; `.` when that cannot be told.
#[expect(clippy::disallowed_methods, reason = "only the program knows the working directory")]
pub(crate) fn working_directory() -> String {
    std::env::current_dir().map_or_else(|_| ".".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Writes beside the target and renames, so that nobody sees half a file.
#[expect(clippy::disallowed_methods, reason = "to be replaced by the writable half of stan_repo::System")]
fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file name"))?;
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)?;
    }
    let mut temporary_name = std::ffi::OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary_name);
    let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
