//! What folders are about: the `description` of the manifest in them, or else the first heading of their `README.md`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;

use stan_model::json::JsonTree;
use stan_repo::{SystemExt as _, sha256};

use super::Source;
use crate::outline::absolute;

/// A larger manifest is not read.
const LARGEST: u64 = 1 << 20;
/// More manifests are not read: a repository with so many keeps them as data.
const MOST: usize = 2_000;
/// Characters after which a description is cut.
const LONGEST: usize = 100;
/// More of a heading is not read.
const LONGEST_HEADING: usize = 400;

/// In order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Manifest {
    PackageJson,
    Toml,
    Readme,
}

impl Manifest {
    fn of(name: &str) -> Option<Self> {
        match name {
            "package.json" => Some(Self::PackageJson),
            "pyproject.toml" | "Cargo.toml" => Some(Self::Toml),
            "README.md" | "readme.md" | "Readme.md" => Some(Self::Readme),
            _ => None,
        }
    }

    fn description(self, text: &str) -> Option<String> {
        match self {
            Self::PackageJson => {
                let tree = JsonTree::parse(text.as_bytes()).ok()?;
                tree.string(tree.field(tree.root(), "description")?).map(std::borrow::Cow::into_owned)
            }
            Self::Toml => toml_description(text),
            Self::Readme => first_heading(text),
        }
    }
}

impl Source<'_> {
    /// Folders with what they are about, sorted by path.
    pub(super) fn described_folders(&self, nodes: &[u32]) -> Vec<(String, Box<str>)> {
        let graph = &self.detailed.graph;
        let mut found: BTreeMap<&str, (Manifest, String)> = BTreeMap::new();
        let manifests = nodes.iter().filter_map(|node| {
            let node = graph.node(*node);
            let (folder, name) = node.id.rsplit_once('/').unwrap_or(("", &node.id));
            Some((node, folder, Manifest::of(name)?))
        });
        for (node, folder, manifest) in manifests.take(MOST) {
            if found.get(folder).is_some_and(|(known, _)| *known < manifest) {
                continue;
            }
            let mut bytes = Vec::new();
            let path = absolute(self.repository.root, &node.id);
            if self.system.read_real(Path::new(&path), LARGEST, &mut bytes).is_err() {
                continue;
            }
            if node.file.is_none_or(|file| sha256(&bytes) != file.digest) {
                self.has_doubts.store(true, Ordering::Relaxed);
            }
            let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
            if let Some(description) = manifest.description(&text).and_then(|text| one_line(&text)) {
                found.insert(folder, (manifest, description));
            }
        }
        found.into_iter().map(|(folder, (_, text))| (folder.to_owned(), text.into())).collect()
    }
}

/// The `description` of a package, on one line as manifests have it.
fn toml_description(text: &str) -> Option<String> {
    let mut table = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line;
            continue;
        }
        let Some(value) = line.strip_prefix("description").map(str::trim_start).and_then(|rest| rest.strip_prefix('='))
        else {
            continue;
        };
        if !matches!(table, "[package]" | "[project]" | "[tool.poetry]") {
            continue;
        }
        let value = value.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let rest = value.get(1..)?;
        let mut is_escaped = false;
        let end = rest.find(|letter: char| {
            let is_end = letter == quote && !is_escaped;
            is_escaped = letter == '\\' && quote == '"' && !is_escaped;
            is_end
        })?;
        return rest.get(..end).map(|text| text.replace("\\\"", "\""));
    }
    None
}

/// The first heading of a Markdown document, outside of code.
fn first_heading(text: &str) -> Option<String> {
    let mut is_code = false;
    for line in text.lines() {
        let start = line.trim_start();
        is_code ^= start.starts_with("```") || start.starts_with("~~~");
        if is_code {
            continue;
        }
        let heading = start.trim_start_matches('#');
        let depth = start.len() - heading.len();
        if (1..=6).contains(&depth) && heading.starts_with([' ', '\t']) {
            let cut = heading.char_indices().nth(LONGEST_HEADING).map_or(heading.len(), |(at, _)| at);
            let heading = heading.get(..cut).unwrap_or(heading);
            let heading = without_links(heading.trim().trim_end_matches('#').trim_end());
            if heading.chars().any(char::is_alphanumeric) {
                return Some(heading);
            }
        }
    }
    None
}

/// `[text](target)` becomes its text, `![picture](target)` and `<tag>` nothing.
fn without_links(heading: &str) -> String {
    let mut text = String::with_capacity(heading.len());
    let mut rest = heading;
    while let Some(at) = rest.find(['[', '!', '<']) {
        let (before, found) = rest.split_at(at);
        text.push_str(before);
        let is_picture = found.starts_with("![");
        let link = found.strip_prefix('!').unwrap_or(found).strip_prefix('[').and_then(|link| {
            let (shown, behind) = link.split_once("](")?;
            Some((shown, behind.split_once(')')?.1))
        });
        let tag = found.strip_prefix('<').and_then(|tag| tag.split_once('>'));
        rest = match (link, tag) {
            (Some((shown, behind)), _) => {
                text.push_str(if is_picture { "" } else { shown });
                behind
            }
            (None, Some((_, behind))) => behind,
            (None, None) => {
                let end = found.chars().next().map_or(0, char::len_utf8);
                text.push_str(found.get(..end).unwrap_or_default());
                found.get(end..).unwrap_or_default()
            }
        };
    }
    text.push_str(rest);
    text.trim().to_owned()
}

/// White space becomes blanks, and long texts are cut at a word.
fn one_line(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= LONGEST {
        return (!line.is_empty()).then_some(line);
    }
    let cut = line.char_indices().nth(LONGEST).map_or(line.len(), |(at, _)| at);
    let start = line.get(..cut)?;
    let end = start.rfind(' ').unwrap_or(start.len());
    start.get(..end).map(|start| format!("{start} …"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_of_manifests() {
        for (manifest, text, expected) in [
            (Manifest::PackageJson, r#"{"name": "x", "description": "A  small\nshop."}"#, Some("A small shop.")),
            (Manifest::PackageJson, r#"{"description": ""}"#, None),
            (Manifest::PackageJson, "not JSON", None),
            (
                Manifest::Toml,
                "[dependencies]\ndescription = 'no'\n[package]\ndescription = \"Says \\\"hi\\\".\"\n",
                Some("Says \"hi\"."),
            ),
            (Manifest::Toml, "[project]\r\ndescription='Tea'\r\n", Some("Tea")),
            (Manifest::Toml, "[project]\ndescription = \"open\n", None),
            (Manifest::Readme, "![logo](x)\n```sh\n# no\n```\n## The shop ##\n# Later\n", Some("The shop")),
            (Manifest::Readme, "# ![logo](x.svg)\n# <b>Tea</b> & [docs](https://x) [1]!\n", Some("Tea & docs [1]!")),
            (Manifest::Readme, "#hashtag\n", None),
        ] {
            let found = manifest.description(text).and_then(|text| one_line(&text));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        let long = one_line(&"word ".repeat(50)).unwrap_or_default();
        assert!(long.ends_with("word …") && long.chars().count() <= LONGEST + 2, "{long}");
    }
}
