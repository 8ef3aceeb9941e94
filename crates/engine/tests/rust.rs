//! Rust repositories through the whole pipeline: module trees, imports and re-exports, packages, vendored crates, warm runs.

mod support;

use expect_test::{Expect, expect};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_repo::MemorySystem;
use support::{ROOT, edges, fixture, json, run};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

#[test]
fn the_tree_of_modules() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        mod plain;
        mod folder;
        #[path = \"odd/name.rs\"] mod named;
        mod inline { mod below; #[path = \"q.rs\"] mod quirk; }
        mod gone;
        #[cfg(windows)] mod windows;
        //- /r/src/plain.rs
        mod child;
        //- /r/src/plain/child.rs
        use super::super::folder::deep;
        //- /r/src/folder/mod.rs
        pub mod deep;
        //- /r/src/folder/deep.rs
        //- /r/src/odd/name.rs
        mod beside;
        //- /r/src/odd/beside.rs
        use crate::inline::*;
        //- /r/src/inline/below.rs
        //- /r/src/inline/q.rs
        //- /r/src/windows.rs
        fn f() { crate::plain::g(); }
        //- /r/src/main.rs
        use p::plain;
        //- /r/tests/all.rs
        mod common;
        //- /r/tests/common/mod.rs
        use p::folder::deep;
        //- /r/build.rs
        use std::env;
        ",
        expect![[r#"
            build.rs -> rust:std runtime
            src/folder/mod.rs -> src/folder/deep.rs runtime
            src/lib.rs -> src/folder/mod.rs runtime
            src/lib.rs -> src/gone.rs runtime
            src/lib.rs -> src/inline/below.rs runtime
            src/lib.rs -> src/inline/q.rs runtime
            src/lib.rs -> src/odd/name.rs runtime
            src/lib.rs -> src/plain.rs runtime
            src/lib.rs -> src/windows.rs runtime
            src/main.rs -> src/lib.rs runtime
            src/odd/beside.rs -> src/lib.rs runtime
            src/odd/name.rs -> src/odd/beside.rs runtime
            src/plain.rs -> src/plain/child.rs runtime
            src/plain/child.rs -> src/folder/deep.rs runtime
            src/windows.rs -> src/plain.rs runtime
            tests/all.rs -> tests/common/mod.rs runtime
            tests/common/mod.rs -> src/lib.rs runtime
        "#]],
    );
}

#[test]
fn a_crate_that_names_itself_is_known_by_that_name_in_all_modules() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        extern crate self as own;
        mod a;
        mod b;
        //- /r/src/a.rs
        pub struct Item;
        //- /r/src/b.rs
        use own::a::Item;
        ",
        expect![[r#"
            src/b.rs -> src/a.rs runtime
            src/lib.rs -> src/a.rs runtime
            src/lib.rs -> src/b.rs runtime
        "#]],
    );
}

#[test]
fn modules_of_the_standard_library_are_found_through_globs_of_whole_crates() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        mod lib {
            mod core { #[cfg(a)] pub use core::*; #[cfg(not(a))] pub use std::*; }
            pub use self::core::fmt;
        }
        mod user;
        //- /r/src/user.rs
        use crate::lib::*;
        fn f() { fmt::write(); other::call(); }
        ",
        expect![[r#"
            src/lib.rs -> rust:core runtime
            src/lib.rs -> rust:std runtime
            src/lib.rs -> src/user.rs runtime
            src/user.rs -> rust:alloc runtime
            src/user.rs -> rust:core runtime
            src/user.rs -> src/lib.rs runtime
        "#]],
    );
}

#[test]
fn modules_that_a_macro_declares_are_in_the_module_that_calls_it() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        #[macro_use] mod parts;
        mod user;
        parts!();
        //- /r/src/parts.rs
        macro_rules! parts {
            (use $a:ident) => { $a };
            () => {
                mod facade { mod core { pub use std::*; } pub use self::core::fmt; pub use crate::de::Read; }
                pub mod de;
            };
        }
        //- /r/src/de/mod.rs
        pub trait Read {}
        mod inner;
        //- /r/src/de/inner.rs
        use super::super::user;
        //- /r/src/user.rs
        use crate::facade::fmt;
        use crate::de::Read;
        fn f() { fmt::write(); }
        ",
        expect![[r#"
            src/de/inner.rs -> src/user.rs runtime
            src/de/mod.rs -> src/de/inner.rs runtime
            src/lib.rs -> src/parts.rs runtime
            src/lib.rs -> src/user.rs runtime
            src/parts.rs -> rust:std runtime
            src/parts.rs -> src/de/mod.rs runtime
            src/user.rs -> rust:alloc runtime
            src/user.rs -> src/de/mod.rs runtime
            src/user.rs -> src/parts.rs runtime
        "#]],
    );
}

#[test]
fn imports_lead_to_the_module_that_they_name_and_to_the_definer() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        mod a;
        mod b;
        mod prelude;
        pub use a::inner as renamed;
        pub use crate::b::*;
        //- /r/src/a.rs
        pub mod inner;
        pub struct Item;
        //- /r/src/a/inner.rs
        pub fn call() {}
        pub enum Choice { One }
        //- /r/src/b.rs
        pub mod hidden;
        pub struct FromB;
        mod private;
        //- /r/src/b/hidden.rs
        pub fn g() {}
        //- /r/src/b/private.rs
        //- /r/src/prelude.rs
        pub use crate::a::Item;
        pub use crate::renamed::Choice::{self, One};
        //- /r/src/user.rs
        use crate::prelude::*;
        use crate::prelude::Item;
        use crate::FromB;
        fn f() { crate::renamed::call(); crate::hidden::g(); Choice::One; crate::private::x(); }
        ",
        expect![[r#"
            src/a.rs -> src/a/inner.rs runtime
            src/b.rs -> src/b/hidden.rs runtime
            src/b.rs -> src/b/private.rs runtime
            src/lib.rs -> src/a.rs runtime
            src/lib.rs -> src/a/inner.rs runtime
            src/lib.rs -> src/b.rs runtime
            src/lib.rs -> src/prelude.rs runtime
            src/prelude.rs -> src/a.rs runtime
            src/prelude.rs -> src/a/inner.rs runtime
            src/user.rs -> ~src/a.rs runtime
            src/user.rs -> src/a/inner.rs runtime
            src/user.rs -> ~src/b.rs runtime
            src/user.rs -> src/b/hidden.rs runtime
            src/user.rs -> src/lib.rs runtime
            src/user.rs -> src/prelude.rs runtime
        "#]],
    );
}

#[test]
fn a_crate_that_the_root_renames_is_known_everywhere_beside_a_dependency_of_that_name() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        [dependencies]
        serde = { path = \"serde\" }
        serde_core = { path = \"core\" }
        //- /r/serde/Cargo.toml
        [package]
        name = \"serde\"
        //- /r/serde/src/lib.rs
        pub mod de;
        //- /r/serde/src/de.rs
        //- /r/core/Cargo.toml
        [package]
        name = \"serde_core\"
        //- /r/core/src/lib.rs
        pub mod de;
        //- /r/core/src/de.rs
        //- /r/src/lib.rs
        extern crate serde_core as serde;
        mod user;
        //- /r/src/user.rs
        use serde::de::Error;
        ",
        expect![[r#"
            core/src/lib.rs -> core/src/de.rs runtime
            serde/src/lib.rs -> serde/src/de.rs runtime
            src/lib.rs -> core/src/lib.rs runtime
            src/lib.rs -> src/user.rs runtime
            src/user.rs -> core/src/lib.rs runtime
            src/user.rs -> serde/src/lib.rs runtime
        "#]],
    );
}

#[test]
fn names_come_from_globs_blocks_and_crates() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        extern crate alloc as heap;
        mod circle;
        mod other;
        mod user;
        use other::thing;
        //- /r/src/circle.rs
        pub use super::circle::*;
        pub use crate::*;
        //- /r/src/other.rs
        pub mod thing;
        //- /r/src/other/thing.rs
        //- /r/src/user.rs
        use super::*;
        fn f() {
            use crate::circle as c;
            c::gone();
            thing::g();
            heap::vec::Vec::new();
            std::mem::take();
            unknown::f();
        }
        fn g() { c::not_here(); }
        mod tests { use super::*; fn t() { thing::g(); } }
        ",
        expect![[r#"
            src/circle.rs -> src/lib.rs runtime
            src/lib.rs -> rust:alloc runtime
            src/lib.rs -> src/circle.rs runtime
            src/lib.rs -> src/other.rs runtime
            src/lib.rs -> src/other/thing.rs runtime
            src/lib.rs -> src/user.rs runtime
            src/other.rs -> src/other/thing.rs runtime
            src/user.rs -> rust:alloc runtime
            src/user.rs -> rust:std runtime
            src/user.rs -> src/circle.rs runtime
            src/user.rs -> src/lib.rs runtime
            src/user.rs -> src/other/thing.rs runtime
        "#]],
    );
}

#[test]
fn packages_of_a_workspace() {
    check(
        "
        //- /r/Cargo.toml
        [workspace]
        members = [\"crates/*\"]
        [workspace.dependencies]
        shared = { path = \"crates/shared-thing\", package = \"shared-thing\" }
        [patch.crates-io]
        patched = { path = \"crates/patched\" }
        //- /r/crates/app/Cargo.toml
        [package]
        name = \"app\"
        edition = \"2021\"
        [dependencies]
        shared = { workspace = true }
        other = { path = \"../lib\", package = \"lib-rs\" }
        odd-name = { path = \"../odd\" }
        patched = \"1\"
        absent = \"1\"
        [target.'cfg(unix)'.dev-dependencies]
        vendored = \"1\"
        //- /r/crates/app/src/main.rs
        use shared::Shared;
        use other::make;
        use library_name::x;
        use patched::y;
        use absent::z;
        use vendored::v;
        use undeclared::u;
        fn main() { other::deep::call(); }
        //- /r/crates/shared-thing/Cargo.toml
        [package]
        name = \"shared-thing\"
        edition = \"2021\"
        //- /r/crates/shared-thing/src/lib.rs
        mod inner;
        pub use inner::Shared;
        //- /r/crates/shared-thing/src/inner.rs
        pub struct Shared;
        //- /r/crates/lib/Cargo.toml
        [package]
        name = \"lib-rs\"
        [lib]
        path = \"lib.rs\"
        //- /r/crates/lib/lib.rs
        pub mod deep;
        //- /r/crates/lib/deep.rs
        use deep::own;
        use ::deep;
        //- /r/crates/odd/Cargo.toml
        [package]
        name = \"odd-name\"
        [lib]
        name = \"library_name\"
        //- /r/crates/odd/src/lib.rs
        //- /r/crates/patched/Cargo.toml
        [package]
        name = \"patched\"
        //- /r/crates/patched/src/lib.rs
        //- /r/Cargo.lock
        [[package]]
        name = \"vendored\"
        version = \"1.2.0\"
        //- /r/vendor/vendored-1.1.0/Cargo.toml
        [package]
        name = \"vendored\"
        //- /r/vendor/vendored-1.1.0/src/lib.rs
        //- /r/vendor/vendored-1.2.0/Cargo.toml
        [package]
        name = \"vendored\"
        //- /r/vendor/vendored-1.2.0/src/lib.rs
        ",
        expect![[r#"
            crates/app/src/main.rs -> absent runtime
            crates/app/src/main.rs -> crates/lib/lib.rs runtime
            crates/app/src/main.rs -> crates/odd/src/lib.rs runtime
            crates/app/src/main.rs -> crates/patched/src/lib.rs runtime
            crates/app/src/main.rs -> ~crates/shared-thing/src/inner.rs runtime
            crates/app/src/main.rs -> crates/shared-thing/src/lib.rs runtime
            crates/app/src/main.rs -> vendor/vendored-1.2.0/src/lib.rs runtime
            crates/lib/lib.rs -> crates/lib/deep.rs runtime
            crates/shared-thing/src/lib.rs -> crates/shared-thing/src/inner.rs runtime
        "#]],
    );
}

#[test]
fn macros_and_included_files() {
    check(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        #[macro_use] mod macros;
        mod user;
        const TEXT: &str = include_str!(\"../README.md\");
        const DATA: &[u8] = include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/data.bin\"));
        const GONE: &str = include_str!(\"gone.txt\");
        const OUT: &str = include_str!(\"../../etc/passwd\");
        //- /r/README.md
        //- /r/data.bin
        //- /r/src/macros.rs
        macro_rules! local { () => { $crate::user::call() }; }
        #[macro_export] macro_rules! exported { () => {}; }
        //- /r/src/user.rs
        fn f() { local!(); crate::exported!(); println!(); vec![]; }
        ",
        expect![[r#"
            src/lib.rs -> README.md runtime
            src/lib.rs -> data.bin runtime
            src/lib.rs -> src/gone.txt runtime
            src/lib.rs -> src/macros.rs runtime
            src/lib.rs -> src/user.rs runtime
            src/macros.rs -> src/user.rs runtime
            src/user.rs -> ~src/macros.rs runtime
        "#]],
    );
}

#[test]
fn warm_runs_are_cold_runs() {
    let system = MemorySystem::from_fixture(
        "
        //- /r/Cargo.toml
        [package]
        name = \"p\"
        edition = \"2021\"
        //- /r/src/lib.rs
        mod a;
        mod b;
        //- /r/src/a.rs
        pub use crate::b::X;
        //- /r/src/b.rs
        pub struct X;
        //- /r/src/main.rs
        use p::a::X;
        ",
    );
    let options = GraphOptions::new(ROOT);
    let request =
        |cache: bool| GraphRequest { cache_directory: cache.then(|| "/cache".to_owned()), ..GraphRequest::default() };
    let edits = [
        ("/r/src/b.rs", "pub struct X; use std::fmt;\n"),
        ("/r/src/a.rs", "pub use super::b::*;\n"),
        ("/r/src/c.rs", "pub struct X;\n"),
        ("/r/src/lib.rs", "mod a;\nmod b { pub use crate::c::X; }\nmod c;\n"),
        ("/r/src/a.rs", "pub fn x() { crate::b::X; dep::y(); }\n"),
        ("/r/dep/Cargo.toml", "[package]\nname = \"dep\"\n"),
        ("/r/dep/src/lib.rs", "pub fn y() {}\n"),
        ("/r/Cargo.toml", "[package]\nname = \"p\"\n[dependencies]\ndep = { path = \"dep\" }\n"),
        ("/r/src/c.rs", "#[macro_export] macro_rules! m { () => {}; }\n"),
        ("/r/src/main.rs", "fn main() { p::m!(); }\n"),
    ];
    for (number, (path, contents)) in (1..).zip(edits) {
        system.set_now(number * 100_000_000_000).set_file(path, contents);
        let cold = json(&run(&system, &options, &request(false)));
        for _ in 0..2 {
            assert_eq!(json(&run(&system, &options, &request(true))), cold, "after {path}");
        }
    }
}
