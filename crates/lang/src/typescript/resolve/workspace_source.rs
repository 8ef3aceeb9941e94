//! Packages of the repository, by name, with or without an install and before any build.
//!
//! What a manifest names may not be built yet. The source behind it is looked for through unusual conditions
//! of `exports`, then from the output folder of the package's tsconfig back to its sources, then under the
//! same stem in `src`.

use std::sync::Arc;

use crate::jsonc::Value;
use crate::typescript::form::Mode;
use crate::typescript::tsconfig::Config;

use super::algorithm::{ALL, DECLARATION, JSON, Lookup, TYPESCRIPT};
use super::exports_exact::all_targets;
use super::package::Package;
use super::{Importer, Resolver, path};

/// Conditions that lead to what is built; any other is taken for one that leads to the source.
const BUILT: [&str; 14] = [
    "types",
    "import",
    "require",
    "node",
    "default",
    "browser",
    "module",
    "module-sync",
    "production",
    "worker",
    "deno",
    "bun",
    "react-native",
    "edge-light",
];

/// Extensions of a source file, in the order of preference.
const SOURCES: [&str; 10] = [".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".vue"];

impl Resolver<'_> {
    /// A bare specifier that names a package of this repository.
    pub(super) fn workspace_package(&self, importer: &Importer, specifier: &str, mode: Option<Mode>) -> Option<String> {
        let (name, rest) = path::split_package_name(specifier);
        let directory = path::join_plain(&self.root, &self.workspaces().get(name)?.directory);
        let lookup = Lookup::module(self, &importer.config, &importer.directory, mode);
        let priority = TYPESCRIPT | DECLARATION;
        lookup
            .package_at(&directory, rest, priority)
            .or_else(|| lookup.package_at(&directory, rest, ALL & !priority))
            .or_else(|| self.unbuilt(&lookup, &directory, rest))
            .filter(|found| path::contains(&directory, found))
    }

    fn unbuilt(&self, lookup: &Lookup<'_>, directory: &str, rest: &str) -> Option<String> {
        let package = self.packages.at(directory)?;
        let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
        let targets = match package.exports() {
            Some(exports) => all_targets(exports, &subpath),
            None => Vec::new(),
        };
        let is_custom = |chain: &[String]| chain.iter().any(|c| !BUILT.contains(&&**c) && !c.starts_with("types@"));
        targets
            .iter()
            .filter(|(chain, _)| is_custom(chain))
            .find_map(|(_, target)| lookup.manifest_file(&path::join(directory, target), ALL & !JSON))
            .or_else(|| self.source_behind(directory, &self.built_targets(&package, &targets, rest)))
    }

    /// The built files that the manifest names for this module, as paths relative to the package.
    fn built_targets(&self, package: &Package, exports: &[(Vec<String>, String)], rest: &str) -> Vec<String> {
        let mut targets: Vec<String> = exports.iter().map(|(_, target)| target.clone()).collect();
        if rest.is_empty() {
            for field in ["source", "types", "typings", "module", "main"] {
                targets.extend(package.text(field).map(str::to_owned));
            }
            if let Some(Value::String(bin)) = package.manifest.get("browser") {
                targets.push(bin.to_string());
            }
            targets.push("index".to_owned());
        } else {
            targets.push(rest.to_owned());
        }
        targets
    }

    /// Looks at the configuration of every package of the workspace, so that what is wrong in them does not depend on
    /// who imports what.
    pub(super) fn look_at_packages(&self) {
        for package in self.workspaces().packages() {
            self.source_config(&path::join_plain(&self.root, &package.directory));
        }
    }

    /// The configuration that says where the output of a package comes from.
    fn source_config(&self, directory: &str) -> Arc<Config> {
        self.configs.for_file(&path::join(directory, "src/index.ts"))
    }

    fn source_behind(&self, directory: &str, targets: &[String]) -> Option<String> {
        let config = self.source_config(directory);
        let outputs = [config.declaration_dir.as_deref(), config.out_dir.as_deref()];
        for target in targets {
            let file = path::join_plain(directory, target);
            for output in outputs.into_iter().flatten().map(|output| output.trim_end_matches('/')) {
                let Some(fragment) = file.strip_prefix(output).and_then(|tail| tail.strip_prefix('/')) else {
                    continue;
                };
                let src = path::join_plain(directory, "src");
                let roots = [config.root_dir.as_deref().unwrap_or(&src), directory];
                if let Some(found) = roots.iter().find_map(|root| self.source_file(&path::join(root, fragment))) {
                    return Some(found);
                }
            }
        }
        targets.iter().find_map(|target| self.same_stem(directory, target))
    }

    /// `dist/esm/a/b.js` may come from `src/esm/a/b.ts`, `src/a/b.ts` or `src/b.ts`: the longest tail wins.
    fn same_stem(&self, directory: &str, target: &str) -> Option<String> {
        let target = target.trim_start_matches("./");
        let tails = std::iter::successors(Some(target), |tail| tail.split_once('/').map(|(_, rest)| rest));
        let tails: Vec<&str> = tails.filter(|tail| !tail.is_empty()).collect();
        ["src", "source", "lib", ""].iter().find_map(|folder| {
            let base = path::join_plain(directory, folder);
            tails.iter().find_map(|tail| self.source_file(&path::join(&base, tail)))
        })
    }

    /// A source file with the stem of a built one, also as a folder's index.
    fn source_file(&self, built: &str) -> Option<String> {
        let stem = match path::known_extension(built) {
            Some(extension) => &built[..built.len() - extension.len()],
            None => built.trim_end_matches('/'),
        };
        let with_extension = |stem: &str| {
            SOURCES.iter().map(|extension| format!("{stem}{extension}")).find(|file| self.files.is_file(file))
        };
        with_extension(stem).or_else(|| with_extension(&format!("{stem}/index")))
    }
}
