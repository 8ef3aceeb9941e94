//! The history of baselines: the last ten of each kind, and which of them is active.
//!
//! Baselines are stored below `<stanPath>/diff/history/<kind>/` under increasing numbers, and a small pointer file beside them
//! names the active one. The active one is also copied to its usual path, so that only this module has to know about the history.
//! Switching replaces that copy; no baseline is lost.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stan_archive::{Snapshot, Transaction};
use stan_repo::{Access, EntryKind, SystemExt as _, WritableSystem, advice};

use super::layout::{Artefact, WorkspaceLayout};
use super::session::refuse;
use super::workspace_files::read_if_there;
use crate::error::EngineError;

/// How many baselines of each kind are stored.
const MAX_KEPT: usize = 10;

/// The kind of baseline: of plain or of context runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Context,
}

impl Kind {
    pub(crate) fn artefact(self) -> Artefact {
        match self {
            Self::Plain => Artefact::PlainSnapshot,
            Self::Context => Artefact::ContextSnapshot,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Context => "context",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointer {
    v: u32,
    current: u64,
}

/// The baselines of one kind, oldest first.
pub(crate) struct History<'a> {
    system: &'a dyn WritableSystem,
    layout: &'a WorkspaceLayout,
    kind: Kind,
    /// Bytes by number.
    entries: Vec<(u64, Vec<u8>)>,
    /// The index of the active baseline; `None` if there is none.
    current: Option<usize>,
    /// Numbers of entries that are not on disk yet.
    unsaved: Vec<u64>,
}

impl<'a> History<'a> {
    pub(crate) fn read(
        system: &'a dyn WritableSystem,
        layout: &'a WorkspaceLayout,
        kind: Kind,
    ) -> Result<Self, EngineError> {
        let in_place = read_if_there(system, layout, &layout.artefact(kind.artefact()))?;
        let mut history = Self { system, layout, kind, entries: Vec::new(), current: None, unsaved: Vec::new() };
        for number in history.numbers()? {
            if let Some(bytes) = read_if_there(system, layout, &history.file(number))? {
                history.entries.push((number, bytes));
            }
        }
        if let Some(bytes) = in_place {
            let pointed = history.pointer()?;
            let is_same = |(number, kept): &&(u64, Vec<u8>)| *kept == bytes && pointed.is_none_or(|one| one == *number);
            let found = history.entries.iter().rposition(|entry| is_same(&entry));
            let found = found.or_else(|| history.entries.iter().rposition(|(_, kept)| *kept == bytes));
            match found {
                Some(index) => history.current = Some(index),
                // Written by a run, or by a version of this program without a history.
                None => history.push(bytes),
            }
        }
        Ok(history)
    }

    /// Adds a baseline and activates it.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        // Nothing changed since the newest baseline, or a run was interrupted after it wrote this one.
        if self.entries.last().is_some_and(|(_, newest)| *newest == bytes) {
            self.current = Some(self.entries.len() - 1);
            return;
        }
        let number = self.entries.last().map_or(1, |(number, _)| number + 1);
        self.entries.push((number, bytes));
        self.unsaved.push(number);
        self.current = Some(self.entries.len() - 1);
    }

    /// The number of baselines.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of the active baseline as listed: 0 is the newest.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current.map(|index| self.entries.len() - 1 - index)
    }

    /// Activates another baseline; `false` if there is none with that number.
    pub(crate) fn set(&mut self, listed: usize) -> bool {
        let index = self.entries.len().checked_sub(listed + 1);
        if index.is_some() {
            self.current = index;
        }
        index.is_some()
    }

    /// The bytes of the active baseline.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.entries.get(self.current?).map(|(_, bytes)| bytes.as_slice())
    }

    /// All baselines, newest first.
    pub(crate) fn snapshots(&self) -> Result<Vec<Snapshot>, EngineError> {
        let decode = |(number, bytes): &(u64, Vec<u8>)| Snapshot::decode(bytes, &self.file(*number)).map_err(refuse);
        self.entries.iter().rev().map(decode).collect()
    }

    /// Writes new baselines and removes those that exceed the limit.
    pub(crate) fn save(mut self, transaction: &mut Transaction<'_>) -> Result<(), EngineError> {
        // Never remove the active baseline, even if it is the oldest: the next diff is made against it.
        while self.entries.len() > MAX_KEPT && self.current != Some(0) {
            let (number, _) = self.entries.remove(0);
            self.current = self.current.map(|index| index.saturating_sub(1));
            if !self.unsaved.contains(&number) {
                transaction.remove(&self.file(number)).map_err(refuse)?;
            }
        }
        for (number, bytes) in self.entries.iter().filter(|(number, _)| self.unsaved.contains(number)) {
            transaction.write_durable(&self.file(*number), bytes, Access::Shared).map_err(refuse)?;
        }
        let Some((number, bytes)) = self.current.and_then(|index| self.entries.get(index)) else { return Ok(()) };
        let pointer = serde_json::to_vec(&Pointer { v: 1, current: *number }).unwrap_or_default();
        transaction.write_durable(&self.pointer_file(), &pointer, Access::Shared).map_err(refuse)?;
        let path = self.layout.artefact(self.kind.artefact());
        if read_if_there(self.system, self.layout, &path)?.as_ref() != Some(bytes) {
            transaction.write_durable(&path, bytes, Access::Shared).map_err(refuse)?;
        }
        Ok(())
    }

    fn folder(&self) -> String {
        self.layout.own(&format!("diff/history/{}", self.kind.name()))
    }

    fn file(&self, number: u64) -> String {
        format!("{}/{number:08}.json", self.folder())
    }

    fn pointer_file(&self) -> String {
        self.layout.own(&format!("diff/history/{}.json", self.kind.name()))
    }

    fn pointer(&self) -> Result<Option<u64>, EngineError> {
        let bytes = read_if_there(self.system, self.layout, &self.pointer_file())?;
        // A broken pointer is ignored: the active baseline is then found by comparing bytes.
        Ok(bytes.and_then(|bytes| serde_json::from_slice::<Pointer>(&bytes).ok()).map(|pointer| pointer.current))
    }

    fn numbers(&self) -> Result<Vec<u64>, EngineError> {
        let folder = self.layout.absolute(&self.folder());
        let entries = match self.system.read_real_dir(Path::new(&folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(EngineError::input(format!("`{}` cannot be listed: {}", self.folder(), advice(&error))));
            }
        };
        let number = |name: &str| name.strip_suffix(".json").filter(|text| text.len() == 8)?.parse::<u64>().ok();
        let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
        let mut numbers: Vec<u64> = files.filter_map(|entry| number(entry.name.to_str()?)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}
