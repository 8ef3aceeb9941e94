//! Descriptions of folders: the `description` of the manifest in them, otherwise the first heading of their `README.md`. Both are
//! descriptions of nodes in the graph.

use std::collections::BTreeMap;

use super::Source;

/// Descriptions are truncated to this many characters.
const MAX_DESCRIPTION_CHARS: usize = 100;

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
}

impl Source<'_> {
    /// Folders with their descriptions, sorted by path.
    pub(super) fn described_folders(&self, nodes: &[u32]) -> Vec<(String, Box<str>)> {
        let graph = &self.detailed.graph;
        let mut found: BTreeMap<&str, (Manifest, &str)> = BTreeMap::new();
        for node in nodes.iter().map(|node| graph.node(*node)) {
            let (folder, name) = node.id.rsplit_once('/').unwrap_or(("", &node.id));
            let (Some(manifest), Some(description)) = (Manifest::of(name), &node.description) else { continue };
            if found.get(folder).is_none_or(|(known, _)| manifest <= *known) {
                found.insert(folder, (manifest, description));
            }
        }
        found.into_iter().map(|(folder, (_, text))| (folder.to_owned(), shortened(text))).collect()
    }
}

/// Truncates a long text at a word boundary.
fn shortened(text: &str) -> Box<str> {
    let Some((cut, _)) = text.char_indices().nth(MAX_DESCRIPTION_CHARS) else { return text.into() };
    let start = text.get(..cut).unwrap_or(text);
    let end = start.rfind(' ').unwrap_or(start.len());
    format!("{} …", start.get(..end).unwrap_or(start)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_descriptions_are_cut_at_a_word() {
        assert_eq!(&*shortened("A small shop."), "A small shop.");
        let long = shortened(&"word ".repeat(50));
        assert!(long.ends_with("word …") && long.chars().count() <= MAX_DESCRIPTION_CHARS + 2, "{long}");
    }
}
