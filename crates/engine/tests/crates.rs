//! External crates through the whole pipeline: those that `cargo vendor` copied, verified by `.cargo-checksum.json`, and those of
//! Cargo's registry, verified by the archive that Cargo.lock names.

mod support;

use std::path::Path;

use expect_test::expect;
use miniz_oxide::deflate::compress_to_vec;
use stan_archive::{EntryHeader, append_end, append_header, padding};
use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::reports::{ArchiveMode, RunReport};
use stan_engine::context::{JsonStyle, NoProgress, Repository, RunRequest, build_map, run as run_context};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_lang::{PackageStore, PackageStores};
use stan_model::Ecosystem;
use stan_repo::{MemorySystem, SystemExt as _, sha256};
use support::{ROOT, cold, edges, graph_of, json, nodes, run};

const STATE: &str = "/r/.stan/context/dependency.state.json";
const VENDORED: &str = "pub fn v() {}\n";
const STORED: &str = "pub fn s() {}\n";
const STORE: &str = "/u/cargo/registry/src";

/// What `cargo vendor` writes beside the files of a crate.
fn checksums(archive: &str) -> String {
    format!("{{\"files\":{{\"src/lib.rs\":\"{}\"}},\"package\":\"{archive}\"}}", sha256(VENDORED.as_bytes()))
}

/// A `.crate` file.
fn archive(name: &str, contents: &str) -> Vec<u8> {
    let mut tar = Vec::new();
    let header = EntryHeader { name, size: contents.len() as u64, executable: false, modified: 0 };
    append_header(&mut tar, &header).unwrap();
    tar.extend_from_slice(contents.as_bytes());
    tar.resize(tar.len() + padding(contents.len() as u64), 0);
    let position = tar.len() as u64;
    append_end(&mut tar, position);
    let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    bytes.extend(compress_to_vec(&tar, 6));
    bytes.extend([0; 8]);
    bytes
}

/// An application with a vendored crate and a registry crate.
fn repository(ignore: &str) -> MemorySystem {
    let stored = archive("stored-2.0.0/src/lib.rs", STORED);
    let system = MemorySystem::from_fixture(
        "
        //- /r/Cargo.toml
        [package]
        name = \"app\"
        version = \"0.1.0\"
        edition = \"2021\"
        [dependencies]
        kept = \"1\"
        stored = \"2\"
        //- /r/.cargo/config.toml
        [source.crates-io]
        replace-with = \"vendored-sources\"
        [source.vendored-sources]
        directory = \"third\"
        //- /r/src/main.rs
        use kept::v;
        fn main() { v(); kept::inner::deep(); stored::s(); }
        //- /r/third/kept/Cargo.toml
        [package]
        name = \"kept\"
        version = \"1.2.3\"
        //- /r/third/kept/src/inner.rs
        pub fn deep() {}
        //- /u/cargo/registry/src/index-0/stored-2.0.0/Cargo.toml
        [package]
        name = \"stored\"
        version = \"2.0.0\"
        ",
    );
    let lock = format!(
        "[[package]]\nname = \"kept\"\nversion = \"1.2.3\"\nchecksum = \"{}\"\n\n\
         [[package]]\nname = \"stored\"\nversion = \"2.0.0\"\nchecksum = \"{}\"\n",
        "a".repeat(64),
        sha256(&stored)
    );
    system.set_file("/r/.gitignore", ignore);
    system.set_file("/r/Cargo.lock", lock);
    system.set_file("/r/third/kept/src/lib.rs", VENDORED);
    system.set_file("/r/third/kept/.cargo-checksum.json", checksums(&"a".repeat(64)));
    system.set_file("/u/cargo/registry/src/index-0/stored-2.0.0/src/lib.rs", STORED);
    system.set_file("/u/cargo/registry/cache/index-0/stored-2.0.0.crate", stored);
    system
}

fn stores() -> PackageStores {
    PackageStores::new(vec![PackageStore { ecosystem: Ecosystem::Crates, folder: STORE.to_owned() }])
}

fn options() -> GraphOptions {
    let mut options = GraphOptions::new(ROOT);
    options.stores = stores();
    options
}

fn config() -> Config {
    Config { stores: stores(), ..Config::default() }
}

fn context_run(system: &MemorySystem) -> RunReport {
    system.set_file(STATE, "{\"v\":2,\"i\":[[\"src/main.rs\",1]]}");
    let request = RunRequest::new(ArchiveMode::Context, GraphRequest::default());
    let engine = Engine::new(system).with_threads(Some(2));
    let config = config();
    run_context(&engine, &Repository { root: ROOT, config: &config }, &request, &mut NoProgress).unwrap()
}

fn staged(system: &MemorySystem, path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    system.read_into(Path::new(&format!("/r/.stan/context/crates/{path}")), &mut bytes).ok()?;
    Some(String::from_utf8(bytes).unwrap())
}

