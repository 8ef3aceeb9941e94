//! Modules of Go's module cache through the whole pipeline: nodes by module and version, staged only with the hash in go.sum,
//! warm runs, and private maps with modules that go.sum does not list.

mod support;

use std::path::Path;

use expect_test::{Expect, expect};
use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::reports::{ArchiveMode, RunReport};
use stan_engine::context::{
    EngineError, JsonStyle, NamedBytes, NoProgress, Repository, RunRequest, SelectRequest, build_map,
    run as run_context, select,
};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_engine::pack::verify_pack;
use stan_lang::{PackageStore, PackageStores};
use stan_model::Ecosystem;
use stan_repo::{MemorySystem, SystemExt as _};
use support::{ROOT, edges, json, nodes, run};

const STATE: &str = "/r/.stan/context/dependency.state.json";
const MAP: &str = "/r/.stan/context/dependency.map.json";

/// `CACHE` is the module cache. The hash of `fork` is as `go mod download` writes it.
const REPOSITORY: &str = "
//- /r/go.mod
module example.com/app
require example.com/Acme/tools v1.2.0
require example.com/fork v0.3.0
//- /r/go.sum
example.com/Acme/tools v1.2.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
example.com/fork v0.3.0 h1:aZ5ZY+SWdEYpA4GNrgi7B9Sju0kMSxjBoEDDmgZ+7Wo=
//- /r/main.go
package main
import (
\t\"example.com/Acme/tools\"
\t\"example.com/fork\"
)
func main() { tools.Saw(orig.O) }
//- CACHE/example.com/!acme/tools@v1.2.0/hammer.go
package tools
func Hammer() {}
//- CACHE/example.com/!acme/tools@v1.2.0/saw.go
package tools
func Saw(int) {}
//- CACHE/example.com/!acme/tools@v1.2.0/saw_test.go
package tools
";

/// A module cache at this path.
fn repository(cache: &str) -> MemorySystem {
    let system = MemorySystem::from_fixture(&REPOSITORY.replace("CACHE", cache));
    system.set_file(format!("{cache}/example.com/fork@v0.3.0/go.mod"), "module example.com/orig\n\ngo 1.19\n");
    system.set_file(format!("{cache}/example.com/fork@v0.3.0/o.go"), "package orig\n\nconst O = 1\n");
    system
}

fn stores(cache: &str) -> PackageStores {
    PackageStores::new(vec![PackageStore { ecosystem: Ecosystem::Go, folder: cache.to_owned() }])
}

fn options(cache: &str) -> GraphOptions {
    let mut options = GraphOptions::new(ROOT);
    options.stores = stores(cache);
    options
}

fn config(cache: &str) -> Config {
    Config { stores: stores(cache), ..Config::default() }
}

fn request(cache: bool) -> GraphRequest {
    GraphRequest { cache_directory: cache.then(|| "/cache".to_owned()), ..GraphRequest::default() }
}

fn context_run(system: &MemorySystem, config: &Config, frozen: bool) -> Result<RunReport, EngineError> {
    let request = RunRequest { frozen, ..RunRequest::new(ArchiveMode::Context, GraphRequest::default()) };
    let engine = Engine::new(system).with_threads(Some(2));
    run_context(&engine, &Repository { root: ROOT, config }, &request, &mut NoProgress)
}

