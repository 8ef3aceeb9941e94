//! Files or declarations as text, at a level: whole, as signatures, or as one line. What does not fit into the budget is
//! shown at a lower level, and what fits at none is named.

use std::collections::BTreeSet;
use std::path::Path;

use stan_lang::Languages;
use stan_model::outline::{LineStarts, Lines, Outline, UnitId};
use stan_pack::{Options, Shown};
use stan_repo::{System, SystemExt as _};

use super::near::near_names;
use super::{
    AnswerSize, AskedFile, MAX_BYTES, ReadItem, ReadReport, absolute, excluded, held_back, is_excluded, scan,
    unknown_files,
};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;

/// How much of a text is shown.
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

/// `FILE` or `FILE#Name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedText {
    /// As it was typed.
    pub shown: String,
    pub file: AskedFile,
    pub name: Option<String>,
}

/// What to read.
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
                let levels = request.level.and_lower().iter();
                let fitting = levels.map(|level| file.item(asked, part, *level)).find(|item| cost(item) <= left);
                match fitting {
                    Some(item) => {
                        left -= cost(&item);
                        report.items.push(item);
                    }
                    None => report.cut.push(asked.shown.clone()),
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

/// A file that was read.
struct Text {
    text: String,
    starts: LineStarts,
    outline: Outline,
    sha256: String,
}

impl Text {
    /// The inner error is a warning: the file is there and cannot be shown.
    fn read(
        system: &dyn System,
        repository: &Repository<'_>,
        asked: &AskedText,
    ) -> Result<Result<Self, String>, EngineError> {
        let mut bytes = Vec::new();
        let path = absolute(repository.root, &asked.file.id);
        if is_excluded(repository, &path) {
            return Ok(Err(excluded(&asked.file)));
        }
        match system.read_at_most(Path::new(&path), MAX_BYTES, &mut bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(unknown_files(&scan(system, repository), &[&asked.file]));
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

    /// The declarations that are asked for; `None` is the whole file.
    fn parts(&self, asked: &AskedText) -> Result<Vec<Option<UnitId>>, EngineError> {
        let Some(name) = &asked.name else { return Ok(vec![None]) };
        let ids = || (0..self.outline.units.len() as u32).map(UnitId);
        let mut found: Vec<Option<UnitId>> = ids().filter(|id| self.outline.path(*id) == *name).map(Some).collect();
        if found.is_empty() {
            let named = ids().filter(|id| self.outline.get(*id).is_some_and(|unit| unit.is_named(name)));
            found = named.map(Some).collect();
        }
        if !found.is_empty() {
            return Ok(found);
        }
        let names: Vec<String> = ids().map(|id| self.outline.path(id)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let near: Vec<String> = near_names(name, &names).iter().map(|near| format!("`{near}`")).collect();
        let near = if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) };
        Err(EngineError::input(format!("`{}` declares no `{name}`{near}", asked.file.shown))
            .hint(format!("`stan outline {}` lists what it declares", asked.file.shown)))
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
            (ReadLevel::Full, None) => {
                let text = self.text.strip_suffix('\n').unwrap_or(&self.text).to_owned();
                Shown { text, lines: whole, elided: Vec::new() }
            }
            (ReadLevel::Signature, Some((id, _))) => {
                let none = (BTreeSet::new(), BTreeSet::new());
                let options = Options { doc: true, used: &none.0, keep: &none.1, all_members: true };
                stan_pack::signature(&self.text, &self.starts, &self.outline, id, &options)
            }
            (ReadLevel::Signature, None) => stan_pack::file_signature(&self.text, &self.starts, &self.outline),
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
