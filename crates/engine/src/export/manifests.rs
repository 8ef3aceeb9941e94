//! The packages of the repository itself: names and versions in manifests. A manifest that is broken, too large or without a name
//! is skipped.

use std::path::Path;

use stan_model::json::JsonTree;
use stan_repo::{System, SystemExt as _};

use crate::outline::absolute;

/// Larger manifests are not read.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// A package of the repository itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnPackage {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) ecosystem: &'static str,
    /// The folder of the manifest, root-relative.
    pub(super) folder: String,
}

type ReadManifest = fn(&str) -> Option<(String, Option<String>)>;

/// Manifests by basename.
const MANIFESTS: [(&str, &str, ReadManifest); 3] =
    [("package.json", "npm", package_json), ("pyproject.toml", "pypi", pyproject), ("go.mod", "go", go_mod)];

/// Reads the manifests among these files of the repository.
pub(super) fn own_packages<'f>(
    system: &dyn System,
    root: &str,
    files: impl Iterator<Item = &'f str>,
) -> Vec<OwnPackage> {
    let read = |file: &str| {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let (_, ecosystem, reader) = MANIFESTS.iter().find(|(known, ..)| *known == name)?;
        let mut bytes = Vec::new();
        system.read_real(Path::new(&absolute(root, file)), MAX_MANIFEST_BYTES, &mut bytes).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (name, version) = reader(text.strip_prefix('\u{feff}').unwrap_or(&text))?;
        Some(OwnPackage { name, version, ecosystem, folder: folder.to_owned() })
    };
    files.filter_map(read).collect()
}

fn package_json(text: &str) -> Option<(String, Option<String>)> {
    let tree = JsonTree::parse(text.as_bytes()).ok()?;
    let string = |key: &str| tree.string(tree.field(tree.root(), key)?).map(std::borrow::Cow::into_owned);
    Some((string("name").filter(|name| !name.is_empty())?, string("version")))
}

fn pyproject(text: &str) -> Option<(String, Option<String>)> {
    let table: toml::Table = text.parse().ok()?;
    let poetry = || table.get("tool")?.get("poetry")?.as_table();
    let project = table.get("project").and_then(toml::Value::as_table).or_else(poetry)?;
    let string = |key: &str| project.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    Some((string("name").filter(|name| !name.is_empty())?, string("version")))
}

/// Parses `module example.com/m`, possibly quoted, possibly with a comment after it. A module has no version of its own.
fn go_mod(text: &str) -> Option<(String, Option<String>)> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("module"))?;
    let name = line.strip_prefix([' ', '\t'])?.split("//").next()?.trim().trim_matches(['"', '`']);
    (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| (name.to_owned(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, version: &str) -> Option<(String, Option<String>)> {
        Some((name.to_owned(), (!version.is_empty()).then(|| version.to_owned())))
    }

    #[test]
    fn names_and_versions_of_manifests() {
        assert_eq!(package_json("{\"name\":\"a\",\"version\":\"1.0.0\"}"), pair("a", "1.0.0"));
        assert_eq!(package_json("{\"name\":\"\"}"), None);
        assert_eq!(package_json("{"), None);
        assert_eq!(pyproject("[project]\r\nname = \"a\"\r\nversion = \"2\"\r\n"), pair("a", "2"));
        assert_eq!(pyproject("[tool.poetry]\nname = 'b'\n"), pair("b", ""));
        assert_eq!(pyproject("[project\n"), None);
        assert_eq!(go_mod("// x\nmodule example.com/m // deprecated\n\ngo 1.22\n"), pair("example.com/m", ""));
        assert_eq!(go_mod("modules x\n"), None);
        assert_eq!(go_mod("go 1.22\n"), None);
    }
}
