//! The folders of a repository, and the object format in its configuration.
//!
//! Reads small files, with limits. Of the configuration only the format and `core.fileMode` matter; includes and worktree
//! configuration are not read.

use std::io;
use std::path::Path;

use super::error::GitError;
use super::id::HashKind;
use crate::advice::read_failure;
use crate::git::directory::Checkout;
use crate::observations::Recorder;
use crate::paths::{Root, join, real_path};
use crate::system::System;
use crate::system_ext::SystemExt as _;

/// The maximum size of a configuration, a reference or a list of alternates.
const MAX_SMALL_FILE_BYTES: u64 = 16 << 20;

/// The repository that contains a root.
pub(crate) struct GitLayout<'s> {
    pub(crate) system: &'s dyn System,
    /// The checkout, to show paths relative to its top.
    pub(crate) top: Root,
    /// The path from the top of the checkout to the root: empty, or with a trailing slash.
    pub(crate) prefix: String,
    /// The folder with `HEAD` and the index.
    pub(crate) directory: String,
    /// The folder with `objects` and `refs`.
    pub(crate) common: String,
    pub(crate) format: Format,
}

/// The relevant settings of the configuration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) hash: HashKind,
    pub(crate) has_reftable: bool,
    /// Whether the executable bit of files is meaningful.
    pub(crate) trusts_executable_bit: bool,
}

impl<'s> GitLayout<'s> {
    pub(crate) fn find(system: &'s dyn System, root: &str) -> Result<Self, GitError> {
        let root =
            real_path(system, Path::new(root)).map(|real| Root::new(&real)).map_err(|_| GitError::NoRepository)?;
        let checkout = Checkout::find(&mut Recorder::new(system), &root);
        let (directory, common) = checkout.directories().ok_or(GitError::NoRepository)?;
        let prefix = match checkout.top.relative(root.path()) {
            None | Some("") => String::new(),
            Some(below) => [below, "/"].concat(),
        };
        let (directory, common) = (directory.to_owned(), common.to_owned());
        let default = Format { hash: HashKind::Sha1, has_reftable: false, trusts_executable_bit: true };
        let mut place = Self { system, top: checkout.top, prefix, directory, common, format: default };
        if let Some(text) = place.read_small(&join(&place.common, "config"))? {
            place.format = Format::parse(&text)?;
        }
        Ok(place)
    }

    /// A path as shown in errors.
    pub(crate) fn shown(&self, path: &str) -> String {
        self.top.relative(path).unwrap_or(path).to_owned()
    }

    /// The bytes of a small file; `None` if it does not exist.
    pub(crate) fn read_small(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        self.read(path, MAX_SMALL_FILE_BYTES)
    }

    pub(crate) fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, GitError> {
        let mut bytes = Vec::new();
        match self.system.read_at_most(Path::new(path), limit, &mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(GitError::TooMuch { what: format!("the size of `{}`", self.shown(path)), limit })
            }
            Err(error) => Err(self.unreadable(path, &error)),
        }
    }

    pub(crate) fn unreadable(&self, path: &str, error: &io::Error) -> GitError {
        GitError::Unreadable { file: self.shown(path), reason: read_failure(error) }
    }
}

/// A folder instead of a file counts as absent: `refs/heads/a` may be a folder.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
    )
}

/// Extensions that do not change how objects and references are read.
const HARMLESS: [&str; 6] =
    ["noop", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees", "compatobjectformat"];

impl Format {
    fn parse(config: &[u8]) -> Result<Self, GitError> {
        let mut format = Self { hash: HashKind::Sha1, has_reftable: false, trusts_executable_bit: true };
        let text = String::from_utf8_lossy(config).to_ascii_lowercase();
        let mut section = "";
        let mut version = 0;
        let mut extensions = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix('[') {
                section = rest.split(']').next().unwrap_or_default().trim();
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            let value = value.split(['#', ';']).next().unwrap_or_default().trim().trim_matches('"');
            match (section, key.trim()) {
                ("core", "repositoryformatversion") => version = value.parse().unwrap_or(u32::MAX),
                ("core", "filemode") => format.trusts_executable_bit = !matches!(value, "false" | "no" | "off" | "0"),
                ("extensions", key) if !key.is_empty() && !key.starts_with(['#', ';']) => extensions.push((key, value)),
                _ => {}
            }
        }
        if version > 1 {
            return Err(GitError::Unsupported { feature: format!("version {version} of git's repository format") });
        }
        for (key, value) in extensions {
            match (key, value) {
                ("objectformat", "sha1") | ("refstorage", "files") => {}
                ("objectformat", "sha256") => format.hash = HashKind::Sha256,
                ("refstorage", "reftable") => format.has_reftable = true,
                (key, _) if HARMLESS.contains(&key) || version == 0 => {}
                (key, value) => {
                    return Err(GitError::Unsupported { feature: format!("git's extension `{key} = {value}`") });
                }
            }
        }
        Ok(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_a_repository_is_read_from_its_configuration() {
        let parse = |text: &str| Format::parse(text.as_bytes());
        let plain = parse("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n").unwrap();
        assert_eq!(plain, Format { hash: HashKind::Sha1, has_reftable: false, trusts_executable_bit: true });
        assert_eq!(parse("").unwrap(), plain);
        assert!(!parse("[Core]\nFileMode=false # a note\n").unwrap().trusts_executable_bit);
        let new =
            "[core]\nrepositoryformatversion = 1\n[extensions]\n objectFormat = sha256\n refStorage = \"reftable\"\n";
        let new = parse(new).unwrap();
        assert!(new.hash == HashKind::Sha256 && new.has_reftable);
        for bad in ["[core]\nrepositoryformatversion = 2", "[core]\nrepositoryformatversion=1\n[extensions]\nblobs = x"]
        {
            assert!(matches!(parse(bad), Err(GitError::Unsupported { .. })), "{bad}");
        }
        assert_eq!(
            parse("[extensions]\npartialClone = origin\n; a note\n[remote \"extensions\"]\nx = 1\n").unwrap(),
            plain
        );
    }
}
