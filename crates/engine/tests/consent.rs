//! Files outside the root: which are read without consent, which need `--allow-outside`, and that no other path is accessed, not
//! even stat'ed (spec 10 §4).

mod support;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use expect_test::{Expect, expect};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_engine::{Engine, OpenOptions};
use stan_repo::{
    AllowedFolder, DirEntry, Links, MemorySystem, OpenFile, Owner, Stat, System, SystemLayer, WritableLayer,
    WritableSystem,
};
use support::{cold, edges, run, run_on};

/// The root is in a user's home directory, so that there are files around it.
const ROOT: &str = "/homes/u/r";

/// Records every path outside the root that is listed, stat'ed, opened, read or written.
struct Recording {
    inner: MemorySystem,
    outside: Mutex<BTreeSet<String>>,
}

impl Recording {
    fn note(&self, path: &Path) {
        if !path.starts_with(ROOT) {
            self.outside.lock().unwrap().insert(path.display().to_string());
        }
    }
}

impl SystemLayer for Recording {
    type Inner = MemorySystem;
    fn inner(&self) -> &MemorySystem {
        &self.inner
    }
    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.note(path);
        self.inner.list_dir(path, links)
    }
    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.note(path);
        self.inner.lstat(path)
    }
    fn owner(&self, path: &Path) -> io::Result<Owner> {
        self.note(path);
        self.inner.owner(path)
    }
    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.note(path);
        self.inner.open_file(path, links)
    }
    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.note(path);
        self.inner.read_file(path, links, limit, buffer)
    }
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.note(path);
        self.inner.read_link(path)
    }
}

impl WritableLayer for Recording {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.note(path);
        self.inner.write_atomic(path, bytes)
    }
    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
        self.note(path);
        self.inner.write_atomic_pieces(path, pieces)
    }
    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.note(path);
        self.inner.write_atomic_durable(path, bytes)
    }
}

fn options(allowed: &[&str]) -> GraphOptions {
    let mut options = GraphOptions::new(ROOT);
    let folder = |folder: &&str| AllowedFolder { spelled: (*folder).to_owned(), real: (*folder).to_owned() };
    options.allowed_outside = allowed.iter().map(folder).collect();
    options
}

/// Edges and errors, then every path outside the root that was accessed.
fn check_with(text: &str, options: &GraphOptions, expected: &Expect) {
    let system = Recording { inner: MemorySystem::from_fixture(text), outside: Mutex::default() };
    let mut output = edges(&cold(&system, options));
    for path in system.outside.into_inner().unwrap() {
        output.push_str(&format!("stat {path}\n"));
    }
    expected.assert_eq(&output);
}

const SECRETS: &str = r#"
    //- /homes/u/.docker/config.json
    {"auths": {}}
    //- /homes/u/rc.js
    //- /homes/u/types.d.ts
    //- /homes/u/lib/package.json
    {"name": "lib", "main": "main.ts"}
    //- /homes/u/lib/main.ts
    export * from './part';
    //- /homes/u/lib/part.ts
    export const part = 1;
    //- /etc/secret.json
    {}
"#;

