//! Turns candidates into items: their text at each level, its cost, and what fits into the budget.

use std::collections::BTreeSet;
use std::rc::Rc;

use stan_model::document::pack::{PackItem, PackOmitted, PackVia};
use stan_model::outline::{LineStarts, Lines, Outline, Unit, UnitKind};
use stan_pack::{Candidate, Closure, Costs, FileId, FileKeeping, Focus, Level, Options, Shown, Via};
use stan_rank::TextWeights;

use super::files::{LoadedFile, PackFiles};
use super::passages::passages;
use super::sources::RankedFile;
use super::{ClosureKind, Externals, PackRequest};
use crate::tokens::Tokenizer;

/// A longer type is not shown whole.
const LONG: u32 = 40;

/// A class or interface with more members shows only those that are used.
const MAX_MEMBERS: usize = 30;

/// The limit for a type that a failing line names, because any of its members may be the cause.
const MAX_OPEN: usize = 60;

/// A longer comment is not shown with a declaration that the focus only uses.
const LONG_DOC: u32 = 8;

/// How many names the list of a module's exports has.
const MAX_EXPORTS: usize = 60;

/// How many ranked files are shown whole, if they are not large, before other files are shown as signatures.
const MAX_WHOLE: usize = 6;

/// For how many ranked files matching passages are shown.
const MAX_WITH_PASSAGES: usize = 12;

/// A larger file (in tokens) is not shown whole if other ranked files would have to be shortened for it.
const LARGE_FILE: u64 = 1_000;

/// Counts the tokens of items.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    pub(super) tokenizer: Tokenizer,
    /// The cost of an item besides its text.
    pub(super) item: u64,
}

impl Counter {
    pub(super) fn text(self, text: &str) -> u64 {
        self.tokenizer.count(text.as_bytes())
    }

    fn sized(self, shown: Shown) -> Sized {
        Sized { cost: self.text(&shown.text) + self.item, shown }
    }
}

/// A text and its cost as an item.
struct Sized {
    shown: Shown,
    cost: u64,
}

/// A potential item.
pub(super) struct Draft {
    loaded: Rc<LoadedFile>,
    file: FileId,
    kind: &'static str,
    name: String,
    name_line: u32,
    rank: u8,
    /// The reduction order: twice its rank, with files between ranks 3 and 4.
    turn: u8,
    via: Vec<Via>,
    /// Its text by level; a level without a text is never used.
    texts: Vec<(Level, Sized)>,
    wanted: Level,
    line_cost: u64,
    /// Shown whole only if everything else of the same turn fits too.
    is_spare: bool,
    /// The reason for leaving it out regardless of the budget.
    refused: Option<&'static str>,
}

impl Draft {
    pub(super) fn costs(&self) -> Costs {
        let wanted = if self.refused.is_some() { Level::Omitted } else { self.wanted };
        let cost = |level: Level| self.text(level).map_or(u64::MAX, |text| text.cost);
        Costs {
            turn: self.turn,
            wanted,
            full: cost(Level::Full),
            open: cost(Level::Open),
            signature: cost(Level::Signature),
            head: cost(Level::Head),
            line: self.line_cost,
            is_spare: self.is_spare,
        }
    }

    fn text(&self, level: Level) -> Option<&Sized> {
        self.texts.iter().find(|(known, _)| *known == level).map(|(_, text)| text)
    }

    pub(super) fn omitted(&self) -> PackOmitted {
        PackOmitted {
            file: self.loaded.id.clone(),
            start_line: self.name_line,
            name: self.name.clone(),
            reason: self.refused.unwrap_or("budget"),
        }
    }

    /// The item at a level; `None` if it is left out.
    pub(super) fn item(&self, level: Level, files: &PackFiles<'_>) -> Option<PackItem> {
        let level = self.costs().shown(level);
        let shown = match level {
            Level::Omitted => return None,
            Level::Line => Shown {
                text: stan_pack::one_line(self.kind, &self.name, &self.loaded.id, self.name_line),
                lines: Lines { from: self.name_line, to: self.name_line },
                elided: Vec::new(),
            },
            _ => self.text(level)?.shown.clone(),
        };
        Some(self.written(level, shown, files))
    }

