//! Hostile Go repositories: modules that refer to files outside of the repository, and files that never end.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("go-modules", "a replaced, vendored or relative package lies outside, and is read", modules),
        Tree::new(
            "go-module-cache",
            "the module cache gives away modules that go.sum does not name, or what they link to",
            cache,
        ),
        Tree::new("go-requirements", "a huge go.mod and go.sum take too long to read", requirements),
        Tree::new("go-nesting", "deep or broken files overflow the stack or take too long to read", nesting),
    ]
}

fn modules(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file(
        "repo/go.mod",
        "module example.com/m\nreplace example.com/out => ../vault\nreplace example.com/abs => /etc\n\
         replace (\n\texample.com/up => ./src/../../sibling\n\texample.com/m => ../vault\n)\n",
    )?;
    site.file("repo/go.work", "go 1.19\nuse (\n\t../vault\n\t/etc\n)\nreplace example.com/work => ../sibling\n")?;
    site.file("repo/go.sum", "example.com/cached v1.0.0 h1:AAAA=\n../../vault v1.0.0 h1:AAAA=\n")?;
    site.link("repo/vendor", "../vault")?;
    site.link("repo/linked", "../vault")?;
    site.link("repo/src/key.go", "../../vault/key.pem")?;
    site.file(
        "repo/src/loot.go",
        "package src\nimport (\n\t\"example.com/out\"\n\t\"example.com/abs\"\n\t\"example.com/up\"\n\t\"example.com/work\"\n\
         \t\"../../vault\"\n\t\"/etc\"\n\t\"example.com/m/../../vault\"\n\t\"example.com/m/linked\"\n\t\"example.com/cached\"\n)\n\
         func F() { out.Key(); key() }\n",
    )?;
    site.selection(r#"["src/loot.go",9]"#)
}

/// The user's module cache.
const CACHE: &str = "home/go/pkg/mod";

/// The hash of no module.
const HASH: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// Modules in go.sum that contain symlinks to the outside, pipes and endless files; a module that is not in go.sum; and names
/// that lead elsewhere.
fn cache(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let odd = [
        "../../vault",
        "/etc",
        "example.com/../../../../vault",
        "a//b",
        ".",
        "example.com/a@v1.0.0",
        "EXAMPLE.com/!x",
        "cache/download",
    ];
    let versions = ["../../../../../vault", "v1.0.0/../../../../vault", "v1\\..", ".", "v1.0.0@v1.0.0"];
    let mut requires =
        String::from("module example.com/m\nrequire example.com/locked v1.0.0\nrequire example.com/linked v1.0.0\n");
    let mut sums = format!("example.com/locked v1.0.0 {HASH}\nexample.com/linked v1.0.0 {HASH}\n");
    let named =
        odd.iter().map(|name| (*name, "v1.0.0")).chain(versions.iter().map(|version| ("example.com/odd", *version)));
    for (name, version) in named {
        requires.push_str(&format!("require {name} {version}\n"));
        sums.push_str(&format!("{name} {version} {HASH}\n"));
    }
    requires.push_str("require example.com/private v1.0.0\nreplace example.com/old => ../../vault v1.0.0\n");
    site.file("repo/go.mod", requires)?;
    site.file("repo/go.sum", sums)?;
    let secret = format!("package private\nconst Key = \"{}\"\n", crate::site::CANARY);
    site.file(&format!("{CACHE}/example.com/private@v1.0.0/p.go"), secret)?;
    let locked = format!("{CACHE}/example.com/locked@v1.0.0");
    site.file(&format!("{locked}/a.go"), "package locked\nfunc F() {}\n")?;
    site.link(&format!("{locked}/key.go"), "../../../../../../vault/key.pem")?;
    site.link(&format!("{locked}/out"), "../../../../../../vault")?;
    site.fifo(&format!("{locked}/pipe.go"))?;
    site.endless_device(&format!("{locked}/zero.go"))?;
    site.sparse(&format!("{locked}/huge.bin"), "", 1 << 40)?;
    site.link(&format!("{CACHE}/example.com/linked@v1.0.0"), "../../../../../vault")?;
    site.readable.push("home/go/pkg/mod/example.com/locked@v1.0.0/");
    let mut imports = String::from("package src\nimport (\n");
    for path in odd.iter().chain(&[
        "example.com/locked",
        "example.com/locked/out",
        "example.com/locked/../../../../../../vault",
        "example.com/linked",
        "example.com/private",
        "example.com/old",
        "example.com/odd",
    ]) {
        imports.push_str(&format!("\t\"{path}\"\n"));
    }
    imports.push_str(")\nfunc F() { locked.F(); private.Key() }\n");
    site.file("repo/src/loot.go", imports)?;
    site.selection(r#"["src/loot.go",9]"#)
}

fn requirements(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let count = site.scale.of(10_000, 40_000);
    let lines = |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let requires = lines(&|at| {
        format!("require example.com/a{at}/b/c v1.0.{at}\nreplace example.com/a{at}/b => example.com/x v1.0.{at}\n")
    });
    site.file("repo/go.mod", format!("module example.com/m\n{requires}"))?;
    site.file("repo/go.work", format!("go 1.21\nuse .\n{}", lines(&|at| format!("use ./m{at}\n"))))?;
    site.file(
        "repo/go.sum",
        lines(&|at| format!("example.com/a0/b/c v1.0.{at} {HASH}\nexample.com/x v1.0.{at} {HASH}\n")),
    )?;
    let imports = lines(&|at| format!("import \"example.com/a{}/b/c/d/e/f/g\"\n", at % 2_000));
    site.file("repo/src/many.go", format!("package src\n{imports}"))?;
    site.selection(r#"["src/many.go",9]"#)
}

fn nesting(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let count = site.scale.of(20_000, 400_000);
    for (name, text) in [
        ("braces", format!("func f() {{ {}", "{".repeat(count))),
        ("calls", format!("var x = {}", "f(".repeat(count))),
        ("types", format!("type T {}int", "[]".repeat(count))),
        ("functions", format!("type F {}", "func() ".repeat(count))),
        ("parameters", format!("func f({}) {{}}", "a func(b ".repeat(count))),
        ("ifs", format!("func f() {{ {}", "if ".repeat(count))),
        ("branches", format!("func f() {{ if a {{ }} {}", "else if a { } ".repeat(count))),
        ("defines", format!("func f() {{ a {}", ":= a ".repeat(count))),
        ("names", format!("func f() {{ {}b := 1 }}", "a, ".repeat(count))),
        ("vars", format!("func f() {{ {}", "var a ".repeat(count))),
        ("members", format!("var x = a{}", ".b".repeat(count))),
        ("structs", format!("type T {}", "struct { A ".repeat(count))),
        ("imports", format!("import (\n{})", "\t\"a/b\"\n".repeat(count.min(100_000)))),
    ] {
        site.file(&format!("repo/src/{name}.go"), format!("package src\n{text}\n"))?;
    }
    site.selection(r#"["src/braces.go",9]"#)
}
