//! Node's own lookup for `require`, which finds more than TypeScript: JSON and native modules without their extension, and assets
//! of packages. The conditions are fixed, so an installed Node does not change the answer.

use super::exports_exact::{all_targets, exact_export};
use super::{Resolver, path};

/// Manifest fields for the main file of a package without code, as bundlers read them.
const STYLES: [&str; 4] = ["style", "sass", "less", "svelte"];

const EXTENSIONS: [&str; 4] = ["", ".js", ".json", ".node"];

impl Resolver<'_> {
    /// The answer of `require.resolve(specifier)` in a file of `directory`, restricted to readable paths.
    pub(super) fn node(&self, directory: &str, specifier: &str) -> Option<String> {
        if path::is_path(specifier) {
            let candidate = path::join(directory, specifier);
            let as_file = || (!candidate.ends_with('/')).then(|| self.node_file(&candidate)).flatten();
            return as_file().or_else(|| self.node_directory(candidate.trim_end_matches('/')));
        }
        if specifier.starts_with('#') {
            let package = self.packages.scope(directory)?;
            let target = exact_export(package.imports()?, specifier)?;
            return target.starts_with("./").then(|| self.exact_file(&package.directory, &target)).flatten();
        }
        let (name, rest) = path::split_package_name(specifier);
        if let Some(package) = self.packages.scope(directory)
            && package.name() == Some(name)
            && let Some(exports) = package.exports()
            && let Some(target) = exact_export(exports, &subpath(rest))
        {
            return self.exact_file(&package.directory, &target);
        }
        let installed = self.node_modules(directory);
        let mut installed = installed.iter().map(|folder| path::join_plain(folder, name));
        installed.find_map(|package| self.node_package(&package, rest)).or_else(|| {
            let linked = self.linked_packages(directory, name);
            linked.iter().find_map(|package| self.node_package(package, rest))
        })
    }

    fn node_package(&self, directory: &str, rest: &str) -> Option<String> {
        if let Some(package) = self.packages.at(directory)
            && let Some(exports) = package.exports()
        {
            let subpath = subpath(rest);
            let exact = exact_export(exports, &subpath).and_then(|target| self.exact_file(directory, &target));
            // Bundlers have additional conditions for styles and components.
            let is_asset = |file: &String| !path::is_script(file);
            let of_any_condition = || {
                let targets = all_targets(exports, &subpath);
                targets.iter().filter_map(|(_, target)| self.exact_file(directory, target)).find(is_asset)
            };
            return exact.or_else(of_any_condition);
        }
        let candidate = if rest.is_empty() { directory.to_owned() } else { path::join(directory, rest) };
        self.node_file(&candidate).or_else(|| self.node_directory(candidate.trim_end_matches('/')))
    }

    fn node_file(&self, candidate: &str) -> Option<String> {
        EXTENSIONS.iter().map(|extension| format!("{candidate}{extension}")).find(|file| self.files.is_file(file))
    }

    fn node_directory(&self, directory: &str) -> Option<String> {
        if !self.files.is_dir(directory) {
            return None;
        }
        let index = |base: &str| self.node_file(&format!("{base}/index")).filter(|file| !file.ends_with("/index"));
        let package = self.packages.at(directory);
        let field = |name: &str| package.as_ref().and_then(|package| package.path_field(name));
        field("main")
            .and_then(|main| self.node_file(main.trim_end_matches('/')).or_else(|| index(main.trim_end_matches('/'))))
            .or_else(|| index(directory))
            .or_else(|| STYLES.iter().filter_map(|name| field(name)).find(|file| self.files.is_file(file)))
    }

    fn exact_file(&self, directory: &str, target: &str) -> Option<String> {
        let file = path::join(directory, target);
        (path::contains(directory, &file) && self.files.is_file(&file)).then_some(file)
    }
}

fn subpath(rest: &str) -> String {
    if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") }
}