fn read(system: &MemorySystem, path: &str) -> String {
    let mut bytes = Vec::new();
    system.read_into(Path::new(path), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn exists(system: &MemorySystem, path: &str) -> bool {
    let mut bytes = Vec::new();
    system.read_into(Path::new(path), &mut bytes).is_ok()
}

#[test]
fn imports_resolve_to_the_files_that_declare_the_used_names() {
    let outcome = run(&repository("/u/go/pkg/mod"), &options("/u/go/pkg/mod"), &request(false));
    // The package name of `fork` does not follow from its path.
    expect![[r#"
        main.go -> go:example.com/Acme/tools@v1.2.0/saw.go runtime
        main.go -> go:example.com/fork@v0.3.0/o.go runtime
    "#]]
    .assert_eq(&edges(&outcome));
    expect![[r#"
        source go.mod
        source go.sum
        external go:example.com/Acme/tools@v1.2.0/saw.go
        external go:example.com/fork@v0.3.0/o.go
        source main.go
    "#]]
    .assert_eq(&nodes(&outcome));
}

#[test]
fn the_answer_does_not_depend_on_the_path_of_the_module_cache() {
    let places = ["/u/go/pkg/mod", "/homes/someone/else"];
    let graphs = places.map(|cache| json(&run(&repository(cache), &options(cache), &request(false))));
    assert_eq!(graphs[0], graphs[1]);
    let maps = places.map(|cache| {
        let (system, config) = (repository(cache), config(cache));
        let repository = Repository { root: ROOT, config: &config };
        let built = build_map(&Engine::new(&system), &repository, &request(false)).unwrap();
        let mut document = Vec::new();
        built.write(&mut document, JsonStyle::Indented).unwrap();
        String::from_utf8(document).unwrap()
    });
    assert_eq!(maps[0], maps[1]);
    assert!(maps[0].contains("\".stan/context/go/example.com/Acme/tools@v1.2.0/saw.go\""), "{}", maps[0]);
    assert!(!graphs[0].contains("/u/go") && !maps[0].contains("/u/go"));
}

/// The outcome of selecting everything that `main.go` imports.
fn check_staged(system: &MemorySystem, expected: Expect) {
    system.set_file(STATE, "{\"v\":2,\"i\":[[\"main.go\",1]]}\n");
    let config = config("/u/mod");
    let report = context_run(system, &config, false).unwrap();
    let mut out = String::new();
    for id in ["example.com/Acme/tools@v1.2.0/saw.go", "example.com/fork@v0.3.0/o.go"] {
        let is_staged = exists(system, &format!("/r/.stan/context/go/{id}"));
        out += &format!("{} {id}\n", if is_staged { "staged" } else { "absent" });
    }
    for file in report.left_out.iter().filter(|file| file.path.contains("context/go")) {
        out += &format!("left out {}: {}\n", file.path, file.reason);
    }
    expected.assert_eq(&out);
    // `select` must agree with the run.
    let engine = Engine::new(system).with_threads(Some(2));
    let selected = select(&engine, &Repository { root: ROOT, config: &config }, &SelectRequest::default()).unwrap();
    let left_out = selected.left_out.iter().filter(|file| file.path.contains("context/go")).count();
    assert_eq!(left_out, out.matches("left out").count());
}

#[test]
fn only_modules_with_the_hash_of_go_sum_are_staged() {
    check_staged(
        &repository("/u/mod"),
        expect![[r#"
            absent example.com/Acme/tools@v1.2.0/saw.go
            staged example.com/fork@v0.3.0/o.go
            left out .stan/context/go/example.com/Acme/tools@v1.2.0/saw.go: the files of example.com/Acme/tools@v1.2.0 in the module cache do not have the hash that go.sum names (`go mod verify` tells more)
        "#]],
    );
    let system = repository("/u/mod");
    system.set_link("/u/mod/example.com/fork@v0.3.0/link.go", "/etc/passwd");
    check_staged(
        &system,
        expect![[r#"
            absent example.com/Acme/tools@v1.2.0/saw.go
            absent example.com/fork@v0.3.0/o.go
            left out .stan/context/go/example.com/Acme/tools@v1.2.0/saw.go: the files of example.com/Acme/tools@v1.2.0 in the module cache do not have the hash that go.sum names (`go mod verify` tells more)
            left out .stan/context/go/example.com/fork@v0.3.0/o.go: there is a link among the files of its package
        "#]],
    );
}

#[test]
fn a_private_map_names_no_module_that_go_sum_does_not_name() {
    let system = repository("/u/mod");
    system.set_file(STATE, "{\"v\":2,\"i\":[\".stan/context/go/example.com/fork@v0.3.0/o.go\"]}\n");
    let config = config("/u/mod");
    context_run(&system, &config, false).unwrap();
    context_run(&system, &config, true).unwrap();
    // Another path in the module cache, and a path outside.
    let private = read(&system, MAP);
    for place in ["/u/mod/example.com/private@v1.0.0/o.go", "/u/.ssh/o.go", "/u/mod/cache/o.go"] {
        system.set_file(place, "package orig\n\nconst O = 1\n");
        system.set_file(MAP, private.replace("/u/mod/example.com/fork@v0.3.0/o.go", place));
        let error = context_run(&system, &config, true).unwrap_err().to_string();
        assert!(error.contains("points to files that the map does not name"), "{place}: {error}");
    }
    // The lock file does not list the module any more.
    system.set_file(MAP, private).set_file("/r/go.sum", "");
    let error = context_run(&system, &config, true).unwrap_err().to_string();
    assert!(error.contains("may not be read without consent"), "{error}");
}

#[test]
fn the_configuration_can_forbid_the_module_cache() {
    let system = repository("/u/mod");
    let mut config = config("/u/mod");
    config.context.outside_root = false;
    let outcome = run(&system, &config.graph_options(ROOT), &request(false));
    expect![[r#"
        main.go -> example.com/Acme/tools runtime
        main.go -> example.com/fork runtime
        error: go.mod: imports cannot be resolved, because `context.outsideRoot` forbids the module cache, which may have example.com/Acme/tools v1.2.0, example.com/fork v0.3.0: --allow-outside DIR allows it
    "#]]
    .assert_eq(&edges(&outcome));
}

/// The result of `stan verify PACK` for a pack with files of the module cache.
#[test]
fn a_pack_is_verified_against_the_module_cache() {
    let system = repository("/cache/mod");
    let config = config("/cache/mod");
    let repository = Repository { root: ROOT, config: &config };
    let saw = stan_repo::sha256(b"package tools\nfunc Saw(int) {}\n");
    let pack = |path: &str| {
        let text = format!("```go {path}:1-2 ({})\n```\n<!-- stan.pack@1 sha256:0 -->\n", &saw.to_string()[..12]);
        let pack = NamedBytes { name: "p.md".to_owned(), bytes: text.into_bytes() };
        let report = verify_pack(&Engine::new(&system), &repository, &pack).unwrap();
        (report.matches, report.differ.len(), report.gone, report.warnings.len())
    };
    let none = Vec::<String>::new;
    assert_eq!(pack("go:example.com/Acme/tools@v1.2.0/saw.go"), (true, 0, none(), 0));
    let hammer = "go:example.com/Acme/tools@v1.2.0/hammer.go";
    assert_eq!(pack(hammer), (false, 1, none(), 0));
    let gone = "go:example.com/Acme/tools@v1.2.0/gone.go";
    assert_eq!(pack(gone), (false, 0, vec![gone.to_owned()], 0));
    // No lock file lists this version.
    assert_eq!(pack("go:example.com/Acme/tools@v1.3.0/saw.go"), (true, 0, none(), 1));
}

#[test]
fn warm_runs_are_cold_runs() {
    let system = repository("/u/mod");
    let (options, config) = (options("/u/mod"), config("/u/mod"));
    let saw = "/u/mod/example.com/!acme/tools@v1.2.0/saw.go";
    let sum = read(&system, "/r/go.sum");
    let steps: [(&str, &dyn Fn()); 10] = [
        ("nothing", &|| ()),
        ("a file of a module declares something else", &|| {
            system.set_file(saw, "package tools\nfunc Axe(int) {}\n");
        }),
        ("a file is new in a module", &|| {
            system.set_file("/u/mod/example.com/!acme/tools@v1.2.0/more.go", "package tools\nfunc Saw() {}\n");
        }),
        ("a file of a module is gone", &|| {
            system.remove(saw);
        }),
        ("a file that is not a node changes", &|| {
            system.set_file("/u/mod/example.com/!acme/tools@v1.2.0/hammer.go", "package tools\nfunc Saw() {}\n");
        }),
        ("go.sum names less", &|| {
            system.set_file("/r/go.sum", sum.lines().last().unwrap());
        }),
        ("go.sum names everything", &|| {
            system.set_file("/r/go.sum", &*sum);
        }),
        ("another version is required and not there", &|| {
            system.set_file("/r/go.mod", "module example.com/app\nrequire example.com/fork v0.4.0\n");
            system.set_file("/r/go.sum", format!("{sum}example.com/fork v0.4.0 h1:{}=\n", "A".repeat(43)));
        }),
        ("the other version is downloaded", &|| {
            system.set_file("/u/mod/example.com/fork@v0.4.0/o.go", "package orig\n");
        }),
        ("an import goes", &|| {
            system.set_file("/r/main.go", "package main\nimport \"example.com/fork\"\n");
        }),
    ];
    for (number, (what, step)) in (1..).zip(steps) {
        system.set_now(number * 100_000_000_000);
        step();
        let cold = json(&run(&system, &options, &request(false)));
        let map = |cache: bool| {
            let built = build_map(&Engine::new(&system), &Repository { root: ROOT, config: &config }, &request(cache));
            let built = built.unwrap();
            let mut document = Vec::new();
            built.write(&mut document, JsonStyle::Minified).unwrap();
            (String::from_utf8(document).unwrap(), built.externals_lock)
        };
        let cold_map = map(false);
        for _ in 0..2 {
            assert_eq!(json(&run(&system, &options, &request(true))), cold, "{what}");
            assert_eq!(map(true), cold_map, "{what}");
        }
    }
}
