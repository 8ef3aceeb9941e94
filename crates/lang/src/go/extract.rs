//! Extraction: the bytes of one Go file → `FileFacts` and problems. A pure function of its input.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use stan_model::facts::{FormCode, ImportedName, Request};
use stan_model::{EdgeKind, FileFacts, FileProblem};

use super::name_table::NameId;
use super::names::{Origin, Uses, collect, parse_bodies};
use super::syntax::{File, Import, What};
use crate::decode;
use crate::language::Extraction;
use crate::line_counter::LineCounter;
use crate::name_order::in_order;

/// The maximum number of names recorded per dot import, which bounds the work. Real files have few of either.
const MAX_NAMES_PER_DOT_IMPORT: usize = 1 << 10;

pub fn extract(bytes: &[u8]) -> Extraction {
    let decoded = decode::decode(bytes);
    let mut extraction = decoded.text.as_deref().map(of_text).unwrap_or_default();
    if let Some(problem) = decoded.problem {
        extraction.problems.insert(0, FileProblem::new(problem));
        extraction.incomplete = true;
    }
    extraction
}

/// Only parses the file, like [`extract`]: a lower bound to measure extraction against.
pub fn parse_only(text: &str) -> usize {
    let file = File::read(text);
    file.declarations.len() + file.imports.len() + parse_bodies(&file)
}

/// Only lexes and parses the top level: a lower bound even for a parser, which also parses bodies.
pub fn tokens_only(text: &str) -> usize {
    let file = File::read(text);
    file.declarations.len() + file.imports.len()
}

fn of_text(text: &str) -> Extraction {
    if u32::try_from(text.len()).is_err() {
        let problems = vec![FileProblem::new("is larger than 4 GiB; nothing was read from it")];
        return Extraction { problems, incomplete: true, ..Extraction::default() };
    }
    let file = File::read(text);
    let mut uses = Uses::of_file(&file);
    let mut facts = FileFacts { package: file.package.map(Into::into), ..FileFacts::default() };
    let locals = requests(&file, &mut uses, &mut facts);
    let declares = declared(&file, &mut uses);
    file.declarations.iter().for_each(|declaration| collect(&file, declaration, &mut uses));
    names(&uses, &locals, &mut facts);
    facts.declares = declares.into_iter().map(Into::into).collect();
    let mut extraction = Extraction { facts, ..Extraction::default() };
    if let Some(position) = file.error {
        let line = LineCounter::new(text).line_at(position);
        let message = "does not parse: expected a declaration; what could be read of the file counts";
        extraction.problems.push(FileProblem::at(line, message));
        extraction.incomplete = true;
    }
    extraction
}

/// The requests by the name that they bind.
#[derive(Default)]
struct Locals {
    /// By [`NameId`]: imports are added first, so their ids are the smallest.
    named: Vec<SmallVec<[u32; 2]>>,
    /// Some name has several requests, so edges may be recorded twice.
    repeats: bool,
    /// The requests of dot imports.
    dots: Vec<u32>,
}

/// Records the imports, and the local names that they may bind.
fn requests<'t>(file: &File<'t>, uses: &mut Uses<'t>, facts: &mut FileFacts) -> Locals {
    let mut lines = LineCounter::new(file.text);
    let mut by_path: FxHashMap<&str, u32> = FxHashMap::default();
    by_path.reserve(file.imports.len());
    facts.requests.reserve(file.imports.len());
    let mut locals = Locals::default();
    for import in file.imports.iter().filter(|import| import.path != "C") {
        let next = facts.requests.len() as u32;
        let request = *by_path.entry(import.path).or_insert(next);
        if request == next {
            let line = lines.line_at(import.position);
            let specifier = import.path.into();
            facts.requests.push(Request { specifier, kind: EdgeKind::Runtime, form: FormCode(0), line });
        }
        for name in local_names(import) {
            if name == "." {
                locals.dots.push(request);
                continue;
            }
            let id = uses.know(name, Origin::Import).0 as usize;
            if id >= locals.named.len() {
                locals.named.resize_with(id + 1, SmallVec::new);
            }
            locals.named[id].push(request);
            locals.repeats |= locals.named[id].len() > 1;
        }
    }
    locals
}

