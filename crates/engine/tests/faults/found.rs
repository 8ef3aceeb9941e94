//! Minimal cases of bugs that the suite found. The failing call is selected by name.

use std::path::Path;

use stan_engine::config::find;
use stan_engine::graph::{CacheUse, graph};
use stan_engine::init::{InitOptions, apply, plan};
use stan_repo::{Effect, Fault, FaultySystem, MemorySystem, System, SystemExt as _, WritableSystem};

use crate::paths::{Done, PATHS, ROOT, WritePath, edit, edited, engine, opened, people, the_graph, work};

fn path(name: &str) -> &'static WritePath {
    PATHS.iter().find(|path| path.name == name).expect("it is in the table")
}

/// Runs `act` with the fault in the first call of this kind on a path that ends with `end`.
fn run_with_fault<T>(
    before: &MemorySystem,
    fault: Fault,
    effect: Effect,
    end: &str,
    act: impl Fn(&dyn WritableSystem) -> T,
) -> (T, MemorySystem) {
    for at in 0.. {
        let system = before.duplicate();
        let faulty = FaultySystem::new(&system, fault, at, false);
        let result = act(&faulty);
        let injected = faulty.injected();
        let (happened, path) = injected.first().expect("the effect that is meant never happens");
        if *happened == effect && path.to_string_lossy().ends_with(end) {
            return (result, system);
        }
    }
    unreachable!("positions end before numbers do")
}

