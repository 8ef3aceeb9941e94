//! Compares the hashes in the map with the repository's own files: with the archived bytes and, if the map is archived without
//! being rebuilt, with the files on disk that are not archived. Externals are verified by `stan_archive`.

use std::path::Path;

use rayon::prelude::*;
use stan_archive::Written;
use stan_graph::{FileMeta, Map};
use stan_model::NodeKind;
use stan_repo::{System, hash_real_file};

use super::layout::WorkspaceLayout;
use crate::error::EngineError;

pub(crate) struct MapVerifier<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) layout: &'a WorkspaceLayout,
    pub(crate) map: &'a Map,
}

impl MapVerifier<'_> {
    /// The archived files that do not match the map, one line each.
    pub(crate) fn mismatches_in_archive(&self, written: &Written) -> Vec<String> {
        let sources = written.files.iter().filter_map(|file| Some((self.source(&file.name)?, file)));
        sources
            .filter_map(|(index, file)| {
                self.describe_mismatch(index, Ok(FileMeta { size: file.size, digest: file.digest }))
            })
            .collect()
    }

    /// The files that are not archived and do not match the map, one line each. Reads them.
    pub(crate) fn mismatches_on_disk(&self, written: &Written) -> Vec<String> {
        let rest: Vec<u32> = self
            .map
            .indices()
            .filter(|&index| self.map.kind(index) == NodeKind::Source)
            .filter(|&index| written.file(self.map.id(index)).is_none())
            .collect();
        rest.par_iter()
            .filter_map(|&index| {
                let path = self.layout.absolute(self.map.id(index));
                let found = hash_real_file(self.system, Path::new(&path));
                let found = found.map(|file| FileMeta { size: file.size, digest: file.digest });
                self.describe_mismatch(index, found)
            })
            .collect()
    }

    fn source(&self, name: &str) -> Option<u32> {
        self.map.find(name).filter(|&index| self.map.kind(index) == NodeKind::Source)
    }

    fn describe_mismatch(&self, index: u32, found: std::io::Result<FileMeta>) -> Option<String> {
        let (expected, found) = match found {
            Ok(found) => mismatch_with_map(self.map, index, found)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                (promised(self.map, index), "nothing there".to_owned())
            }
            Err(error) => (promised(self.map, index), error.to_string()),
        };
        Some(format!("{}: expected {expected}, found {found}", self.map.id(index)))
    }
}

/// The values of the map and of the file; `None` if they match.
pub(crate) fn mismatch_with_map(map: &Map, index: u32, found: FileMeta) -> Option<(String, String)> {
    let FileMeta { size, digest } = found;
    let prefix = digest.prefix();
    let is_kept = map.size(index).is_none_or(|promised| promised == size)
        && map.hash(index).is_none_or(|promised| *promised == prefix);
    let found = || format!("{size} bytes, h {}", stan_graph::hash_text(&prefix));
    (!is_kept).then(|| (promised(map, index), found()))
}

fn promised(map: &Map, index: u32) -> String {
    let size = map.size(index).map_or_else(|| "any size".to_owned(), |size| format!("{size} bytes"));
    let hash = map.hash(index).map_or_else(|| "any h".to_owned(), |hash| format!("h {}", stan_graph::hash_text(hash)));
    format!("{size}, {hash}")
}

/// The error of a run that built the map itself.
pub(crate) fn changed_meanwhile(details: Vec<String>) -> EngineError {
    EngineError::input("files changed while the run was at work; nothing was changed")
        .details(details)
        .hint("run again when nothing writes to them")
}

/// The error of a run that uses the map on disk.
pub(crate) fn no_longer_matching(mut details: Vec<String>) -> EngineError {
    details.sort_unstable();
    EngineError::verification("files of the repository are not what the map says; nothing was changed")
        .details(details)
        .hint(super::map::REBUILD)
}