/// Every way out of the root that findings 3 and 22 list.
fn hostile() -> String {
    [
        r##"
        //- /homes/u/r/.git/HEAD
        ref: refs/heads/main
        //- /homes/u/r/tsconfig.json
        {"compilerOptions": {"paths": {"out/*": ["../*"]}, "rootDirs": ["..", "/etc", "."], "typeRoots": [".."]}}
        //- /homes/u/r/package.json
        {"name": "r", "imports": {"#out": "../rc.js", "#in": "./../rc.js"}}
        //- /homes/u/r/src/absolute.ts
        import '/homes/u/.docker/config.json'; import '/etc/secret.json'; import '/net/host/x.json';
        //- /homes/u/r/src/relative.ts
        import '../../.docker/config.json'; require('../../rc'); import('../../rc.js'); import '../../lib';
        //- /homes/u/r/src/mapped.ts
        import 'out/rc'; import 'out/.docker/config.json'; import '#out'; import '#in';
        //- /homes/u/r/src/reference.ts
        /// <reference path="../../types.d.ts" />
        /// <reference types="../../lib" />
        //- /homes/u/r/src/linked.ts
        import 'home/.docker/config.json'; import 'home/rc'; import 'stolen/main'; import './leak'; import './folder/rc';
        //- link /homes/u/r/node_modules/home -> ../../
        //- link /homes/u/r/node_modules/stolen -> ../../lib
        //- link /homes/u/r/src/leak.ts -> ../../rc.js
        //- link /homes/u/r/src/folder -> ../..
        //- /homes/u/r/pkg/package.json
        {"name": "pkg", "main": "../../rc.js", "types": "/homes/u/types.d.ts"}
        //- /homes/u/r/src/manifest.ts
        import '../pkg';
        const url = new URL('../../rc.js', import.meta.url);
        "##,
        SECRETS,
    ]
    .concat()
}

#[test]
fn nothing_outside_is_accessed_without_consent() {
    check_with(
        &hostile(),
        &options(&[]),
        &expect![[r#"
        src/absolute.ts -> /etc/secret.json runtime
        src/absolute.ts -> /homes/u/.docker/config.json runtime
        src/absolute.ts -> /net/host/x.json runtime
        src/linked.ts -> home/.docker/config.json runtime
        src/linked.ts -> home/rc runtime
        src/linked.ts -> src/folder/rc runtime
        src/linked.ts -> src/leak runtime
        src/linked.ts -> stolen/main runtime
        src/manifest.ts -> pkg runtime
        src/mapped.ts -> #in runtime
        src/mapped.ts -> #out runtime
        src/mapped.ts -> out/.docker/config.json runtime
        src/mapped.ts -> out/rc runtime
        src/reference.ts -> ../../lib type
        src/reference.ts -> ../../types.d.ts type
        src/relative.ts -> ../../.docker/config.json runtime
        src/relative.ts -> ../../lib runtime
        src/relative.ts -> ../../rc runtime
        src/relative.ts -> ../../rc.js dynamic
        error: .git: not a git directory, so tracked files that a rule ignores are left out
        error: src/absolute.ts:1: `/homes/u/.docker/config.json` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 2 other specifiers of this file)
        error: src/folder: link skipped, because it leads out of the root
        error: src/leak.ts: link skipped, because it leads out of the root
        error: src/linked.ts:1: `home/.docker/config.json` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 4 other specifiers of this file)
        error: src/manifest.ts:1: `../pkg` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder
        error: src/mapped.ts:1: `out/rc` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 3 other specifiers of this file)
        error: src/reference.ts:1: `../../types.d.ts` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as does another specifier of this file)
        error: src/relative.ts:1: `../../.docker/config.json` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 3 other specifiers of this file)
        stat /.git
        stat /homes
        stat /homes/.git
        stat /homes/node_modules
        stat /homes/u
        stat /homes/u/.git
        stat /homes/u/lib
        stat /homes/u/lib/package.json
        stat /homes/u/node_modules
        stat /node_modules
    "#]],
    );
}

