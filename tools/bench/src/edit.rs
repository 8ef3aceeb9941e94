//! A one-file edit that is always undone, even after a panic.

use std::path::{Path, PathBuf};

use super::corpus::Edit;
use crate::Result;

/// The text to append to the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// A new import and a new export: one more edge and a new name.
    Import,
    /// Only a comment: the hash of the file changes, the graph does not.
    Comment,
}

/// The edited file; the original text is restored on drop.
pub(super) struct Edited {
    path: PathBuf,
    former: Vec<u8>,
}

impl Edited {
    /// Applies `change`. `round` makes every edit unique, so that no cache can know it.
    pub(super) fn apply(folder: &Path, edit: &Edit, change: Change, round: usize) -> Result<Self> {
        let path = folder.join(edit.file);
        let former = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut text = former.clone();
        text.extend_from_slice(addition(edit, change, round).as_bytes());
        let edited = Edited { path, former };
        std::fs::write(&edited.path, text)?;
        Ok(edited)
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(&self.path, &self.former) {
            eprintln!("could not restore {}: {error}", self.path.display());
        }
    }
}

fn addition(edit: &Edit, change: Change, round: usize) -> String {
    match change {
        Change::Comment => format!("\n// Edited in round {round}.\n"),
        Change::Import => format!(
            "\nimport {{ {} as edited{round} }} from \"{}\";\nexport {{ edited{round} }};\n",
            edit.name, edit.specifier
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Edited};
    use crate::corpus::Edit;

    #[test]
    fn an_edit_restores_the_original_bytes() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let file = folder.path().join("a.js");
        std::fs::write(&file, "export const a = 1;").expect("writable");
        let edit = Edit { file: "a.js", specifier: "./b.js", name: "b" };
        let read = || std::fs::read_to_string(&file).expect("readable");
        for (change, expected) in [
            (Change::Comment, "export const a = 1;\n// Edited in round 7.\n"),
            (Change::Import, "export const a = 1;\nimport { b as edited7 } from \"./b.js\";\nexport { edited7 };\n"),
        ] {
            let edited = Edited::apply(folder.path(), &edit, change, 7).expect("applies");
            assert_eq!(read(), expected);
            drop(edited);
            assert_eq!(read(), "export const a = 1;");
        }
    }
}