/// The names that an import may bind: its alias, or names derived from its path. The real name is in the package clause, which is
/// in another file.
pub(super) fn local_names<'t>(import: &Import<'t>) -> SmallVec<[&'t str; 4]> {
    match import.alias {
        Some("_") => return SmallVec::new(),
        Some(alias) => return smallvec![alias],
        None => {}
    }
    let mut parts = import.path.rsplit('/');
    let mut last = parts.next().unwrap_or_default();
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut names = smallvec![last];
    if !is_version(last) && !last.bytes().any(|byte| matches!(byte, b'-' | b'.')) {
        return names;
    }
    if is_version(last) {
        last = parts.next().unwrap_or(last);
        names.push(last);
    }
    // `gopkg.in/yaml.v3`, `go-isatty`, `yaml-go`, `go.uuid`, `mapstructure.go`.
    let last = last.split(".v").next().unwrap_or(last);
    let trimmed =
        last.trim_start_matches("go-").trim_start_matches("go.").trim_end_matches("-go").trim_end_matches(".go");
    names.extend([last, trimmed]);
    names.extend(trimmed.rsplit(['-', '.']).next());
    names.extend(trimmed.split(['-', '.']).next());
    names.dedup();
    names
}

/// The names that the file declares at package level, sorted.
fn declared<'t>(file: &File<'t>, uses: &mut Uses<'t>) -> Vec<&'t str> {
    let declared = file.declarations.iter().filter(|declaration| declaration.what != What::Method);
    let names = declared.flat_map(|declaration| declaration.names.iter().map(|(name, _)| *name));
    let names = names.filter(|name| !matches!(*name, "_" | "init")).inspect(|name| {
        uses.know(name, Origin::Declared);
    });
    let mut declares = in_order(names);
    declares.dedup();
    declares
}

fn names(uses: &Uses<'_>, locals: &Locals, facts: &mut FileFacts) {
    let mut taken: FxHashSet<(u32, NameId)> = FxHashSet::default();
    let repeats = uses.repeats || locals.repeats;
    for (qualifier, name) in &uses.qualified {
        let Some(text) = uses.table.get(*name).map(|entry| entry.name) else { continue };
        for request in locals.named.get(qualifier.0 as usize).into_iter().flatten() {
            if !repeats || taken.insert((*request, *name)) {
                facts.imports.push(ImportedName { request: *request, name: text.into(), kind: EdgeKind::Runtime });
            }
        }
    }
    let entries = uses.names.iter().filter_map(|id| uses.table.get(*id));
    let others = entries.filter(|entry| !entry.is_declared && !entry.is_import).map(|entry| entry.name);
    let used = in_order(others.filter(|name| !is_predeclared(name)));
    // An exported name may come from any dot import.
    for request in &locals.dots {
        let exported = used.iter().filter(|name| name.chars().next().is_some_and(char::is_uppercase));
        let taken =
            exported.map(|name| ImportedName { request: *request, name: (*name).into(), kind: EdgeKind::Runtime });
        facts.imports.extend(taken.take(MAX_NAMES_PER_DOT_IMPORT));
    }
    facts.uses = used.into_iter().map(Into::into).collect();
}

/// Predeclared identifiers that packages do not redeclare in practice. Excludes names such as `min`, `max` and `clear`, which are
/// newer than much code that declares them.
pub(super) fn is_predeclared(name: &str) -> bool {
    matches!(
        name,
        "append"
            | "bool"
            | "byte"
            | "cap"
            | "complex128"
            | "complex64"
            | "error"
            | "false"
            | "float32"
            | "float64"
            | "int"
            | "int16"
            | "int32"
            | "int64"
            | "int8"
            | "iota"
            | "len"
            | "make"
            | "nil"
            | "panic"
            | "rune"
            | "string"
            | "true"
            | "uint"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uint8"
    )
}

/// All predeclared identifiers, which are never reported as missing.
pub(super) fn is_universal(name: &str) -> bool {
    #[rustfmt::skip]
    const OTHERS: [&str; 16] = [
        "any", "clear", "close", "comparable", "complex", "copy", "delete", "imag", "max", "min", "new", "print", "println", "real",
        "recover", "uintptr",
    ];
    is_predeclared(name) || OTHERS.binary_search(&name).is_ok()
}
