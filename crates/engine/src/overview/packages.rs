//! The packages that the repository uses, with versions if they are installed, and the packages that it consists of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use stan_graph::overview::{OverviewInput, OverviewPackage, Unit};
use stan_model::NodeKind;
use stan_model::json::JsonTree;
use stan_repo::SystemExt as _;

use super::Source;
use crate::context::locate_externals;
use crate::outline::absolute;

/// Larger manifests are not read.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

impl Source<'_> {
    /// The packages that files of the repository use, the most used first.
    pub(super) fn used_packages(&self) -> Vec<OverviewPackage> {
        let mut importers: BTreeMap<(String, String), u32> = BTreeMap::new();
        for package in self.packages_by_file().into_iter().flatten() {
            *importers.entry(package).or_default() += 1;
        }
        let mut packages: Vec<OverviewPackage> = importers
            .into_iter()
            .map(|((name, version), importers)| OverviewPackage { name, version, importers })
            .collect();
        packages.sort_by_key(|package| std::cmp::Reverse(package.importers));
        packages
    }

    /// For each file of the repository, in node order, the packages that it uses, by name and version (empty if not installed).
    pub(super) fn packages_by_file(&self) -> Vec<BTreeSet<(String, String)>> {
        let graph = &self.detailed.graph;
        let options = self.repository.config.graph_options(self.repository.root);
        let (externals, manifests) = locate_externals(self.system, &options, graph);
        self.manifests.get_or_init(|| manifests.fingerprint());
        let package_of = |importer: &str, node: u32| -> Option<(String, String)> {
            match graph.node(node).kind {
                NodeKind::External => {
                    let package = externals.get(&node)?.package.as_ref()?;
                    Some((package.name.clone(), package.version.clone()))
                }
                NodeKind::Missing => Some((missing_package(importer, &graph.node(node).id)?.to_owned(), String::new())),
                NodeKind::Source | NodeKind::Builtin => None,
            }
        };
        let sources = graph.indices().filter(|node| graph.node(*node).kind == NodeKind::Source);
        let packages = |node: u32| {
            let importer = &*graph.node(node).id;
            graph.edges(node).iter().filter_map(|edge| package_of(importer, edge.target)).collect()
        };
        sources.map(packages).collect()
    }

    /// One unit per folder with the manifest of a package.
    pub(super) fn packages(&self, input: &OverviewInput) -> Vec<Unit> {
        let manifests = input.files.iter().filter(|file| file.path.rsplit('/').next() == Some("package.json"));
        let units = manifests.filter_map(|file| {
            let mut bytes = Vec::new();
            let path = absolute(self.repository.root, &file.path);
            self.system.read_real(Path::new(&path), MAX_MANIFEST_BYTES, &mut bytes).ok()?;
            let tree = JsonTree::parse(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()?;
            let string = |key: &str| tree.string(tree.field(tree.root(), key)?).map(std::borrow::Cow::into_owned);
            let name = string("name")?;
            let version = string("version").map(|version| format!(" {version}")).unwrap_or_default();
            let about = string("description").map(|about| format!(": {about}")).unwrap_or_default();
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            Some(Unit { folder, description: Some(format!("{name}{version}{about}").into()) })
        });
        units.collect()
    }
}

/// The package of an unresolved import, by the rules of the importer's language.
fn missing_package<'s>(importer: &str, specifier: &'s str) -> Option<&'s str> {
    match importer.rsplit_once('.').map(|(_, extension)| extension) {
        Some("py" | "pyi") => specifier.split('.').next().filter(|name| !name.is_empty() && !name.contains('/')),
        Some("go") => {
            // Code hosts have one module per repository; elsewhere the path does not tell where the module part ends.
            let is_host =
                ["github.com/", "gitlab.com/", "bitbucket.org/"].iter().any(|host| specifier.starts_with(host));
            let end = specifier.match_indices('/').nth(2).filter(|_| is_host);
            specifier.get(..end.map_or(specifier.len(), |(at, _)| at))
        }
        _ => bare_package(specifier),
    }
}

/// The package of a bare specifier; `None` for paths and aliases.
pub(crate) fn bare_package(specifier: &str) -> Option<&str> {
    let is_path = specifier.starts_with(['.', '/', '#', '~', '$']) || specifier.starts_with("@/");
    if is_path || specifier.contains([':', '*', '?', ' ']) {
        return None;
    }
    let segments = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(segments - 1).map_or(specifier.len(), |(at, _)| at);
    specifier.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_import_names_its_package() {
        for (importer, specifier, expected) in [
            ("a.py", "werkzeug.exceptions", Some("werkzeug")),
            ("a.pyi", "click", Some("click")),
            ("a.py", "src/gone", None),
            ("a.go", "github.com/go-chi/render", Some("github.com/go-chi/render")),
            ("a.go", "github.com/a/b/v2/deep", Some("github.com/a/b")),
            ("a.go", "golang.org/x/sys/unix", Some("golang.org/x/sys/unix")),
            ("a.rs", "anyhow", Some("anyhow")),
            ("a.ts", "chart.js/auto", Some("chart.js")),
            ("a.ts", "./gone", None),
        ] {
            assert_eq!(missing_package(importer, specifier), expected, "{importer} {specifier}");
        }
    }

    #[test]
    fn a_specifier_names_its_package() {
        for (specifier, expected) in [
            ("react", Some("react")),
            ("react/jsx-runtime", Some("react")),
            ("@scope/pkg/deep/x.js", Some("@scope/pkg")),
            ("./a", None),
            ("../a", None),
            ("@/components/a", None),
            ("~/a", None),
            ("#imports", None),
            ("virtual:thing", None),
            ("/abs", None),
        ] {
            assert_eq!(bare_package(specifier), expected, "{specifier}");
        }
    }
}
