//! Searches words in names, paths and lines. Every file is searched as text; only files that contain all words are parsed, and
//! their outlines are cached for the next search.

use std::path::Path;

use memchr::memmem::Finder;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use stan_lang::Languages;
use stan_model::outline::{Unit, UnitId};
use stan_rank::is_test;
use stan_repo::{System, SystemExt as _};
use stan_secrets::{credential_file, scan_file};

use super::{AnswerSize, FindReport, FoundLine, MAX_BYTES, SymbolDeclaration, absolute, one_line, scan};
use crate::cache::{KeptOutlines, OutlineView, StoredOutline, StoredUnit};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::{GraphRequest, open_cache};
use crate::secrets::secrets_of;

/// Further matching lines of a file are dropped.
const MAX_LINES: usize = 20;

/// This many lines of each file are shown before further lines of any.
const FIRST_LINES: usize = 4;

/// Longer lines are truncated.
const MAX_LINE_CHARS: usize = 160;

/// The words to search for.
#[derive(Clone, Debug, Default)]
pub struct FindRequest {
    pub words: Vec<String>,
    pub size: AnswerSize,
    /// The cache for outlines.
    pub work: GraphRequest,
}

/// The words in lower case, and their searchers.
struct Words {
    texts: Vec<String>,
    finders: Vec<Finder<'static>>,
    are_ascii: bool,
}

impl Words {
    fn new(texts: Vec<String>) -> Self {
        let finders = texts.iter().map(|word| Finder::new(word).into_owned()).collect();
        let are_ascii = texts.iter().all(|word| word.is_ascii());
        Self { texts, finders, are_ascii }
    }

    /// The text in lower case, as far as these words can match it.
    fn lowered(&self, text: &str) -> String {
        // The only non-ASCII letters whose lower case is ASCII: dotted capital I and the Kelvin sign.
        const BECOME_ASCII: [char; 2] = ['\u{130}', '\u{212a}'];
        if text.is_ascii() || (self.are_ascii && !text.contains(BECOME_ASCII)) {
            return text.to_ascii_lowercase();
        }
        text.to_lowercase()
    }

    /// How many of the words a lower-case text contains.
    fn in_lowered(&self, text: &str) -> usize {
        self.finders.iter().filter(|finder| finder.find(text.as_bytes()).is_some()).count()
    }
}

/// The matches of one file.
#[derive(Default)]
struct InFile {
    symbols: Vec<(u32, SymbolDeclaration)>,
    path: Option<(u32, String)>,
    lines: Vec<FoundLine>,
}

/// Declarations, paths and lines with all of the words, or with any of them if none has all.
pub fn find(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &FindRequest,
) -> Result<FindReport, EngineError> {
    let system = engine.system();
    let words: Vec<String> =
        request.words.iter().flat_map(|word| word.split_whitespace()).map(str::to_lowercase).collect();
    if words.is_empty() {
        return Err(EngineError::input("there is no word to search for").hint("name at least one word"));
    }
    let words = Words::new(words);
    let options = repository.config.graph_options(repository.root);
    let outlines = KeptOutlines::load(open_cache(system, &options, &request.work));
    let found = engine.parse(|| {
        let universe = scan(system, repository);
        let view = outlines.view();
        let search = |all: bool| {
            let files = universe.files.par_iter();
            let search = |file| FileSearch { system, repository, words: &words, all, outlines: &view }.in_file(file);
            files.map(|file| search(file)).collect::<Vec<InFile>>()
        };
        let is_empty = |found: &[InFile]| {
            found.iter().all(|file| file.symbols.is_empty() && file.path.is_none() && file.lines.is_empty())
        };
        let mut found = search(true);
        let partial = words.texts.len() > 1 && is_empty(&found);
        if partial {
            found = search(false);
        }
        if is_empty(&found) {
            let shown: Vec<String> = request.words.iter().map(|word| format!("`{word}`")).collect();
            return Err(EngineError::input(format!("nothing in the repository has {}", shown.join(", "))));
        }
        Ok(shown(found, partial, request.size))
    });
    outlines.save();
    found
}

/// How well a name matches; lower is better. `None` if it lacks the required words.
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

/// A search over files, with its inputs.
struct FileSearch<'l> {
    system: &'l dyn System,
    repository: &'l Repository<'l>,
    words: &'l Words,
    all: bool,
    outlines: &'l OutlineView<'l>,
}

