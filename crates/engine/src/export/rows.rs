//! The rows of all tables of one repository, from its graph, facts and outlines.

use std::path::Path;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use stan_dataset::{DeclarationRow, EdgeRow, ExportRow, NodeRow, PackageRow, Table};
use stan_lang::Languages;
use stan_model::facts::ExportSource;
use stan_model::outline::{Outline, UnitId};
use stan_model::{Digest, FileFacts, NodeKind};
use stan_repo::{System, SystemExt as _, sha256};

use super::ExportRequest;
use super::packages::Packages;
use crate::context::Repository;
use crate::engine::Engine;
use crate::graph::detail::{DetailedGraph, NameFinder, TakenNames};
use crate::outline::absolute;
use crate::overview::counted_tokens;
use crate::secrets::secrets_of;

/// The declarations of larger files are not in the dataset.
const MAX_OUTLINED_BYTES: u64 = 64 << 20;
/// How many files' outlines are in memory at once.
const MAX_FILES_AT_ONCE: usize = 4096;

/// The tables, each created on demand, so that only one is in memory at a time.
pub(super) struct Tables<'t> {
    repository: &'t Repository<'t>,
    detailed: &'t DetailedGraph,
    packages: &'t Packages,
    /// Files of the repository, in graph order.
    sources: Vec<u32>,
    tokens: Vec<u64>,
    declarations: Option<Table>,
    /// Files that contain a secret: none of their text is written.
    held_back: FxHashSet<u32>,
    pub(super) warnings: Vec<String>,
}

/// The declarations of one file.
enum Read {
    Outline(Outline),
    /// Contains a secret.
    HeldBack,
    /// Changed since it was hashed, or unreadable.
    Changed,
    /// Has no declarations.
    Nothing,
}

impl<'t> Tables<'t> {
    pub(super) fn gather(
        engine: &Engine<'_>,
        repository: &'t Repository<'t>,
        request: &ExportRequest,
        detailed: &'t DetailedGraph,
        packages: &'t Packages,
    ) -> Self {
        let graph = &detailed.graph;
        let sources: Vec<u32> = graph.indices().filter(|node| graph.node(*node).kind == NodeKind::Source).collect();
        let tokens = counted_tokens(engine, repository, &request.work, detailed, request.tokenizer, &sources);
        let (held_back, warnings) = (FxHashSet::default(), Vec::new());
        let mut tables =
            Self { repository, detailed, packages, sources, tokens, declarations: None, held_back, warnings };
        tables.outline(engine);
        tables
    }