#[test]
fn vendored_crates_are_externals_whether_git_ignores_them_or_not() {
    let outcomes = ["", "third/\n"].map(|ignore| cold(&repository(ignore), &options()));
    for outcome in &outcomes {
        expect![[r#"
            src/main.rs -> crates:stored@2.0.0/src/lib.rs runtime
            src/main.rs -> third/kept/src/lib.rs runtime
        "#]]
        .assert_eq(&edges(outcome));
    }
    expect![[r#"
        source .cargo/config.toml
        source .gitignore
        source Cargo.lock
        source Cargo.toml
        external crates:stored@2.0.0/src/lib.rs
        source src/main.rs
        external third/kept/src/lib.rs
    "#]]
    .assert_eq(&nodes(&outcomes[0]));
    assert_eq!(nodes(&outcomes[0]), nodes(&outcomes[1]));
}

#[test]
fn a_crate_without_checksums_is_a_package_of_the_repository() {
    let system = repository("");
    system.remove("/r/third/kept/.cargo-checksum.json");
    let outcome = cold(&system, &options());
    let graph = graph_of(&outcome);
    let kinds: Vec<_> =
        graph.nodes().iter().filter(|node| node.id.starts_with("third/")).map(|node| node.kind).collect();
    assert_eq!(kinds, [stan_model::NodeKind::Source; 3]);
}

#[test]
fn warm_runs_detect_added_and_removed_checksums() {
    let request = || GraphRequest { cache_directory: Some("/cache".to_owned()), ..GraphRequest::default() };
    for ignore in ["", "third/\n"] {
        let system = repository(ignore);
        let first = json(&run(&system, &options(), &request()));
        assert_eq!(json(&run(&system, &options(), &request())), first);
        system.remove("/r/third/kept/.cargo-checksum.json");
        let without = json(&run(&system, &options(), &request()));
        assert_ne!(without, first);
        assert_eq!(without, json(&cold(&system, &options())));
        system.set_file("/r/third/kept/.cargo-checksum.json", checksums(&"a".repeat(64)));
        assert_eq!(json(&run(&system, &options(), &request())), first);
    }
}

#[test]
fn crates_are_staged_by_name_and_version() {
    for ignore in ["", "third/\n"] {
        let system = repository(ignore);
        let config = config();
        let repository = Repository { root: ROOT, config: &config };
        let built = build_map(&Engine::new(&system), &repository, &GraphRequest::default()).unwrap();
        let mut document = Vec::new();
        built.write(&mut document, JsonStyle::Indented).unwrap();
        let map = String::from_utf8(document).unwrap();
        assert!(map.contains("\".stan/context/crates/kept/1.2.3/src/lib.rs\""), "{map}");
        assert!(map.contains("\".stan/context/crates/stored/2.0.0/src/lib.rs\""), "{map}");
        let report = context_run(&system);
        assert!(report.left_out.iter().all(|left| left.path == "Cargo.lock"), "{:?}", report.left_out);
        assert_eq!(staged(&system, "kept/1.2.3/src/lib.rs").as_deref(), Some(VENDORED));
        assert_eq!(staged(&system, "stored/2.0.0/src/lib.rs").as_deref(), Some(STORED));
    }
}

#[test]
fn a_crate_with_another_checksum_is_left_out() {
    let check = |change: &dyn Fn(&MemorySystem), file: &str, reason: &str| {
        let system = repository("");
        change(&system);
        let report = context_run(&system);
        let left_out: Vec<String> =
            report.left_out.iter().map(|left| format!("{}: {}", left.path, left.reason)).collect();
        assert!(left_out.iter().any(|line| line.contains(file) && line.contains(reason)), "{left_out:?}");
        assert_eq!(staged(&system, file), None);
    };
    let kept = "kept/1.2.3/src/lib.rs";
    check(
        &|system| {
            system.set_file("/r/third/kept/src/lib.rs", "pub fn w() {}\n");
        },
        kept,
        "is not the file",
    );
    let other = checksums(&"b".repeat(64));
    check(
        &|system| {
            system.set_file("/r/third/kept/.cargo-checksum.json", &*other);
        },
        kept,
        "that Cargo.lock names",
    );
    check(
        &|system| {
            system.set_file("/r/third/kept/.cargo-checksum.json", "{}");
        },
        kept,
        "has no list of files",
    );
    let stored = "stored/2.0.0/src/lib.rs";
    let crate_file = "/u/cargo/registry/cache/index-0/stored-2.0.0.crate";
    check(
        &|system| {
            system.set_file(crate_file, "x");
        },
        stored,
        "does not have the checksum that Cargo.lock names",
    );
    check(
        &|system| {
            system.remove(crate_file);
        },
        stored,
        "cannot be read",
    );
    let unpacked = "/u/cargo/registry/src/index-0/stored-2.0.0/src/lib.rs";
    check(
        &|system| {
            system.set_file(unpacked, "pub fn t() {}\n");
        },
        stored,
        "is not the file",
    );
}
