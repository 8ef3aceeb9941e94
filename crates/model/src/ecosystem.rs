//! Where files outside the repository come from: a package registry, or a plain path on disk.
//!
//! Each ecosystem has one folder below `<stanPath>/context`. Its selected files are staged there and have their addresses there
//! in archives. A new registry is one variant here.

/// The origin of a staged external file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    /// Packages installed by npm, yarn, pnpm or bun: `npm/<name>/<version>/<path>`.
    Npm,
    /// Distributions installed in a Python virtual environment: `pypi/<name>/<version>/<path>`.
    Pypi,
    /// Modules in Go's module cache: `go/<module>@<version>/<path>`.
    Go,
    /// Crates that Cargo unpacked from a registry or copied into a vendor folder: `crates/<name>/<version>/<path>`.
    Crates,
    /// Files of no installed package, by the hash of their absolute path: `abs/<sha256>/<file name>`.
    Abs,
}

/// The folder below `<stanPath>` that holds all ecosystems.
const CONTEXT: &str = "context/";

impl Ecosystem {
    /// In the order used in messages.
    pub const ALL: [Self; 5] = [Self::Npm, Self::Pypi, Self::Go, Self::Crates, Self::Abs];

    /// The ecosystems with named and versioned packages.
    pub const REGISTRIES: [Self; 4] = [Self::Npm, Self::Pypi, Self::Go, Self::Crates];

    /// The name of its folder below `<stanPath>/context`.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
            Self::Go => "go",
            Self::Crates => "crates",
            Self::Abs => "abs",
        }
    }

    /// Its folder below `<stanPath>`.
    pub fn context_folder(self) -> &'static str {
        match self {
            Self::Npm => "context/npm",
            Self::Pypi => "context/pypi",
            Self::Go => "context/go",
            Self::Crates => "context/crates",
            Self::Abs => "context/abs",
        }
    }

    /// The address of a package's file below `<stanPath>`.
    pub fn address(self, name: &str, version: &str, path: &str) -> String {
        let between = if self == Self::Go { '@' } else { '/' };
        format!("{}/{name}{between}{version}/{path}", self.context_folder())
    }

    /// The ecosystem of a staged file, by its path below `<stanPath>`.
    pub fn of_staged(below_stan_path: &str) -> Option<Self> {
        let below = below_stan_path.strip_prefix(CONTEXT)?;
        Self::ALL
            .into_iter()
            .find(|ecosystem| below.strip_prefix(ecosystem.folder()).is_some_and(|rest| rest.starts_with('/')))
    }
}

/// The folder in which JavaScript package managers install packages.
pub const PACKAGE_FOLDER: &str = "node_modules";

/// The folder in which packages are installed in a Python virtual environment.
pub const SITE_FOLDER: &str = "site-packages";

/// The file in which `cargo vendor` lists the checksums of a crate's files. A folder with this file and [`CRATE_MANIFEST`] is an
/// installed package.
pub const CRATE_CHECKSUMS: &str = ".cargo-checksum.json";

/// The manifest of a crate.
pub const CRATE_MANIFEST: &str = "Cargo.toml";

/// Whether a path is, or is below, a folder of installed packages.
pub fn is_installed(path: &str) -> bool {
    path.split('/').any(|segment| segment == PACKAGE_FOLDER || segment == SITE_FOLDER)
}

/// Whether a file is external to the repository: outside the root, or installed. `inside` is its path relative to the
/// root, `None` for a file outside.
pub fn is_external(inside: Option<&str>) -> bool {
    inside.is_none_or(is_installed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged_paths_name_their_ecosystem() {
        let cases = [
            ("context/npm/a/1.0.0/x.js", Some(Ecosystem::Npm)),
            ("context/abs/0f/x.ts", Some(Ecosystem::Abs)),
            ("context/pypi/a/1.0/a/x.py", Some(Ecosystem::Pypi)),
            ("context/go/example.com/m@v1.0.0/x.go", Some(Ecosystem::Go)),
            ("context/crates/a/1.0.0/src/lib.rs", Some(Ecosystem::Crates)),
            ("context/npm", None),
            ("context/npmx/a", None),
            ("context/dependency.meta.json", None),
            ("npm/a", None),
        ];
        for (path, expected) in cases {
            assert_eq!(Ecosystem::of_staged(path), expected, "{path}");
        }
    }

    #[test]
    fn addresses_begin_with_the_folder_of_their_ecosystem() {
        for ecosystem in Ecosystem::ALL {
            assert_eq!(ecosystem.context_folder(), [CONTEXT, ecosystem.folder()].concat());
        }
        assert_eq!(Ecosystem::Go.address("m.org/x", "v1", "a.go"), "context/go/m.org/x@v1/a.go");
        assert_eq!(Ecosystem::Npm.address("@s/p", "1", "a.js"), "context/npm/@s/p/1/a.js");
    }

    #[test]
    fn external_is_outside_or_installed() {
        let cases = [
            (None, true),
            (Some("src/a.ts"), false),
            (Some("node_modules/a/x.js"), true),
            (Some("packages/p/node_modules/a/x.js"), true),
            (Some("src/node_modules.ts"), false),
            (Some(".venv/lib/python3.11/site-packages/a/b.py"), true),
        ];
        for (inside, expected) in cases {
            assert_eq!(is_external(inside), expected, "{inside:?}");
        }
    }
}
