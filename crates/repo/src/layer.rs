//! A system in front of another one. Each call reaches the inner system unless the layer changes it, so that a layer cannot
//! lose a call by forgetting it: not the refusal of links, not the handles of directories, not the permissions of a folder.
//!
//! The methods of a layer have the names of those that they change. Both lists below come from one macro each, so that a primitive
//! that is added to `System` is added here, or the crate does not compile.

use std::io;
use std::path::{Path, PathBuf};

use crate::system::{
    Access, DirEntry, DirectoryFiles, HeldLock, Links, OpenFile, OutputFile, Owner, Stat, System, WritableSystem,
};

/// Writes the trait of a layer, whose defaults forward each call, and implements the system for all layers.
macro_rules! layer {
    (
        $(#[$note:meta])*
        trait $layer:ident: [$($bounds:tt)*] for $system:ident {
            { $($items:tt)* }
            $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
        }
    ) => {
        $(#[$note])*
        pub trait $layer: $($bounds)* {
            $($items)*

            $(fn $name(&self $(, $argument: $type)*) -> $result {
                self.inner().$name($($argument),*)
            })*
        }

        impl<L: $layer> $system for L {
            $(fn $name(&self $(, $argument: $type)*) -> $result {
                $layer::$name(self $(, $argument)*)
            })*
        }
    };
}

layer! {
    /// A system that reads through [`SystemLayer::inner`] and changes some of its calls.
    trait SystemLayer: [Send + Sync] for System {
        {
            type Inner: System + ?Sized;

            fn inner(&self) -> &Self::Inner;
        }
        fn list_dir(path: &Path, links: Links) -> io::Result<Vec<DirEntry>>;
        fn lstat(path: &Path) -> io::Result<Stat>;
        fn owner(path: &Path) -> io::Result<Owner>;
        fn open_file(path: &Path, links: Links) -> io::Result<OpenFile>;
        fn read_file(path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat>;
        fn directory_files(path: &Path) -> Option<Box<dyn DirectoryFiles>>;
        fn read_link(path: &Path) -> io::Result<PathBuf>;
        fn now() -> i64;
    }
}

layer! {
    /// The writing half of a layer.
    trait WritableLayer: [SystemLayer<Inner: WritableSystem>] for WritableSystem {
        {}
        fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()>;
        fn write_atomic_pieces(path: &Path, pieces: &[&[u8]]) -> io::Result<()>;
        fn write_atomic_durable(path: &Path, bytes: &[u8]) -> io::Result<()>;
        fn create_dir_all(path: &Path) -> io::Result<()>;
        fn create_private_dir_all(path: &Path) -> io::Result<()>;
        fn random(bytes: &mut [u8]) -> io::Result<()>;
        fn process_token() -> io::Result<String>;
        fn is_running(token: &str) -> Option<bool>;
        fn permissions(path: &Path) -> io::Result<u32>;
        fn set_permissions(path: &Path, mode: u32) -> io::Result<()>;
        fn remove_file(path: &Path) -> io::Result<()>;
        fn remove_real(path: &Path) -> io::Result<()>;
        fn create_new(path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>>;
        fn rename(from: &Path, to: &Path) -> io::Result<()>;
        fn rename_real(from: &Path, to: &Path) -> io::Result<()>;
        fn remove_dir(path: &Path) -> io::Result<()>;
        fn sync_dir(path: &Path) -> io::Result<()>;
        fn try_lock(path: &Path) -> io::Result<Option<Box<dyn HeldLock>>>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntryKind, MemorySystem, SystemExt as _};

    /// Another clock, and nothing else.
    struct Late(MemorySystem);

    impl SystemLayer for Late {
        type Inner = MemorySystem;

        fn inner(&self) -> &MemorySystem {
            &self.0
        }

        fn now(&self) -> i64 {
            self.0.now() + 1
        }
    }

    impl WritableLayer for Late {}

    #[test]
    fn a_layer_changes_what_it_overrides_and_forwards_the_rest() {
        let memory = MemorySystem::from_fixture("//- /d/file\nx\n//- link /l -> d\n");
        let now = memory.now();
        let late = Late(memory);
        let (system, file): (&dyn WritableSystem, _) = (&late, Path::new("/l/file"));
        assert_eq!((system.now(), system.lstat(Path::new("/l")).unwrap().kind), (now + 1, EntryKind::Link));
        assert!(system.open(file).is_ok() && system.open_real(file).is_err());
        assert!(system.read_into(file, &mut Vec::new()).is_ok() && system.read_real(file, 9, &mut Vec::new()).is_err());
        assert!(system.read_dir(Path::new("/l")).is_ok() && system.read_real_dir(Path::new("/l")).is_err());
        system.create_new(Path::new("/d/new"), Access::Private).unwrap();
        assert_eq!(system.permissions(Path::new("/d/new")).unwrap(), 0o600);
    }
}
