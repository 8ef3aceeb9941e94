//! Which files go into an archive (spec 30 §2): the base, the selected files, and the precedence of rules. Decides by names and links;
//! whether a file is binary is found when it is read.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use stan_graph::{Map, Selection};
use stan_model::{NodeKind, is_installed};
use stan_repo::{PathGlobs, ScanOptions, System, Universe, scan, scan_top};

use super::defaults::Defaults;
use super::layout::{Artefact, WorkspaceLayout};
use super::locate::{Located, Locator};
use super::reports::ABSENT_FILE;
use super::walk::{Walked, walk};
use crate::init::system_document;

/// Where the bytes of an archived file come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Written by this run.
    Bytes(Arc<Vec<u8>>),
    /// A file of the repository, by its real root-relative path.
    File(String),
    /// A file elsewhere, by its absolute path: an import that is planned and not yet staged.
    Elsewhere(String),
    /// An external that staging proves.
    Staged,
}

/// One file that may go into the archive under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) origin: Origin,
    pub(crate) in_base: bool,
    pub(crate) in_closure: bool,
}

/// A file that was requested and is left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LeftOut {
    pub(crate) path: String,
    pub(crate) reason: String,
    /// Selecting it by path brings it back.
    pub(crate) is_default: bool,
}

/// The files of an archive by their names in it.
#[derive(Debug, Default)]
pub(crate) struct Allowlist {
    pub(crate) files: BTreeMap<String, Allowed>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) warnings: Vec<String>,
}

impl Allowlist {
    /// Adds a document that this run writes.
    pub(crate) fn add_document(&mut self, path: String, bytes: Arc<Vec<u8>>) {
        self.files.insert(path, Allowed { origin: Origin::Bytes(bytes), in_base: true, in_closure: false });
    }

    /// Leaves out a file whose name other systems could unpack elsewhere, with a warning. It stays a node of the map.
    pub(crate) fn refuses_name(&mut self, path: &str) -> bool {
        let Some(reason) = stan_archive::windows_hazard(path) else { return false };
        self.warnings.push(format!("`{path}` is left out of the archive: {reason}"));
        self.left_out.push(LeftOut { path: path.to_owned(), reason: reason.to_owned(), is_default: false });
        true
    }
}

impl Allowlist {
    /// Leaves out files of packages that lock files do not prove, with the reason.
    pub(crate) fn leave_out_unproved(&mut self, unproved: BTreeMap<String, String>) {
        for (path, reason) in unproved {
            self.warnings.push(format!("`{path}` is not staged: {reason}"));
            self.left_out.push(LeftOut { path, reason, is_default: false });
        }
        self.left_out.sort_unstable();
    }
}

/// Where the assistant's instructions are.
pub(crate) fn instructions_path(layout: &WorkspaceLayout) -> String {
    layout.own("system/stan.system.md")
}

/// The inputs of the rules.
pub(crate) struct Rules<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) layout: &'a WorkspaceLayout,
    pub(crate) scan: &'a ScanOptions,
    /// The config's `excludes`.
    pub(crate) excludes: &'a PathGlobs,
}

/// The documents that every context archive holds.
pub(crate) struct Documents {
    /// Absent when it is too large for an archive.
    pub(crate) meta: Option<Arc<Vec<u8>>>,
    pub(crate) overview: Option<Arc<Vec<u8>>>,
    pub(crate) state: Arc<Vec<u8>>,
}

/// A plain run: everything that the configuration selects.
pub(crate) fn whole_repository(rules: &Rules<'_>) -> Allowlist {
    let mut builder = Builder::new(rules);
    builder.folder("system");
    builder.folder("imports");
    let universe = scan(rules.system, Path::new(rules.layout.root()), rules.scan);
    builder.universe(universe, |_| true);
    builder.finish()
}

/// A run that opens a thread: instructions, map, empty selection, and the files in the root.
pub(crate) fn thread_opener(rules: &Rules<'_>, documents: Documents, top: Universe) -> Allowlist {
    let mut builder = Builder::new(rules);
    builder.folder("system");
    builder.instructions();
    builder.documents(documents);
    builder.top(top);
    builder.finish()
}

/// A context run: the base and the selected closure.
pub(crate) fn selected(
    rules: &Rules<'_>,
    documents: Documents,
    top: Universe,
    map: &Map,
    selection: &Selection,
) -> Allowlist {
    let mut builder = Builder::new(rules);
    builder.folder("system");
    builder.instructions();
    builder.folder("imports");
    builder.documents(documents);
    builder.top(top);
    builder.closure(map, selection);
    builder.finish()
}

/// The selected closure alone, without the base.
pub(crate) fn closure(rules: &Rules<'_>, map: &Map, selection: &Selection) -> Allowlist {
    let mut builder = Builder::new(rules);
    builder.closure(map, selection);
    builder.finish()
}

/// The entries of the root folder itself. Needs no map, so that the scan can run while one is made.
pub(crate) fn top_of(rules: &Rules<'_>) -> Universe {
    scan_top(rules.system, Path::new(rules.layout.root()), rules.scan)
}

struct Builder<'a> {
    rules: &'a Rules<'a>,
    locator: Locator<'a>,
    list: Allowlist,
}

impl<'a> Builder<'a> {
    fn new(rules: &'a Rules<'a>) -> Self {
        Self { rules, locator: Locator::new(rules.system, rules.layout), list: Allowlist::default() }
    }

