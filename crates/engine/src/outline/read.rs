//! Shows files or declarations at a level: whole, as signatures, or as one line. If a text exceeds the budget, a lower level is
//! tried; if no level fits, only its name is listed.

use std::collections::BTreeSet;
use std::path::Path;

use stan_lang::Languages;
use stan_model::outline::{LineStarts, Lines, Outline, UnitId};
use stan_pack::{FileKeeping, Options, Shown};
use stan_repo::{EntryKind, System, SystemExt as _};

use super::near::near_names;
use super::{
    AnswerSize, AskedFile, MAX_BYTES, ReadItem, ReadReport, excluded, held_back, is_excluded, path_of, scan,
    unknown_files,
};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;

/// The level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadLevel {
    #[default]
    Full,
    Signature,
    Line,
}

impl ReadLevel {
    fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Signature => "signature",
            Self::Line => "line",
        }
    }

    fn and_lower(self) -> &'static [Self] {
        match self {
            Self::Full => &[Self::Full, Self::Signature, Self::Line],
            Self::Signature => &[Self::Signature, Self::Line],
            Self::Line => &[Self::Line],
        }
    }
}

/// If less of the budget is left, only the name of a text is listed.
const MIN_BYTES: u64 = 400;

/// `FILE`, `FILE#Name` or `FILE:FROM-TO`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedText {
    /// As typed.
    pub shown: String,
    pub file: AskedFile,
    pub name: Option<String>,
    /// 1-based and inclusive. Line numbers after the end mean the last line.
    pub lines: Option<Lines>,
}

/// The options of the verb.
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    pub asked: Vec<AskedText>,
    pub level: ReadLevel,
    pub size: AnswerSize,
}

/// Files and declarations as text.
pub fn read(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &ReadRequest,
) -> Result<ReadReport, EngineError> {
    let system = engine.system();
    engine.parse(|| {
        let mut report = ReadReport::default();
        let mut left = request.size.bytes();
        for asked in &request.asked {
            let file = match Text::read(system, repository, asked)? {
                Ok(file) => file,
                Err(warning) => {
                    report.warnings.push(warning);
                    continue;
                }
            };
            for part in file.parts(asked)? {
                let (item, is_whole) = file.fitting(asked, part, request.level, left);
                if !is_whole {
                    report.cut.push(asked.shown.clone());
                }
                if let Some(item) = item {
                    left = left.saturating_sub(cost(&item));
                    report.items.push(item);
                }
            }
        }
        report.warnings.sort_unstable();
        report.warnings.dedup();
        report.cut.dedup();
        Ok(report)
    })
}

fn cost(item: &ReadItem) -> u64 {
    (item.text.len() + item.file.len() + 24) as u64
}

/// The first whole lines of a text that is too long.
fn beginning(mut item: ReadItem, left: u64) -> Option<ReadItem> {
    let around = cost(&item) - item.text.len() as u64;
    let room = usize::try_from(left.saturating_sub(around + 40)).unwrap_or(usize::MAX);
    let end = item.text.as_bytes().get(..room.min(item.text.len()))?.iter().rposition(|&byte| byte == b'\n')?;
    let missing = item.text.get(end + 1..)?.lines().count();
    item.text.truncate(end);
    if item.level == ReadLevel::Full.as_str() {
        item.end_line =
            item.start_line + u32::try_from(item.text.lines().count()).unwrap_or(u32::MAX).saturating_sub(1);
    }
    item.text.push_str(&format!("\n… {missing} more {}", if missing == 1 { "line" } else { "lines" }));
    Some(item)
}

/// A file that was read.
struct Text {
    text: String,
    starts: LineStarts,
    outline: Outline,
    sha256: String,
}

