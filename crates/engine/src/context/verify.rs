//! The verb `verify`: does an archive still match the tree, the staged and the installed files, the map, the private map and the
//! selection? Reads everything, changes nothing, and does not trust the names in the archive.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use stan_archive::{TarEntry, TarKind, read_any};
use stan_graph::{FileMeta, JsonStyle, Map};
use stan_model::Digest;
use stan_model::document::externals_lock::ExternalsLock;
use stan_repo::{Links, System, hash_real_file, sha256};

use super::allow::{self, Allowlist, Documents, Origin, Rules};
use super::assemble::excludes;
use super::layout::{Artefact, WorkspaceLayout};
use super::locate::{Located, Locator};
use super::map::{encoded, load_externals_lock, load_map};
use super::map_verifier::mismatch_with_map;
use super::packages::drop_unproved;
use super::reports::{Difference, VerifyReport};
use super::{NamedPath, Repository, select, state};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::init::system_document;
use crate::secrets::{Judged, secrets_on_disk};

/// Larger documents are not kept in memory while an archive is read.
const MAX_KEPT_BYTES: u64 = 2 << 30;

/// The block size of tar files, whose length is a multiple of it.
const BLOCK: u64 = 512;

/// Compares an archive with the workspace. Default: the archive of the workspace.
pub fn verify(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    archive: Option<NamedPath>,
) -> Result<VerifyReport, EngineError> {
    let system = engine.system();
    let layout = repository.layout();
    let own = layout.artefact(Artefact::Archive);
    let is_named = archive.is_some();
    // Follow links only for a path that the user named: the repository could have planted a link as the workspace's own archive.
    let links = if is_named { Links::Follow } else { Links::Refuse };
    let archive = archive.unwrap_or_else(|| NamedPath { shown: own.clone(), path: layout.absolute(&own) });
    let contents = Contents::read(system, &layout, &archive, links).map_err(|refusal| {
        refusal.hint(if is_named {
            format!("name an archive that stan wrote, or none for `{own}`")
        } else {
            "make a new one: stan run, or stan run --context".to_owned()
        })
    })?;
    let map = load_map(system, &layout)?;
    let externals_lock = load_externals_lock(system, repository, map.as_ref().map(|(map, _)| map))?;
    let mut check = Check {
        engine,
        system,
        layout: &layout,
        map,
        externals_lock,
        locator: Locator::new(system, &layout),
        differ: contents.oddities.clone(),
        gone: Vec::new(),
        contents: &contents,
    };
    for (name, entry) in &contents.entries {
        check.entry(name, entry);
    }
    let mut warnings = Vec::new();
    let new = if contents.is_diff() { check.removed_paths() } else { check.unarchived(repository, &mut warnings)? };
    let Check { mut differ, mut gone, .. } = check;
    differ.sort_unstable();
    differ.dedup();
    gone.sort_unstable();
    gone.dedup();
    Ok(VerifyReport {
        archive: archive.shown,
        matches: differ.is_empty() && gone.is_empty() && new.is_empty(),
        entries: contents.entries.len() as u64,
        differ,
        gone,
        new,
        warnings,
    })
}

/// The contents of an archive, by name.
struct Contents {
    entries: BTreeMap<String, Held>,
    /// Entries that stan never writes.
    oddities: Vec<Difference>,
    /// The bytes of documents that the checks need.
    documents: BTreeMap<String, Vec<u8>>,
    layout: WorkspaceLayout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    size: u64,
    digest: Digest,
}

