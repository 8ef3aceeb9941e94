//! Packages whose names, versions and entry points try to lead out of the archive or the repository.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("package-names", "the name of a package becomes a place outside of the archive's folder", |site| {
            let long = "n".repeat(10_000);
            let mut names: Vec<&str> = NAMES.to_vec();
            names.push(&long);
            labelled(site, &names, |name| format!(r#"{{"name":{name},"version":"1.0.0"}}"#))
        }),
        Tree::new(
            "package-versions",
            "the version of a package becomes a place outside of the archive's folder",
            |site| {
                let long = "1".repeat(10_000);
                let mut versions: Vec<&str> = NAMES.to_vec();
                versions.extend(["1/2", "1.0.0/../../../../x", "1\r2", "1.0.0 ", "1.0.0\\..\\..", "..1", &long]);
                labelled(site, &versions, |version| format!(r#"{{"name":"v","version":{version}}}"#))
            },
        ),
        Tree::new("package-twins", "two packages that call themselves the same overwrite each other", |site| {
            site.project()?;
            for (folder, text) in [("one", "1"), ("two", "2"), ("three", "2")] {
                site.file(&format!("repo/node_modules/{folder}/package.json"), r#"{"name":"twin","version":"1.0.0"}"#)?;
                site.file(&format!("repo/node_modules/{folder}/index.js"), format!("export default {text};\n"))?;
            }
            site.file("repo/src/main.ts", "import 'one';\nimport 'two';\nimport 'three';\n")?;
            site.selection(r#"["src/main.ts",9]"#)
        }),
        Tree::new("package-exports", "`exports`, `imports`, `main` or `typesVersions` name a file outside", exports),
        Tree::new("package-workspaces", "a workspace glob lists folders outside", |site| {
            site.project()?;
            site.file(
                "repo/package.json",
                r#"{"name":"shop","workspaces":["../*","../sibling","/*","../../**","packages/../../*","{..,packages}/*","**"]}"#,
            )?;
            site.file("repo/pnpm-workspace.yaml", "packages: ['../*', '/**', '../**', 'packages/*']\n")?;
            site.file(
                "repo/packages/a/package.json",
                r#"{"name":"a","version":"1.0.0","main":"../../../vault/key.pem"}"#,
            )?;
            site.link("repo/packages/b", "../../vault")?;
            site.file(
                "repo/src/loot.ts",
                "import 'vault-name';\nimport 'a';\nimport 'b';\nimport 'sibling';\nimport 'shop';\n",
            )?;
            site.selection(r#"["src/loot.ts",9]"#)
        }),
    ]
}

const NAMES: &[&str] = &[
    "../../etc",
    "/etc",
    "a/../../b",
    "",
    ".",
    "..",
    "a/b/c",
    "@/x",
    "@x/..",
    "@../x",
    "a\\..\\b",
    "a\0b",
    "CON",
    "a\nb",
    " ",
    "-rf",
    ".git",
    "node_modules",
    "@scope/name/extra",
    "a//b",
    "a/",
    "a:b",
    "x\u{202e}y",
    "x\u{1b}[31m",
    "C:\\x",
    "\u{e4}",
    "*",
    "~",
    "%2e%2e",
];

/// One package per label, which the manifest may use anywhere.
fn labelled(site: &mut Site, labels: &[&str], manifest: impl Fn(&str) -> String) -> io::Result<()> {
    site.project()?;
    let mut imports = String::new();
    for (index, label) in labels.iter().enumerate() {
        let quoted = serde_json::Value::from(*label).to_string();
        site.file(&format!("repo/node_modules/p{index}/package.json"), manifest(&quoted))?;
        site.file(&format!("repo/node_modules/p{index}/index.js"), format!("export default {index};\n"))?;
        imports.push_str(&format!("import 'p{index}';\n"));
    }
    site.file("repo/src/loot.ts", imports)?;
    site.selection(r#"["src/loot.ts",9]"#)
}

fn exports(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let out = "../../../vault";
    let manifests = [
        format!(r#"{{"exports":"{out}/private.ts"}}"#),
        format!(r#"{{"exports":{{".":"./{out}/private.ts"}}}}"#),
        format!(
            r#"{{"exports":{{".":{{"types":["./{out}/private.ts","/etc/passwd"]}},"./*":"./*/{out}/private.ts"}}}}"#
        ),
        r#"{"exports":{".":"./%2e%2e/%2e%2e/%2e%2e/vault/private.ts","./x":"./..\\..\\..\\vault\\private.ts"}}"#
            .to_owned(),
        r#"{"exports":{".":"file:///etc/passwd","./x":"node:fs","./y":"/etc/passwd"}}"#.to_owned(),
        format!(r#"{{"main":"{out}/key.pem"}}"#),
        // If a folder contained a script, the import would resolve to it, and it could be read.
        r#"{"main":"../../../home"}"#.to_owned(),
        format!(r#"{{"types":"{out}/key.pem","typings":"/etc/passwd","module":"/etc/shadow"}}"#),
        format!(r#"{{"typesVersions":{{"*":{{"*":["{out}/key.pem","{out}/*.pem"]}}}}}}"#),
        r#"{"main":"/etc/passwd"}"#.to_owned(),
        r#"{"main":"\u0000","types":"a\u0000b"}"#.to_owned(),
    ];
    let mut imports = String::new();
    for (index, manifest) in manifests.iter().enumerate() {
        let named = manifest.replacen('{', &format!(r#"{{"name":"e{index}","version":"1.0.0","#), 1);
        site.file(&format!("repo/node_modules/e{index}/package.json"), named)?;
        imports.push_str(&format!("import 'e{index}';\nimport 'e{index}/x';\nimport 'e{index}/key';\n"));
    }
    site.file(
        "repo/package.json",
        r##"{"name":"shop","imports":{"#a":"../vault/private.ts","#b":"./../vault/private.ts","#c/*":"./*/../../vault/private.ts","#d":"/etc/passwd","#e":"./%2e%2e/vault/private.ts"},"exports":"../vault/private.ts"}"##,
    )?;
    imports.push_str(
        "import '#a';\nimport '#b';\nimport '#c/x';\nimport '#c/../..';\nimport '#d';\nimport '#e';\nimport 'shop';\n",
    );
    imports.push_str("import 'money/../../../vault/key.pem';\nimport 'money/..';\nimport '..';\nimport '.';\nimport '/';\nimport '/etc/passwd';\n");
    imports.push_str("import 'file:///etc/passwd';\nimport '\\0';\nimport '../../secret.txt';\nimport '../../../../../../../../etc/passwd';\n");
    site.file("repo/src/loot.ts", imports)?;
    site.selection(r#"["src/loot.ts",9]"#)
}
