//! What is archived, what is reported about it, and which errors stop a run. Real tools read the result in `tests/tools.rs`.

use std::path::Path;

use stan_repo::{Access, EntryKind, Links, MemorySystem, OpenFile, System, SystemExt as _, SystemLayer, sha256};

use super::*;
use crate::contents::FinishedArchive;
use crate::diff::write_diff;
use crate::lock::{Holder, Lock};
use crate::tar::read_tar;
use crate::transaction::Transaction;

/// Archives the entries, and returns the metadata and the archive's bytes.
fn archive(system: &dyn System, entries: Vec<ArchiveEntry>) -> Result<(Written, Vec<u8>), Error> {
    let target = MemorySystem::new();
    target.set_dir("/w");
    let holder = Holder { process: 1, command: String::new() };
    let lock = Lock::acquire(&target, Path::new("/w"), ".stan", &holder, &mut || false, &mut |_| {})?;
    let mut transaction = Transaction::begin(&target, Path::new("/w"), &lock, &[])?;
    let mut out = transaction.stream(".stan/a.tar", Access::Shared)?;
    let written = write_archive(system, entries, 0, &mut out)?;
    transaction.finish(out)?;
    transaction.commit()?;
    let mut bytes = Vec::new();
    target.read_into(Path::new("/w/.stan/a.tar"), &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, written.size);
    Ok((written, bytes))
}

/// Names, modes and contents of an archive.
fn list(archive: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
    let mut entries = Vec::new();
    let end = read_tar(&mut &*archive, &mut |entry, reader| {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        entries.push((entry.safe_name().unwrap().to_owned(), entry.mode, bytes));
        Ok(())
    });
    assert!(end.unwrap().is_marked);
    entries
}

fn files(names: &[&str]) -> Vec<ArchiveEntry> {
    names.iter().map(|name| ArchiveEntry::file(*name, format!("/r/{name}"))).collect()
}

#[test]
fn entries_are_sorted_and_described() {
    let system = MemorySystem::from_fixture("//- /r/b\nbee\n//- /r/a/z\n//- /r/run.sh\n#!\n");
    system.set_executable("/r/run.sh", true);
    let mut entries = files(&["run.sh", "b", "a/z"]);
    entries.push(ArchiveEntry::bytes("ä", "made"));
    entries.push(ArchiveEntry::file("forced", "/r/run.sh").executable(false));
    let (written, bytes) = archive(&system, entries).unwrap();
    let expected = [
        ("a/z", 0o644, ""),
        ("b", 0o644, "bee\n"),
        ("forced", 0o644, "#!\n"),
        ("run.sh", 0o755, "#!\n"),
        ("ä", 0o644, "made"),
    ];
    let expected: Vec<_> = expected.iter().map(|(n, m, b)| ((*n).to_owned(), *m, b.as_bytes().to_vec())).collect();
    assert_eq!(list(&bytes), expected);
    for (file, (name, _, contents)) in written.files.iter().zip(&expected) {
        assert_eq!((&file.name, file.size, file.digest), (name, contents.len() as u64, sha256(contents)));
        let range = file.range.start as usize..file.range.end as usize;
        assert_eq!(list(&[&bytes[range], &[0; 1024]].concat())[0].2, *contents, "the range is one whole entry");
    }
    assert_eq!(written.file("b").unwrap().name, "b");
    assert_eq!(written.snapshot().files.len(), 5);
}

#[test]
fn binaries_are_left_out_and_odd_texts_are_reported() {
    let system = MemorySystem::new();
    let big = [b"x\0".to_vec(), vec![b'y'; 2 << 20]].concat();
    let long = "line\n".repeat(3001);
    system.set_file("/r/bin", "a\0b").set_file("/r/big.bin", big.clone()).set_file("/r/latin", *b"\xe4\n");
    system
        .set_file("/r/long", long.clone())
        .set_file("/r/wide", vec![b'w'; (1 << 20) + 1])
        .set_file("/r/ok", "line\n".repeat(3000));
    system.set_file("/r/fits", vec![b'w'; 1 << 20]);
    let (written, bytes) = archive(&system, files(&["bin", "big.bin", "latin", "long", "wide", "ok", "fits"])).unwrap();
    let names: Vec<_> = list(&bytes).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["fits", "latin", "long", "ok", "wide"]);
    let binary = |name: &str, size| ExcludedBinary { name: name.to_owned(), size };
    assert_eq!(written.binaries, [binary("big.bin", big.len() as u64), binary("bin", 3)]);
    let large = |name: &str, size, lines| LargeText { name: name.to_owned(), size, lines };
    assert_eq!(written.large, [large("long", long.len() as u64, 3001), large("wide", (1 << 20) + 1, 1)]);
    assert_eq!(written.not_utf8, ["latin"]);
}