impl FileSearch<'_> {
    fn in_file(&self, file: &str) -> InFile {
        let Self { repository, words, all, .. } = *self;
        let path = score(file, &words.texts, all).map(|score| (score, file.to_owned()));
        let mut found = InFile { path, ..InFile::default() };
        let mut bytes = Vec::new();
        if self.system.read_real(Path::new(&absolute(repository.root, file)), MAX_BYTES, &mut bytes).is_err() {
            return found;
        }
        let prefix = bytes.get(..8192).unwrap_or(&bytes);
        if memchr::memchr(0, prefix).is_some() {
            return found;
        }
        let text = String::from_utf8_lossy(&bytes);
        let lower = words.lowered(&text);
        let has = words.in_lowered(&lower);
        if has == 0 || (all && has < words.texts.len()) {
            return found;
        }
        let outline = self.outlines.find_or_make(file, &bytes, || outline(file, &bytes));
        // Contents that were scanned before and are clean are not scanned again.
        if !outline.is_clean && secrets_of(repository.config, file, &bytes).is_some() {
            return found;
        }
        found.lines = self.lines(file, &text, &lower);
        found.symbols = self.symbols(file, outline);
        found
    }

    fn lines(&self, file: &str, text: &str, lower: &str) -> Vec<FoundLine> {
        let words = self.words;
        // Lower-casing does not change line boundaries.
        let mut lowered = lower.lines();
        let mut fits = |_: &str| {
            let count = words.in_lowered(lowered.next().unwrap_or_default());
            if self.all { count == words.texts.len() } else { count > 0 }
        };
        let mut found = Vec::new();
        for (line, number) in text.lines().zip(1_u32..).filter(|(line, _)| fits(line)).take(MAX_LINES) {
            let bare = line.trim();
            let end = bare.char_indices().nth(MAX_LINE_CHARS).map_or(bare.len(), |(at, _)| at);
            let mut text = bare.get(..end).unwrap_or_default().to_owned();
            if end < bare.len() {
                text.push('…');
            }
            found.push(FoundLine { file: file.to_owned(), line: number, text });
        }
        found
    }

    fn symbols(&self, file: &str, outline: StoredOutline) -> Vec<(u32, SymbolDeclaration)> {
        let mut found = Vec::new();
        for unit in outline.units {
            let best = unit.names.iter().filter_map(|name| score(name, &self.words.texts, self.all)).min();
            let Some(best) = best else { continue };
            let declaration = SymbolDeclaration {
                file: file.to_owned(),
                line: unit.line,
                start_line: unit.start_line,
                end_line: unit.end_line,
                name: unit.path,
                kind: unit.kind.as_str(),
                exported: unit.exported,
                signature: unit.signature,
            };
            found.push((best, declaration));
        }
        found
    }
}

/// The searchable declarations of a file, and whether the file may be shown.
fn outline(file: &str, bytes: &[u8]) -> StoredOutline {
    let is_clean = credential_file(file).is_none() && scan_file(file, bytes).is_empty();
    let none = || StoredOutline { is_clean, units: Vec::new() };
    let Some(language) = Languages::all().declarations(file) else { return none() };
    let Some(text) = language.text_of(bytes) else { return none() };
    let outline = language.outline(file, &text);
    let unit = |(unit, index): (&Unit, u32)| StoredUnit {
        names: unit.names.iter().map(|name| name.text.to_string()).collect(),
        line: unit.name_line(),
        start_line: unit.lines.from,
        end_line: unit.lines.to,
        path: outline.path(UnitId(index)),
        kind: unit.kind,
        exported: unit.exported,
        signature: one_line(&text, unit),
    };
    StoredOutline { is_clean, units: outline.units.iter().zip(0..).map(unit).collect() }
}

/// The order of lines: code before documents before tests, and the first lines of each file before further lines of any.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LinePlace {
    is_more: bool,
    group: u8,
}

/// Lines in order of usefulness, and the number of lines dropped because a shown declaration already contains them.
fn useful_lines(lines: Vec<FoundLine>, symbols: &[SymbolDeclaration]) -> (Vec<(LinePlace, FoundLine)>, usize) {
    let declared: FxHashSet<(&str, u32)> = symbols.iter().map(|one| (&*one.file, one.line)).collect();
    let all = lines.len();
    let mut useful: Vec<(LinePlace, FoundLine)> = Vec::new();
    let (mut group, mut of_file) = (0, 0);
    for line in lines {
        if declared.contains(&(&*line.file, line.line)) {
            continue;
        }
        if useful.last().is_none_or(|(_, before)| before.file != line.file) {
            of_file = 0;
            let is_code = Languages::all().declarations(&line.file).is_some();
            group = if is_test(&line.file) { 2 } else { u8::from(!is_code) };
        }
        useful.push((LinePlace { is_more: of_file >= FIRST_LINES, group }, line));
        of_file += 1;
    }
    let repeated = all - useful.len();
    // A stable sort, because files are in path order.
    useful.sort_by_key(|(place, _)| *place);
    (useful, repeated)
}

/// Takes declarations, then paths, then lines, up to the budget.
fn shown(found: Vec<InFile>, partial: bool, size: AnswerSize) -> FindReport {
    let mut symbols = Vec::new();
    let mut paths = Vec::new();
    let mut lines = Vec::new();
    for file in found {
        symbols.extend(file.symbols);
        paths.extend(file.path);
        lines.extend(file.lines);
    }
    // A stable sort, because files are in path order.
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
    let (lines, declared) = useful_lines(lines, &report.symbols);
    let all = all - declared;
    let mut taken = Vec::new();
    for (place, line) in lines {
        if !take(line.file.len() + line.text.len() + 12, &mut count) {
            break;
        }
        taken.push((place, line));
    }
    // Group the lines of a file.
    taken.sort_by(|(left, one), (right, other)| {
        (left.group, &one.file, one.line).cmp(&(right.group, &other.file, other.line))
    });
    report.lines = taken.into_iter().map(|(_, line)| line).collect();
    report.cut = (all - report.symbols.len() - report.paths.len() - report.lines.len()) as u64;
    report
}
