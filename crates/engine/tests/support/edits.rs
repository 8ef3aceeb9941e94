//! Random edits of a repository, small enough that a failing sequence is readable.

use proptest::prelude::*;
use proptest::sample::select;

use super::disk::Disk;
use super::other_languages::{
    GO_SOURCES, GO_STATEMENTS, OTHER_EDITS, OTHER_START, PYTHON_SOURCES, PYTHON_STATEMENTS, RUST_SOURCES,
    RUST_STATEMENTS,
};

/// One edit, and the time since the previous one.
#[derive(Clone, Debug)]
pub(crate) struct TimedEdit {
    pub(crate) after_nanoseconds: i64,
    pub(crate) edit: Edit,
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Write(&'static str, String),
    /// Another text of the same size, with the old `mtime`.
    SameSize(&'static str),
    Touch(&'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    Readable(&'static str, bool),
    Install(Installation),
    Git(&'static [&'static str]),
    Corrupt(Corruption),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Installation {
    Declarations,
    Script,
    OtherBarrel,
    AtTypes,
    Manifestless,
}

/// Damage to cache files.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Corruption {
    Flip { file: usize, place: usize },
    Truncate { file: usize, place: usize },
    Remove { file: usize },
    Swap,
    Empty { file: usize },
    Directory { file: usize },
}

pub(crate) const CACHE_FILES: [&str; 4] = ["graph.index", "graph.data", "map.data", "graph.edits"];

const SOURCES: &[&str] = &[
    "src/a.ts",
    "src/b.ts",
    "src/c.ts",
    "src/index.ts",
    "src/lib/index.ts",
    "src/lib/d.tsx",
    "src/x.js",
    "src/x.ts",
    "src/types.d.ts",
    "src/view.vue",
    "main.ts",
    "packages/p/src/index.ts",
    "packages/p/index.js",
    "gen/g.ts",
    "gen/h.ts",
];

const STATEMENTS: &[&str] = &[
    "import './a';",
    "import './b';",
    "import {a} from './b';",
    "import {a as z, type T} from './c';",
    "import {b} from './lib';",
    "import d from './lib/d';",
    "import {a, b, d} from './src';",
    "import type {T} from './types';",
    "export * from './c';",
    "export * from './a';",
    "export * from './lib';",
    "export {a} from './b';",
    "export {a as b} from './lib';",
    "export * as ns from './lib';",
    "import {ns} from './index'; export {ns};",
    "export const a = 1;",
    "export const b = 1;",
    "export interface T {}",
    "export default 1;",
    "import './x';",
    "import './x.js';",
    "import '../gen/g';",
    "import './gen/g';",
    "import './g'; import './h'; export const a = 1;",
    "import {a} from '../gen/h';",
    "import {inner} from 'dep';",
    "import {deep} from 'dep/sub';",
    "import dep, {deep} from 'dep';",
    "export * from 'dep';",
    "import {a} from 'p';",
    "import {a} from '@/a';",
    "import {a} from '@/lib';",
    "import '#internal';",
    "import {a} from 'self';",
    "import 'src/a.ts';",
    "import 'node_modules/dep/index.d.ts';",
    "import 'node_modules/dep/lib/inner.d.ts';",
    "import '../node_modules/dep/lib/inner';",
    "import './style.css?inline';",
    "import data from './data.json';",
    "import './linked';",
    "import './gone';",
    "import '../../gone';",
    "import 'fs'; import 'node:path';",
    "/// <reference types=\"dep\" />",
    "const m = import('./lib');",
    "const all = import.meta.glob('./*.ts');",
    "const some = (v) => import(`./lib/${v}.tsx`);",
    "const u = new URL('./style.css', import.meta.url);",
    "const q = require('./lib');",
    "/** Words. @module */",
    "import '../../outside/o'; import '../../outside/o.css';",
    "import './.stan/cache/graph.data'; import '../.stan/cache/.gitignore';",
    "import {a from './b'; (((",
    "\u{0}\u{1}\u{2}",
    "<script setup>import './a'; import {a} from './b';</script>",
];

const CONFIGS: &[&str] =
    &["tsconfig.json", "src/tsconfig.json", "packages/p/tsconfig.json", "base.json", "jsconfig.json"];

const CONFIG_TEXTS: &[&str] = &[
    "{}",
    r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#,
    r#"{"compilerOptions": {"paths": {"@/*": ["./packages/p/src/*", "./gen/*"], "p": ["./src/a.ts"]}}}"#,
    r#"{"extends": "./base.json"}"#,
    r#"{"extends": "../base.json", "include": ["lib"]}"#,
    r#"{"extends": "./gone.json"}"#,
    r#"{"extends": "dep/tsconfig.json"}"#,
    r#"{"compilerOptions": {"baseUrl": "."}}"#,
    r#"{"compilerOptions": {"moduleSuffixes": [".ios", ""]}}"#,
    r#"{"compilerOptions": {"module": "node16", "moduleResolution": "node16"}, "files": ["src/a.ts"]}"#,
    r#"{"compilerOptions": {"customConditions": ["source"]}, // comment
        "exclude": ["src/lib",],}"#,
    r#"{"compilerOptions": {"rootDirs": ["src", "gen"], "outDir": "dist", "rootDir": "src"}}"#,
    "not json",
];

