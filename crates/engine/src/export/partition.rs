//! The files of one repository and commit in a dataset:
//!
//! ```text
//! nodes/repo=<id>/commit=<id>/part-0.parquet       one file for each table, named so that query engines see `repo` and `commit`
//! _stan/repo=<id>/commit=<id>/parquet.json         what the files were made of, and their hashes; written last
//! ```
//!
//! A partition is complete if its record in `_stan` exists: the record is removed before the first table is replaced, and written
//! after the last one. Each file is replaced atomically. Nothing is written through a symlink.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use stan_dataset::{SCHEMA_VERSION, TABLES};
use stan_model::Digest;
use stan_repo::{AbsPath, EntryKind, SystemExt as _, WritableSystem, advice};

use super::packages::Packages;
use super::rows::Tables;
use super::{ExportRequest, ExportedTable};
use crate::config::Config;
use crate::documents::{content_digest, write_document};
use crate::error::EngineError;
use crate::graph::detail::DetailedGraph;
use crate::tokens::Tokenizer;

/// The folder of records. Query engines skip names with a leading underscore.
const RECORDS: &str = "_stan";
/// A larger record was not written by stan.
const MAX_RECORD_BYTES: u64 = 1 << 20;

/// A hash of all inputs of the rows: equal keys mean equal tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartitionKey(String);

impl PartitionKey {
    pub(super) fn of(detailed: &DetailedGraph, packages: &Packages, tokenizer: Tokenizer, config: &Config) -> Self {
        let graph = &detailed.graph;
        let mut hasher = KeyHasher(Sha256::new());
        hasher.text(env!("CARGO_PKG_VERSION"));
        hasher.number(u64::from(SCHEMA_VERSION));
        for (language, version) in stan_lang::Languages::all().versions() {
            hasher.text(language);
            hasher.number(u64::from(version));
        }
        hasher.text(tokenizer.name());
        config.allowed_secrets.iter().for_each(|path| hasher.text(path));
        hasher.number(graph.node_count() as u64);
        for index in graph.indices() {
            let node = graph.node(index);
            hasher.text(&node.id);
            hasher.text(node.kind.as_str());
            hasher.text(node.description.as_deref().unwrap_or("\0"));
            match &node.file {
                Some(file) => hasher.0.update(file.digest.0),
                None => hasher.number(u64::MAX),
            }
            if let Some(package) = packages.of(index) {
                hasher.text(&package.name);
                hasher.text(package.version.as_deref().unwrap_or("\0"));
            }
            hasher.number(graph.edges(index).len() as u64);
            for edge in graph.edges(index) {
                hasher.number(u64::from(edge.target));
                hasher.text(edge.kind.as_str());
                hasher.text(edge.resolution.as_str());
            }
        }
        Self(Digest(hasher.0.finalize().into()).to_string())
    }
}

struct KeyHasher(Sha256);

impl KeyHasher {
    /// Prefixed with its length, so that different lists of texts cannot produce the same bytes.
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }
}

/// The record of an existing partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PartitionRecord {
    schema_version: u32,
    key: String,
    pub(super) tables: Vec<ExportedTable>,
    pub(super) warnings: Vec<String>,
}

/// The partition of one repository and commit.
pub(super) struct Partition<'s> {
    system: &'s dyn WritableSystem,
    directory: String,
    /// No folder below this one may be a symlink: the dataset, or the root if the dataset is inside it.
    trusted: String,
    repo: String,
    name: String,
    format: &'static str,
}