#[test]
fn an_allowed_folder_is_read_and_nothing_around_it() {
    check_with(
        &hostile(),
        &options(&["/homes/u/lib"]),
        &expect![[r#"
        src/absolute.ts -> /etc/secret.json runtime
        src/absolute.ts -> /homes/u/.docker/config.json runtime
        src/absolute.ts -> /net/host/x.json runtime
        src/linked.ts -> ../lib/main.ts runtime
        src/linked.ts -> home/.docker/config.json runtime
        src/linked.ts -> home/rc runtime
        src/linked.ts -> src/folder/rc runtime
        src/linked.ts -> src/leak runtime
        src/manifest.ts -> pkg runtime
        src/mapped.ts -> #in runtime
        src/mapped.ts -> #out runtime
        src/mapped.ts -> out/.docker/config.json runtime
        src/mapped.ts -> out/rc runtime
        src/reference.ts -> ../../types.d.ts type
        src/reference.ts -> ../lib/main.ts type
        src/relative.ts -> ../../.docker/config.json runtime
        src/relative.ts -> ../../rc runtime
        src/relative.ts -> ../../rc.js dynamic
        src/relative.ts -> ../lib/main.ts runtime
        error: .git: not a git directory, so tracked files that a rule ignores are left out
        error: src/absolute.ts:1: `/homes/u/.docker/config.json` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 2 other specifiers of this file)
        error: src/folder: link skipped, because it leads out of the root
        error: src/leak.ts: link skipped, because it leads out of the root
        error: src/linked.ts:1: `home/.docker/config.json` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 3 other specifiers of this file)
        error: src/manifest.ts:1: `../pkg` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder
        error: src/mapped.ts:1: `out/rc` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 3 other specifiers of this file)
        error: src/reference.ts:1: `../../types.d.ts` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder
        error: src/relative.ts:1: `../../.docker/config.json` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as do 2 other specifiers of this file)
        stat /.git
        stat /homes
        stat /homes/.git
        stat /homes/node_modules
        stat /homes/u
        stat /homes/u/.git
        stat /homes/u/lib/main
        stat /homes/u/lib/main.d.ts
        stat /homes/u/lib/main.ts
        stat /homes/u/lib/package.json
        stat /homes/u/node_modules
        stat /node_modules
    "#]],
    );
}