fn read(system: &MemorySystem, path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    system.read_into(Path::new(path), &mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

#[test]
fn a_folder_hidden_by_a_transient_error_stays_in_the_baseline() {
    let before = edited();
    let snapshot = |system: &MemorySystem| read(system, "/r/.stan/diff/.archive.snapshot.json");
    for fault in [Fault::TooManyFiles, Fault::Io] {
        let (result, after) = run_with_fault(&before, fault, Effect::List, "/r/src", path("snap").act);
        let message = result.unwrap_err();
        assert!(message.contains("`/r/src` could not be read") && message.contains("run again"), "{message}");
        assert_eq!(snapshot(&after), snapshot(&before));
    }
}

#[test]
fn a_manifest_hidden_by_a_transient_error_stays_in_the_map() {
    let manifest = "/r/node_modules/zed/package.json";
    let (result, _) =
        run_with_fault(&edited(), Fault::Io, Effect::Read, manifest, path("run --context, a later one").act);
    assert!(result.unwrap_err().contains("zed/package.json"));
}

#[test]
fn a_configuration_whose_lstat_fails_is_not_absent() {
    let before = opened();
    for fault in [Fault::Io, Fault::Denied] {
        let config = "/r/stan.config.yml";
        let (result, _) = run_with_fault(&before, fault, Effect::Stat, config, |system| find(system, ROOT, None));
        assert!(result.unwrap_err().to_string().contains("stan.config.yml"));
        let options = InitOptions::default();
        let config = "/r/stan.config.yml";
        let (result, _) = run_with_fault(&before, fault, Effect::Stat, config, |system| {
            plan(&engine(system), ROOT, ".stan", &options)
        });
        assert!(result.unwrap_err().to_string().contains("stan.config.yml: this cannot be read"));
    }
    // EACCES on parent folders is common and says nothing about this folder.
    let above = MemorySystem::from_fixture("//- /top/r/a.ts\n");
    let config = "/top/stan.config.yml";
    let (result, _) =
        run_with_fault(&above, Fault::Denied, Effect::Stat, config, |system| find(system, "/top/r", None));
    assert_eq!(result.unwrap().root, "/top/r");
}

#[test]
fn a_denial_is_not_kept_for_the_next_user() {
    let before = edited();
    let expected = the_graph(&before.duplicate()).unwrap();
    let (denied, after) = run_with_fault(&before, Fault::Denied, Effect::Read, "/r/src/helper.ts", the_graph);
    assert_ne!(denied.unwrap(), expected);
    assert_eq!(the_graph(&after).unwrap(), expected, "the files are the same, and who may read them is another");
}

#[test]
fn the_graph_reports_files_that_an_error_may_have_hidden() {
    let (result, after) = run_with_fault(&edited(), Fault::Io, Effect::Stat, "/elsewhere/shared.ts", the_graph);
    let Done { said, .. } = result.unwrap();
    assert!(said.iter().any(|line| line.starts_with("../elsewhere/shared.ts: could not be read")), "{said:?}");
    assert_eq!(the_graph(&after).unwrap(), the_graph(&edited()).unwrap());
}

#[test]
fn imports_that_cannot_be_read_stay_staged() {
    let before = edited();
    let notes = "/elsewhere/notes";
    let (result, after) = run_with_fault(&before, Fault::Denied, Effect::List, notes, path("run").act);
    let said = result.unwrap().said;
    assert!(said.iter().any(|line| line.contains("what was staged before stays")), "{said:?}");
    for note in ["/r/.stan/imports/notes/a.md", "/r/.stan/imports/notes/b.md"] {
        assert_eq!(read(&after, note), read(&before, note), "{note}");
    }
}

#[test]
fn the_selection_is_flushed_by_every_writer() {
    for (name, file) in [("suggest --write", "-dependency.state.json"), ("state migrate FILE", "-mine.json")] {
        let path = path(name);
        let (result, after) = run_with_fault(&(path.before)(), Fault::Io, Effect::Sync, file, path.act);
        assert!(result.unwrap_err().contains("input/output error"), "{name}");
        assert!((path.act)(&after).is_ok(), "{name}");
    }
}

#[test]
fn leftovers_of_killed_writers_are_removed_by_the_next_one() {
    let system = people();
    let (left, theirs) = ("/r/.stan-tmp-7-0-AGENTS.md", "/r/.stan-tmp-notes");
    system.set_file(left, "half").set_file(theirs, "of another user");
    apply(&engine(&system), &plan(&engine(&system), ROOT, ".stan", &InitOptions::default()).unwrap()).unwrap();
    assert!(read(&system, left).is_some(), "without --agents, AGENTS.md is not looked after");
    (path("init --force --agents").act)(&system).unwrap();
    assert_eq!((read(&system, left), read(&system, theirs).as_deref()), (None, Some("of another user")));
    // A run that finds nothing changed writes no cache, but still cleans up.
    let system = edited();
    the_graph(&system).unwrap();
    let left = "/r/.stan/cache/.stan-tmp-7-0-graph.data";
    system.set_file(left, "half");
    the_graph(&system).unwrap();
    assert_eq!(read(&system, left), None);
}

#[test]
fn clocks_that_go_back_change_no_answer() {
    let options = || find(&opened(), ROOT, None).unwrap().config.graph_options(ROOT);
    let fresh = |system: &MemorySystem| {
        let plain = system.duplicate();
        graph(&engine(&plain), &options(), &work(false)).unwrap().graph.map(|graph| graph.nodes().len())
    };
    let system = opened();
    system.set_now(9_000_000_000_000);
    the_graph(&system).unwrap();
    // The clock is set back by hours, so that later edits have times in the past.
    system.set_now(5_000_000_000_000);
    edit(&system);
    system.set_now(4_000_000_000_000).set_file("/r/src/index.ts", "import './added.js';\n");
    let warm = graph(&engine(&system), &options(), &work(true)).unwrap();
    assert_eq!(warm.graph.map(|graph| graph.nodes().len()), fresh(&system));
    // A different text of the same size and mtime, written in the same clock tick as the run: the stat proves nothing.
    system.set_file("/r/src/index.ts", "import './adder.js';\n");
    let warm = graph(&engine(&system), &options(), &work(true)).unwrap();
    assert_ne!(warm.work, CacheUse::Unchanged);
    assert_eq!(warm.graph.map(|graph| graph.nodes().len()), fresh(&system));
    // The same time, but another size.
    system.set_now(8_000_000_000_000);
    the_graph(&system).unwrap();
    let stat = system.lstat(Path::new("/r/src/index.ts")).unwrap();
    system.set_file("/r/src/index.ts", "").set_times("/r/src/index.ts", stat.mtime, stat.ctime);
    let warm = graph(&engine(&system), &options(), &work(true)).unwrap();
    assert_eq!(warm.graph.map(|graph| graph.nodes().len()), fresh(&system));
}
