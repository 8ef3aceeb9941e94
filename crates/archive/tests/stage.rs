//! Staging in memory and on disk: exactly the selected externals are staged, every mismatch is named, and every corruption is
//! detected.

mod support;

use std::path::{Path, PathBuf};

use expect_test::expect;
use proptest::prelude::*;
use stan_archive::{ArchiveEntry, Error, External, Transaction, read_tar, stage, write_archive};
use stan_repo::{Access, MemorySystem, OsSystem, System, SystemExt as _, WritableSystem, sha256};

use support::{FOLDERS, external, lock, outputs, stage_all};

fn ids(system: &dyn System, root: &Path) -> Vec<String> {
    outputs(system, root).into_iter().filter(|(_, what)| what != "folder").map(|(path, _)| path).collect()
}

/// Runs a test in memory and on the real disk, in an empty root.
fn everywhere(test: impl Fn(&dyn WritableSystem, &Path)) {
    let memory = MemorySystem::new();
    memory.set_dir("/w/r").set_dir("/w/n");
    test(&memory, Path::new("/w/r"));
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("r");
    OsSystem.create_dir_all(&root).unwrap();
    OsSystem.create_dir_all(&directory.path().join("n")).unwrap();
    test(&OsSystem, &root);
}

fn put(system: &dyn WritableSystem, path: &Path, bytes: &[u8]) {
    system.create_dir_all(path.parent().unwrap()).unwrap();
    system.write_atomic(path, bytes).unwrap();
}

#[test]
fn a_run_leaves_exactly_the_selected_externals() {
    everywhere(|system, root| {
        let source = |name: &str| root.with_file_name("n").join(name);
        for name in ["a", "b", "c"] {
            put(system, &source(name), name.as_bytes());
        }
        put(system, &source("large"), "large ".repeat(1 << 18).as_bytes());
        let npm = |name: &str| external(system, &format!(".stan/context/npm/{name}/1.0.0/lib/{name}.js"), source(name));
        let abs = external(system, ".stan/context/abs/00ff/large", source("large"));
        stage_all(system, root, vec![npm("b"), abs.clone(), npm("a")]).unwrap();
        let expected = [
            ".stan/context/abs/00ff/large",
            ".stan/context/npm/a/1.0.0/lib/a.js",
            ".stan/context/npm/b/1.0.0/lib/b.js",
        ];
        assert_eq!(ids(system, root), expected);
        // Externals that are no longer selected are removed with their folders, and so are foreign files.
        put(system, &root.join(".stan/context/npm/strange"), b"x");
        put(system, &root.join(".stan/context/npm/b/1.0.0/lib/deep/er/x"), b"x");
        put(system, &root.join(".stan/context/other"), b"x");
        let before = system.lstat(&root.join(".stan/context/npm/b/1.0.0/lib/b.js")).unwrap();
        stage_all(system, root, vec![npm("c"), npm("b")]).unwrap();
        let expected =
            [".stan/context/npm/b/1.0.0/lib/b.js", ".stan/context/npm/c/1.0.0/lib/c.js", ".stan/context/other"];
        assert_eq!(ids(system, root), expected);
        assert!(!outputs(system, root).contains_key(".stan/context/npm/b/1.0.0/lib/deep"));
        assert!(!outputs(system, root).contains_key(".stan/context/abs"));
        let after = system.lstat(&root.join(".stan/context/npm/b/1.0.0/lib/b.js")).unwrap();
        assert_eq!(before.inode, after.inode, "what is right already is kept");
        stage_all(system, root, vec![]).unwrap();
        assert_eq!(ids(system, root), [".stan/context/other"]);
    });
}

