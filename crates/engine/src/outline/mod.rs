//! The verbs `outline`, `symbol`, `read` and `find`: short answers about declarations. They only read source files: no graph, no
//! resolution.

mod find;
mod near;
mod read;
mod signature;
mod symbol;

use std::path::Path;

use rayon::prelude::*;
use stan_lang::Languages;
pub use stan_model::document::outline_reports::{
    FindReport, FoundLine, FoundSymbol, OutlineReport, OutlinedDeclaration, OutlinedFile, ReadItem, ReadReport,
    SymbolDeclaration, SymbolReport, SymbolUse,
};
use stan_model::outline::{LineStarts, Outline, UnitId};
use stan_repo::{AbsPath, System, SystemExt as _, Universe, read_failure};

use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::ExcludedFiles;
use crate::secrets::secrets_of;
pub use find::{FindRequest, find};
pub use read::{AskedText, ReadLevel, ReadRequest, read};
pub use symbol::{SymbolRequest, symbol};

pub(crate) use near::{near_files, near_modules, near_names};
pub(crate) use signature::one_line;

/// Larger files have no outline.
const MAX_BYTES: u64 = 64 << 20;

/// Estimated bytes per token. Code has 3 to 4, so real answers have fewer tokens than the estimate. Loading a real tokenizer
/// would take longer than computing the answer.
const BYTES_PER_TOKEN: u64 = 3;

/// The size limits of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerSize {
    /// In tokens; 0 for no limit.
    pub budget: u64,
    /// The most declarations (or declarations and uses) per file or symbol.
    pub limit: Option<usize>,
}

impl Default for AnswerSize {
    fn default() -> Self {
        Self { budget: 500, limit: None }
    }
}

impl AnswerSize {
    /// The budget in bytes.
    pub(crate) fn bytes(self) -> u64 {
        if self.budget == 0 { u64::MAX } else { self.budget.saturating_mul(BYTES_PER_TOKEN) }
    }
}

/// Which files to outline.
#[derive(Clone, Debug, Default)]
pub struct OutlineRequest {
    pub files: Vec<AskedFile>,
    pub size: AnswerSize,
}

/// A file that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedFile {
    /// As typed.
    pub shown: String,
    /// Root-relative, or absolute if it is outside the root.
    pub id: String,
}

/// The declarations of files, with line ranges and signatures.
pub fn outline(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &OutlineRequest,
) -> Result<OutlineReport, EngineError> {
    let system = engine.system();
    engine.parse(|| {
        let files: Vec<Result<Outlined, Unread>> =
            request.files.par_iter().map(|file| outlined(system, repository, file)).collect();
        let mut report = OutlineReport::default();
        let mut unknown = Vec::new();
        let mut left = request.size.bytes();
        for (file, asked) in files.into_iter().zip(&request.files) {
            match file {
                Ok(file) => {
                    let shown = shown(file, request.size.limit, &mut left);
                    report.cut += shown.cut;
                    report.files.push(shown);
                }
                Err(Unread::Missing) => unknown.push(asked),
                Err(Unread::Refused(warning)) => report.warnings.push(warning),
            }
        }
        report.warnings.sort_unstable();
        report.warnings.dedup();
        match unknown.as_slice() {
            [] => Ok(report),
            // Scan the repository only for the error, which suggests similar names.
            unknown => Err(unknown_files(&scan(system, repository), unknown)),
        }
    })
}

pub(crate) fn unknown_files(universe: &Universe, unknown: &[&AskedFile]) -> EngineError {
    let line = |file: &&AskedFile| {
        let near = near_files(&universe.files, &file.id);
        let near: Vec<String> = near.iter().map(|id| format!("`{id}`")).collect();
        let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        format!("`{}`{near}", file.shown)
    };
    EngineError::input("there is no such file").details(unknown.iter().map(line))
}

pub(crate) fn scan(system: &dyn System, repository: &Repository<'_>) -> Universe {
    let options = repository.config.graph_options(repository.root);
    stan_repo::scan(system, Path::new(repository.root), &options.scan)
}

/// The absolute path of a node id. The id of a file outside the root is absolute already.
pub(crate) fn absolute(root: &str, id: &str) -> String {
    if id.starts_with('/') { id.to_owned() } else { AbsPath::new(root).join(id) }
}

