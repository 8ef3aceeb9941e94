//! Packages of the repository by name, without an install and before a build.
//!
//! The files that a manifest names may not be built yet. Their source is searched through custom conditions of `exports`, then by
//! mapping the output folder of the package's tsconfig back to its sources, then by the same stem in `src`.

use std::sync::Arc;

use crate::jsonc::Value;
use crate::typescript::form::ModuleSystem;
use crate::typescript::tsconfig::Config;

use super::algorithm::{ALL, JSON, Lookup};
use super::exports_exact::all_targets;
use super::package::Package;
use super::{Importer, Resolver, path};

/// Conditions that select built files. Any other condition is assumed to select source files.
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

/// The extensions of source files, in order of preference.
const SOURCES: [&str; 10] = [".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".vue"];

impl Resolver<'_> {
    /// The source behind a bare specifier of a package of this repository that is not built.
    pub(super) fn unbuilt_package(
        &self,
        importer: &Importer,
        specifier: &str,
        mode: Option<ModuleSystem>,
    ) -> Option<String> {
        self.unbuilt(importer, specifier, mode, &SOURCES)
    }

    /// As [`Self::unbuilt_package`], for code only.
    pub(super) fn unbuilt_code(
        &self,
        importer: &Importer,
        specifier: &str,
        mode: Option<ModuleSystem>,
    ) -> Option<String> {
        if path::is_path(specifier) {
            return None;
        }
        let code: Vec<&str> = SOURCES.into_iter().filter(|extension| *extension != ".d.ts").collect();
        self.unbuilt(importer, specifier, mode, &code)
    }

    fn unbuilt(
        &self,
        importer: &Importer,
        specifier: &str,
        mode: Option<ModuleSystem>,
        sources: &[&str],
    ) -> Option<String> {
        let (name, rest) = path::split_package_name(specifier);
        let lookup = Lookup::module(self, &importer.config, &importer.directory, mode);
        let packages = self.own_packages(&importer.directory, name);
        let found = |directory: &String| {
            let found = self.unbuilt_at(&lookup, directory, rest, sources)?;
            path::contains(directory, &found).then_some(found)
        };
        packages.iter().find_map(found)
    }

    fn unbuilt_at(&self, lookup: &Lookup<'_>, directory: &str, rest: &str, sources: &[&str]) -> Option<String> {
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
            .or_else(|| {
                let built = self.built_targets(&package, &targets, rest);
                Sources { resolver: self, directory, extensions: sources }.behind(&built, rest)
            })
    }

    /// The built files that the manifest names for this module, relative to the package.
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

    /// Reads the configuration of every workspace package, so that the reported problems do not depend on which packages are
    /// imported.
    pub(super) fn record_package_observations(&self) {
        for directory in self.links.workspaces().members() {
            self.source_config(&path::join_plain(&self.root, directory));
        }
    }

    /// The configuration that maps the output of a package to its sources.
    fn source_config(&self, directory: &str) -> Arc<Config> {
        self.configs.for_file(&path::join(directory, "src/index.ts"))
    }
}

/// The source files of one package.
struct Sources<'r> {
    resolver: &'r Resolver<'r>,
    directory: &'r str,
    /// In order of preference.
    extensions: &'r [&'r str],
}