impl Text {
    /// An inner error is a warning: the file exists but cannot be shown.
    fn read(
        system: &dyn System,
        repository: &Repository<'_>,
        asked: &AskedText,
    ) -> Result<Result<Self, String>, EngineError> {
        let mut bytes = Vec::new();
        let path = path_of(repository.root, &asked.file.id);
        if is_excluded(repository, &path) {
            return Ok(Err(excluded(&asked.file)));
        }
        match system.read_real(Path::new(&path), MAX_BYTES, &mut bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(unknown_files(&scan(system, repository), &[&asked.file]));
            }
            Err(_) if system.lstat(Path::new(&path)).is_ok_and(|stat| stat.kind == EntryKind::Dir) => {
                let shown = &asked.file.shown;
                return Ok(Err(format!("{shown}: is a folder; `stan map --focus {shown}` shows its files")));
            }
            Err(error) => return Ok(Err(format!("{}: cannot be read: {error}", asked.file.shown))),
        }
        let language = Languages::all().declarations(&asked.file.id);
        let text = match language {
            Some(language) => language.text_of(&bytes).map(|text| text.into_owned()),
            None => String::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).to_vec()).ok(),
        };
        let Some(text) = text.filter(|text| !text.contains('\0')) else {
            return Ok(Err(format!("{}: is not text", asked.file.shown)));
        };
        if let Some(warning) = held_back(repository, &asked.file, &bytes) {
            return Ok(Err(warning));
        }
        let outline = language.map(|language| language.outline(&asked.file.id, &text)).unwrap_or_default();
        let (starts, sha256) = (LineStarts::new(&text), stan_repo::sha256(&bytes).to_string());
        Ok(Ok(Self { text, starts, outline, sha256 }))
    }

    /// A range of lines.
    fn lines(&self, asked: Lines, whole: Lines) -> Shown {
        let from = asked.from.clamp(1, whole.to.max(1));
        let to = asked.to.clamp(from, whole.to.max(from));
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        let lines: String = text.split_inclusive('\n').skip(from as usize - 1).take((to - from) as usize + 1).collect();
        let text = if to < whole.to { lines.strip_suffix('\n').unwrap_or(&lines).to_owned() } else { lines };
        Shown { text, lines: Lines { from, to }, elided: Vec::new() }
    }

    /// The requested declarations; `None` for the whole file.
    fn parts(&self, asked: &AskedText) -> Result<Vec<Option<UnitId>>, EngineError> {
        let Some(name) = &asked.name else { return Ok(vec![None]) };
        let ids = || (0..self.outline.units.len() as u32).map(UnitId);
        let found: Vec<Option<UnitId>> = self.outline.named(name).into_iter().map(Some).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let names: Vec<String> = ids().map(|id| self.outline.path(id)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let near: Vec<String> = near_names(name, &names).iter().map(|near| format!("`{near}`")).collect();
        let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        Err(EngineError::input(format!("`{}` declares no `{name}`{near}", asked.file.shown))
            .hint(format!("`stan outline {}` lists what it declares", asked.file.shown)))
    }

    /// The highest level that fits, otherwise the start of the lowest level that shows text. The flag is true if nothing is
    /// missing.
    fn fitting(
        &self,
        asked: &AskedText,
        part: Option<UnitId>,
        level: ReadLevel,
        left: u64,
    ) -> (Option<ReadItem>, bool) {
        // A range of lines has no signature, so there is no lower level.
        let levels = if asked.lines.is_some() { &[ReadLevel::Full] } else { level.and_lower() };
        let texts = levels.iter().filter(|level| **level != ReadLevel::Line);
        let mut last = None;
        for level in texts {
            let item = self.item(asked, part, *level);
            if cost(&item) <= left {
                return (Some(item), true);
            }
            last = Some(item);
        }
        if let Some(item) = last.filter(|_| left >= MIN_BYTES).and_then(|item| beginning(item, left)) {
            return (Some(item), false);
        }
        let line = self.item(asked, part, ReadLevel::Line);
        let fits = cost(&line) <= left;
        (fits.then_some(line), fits)
    }

    fn item(&self, asked: &AskedText, part: Option<UnitId>, level: ReadLevel) -> ReadItem {
        let unit = part.and_then(|id| Some((id, self.outline.get(id)?)));
        let whole = Lines { from: 1, to: LineStarts::new(self.text.strip_suffix('\n').unwrap_or(&self.text)).count() };
        let (kind, name, line) = match unit {
            Some((id, unit)) => (unit.kind.as_str(), self.outline.path(id), unit.name_line()),
            None => ("file", String::new(), 1),
        };
        let shown = match (level, unit) {
            (ReadLevel::Full, Some((_, unit))) => stan_pack::full(&self.text, &self.starts, unit, true),
            (ReadLevel::Full, None) => self.lines(asked.lines.unwrap_or(Lines { from: 1, to: u32::MAX }), whole),
            (ReadLevel::Signature, Some((id, _))) => {
                let none = (BTreeSet::new(), BTreeSet::new());
                let options = Options { doc: true, used: &none.0, keep: &none.1, all_members: true };
                stan_pack::signature(&self.text, &self.starts, &self.outline, id, &options)
            }
            (ReadLevel::Signature, None) => {
                let keeping = FileKeeping { lines: &BTreeSet::new(), longest_doc: u32::MAX };
                stan_pack::file_signature(&self.text, &self.starts, &self.outline, &keeping)
            }
            (ReadLevel::Line, _) => {
                let name = if name.is_empty() { "of" } else { &name };
                let count = whole.to;
                let text = match unit {
                    Some(_) => stan_pack::one_line(kind, name, &asked.file.id, line),
                    None => format!("file {} — {count} {}", asked.file.id, if count == 1 { "line" } else { "lines" }),
                };
                Shown { text, lines: Lines { from: line, to: line }, elided: Vec::new() }
            }
        };
        ReadItem {
            file: asked.file.id.clone(),
            start_line: shown.lines.from,
            end_line: shown.lines.to,
            level: level.as_str(),
            kind,
            name,
            text: shown.text,
            sha256: self.sha256.clone(),
            elided: shown.elided.iter().map(|lines| [lines.from, lines.to]).collect(),
        }
    }
}
