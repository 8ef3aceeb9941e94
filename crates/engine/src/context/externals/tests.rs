//! Packages of files in every layout that package managers create, and manifests that name no package.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use stan_graph::{GraphBuilder, Node, canonical_id};
use stan_repo::{Links, MemorySystem, Stat, SystemLayer};

use super::*;

fn graph(ids: &[&str]) -> Graph {
    let mut builder = GraphBuilder::new();
    for (key, id) in (0..).zip(ids) {
        builder.node(key, Node::bare((*id).into(), NodeKind::External));
    }
    builder.finish().unwrap().graph
}

/// The package of one external, as `name version path`, with `-` for none.
fn check(fixture: &str, cases: &[(&str, &str)]) {
    let system = MemorySystem::from_fixture(fixture);
    let ids: Vec<&str> = cases.iter().map(|(id, _)| *id).collect();
    let graph = graph(&ids);
    let externals = locate_externals(&system, &GraphOptions::new("/r"), &graph).0;
    for (id, expected) in cases {
        let file = &externals[&graph.find(id).unwrap()];
        let package = file.package.as_ref();
        let shown =
            package.map_or("-".to_owned(), |package| format!("{} {} {}", package.name, package.version, package.path));
        assert_eq!(shown, *expected, "{id}");
    }
}

#[test]
fn the_folder_below_node_modules_is_the_package() {
    check(
        r#"
        //- /r/package.json
        {"name": "root", "version": "9.0.0"}
        //- /r/node_modules/p/package.json
        {"name": "p", "version": "1.0.0"}
        //- /r/node_modules/p/esm/package.json
        {"type": "module"}
        //- /r/node_modules/p/inner/package.json
        {"name": "inner", "version": "2.0.0"}
        //- /r/node_modules/p/half/package.json
        {"name": "half"}
        //- /r/node_modules/@s/q/package.json
        {"name": "@s/q", "version": "3.0.0-rc.1"}
        //- /r/node_modules/alias/package.json
        {"name": "real", "version": "4.0.0"}
        //- /r/node_modules/bare/x.js
        "#,
        &[
            ("node_modules/p/x.js", "p 1.0.0 x.js"),
            ("node_modules/p/esm/deep/x.js", "p 1.0.0 esm/deep/x.js"),
            ("node_modules/p/inner/a/x.js", "p 1.0.0 inner/a/x.js"),
            ("node_modules/p/half/x.js", "p 1.0.0 half/x.js"),
            ("node_modules/@s/q/x.js", "@s/q 3.0.0-rc.1 x.js"),
            ("node_modules/alias/x.js", "real 4.0.0 x.js"),
            // The manifest of the repository is above the last `node_modules`.
            ("node_modules/bare/x.js", "-"),
            ("node_modules/x.js", "-"),
            ("my_node_modules/x.js", "-"),
            ("node_modules_2/x.js", "-"),
        ],
    );
}

#[test]
fn stores_and_parents_have_packages_too() {
    check(
        r#"
        //- /r/node_modules/.pnpm/p@1.0.0/node_modules/p/package.json
        {"name": "p", "version": "1.0.0"}
        //- /r/node_modules/a/package.json
        {"name": "a", "version": "1.0.0"}
        //- /r/node_modules/a/node_modules/b/package.json
        {"name": "b", "version": "2.0.0"}
        //- /node_modules/up/package.json
        {"name": "up", "version": "1.0.0"}
        //- /linked/package.json
        {"name": "linked", "version": "1.0.0"}
        //- /o/node_modules/package.json
        {"name": "odd", "version": "1.0.0"}
        "#,
        &[
            ("node_modules/.pnpm/p@1.0.0/node_modules/p/x.js", "p 1.0.0 x.js"),
            ("node_modules/a/node_modules/b/x.js", "b 2.0.0 x.js"),
            ("node_modules/a/node_modules/c/x.js", "-"),
            ("/node_modules/up/lib/x.js", "up 1.0.0 lib/x.js"),
            ("/linked/x.js", "-"),
            ("/o/node_modules/x.js", "-"),
        ],
    );
}

