//! Checks the doc comments of one module for a linter: which tags are there, and whether they have text. The text is the one from
//! which the graph takes descriptions.

use serde::{Deserialize, Serialize};
use stan_lang::language::Extractors;
use stan_lang::{ExtractOptions, Languages, SourceFile};
use stan_repo::PathGlobs;

use super::dependency_graph::known_tags;
use super::{HostError, read, written};
use crate::engine::Engine;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DocumentedOptions {
    text: String,
    filename: Option<String>,
    tags: Option<Vec<String>>,
    ignore_patterns: Option<Vec<String>>,
    limit: Option<f64>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Documented {
    /// The file name matches an ignore pattern; nothing else was checked.
    ignored: bool,
    description: Option<Box<str>>,
    tags: Vec<Tag>,
    /// The linter's message; `None` if the module is documented or ignored.
    message: Option<String>,
    /// The first tag without text.
    empty_tag: Option<String>,
}

#[derive(Serialize)]
struct Tag {
    tag: String,
    present: bool,
    /// It has text.
    usable: bool,
}

/// The default file name.
const UNNAMED: &str = "module.ts";

pub(super) fn run(engine: &Engine<'_>, options: &str) -> Result<String, HostError> {
    let asked: DocumentedOptions = read(options)?;
    let filename = asked.filename.map(|name| name.replace('\\', "/")).filter(|name| !is_virtual(name));
    if let Some(name) = filename.as_deref()
        && ignores(&asked.ignore_patterns.unwrap_or_default(), name)?
    {
        return written(&Documented { ignored: true, ..Documented::default() });
    }
    let languages = Languages::all();
    let name = filename.filter(|name| languages.claim(name)).unwrap_or_else(|| UNNAMED.to_owned());
    let usual = ExtractOptions::default();
    let tags = known_tags(asked.tags.unwrap_or_default());
    let description_tags = if tags.is_empty() { usual.description_tags } else { tags };
    let limit = asked.limit.unwrap_or(usual.description_limit as f64);
    let options = ExtractOptions { description_tags, description_limit: limit.max(0.0) as usize };
    let file = SourceFile { name: &name, bytes: asked.text.as_bytes() };
    // Parsing needs a large stack, and that of the caller is unknown.
    let (prose, extraction) = engine.parse(|| {
        let prose = languages.tagged_prose(file, &options.description_tags);
        (prose, Extractors::default().extract(languages, file, &options))
    });
    let tag = |(tag, prose): (&String, Option<String>)| Tag {
        tag: tag.clone(),
        present: prose.is_some(),
        usable: prose.is_some_and(|prose| !prose.is_empty()),
    };
    let description = extraction.and_then(|extraction| extraction.facts.description).filter(|_| limit >= 1.0);
    let tags: Vec<Tag> = options.description_tags.iter().zip(prose).map(tag).collect();
    let empty_tag = tags.iter().find(|tag| tag.present && !tag.usable).map(|tag| tag.tag.clone());
    written(&Documented { ignored: false, description, message: message(&tags), empty_tag, tags })
}

/// A message about what is missing; `None` if one of the tags has text.
fn message(tags: &[Tag]) -> Option<String> {
    if tags.iter().any(|tag| tag.usable) {
        return None;
    }
    let names: Vec<&str> = tags.iter().map(|tag| tag.tag.as_str()).collect();
    let wanted = match names.as_slice() {
        [first, second] => format!("either {first} or {second}"),
        [one] => (*one).to_owned(),
        more => format!("one of {}", more.join(", ")),
    };
    let empty = tags.iter().filter(|tag| tag.present).map(|tag| format!(" Found {}, but its prose is empty.", tag.tag));
    Some(format!(
        "Say what this module is for: add a doc comment with {wanted} and prose.{}",
        empty.collect::<String>()
    ))
}

/// Linters use a name in angle brackets for text without a file.
fn is_virtual(name: &str) -> bool {
    name.trim().starts_with('<') && name.trim().ends_with('>')
}

fn ignores(patterns: &[String], name: &str) -> Result<bool, HostError> {
    let patterns: Vec<&str> = patterns.iter().map(|glob| glob.trim()).filter(|glob| !glob.is_empty()).collect();
    let globs = PathGlobs::new(&patterns)
        .map_err(|error| HostError::usage(format!("the glob `{}` cannot be used: {}", error.glob, error.reason)))?;
    Ok(globs.is_match(name.trim_start_matches('/')))
}
