//! Stores the tables of the tokenizers in the user's cache folder, once per user: reading a table takes a fraction of the time of
//! building it.
//!
//! A file is used only if its SHA-256 is the one compiled into this program, so a foreign, modified or older one is ignored. If
//! the folder cannot be read or written, tables are built in memory.

use std::path::Path;
use std::sync::OnceLock;

use stan_repo::{Access, EntryKind, Owner, SystemExt as _, WritableSystem, remove_leftovers, sha256, temporary_name};

/// The folder for tables.
struct Store {
    system: &'static dyn WritableSystem,
    folder: String,
}

static STORE: OnceLock<Store> = OnceLock::new();

/// Makes this process store tables in a folder of the user (absolute path). Without this call they are built in memory. Only the
/// first call has an effect.
pub fn keep_tables_in(system: &'static dyn WritableSystem, folder: String) {
    let _ = STORE.set(Store { system, folder });
}

/// The table of a tokenizer with this size and hash, if it is stored.
pub(super) fn load(name: &str, size: usize, hash: &str) -> Option<Vec<u8>> {
    STORE.get()?.load(name, size, hash)
}

/// Stores a table for the next process. Errors are ignored.
pub(super) fn store(name: &str, table: &[u8]) {
    let _ = STORE.get().and_then(|store| store.store(name, table));
}

impl Store {
    fn load(&self, name: &str, size: usize, hash: &str) -> Option<Vec<u8>> {
        let path = self.path(name);
        let stat = self.system.lstat(Path::new(&path)).ok()?;
        if stat.kind != EntryKind::File || stat.size != size as u64 || !self.is_own(&path) {
            return None;
        }
        let mut bytes = Vec::with_capacity(size + 1);
        self.system.read_real(Path::new(&path), size as u64, &mut bytes).ok()?;
        (bytes.len() == size && sha256(&bytes).to_string() == hash).then_some(bytes)
    }

    /// Renamed into place, so that readers see either all of it or nothing; readable only for this user.
    fn store(&self, name: &str, table: &[u8]) -> Option<()> {
        self.system.create_private_dir_all(Path::new(&self.folder)).ok()?;
        let kind = self.system.lstat(Path::new(&self.folder)).ok()?.kind;
        // In a shared parent, such as `/tmp`, another user may have created the folder first, or put a symlink there.
        if kind != EntryKind::Dir || !self.is_own(&self.folder) {
            return None;
        }
        remove_leftovers(self.system, Path::new(&self.folder), &[&file_name(name)]);
        let mut number = [0; 4];
        self.system.random(&mut number).ok()?;
        let temporary = temporary_name(u32::from_le_bytes(number), 0, file_name(name));
        let temporary = Path::new(&self.folder).join(temporary);
        let mut file = self.system.create_new(&temporary, Access::Private).ok()?;
        let written = file.write_all(table);
        drop(file);
        if written.and_then(|()| self.system.rename(&temporary, Path::new(&self.path(name)))).is_err() {
            let _ = self.system.remove_file(&temporary);
            return None;
        }
        Some(())
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{}", self.folder, file_name(name))
    }

    fn is_own(&self, path: &str) -> bool {
        matches!(self.system.owner(Path::new(path)), Ok(Owner::Caller))
    }
}

fn file_name(name: &str) -> String {
    format!("tokens.{name}.table")
}

#[cfg(test)]
mod tests {
    use stan_repo::MemorySystem;

    use super::*;

    fn store() -> (Store, &'static MemorySystem) {
        let system: &'static MemorySystem = Box::leak(Box::new(MemorySystem::from_fixture("//- /homes/u/.profile\n")));
        (Store { system, folder: "/homes/u/.cache/stan".to_owned() }, system)
    }

    #[test]
    fn only_unmodified_token_tables_are_loaded() {
        let (store, system) = store();
        let (table, path) = (b"table".as_slice(), "/homes/u/.cache/stan/tokens.x.table");
        let hash = sha256(table).to_string();
        assert_eq!(store.load("x", 5, &hash), None, "there is none yet");
        store.store("x", table).unwrap();
        assert_eq!(store.load("x", 5, &hash).as_deref(), Some(table));
        assert!(system.open(Path::new(path)).unwrap().private);
        assert_eq!(system.read_dir(Path::new("/homes/u/.cache/stan")).unwrap().len(), 1);
        assert_eq!(store.load("y", 5, &hash), None, "another tokenizer");
        assert_eq!(store.load("x", 5, &sha256(b"other").to_string()), None, "of another version");
        for altered in ["tabl3", "tab", "table and more"] {
            system.set_file(path, altered);
            assert_eq!(store.load("x", 5, &hash), None, "{altered}");
        }
        store.store("x", table).unwrap();
        system.set_owner(path, Owner::Other);
        assert_eq!(store.load("x", 5, &hash), None, "another user wrote it");
        store.store("x", table).unwrap();
        assert_eq!(store.load("x", 5, &hash).as_deref(), Some(table), "it is made again");
    }

    #[test]
    fn a_folder_of_another_user_is_not_written_to() {
        let (store, system) = store();
        system.set_dir("/homes/u/.cache/stan").set_owner("/homes/u/.cache/stan", Owner::Other);
        assert_eq!(store.store("x", b"table"), None);
        assert!(system.read_dir(Path::new("/homes/u/.cache/stan")).unwrap().is_empty());
    }
}