    /// The whole text without its comment, which is the signature level of a focus.
    pub(super) fn bare(&self, files: &PackFiles<'_>) -> Option<PackItem> {
        Some(self.written(Level::Full, self.text(Level::Signature)?.shown.clone(), files))
    }

    /// The item with this text.
    pub(super) fn written(&self, level: Level, shown: Shown, files: &PackFiles<'_>) -> PackItem {
        PackItem {
            file: self.loaded.id.clone(),
            start_line: shown.lines.from,
            end_line: shown.lines.to,
            level: level.as_str(),
            kind: self.kind.to_owned(),
            name: self.name.clone(),
            text: shown.text,
            sha256: self.loaded.digest.to_string(),
            elided: shown.elided.iter().map(|lines| [lines.from, lines.to]).collect(),
            rank: self.rank,
            via: self.via.iter().map(|step| written_via(step, files)).collect(),
            package: files.package_of(&self.loaded.id),
        }
    }

    pub(super) fn turn(&self) -> u8 {
        self.turn
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    pub(super) fn text_of_file(&self) -> &str {
        &self.loaded.text
    }

    pub(super) fn line_starts(&self) -> &LineStarts {
        &self.loaded.starts
    }

    pub(super) fn file(&self) -> FileId {
        self.file
    }

    pub(super) fn refuse(&mut self, reason: &'static str) {
        self.refused.get_or_insert(reason);
    }
}

fn written_via(step: &Via, files: &PackFiles<'_>) -> PackVia {
    let file = files.load(step.file).map(|loaded| loaded.id.clone()).unwrap_or_default();
    PackVia { file, line: step.line, name: step.name.to_string(), how: step.how }
}

/// The focus itself. Without a unit, it is a statement or a range of lines. Its signature level is the whole text without the
/// comment.
pub(super) fn focus_draft(loaded: &Rc<LoadedFile>, file: FileId, focus: &Focus, counter: Counter) -> Draft {
    let unit = focus.unit.and_then(|id| Some((id, loaded.units.outline.get(id)?)));
    let full = match unit {
        Some((_, unit)) => stan_pack::full(&loaded.text, &loaded.starts, unit, true),
        None => lines_of(loaded, focus.lines),
    };
    let bare = counter.sized(lines_of(loaded, focus.lines));
    Draft {
        loaded: Rc::clone(loaded),
        file,
        kind: unit.map_or("lines", |(_, unit)| unit.kind.as_str()),
        name: unit.map_or_else(String::new, |(id, _)| loaded.units.outline.path(id)),
        name_line: unit.map_or(focus.lines.from, |(_, unit)| unit.name_line()),
        rank: 0,
        turn: 0,
        via: Vec::new(),
        line_cost: bare.cost,
        texts: vec![(Level::Full, counter.sized(full)), (Level::Signature, bare)],
        wanted: Level::Full,
        is_spare: false,
        refused: None,
    }
}

fn lines_of(loaded: &LoadedFile, lines: Lines) -> Shown {
    let text = loaded.starts.span(lines, &loaded.text).of(&loaded.text).to_owned();
    Shown { text, lines, elided: Vec::new() }
}

/// The import statements that the focus needs. Of a statement over several lines, only the lines with a name that is used.
pub(super) fn imports_draft(
    loaded: &Rc<LoadedFile>,
    file: FileId,
    closure: &Closure,
    counter: Counter,
) -> Option<Draft> {
    let mut lines = BTreeSet::new();
    for (statement, names) in &closure.imports {
        let whole = loaded.starts.lines(*statement);
        lines.extend([whole.from, whole.to]);
        lines.extend(names.iter().copied().filter(|line| whole.contains(*line)));
    }
    let range = Lines { from: *lines.first()?, to: *lines.last()? };
    let mut shown = stan_pack::lines_only(&loaded.text, &loaded.starts, range, &lines);
    // The omitted lines are listed beside the text; a marker for each gap between imports would cost more than it says.
    shown.text = shown.text.lines().filter(|line| !line.starts_with("… ")).collect::<Vec<_>>().join("\n");
    let text = counter.sized(shown);
    Some(Draft {
        loaded: Rc::clone(loaded),
        file,
        kind: "imports",
        name: "imports".to_owned(),
        name_line: range.from,
        rank: 1,
        turn: 2,
        via: Vec::new(),
        line_cost: text.cost,
        texts: vec![(Level::Signature, text)],
        wanted: Level::Signature,
        is_spare: false,
        refused: None,
    })
}

/// The exports of a module on one line.
pub(super) fn exports_draft(
    file: FileId,
    names: &[Box<str>],
    files: &PackFiles<'_>,
    counter: Counter,
) -> Option<Draft> {
    let loaded = files.load(file)?;
    let mut name = names.iter().take(MAX_EXPORTS).map(|name| &**name).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MAX_EXPORTS) {
        None if names.is_empty() => name.push_str("nothing"),
        Some(more) if more > 0 => name.push_str(&format!(" and {more} more")),
        _ => {}
    }
    let line = stan_pack::one_line("exports", &name, &loaded.id, 1);
    Some(Draft {
        file,
        kind: "exports",
        name,
        name_line: 1,
        rank: 1,
        turn: 2,
        via: Vec::new(),
        line_cost: counter.text(&line) + counter.item,
        texts: Vec::new(),
        wanted: Level::Line,
        is_spare: false,
        refused: None,
        loaded,
    })
}

