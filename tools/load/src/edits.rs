//! Random edits of a generated repository, as people make them: create, change, delete, rename. In the long run as many files are
//! created as removed, so that the repository's size does not explain growth.

use stan_testkit::Random;

use super::generate::Repository;
use super::text::{Bodies, Surroundings, module};
use crate::Result;

pub(super) struct Editor<'a> {
    repository: &'a Repository,
    bodies: Bodies,
    random: Random,
    /// The current modules.
    modules: Vec<EditedModule>,
    /// The number of modules around which edits fluctuate.
    usual: usize,
    /// A counter that makes the text or name of every edit unique.
    edits: u64,
}

/// A module of the repository.
#[derive(Clone)]
struct EditedModule {
    path: String,
    /// The index of its package.
    package: usize,
    /// The number that its text is generated from.
    number: u64,
}

impl<'a> Editor<'a> {
    pub(super) fn new(repository: &'a Repository) -> Self {
        let mut modules = Vec::new();
        for (index, package) in repository.packages.iter().enumerate() {
            modules.extend((0..package.modules).map(|number| EditedModule {
                path: package.module(number),
                package: index,
                number,
            }));
        }
        let usual = modules.len();
        Editor { repository, bodies: Bodies::new(), random: Random::new(0xED17), modules, usual, edits: 0 }
    }

    /// One to three edits.
    pub(super) fn edit(&mut self) -> Result<()> {
        for _ in 0..=self.random.below_u64(3) {
            self.edits += 1;
            let chosen = usize::try_from(self.random.below_u64(self.modules.len() as u64))?;
            let Some(EditedModule { path, package, number }) = self.modules.get(chosen).cloned() else { continue };
            let on_disk = self.repository.root.join(&path);
            match self.random.below_u64(8) {
                0 if self.modules.len() < self.usual + 40 => {
                    let path = self.new_name(&path);
                    self.write(&path, package, number)?;
                    self.modules.push(EditedModule { path, package, number });
                }
                1 if self.modules.len() + 40 > self.usual => {
                    std::fs::remove_file(on_disk)?;
                    self.modules.swap_remove(chosen);
                }
                2 => {
                    let new = self.new_name(&path);
                    std::fs::rename(on_disk, self.repository.root.join(&new))?;
                    if let Some(module) = self.modules.get_mut(chosen) {
                        module.path = new;
                    }
                }
                _ => self.write(&path, package, number)?,
            }
        }
        Ok(())
    }

    fn new_name(&self, beside: &str) -> String {
        let folder = beside.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/edit-{:05}.ts", self.edits)
    }

    fn write(&self, path: &str, package: usize, number: u64) -> Result<()> {
        let package = self.repository.packages.get(package).ok_or("a package that is not there")?;
        let around = Surroundings { packages: &self.repository.packages, package, bodies: &self.bodies };
        self.repository.write(path, module(&around, number, self.edits))
    }
}

#[cfg(test)]
mod tests {
    use super::{EditedModule, Editor};
    use crate::generate::Repository;
    use crate::layout::Shape;
    use crate::tree::sizes;

    #[test]
    fn edits_are_all_kinds_and_keep_the_size() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let shape = Shape { files: 120, bytes: 120_000 };
        let repository = Repository::generate(&scratch.path().join("r"), shape, false).expect("it is generated");
        let mut editor = Editor::new(&repository);
        let before = sizes(&repository.root.join("packages")).expect("sizes");
        for _ in 0..60 {
            editor.edit().expect("it edits");
        }
        let after = sizes(&repository.root.join("packages")).expect("sizes");
        assert!(before.keys().any(|name| !after.contains_key(name)), "something was deleted or renamed");
        assert!(after.keys().any(|name| !before.contains_key(name)), "something was created or renamed");
        assert!(before.len().abs_diff(after.len()) <= 40, "{} {}", before.len(), after.len());
        for EditedModule { path, .. } in &editor.modules {
            assert!(repository.root.join(path).is_file(), "{path}");
        }
    }
}