#[test]
fn invalid_manifests_are_skipped() {
    let system = MemorySystem::new();
    system.set_file("/r/node_modules/p/package.json", "\u{feff}{\"name\":\"p\",\"version\":\"1\"}");
    let huge = format!("{{\"name\":\"h\",\"version\":\"1\",\"x\":\"{}\"}}", "x".repeat(5 << 20));
    let deep = format!("{{\"name\":\"d\",\"version\":\"1\",\"x\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for (name, text) in [
        ("broken", "{\"name\":"),
        ("list", "[]"),
        ("numbers", "{\"name\":1,\"version\":2}"),
        ("huge", &huge),
        ("deep", &deep),
        ("binary", "\0\0"),
        ("empty", ""),
    ] {
        system.set_file(format!("/r/node_modules/p/{name}/package.json"), text);
        let graph = graph(&[&format!("node_modules/p/{name}/x.js")]);
        let externals = locate_externals(&system, &GraphOptions::new("/r/"), &graph).0;
        let expected = PackageFile {
            ecosystem: Ecosystem::Npm,
            name: "p".into(),
            version: "1".into(),
            path: format!("{name}/x.js"),
        };
        assert_eq!(externals[&0].package, Some(expected), "{name}");
        assert_eq!(externals[&0].absolute, format!("/r/node_modules/p/{name}/x.js"));
    }
    system.set_unreadable("/r/node_modules/p/package.json", true);
    assert_eq!(
        locate_externals(&system, &GraphOptions::new("/r"), &graph(&["node_modules/p/x.js"])).0[&0].package,
        None
    );
}

#[test]
fn hostile_names_do_not_leave_the_context_directory() {
    let system = MemorySystem::new();
    system.set_file("/r/node_modules/p/package.json", r#"{"name":"../../../evil","version":"1"}"#);
    let externals = locate_externals(&system, &GraphOptions::new("/r"), &graph(&["node_modules/p/x.js"])).0;
    let id = canonical_id(".stan", &externals[&0]);
    assert!(id.starts_with(".stan/context/abs/") && id.ends_with("/x.js"), "{id}");
}

/// The name and version of a package become a public address, so a manifest that is a link to another place gives none.
#[test]
fn a_manifest_behind_a_link_counts_if_it_is_of_an_installed_package() {
    check(
        r#"
        //- /homes/secret.json
        {"name": "secret", "version": "1.2.3"}
        //- link /r/node_modules/p/package.json -> ../../../homes/secret.json
        //- /r/node_modules/.store/node_modules/q/package.json
        {"name": "q", "version": "1.0.0"}
        //- link /r/node_modules/q/package.json -> ../.store/node_modules/q/package.json
        "#,
        &[("node_modules/p/x.js", "-"), ("node_modules/q/x.js", "q 1.0.0 x.js")],
    );
}

/// Counts reads.
struct Counting {
    inner: MemorySystem,
    reads: AtomicUsize,
}

impl SystemLayer for Counting {
    type Inner = MemorySystem;
    fn inner(&self) -> &MemorySystem {
        &self.inner
    }
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.read_file(path, links, limit, buffer)
    }
}

#[test]
fn every_manifest_is_read_once() {
    let inner = MemorySystem::new();
    inner.set_file("/r/node_modules/p/package.json", r#"{"name":"p","version":"1"}"#);
    let system = Counting { inner, reads: AtomicUsize::new(0) };
    let ids: Vec<String> = (0..1000).map(|index| format!("node_modules/p/d{}/e/x{index}.css", index % 10)).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let externals = locate_externals(&system, &GraphOptions::new("/r"), &graph(&ids)).0;
    assert!(externals.values().all(|file| file.package.is_some()));
    assert_eq!(system.reads.load(Ordering::Relaxed), 1);
}

#[test]
fn externals_are_described_by_themselves_or_by_their_package() {
    let system = MemorySystem::from_fixture(
        r#"
        //- /r/node_modules/p/package.json
        {"name": "p", "version": "1.0.0", "description": "  A package\nof things. "}
        //- /r/node_modules/p/index.js
        module.exports = 1;
        //- /r/node_modules/p/lib/x.js
        /** Words about x. @module */
        //- /r/node_modules/p/lib/y.js
        "#,
    );
    let graph = graph(&["node_modules/p/index.js", "node_modules/p/lib/x.js", "node_modules/p/lib/y.js"]);
    let externals = locate_externals(&system, &GraphOptions::new("/r"), &graph).0;
    let found: Vec<Option<&str>> = externals.values().map(|file| file.description.as_deref()).collect();
    assert_eq!(found, [Some("A package of things."), Some("Words about x."), None]);
}