    /// The table with this name.
    pub(super) fn table(&mut self, name: &str) -> Table {
        match name {
            "nodes" => self.nodes(),
            "edges" => self.edges(),
            "exports" => self.exports(),
            "packages" => self.packages(),
            _ => self.declarations.take().unwrap_or_else(Table::of::<DeclarationRow<'_>>),
        }
    }

    fn outline(&mut self, engine: &Engine<'_>) {
        let system = engine.system();
        let mut table = Table::of::<DeclarationRow<'_>>();
        let (mut secret, mut changed) = (0u64, 0u64);
        for files in self.sources.chunks(MAX_FILES_AT_ONCE) {
            let read: Vec<Read> = engine.parse(|| files.par_iter().map(|node| self.read(system, *node)).collect());
            for (node, read) in files.iter().zip(read) {
                match read {
                    Read::Outline(outline) => declare(&mut table, &self.detailed.graph.node(*node).id, &outline),
                    Read::HeldBack => {
                        secret += 1;
                        self.held_back.insert(*node);
                    }
                    Read::Changed => changed += 1,
                    Read::Nothing => {}
                }
            }
        }
        self.declarations = Some(table);
        if secret > 0 {
            self.warnings.push(format!(
                "{} with a secret: declarations, exported names and description left out",
                files_of(secret)
            ));
        }
        if changed > 0 {
            self.warnings
                .push(format!("{} changed while the tables were made: declarations left out", files_of(changed)));
        }
    }

    fn read(&self, system: &dyn System, node: u32) -> Read {
        let node = self.detailed.graph.node(node);
        let (Some(language), Some(file)) = (Languages::all().declarations(&node.id), node.file) else {
            return Read::Nothing;
        };
        if file.size > MAX_OUTLINED_BYTES {
            return Read::Nothing;
        }
        let mut bytes = Vec::new();
        let path = absolute(self.repository.root, &node.id);
        let is_read = system.read_real(Path::new(&path), MAX_OUTLINED_BYTES, &mut bytes).is_ok();
        // All tables must describe the bytes that the graph was built from: other bytes have declarations on other lines.
        if !is_read || sha256(&bytes) != file.digest {
            return Read::Changed;
        }
        if secrets_of(self.repository.config, &node.id, &bytes).is_some() {
            return Read::HeldBack;
        }
        match language.text_of(&bytes) {
            Some(text) => Read::Outline(language.outline(&node.id, &text)),
            None => Read::Nothing,
        }
    }

    fn nodes(&self) -> Table {
        let graph = &self.detailed.graph;
        let mut table = Table::of::<NodeRow<'_>>();
        // One count per source, in node order.
        let mut tokens = self.tokens.iter().copied();
        for index in graph.indices() {
            let node = graph.node(index);
            let is_source = node.kind == NodeKind::Source;
            let package = self.packages.of(index);
            let folder = node.id.rsplit_once('/').map_or("", |(folder, _)| folder);
            table.push(&NodeRow {
                id: &node.id,
                kind: node.kind.as_str(),
                language: node.language.as_str(),
                folder: if is_source { folder } else { "" },
                size: node.file.map(|file| file.size),
                sha256: node.file.map(|file| hex(&file.digest)),
                tokens: if is_source { tokens.next().filter(|tokens| *tokens > 0) } else { None },
                description: node.description.as_deref().filter(|_| !self.held_back.contains(&index)),
                is_test: is_source && stan_rank::is_test(&node.id),
                ecosystem: package.map(|package| package.ecosystem),
                package: package.map(|package| &*package.name),
                version: package.and_then(|package| package.version.as_deref()),
            });
        }
        table
    }

    fn edges(&self) -> Table {
        let graph = &self.detailed.graph;
        let finder = self.detailed.names();
        let mut table = Table::of::<EdgeRow<'_>>();
        let nodes: Vec<u32> = graph.indices().collect();
        for nodes in nodes.chunks(MAX_FILES_AT_ONCE) {
            let taken: Vec<TakenNames<'_>> = nodes.par_iter().map(|node| self.taken(&finder, *node)).collect();
            for (node, mut taken) in nodes.iter().zip(taken) {
                // Imported names are text of the file, too.
                if self.held_back.contains(node) {
                    taken.clear();
                }
                for edge in graph.edges(*node) {
                    table.push(&EdgeRow {
                        source: &graph.node(*node).id,
                        target: &graph.node(edge.target).id,
                        kind: edge.kind.as_str(),
                        resolution: edge.resolution.as_str(),
                        names: taken.get(&edge.target).map(Vec::as_slice).unwrap_or_default(),
                    });
                }
            }
        }
        table
    }

    /// The names that a file imports, also from missing modules, where they are found by specifier.
    fn taken<'d>(&'d self, finder: &NameFinder<'d>, node: u32) -> TakenNames<'d> {
        let graph = &self.detailed.graph;
        let mut taken = finder.taken(node);
        let is_missing = |target: u32| graph.node(target).kind == NodeKind::Missing;
        let missing = graph.edges(node).iter().map(|edge| edge.target).filter(|target| is_missing(*target));
        let missing: FxHashMap<&str, u32> = missing.map(|target| (&*graph.node(target).id, target)).collect();
        let Some(facts) = self.detailed.facts(node).filter(|_| !missing.is_empty()) else { return taken };
        let mut found: FxHashMap<u32, Vec<&'d str>> = FxHashMap::default();
        for import in &facts.imports {
            let request = facts.requests.get(import.request as usize);
            if let Some(target) = request.and_then(|request| missing.get(&*request.specifier)) {
                found.entry(*target).or_default().push(&import.name);
            }
        }
        found.values_mut().for_each(|names| {
            names.sort_unstable();
            names.dedup();
        });
        taken.extend(found);
        taken
    }

    fn exports(&self) -> Table {
        let graph = &self.detailed.graph;
        let mut table = Table::of::<ExportRow<'_>>();
        for node in self.sources.iter().filter(|node| !self.held_back.contains(node)) {
            if let Some(facts) = self.detailed.facts(*node) {
                offer(&mut table, &graph.node(*node).id, facts);
            }
        }
        table
    }

    fn packages(&self) -> Table {
        let mut table = Table::of::<PackageRow<'_>>();
        for (package, files) in self.packages.own.iter().zip(self.packages.own_files(self.detailed)) {
            table.push(&PackageRow {
                name: &package.name,
                version: package.version.as_deref(),
                ecosystem: Some(package.ecosystem),
                role: "own",
                folder: Some(&package.folder),
                files,
            });
        }
        for (package, files) in self.packages.used(self.detailed) {
            table.push(&PackageRow {
                name: &package.name,
                version: package.version.as_deref(),
                ecosystem: Some(package.ecosystem),
                role: "used",
                folder: None,
                files,
            });
        }
        table
    }
}

fn declare(table: &mut Table, file: &str, outline: &Outline) {
    let mut depths: Vec<u64> = Vec::with_capacity(outline.units.len());
    for (unit, index) in outline.units.iter().zip(0..) {
        let depth = unit.parent.map_or(0, |parent| depths.get(parent.0 as usize).map_or(0, |depth| depth + 1));
        depths.push(depth);
        table.push(&DeclarationRow {
            file,
            name: &outline.path(UnitId(index)),
            kind: unit.kind.as_str(),
            exported: unit.exported,
            depth,
            start_line: u64::from(unit.lines.from),
            end_line: u64::from(unit.lines.to),
        });
    }
}

/// The names that a file exports. In languages without exports, the names that it declares.
fn offer(table: &mut Table, file: &str, facts: &FileFacts) {
    let written = |request: u32| facts.requests.get(request as usize).map(|request| &*request.specifier);
    for export in &facts.exports {
        let request = match &export.source {
            ExportSource::Local => None,
            ExportSource::Name { request, .. } | ExportSource::Namespace { request } => written(*request),
        };
        let origin = if export.source == ExportSource::Local { "local" } else { "reexport" };
        table.push(&ExportRow { file, name: &export.name, origin, request });
    }
    for star in &facts.stars {
        table.push(&ExportRow { file, name: "*", origin: "reexport", request: written(*star) });
    }
    if facts.exports.is_empty() {
        for name in &facts.declares {
            table.push(&ExportRow { file, name, origin: "local", request: None });
        }
    }
}

fn hex(digest: &Digest) -> String {
    digest.to_string()
}

fn files_of(count: u64) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
