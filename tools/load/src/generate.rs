//! Writes a generated repository to disk, once: later runs with the same shape reuse it.
//!
//! [`super::layout`] and [`super::text`] decide the contents.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::layout::{Package, Shape};
use super::text::{Bodies, INSTALLED, Surroundings, asset, barrel, module};
use crate::Result;

/// Incremented whenever the same shape would be generated differently.
const GENERATOR: u32 = 1;

/// A repository on the disk.
pub(super) struct Repository {
    pub(super) root: PathBuf,
    pub(super) packages: Vec<Package>,
    /// Whether it was written just now.
    pub(super) is_new: bool,
}

impl Repository {
    /// Generates it in `folder`, unless it exists. A repository that runs will edit is not `reusable`.
    pub(super) fn generate(folder: &Path, shape: Shape, reusable: bool) -> Result<Self> {
        let packages = shape.packages();
        let (mark, wanted) = (folder.with_extension("made"), format!("{GENERATOR} {shape:?}\n"));
        let is_there = reusable && std::fs::read_to_string(&mark).is_ok_and(|found| found == wanted);
        let repository = Repository { root: folder.to_path_buf(), packages, is_new: !is_there };
        if !is_there {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
            println!("generating {} files, {} MB", shape.files, shape.bytes / 1_000_000);
            repository.write_all(shape)?;
            std::fs::write(&mark, wanted)?;
        }
        repository.forget_runs()?;
        Ok(repository)
    }

    /// Restores the state before any command ran.
    pub(super) fn forget_runs(&self) -> Result<()> {
        match std::fs::remove_dir_all(self.root.join(".stan")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        let on_disk = self.root.join(path);
        if let Some(folder) = on_disk.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&on_disk, bytes).map_err(|error| format!("{}: {error}", on_disk.display()).into())
    }

    /// Selects these nodes without dependencies.
    pub(super) fn select(&self, nodes: impl IntoIterator<Item = String>) -> Result<()> {
        let mut text = String::from("{\"v\":2,\"i\":[");
        for (index, node) in nodes.into_iter().enumerate() {
            text.push_str(if index == 0 { "\"" } else { ",\"" });
            text.push_str(&node);
            text.push('"');
        }
        text.push_str("]}\n");
        self.write(".stan/context/dependency.state.json", text)
    }

    /// Modules, by package and number.
    pub(super) fn modules(&self) -> impl Iterator<Item = String> + '_ {
        self.packages.iter().flat_map(|package| (0..package.modules).map(|number| package.module(number)))
    }

    /// Every file below `packages`; together with the files in the root, the whole repository.
    pub(super) fn everything(&self) -> impl Iterator<Item = String> + '_ {
        let assets = self.packages.iter().flat_map(|package| (0..package.assets).map(|number| package.asset(number)));
        let others = self.packages.iter().flat_map(|package| {
            let names = ["package.json", "tsconfig.json", "README.md", "src/index.ts", "data/large.txt"];
            names.map(|name| format!("{}/{name}", package.folder()))
        });
        self.modules().chain(assets).chain(others)
    }

    fn write_all(&self, shape: Shape) -> Result<()> {
        std::fs::create_dir_all(&self.root)?;
        // Its own git repository: the ignore rules of an enclosing clone would hide everything.
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(&self.root).status()?;
        if !made.success() {
            return Err("git init failed".into());
        }
        self.write(".gitignore", "/.stan/\nnode_modules/\n")?;
        self.write("package.json", "{\"name\":\"load\",\"private\":true,\"workspaces\":[\"packages/*\"]}\n")?;
        self.write("tsconfig.json", "{\"compilerOptions\":{\"module\":\"NodeNext\",\"allowJs\":true}}\n")?;
        self.write("README.md", format!("# Load\n\n{} files.\n", shape.files))?;
        for (name, version) in INSTALLED {
            self.install(name, version)?;
        }
        let bodies = Bodies::new();
        for package in &self.packages {
            self.write_package(package, &bodies)?;
        }
        Ok(())
    }

    fn install(&self, name: &str, version: &str) -> Result<()> {
        let folder = format!("node_modules/{name}");
        let manifest = format!("{{\"name\":\"{name}\",\"version\":\"{version}\",\"main\":\"lib/index.js\"}}\n");
        self.write(&format!("{folder}/package.json"), manifest)?;
        self.write(&format!("{folder}/lib/index.js"), "module.exports = require(\"./inner.js\");\n")?;
        self.write(&format!("{folder}/lib/inner.js"), "module.exports = function installed() {};\n")
    }

    fn write_package(&self, package: &Package, bodies: &Bodies) -> Result<()> {
        let folder = package.folder();
        let manifest = format!(
            "{{\"name\":\"{}\",\"version\":\"1.0.0\",\"type\":\"module\",\"exports\":{{\".\":\"./src/index.ts\"}}}}\n",
            package.name()
        );
        self.write(&format!("{folder}/package.json"), manifest)?;
        self.write(&format!("{folder}/tsconfig.json"), "{\"extends\":\"../../tsconfig.json\"}\n")?;
        self.write(&format!("{folder}/README.md"), format!("# {}\n", package.name()))?;
        self.write(&format!("{folder}/src/index.ts"), barrel(package))?;
        let line = "a line of a long text that is not read\n";
        let lines = usize::try_from(package.large_bytes)? / line.len();
        self.write(&format!("{folder}/data/large.txt"), line.repeat(lines))?;
        self.link(package)?;
        let around = Surroundings { packages: &self.packages, package, bodies };
        for number in 0..package.modules {
            self.write(&package.module(number), module(&around, number, 0))?;
        }
        for number in 0..package.assets {
            self.write(&package.asset(number), asset(package, number))?;
        }
        Ok(())
    }

    /// Links packages as package managers link the members of a workspace.
    fn link(&self, package: &Package) -> Result<()> {
        let link = self.root.join("node_modules").join(package.name());
        if let Some(folder) = link.parent() {
            std::fs::create_dir_all(folder)?;
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(Path::new("../..").join(package.folder()), link)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Repository;
    use crate::layout::Shape;

    #[test]
    fn generated_files_are_on_the_disk() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let shape = Shape { files: 60, bytes: 100_000 };
        let repository = Repository::generate(&scratch.path().join("r"), shape, true).expect("it is generated");
        let listed: Vec<String> = repository.everything().collect();
        for path in &listed {
            assert!(repository.root.join(path).is_file(), "{path}");
        }
        assert_eq!(listed.len() as u64 + super::super::layout::ROOT_FILES, shape.files);
        // A second call reuses it, and removes the results of earlier runs.
        repository.write(".stan/x", "").expect("it can be written");
        Repository::generate(&scratch.path().join("r"), shape, true).expect("it is there");
        assert!(!repository.root.join(".stan").exists());
    }
}