impl Sources<'_> {
    /// The source of the first of these built files that has one; the manifest names them for the module `rest`.
    fn behind(&self, targets: &[String], rest: &str) -> Option<String> {
        let directory = self.directory;
        let config = self.resolver.source_config(directory);
        let outputs = [config.declaration_dir.as_deref(), config.out_dir.as_deref()];
        for target in targets {
            let file = path::join_plain(directory, target);
            for output in outputs.into_iter().flatten().map(|output| output.trim_end_matches('/')) {
                let Some(fragment) = file.strip_prefix(output).and_then(|tail| tail.strip_prefix('/')) else {
                    continue;
                };
                let src = path::join_plain(directory, "src");
                let roots = [config.root_dir.as_deref().unwrap_or(&src), directory];
                if let Some(found) = roots.iter().find_map(|root| self.file(&path::join(root, fragment))) {
                    return Some(found);
                }
            }
        }
        targets.iter().find_map(|target| self.same_stem(target, rest))
    }

    /// `dist/esm/a/b.js` may be built from `src/esm/a/b.ts`, `src/a/b.ts` or `src/b.ts`: the longest tail wins, in any folder.
    fn same_stem(&self, target: &str, rest: &str) -> Option<String> {
        let target = target.trim_start_matches("./");
        tails(target, rest).into_iter().find_map(|tail| {
            ["src", "source", "lib", ""].iter().find_map(|folder| {
                let base = path::join_plain(self.directory, folder);
                self.file(&path::join(&base, tail))
            })
        })
    }

    /// A source file with the stem of a built one, even if only one of them is the index file of a folder.
    fn file(&self, built: &str) -> Option<String> {
        let stem = stem(built);
        let with_extension = |stem: &str| {
            let mut files = self.extensions.iter().map(|extension| format!("{stem}{extension}"));
            files.find(|file| self.resolver.files.is_file(file))
        };
        with_extension(stem)
            .or_else(|| with_extension(&format!("{stem}/index")))
            .or_else(|| stem.strip_suffix("/index").filter(|folder| *folder != self.directory).and_then(with_extension))
    }
}

fn stem(built: &str) -> &str {
    match path::known_extension(built) {
        Some(extension) => &built[..built.len() - extension.len()],
        None => built.trim_end_matches('/'),
    }
}

/// The tails of a target that may be the path of its source, longest first. Folders that the build adds are dropped, but never a
/// part of the requested subpath: that would find another module.
fn tails<'t>(target: &'t str, rest: &str) -> Vec<&'t str> {
    let starts: Vec<usize> = std::iter::once(0).chain(target.match_indices('/').map(|(at, _)| at + 1)).collect();
    let segment = |index: usize| {
        let start = starts.get(index).copied().unwrap_or(target.len());
        let end = starts.get(index + 1).map_or(target.len(), |next| next - 1);
        stem(target.get(start..end).unwrap_or_default())
    };
    let mut last = starts.len() - 1;
    if !rest.is_empty() {
        // The parts of the subpath, last first, to compare with the target.
        let wanted: Vec<&str> = stem(rest).split('/').filter(|part| !part.is_empty()).rev().collect();
        let end = (0..starts.len()).rev().find(|index| wanted.first() == Some(&segment(*index)));
        last = match end {
            Some(end) => {
                let shared = (0..=end).rev().zip(&wanted).take_while(|(index, part)| segment(*index) == **part);
                end + 1 - shared.count().max(1)
            }
            // The names differ. A tail of `index` alone would be the package's own index file, so it is excluded.
            None if segment(last) == "index" => last.saturating_sub(1),
            None => last,
        };
    }
    let tails = starts.iter().take(last + 1).filter_map(|start| target.get(*start..));
    tails.filter(|tail| !tail.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::tails;

    #[test]
    fn tails_keep_the_requested_subpath() {
        for (target, rest, expected) in [
            ("dist/esm/a/b.js", "", &["dist/esm/a/b.js", "esm/a/b.js", "a/b.js", "b.js"][..]),
            ("dist/index.js", "", &["dist/index.js", "index.js"]),
            ("src/Grid2/index.js", "Grid2", &["src/Grid2/index.js", "Grid2/index.js"]),
            ("dist/testing/index.js", "testing", &["dist/testing/index.js", "testing/index.js"]),
            ("dist/parts/two.js", "parts/two", &["dist/parts/two.js", "parts/two.js"]),
            ("dist/x/two.js", "parts/two", &["dist/x/two.js", "x/two.js", "two.js"]),
            ("dist/components/Btn.js", "button", &["dist/components/Btn.js", "components/Btn.js", "Btn.js"]),
            ("dist/hooks-impl/index.js", "hooks", &["dist/hooks-impl/index.js", "hooks-impl/index.js"]),
            ("one", "one", &["one"]),
            ("", "x", &[]),
        ] {
            assert_eq!(tails(target, rest), expected, "{target} for {rest}");
        }
    }
}
