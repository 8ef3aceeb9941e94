//! Names with a meaning for a shell, a terminal, an archive, a glob or another operating system.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("names", "a name is taken for an option, a path, a glob or a command", names),
        Tree::new("names-not-utf8", "a name that is not UTF-8 fails the run or is mangled in silence", |site| {
            site.project()?;
            site.file_of_bytes(b"repo/src/\xff\xfe.ts", "export {};\n")?;
            site.file_of_bytes(b"repo/src/latin-\xe9.ts", "import './main';\n")?;
            site.file_of_bytes(b"repo/\xc0\xaf..\xc0\xaf/secret.ts", "export {};\n")?;
            site.file_of_bytes(b"repo/node_modules/\xff/package.json", "{}")?;
            site.file_of_bytes(b"repo/.stan/system/\xff.md", "x")?;
            site.file_of_bytes(b"repo/.stan/imports/\xff/a.md", "x")?;
            site.file("repo/src/loot.ts", "import './\u{fffd}\u{fffd}';\nimport './latin-\u{e9}';\n")?;
            site.selection(r#"["src/loot.ts",9]"#)
        }),
        Tree::new("names-long", "a name of the greatest length is cut, or makes a temporary name too long", |site| {
            site.project()?;
            let name = "n".repeat(252);
            site.file(&format!("repo/{name}.ts"), "export {};\n")?;
            site.file(&format!("repo/{}.t", "\u{e4}".repeat(126)), "x\n")?;
            site.file(&format!("repo/.stan/system/{name}.md"), "x\n")?;
            let folders = vec!["d".repeat(250); 14].join("/");
            site.file(&format!("repo/long/{folders}/a.ts"), "import 'node:fs';\n")?;
            site.file(&format!("repo/node_modules/{name}/package.json"), r#"{"name":"x","version":"1"}"#)?;
            site.file(&format!("repo/node_modules/{name}/{name}.js"), "export {};\n")?;
            site.file(
                "repo/src/loot.ts",
                format!("import '../{name}';\nimport '{name}/{name}.js';\nimport '{}';\n", "x/".repeat(40_000)),
            )?;
            site.selection(r#"["src/loot.ts",9]"#)
        }),
    ]
}

const NAMES: &[&str] = &[
    "-rf.ts",
    "--help",
    "-C",
    "a\nb.ts",
    "a\rb.ts",
    "CON",
    "con.ts",
    "aux.ts",
    "nul.txt",
    "COM1.ts",
    "trail.",
    "trail ",
    " lead.ts",
    "back\\slash.ts",
    "..\\x.ts",
    "..%2fx.ts",
    "%2e%2e%2fsecret.txt",
    "...",
    "..x.ts",
    "~root.ts",
    "$HOME.ts",
    "`id`.ts",
    "$(id).ts",
    "a;b.ts",
    "a|b.ts",
    "a&b.ts",
    "tab\t.ts",
    "esc\u{1b}[31m.ts",
    "bidi\u{202e}st.ts",
    "bell\u{7}.ts",
    "del\u{7f}.ts",
    "c1\u{9b}31m.ts",
    "nf\u{e9}.ts",
    "nfe\u{301}.ts",
    "Case.ts",
    "case.ts",
    "zero\u{200b}width.ts",
    "\u{feff}bom.ts",
    "quote\".ts",
    "quote'.ts",
    "<script>.ts",
    "a,b.ts",
    "{a,b}.ts",
    "[a].ts",
    "*.ts",
    "?.ts",
    "!x.ts",
    "#hash.ts",
    "%00.ts",
    ":c.ts",
    "C:drive.ts",
    "file:x.ts",
    "a?query.ts",
    "node:fs.ts",
    "@.ts",
    "\u{1f600}.ts",
    "__proto__.ts",
    "constructor",
    "undefined",
    ".stan-tmp-1-0-x.ts",
    "dependency.map.json",
    "\"]};x-->y.ts",
];

fn names(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let mut imports = String::new();
    let mut entries = vec![r#"["src/loot.ts",9]"#.to_owned()];
    for name in NAMES {
        site.file(&format!("repo/{name}"), format!("import './src/main';\n// {}\n", name.len()))?;
        site.file(&format!("repo/src/{name}"), "export const x = 1;\n")?;
        site.file(&format!("repo/folder/{name}/{name}"), "export const x = 1;\n")?;
        let quoted = serde_json::Value::from(format!("./{name}")).to_string();
        imports.push_str(&format!("import {quoted};\n"));
        entries.push(serde_json::Value::from(format!("src/{name}")).to_string());
    }
    site.file("repo/src/loot.ts", imports)?;
    let accepted: Vec<String> = entries.into_iter().filter(|entry| !entry.contains("..\\\\")).collect();
    site.selection(&accepted.join(","))
}
