//! Go repositories that attack: modules that lead out of the repository, and files that never end.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("go-modules", "a replaced, vendored or relative package lies outside, and is read", modules),
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