    /// A folder of stan's own that is always in, whatever ignore rules say.
    fn folder(&mut self, name: &str) {
        let layout = self.rules.layout;
        let folder = layout.own(name);
        let walked = walk(self.rules.system, layout, &mut self.locator, &folder, &mut self.list.warnings);
        let docs = layout.own("system/.docs.meta.json");
        for Walked { path, real } in walked {
            if path == docs {
                continue;
            }
            match layout.denial(&path).or_else(|| layout.denial(&real)) {
                Some(reason) => self.leave_out(&path, reason),
                None => self.add(path, Origin::File(real), true),
            }
        }
    }

    fn documents(&mut self, documents: Documents) {
        let layout = self.rules.layout;
        let Documents { meta, overview, state } = documents;
        for (artefact, bytes) in
            [(Artefact::Meta, meta), (Artefact::Overview, overview), (Artefact::State, Some(state))]
        {
            if let Some(bytes) = bytes {
                self.add(layout.artefact(artefact), Origin::Bytes(bytes), true);
            }
        }
    }

    /// A repository without instructions for the assistant gets the shipped ones.
    fn instructions(&mut self) {
        let path = instructions_path(self.rules.layout);
        if !self.list.files.contains_key(&path) {
            let shipped = system_document(self.rules.layout.stan_path());
            self.add(path, Origin::Bytes(Arc::new(shipped.into_bytes())), true);
        }
    }

    /// The files that lie in the root itself.
    fn top(&mut self, top: Universe) {
        self.universe(top, |path| !path.contains('/'));
    }

    /// Files and links of the universe whose own name is wanted.
    fn universe(&mut self, universe: Universe, wanted: impl Fn(&str) -> bool) {
        let Universe { files, aliases, problems, .. } = universe;
        let reported = problems.iter().map(ToString::to_string);
        self.list.warnings.extend(reported);
        let own = files.into_iter().map(|path| (path.clone(), path));
        let defaults = Defaults::new(self.rules);
        for (path, real) in own.chain(aliases).filter(|(path, _)| wanted(path)) {
            let denial = self.rules.layout.denial(&path).or_else(|| self.rules.layout.denial(&real));
            if let Some(reason) = denial {
                self.leave_out(&path, reason);
            } else if path != real && self.list.files.contains_key(&*real) {
                self.leave_out(&path, &format!("it is a link to `{real}`, which is in the archive"));
            } else if let Some(reason) = defaults.reason(self.rules, &path, &real) {
                let reason = reason.to_owned();
                self.list.left_out.push(LeftOut { path: path.into_string(), reason, is_default: true });
            } else {
                self.add(path.into_string(), Origin::File(real.into_string()), true);
            }
        }
    }

    fn closure(&mut self, map: &Map, selection: &Selection) {
        for &index in &selection.selected {
            let id = map.id(index);
            match map.kind(index) {
                NodeKind::External => self.external(id),
                NodeKind::Source => self.explicit(id, true),
                NodeKind::Builtin | NodeKind::Missing => {}
            }
        }
        for id in &selection.unknown {
            self.explicit(id, false);
        }
    }

    fn external(&mut self, id: &str) {
        self.add(id.to_owned(), Origin::Staged, false);
    }

    /// A file that the selection names: over ignore rules, but not over denials and excludes.
    fn explicit(&mut self, path: &str, is_known: bool) {
        let layout = self.rules.layout;
        let documents = [Artefact::Meta, Artefact::Overview, Artefact::State].map(|artefact| layout.artefact(artefact));
        if documents.iter().any(|document| document == path) {
            return;
        }
        if let Some(reason) = self.refusal(path) {
            return self.leave_out(path, reason);
        }
        match self.locator.locate(path) {
            Located::File(real) => match layout.denial(&real) {
                Some(reason) => self.leave_out(path, reason),
                None if is_installed(&real) || layout.is_staged(&real) => self.leave_out(path, UNVERIFIED),
                None => self.add(path.to_owned(), Origin::File(real), false),
            },
            Located::NotAFile => self.leave_out(path, "it is not a file: name the files themselves"),
            Located::Outside => self.leave_out(path, "a link leads out of the repository or nowhere"),
            Located::Missing if is_known => self.leave_out(path, "it is in the map but no longer on the disk"),
            // The selection has warned that the map does not know it; there is nothing to add to that.
            Located::Missing => self.leave_out(path, ABSENT_FILE),
        }
    }

    fn refusal(&self, path: &str) -> Option<&'static str> {
        let layout = self.rules.layout;
        if let Some(reason) = layout.denial(path) {
            return Some(reason);
        }
        if layout.is_staged(path) || is_installed(path) {
            return Some(UNVERIFIED);
        }
        let excluded = layout.below_stan_path(path).is_none() && self.rules.excludes.is_match(path);
        excluded.then_some("`excludes` of the configuration removes it")
    }

    fn add(&mut self, path: String, origin: Origin, is_base: bool) {
        if self.list.refuses_name(&path) {
            return;
        }
        let fresh = Allowed { origin, in_base: false, in_closure: false };
        let allowed = self.list.files.entry(path).or_insert(fresh);
        if is_base {
            allowed.in_base = true;
        } else {
            allowed.in_closure = true;
        }
    }

    fn leave_out(&mut self, path: &str, reason: &str) {
        self.list.left_out.push(LeftOut { path: path.to_owned(), reason: reason.to_owned(), is_default: false });
    }

    fn finish(mut self) -> Allowlist {
        // The selection brings back what is left out by default.
        let files = &self.list.files;
        self.list.left_out.retain(|file| !files.contains_key(&file.path));
        self.list.left_out.sort_unstable();
        self.list.left_out.dedup();
        self.list.warnings.sort_unstable();
        self.list.warnings.dedup();
        self.list
    }
}

const UNVERIFIED: &str =
    "files of packages are archived only as nodes of the map, verified: select their `context/npm/…` node";
