//! An index of the offsets of files in an archive, so that single ones can be read without keeping the others in memory.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use stan_archive::{TarKind, read_any};
use stan_repo::{Links, System, SystemExt as _};

use crate::context::{EngineError, NamedPath};

pub(super) struct ArchiveIndex<'s> {
    system: &'s dyn System,
    path: PathBuf,
    files: BTreeMap<String, (u64, u64)>,
    is_there: bool,
}

impl<'s> ArchiveIndex<'s> {
    /// The index used if there is no archive.
    pub(super) fn none(system: &'s dyn System) -> Self {
        Self { system, path: PathBuf::new(), files: BTreeMap::new(), is_there: false }
    }

    /// Whether there is an archive.
    pub(super) fn is_there(&self) -> bool {
        self.is_there
    }

    pub(super) fn read(system: &'s dyn System, archive: &NamedPath, links: Links) -> Result<Self, EngineError> {
        let NamedPath { shown, path } = archive;
        let path = Path::new(path);
        let unreadable = |reason: String| {
            EngineError::input(format!("the archive `{shown}` cannot be read: {reason}"))
                .hint("make one with `stan run --context`, or name the one that the assistant has with --archive")
        };
        let file = system.open_file(path, links);
        let file = file.map_err(|error| {
            unreadable(if error.kind() == io::ErrorKind::NotFound {
                "there is none".to_owned()
            } else {
                error.to_string()
            })
        })?;
        let position = Rc::new(Cell::new(0));
        let mut reader =
            Counting { reader: BufReader::with_capacity(1 << 20, file.reader), position: Rc::clone(&position) };
        let mut files = BTreeMap::new();
        let end = read_any(&mut reader, &mut |entry, _| {
            // Headers are read in whole blocks, so the contents start at the current offset.
            if let (TarKind::File, Some(name)) = (&entry.kind, entry.safe_name()) {
                files.insert(name.to_owned(), (position.get(), entry.size));
            }
            Ok(())
        })
        .map_err(|error| unreadable(error.to_string()))?;
        if !end.is_marked {
            return Err(unreadable("its end is missing, so it may have been cut".to_owned()));
        }
        Ok(Self { system, path: path.to_owned(), files, is_there: true })
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    pub(super) fn contains_below(&self, folder: &str) -> bool {
        let prefix = [folder, "/"].concat();
        self.files.range(prefix.clone()..).next().is_some_and(|(name, _)| name.starts_with(&prefix))
    }

    /// The bytes of a file; `None` also if the archive was changed meanwhile.
    pub(super) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let &(start, size) = self.files.get(name)?;
        let mut reader = self.system.open(&self.path).ok()?.reader;
        reader.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        reader.take(size).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == size).then_some(bytes)
    }
}

/// Counts the bytes read through it.
struct Counting<R> {
    reader: R,
    position: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.position.set(self.position.get() + count as u64);
        Ok(count)
    }
}