impl Contents {
    /// Reads the whole archive.
    fn read(
        system: &dyn System,
        layout: &WorkspaceLayout,
        archive: &NamedPath,
        links: Links,
    ) -> Result<Self, EngineError> {
        let NamedPath { shown, path } = archive;
        let unreadable = |reason: String| EngineError::input(format!("the archive `{shown}` cannot be read: {reason}"));
        let path = Path::new(path);
        let file = system.open_file(path, links);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => EngineError::input(format!("there is no archive `{shown}`")),
            _ => unreadable(error.to_string()),
        })?;
        let is_zip = path.extension().is_some_and(|extension| extension == "zip");
        if !is_zip && !file.stat.size.is_multiple_of(BLOCK) {
            let reason = "its size is not a multiple of 512 bytes, so it was truncated or is not a tar file";
            return Err(unreadable(reason.to_owned()));
        }
        let mut reader = io::BufReader::with_capacity(1 << 20, file.reader);
        let mut contents =
            Self { entries: BTreeMap::new(), oddities: Vec::new(), documents: BTreeMap::new(), layout: layout.clone() };
        let end = read_any(&mut reader, &mut |entry, bytes| contents.take(entry, bytes))
            .map_err(|error| unreadable(error.to_string()))?;
        if !end.is_marked {
            return Err(unreadable("its end is missing, so it may have been cut".to_owned()));
        }
        if end.has_trailing_bytes {
            contents.odd(shown, "the end of the archive", "something behind it");
        }
        Ok(contents)
    }

    fn take(&mut self, entry: &TarEntry, bytes: &mut dyn Read) -> io::Result<()> {
        let Some(name) = entry.safe_name().map(str::to_owned) else {
            self.odd(
                &String::from_utf8_lossy(&entry.name).escape_debug().to_string(),
                "a path in the repository",
                "this name",
            );
            return Ok(());
        };
        if entry.kind != TarKind::File {
            self.odd(&name, "a regular file", "a link, folder or device");
            return Ok(());
        }
        if self.layout.denial(&name).is_some()
            && name != self.layout.artefact(Artefact::NoChanges)
            && name != self.layout.artefact(Artefact::DiffList)
        {
            self.odd(&name, "no such entry, ever", "an entry");
        }
        let kept = [Artefact::Meta, Artefact::State, Artefact::DiffList]
            .iter()
            .any(|artefact| self.layout.artefact(*artefact) == name)
            && entry.size <= MAX_KEPT_BYTES;
        let mut hasher = Sha256::new();
        let mut document = Vec::new();
        let mut buffer = vec![0; 256 << 10];
        loop {
            let count = match bytes.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = buffer.get(..count).unwrap_or_default();
            hasher.update(read);
            if kept {
                document.extend_from_slice(read);
            }
        }
        let held = Held { size: entry.size, digest: Digest(hasher.finalize().into()) };
        if kept {
            self.documents.insert(name.clone(), document);
        }
        // Unpackers differ in which of two entries with one name wins.
        if self.entries.insert(name.clone(), held).is_some() {
            self.odd(&name, "one entry", "several of this name");
        }
        Ok(())
    }

    fn odd(&mut self, path: &str, expected: &str, actual: &str) {
        self.oddities.push(difference(path, "the rules of archives", expected, actual));
    }

    fn contains(&self, artefact: Artefact) -> bool {
        self.entries.contains_key(&self.layout.artefact(artefact))
    }

    /// A diff archive contains only some files, so none counts as missing from it.
    fn is_diff(&self) -> bool {
        self.contains(Artefact::DiffList) || self.contains(Artefact::NoChanges)
    }
}

struct Check<'a> {
    engine: &'a Engine<'a>,
    system: &'a dyn System,
    layout: &'a WorkspaceLayout,
    map: Option<(Map, Vec<u8>)>,
    externals_lock: Option<ExternalsLock>,
    locator: Locator<'a>,
    contents: &'a Contents,
    differ: Vec<Difference>,
    gone: Vec<String>,
}

