//! The verbs of this engine for hosts: options are named as on the command line, and results are the documents of `--json`.

use serde::Deserialize;
use serde_json::json;

use super::place::{KEYS, OpenHost};
use super::{HostEnvironment, HostError, split, written};
use crate::context::{NamedBytes, NamedPath, NoProgress, SelectRequest};
use crate::engine::Engine;
use crate::overview::{Level, OverviewRequest};
use crate::pack::{ClosureKind, Externals, ITEM_TOKENS, PackRequest, Since, TAG_TOKENS, verify_pack};
use crate::relevance::RankQuery;
use crate::suggest::SuggestRequest;
use crate::tokens::Tokenizer;

/// `true` for the differences from git's index, or a revision.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Changed {
    SinceIndex(bool),
    Since(String),
}

impl Changed {
    fn since(self) -> Option<Since> {
        match self {
            Self::SinceIndex(asked) => asked.then_some(Since::Index),
            Self::Since(revision) => Some(Since::Revision(revision)),
        }
    }
}

/// One text or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Texts {
    fn list(texts: Option<Self>) -> Vec<String> {
        match texts {
            None => Vec::new(),
            Some(Self::One(text)) => vec![text],
            Some(Self::Many(texts)) => texts,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct PackOptions {
    /// Output of compilers and test runners.
    log: Option<Texts>,
    from: Option<String>,
    at: Option<Texts>,
    symbol: Option<Texts>,
    focus: Option<Texts>,
    changed: Option<Changed>,
    about: Option<Texts>,
    budget: Option<u64>,
    tokens: Option<String>,
    closure: Option<String>,
    hops: Option<u32>,
    externals: Option<String>,
    diagnostic: Option<usize>,
    all: bool,
    format: Option<String>,
}

pub(super) fn pack(engine: &Engine<'_>, environment: &HostEnvironment, options: &str) -> Result<String, HostError> {
    let (place, asked): (_, PackOptions) = split(options, &KEYS)?;
    let place = OpenHost::open(engine, environment, place)?;
    let usual = PackRequest::default();
    let closures = [
        ("all", ClosureKind::All),
        ("locals", ClosureKind::Locals),
        ("types", ClosureKind::Types),
        ("imports", ClosureKind::Imports),
        ("none", ClosureKind::None),
    ];
    let externals = [("auto", Externals::Auto), ("none", Externals::None), ("all", Externals::All)];
    let format = choice("format", asked.format.as_deref(), &[("md", false), ("xml", true)])?.unwrap_or_default();
    let files = |texts| Texts::list(texts).into_iter();
    let opened = &place.opened;
    let request = PackRequest {
        logs: files(asked.log).map(|text| NamedBytes { name: "log".to_owned(), bytes: text.into_bytes() }).collect(),
        from: asked.from,
        places: files(asked.at).map(|typed| opened.asked_place(engine, &typed)).collect::<Result<_, _>>()?,
        symbols: files(asked.symbol).map(|typed| opened.asked_symbol(engine, &typed)).collect::<Result<_, _>>()?,
        focus: files(asked.focus).map(|typed| opened.asked_file(engine, &typed)).collect::<Result<_, _>>()?,
        changed: asked.changed.and_then(Changed::since),
        about: Texts::list(asked.about),
        budget: asked.budget.unwrap_or(usual.budget),
        item_tokens: if format { TAG_TOKENS } else { ITEM_TOKENS },
        tokenizer: tokenizer(asked.tokens.as_deref())?,
        closure: choice("closure", asked.closure.as_deref(), &closures)?.unwrap_or_default(),
        hops: asked.hops.unwrap_or(usual.hops),
        externals: choice("externals", asked.externals.as_deref(), &externals)?.unwrap_or_default(),
        diagnostic: asked.diagnostic,
        all: asked.all,
        work: place.work(),
    };
    let outcome = crate::pack::pack(&place.engine, &place.repository(), &request)?;
    let text = if format { outcome.xml() } else { outcome.markdown() };
    let mut warnings = place.notes;
    warnings.extend(outcome.problems.iter().cloned());
    written(&json!({ "pack": outcome.pack, "text": String::from_utf8_lossy(&text), "warnings": warnings }))
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct OverviewOptions {
    budget: Option<u64>,
    focus: Option<Texts>,
    level: Option<String>,
    tokens: Option<String>,
}

pub(super) fn overview(engine: &Engine<'_>, environment: &HostEnvironment, options: &str) -> Result<String, HostError> {
    let (place, asked): (_, OverviewOptions) = split(options, &KEYS)?;
    let place = OpenHost::open(engine, environment, place)?;
    let levels = [("file", Level::File), ("folder", Level::Folder), ("package", Level::Package)];
    let request = OverviewRequest {
        budget: asked.budget,
        focus: Texts::list(asked.focus)
            .iter()
            .map(|typed| place.opened.asked_file(engine, typed))
            .collect::<Result<_, _>>()?,
        level: choice("level", asked.level.as_deref(), &levels)?.unwrap_or_default(),
        tokenizer: tokenizer(asked.tokens.as_deref())?,
    };
    written(&crate::overview::overview(&place.engine, &place.repository(), &request, &place.work())?)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SuggestOptions {
    focus: Option<Texts>,
    about: Option<Texts>,
    changed: Option<Changed>,
    log: Option<String>,
    budget: Option<u64>,
    tokens: Option<String>,
    compact: bool,
    write: bool,
}

pub(super) fn suggest(engine: &Engine<'_>, environment: &HostEnvironment, options: &str) -> Result<String, HostError> {
    let (place, asked): (_, SuggestOptions) = split(options, &KEYS)?;
    let place = OpenHost::open(engine, environment, place)?;
    let usual = SuggestRequest::default();
    let about = Texts::list(asked.about);
    let query = RankQuery {
        focus: Texts::list(asked.focus)
            .iter()
            .map(|typed| place.opened.focus_file(engine, typed))
            .collect::<Result<_, _>>()?,
        changed: asked.changed.and_then(Changed::since),
        log: asked.log.map(|text| NamedBytes { name: "log".to_owned(), bytes: text.into_bytes() }),
        about: (!about.is_empty()).then(|| about.join("\n")),
    };
    let is_empty = query.focus.is_empty() && query.about.is_none() && query.changed.is_none() && query.log.is_none();
    if is_empty {
        return Err(HostError::usage("say what the files are for: `focus`, `about`, `changed` or `log`"));
    }
    let request = SuggestRequest {
        query,
        budget: asked.budget.unwrap_or(usual.budget),
        tokenizer: tokenizer(asked.tokens.as_deref())?,
        compact: asked.compact,
        write: asked.write,
        work: place.work(),
    };
    written(&crate::suggest::suggest(&place.engine, &place.repository(), &request, &mut NoProgress)?)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SelectOptions {
    /// The selection. Default: the workspace's.
    state: Option<serde_json::Value>,
    /// A map to select from. Default: the workspace's.
    meta: Option<serde_json::Value>,
    tokens: Option<String>,
}

pub(super) fn select(engine: &Engine<'_>, environment: &HostEnvironment, options: &str) -> Result<String, HostError> {
    let (place, asked): (_, SelectOptions) = split(options, &KEYS)?;
    let place = OpenHost::open(engine, environment, place)?;
    let document = |name: &str, value: serde_json::Value| NamedBytes {
        name: name.to_owned(),
        bytes: value.to_string().into_bytes(),
    };
    let request = SelectRequest {
        state: asked.state.map(|value| document("state", value)),
        meta: asked.meta.map(|value| document("meta", value)),
        tokens: Some(tokenizer(asked.tokens.as_deref())?),
        work: place.work(),
    };
    written(&crate::context::select(&place.engine, &place.repository(), &request)?)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct VerifyOptions {
    /// An archive, or a pack in any form. Default: the workspace's archive.
    archive: Option<String>,
}

pub(super) fn verify(engine: &Engine<'_>, environment: &HostEnvironment, options: &str) -> Result<String, HostError> {
    let (place, asked): (_, VerifyOptions) = split(options, &KEYS)?;
    let place = OpenHost::open(engine, environment, place)?;
    if let Some(typed) = asked.archive.as_deref().filter(|typed| !typed.ends_with(".tar"))
        && let Ok(named) = place.document(typed)
        && let Some(report) = verify_pack(&place.engine, &place.repository(), &named)
    {
        return written(&report);
    }
    let archive = asked.archive.map(|typed| NamedPath { path: place.absolute(&typed), shown: typed });
    written(&crate::context::verify(&place.engine, &place.repository(), archive)?)
}

/// Looks up a name in a table. The error for an unknown name lists the valid ones.
fn choice<T: Copy>(key: &str, name: Option<&str>, table: &[(&str, T)]) -> Result<Option<T>, HostError> {
    let Some(name) = name else { return Ok(None) };
    match table.iter().find(|(known, _)| *known == name) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let known: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
            Err(HostError::usage(format!("`{key}` is {name:?}; there are {}", known.join(", "))))
        }
    }
}

fn tokenizer(name: Option<&str>) -> Result<Tokenizer, HostError> {
    let table = Tokenizer::ALL.map(|tokenizer| (tokenizer.name(), tokenizer));
    Ok(choice("tokens", name, &table)?.unwrap_or_default())
}
