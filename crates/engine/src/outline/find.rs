//! Words in names, paths and lines. Every file is searched as text; only files that have all words are parsed.

use std::path::Path;

use rayon::prelude::*;
use stan_lang::Languages;
use stan_model::outline::UnitId;
use stan_repo::{System, SystemExt as _};

use super::{AnswerSize, FindReport, FoundLine, MAX_BYTES, SymbolDeclaration, absolute, one_line, scan};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::secrets::secrets_of;

/// Lines of one file that are found; more say nothing new.
const MOST_LINES: usize = 20;

/// Longer lines are cut.
const LONGEST: usize = 160;

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct FindRequest {
    pub words: Vec<String>,
    pub size: AnswerSize,
}

/// What one file has of the words.
#[derive(Default)]
struct InFile {
    symbols: Vec<(u32, SymbolDeclaration)>,
    path: Option<(u32, String)>,
    lines: Vec<FoundLine>,
}

/// Declarations, paths and lines with all of the words; with any of them when nothing has all.
pub fn find(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &FindRequest,
) -> Result<FindReport, EngineError> {
    let system = engine.system();
    let words: Vec<String> =
        request.words.iter().flat_map(|word| word.split_whitespace()).map(str::to_lowercase).collect();
    if words.is_empty() {
        return Err(EngineError::input("there is no word to look for"));
    }
    engine.parse(|| {
        let universe = scan(system, repository);
        let search = |all: bool| {
            let files = universe.files.par_iter();
            files.map(|file| in_file(system, repository, file, &words, all)).collect::<Vec<InFile>>()
        };
        let is_empty = |found: &[InFile]| {
            found.iter().all(|file| file.symbols.is_empty() && file.path.is_none() && file.lines.is_empty())
        };
        let mut found = search(true);
        let partial = words.len() > 1 && is_empty(&found);
        if partial {
            found = search(false);
        }
        if is_empty(&found) {
            let shown: Vec<String> = request.words.iter().map(|word| format!("`{word}`")).collect();
            return Err(EngineError::input(format!("nothing in the repository has {}", shown.join(", "))));
        }
        Ok(shown(found, partial, request.size))
    })
}

/// How well a name fits; lower is better. `None` when it does not have the words.
fn score(name: &str, words: &[String], all: bool) -> Option<u32> {
    let lower = name.to_lowercase();
    let found = words.iter().filter(|word| lower.contains(word.as_str())).count();
    let enough = if all { found == words.len() } else { found > 0 };
    if !enough {
        return None;
    }
    let missing = (words.len() - found) as u32 * 1_000;
    let near = match words {
        [word] if lower == *word => 0,
        [word] if lower.starts_with(word.as_str()) => 1,
        _ => 2,
    };
    Some(missing + near * 100 + (lower.len() as u32).min(99))
}

fn in_file(system: &dyn System, repository: &Repository<'_>, file: &str, words: &[String], all: bool) -> InFile {
    let mut found = InFile { path: score(file, words, all).map(|score| (score, file.to_owned())), ..InFile::default() };
    let mut bytes = Vec::new();
    if system.read_real(Path::new(&absolute(repository.root, file)), MAX_BYTES, &mut bytes).is_err() {
        return found;
    }
    let prefix = bytes.get(..8192).unwrap_or(&bytes);
    if memchr::memchr(0, prefix).is_some() {
        return found;
    }
    let text = String::from_utf8_lossy(&bytes);
    let lower = text.to_lowercase();
    let has = words.iter().filter(|word| lower.contains(word.as_str())).count();
    if has == 0 || (all && has < words.len()) || secrets_of(repository.config, file, &bytes).is_some() {
        return found;
    }
    let fits = |line: &str| {
        let line = line.to_lowercase();
        let count = words.iter().filter(|word| line.contains(word.as_str())).count();
        if all { count == words.len() } else { count > 0 }
    };
    for (line, number) in text.lines().zip(1_u32..).filter(|(line, _)| fits(line)).take(MOST_LINES) {
        let bare = line.trim();
        let end = bare.char_indices().nth(LONGEST).map_or(bare.len(), |(at, _)| at);
        let mut text = bare.get(..end).unwrap_or_default().to_owned();
        if end < bare.len() {
            text.push('…');
        }
        found.lines.push(FoundLine { file: file.to_owned(), line: number, text });
    }
    found.symbols = symbols(file, &bytes, words, all);
    found
}

fn symbols(file: &str, bytes: &[u8], words: &[String], all: bool) -> Vec<(u32, SymbolDeclaration)> {
    let Some(language) = Languages::all().declarations(file) else { return Vec::new() };
    let Some(text) = language.text_of(bytes) else { return Vec::new() };
    let outline = language.outline(file, &text);
    let mut found = Vec::new();
    for (unit, index) in outline.units.iter().zip(0..) {
        let best = unit.names.iter().filter_map(|name| score(&name.text, words, all)).min();
        let Some(best) = best else { continue };
        found.push((
            best,
            SymbolDeclaration {
                file: file.to_owned(),
                line: unit.name_line(),
                start_line: unit.lines.from,
                end_line: unit.lines.to,
                name: outline.path(UnitId(index)),
                kind: unit.kind.as_str(),
                exported: unit.exported,
                signature: one_line(&text, unit),
            },
        ));
    }
    found
}

/// Takes declarations, then paths, then lines, while they fit.
fn shown(found: Vec<InFile>, partial: bool, size: AnswerSize) -> FindReport {
    let mut symbols = Vec::new();
    let mut paths = Vec::new();
    let mut lines = Vec::new();
    for file in found {
        symbols.extend(file.symbols);
        paths.extend(file.path);
        lines.extend(file.lines);
    }
    // Stable: files are in the order of their paths.
    symbols.sort_by_key(|(score, one)| (*score, !one.exported));
    paths.sort_by_key(|(score, _)| *score);
    let all = symbols.len() + paths.len() + lines.len();
    let mut left = size.bytes();
    let mut take = |cost: usize, count: &mut usize| {
        let fits = size.limit.is_none_or(|limit| *count < limit) && cost as u64 <= left;
        if fits {
            left -= cost as u64;
            *count += 1;
        }
        fits
    };
    let mut report = FindReport { partial, ..FindReport::default() };
    let mut count = 0;
    for (_, one) in symbols {
        if !take(one.file.len() + one.signature.len() + 16, &mut count) {
            break;
        }
        report.symbols.push(one);
    }
    count = 0;
    for (_, path) in paths {
        if !take(path.len() + 4, &mut count) {
            break;
        }
        report.paths.push(path);
    }
    count = 0;
    for line in lines {
        if !take(line.file.len() + line.text.len() + 12, &mut count) {
            break;
        }
        report.lines.push(line);
    }
    report.cut = (all - report.symbols.len() - report.paths.len() - report.lines.len()) as u64;
    report
}
