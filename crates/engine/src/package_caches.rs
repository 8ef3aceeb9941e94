//! Where the package managers of this user store downloads. Read from the environment. The location may decide whether a file is
//! found, but never its id (spec 10 §4).

use std::path::Path;

use stan_lang::{PackageStore, PackageStores};
use stan_model::Ecosystem;
use stan_repo::{System, normal_path, real_path};

/// Absolute folders of package managers. Only package versions that a lock file of the repository names are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageCaches {
    /// Go's module cache: `$GOMODCACHE`, else `pkg/mod` in the first folder of `$GOPATH`, else `~/go/pkg/mod`.
    pub go_modules: Option<String>,
    /// Where Cargo unpacks crates: `registry/src` in `$CARGO_HOME`, else in `~/.cargo`.
    pub crates: Option<String>,
}

impl PackageCaches {
    /// Follows the package managers' own rules. `variable` looks up an environment variable.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let absolute = |name: &str| variable(name).filter(|path| path.starts_with('/'));
        let home = absolute("HOME");
        let at_home = |below: &str| home.as_ref().map(|home| normal_path(home, below));
        // Go writes only to the first folder of the list.
        let go_path = variable("GOPATH").and_then(|paths| paths.split(':').next().map(str::to_owned));
        let go_path = go_path.filter(|path| path.starts_with('/')).or_else(|| at_home("go"));
        let go_modules = absolute("GOMODCACHE").or_else(|| go_path.map(|path| normal_path(&path, "pkg/mod")));
        let cargo = absolute("CARGO_HOME").or_else(|| at_home(".cargo"));
        Self { go_modules, crates: cargo.map(|path| normal_path(&path, "registry/src")) }
    }

    pub(crate) fn stores(&self, system: &dyn System) -> PackageStores {
        let named = [(Ecosystem::Go, &self.go_modules), (Ecosystem::Crates, &self.crates)];
        let stores = named.into_iter().filter_map(|(ecosystem, folder)| {
            let folder = normal_path("/", folder.as_deref()?);
            // A folder that does not exist keeps its unresolved path: it may exist in the next run, which checks it again.
            let folder = real_path(system, Path::new(&folder)).unwrap_or(folder);
            // A store at `/` would make every file of the machine a package file.
            (folder != "/").then_some(PackageStore { ecosystem, folder })
        });
        PackageStores::new(stores.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_where_the_package_managers_look() {
        for (variables, go_modules, crates) in [
            (&[("HOME", "/u")][..], Some("/u/go/pkg/mod"), Some("/u/.cargo/registry/src")),
            (&[("HOME", "/u"), ("GOPATH", "/g:/h"), ("CARGO_HOME", "/c")], Some("/g/pkg/mod"), Some("/c/registry/src")),
            (&[("GOMODCACHE", "/m"), ("GOPATH", "/g")], Some("/m"), None),
            (
                &[("HOME", "/u"), ("GOMODCACHE", "relative"), ("GOPATH", ":/h")],
                Some("/u/go/pkg/mod"),
                Some("/u/.cargo/registry/src"),
            ),
            (&[], None, None),
        ] {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let found = PackageCaches::from_environment(variable);
            assert_eq!((found.go_modules.as_deref(), found.crates.as_deref()), (go_modules, crates), "{variables:?}");
        }
    }
}
