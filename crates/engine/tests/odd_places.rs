//! Odd places to run in, and files that change while they are read: the run succeeds and leaves nothing wrong behind.

mod support;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_repo::{DirEntry, Links, MemorySystem, OpenFile, OsSystem, Stat, System, SystemLayer, WritableLayer};
use support::disk::{Disk, RealDisk};
use support::{ROOT, cold, edges, errors, json, nodes, run, run_on, targets};

#[test]
fn an_empty_repository_has_an_empty_graph() {
    let system = MemorySystem::new();
    system.set_dir(ROOT);
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    expect![[r#"{"graph":{"nodes":{},"edges":{}},"stats":{"modules":0,"edges":0,"dirty":0},"errors":[]}"#]]
        .assert_eq(json(&outcome).split_whitespace().collect::<String>().as_str());
}

#[test]
fn a_root_that_does_not_exist() {
    let outcome = cold(&MemorySystem::new(), &GraphOptions::new("/gone"));
    assert_eq!((nodes(&outcome).as_str(), outcome.errors.len()), ("", 1));
}

#[test]
fn a_root_that_is_created_later() {
    let system = MemorySystem::new();
    let options = GraphOptions::new(ROOT);
    let request = GraphRequest { cache_directory: Some("/cache".into()), ..GraphRequest::default() };
    assert_eq!(nodes(&run(&system, &options, &request)), "");
    system.set_file("/r/a.ts", "");
    assert_eq!(nodes(&run(&system, &options, &request)), "source a.ts\n");
}

#[test]
fn the_root_of_the_file_system() {
    let system = MemorySystem::from_fixture("//- /a.ts\nimport './b'; import './gone'; import '../b';\n//- /b.ts\n");
    let outcome = cold(&system, &GraphOptions::new("/"));
    assert_eq!(nodes(&outcome), "source a.ts\nsource b.ts\nmissing gone\n");
}

/// The same tree in a subfolder of a checkout, in one of a linked worktree, and outside any checkout.
#[test]
fn a_subfolder_of_a_worktree_follows_the_rules_above_it() {
    let disk = RealDisk::new(false);
    disk.write("main/.gitignore", b"*.gen.ts\n");
    disk.write("main/app/a.ts", b"import './b'; import '../shared/s'; import './c.gen';");
    for file in ["app/b.ts", "app/c.gen.ts", "app/tracked.gen.ts", "shared/s.ts"] {
        disk.write(&format!("main/{file}"), b"");
    }
    disk.git(&["init", "-q", "main"]);
    disk.git(&["-C", "main", "add", "-A"]);
    disk.git(&["-C", "main", "add", "-f", "app/tracked.gen.ts"]);
    disk.git(&["-C", "main", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"]);
    disk.git(&["-C", "main", "worktree", "add", "-q", "../tree"]);
    disk.write("tree/app/c.gen.ts", b"");
    let relative = |checkout: &str| {
        let root = format!("{}/{checkout}", disk.root());
        let outcome = cold(&OsSystem, &GraphOptions::new(format!("{root}/app")));
        nodes(&outcome) + &edges(&outcome)
    };
    let expected = expect![[r#"
        external ../shared/s.ts
        source a.ts
        source b.ts
        source c.gen.ts
        source tracked.gen.ts
        a.ts -> ../shared/s.ts runtime
        a.ts -> b.ts runtime
        a.ts -> c.gen.ts runtime
    "#]];
    expected.assert_eq(&relative("main"));
    expected.assert_eq(&relative("tree"));
    disk.remove("main/.git");
    disk.remove("tree");
    // Without git, nothing shows that the parents of the root belong to the same project, so neither their rules nor their files
    // count.
    expect![[r#"
        missing ../shared/s
        source a.ts
        source b.ts
        source c.gen.ts
        source tracked.gen.ts
        a.ts -> ../shared/s runtime
        a.ts -> b.ts runtime
        a.ts -> c.gen.ts runtime
        error: a.ts:1: `../shared/s` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder
    "#]].assert_eq(&relative("main"));
}

const TREE: &str = r#"
    //- /r/package.json
    {"name": "r", "workspaces": ["packages/*"]}
    //- /r/tsconfig.json
    {"extends": "./base.json", "compilerOptions": {"paths": {"@/*": ["./src/*"]}}}
    //- /r/base.json
    {}
    //- /r/.gitignore
    gen
    //- /r/src/a.ts
    import {b} from '@/b'; import {x} from 'dep'; import '../gen/g'; import './linked'; import 'p';
    //- /r/src/b.ts
    export * from './c';
    //- /r/src/c.ts
    export const b = 1;
    //- link /r/src/linked.ts -> c.ts
    //- /r/gen/g.ts
    import '../src/b';
    //- /r/packages/p/package.json
    {"name": "p", "main": "index.ts"}
    //- /r/packages/p/index.ts
    //- /r/node_modules/dep/package.json
    {"name": "dep"}
    //- /r/node_modules/dep/index.d.ts
    export * from './x';
    //- /r/node_modules/dep/x.d.ts
    export declare const x: 1;
    //- /r/normal/one.ts
    import './two';
    //- /r/normal/two.ts
"#;

/// Modifies the tree at the n-th call, or fails that call.
struct Disturbed<'a> {
    system: MemorySystem,
    calls: AtomicUsize,
    at: usize,
    disturb: &'a (dyn Fn(&MemorySystem) -> io::Result<()> + Sync),
}

impl Disturbed<'_> {
    fn call<T>(&self, call: impl FnOnce(&MemorySystem) -> io::Result<T>) -> io::Result<T> {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            self.system.set_now(self.system.now() + 1_000_000);
            (self.disturb)(&self.system)?;
        }
        call(&self.system)
    }
}

impl SystemLayer for Disturbed<'_> {
    type Inner = MemorySystem;

    fn inner(&self) -> &MemorySystem {
        &self.system
    }

    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.call(|system| system.list_dir(path, links))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.call(|system| system.lstat(path))
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.call(|system| system.open_file(path, links))
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.call(|system| system.read_file(path, links, limit, buffer))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.call(|system| system.read_link(path))
    }
}

impl WritableLayer for Disturbed<'_> {}

/// Disturbs a run at each of its calls in turn. The run must succeed, unmodified files must keep their edges, and the next run,
/// with the cache of the disturbed one, must give the cold answer.
fn check_disturbed(name: &str, disturb: &(dyn Fn(&MemorySystem) -> io::Result<()> + Sync)) {
    let options = GraphOptions::new(ROOT);
    let request = GraphRequest {
        cache_directory: Some("/r/.stan/cache".into()),
        state_directory: Some("/state".into()),
        stats_only: false,
        ..GraphRequest::default()
    };
    for at in 0.. {
        let system = MemorySystem::from_fixture(TREE);
        system.set_now(100_000_000_000);
        let disturbed = Disturbed { system, calls: AtomicUsize::new(0), at, disturb };
        let outcome = run_on(1, &disturbed, &options, &request);
        if disturbed.calls.load(Ordering::Relaxed) <= at {
            assert!(at > 50, "{name}: only {at} calls");
            break;
        }
        assert!(!json(&outcome).is_empty());
        let system = disturbed.system;
        let warm = run(&system, &options, &request);
        let cold = cold(&system, &options);
        assert_eq!(json(&warm), json(&cold), "{name}: call {at}, {:?}\n{}", warm.work, errors(&warm));
    }
}

#[test]
fn files_that_vanish_or_change_during_the_run() {
    let remove = |path: &'static str| {
        move |system: &MemorySystem| -> io::Result<()> {
            if system.lstat(Path::new(path)).is_ok() {
                system.remove(path);
            }
            Ok(())
        }
    };
    for path in [
        "/r/src/c.ts",
        "/r/src",
        "/r/gen/g.ts",
        "/r/node_modules/dep",
        "/r/tsconfig.json",
        "/r/package.json",
        "/r/.gitignore",
        "/r/src/linked.ts",
        "/r/packages",
    ] {
        check_disturbed(path, &remove(path));
    }
    let write = |path: &'static str, text: &'static str| {
        move |system: &MemorySystem| -> io::Result<()> {
            system.set_file(path, text);
            Ok(())
        }
    };
    for (path, text) in [
        ("/r/src/b.ts", "export * from 'dep';"),
        ("/r/src/a.ts", "import './c';"),
        ("/r/src/c.tsx", "export const b = 2;"),
        ("/r/tsconfig.json", "{}"),
        ("/r/node_modules/dep/index.d.ts", "export const x: 2;"),
        ("/r/.gitignore", "normal"),
    ] {
        check_disturbed(path, &write(path, text));
    }
}

#[test]
fn files_that_lose_permission_during_the_run() {
    for path in ["/r/src/c.ts", "/r/src", "/r/node_modules/dep/x.d.ts", "/r/tsconfig.json", "/r/gen"] {
        check_disturbed(path, &|system| {
            system.set_unreadable(path, true);
            Ok(())
        });
    }
}

/// A single disk error: the next run must not reuse what that run could not read.
#[test]
fn a_call_that_fails_once() {
    check_disturbed("fails", &|_| Err(io::Error::other("the disk failed")));
}

#[test]
fn files_without_permission_are_reported() {
    let system = MemorySystem::from_fixture(TREE);
    for path in ["/r/src/c.ts", "/r/node_modules/dep/x.d.ts", "/r/gen", "/r/tsconfig.json"] {
        system.set_unreadable(path, true);
    }
    let outcome = cold(&system, &GraphOptions::new(ROOT));
    assert_eq!(targets(&outcome, "normal/one.ts"), ["normal/two.ts"]);
    let errors = errors(&outcome);
    assert!(errors.contains("src/c.ts: cannot be read"), "{errors}");
    assert!(errors.contains("tsconfig.json"), "{errors}");
}