#[test]
fn a_root_below_a_work_tree_reads_modules_of_the_work_tree() {
    let text = r#"
        //- /homes/u/.git/HEAD
        ref: refs/heads/main
        //- /homes/u/.git/hooks/x.js
        //- /homes/u/style.css
        //- /homes/u/r/a.ts
        import {part} from '../lib'; import '../.docker/config.json'; import '../style.css'; import '../../../etc/secret.json';
        import '../.git/hooks/x.js'; import '../link/main';
        //- link /homes/u/link -> /etc
    "#;
    check_with(
        &[text, SECRETS].concat(),
        &options(&[]),
        &expect![[r#"
        a.ts -> ../../../etc/secret.json runtime
        a.ts -> ../.docker/config.json runtime
        a.ts -> ../.git/hooks/x.js runtime
        a.ts -> ../lib/main.ts runtime
        a.ts -> ~../lib/part.ts runtime
        a.ts -> ../link/main runtime
        a.ts -> ../style.css runtime
        error: a.ts:1: `../../../etc/secret.json` leads outside the root, where nothing is read without consent; `--allow-outside DIR` allows a folder (as does another specifier of this file)
        error: a.ts:1: `../style.css` leads outside the root to a file that is neither a script, a declaration nor JSON
        stat /.git
        stat /homes
        stat /homes/.git
        stat /homes/u
        stat /homes/u/.docker
        stat /homes/u/.docker/config.d.json.ts
        stat /homes/u/.docker/config.json
        stat /homes/u/.git
        stat /homes/u/.git/HEAD
        stat /homes/u/.git/commondir
        stat /homes/u/.git/objects
        stat /homes/u/lib
        stat /homes/u/lib.d.ts
        stat /homes/u/lib.js
        stat /homes/u/lib.jsx
        stat /homes/u/lib.ts
        stat /homes/u/lib.tsx
        stat /homes/u/lib/main.ts
        stat /homes/u/lib/package.json
        stat /homes/u/lib/part.ts
        stat /homes/u/link
        stat /homes/u/style.css
        stat /homes/u/style.css.d.ts
        stat /homes/u/style.css.js
        stat /homes/u/style.css.jsx
        stat /homes/u/style.css.ts
        stat /homes/u/style.css.tsx
        stat /homes/u/style.d.css.ts
    "#]],
    );
    let mut forbidding = options(&[]);
    forbidding.resolve.outside_root = false;
    check_with(
        &[text, SECRETS].concat(),
        &forbidding,
        &expect![[r#"
        a.ts -> ../../../etc/secret.json runtime
        a.ts -> ../.docker/config.json runtime
        a.ts -> ../.git/hooks/x.js runtime
        a.ts -> ../lib runtime
        a.ts -> ../link/main runtime
        a.ts -> ../style.css runtime
        error: a.ts:1: `../lib` leads outside the root, which `context.outsideRoot: false` forbids; `--allow-outside DIR` allows a folder (as do 5 other specifiers of this file)
        stat /.git
        stat /homes
        stat /homes/.git
        stat /homes/u
        stat /homes/u/.git
        stat /homes/u/.git/HEAD
        stat /homes/u/.git/commondir
        stat /homes/u/.git/objects
    "#]],
    );
}

const LINKS: &str = r#"
    //- /homes/u/r/app/a.ts
    import {part} from 'lib'; import {pnpm} from 'pnpm'; import {x} from 'workspace'; import {s} from '@store/s'; import 'above';
    //- link /homes/u/r/node_modules/lib -> ../../lib
    //- link /homes/u/r/node_modules/pnpm -> .pnpm/pnpm@1/node_modules/pnpm
    //- /homes/u/r/node_modules/.pnpm/pnpm@1/node_modules/pnpm/package.json
    {"name": "pnpm"}
    //- /homes/u/r/node_modules/.pnpm/pnpm@1/node_modules/pnpm/index.d.ts
    export declare const pnpm: 1;
    //- link /homes/u/r/node_modules/workspace -> ../packages/workspace
    //- /homes/u/r/packages/workspace/package.json
    {"name": "workspace", "main": "x.ts"}
    //- /homes/u/r/packages/workspace/x.ts
    export const x = 1;
    //- link /homes/u/r/node_modules/@store/s -> /store/links/s/1/node_modules/@store/s
    //- /store/links/s/1/node_modules/@store/s/package.json
    {"name": "@store/s", "types": "index.d.ts"}
    //- /store/links/s/1/node_modules/@store/s/index.d.ts
    export {s} from './s'; import 'beside';
    //- /store/links/s/1/node_modules/@store/s/s.d.ts
    export declare const s: 1;
    //- /store/links/s/1/node_modules/beside/index.d.ts
    //- /homes/node_modules/above/index.d.ts
"#;

#[test]
fn linked_and_installed_packages_need_no_consent() {
    check_with(
        &[LINKS, SECRETS].concat(),
        &options(&[]),
        &expect![[r#"
        app/a.ts -> ../../../store/links/s/1/node_modules/@store/s/index.d.ts runtime
        app/a.ts -> ~../../../store/links/s/1/node_modules/@store/s/s.d.ts runtime
        app/a.ts -> ../../node_modules/above/index.d.ts runtime
        app/a.ts -> ../lib/main.ts runtime
        app/a.ts -> ~../lib/part.ts runtime
        app/a.ts -> node_modules/.pnpm/pnpm@1/node_modules/pnpm/index.d.ts runtime
        app/a.ts -> packages/workspace/x.ts runtime
        stat /.git
        stat /homes
        stat /homes/.git
        stat /homes/node_modules
        stat /homes/node_modules/above
        stat /homes/node_modules/above/index.d.ts
        stat /homes/u
        stat /homes/u/.git
        stat /homes/u/lib
        stat /homes/u/lib/main.ts
        stat /homes/u/lib/package.json
        stat /homes/u/lib/part.ts
        stat /homes/u/node_modules
        stat /node_modules
        stat /store
        stat /store/links
        stat /store/links/s
        stat /store/links/s/1
        stat /store/links/s/1/node_modules
        stat /store/links/s/1/node_modules/@store
        stat /store/links/s/1/node_modules/@store/s
        stat /store/links/s/1/node_modules/@store/s/index.d.ts
        stat /store/links/s/1/node_modules/@store/s/package.json
        stat /store/links/s/1/node_modules/@store/s/s.d.ts
    "#]],
    );
    let mut forbidding = options(&[]);
    forbidding.resolve.outside_root = false;
    check_with(
        &[LINKS, SECRETS].concat(),
        &forbidding,
        &expect![[r#"
        app/a.ts -> @store/s runtime
        app/a.ts -> above runtime
        app/a.ts -> lib runtime
        app/a.ts -> node_modules/.pnpm/pnpm@1/node_modules/pnpm/index.d.ts runtime
        app/a.ts -> packages/workspace/x.ts runtime
        error: app/a.ts:1: `lib` leads outside the root, which `context.outsideRoot: false` forbids; `--allow-outside DIR` allows a folder (as does another specifier of this file)
        stat /.git
        stat /homes
        stat /homes/.git
        stat /homes/u
        stat /homes/u/.git
    "#]],
    );
}

/// With two links to one package in different folders, and imports within it: the answer must not depend on the order of
/// discovery.
#[test]
fn linked_packages_are_the_same_for_any_number_of_threads() {
    let mut text = [LINKS, SECRETS].concat();
    text.push_str("\n//- link /homes/u/r/app/node_modules/lib -> ../../../lib\n");
    for index in 0..40 {
        let folder = if index % 2 == 0 { "app" } else { "src" };
        text.push_str(&format!(
            "//- /homes/u/r/{folder}/f{index}.ts\nimport {{part}} from 'lib'; import '../../lib/part';\n"
        ));
    }
    let mut options = options(&[]);
    options.external_depth = 2;
    let system = MemorySystem::from_fixture(&text);
    let output = |threads| edges(&run_on(threads, &system, &options, &GraphRequest::default()));
    let first = output(1);
    assert!(first.contains("-> ../lib/main.ts runtime") && first.contains("~../lib/part.ts"), "{first}");
    for threads in [1, 2, 4, 8] {
        assert_eq!(output(threads), first);
    }
}

/// Consent is part of the cache key, and so is the work tree.
#[test]
fn a_cache_of_another_consent_is_not_used() {
    let system = MemorySystem::from_fixture(&[SECRETS, "//- /homes/u/r/a.ts\nimport '../lib';\n"].concat());
    let request = GraphRequest { cache_directory: Some(format!("{ROOT}/.stan/cache")), ..GraphRequest::default() };
    for _ in 0..2 {
        for (allowed, expected) in [(&["/homes/u/lib"][..], "../lib/main.ts"), (&[], "..")] {
            let output = edges(&run(&system, &options(allowed), &request));
            assert!(output.starts_with(&format!("a.ts -> {expected}")), "{output}");
            assert_eq!(output, edges(&cold(&system, &options(allowed))));
        }
    }
    system.set_file("/homes/u/.git/HEAD", "ref: refs/heads/main\n");
    let output = edges(&run(&system, &options(&[]), &request));
    assert!(output.starts_with("a.ts -> ../lib/main.ts"), "{output}");
}

/// A typed path may be a link in the repository: finding out what it is must not access anything outside (`stan read` once did).
#[test]
fn typed_paths_are_checked_without_following_links_out_of_the_root() {
    let text = [&hostile(), "//- link /homes/u/r/gone.ts -> /net/host/x.ts\n"].concat();
    let system = Recording { inner: MemorySystem::from_fixture(&text), outside: Mutex::default() };
    let engine = Engine::new(&system);
    let opened = engine.open(ROOT, &OpenOptions::default()).unwrap();
    for typed in ["src/leak.ts", "src/folder/rc.js", "node_modules/stolen/main.ts", "gone.ts", "src/folder/no#a.ts"] {
        assert!(!opened.is_file(&engine, typed), "{typed}");
        assert!(opened.asked_file(&engine, typed).is_err(), "{typed}");
        assert_eq!(opened.node_id(&engine, typed).as_deref(), Some(typed));
    }
    assert!(opened.is_file(&engine, "src/absolute.ts") && !opened.is_file(&engine, "src"));
    // The parents of the root may be accessed: each is checked for links in the root's path.
    let outside = system.outside.lock().unwrap();
    let targets: Vec<_> = outside.iter().filter(|path| !Path::new(ROOT).starts_with(path)).collect();
    assert!(targets.is_empty(), "{targets:?}");
}