impl<'s> Partition<'s> {
    pub(super) fn new(
        system: &'s dyn WritableSystem,
        request: &ExportRequest,
        root: &str,
        commit: &str,
    ) -> Result<Self, EngineError> {
        let repo = format!("repo={}", encoded(&request.repo_id));
        let name = format!("{repo}/commit={}", encoded(commit));
        let is_inside = AbsPath::new(root).below(&request.directory).is_some();
        let trusted = if is_inside { root.to_owned() } else { request.directory.clone() };
        let directory = request.directory.clone();
        let partition = Self { system, directory, trusted, repo, name, format: request.format.name() };
        for table in TABLES {
            partition.check_folders(&partition.table_path(table.name))?;
        }
        partition.check_folders(&partition.record_path())?;
        Ok(partition)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn table_path(&self, table: &str) -> String {
        AbsPath::new(&self.directory).join(&format!("{table}/{}/part-0.{}", self.name, self.format))
    }

    fn record_path(&self) -> String {
        AbsPath::new(&self.directory).join(&format!("{RECORDS}/{}/{}.json", self.name, self.format))
    }

    /// Fails if the path of a file contains a symlink or anything else that is not a folder.
    fn check_folders(&self, file: &str) -> Result<(), EngineError> {
        let below = AbsPath::new(&self.trusted).below(file).unwrap_or_default();
        let start = file.len() - below.len();
        for (at, _) in below.match_indices('/') {
            let folder = file.get(..start + at).unwrap_or_default();
            match self.system.lstat(Path::new(folder)) {
                Ok(stat) if stat.kind != EntryKind::Dir => {
                    let shown = below.get(..at).unwrap_or_default();
                    return Err(EngineError::input(format!("`{shown}` in the way of the dataset is not a folder"))
                        .hint("remove it, or name another folder"));
                }
                Ok(_) => {}
                // A missing folder will be created.
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// The record of a complete partition with the same key.
    pub(super) fn find(&self, key: &PartitionKey) -> Option<PartitionRecord> {
        let mut bytes = Vec::new();
        self.system.read_real(Path::new(&self.record_path()), MAX_RECORD_BYTES, &mut bytes).ok()?;
        let record: PartitionRecord = serde_json::from_slice(&bytes).ok()?;
        let is_there = |table: &ExportedTable| {
            let stat = self.system.lstat(Path::new(&self.table_path(&table.name)));
            stat.is_ok_and(|stat| stat.kind == EntryKind::File && stat.size == table.bytes)
        };
        let names = record.tables.iter().map(|table| table.name.as_str());
        let is_ours = record.schema_version == SCHEMA_VERSION
            && record.key == key.0
            && names.eq(TABLES.iter().map(|table| table.name))
            && record.tables.iter().all(is_there);
        is_ours.then_some(record)
    }

    /// Writes all tables one after the other.
    pub(super) fn write(
        &self,
        key: &PartitionKey,
        tables: &mut Tables<'_>,
        format: stan_dataset::DatasetFormat,
    ) -> Result<Vec<ExportedTable>, EngineError> {
        let record = self.record_path();
        // From here until `put` of the new record, the partition counts as incomplete.
        remove_if_there(self.system, &record)?;
        let mut written = Vec::new();
        for schema in TABLES {
            let table = tables.table(schema.name);
            let bytes = format.write(&table);
            self.put(&self.table_path(schema.name), &bytes)?;
            written.push(ExportedTable {
                name: schema.name.to_owned(),
                rows: table.rows() as u64,
                bytes: bytes.len() as u64,
                sha256: content_digest(&bytes),
            });
        }
        let known = PartitionRecord {
            schema_version: SCHEMA_VERSION,
            key: key.0.clone(),
            tables: written.clone(),
            warnings: tables.warnings.clone(),
        };
        let mut bytes = serde_json::to_vec_pretty(&known).map_err(|error| EngineError::internal(error.to_string()))?;
        bytes.push(b'\n');
        self.put(&record, &bytes)?;
        Ok(written)
    }

    fn put(&self, path: &str, bytes: &[u8]) -> Result<(), EngineError> {
        write_document(self.system, Path::new(path), bytes).map_err(|error| {
            let shown = AbsPath::new(&self.directory).below(path).unwrap_or(path);
            EngineError::input(format!("`{shown}` of the dataset cannot be written: {}", advice(&error)))
        })
    }

    /// Removes this repository's partitions of other commits in this format. Returns the number of commits.
    pub(super) fn prune(&self) -> Result<u64, EngineError> {
        let base = AbsPath::new(&self.directory);
        let own = self.name.rsplit('/').next().unwrap_or_default();
        let mut pruned = 0;
        // Remove records first: a partition without one counts as incomplete.
        let record = format!("{}.json", self.format);
        let table = format!("part-0.{}", self.format);
        let folders = [(RECORDS, &record)].into_iter().chain(TABLES.iter().map(|schema| (schema.name, &table)));
        for (folder, file) in folders {
            let folder = base.join(&format!("{folder}/{}", self.repo));
            for entry in self.system.read_real_dir(Path::new(&folder)).unwrap_or_default() {
                let name = entry.name.to_str().filter(|name| name.starts_with("commit=") && *name != own);
                let Some(name) = name.filter(|_| entry.kind == EntryKind::Dir) else { continue };
                let commit = format!("{folder}/{name}");
                let is_removed = remove_if_there(self.system, &format!("{commit}/{file}"))?;
                pruned += u64::from(is_removed && *file == record);
                // Fails, as it should, if the folder still contains the record of the other format.
                let _ = self.system.remove_dir(Path::new(&commit));
            }
        }
        Ok(pruned)
    }
}

fn remove_if_there(system: &dyn WritableSystem, path: &str) -> Result<bool, EngineError> {
    match system.remove_file(Path::new(path)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(EngineError::input(format!("a file of the dataset cannot be replaced: {}", advice(&error)))),
    }
}

/// Encodes a value for a folder name: any character except letters, digits, `-`, `.` and `_` becomes `%XX`, as in Hive and its
/// readers.
pub(super) fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn partition_values_are_encoded_for_folder_names() {
        for (value, expected) in
            [("a-b_c.d", "a-b_c.d"), ("org/app", "org%2Fapp"), ("a=b %", "a%3Db%20%25"), ("é", "%C3%A9"), ("..", "..")]
        {
            assert_eq!(encoded(value), expected);
        }
    }
}