#[test]
fn the_archive_does_not_depend_on_threads_groups_and_sizes() {
    let system = MemorySystem::new();
    let mut entries = Vec::new();
    for i in 0..700_usize {
        let size = [0, 1, 511, 512, 513, 70_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_000]
            [if i % 50 == 0 { i / 50 % 10 } else { i % 5 }];
        let contents: Vec<u8> = (0..size).map(|at| b'a' + ((at + i) % 26) as u8).collect();
        system.set_file(format!("/r/{i:03}"), contents);
        entries.push(ArchiveEntry::file(format!("{i:03}"), format!("/r/{i:03}")));
    }
    let run = |threads, entries: &[ArchiveEntry]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| archive(&system, entries.to_vec()).unwrap())
    };
    let (one, many) = (run(1, &entries), run(7, &entries));
    assert!(one == many, "archives differ between one and many threads");
    for (name, _, contents) in list(&one.1) {
        let mut expected = Vec::new();
        system.read_into(&Path::new("/r").join(&name), &mut expected).unwrap();
        assert!(contents == expected, "{name}");
    }
    entries.reverse();
    assert!(run(2, &entries) == many);
}

fn check_error(system: &dyn System, entries: Vec<ArchiveEntry>, expected: &str) {
    let error = archive(system, entries).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn entries_that_cannot_be_archived_are_named() {
    let system = MemorySystem::from_fixture("//- /r/a\n//- /r/b\n//- dir /r/d\n//- link /r/l -> l\n");
    system.set_unreadable("/r/b", true);
    check_error(&system, files(&["a", "z", "y"]), "`y` cannot be archived: it is gone");
    check_error(&system, files(&["a", "b"]), "`b` cannot be archived: permission denied");
    check_error(&system, files(&["d"]), "`d` cannot be archived: not a regular file");
    check_error(&system, files(&["l"]), "`l` cannot be archived: too many links");
    check_error(&system, files(&["a", "a"]), "`a` would be written twice");
    check_error(&system, vec![ArchiveEntry::bytes("../a", "")], "`../a` cannot be the name");
    let proved = |size, digest| vec![ArchiveEntry::proved("x".to_owned(), "/r/a".into(), size, digest)];
    assert!(archive(&system, proved(0, sha256(b""))).is_ok());
    check_error(
        &system,
        proved(0, sha256(b"1")),
        "`x` changed after it was verified: expected 0 bytes with SHA-256 6b86",
    );
    check_error(&system, proved(1, sha256(b"")), "`x` changed after it was verified");
}

/// A tree in which something happens to every file just after it was opened.
struct Restless<'a>(MemorySystem, &'a (dyn Fn(&MemorySystem, &Path) + Sync));

impl SystemLayer for Restless<'_> {
    type Inner = MemorySystem;

    fn inner(&self) -> &MemorySystem {
        &self.0
    }

    fn open_file(&self, path: &Path, links: Links) -> std::io::Result<OpenFile> {
        let file = self.0.open_file(path, links)?;
        assert_eq!(file.stat.kind, EntryKind::File);
        (self.1)(&self.0, path);
        Ok(file)
    }
}

#[test]
fn files_that_change_while_they_are_read_stop_the_run() {
    for size in [10, 3 << 20] {
        let check = |expected: &str, happens: &(dyn Fn(&MemorySystem, &Path) + Sync)| {
            let system = MemorySystem::new();
            system.set_file("/r/a", vec![b'a'; size]).set_now(9);
            check_error(&Restless(system, happens), files(&["a"]), expected);
        };
        let set = |by: isize| {
            move |system: &MemorySystem, path: &Path| {
                system.set_file(path, vec![b'b'; size.saturating_add_signed(by)]);
            }
        };
        check("`a` changed while it was read (it had", &set(1));
        check("`a` changed while it was read (it had", &set(-1));
        check("`a` changed while it was read (it had", &set(-10));
        check("`a` changed while it was read (it was written to)", &set(0));
    }
}