/// A whole file, as a source of the pack.
pub(super) fn file_draft(
    loaded: &Rc<LoadedFile>,
    file: FileId,
    source: &RankedFile,
    weights: Option<&TextWeights>,
    counter: Counter,
) -> Draft {
    let last = loaded.starts.count() - u32::from(loaded.text.ends_with('\n') && loaded.starts.count() > 1);
    let full = lines_of(loaded, Lines { from: 1, to: last });
    let signature = |lines: &BTreeSet<u32>| {
        let keeping = FileKeeping { lines, longest_doc: LONG_DOC };
        counter.sized(stan_pack::file_signature(&loaded.text, &loaded.starts, &loaded.units.outline, &keeping))
    };
    let full = counter.sized(full);
    let is_large = full.cost > LARGE_FILE;
    let is_first = source.place.is_none_or(|place| place < MAX_WITH_PASSAGES);
    let passages = weights.filter(|_| is_first).map(|weights| passages(loaded, weights));
    let mut texts = vec![(Level::Full, full), (Level::Signature, signature(&BTreeSet::new()))];
    if let Some(lines) = passages.filter(|lines| !lines.is_empty()) {
        let alone = stan_pack::file_passages(&loaded.text, &loaded.starts, &loaded.units.outline, &lines);
        texts.extend([(Level::Open, signature(&lines)), (Level::Head, counter.sized(alone))]);
    }
    Draft {
        loaded: Rc::clone(loaded),
        file,
        kind: "file",
        name: loaded.id.rsplit('/').next().unwrap_or_default().to_owned(),
        name_line: 1,
        rank: 4,
        turn: 7,
        via: Vec::new(),
        line_cost: counter.text(&loaded.id) + 6 + counter.item,
        texts,
        wanted: source.wanted,
        is_spare: source.place.is_some_and(|place| place >= MAX_WHOLE || is_large),
        refused: None,
    }
}

