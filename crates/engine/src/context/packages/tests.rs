//! Modules and crates that match their lock files, and every way in which they may not.

use miniz_oxide::deflate::compress_to_vec;
use stan_archive::{EntryHeader, append_end, append_header, padding};
use stan_model::document::externals_lock::PackageFile;
use stan_repo::{MemorySystem, sha256};

use super::*;

/// As `go mod download` writes it.
const GO_SUM: &str = "aZ5ZY+SWdEYpA4GNrgi7B9Sju0kMSxjBoEDDmgZ+7Wo=";
const FOLDER: &str = "/u/mod/example.com/fork@v0.3.0";

fn module() -> MemorySystem {
    let system = MemorySystem::new();
    system.set_file(format!("{FOLDER}/go.mod"), "module example.com/orig\n\ngo 1.19\n");
    system.set_file(format!("{FOLDER}/o.go"), "package orig\n\nconst O = 1\n");
    system
}

fn external(ecosystem: Ecosystem, locator: &str, path: &str, contents: &[u8]) -> LockedExternal {
    let (name, version, path) = ("n".to_owned(), "v".to_owned(), path.to_owned());
    let package = Some(PackageFile { ecosystem, name, version, path });
    LockedExternal { locator: locator.to_owned(), size: contents.len() as u64, sha256: sha256(contents), package }
}

/// Verifies `o.go` of the module.
fn check_module(system: &MemorySystem, expected: Result<&str, &str>) {
    let node = external(Ecosystem::Go, &format!("{FOLDER}/o.go"), "o.go", b"");
    let wanted = WantedFiles::from([("o.go", ("id", &node))]);
    let package =
        PackageVersion { ecosystem: Ecosystem::Go, name: "example.com/fork".into(), version: "v0.3.0".into() };
    let known = Digest(base64(GO_SUM).try_into().unwrap());
    let proof = PackageProof::Folder(vec![Digest([7; 32]), known]);
    let found = prove(system, "/r", &package, Some(&proof), &wanted);
    match (found, expected) {
        (Ok(digests), Ok(contents)) => {
            assert_eq!(digests, BTreeMap::from([("o.go".to_owned(), sha256(contents.as_bytes()))]));
        }
        (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
        (found, _) => panic!("{found:?}"),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = text.chars().filter_map(|letter| Some(format!("{:06b}", alphabet.find(letter)?))).collect();
    bits.as_bytes()
        .chunks_exact(8)
        .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
        .collect()
}

#[test]
fn a_module_matches_its_hash_in_go_sum() {
    check_module(&module(), Ok("package orig\n\nconst O = 1\n"));
}

#[test]
fn a_changed_module_is_not_proved() {
    let system = module();
    system.set_file(format!("{FOLDER}/o.go"), "package orig\n\nconst O = 2\n");
    check_module(&system, Err("do not have the hash that go.sum names"));
    let system = module();
    system.set_file(format!("{FOLDER}/sub/new.go"), "");
    check_module(&system, Err("do not have the hash that go.sum names"));
    let system = module();
    system.set_link(format!("{FOLDER}/link.go"), "o.go");
    check_module(&system, Err("there is a link"));
    check_module(&MemorySystem::new(), Err("cannot be listed"));
    let node = external(Ecosystem::Go, &format!("{FOLDER}/o.go"), "o.go", b"");
    let package = PackageVersion { ecosystem: Ecosystem::Go, name: "m.org/a".into(), version: "v1".into() };
    let reason = prove(&module(), "/r", &package, None, &WantedFiles::from([("o.go", ("id", &node))])).unwrap_err();
    assert_eq!(reason, "no lock file of the repository has a hash of m.org/a v1");
}

const CRATE: &str = "/u/registry/src/index-0/a-1.0.0";

/// A `.crate` file.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, contents) in files {
        append_header(&mut tar, &EntryHeader { name, size: contents.len() as u64, executable: false, modified: 0 })
            .unwrap();
        tar.extend_from_slice(contents.as_bytes());
        tar.resize(tar.len() + padding(contents.len() as u64), 0);
    }
    let position = tar.len() as u64;
    append_end(&mut tar, position);
    // With a name, as gzip writes it.
    let mut bytes = b"\x1f\x8b\x08\x08\0\0\0\0\0\xffa.tar\0".to_vec();
    bytes.extend(compress_to_vec(&tar, 6));
    bytes.extend([0; 8]);
    bytes
}

