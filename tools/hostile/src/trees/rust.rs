//! Hostile Rust repositories: packages and modules that lead out of the repository, files that never end, cyclic names.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("rust-packages", "a path, patched, vendored or included file lies outside, and is read", packages),
        Tree::new("rust-nesting", "deep or broken files overflow the stack or take too long to read", nesting),
        Tree::new("rust-circles", "names that refer to each other, or to very many, never end", circles),
    ]
}

fn packages(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file(
        "repo/Cargo.toml",
        "[package]\nname = \"p\"\nbuild = \"../vault/build.rs\"\nworkspace = \"../vault\"\n[lib]\npath = \"src/lib.rs\"\n\
         [[bin]]\nname = \"x\"\npath = \"/etc/passwd\"\n[dependencies]\nout = { path = \"../vault\" }\nabs = { path = \"/etc\" }\n\
         up = { path = \"src/../../sibling\" }\nvendored = \"1\"\n[patch.crates-io]\nvendored = { path = \"../vault\" }\n",
    )?;
    site.file("repo/.cargo/config.toml", "[source.a]\ndirectory = \"../vault\"\n[source.b]\ndirectory = \"/etc\"\n")?;
    site.file(
        "repo/Cargo.lock",
        "[[package]]\nname = \"vendored\"\nversion = \"../../vault\"\n[[package]]\nname = \"../vault\"\nversion = \"1\"\n",
    )?;
    site.link("repo/vendor", "../vault")?;
    site.link("repo/src/linked.rs", "../../vault/key.pem")?;
    site.file(
        "repo/src/lib.rs",
        "mod linked;\n#[path = \"../../vault/key.pem\"] mod key;\n#[path = \"/etc/passwd\"] mod passwd;\nmod gone;\n\
         use out::a; use abs::b; use up::c; use vendored::d;\nconst A: &str = include_str!(\"../../vault/key.pem\");\n\
         const B: &str = include_str!(\"/etc/passwd\");\n\
         const C: &[u8] = include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../vault/key.pem\"));\n",
    )?;
    site.selection(r#"["src/lib.rs",9]"#)
}

fn nesting(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file("repo/Cargo.toml", "[package]\nname = \"p\"\nedition = \"2021\"\n")?;
    let count = site.scale.of(20_000, 400_000);
    let files = [
        ("modules", "mod a {".repeat(count)),
        ("blocks", format!("fn f() {}", "{ use a::b; b::c();".repeat(count))),
        ("trees", format!("use {}x;", "a::{".repeat(count))),
        ("prefix", format!("use {}::{{{}}};", "a".repeat(1000), "b,".repeat(count))),
        ("paths", format!("fn f() {{ a{} }}", "::a".repeat(count))),
        ("comments", "/*".repeat(count)),
        ("strings", format!("r{}\"", "#".repeat(count))),
        ("quotes", "r#\"\"".repeat(count)),
        ("brackets", "([{".repeat(count)),
        ("macros", "m! {".repeat(count)),
        ("generics", format!("fn f{}", "<A".repeat(count))),
        ("impls", "impl A { fn f() {".repeat(count)),
        ("members", format!("fn f(a: A) {{ a{} }}", ".b()".repeat(count))),
        ("attributes", "#[path = \"x\"]".repeat(count)),
    ];
    let mut root = String::new();
    for (name, text) in files {
        root += &format!("mod {name};\n");
        site.file(&format!("repo/src/{name}.rs"), text)?;
    }
    site.file("repo/src/lib.rs", root)?;
    site.selection(r#"["src/lib.rs",9]"#)
}

fn circles(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file(
        "repo/Cargo.toml",
        "[package]\nname = \"p\"\nedition = \"2021\"\n[dependencies]\np = { path = \".\" }\n",
    )?;
    let count = site.scale.of(100, 500);
    let mut root = String::from("pub use crate::*; pub use self::*; use p::p::p::p; pub use m0::x as x;\n");
    for index in 0..count {
        let next = (index + 1) % count;
        root += &format!("pub mod m{index};\n");
        let globs: String = (0..count).map(|other| format!("pub use crate::m{other}::*;\n")).collect();
        let paths: String = (0..100).map(|name| format!("n{name}::f(); ")).collect();
        site.file(
            &format!("repo/src/m{index}.rs"),
            format!("{globs}pub use super::m{next}::x as x; pub use x::y as x;\n#[path = \"m{next}.rs\"] mod again;\nfn f() {{ {paths} }}\n"),
        )?;
    }
    site.file("repo/src/lib.rs", root)?;
    site.selection(r#"["src/lib.rs",9]"#)
}
