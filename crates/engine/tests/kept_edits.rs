//! Edits found by a run are stored beside the cache, so that later runs compare with the current files and do not find the same
//! differences again.

mod support;

use stan_engine::graph::{CacheUse, GraphOptions, GraphRequest};
use stan_repo::MemorySystem;
use support::{ROOT, cold, json, run};

const BEFORE: &str = "
    //- /r/a.ts
    import {x} from './barrel';
    //- /r/barrel.ts
    export * from './x';
    //- /r/x.ts
    export const x = 1;
    //- /r/package.json
    {}
";

/// A repository after a first run, and its clock.
struct Edited {
    system: MemorySystem,
    now: i64,
}

impl Edited {
    fn new() -> Self {
        let mut made = Self { system: MemorySystem::from_fixture(BEFORE), now: 0 };
        made.wait();
        made.run(false);
        made
    }

    /// Longer than the granularity of mtime, so that all stats are trusted afterwards.
    fn wait(&mut self) {
        self.now += 100_000_000_000;
        self.system.set_now(self.now);
    }

    fn write(&self, path: &str, text: &str) {
        self.system.set_file(format!("{ROOT}/{path}"), text);
    }

    /// The answer, which must equal that of a cold run, and how it was found.
    fn run(&self, stats_only: bool) -> CacheUse {
        let options = GraphOptions::new(ROOT);
        let request = GraphRequest {
            cache_directory: Some("/r/.stan/cache".into()),
            state_directory: Some("/state".into()),
            stats_only,
            ..GraphRequest::default()
        };
        let warm = run(&self.system, &options, &request);
        let cold = cold(&self.system, &options);
        assert_eq!((&warm.summary, warm.dirty, &warm.errors), (&cold.summary, cold.dirty, &cold.errors));
        if !stats_only {
            assert_eq!(json(&warm), json(&cold));
        }
        warm.work
    }
}

#[test]
fn the_run_after_an_edit_is_unchanged() {
    let mut edited = Edited::new();
    edited.write("a.ts", "import {x} from './barrel'; import './gone';");
    edited.wait();
    assert_eq!(edited.run(true), CacheUse::Edited(1));
    assert_eq!(edited.run(true), CacheUse::Unchanged);
    assert_eq!(edited.run(false), CacheUse::Edited(1), "the graph is updated where it is wanted");
    edited.write("x.ts", "export const x = 1, y = 2;");
    edited.wait();
    assert_eq!(edited.run(false), CacheUse::Edited(2), "both differ from the data");
    assert_eq!(edited.run(true), CacheUse::Unchanged);
}

#[test]
fn restored_contents_match_the_cache_again() {
    let mut edited = Edited::new();
    edited.write("x.ts", "export const y = 1;");
    edited.wait();
    assert_eq!(edited.run(false), CacheUse::Edited(1));
    edited.write("x.ts", "export const x = 1;\n");
    edited.wait();
    assert_eq!(edited.run(false), CacheUse::Unchanged);
    assert_eq!(edited.run(true), CacheUse::Unchanged);
}

/// A file written in the same second as the run may change again without a change of its stat.
#[test]
fn a_recently_edited_file_is_read_again() {
    let mut edited = Edited::new();
    edited.wait();
    for name in ["y", "z"] {
        edited.write("x.ts", &format!("export const {name} = 1;"));
        assert_eq!(edited.run(false), CacheUse::Edited(1));
    }
    edited.wait();
    assert_eq!(edited.run(true), CacheUse::Unchanged, "it was read, and is what the last run saw");
}

/// The run that wrote the cache did not see the imports of an edited file.
#[test]
fn a_new_file_at_a_candidate_path_of_an_edited_file_is_found() {
    let mut edited = Edited::new();
    edited.system.set_file("/r/node_modules/.keep", "");
    edited.wait();
    edited.run(false);
    edited.write("a.ts", "import 'late';");
    edited.wait();
    edited.run(false);
    edited.run(true);
    edited.system.set_file("/r/node_modules/late/package.json", r#"{"name": "late", "main": "m.js"}"#);
    edited.system.set_file("/r/node_modules/late/m.js", "exports.x = 1;");
    edited.wait();
    for stats_only in [true, false, true] {
        edited.run(stats_only);
    }
}

/// A full run replaces the cache, and stored edits of the old one no longer apply.
#[test]
fn edits_do_not_outlive_their_cache() {
    let mut edited = Edited::new();
    edited.write("x.ts", "export const y = 1;");
    edited.wait();
    edited.run(false);
    edited.write("new.ts", "import './x';");
    edited.wait();
    assert!(matches!(edited.run(false), CacheUse::Compiled(_)));
    assert_eq!(edited.run(false), CacheUse::Unchanged);
    edited.write("x.ts", "export const x = 1;\n");
    edited.wait();
    assert_eq!(edited.run(false), CacheUse::Edited(1));
    assert_eq!(edited.run(true), CacheUse::Unchanged);
}