fn check_crate(archive: Option<&[u8]>, checksum: Digest, expected: Result<&str, &str>) {
    let system = MemorySystem::new();
    if let Some(archive) = archive {
        system.set_file("/u/registry/cache/index-0/a-1.0.0.crate", archive);
    }
    let node = external(Ecosystem::Crates, &format!("{CRATE}/src/lib.rs"), "src/lib.rs", b"");
    let wanted = WantedFiles::from([("src/lib.rs", ("id", &node))]);
    let package = PackageVersion { ecosystem: Ecosystem::Crates, name: "a".into(), version: "1.0.0".into() };
    let found = prove(&system, "/r", &package, Some(&PackageProof::Archive(vec![checksum])), &wanted);
    match (found, expected) {
        (Ok(digests), Ok(contents)) => {
            assert_eq!(digests, BTreeMap::from([("src/lib.rs".to_owned(), sha256(contents.as_bytes()))]));
        }
        (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
        (found, _) => panic!("{found:?}"),
    }
}

#[test]
fn a_crate_matches_the_files_of_its_archive() {
    let long = "x".repeat(100_000);
    let bytes = archive(&[
        ("a-1.0.0/Cargo.toml", "[package]"),
        ("a-1.0.0/long.txt", &long),
        ("a-1.0.0/src/lib.rs", "fn a() {}"),
    ]);
    check_crate(Some(&bytes), sha256(&bytes), Ok("fn a() {}"));
    check_crate(Some(&bytes), Digest([0; 32]), Err("does not have the checksum that Cargo.lock names"));
    check_crate(None, sha256(&bytes), Err("cannot be read in Cargo's registry"));
    let cut = &bytes[..bytes.len() / 2];
    check_crate(Some(cut), sha256(cut), Err("cannot be read"));
    check_crate(Some(b"no gzip"), sha256(b"no gzip"), Err("it is not a gzip file"));
}

#[test]
fn a_file_that_the_archive_does_not_have_is_not_proved() {
    let bytes = archive(&[("a-1.0.0/src/other.rs", ""), ("src/lib.rs", "fn elsewhere() {}")]);
    let node = external(Ecosystem::Crates, &format!("{CRATE}/src/lib.rs"), "src/lib.rs", b"");
    let system = MemorySystem::new();
    system.set_file("/u/registry/cache/index-0/a-1.0.0.crate", &*bytes);
    let proof = PackageProof::Archive(vec![sha256(&bytes)]);
    let package = PackageVersion { ecosystem: Ecosystem::Crates, name: "a".into(), version: "1.0.0".into() };
    let found = prove(&system, "/r", &package, Some(&proof), &WantedFiles::from([("src/lib.rs", ("id", &node))]));
    assert_eq!(found, Ok(BTreeMap::new()));
}

/// Verifies `src/lib.rs` of a vendored crate.
fn check_vendored(list: Option<&str>, locked: Option<Digest>, expected: Result<&str, &str>) {
    let system = MemorySystem::new();
    if let Some(list) = list {
        system.set_file("/r/vendor/a/.cargo-checksum.json", list);
    }
    let node = external(Ecosystem::Crates, "/r/vendor/a/src/lib.rs", "src/lib.rs", b"");
    let wanted = WantedFiles::from([("src/lib.rs", ("id", &node))]);
    let package = PackageVersion { ecosystem: Ecosystem::Crates, name: "a".into(), version: "1.0.0".into() };
    let proof = locked.map(|digest| PackageProof::Archive(vec![digest]));
    match (prove(&system, "/r", &package, proof.as_ref(), &wanted), expected) {
        (Ok(digests), Ok(contents)) => {
            assert_eq!(digests, BTreeMap::from([("src/lib.rs".to_owned(), sha256(contents.as_bytes()))]));
        }
        (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
        (found, _) => panic!("{found:?}"),
    }
}

#[test]
fn a_vendored_crate_matches_its_checksums() {
    let (archive, other) = (Digest([1; 32]), Digest([2; 32]));
    let files = format!("\"files\":{{\"src/lib.rs\":\"{}\",\"b\":\"{other}\"}}", sha256(b"pub fn a() {}"));
    let list = format!("{{{files},\"package\":\"{archive}\"}}");
    let from_git = format!("{{{files},\"package\":null}}");
    check_vendored(Some(&list), Some(archive), Ok("pub fn a() {}"));
    check_vendored(Some(&list), None, Ok("pub fn a() {}"));
    check_vendored(Some(&from_git), None, Ok("pub fn a() {}"));
    check_vendored(Some(&list), Some(other), Err("does not have the checksum that Cargo.lock names"));
    check_vendored(Some(&from_git), Some(archive), Err("does not have the checksum that Cargo.lock names"));
    check_vendored(Some("{}"), Some(archive), Err("has no list of files"));
    check_vendored(None, Some(archive), Err("cannot be read"));
}