#[test]
fn a_diff_is_cut_out_of_the_full_archive() {
    let system = MemorySystem::new();
    for (name, size) in [("a", 10), ("b", 2 << 20), ("c", 600), ("d", 0), ("e", 5)] {
        system.set_file(format!("/r/{name}"), name.repeat(size));
    }
    let holder = Holder { process: 1, command: String::new() };
    let lock = Lock::acquire(&system, Path::new("/r"), ".stan", &holder, &mut || false, &mut |_| {}).unwrap();
    let mut transaction = Transaction::begin(&system, Path::new("/r"), &lock, &["output"]).unwrap();
    let mut out = transaction.stream(".stan/output/full.tar", Access::Shared).unwrap();
    let written = write_archive(&system, files(&["a", "b", "c", "d", "e"]), 0, &mut out).unwrap();
    let full = transaction.finish(out).unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        system.remove(format!("/r/{name}"));
    }
    let mut cut = |names: &[&str], extra: &[ArchiveEntry]| {
        let mut out = transaction.stream(".stan/output/diff.tar", Access::Shared).unwrap();
        let size = write_diff(
            &system,
            FinishedArchive { file: &full, written: &written },
            names.iter().copied(),
            extra,
            0,
            &mut out,
        )
        .unwrap();
        let prepared = transaction.finish(out).unwrap();
        let mut bytes = Vec::new();
        system.read_into(prepared.path(), &mut bytes).unwrap();
        transaction.discard(prepared).unwrap();
        assert_eq!(bytes.len() as u64, size);
        list(&bytes).into_iter().map(|(name, _, bytes)| format!("{name}:{}", bytes.len())).collect::<Vec<_>>()
    };
    let extra = [ArchiveEntry::bytes("bb", "12")];
    assert_eq!(cut(&[], &[]), Vec::<String>::new());
    assert_eq!(cut(&["b", "c", "e"], &extra), ["b:2097152", "bb:2", "c:600", "e:5"]);
    assert_eq!(cut(&["d", "a", "no binary"], &[]), ["a:10", "d:0"]);
    assert_eq!(cut(&["a", "b", "c", "d", "e"], &[]).len(), 5);
}

/// A token, assembled here so that no scanner takes this file for a leak.
fn token() -> String {
    ["ghp_", "q7Rz0bXk2Lm9vTgYw3HdPs5N", "c8JfUe1Wa6Zt"].concat()
}

#[test]
fn files_with_secrets_are_left_out_of_archives() {
    let system = MemorySystem::new();
    let large = format!("{}\n{}\n", "some words on a line\n".repeat(70_000), token());
    system.set_file("/r/a", "a\n").set_file("/r/b", format!("x\ny = {}\n", token())).set_file("/r/c", "c\n");
    system.set_file("/r/.env", "A=1\n").set_file("/r/key.p12", "\0").set_file("/r/large", large);
    system.set_link("/r/link", ".env");
    let entries = || files(&[".env", "a", "b", "c", "key.p12", "large"]);
    let (written, names) = listed(&system, entries());
    assert_eq!(names, ["a", "c"]);
    let held: Vec<String> = written.held_back.iter().map(|file| format!("{} {:?}", file.name, file.secrets)).collect();
    assert_eq!(
        held,
        [
            ".env Credential(\"dotenv-file\")",
            "b Hits([Hit { line: 2, rule: \"github-token\" }])",
            "large Hits([Hit { line: 70002, rule: \"github-token\" }])"
        ]
    );
    // Reported as binary, whatever its name.
    assert_eq!(written.binaries.len(), 1);
    let allowed = entries().into_iter().map(ArchiveEntry::allow_secrets).collect();
    let (written, names) = listed(&system, allowed);
    assert_eq!((names.len(), written.held_back.len()), (5, 0));
    // The guard follows the source file, not the name in the archive.
    let (written, names) = listed(&system, vec![ArchiveEntry::file("settings.txt", "/r/.env")]);
    assert_eq!((names.len(), written.held_back.len()), (0, 1));
}

/// Archives the entries, and returns the metadata and the names in the archive.
fn listed(system: &dyn System, entries: Vec<ArchiveEntry>) -> (Written, Vec<String>) {
    let (written, bytes) = archive(system, entries).unwrap();
    (written, list(&bytes).into_iter().map(|(name, ..)| name).collect())
}