impl Check<'_> {
    fn entry(&mut self, name: &str, held: &Held) {
        if [Artefact::NoChanges, Artefact::DiffList].iter().any(|artefact| self.layout.artefact(*artefact) == name) {
            return;
        }
        if self.layout.is_staged(name) {
            self.external(name, held);
        }
        match self.locator.locate(name) {
            Located::File(_) if self.is_minified_form(name, held) => {}
            Located::File(real) => self.file(name, &self.layout.absolute(&real), "the tree", held),
            _ if self.is_shipped(name, held) => {}
            _ => self.gone.push(name.to_owned()),
        }
        self.against_map(name, held);
    }

    /// Whether the entry is the minified form of map or selection, which may be indented on disk.
    fn is_minified_form(&self, name: &str, held: &Held) -> bool {
        let minified = if name == self.layout.artefact(Artefact::State) {
            state::load(self.system, self.layout).ok().flatten().map(|(decoded, _)| decoded.state.encode())
        } else if name == self.layout.artefact(Artefact::Meta) {
            self.map.as_ref().and_then(|(map, _)| encoded(map, JsonStyle::Minified).ok())
        } else {
            None
        };
        minified.is_some_and(|bytes| (sha256(&bytes), bytes.len() as u64) == (held.digest, held.size))
    }

    /// Whether the entry is the shipped instructions, which a repository without its own gets.
    fn is_shipped(&self, name: &str, held: &Held) -> bool {
        let shipped = || stan_repo::sha256(system_document(self.layout.stan_path()).as_bytes());
        name == allow::instructions_path(self.layout) && held.digest == shipped()
    }

    /// Compares an entry with the file on disk.
    fn file(&mut self, name: &str, absolute: &str, with: &str, held: &Held) {
        match hash_real_file(self.system, Path::new(absolute)) {
            Ok(file) if (file.digest, file.size) == (held.digest, held.size) => {}
            Ok(file) => {
                let found = shown(held.size, &held.digest.to_string());
                self.differ.push(difference(name, with, &shown(file.size, &file.digest.to_string()), &found));
            }
            Err(error) => self.differ.push(difference(name, with, "a readable file", &error.to_string())),
        }
    }

    /// An external must match the private map, and so must the installed file.
    fn external(&mut self, name: &str, held: &Held) {
        let known = self.externals_lock.as_ref().and_then(|externals_lock| externals_lock.nodes.get(name)).cloned();
        let Some(known) = known else {
            self.differ.push(difference(name, "the private map", "an entry", "none"));
            return;
        };
        if (known.size, known.sha256) != (held.size, held.digest) {
            let expected = shown(known.size, &known.sha256.to_string());
            let found = shown(held.size, &held.digest.to_string());
            self.differ.push(difference(name, "the private map", &expected, &found));
        }
        self.file(name, &known.locator, "the installed file", held);
    }

    fn against_map(&mut self, name: &str, held: &Held) {
        let Some((map, _)) = &self.map else { return };
        let Some(index) = map.find(name) else { return };
        if let Some((expected, found)) =
            mismatch_with_map(map, index, FileMeta { size: held.size, digest: held.digest })
        {
            self.differ.push(difference(name, "the map", &expected, &found));
        }
    }

    /// Paths that a diff lists as removed but that exist.
    fn removed_paths(&mut self) -> Vec<String> {
        let list = self.layout.artefact(Artefact::DiffList);
        let Some(bytes) = self.contents.documents.get(&list) else { return Vec::new() };
        let removed = serde_json::from_slice::<serde_json::Value>(bytes).ok().and_then(|document| {
            let paths = document.get("removed")?.as_array()?;
            paths.iter().map(|path| path.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        let Some(removed) = removed else {
            self.differ.push(difference(&list, "the rules of archives", "lists of paths", "something else"));
            return Vec::new();
        };
        let (safe, unsafe_names): (Vec<String>, Vec<String>) =
            removed.into_iter().partition(|path| stan_archive::check_name(path).is_ok());
        for path in unsafe_names {
            let found = path.escape_debug().to_string();
            self.differ.push(difference(&list, "the rules of archives", "paths in the repository", &found));
        }
        safe.into_iter().filter(|path| matches!(self.locator.locate(path), Located::File(_))).collect()
    }

    /// Reports what a run would archive now and the archive lacks, and the reverse.
    fn unarchived(
        &mut self,
        repository: &Repository<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>, EngineError> {
        let allowed = self.allowlist(repository, warnings)?;
        for name in self.contents.entries.keys() {
            let exists = matches!(self.locator.locate(name), Located::File(_));
            if exists && !allowed.files.contains_key(name) {
                self.differ.push(difference(name, "the selection", "not archived", "archived"));
            }
        }
        let mut new = Vec::new();
        for (name, file) in &allowed.files {
            if self.contents.entries.contains_key(name) {
                continue;
            }
            let is_left_out = |names: &[&str], absolute: &str| {
                let judged = secrets_on_disk(self.system, repository.config, names, absolute);
                judged.is_ok_and(|judged| judged != Judged::Free)
            };
            let is_left_out = match &file.origin {
                Origin::File(real) => is_left_out(&[name, real], &self.layout.absolute(real)),
                Origin::Staged => {
                    let locator =
                        self.externals_lock.as_ref().and_then(|externals_lock| externals_lock.nodes.get(name));
                    locator.is_some_and(|node| is_left_out(&[name], &node.locator))
                }
                Origin::Elsewhere(absolute) => is_left_out(&[name], absolute),
                Origin::Bytes(_) => false,
            };
            if !is_left_out {
                new.push(name.clone());
            }
        }
        Ok(new)
    }

    fn allowlist(&self, repository: &Repository<'_>, warnings: &mut Vec<String>) -> Result<Allowlist, EngineError> {
        let options = repository.config.graph_options(repository.root);
        let excludes = excludes(repository)?;
        let root_tokens = repository.config.context.root_tokens;
        let rules =
            Rules { system: self.system, layout: self.layout, scan: &options.scan, excludes: &excludes, root_tokens };
        let contains = |artefact: Artefact| self.contents.contains(artefact);
        if !contains(Artefact::Meta) && !contains(Artefact::Overview) {
            return Ok(allow::whole_repository(&rules));
        }
        let loaded = state::load(self.system, self.layout)?;
        let decoded = loaded.map_or_else(state::nothing, |(decoded, _)| decoded);
        // Placeholders: the documents themselves were already compared with those on disk.
        let documents = Documents {
            meta: contains(Artefact::Meta).then(Arc::default),
            overview: contains(Artefact::Overview).then(Arc::default),
            state: Arc::default(),
        };
        let top = allow::top_of(&rules);
        let imports = self.layout.own("imports/");
        let has_imports = self.contents.entries.keys().any(|name| name.starts_with(&imports));
        if decoded.state.include.is_empty() && !has_imports {
            return Ok(allow::thread_opener(&rules, documents, top));
        }
        let Some((map, _)) = &self.map else { return Ok(allow::thread_opener(&rules, documents, top)) };
        let mut selection = select::selection(map, &decoded.state)?;
        if let Some(externals_lock) = &self.externals_lock {
            let system = self.system;
            self.engine.share(|| drop_unproved(system, repository, map, externals_lock, &mut selection));
        }
        warnings.extend(selection.warnings.iter().cloned());
        Ok(allow::selected(&rules, documents, top, map, &selection))
    }
}

fn difference(path: &str, with: &str, expected: &str, actual: &str) -> Difference {
    let [path, with, expected, actual] = [path, with, expected, actual].map(str::to_owned);
    Difference { path, with, expected, actual }
}

fn shown(size: u64, hash: &str) -> String {
    format!("{size} bytes {hash}")
}