/// A file that was read.
struct Outlined {
    file: OutlinedFile,
    /// For each declaration, how early it is left out: 0 is left out last.
    ranks: Vec<u8>,
}

enum Unread {
    Missing,
    Refused(String),
}

/// Whether the configuration excludes a file, by its absolute path. Excluded files are in no answer for a model.
fn is_excluded(repository: &Repository<'_>, path: &str) -> bool {
    ExcludedFiles::new(&repository.config.graph_options(repository.root)).cover(path)
}

fn excluded(asked: &AskedFile) -> String {
    format!("{}: is excluded by the configuration", asked.shown)
}

/// Why a file that contains a secret is not shown.
fn held_back(repository: &Repository<'_>, asked: &AskedFile, bytes: &[u8]) -> Option<String> {
    let secrets = secrets_of(repository.config, &asked.id, bytes)?;
    let rule = secrets.hits.first().map(|hit| hit.rule.clone()).unwrap_or_default();
    Some(format!("{}: held back because of a secret ({rule}); --allow-secret shows it all the same", asked.shown))
}

fn outlined(system: &dyn System, repository: &Repository<'_>, asked: &AskedFile) -> Result<Outlined, Unread> {
    let mut bytes = Vec::new();
    let path = absolute(repository.root, &asked.id);
    if is_excluded(repository, &path) {
        return Err(Unread::Refused(excluded(asked)));
    }
    match system.read_real(Path::new(&path), MAX_BYTES, &mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(Unread::Missing),
        Err(error) => {
            return Err(Unread::Refused(format!("{}: cannot be read: {}", asked.shown, read_failure(&error))));
        }
    }
    let Some(language) = Languages::all().declarations(&asked.id) else {
        return Err(Unread::Refused(format!("{}: no outline for files of this kind", asked.shown)));
    };
    let Some(text) = language.text_of(&bytes) else {
        return Err(Unread::Refused(format!("{}: is not text", asked.shown)));
    };
    if let Some(warning) = held_back(repository, asked, &bytes) {
        return Err(Unread::Refused(warning));
    }
    let outline = language.outline(&asked.id, &text);
    Ok(described(&asked.id, &text, &outline))
}

fn described(id: &str, text: &str, outline: &Outline) -> Outlined {
    let mut ranks = Vec::with_capacity(outline.units.len());
    let mut declarations = Vec::with_capacity(outline.units.len());
    let mut depths: Vec<u32> = Vec::with_capacity(outline.units.len());
    for (unit, index) in outline.units.iter().zip(0..) {
        let depth = unit.parent.map_or(0, |parent| depths.get(parent.0 as usize).map_or(0, |depth| depth + 1));
        depths.push(depth);
        ranks.push(match (depth, unit.exported) {
            (0, true) => 0,
            (0, false) => 1,
            (_, true) => 2,
            (_, false) => 3,
        });
        declarations.push(OutlinedDeclaration {
            name: outline.path(UnitId(index)),
            kind: unit.kind.as_str(),
            start_line: unit.lines.from,
            end_line: unit.lines.to,
            depth,
            exported: unit.exported,
            signature: one_line(text, unit),
        });
    }
    let lines = LineStarts::new(text.strip_suffix('\n').unwrap_or(text)).count();
    let file = OutlinedFile { file: id.to_owned(), lines, incomplete: outline.incomplete, declarations, cut: 0 };
    Outlined { file, ranks }
}

/// Takes declarations up to the budget: exported ones first, members last. The result is in source order.
fn shown(outlined: Outlined, limit: Option<usize>, left: &mut u64) -> OutlinedFile {
    let Outlined { mut file, ranks } = outlined;
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|index| ranks[*index]);
    let mut taken = vec![false; ranks.len()];
    let mut count = 0;
    *left = left.saturating_sub(file.file.len() as u64 + 16);
    for index in order {
        let Some(declaration) = file.declarations.get(index) else { continue };
        let cost = declaration.signature.len() as u64 + 2 * u64::from(declaration.depth) + 12;
        // Stop at the first one that does not fit, so that a larger budget only adds declarations.
        if limit.is_some_and(|limit| count >= limit) || cost > *left {
            break;
        }
        *left -= cost;
        count += 1;
        taken[index] = true;
    }
    let all = file.declarations.len();
    let mut keep = taken.into_iter();
    file.declarations.retain(|_| keep.next().unwrap_or(false));
    file.cut = (all - file.declarations.len()) as u64;
    file
}
