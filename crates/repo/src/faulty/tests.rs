//! Each fault does what its name says, once or from then on, and nothing else does.

use std::io::Read;

use super::*;
use crate::memory::MemorySystem;
use crate::system_ext::SystemExt as _;

const FILE: &str = "/d/file";

fn memory() -> MemorySystem {
    let system = MemorySystem::new();
    system.set_now(2 * BACK).set_file(FILE, "0123456789").set_file("/d/other", "x");
    system
}

#[test]
fn every_step_of_writing_fails_once() {
    for (fault, kind) in [
        (Fault::NoSpace, io::ErrorKind::StorageFull),
        (Fault::ReadOnly, io::ErrorKind::ReadOnlyFilesystem),
        (Fault::Denied, io::ErrorKind::PermissionDenied),
        (Fault::NothingWritten, io::ErrorKind::WriteZero),
        (Fault::OtherDevice, io::ErrorKind::CrossesDevices),
    ] {
        for (lasting, at) in [(false, 0), (false, 1), (true, 0), (true, 2)] {
            let system = memory();
            let faulty = FaultySystem::new(&system, fault, at, lasting);
            let result = faulty.write_atomic(Path::new(FILE), b"new");
            assert_eq!(result.is_err(), !faulty.injected().is_empty(), "{fault:?} {at}");
            assert!(result.is_ok() || result.is_err_and(|error| error.kind() == kind), "{fault:?} {at}");
            let mut bytes = Vec::new();
            system.read_into(Path::new(FILE), &mut bytes).unwrap();
            let expected: &[u8] = if !faulty.injected().is_empty() { b"0123456789" } else { b"new" };
            assert_eq!(bytes, expected, "{fault:?} {at}");
            // Removing the temporary file is a call too.
            let is_left = system.read_dir(Path::new("/d")).unwrap().len() > 2;
            let cannot_remove = lasting && fault.applies_to(Effect::Remove) && at > 0;
            assert_eq!(is_left, cannot_remove, "{fault:?} {at} {lasting}");
        }
    }
}

#[test]
fn harmless_faults_are_not_failures() {
    for fault in [Fault::Short, Fault::Interrupted, Fault::TimeBack] {
        let system = memory();
        let faulty = FaultySystem::new(&system, fault, 0, false);
        faulty.write_atomic(Path::new("/d/other"), b"a longer text").unwrap();
        let (mut bytes, now) = (Vec::new(), faulty.now());
        faulty.open(Path::new("/d/other")).unwrap().reader.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"a longer text", "{fault:?}");
        assert!(!faulty.injected().is_empty() && fault.is_harmless());
        assert_eq!(now < system.now(), fault == Fault::TimeBack);
    }
}

#[test]
fn files_change_after_their_stat() {
    for (fault, expected) in
        [(Fault::Vanished, None), (Fault::Shrunk, Some("01234")), (Fault::Grown, Some("0123456789\n\n\n\n\n\n\n"))]
    {
        let system = memory();
        let faulty = FaultySystem::new(&system, fault, 0, false);
        assert_eq!(faulty.lstat(Path::new(FILE)).unwrap().size, 10);
        let mut whole = Vec::new();
        let read = faulty.read_into(Path::new(FILE), &mut whole).map(|_| whole);
        assert_eq!(read.ok().as_deref(), expected.map(str::as_bytes), "{fault:?}");
        let mut pieces = Vec::new();
        let opened = faulty.open(Path::new(FILE)).and_then(|mut open| open.reader.read_to_end(&mut pieces));
        assert_eq!(opened.ok().map(|_| pieces).as_deref(), expected.map(str::as_bytes), "{fault:?}");
        faulty.write_atomic(Path::new(FILE), b"again").unwrap();
        assert_eq!(faulty.lstat(Path::new(FILE)).unwrap().size, 5, "it was replaced");
    }
}

#[test]
fn locks_listings_and_counting() {
    let system = memory();
    let held = FaultySystem::new(&system, Fault::LockHeld, 0, false);
    assert!(held.try_lock(Path::new("/d/lock")).unwrap().is_none());
    assert!(held.try_lock(Path::new("/d/lock")).unwrap().is_some());
    let ghost = FaultySystem::new(&system, Fault::Ghost, 1, false);
    let counts: Vec<usize> = (0..3).map(|_| ghost.read_dir(Path::new("/d")).unwrap().len()).collect();
    assert_eq!(counts, [3, 4, 3]);
    assert_eq!((ghost.positions(), ghost.injected()), (3, vec![(Effect::List, PathBuf::from("/d"))]));
    let denied = FaultySystem::new(&system, Fault::TooManyFiles, 0, true);
    assert!(denied.lstat(Path::new(FILE)).is_ok() && denied.read_into(Path::new(FILE), &mut Vec::new()).is_err());
    assert_eq!(Fault::ALL.len(), Fault::ALL.iter().collect::<std::collections::BTreeSet<_>>().len());
}