/// A candidate of the closure.
pub(super) fn draft(
    candidate: &Candidate,
    files: &PackFiles<'_>,
    own: FileId,
    request: &PackRequest,
    counter: Counter,
) -> Option<Draft> {
    let loaded = files.load(candidate.file)?;
    let outline = &loaded.units.outline;
    let unit = outline.get(candidate.unit)?;
    let doc = unit.doc.filter(|_| candidate.rank <= 2).is_some_and(|doc| {
        let lines = loaded.starts.lines(doc);
        lines.to - lines.from < LONG_DOC
    });
    let wanted = wanted(candidate, unit);
    let texts = texts(candidate, &loaded, unit, wanted, doc, counter);
    let has = |level: Level| texts.iter().any(|(known, _)| *known == level);
    let levels = [Level::Full, Level::Open, Level::Signature, Level::Head];
    let wanted = levels.into_iter().find(|level| *level <= wanted && has(*level)).unwrap_or(wanted);
    let is_installed = files.is_installed(&loaded.id);
    let name = outline.path(candidate.unit);
    let line = stan_pack::one_line(unit.kind.as_str(), &name, &loaded.id, unit.name_line());
    let mut draft = Draft {
        file: candidate.file,
        kind: unit.kind.as_str(),
        name_line: unit.name_line(),
        rank: candidate.rank,
        turn: 2 * candidate.rank,
        via: candidate.via.clone(),
        wanted,
        texts,
        line_cost: counter.text(&line) + counter.item,
        name,
        is_spare: false,
        refused: None,
        loaded: Rc::clone(&loaded),
    };
    let is_type = matches!(
        unit.kind,
        UnitKind::Interface | UnitKind::Type | UnitKind::Class | UnitKind::Enum | UnitKind::Trait | UnitKind::Struct
    );
    let is_in_closure = match request.closure {
        ClosureKind::All => true,
        ClosureKind::Locals => candidate.file == own,
        ClosureKind::Types => is_type,
        ClosureKind::Imports => candidate.file != own,
        ClosureKind::None => false,
    };
    if !is_in_closure {
        draft.refuse("closure");
    } else if request.hops < 2 && candidate.rank > 3 {
        draft.refuse("hops");
    } else if is_installed
        && (request.externals == Externals::None || (request.externals == Externals::Auto && candidate.rank > 4))
    {
        draft.refuse("externals");
    }
    Some(draft)
}

/// The texts of a candidate by level. Only the wanted level and those that it can fall back to are created.
fn texts(
    candidate: &Candidate,
    loaded: &LoadedFile,
    unit: &Unit,
    wanted: Level,
    doc: bool,
    counter: Counter,
) -> Vec<(Level, Sized)> {
    let outline = &loaded.units.outline;
    let options = Options { doc, used: &candidate.used, keep: &candidate.keep, all_members: false };
    let signature = |options: &Options<'_>| {
        counter.sized(stan_pack::signature(&loaded.text, &loaded.starts, outline, candidate.unit, options))
    };
    let head = || counter.sized(stan_pack::head(&loaded.text, &loaded.starts, outline, candidate.unit, &options));
    let mut texts = Vec::new();
    // If no shorter signature exists, show the whole.
    if wanted == Level::Full || (wanted >= Level::Signature && unit.lines.to - unit.lines.from < LONG) {
        let full = stan_pack::full(&loaded.text, &loaded.starts, unit, doc);
        texts.push((Level::Full, counter.sized(full)));
    }
    if wanted >= Level::Open && shows_all_members(candidate, outline, unit) {
        texts.push((Level::Open, signature(&Options { all_members: true, ..options })));
    }
    if wanted >= Level::Signature {
        texts.push((Level::Signature, signature(&options)));
        texts.push((Level::Head, head()));
    }
    texts
}

fn shows_all_members(candidate: &Candidate, outline: &Outline, unit: &Unit) -> bool {
    let most = if candidate.open { MAX_OPEN } else { MAX_MEMBERS };
    if outline.members(candidate.unit).nth(most).is_some() {
        return false;
    }
    match unit.kind {
        UnitKind::Interface | UnitKind::Trait | UnitKind::Struct | UnitKind::Enum => {
            candidate.rank <= 4 || candidate.open
        }
        // The cause of a failing line may be any member of a class that the line names.
        _ => candidate.open,
    }
}

/// The wanted level of a candidate (spec 60 §5).
fn wanted(candidate: &Candidate, unit: &Unit) -> Level {
    let lines = unit.lines.to - unit.lines.from + 1;
    let is_function = matches!(unit.kind, UnitKind::Function | UnitKind::Class | UnitKind::Method | UnitKind::Impl);
    let whole = if is_function || lines > LONG { Level::Open } else { Level::Full };
    match candidate.rank {
        0 | 1 if lines <= LONG && unit.kind != UnitKind::Class => Level::Full,
        0..=2 => whole,
        3 if unit.kind.is_type() => whole,
        3 | 4 => Level::Open,
        _ => Level::Line,
    }
}
