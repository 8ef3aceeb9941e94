//! Crates that `cargo vendor` copied into the repository: installed packages, like those in `node_modules`.
//!
//! A folder with `Cargo.toml` and `.cargo-checksum.json` is such a crate. The second file has the SHA-256 of each file, and that
//! of the archive in Cargo.lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use stan_model::json::JsonTree;
use stan_model::{CRATE_CHECKSUMS, CRATE_MANIFEST, Digest};
use stan_repo::{AbsPath, Files};

use crate::memo::Memo;
use crate::paths::{join_plain, parent};

/// Finds the vendored crate of a file. Each folder is checked once.
pub struct VendoredCrates<'f> {
    files: &'f dyn Files,
    /// Absolute real path of the repository.
    root: String,
    by_folder: Memo<String, Option<Arc<str>>>,
}

impl<'f> VendoredCrates<'f> {
    pub fn new(files: &'f dyn Files, root: &str) -> Self {
        Self { files, root: root.to_owned(), by_folder: Memo::new() }
    }

    /// The folder of the vendored crate that contains a file, both as absolute paths; `None` outside the root.
    pub fn folder_of(&self, file: &str) -> Option<Arc<str>> {
        self.at_or_above(parent(file))
    }

    fn at_or_above(&self, folder: &str) -> Option<Arc<str>> {
        // The root is the repository, even if it has both files.
        AbsPath::new(&self.root).below(folder)?;
        self.by_folder.get_or(folder, || {
            let has = |name: &str| self.files.is_file(&join_plain(folder, name));
            if has(CRATE_CHECKSUMS) && has(CRATE_MANIFEST) {
                return Some(folder.into());
            }
            self.at_or_above(parent(folder))
        })
    }
}

/// Name and version in the manifest of a vendored crate. Cargo wrote it, so it inherits nothing from a workspace.
pub fn name_and_version(manifest: &[u8]) -> Option<(String, String)> {
    let table: toml::Table = std::str::from_utf8(manifest).ok()?.parse().ok()?;
    let package = table.get("package")?;
    let field = |name: &str| package.get(name)?.as_str().map(str::to_owned);
    Some((field("name")?, field("version")?))
}

/// The contents of `.cargo-checksum.json`.
#[derive(Debug, PartialEq, Eq)]
pub struct Checksums {
    /// The hash of the archive that the crate was unpacked from; `None` for crates from git.
    pub archive: Option<Digest>,
    /// By path inside the crate.
    pub files: BTreeMap<String, Digest>,
}

impl Checksums {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let tree = JsonTree::parse(bytes).ok()?;
        let digest = |node| Digest::from_hex(&tree.string(node)?);
        let listed = tree.field(tree.root(), "files")?;
        let files =
            tree.fields(listed).filter_map(|(name, value)| Some((tree.string(name)?.into_owned(), digest(value)?)));
        let files = files.collect();
        Some(Self { archive: tree.field(tree.root(), "package").and_then(digest), files })
    }
}

#[cfg(test)]
mod tests {
    use stan_repo::{MemorySystem, World};

    use super::*;

    #[test]
    fn a_crate_is_a_folder_below_the_root_with_a_manifest_and_checksums() {
        let system = MemorySystem::from_fixture(
            "
            //- /r/Cargo.toml
            //- /r/.cargo-checksum.json
            //- /r/src/lib.rs
            //- /r/vendor/a/Cargo.toml
            //- /r/vendor/a/.cargo-checksum.json
            //- /r/vendor/a/src/deep/x.rs
            //- /r/vendor/own/Cargo.toml
            //- /r/vendor/own/src/lib.rs
            //- /r/vendor/odd/.cargo-checksum.json
            //- /r/vendor/odd/lib.rs
            ",
        );
        let world = World::new(&system, "/r", None);
        let crates = VendoredCrates::new(&world, "/r");
        for (file, expected) in [
            ("/r/vendor/a/src/deep/x.rs", Some("/r/vendor/a")),
            ("/r/vendor/a/Cargo.toml", Some("/r/vendor/a")),
            ("/r/vendor/own/src/lib.rs", None),
            ("/r/vendor/odd/lib.rs", None),
            ("/r/src/lib.rs", None),
            ("/else/x.rs", None),
        ] {
            assert_eq!(crates.folder_of(file).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn the_search_ends_at_the_root_of_the_file_system() {
        let system = MemorySystem::from_fixture(
            "//- /src/lib.rs\n//- /vendor/a/Cargo.toml\n//- /vendor/a/.cargo-checksum.json\n",
        );
        let world = World::new(&system, "/", None);
        let crates = VendoredCrates::new(&world, "/");
        assert_eq!(crates.folder_of("/vendor/a/src/x.rs").as_deref(), Some("/vendor/a"));
        assert_eq!(crates.folder_of("/src/lib.rs"), None);
        assert_eq!(crates.folder_of("/lib.rs"), None);
    }

    #[test]
    fn manifests_have_a_name_and_a_version() {
        let text = b"[package]\nname = \"a\"\nversion = \"1.0.0\"\n";
        assert_eq!(name_and_version(text), Some(("a".to_owned(), "1.0.0".to_owned())));
        assert_eq!(name_and_version(b"[package]\nname = \"a\"\n"), None);
        assert_eq!(name_and_version(b"[package"), None);
    }

    #[test]
    fn checksums_are_those_of_the_archive_and_of_each_file() {
        let (one, two) = (Digest([1; 32]), Digest([2; 32]));
        let files = BTreeMap::from([("src/lib.rs".to_owned(), one)]);
        let text = format!("{{\"files\":{{\"src/lib.rs\":\"{one}\",\"odd\":\"x\"}},\"package\":\"{two}\"}}");
        let parsed = Checksums::parse(text.as_bytes());
        assert_eq!(parsed, Some(Checksums { archive: Some(two), files: files.clone() }));
        let text = format!("{{\"files\":{{\"src/lib.rs\":\"{one}\"}},\"package\":null}}");
        assert_eq!(Checksums::parse(text.as_bytes()), Some(Checksums { archive: None, files }));
        assert_eq!(Checksums::parse(b"{}"), None);
    }
}