const MANIFESTS: &[&str] =
    &["package.json", "packages/p/package.json", "node_modules/dep/package.json", "src/package.json"];

const MANIFEST_TEXTS: &[&str] = &[
    "{}",
    r#"{"name": "self", "workspaces": ["packages/*"], "exports": {".": "./src/index.ts"}}"#,
    r##"{"name": "self", "type": "module", "imports": {"#internal": "./src/a.ts"}}"##,
    r#"{"name": "p", "main": "./index.js", "description": "A package."}"#,
    r#"{"name": "p", "exports": {"source": "./src/index.ts", "default": "./dist/index.js"}}"#,
    r#"{"name": "p", "main": "dist/index.js"}"#,
    r#"{"name": "dep", "types": "lib/inner.d.ts"}"#,
    r#"{"name": "dep", "exports": {".": {"types": "./index.d.ts"}, "./sub": null}}"#,
    r#"{"name": "dep", "exports": []}"#,
    r#"{"name": "dep", "typesVersions": {"*": {"*": ["lib/*"]}}}"#,
    "not json",
];

const OTHER_FILES: &[(&str, &str)] = &[
    (".gitignore", "gen/\n"),
    (".gitignore", "gen/\n!gen/h.ts\n*.js\n"),
    (".gitignore", "src/lib\nnode_modules\n"),
    (".gitignore", "*.ts\n"),
    (".gitignore", ""),
    ("src/.gitignore", "x.*\n!x.js\n"),
    ("src/style.css", "a{}"),
    ("src/style.css", "b{}"),
    ("src/data.json", "{}"),
    ("src/notes.md", "# Notes\n"),
    ("src/notes.md", "No heading.\n"),
    ("src/notes.md", "## Other notes\n"),
    ("src/gone.ts", "export const a = 2;"),
    ("src/b/index.ts", "export const a = 3;"),
    ("src/b.tsx", "export const a = 4;"),
    ("src/x.d.ts", "export declare const x: 1;"),
    ("src/a.ios.ts", "export const a = 5;"),
    ("pnpm-workspace.yaml", "packages:\n  - packages/*\n"),
    ("../outside/o.ts", "import './n'; export const o = 1;"),
    ("../outside/o.css", "o{}"),
    ("node_modules/dep/lib/inner.d.ts", "export declare const inner: 2; export * from './more';"),
    ("node_modules/dep/lib/more.d.ts", "export declare const deep: 2;"),
    ("node_modules/dep/tsconfig.json", r#"{"compilerOptions": {"paths": {"@/*": ["../../src/lib/*"]}}}"#),
    (".git/info/exclude", "src/c.ts\n"),
];

const REMOVABLE: &[&str] = &[
    ".gitignore",
    "src",
    "src/lib",
    "src/b.tsx",
    "src/b",
    "src/gone.ts",
    "src/x.d.ts",
    "gen",
    "packages",
    "node_modules",
    "node_modules/dep",
    "node_modules/@types",
    "node_modules/p",
    ".venv",
    ".venv/pyvenv.cfg",
    "py/src/pkg/__init__.py",
    "py/src/pkg",
    "py/pyproject.toml",
    "go.mod",
    "go/lib",
    "vendor",
    "node_modules/dep/lib/inner.d.ts",
    "../outside",
    "src/linked.ts",
    ".git",
    ".stan",
    "src/style.css",
    "src/notes.md",
    "pnpm-workspace.yaml",
];

const RENAMES: &[(&str, &str)] = &[
    ("src/a.ts", "src/gone.ts"),
    ("src/lib", "src/b"),
    ("src/lib", "lib"),
    ("lib", "src/lib"),
    ("src", "gen"),
    ("gen", "src"),
    ("src/b.ts", "src/b.tsx"),
    ("src/x.js", "src/x.jsx"),
    ("node_modules/dep", "node_modules/p"),
    ("node_modules/dep", "../node_modules/dep"),
    ("../node_modules/dep", "node_modules/dep"),
    ("packages/p", "node_modules/p"),
    ("tsconfig.json", "src/tsconfig.json"),
    ("py/src/pkg", "py/pkg"),
    ("py/src/pkg/core.py", "py/src/pkg/core.pyi"),
    ("py/src/pkg/sub", "py/src/pkg/core"),
    ("go/lib", "vendor/example.com/dep"),
    ("go/lib/a.go", "go/lib/a_test.go"),
];

const LINKS: &[(&str, &str)] = &[
    ("src/linked.ts", "a.ts"),
    ("src/linked.ts", "lib/index.ts"),
    ("src/linked.ts", "../gen/g.ts"),
    ("src/linked.ts", "../../outside/o.ts"),
    ("src/linked.ts", "linked.ts"),
    ("src/linked", "lib"),
    ("src/linked", "../gen"),
    ("node_modules/p", "../packages/p"),
    ("node_modules/p", "../src"),
    ("node_modules/dep", "../gen"),
    ("node_modules/dep", "../../outside"),
    ("node_modules/dep/lib", "../../src/lib"),
    (".gitignore", "src/.gitignore"),
    ("src/package.json", "../packages/p/package.json"),
];

/// The start of every sequence, so that most edits affect other files.
const START: &[(&str, &str)] = &[
    (".gitignore", "gen/\nnode_modules\n"),
    ("package.json", r##"{"name": "self", "workspaces": ["packages/*"], "imports": {"#internal": "./src/a.ts"}}"##),
    ("tsconfig.json", r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#),
    ("main.ts", "import {a, b, d} from './src';\nimport './gen/g';\nimport {inner, deep} from 'dep';"),
    ("src/index.ts", "export * from './a';\nexport * from './lib';\nexport {a as z} from './b';"),
    ("src/a.ts", "import {inner} from 'dep'; import './notes.md';\nexport const a = 1;"),
    ("src/notes.md", "# Notes\n"),
    ("src/b.ts", "export * from './c';\nimport {a} from '@/a';"),
    ("src/c.ts", "export {b as a} from './lib'; export {deep} from 'dep';"),
    ("src/lib/index.ts", "export const b = 1;\nexport * from '../index';"),
    ("src/lib/d.tsx", "import 'node_modules/dep/lib/inner.d.ts'; import './gone'; export default 1;"),
    ("gen/g.ts", "import './h'; import {a} from '../src/b';"),
    ("gen/h.ts", "import './g'; export const a = 1;"),
    ("packages/p/package.json", r#"{"name": "p", "main": "dist/index.js"}"#),
    ("packages/p/src/index.ts", "export * from 'dep'; import {a} from 'self';"),
];

pub(crate) fn start(disk: &dyn Disk) {
    START.iter().chain(OTHER_START).for_each(|(path, text)| disk.write(path, text.as_bytes()));
    Installation::Declarations.apply(disk);
    disk.wait(5_000_000_000);
}

pub(crate) fn sequence(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<TimedEdit>> {
    let after = prop_oneof![Just(0), Just(1_000_000), Just(5_000_000_000), Just(5_000_000_000)];
    let step = (after, edit()).prop_map(|(after_nanoseconds, edit)| TimedEdit { after_nanoseconds, edit });
    proptest::collection::vec(step, length)
}

fn edit() -> impl Strategy<Value = Edit> {
    let anything = || select([SOURCES, PYTHON_SOURCES, GO_SOURCES, CONFIGS, MANIFESTS, REMOVABLE].concat());
    prop_oneof![
        12 => (select(SOURCES), module()).prop_map(|(path, text)| Edit::Write(path, text)),
        6 => (select(PYTHON_SOURCES), text_of(PYTHON_STATEMENTS)).prop_map(|(path, text)| Edit::Write(path, text)),
        6 => (select(GO_SOURCES), text_of(GO_STATEMENTS)).prop_map(|(path, text)| Edit::Write(path, go_file(path, &text))),
        6 => (select(RUST_SOURCES), text_of(RUST_STATEMENTS)).prop_map(|(path, text)| Edit::Write(path, text)),
        3 => select(OTHER_EDITS).prop_map(|(path, text)| Edit::Write(path, text.to_owned())),
        3 => select([SOURCES, PYTHON_SOURCES, GO_SOURCES, RUST_SOURCES].concat()).prop_map(Edit::SameSize),
        1 => anything().prop_map(Edit::Touch),
        3 => anything().prop_map(Edit::Remove),
        2 => select(RENAMES).prop_map(|(from, to)| Edit::Rename(from, to)),
        2 => select(LINKS).prop_map(|(path, target)| Edit::Link(path, target)),
        1 => (anything(), any::<bool>()).prop_map(|(path, readable)| Edit::Readable(path, readable)),
        3 => (select(CONFIGS), select(CONFIG_TEXTS)).prop_map(|(path, text)| Edit::Write(path, text.to_owned())),
        3 => (select(MANIFESTS), select(MANIFEST_TEXTS)).prop_map(|(path, text)| Edit::Write(path, text.to_owned())),
        3 => select(OTHER_FILES).prop_map(|(path, text)| Edit::Write(path, text.to_owned())),
        2 => installation().prop_map(Edit::Install),
        1 => select(&[&["init"] as &[&str], &["add", "-A", "-f"], &["rm", "-r", "--cached", "-q", "src"], &["add", "src"]][..])
            .prop_map(Edit::Git),
        1 => corruption().prop_map(Edit::Corrupt),
    ]
}

fn module() -> impl Strategy<Value = String> {
    text_of(STATEMENTS)
}

fn text_of(statements: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::collection::vec(select(statements), 0..5).prop_map(|statements| statements.join("\n"))
}

/// The package of the folder; tests may belong to the external test package.
fn go_file(path: &str, text: &str) -> String {
    let package = path.rsplit('/').nth(1).unwrap_or("main");
    let suffix = if path.ends_with("x_test.go") { "_test" } else { "" };
    format!("package {package}{suffix}\n{text}\n")
}

fn installation() -> impl Strategy<Value = Installation> {
    use Installation::{AtTypes, Declarations, Manifestless, OtherBarrel, Script};
    select(&[Declarations, Script, OtherBarrel, AtTypes, Manifestless][..])
}

pub(crate) fn corruption() -> impl Strategy<Value = Corruption> {
    let spot = || (0..CACHE_FILES.len(), 0..20_000usize);
    prop_oneof![
        4 => spot().prop_map(|(file, place)| Corruption::Flip { file, place }),
        2 => spot().prop_map(|(file, place)| Corruption::Truncate { file, place }),
        1 => (0..CACHE_FILES.len()).prop_map(|file| Corruption::Remove { file }),
        1 => Just(Corruption::Swap),
        1 => (0..CACHE_FILES.len()).prop_map(|file| Corruption::Empty { file }),
        1 => (0..CACHE_FILES.len()).prop_map(|file| Corruption::Directory { file }),
    ]
}

impl TimedEdit {
    pub(crate) fn apply(&self, disk: &dyn Disk) {
        disk.wait(self.after_nanoseconds);
        match &self.edit {
            Edit::Write(path, text) => disk.write(path, text.as_bytes()),
            Edit::SameSize(path) => same_size(disk, path),
            Edit::Touch(path) => {
                if let Some(bytes) = disk.read(path) {
                    disk.write(path, &bytes);
                }
            }
            Edit::Remove(path) => disk.remove(path),
            Edit::Rename(from, to) => disk.rename(from, to),
            Edit::Link(path, target) => disk.link(path, target),
            Edit::Readable(path, readable) => disk.set_readable(path, *readable),
            Edit::Install(installation) => installation.apply(disk),
            Edit::Git(arguments) => disk.git(arguments),
            Edit::Corrupt(corruption) => disk.corrupt(".stan/cache", *corruption),
        }
    }
}

/// Swaps `a` and `b`: other names and specifiers, the same size.
fn same_size(disk: &dyn Disk, path: &str) {
    let Some(mut bytes) = disk.read(path) else { return };
    let mtime = disk.system().lstat(&disk.absolute(path)).map(|stat| stat.mtime);
    for window in 0..bytes.len().saturating_sub(2) {
        if !bytes[window].is_ascii_alphanumeric() && !bytes[window + 2].is_ascii_alphanumeric() {
            bytes[window + 1] = match bytes[window + 1] {
                b'a' => b'b',
                b'b' => b'a',
                b'x' => b'c',
                other => other,
            };
        }
    }
    disk.write(path, &bytes);
    if let Ok(mtime) = mtime {
        disk.set_mtime(path, mtime);
    }
}

impl Installation {
    fn apply(self, disk: &dyn Disk) {
        let files: &[(&str, &str)] = match self {
            Self::Declarations => &[
                ("dep/package.json", r#"{"name": "dep", "types": "index.d.ts"}"#),
                ("dep/index.d.ts", "export * from './lib/inner'; export {deep} from './sub';"),
                ("dep/lib/inner.d.ts", "export declare const inner: 1;"),
                ("dep/sub.d.ts", "export {deep} from './lib/more'; export * from 'other';"),
                ("dep/lib/more.d.ts", "export declare const deep: 1;"),
            ],
            Self::Script => &[
                ("dep/package.json", r#"{"name": "dep", "main": "index.js"}"#),
                ("dep/index.js", "module.exports = {inner: 1};"),
            ],
            Self::OtherBarrel => &[
                ("dep/package.json", r#"{"name": "dep", "types": "index.d.ts"}"#),
                ("dep/index.d.ts", "export {inner, deep} from './sub'; export default 1;"),
                ("dep/sub.d.ts", "export const inner: 1; export const deep: 1;"),
            ],
            Self::AtTypes => &[
                ("@types/dep/package.json", r#"{"name": "@types/dep", "types": "index.d.ts"}"#),
                ("@types/dep/index.d.ts", "export declare const inner: 1; export * from './deep';"),
                ("@types/dep/deep.d.ts", "export declare const deep: 1;"),
            ],
            Self::Manifestless => &[("dep/index.ts", "export {a as inner} from '../../src/a';")],
        };
        for (path, text) in files {
            disk.write(&format!("node_modules/{path}"), text.as_bytes());
        }
    }
}

impl Corruption {
    pub(crate) fn apply(self, disk: &(impl Disk + ?Sized), directory: &str) {
        let path = |file: usize| format!("{directory}/{}", CACHE_FILES[file]);
        let rewrite = |file: usize, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
            if let Some(bytes) = disk.read(&path(file)) {
                disk.write(&path(file), &change(bytes));
            }
        };
        match self {
            Self::Flip { file, place } => rewrite(file, &|mut bytes| {
                let length = bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(place % length) {
                    *byte ^= 1 << (place % 8);
                }
                bytes
            }),
            Self::Truncate { file, place } => rewrite(file, &|mut bytes| {
                bytes.truncate(place % bytes.len().max(1));
                bytes
            }),
            Self::Remove { file } => disk.remove(&path(file)),
            Self::Empty { file } => rewrite(file, &|_| Vec::new()),
            Self::Swap => {
                if let (Some(index), Some(data)) = (disk.read(&path(0)), disk.read(&path(1))) {
                    disk.write(&path(0), &data);
                    disk.write(&path(1), &index);
                }
            }
            Self::Directory { file } => {
                disk.remove(&path(file));
                disk.write(&format!("{}/x", path(file)), b"");
            }
        }
    }
}