#[test]
fn every_offender_is_named_and_nothing_changes() {
    let system = MemorySystem::new();
    let root = Path::new("/r");
    for name in ["good", "flip", "short", "gone", "deny", "nomap", "nometa", "meta"] {
        system.set_file(format!("/n/{name}"), format!("contents of {name}"));
    }
    let of = |name: &str| external(&system, &format!(".stan/context/npm/{name}"), format!("/n/{name}"));
    stage_all(&system, root, vec![of("good"), of("flip")]).unwrap();
    let before = outputs(&system, root);
    let mut all: Vec<External> = ["good", "flip", "short", "gone", "deny", "nomap", "nometa", "meta"].map(of).into();
    all[5].map = None;
    all[6].meta = None;
    all[7].meta = Some((3, [0; 16]));
    all.push(External { id: ".stan/context/../x".to_owned(), ..of("good") });
    all.push(External { id: ".stan/imports/x".to_owned(), ..of("good") });
    all.push(External { source: "/n/other".into(), ..of("good") });
    system
        .set_file("/n/flip", "contentz of flip")
        .set_file("/n/short", "c")
        .remove("/n/gone")
        .set_unreadable("/n/deny", true);
    let error = stage_all(&system, root, all).unwrap_err();
    assert!(matches!(&error, Error::Mismatches(_)));
    expect![[r#"
        externals are not what the map says; nothing was changed:
          .stan/context/../x (from /n/good): its id: expected a path below .stan/context/npm/ or .stan/context/pypi/ or .stan/context/go/ or .stan/context/crates/ or .stan/context/abs/, found .stan/context/../x
          .stan/context/npm/deny (from /n/deny): its source: expected a file of 16 bytes, found permission denied
          .stan/context/npm/flip (from /n/flip): its SHA-256 in dependency.map.json: expected c960db02f088f3087acfae76633c3be31d7575ca1650bfa456a1de1a431b553a, found 86cc333776fa08cfd5e6004b37ca22e370abca1fe7cda83f8a45719625bf2be6
          .stan/context/npm/flip (from /n/flip): its hash (h) in dependency.meta.json: expected yWDbAvCI8wh6z652Yzw74w, found hswzN3b6CM_V5gBLN8oi4w
          .stan/context/npm/gone (from /n/gone): its source: expected a file of 16 bytes, found nothing there
          .stan/context/npm/good (from /n/other): its source: expected one source for the id, found a second one
          .stan/context/npm/meta (from /n/meta): its size (s) in dependency.meta.json: expected 3 bytes, found 16 bytes
          .stan/context/npm/nomap (from /n/nomap): its entry in dependency.map.json: expected size and SHA-256, found nothing
          .stan/context/npm/nometa (from /n/nometa): its size and hash in dependency.meta.json: expected size and hash, found nothing
          .stan/context/npm/short (from /n/short): its size in dependency.map.json: expected 17 bytes, found 1 bytes
          .stan/context/npm/short (from /n/short): its size (s) in dependency.meta.json: expected 17 bytes, found 1 bytes
          .stan/imports/x (from /n/good): its id: expected a path below .stan/context/npm/ or .stan/context/pypi/ or .stan/context/go/ or .stan/context/crates/ or .stan/context/abs/, found .stan/imports/x
        rebuild the map: stan run --context"#]].assert_eq(&error.to_string());
    assert_eq!(outputs(&system, root), before);
}

#[test]
fn links_are_removed_or_refused_and_never_followed() {
    let system = MemorySystem::from_fixture("//- /n/a\nbytes\n//- /precious/file\nmine\n");
    let root = Path::new("/r");
    let a = |id: &str| vec![external(&system, id, "/n/a")];
    system.set_link("/r/.stan/context/npm/stray", "/precious").set_link("/r/.stan/context/npm/f", "/precious/file");
    stage_all(&system, root, a(".stan/context/npm/f")).unwrap();
    assert_eq!(ids(&system, root), [".stan/context/npm/f"], "a link at the target is replaced, others are removed");
    system.set_link("/r/.stan/context/npm/d", "/precious");
    let error = stage_all(&system, root, a(".stan/context/npm/d/x")).unwrap_err().to_string();
    assert!(error.starts_with("`.stan/context/npm/d` is a link in place of a folder"), "{error}");
    for link in ["/r/.stan/context/abs", "/r/.stan/context"] {
        if system.lstat(Path::new(link)).is_ok() {
            system.remove(link);
        }
        system.set_link(link, "/precious");
        assert!(stage_all(&system, root, a(".stan/context/npm/f")).is_err(), "{link}");
    }
    let mut bytes = Vec::new();
    system.read_into(Path::new("/precious/file"), &mut bytes).unwrap();
    assert_eq!(bytes, b"mine\n");
    assert_eq!(system.read_dir(Path::new("/precious")).unwrap().len(), 1);
}

/// A corruption of the bytes, or of the promises about them.
#[derive(Clone, Debug)]
enum Corruption {
    Flip(usize, u8),
    Truncate(usize),
    Extend(u8),
    Replace(Vec<u8>),
    Delete,
}

/// Where a corruption happens: before the run, or at a moment during it.
#[derive(Clone, Copy, Debug)]
enum CorruptedPart {
    Source,
    /// In the copy that an earlier run staged, which is repaired.
    Staged,
    /// In the copy, after it was verified and before it is archived.
    Prepared,
    MapSize,
    MapHash,
    MetaSize,
    MetaHash,
}

impl Corruption {
    /// The corrupted bytes; `None` if the file is removed.
    fn apply(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        match self {
            Self::Flip(at, by) => {
                let length = bytes.len();
                bytes[at % length] ^= by;
            }
            Self::Truncate(to) => bytes.truncate(to % bytes.len()),
            Self::Extend(by) => bytes.push(*by),
            Self::Replace(with) => bytes.clone_from(with),
            Self::Delete => return None,
        }
        Some(bytes)
    }
}

fn corruption() -> impl Strategy<Value = Corruption> {
    prop_oneof![
        (any::<usize>(), 1_u8..).prop_map(|(at, by)| Corruption::Flip(at, by)),
        any::<usize>().prop_map(Corruption::Truncate),
        any::<u8>().prop_map(Corruption::Extend),
        proptest::collection::vec(any::<u8>(), 1..40).prop_map(Corruption::Replace),
        Just(Corruption::Delete),
    ]
}

fn place() -> impl Strategy<Value = CorruptedPart> {
    use CorruptedPart::{MapHash, MapSize, MetaHash, MetaSize, Prepared, Source, Staged};
    proptest::sample::select(vec![Source, Source, Staged, Prepared, Prepared, MapSize, MapHash, MetaSize, MetaHash])
}

fn set(system: &MemorySystem, path: &Path, bytes: Option<Vec<u8>>) {
    match bytes {
        Some(bytes) => system.set_file(path, bytes),
        None => system.remove(path),
    };
}

/// A run with a corruption. Returns the bytes that would be archived, or the error.
fn corrupted_run(
    system: &MemorySystem,
    mut victim: External,
    others: Vec<External>,
    place: CorruptedPart,
    how: &Corruption,
) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let root = Path::new("/r");
    let bytes = {
        let mut bytes = Vec::new();
        system.read_into(&victim.source, &mut bytes).unwrap();
        bytes
    };
    let corrupted = how.apply(&bytes);
    let (size, digest) = victim.map.unwrap();
    let wrong = corrupted.as_deref().map(sha256);
    match place {
        CorruptedPart::Source => set(system, &victim.source, corrupted.clone()),
        CorruptedPart::Staged => set(system, &root.join(&victim.id), corrupted.clone()),
        CorruptedPart::Prepared => {}
        CorruptedPart::MapSize => victim.map = corrupted.as_ref().map(|_| (size ^ bytes.len().max(1) as u64, digest)),
        CorruptedPart::MapHash => victim.map = wrong.map(|digest| (size, digest)),
        CorruptedPart::MetaSize => victim.meta = victim.meta.map(|(size, half)| (size + 1, half)),
        CorruptedPart::MetaHash => {
            victim.meta = wrong.map(|digest| (size, std::array::from_fn(|index| digest.0[index])))
        }
    }
    let id = victim.id.clone();
    let lock = lock(system, root)?;
    let mut transaction = Transaction::begin(system, root, &lock, &FOLDERS)?;
    let staged = stage(&mut transaction, [vec![victim], others].concat())?;
    if matches!(place, CorruptedPart::Prepared) {
        let folder = root.join(&id).parent().unwrap().to_owned();
        // The new copy if there is one, otherwise the kept one.
        let copy: PathBuf =
            system.read_dir(&folder).unwrap().into_iter().map(|entry| folder.join(entry.name)).min().unwrap();
        set(system, &copy, corrupted);
    }
    let mut out = transaction.stream(".stan/output/archive.tar", Access::Shared)?;
    let entries: Vec<ArchiveEntry> = staged.entries().collect();
    write_archive(system, entries, 0, &mut out)?;
    transaction.finish(out)?;
    transaction.commit()?;
    let (mut archive, mut found) = (Vec::new(), Vec::new());
    system.read_into(&root.join(".stan/output/archive.tar"), &mut archive).unwrap();
    read_tar(&mut &archive[..], &mut |entry, reader| {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        found.push((entry.safe_name().unwrap().to_owned(), bytes));
        Ok(())
    })
    .unwrap();
    Ok(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Either the run fails and changes nothing, or the archived bytes are the promised ones.
    #[test]
    fn every_corruption_is_detected(
        bytes in proptest::collection::vec(any::<u8>(), 1..60),
        place in place(),
        how in corruption(),
        was_staged: bool,
    ) {
        let system = MemorySystem::new();
        system.set_file("/n/victim", bytes.clone()).set_file("/n/other", "other");
        let victim = external(&system, ".stan/context/npm/v/1/victim.js", "/n/victim");
        let others = vec![external(&system, ".stan/context/npm/o/1/other.js", "/n/other")];
        if was_staged || matches!(place, CorruptedPart::Staged) {
            stage_all(&system, Path::new("/r"), [vec![victim.clone()], others.clone()].concat()).unwrap();
        }
        let before = outputs(&system, Path::new("/r"));
        let changes_nothing = how.apply(&bytes).as_deref() == Some(&bytes[..]);
        let result = corrupted_run(&system, victim.clone(), others, place, &how);
        let may_pass = changes_nothing || matches!(place, CorruptedPart::Staged);
        match result {
            Ok(archived) => {
                prop_assert!(may_pass, "{place:?} {how:?} got through");
                let mut expected = vec![(".stan/context/npm/o/1/other.js".to_owned(), b"other".to_vec())];
                if !bytes.contains(&0) {
                    expected.push((victim.id, bytes));
                }
                prop_assert_eq!(archived, expected);
            }
            Err(error) => {
                let names_it = error.to_string().contains(&victim.id);
                prop_assert!(names_it, "{}", error);
                if !matches!(place, CorruptedPart::Prepared) {
                    prop_assert_eq!(outputs(&system, Path::new("/r")), before);
                }
            }
        }
    }
}
