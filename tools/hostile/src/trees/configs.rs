//! Configurations of stan and of the compiler that refer to files outside of the repository or to each other.

use std::io;

use super::Tree;
use crate::site::{CANARY, Site};

pub(super) fn trees() -> Vec<Tree> {
    let mut trees = vec![
        Tree::new(
            "tsconfig-outside",
            "a compiler configuration points the resolver to files outside that are not modules",
            outside,
        ),
        Tree::new("tsconfig-extends", "a chain or circle of `extends` and `references` does not end", chains),
        Tree::new("config-imports", "an import glob follows links out of the folder that it names", |site| {
            site.project()?;
            site.file("repo/handbook/a.md", "a\n")?;
            site.link("repo/handbook/leak.md", "../../secret.txt")?;
            site.link("repo/handbook/vault", "../../vault")?;
            site.link("repo/handbook/up", "../..")?;
            site.fifo("repo/handbook/pipe.md")?;
            site.file(
                "repo/stan.config.yml",
                "stan-core:\n  imports:\n    book: ['handbook/**']\n    '@a/b': 'handbook/*.md'\n",
            )?;
            site.selection(r#"["src/main.ts",9],".stan/imports/book/leak.md""#)
        }),
        Tree::new("config-yaml", "a YAML bomb is unfolded", |site| {
            site.project()?;
            let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
            for level in 1..12 {
                let refs = vec![format!("*a{}", level - 1); 9].join(", ");
                bomb.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
            }
            site.file("repo/stan.config.yml", format!("{bomb}stan-core:\n  excludes: *a11\n"))?;
            site.file("given/config-deep.yml", format!("stan-core: {}\n", "[".repeat(200_000)))?;
            site.file(
                "given/config-deep-block.yml",
                (0..3_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect::<String>(),
            )?;
            site.file("given/config-deep.json", "{\"a\":".repeat(200_000))?;
            site.file("given/config-large.yml", "#".repeat(20 << 20))?;
            site.file(
                "given/config-duplicate.json",
                r#"{"stan-core":{"stanPath":"a"},"stan-core":{"stanPath":".."}}"#,
            )?;
            site.file("given/config-numbers.json", r#"{"stan-core":{"context":{"externalDepth":1e999,"maxErrors":-1,"descriptionLimit":99999999999999999999}}}"#)?;
            site.file("given/config-bytes.yml", b"stan-core:\n  stanPath: \xff\xfe\n".as_slice())?;
            site.file("given/config-tags.yml", "stan-core: !!python/object/apply:os.system ['id']\n")?;
            site.fifo("given/config-pipe.yml")
        }),
    ];
    trees.extend(STAN_PATHS.map(|(name, path)| {
        Tree::new(name, "stan's own folder is put where it must not be", move |site: &mut Site| {
            site.project()?;
            site.file("repo/stan.config.json", serde_json::json!({"stan-core": {"stanPath": path}}).to_string())
        })
        .stan_path("no/such/folder")
    }));
    trees
}

const STAN_PATHS: [(&str, &str); 9] = [
    ("stan-path-up", ".."),
    ("stan-path-absolute", "/tmp/stan-hostile-outside"),
    ("stan-path-around", "src/../../vault"),
    ("stan-path-git", ".git/stan"),
    ("stan-path-root", "."),
    ("stan-path-empty", ""),
    ("stan-path-nul", "a\0b"),
    ("stan-path-backslash", "..\\vault"),
    ("stan-path-newline", "a\nb/../../x"),
];

fn outside(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file("vault/tsconfig.json", format!(r#"{{"compilerOptions":{{"paths":{{"{CANARY}":["./{CANARY}"]}}}},}},"#))?;
    site.file(
        "repo/tsconfig.json",
        r#"{"compilerOptions":{"baseUrl":"..","rootDirs":["..","/","../vault"],"typeRoots":["../vault","/etc"],"types":["key.pem"],
            "paths":{"loot":["../vault/key.pem","/etc/passwd"],"loot/*":["../vault/*","../*","/*"],"*":["./vault/*.pem","./*"]},
            "outDir":"../vault","rootDir":"/"},
            "files":["../secret.txt","/etc/passwd"],"include":["../**/*","/**/*"],"references":[{"path":"../sibling"},{"path":"/"}]}"#,
    )?;
    for (name, extends) in [
        ("a", r#""/etc/passwd""#),
        ("b", r#"["../../../../secret.txt","../../../../../../../../etc/hosts"]"#),
        ("c", r#""file:///etc/passwd""#),
        ("d", r#""../../../../vault/key.pem""#),
        ("e", r#""vault/../../../../../secret.txt""#),
    ] {
        site.file(&format!("repo/packages/p/{name}/tsconfig.json"), format!(r#"{{"extends":{extends}}}"#))?;
        site.file(&format!("repo/packages/p/{name}/x.ts"), "import 'loot';\n")?;
    }
    site.file("repo/src/loot.ts", "import 'loot';\nimport 'loot/key.pem';\nimport 'loot/secret.txt';\nimport 'key';\nimport 'secret.txt';\nimport 'etc/passwd';\n/// <reference path=\"../../secret.txt\" />\n/// <reference types=\"../../vault\" />\n")?;
    site.selection(r#"["src/loot.ts",9]"#)
}

fn chains(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file("repo/tsconfig.json", r#"{"extends":"./tsconfig.json","references":[{"path":"."},{"path":"./a"}]}"#)?;
    site.file("repo/a/tsconfig.json", r#"{"extends":"../b/tsconfig.json","references":[{"path":"../b"}]}"#)?;
    site.file("repo/b/tsconfig.json", r#"{"extends":["../a","../a/tsconfig.json"],"references":[{"path":"../a"}]}"#)?;
    site.file("repo/a/a.ts", "import '../b/b';\n")?;
    site.file("repo/b/b.ts", "import '../a/a';\n")?;
    for index in 0..2_000 {
        let next = format!(r#"{{"extends":"./{}.json","references":[{{"path":"./{}.json"}}]}}"#, index + 1, index + 1);
        site.file(&format!("repo/c/{index}.json"), next)?;
    }
    site.file("repo/c/tsconfig.json", r#"{"extends":"./0.json"}"#)?;
    site.file("repo/c/c.ts", "import './c';\n")?;
    // Two to the power of thirty paths, if each were followed.
    for index in 0..30 {
        let next = index + 1;
        site.file(&format!("repo/d/{index}/tsconfig.json"), format!(r#"{{"extends":["../{next}/tsconfig.json","../{next}"],"references":[{{"path":"../{next}"}},{{"path":"../{next}/tsconfig.json"}}]}}"#))?;
    }
    site.file("repo/d/30/tsconfig.json", "{}")?;
    site.file("repo/d/0/d.ts", "import 'd';\n")?;
    site.file("repo/node_modules/circular/tsconfig.json", r#"{"extends":"circular"}"#)?;
    site.file("repo/e/tsconfig.json", r#"{"extends":"circular"}"#)?;
    site.file("repo/e/e.ts", "import './e';\n")
}
