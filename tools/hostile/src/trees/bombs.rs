//! Small files that are expensive for a careless reader: nesting, repetition, patterns that backtrack.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("json-deep", "deep nesting ends the stack", |site| {
            site.project()?;
            let deep = format!("{}{}", "[".repeat(300_000), "]".repeat(300_000));
            let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
            json_everywhere(
                site,
                &[&format!(r#"{{"name":"x","exports":{deep}}}"#), &deep, &objects, &"{\"exports\":".repeat(100_000)],
            )
        }),
        Tree::new("json-odd", "odd numbers, repeated keys or broken escapes end the run", |site| {
            site.project()?;
            json_everywhere(
                site,
                &[
                    r#"{"name":"a","name":"b","version":"1","version":2,"main":1e999,"exports":null}"#,
                    r#"{"name":"\ud800","version":"\udfff\u0000"}"#,
                    &format!(r#"{{"name":{},"version":-0.0e-999999999}}"#, "9".repeat(100_000)),
                    "",
                    "null",
                    "\u{feff}{}",
                    r#"{"__proto__":{"name":"x"},"constructor":1,"exports":{"__proto__":"./x.js",".":"./y.js"}}"#,
                    r#"{"name":["a"],"version":{},"main":[],"exports":[[[["./x.js"]]]],"imports":[],"workspaces":{"packages":[1,[],{}]}}"#,
                ],
            )
        }),
        Tree::new("json-large", "a manifest of many megabytes is read again and again", large_json),
        Tree::new("globs", "an ignore rule or glob takes exponential time", globs),
        Tree::new("sources", "a source file ends the stack or takes quadratic time", sources),
    ]
}

/// Writes each text to every path where the programs read JSON.
fn json_everywhere(site: &mut Site, texts: &[&str]) -> io::Result<()> {
    let mut imports = String::new();
    for (index, text) in texts.iter().enumerate() {
        site.file(&format!("repo/node_modules/j{index}/package.json"), text)?;
        site.file(&format!("repo/node_modules/j{index}/index.js"), format!("export default {index};\n"))?;
        site.file(&format!("repo/packages/p{index}/package.json"), text)?;
        site.file(&format!("repo/packages/p{index}/tsconfig.json"), text)?;
        site.file(&format!("repo/packages/p{index}/a.ts"), format!("import 'j{index}';\nimport './data.json';\n"))?;
        site.file(&format!("repo/packages/p{index}/data.json"), text)?;
        for sort in ["state", "meta", "config", "ast", "diag", "project"] {
            site.file(&format!("given/{sort}-{index}.json"), text)?;
        }
        imports.push_str(&format!("import 'j{index}';\nimport '../packages/p{index}/a';\n"));
    }
    site.file("repo/src/main.ts", imports)?;
    site.selection(r#"["src/main.ts",9]"#)
}

fn large_json(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let (megabytes, many) = site.scale.of((10, 5_000), (15, 50_000));
    let (head, tail) = (r#"{"name":"big","version":"1.0.0","filler":""#, r#""}"#);
    let megabyte = "x".repeat(1 << 20);
    for path in
        ["repo/node_modules/big/package.json", "repo/packages/big/package.json", "repo/packages/big/tsconfig.json"]
    {
        site.repeated(path, head, &megabyte, megabytes, tail)?;
    }
    site.file("repo/packages/big/a.ts", "import 'big';\nimport 'patterns/x/y/z';\nimport '#p/x';\n")?;
    site.file("repo/node_modules/big/index.js", "export {};\n")?;
    let patterns: Vec<String> = (0..many).map(|index| format!(r#""./{index}*{index}":"./{index}/*.js""#)).collect();
    site.file(
        "repo/node_modules/patterns/package.json",
        format!(r#"{{"name":"patterns","version":"1.0.0","exports":{{{}}}}}"#, patterns.join(",")),
    )?;
    let paths: Vec<String> = (0..many).map(|index| format!(r#""{index}*":["./{index}/*","./x/*"]"#)).collect();
    site.file("repo/tsconfig.json", format!(r#"{{"compilerOptions":{{"paths":{{{}}}}}}}"#, paths.join(",")))?;
    let members: Vec<String> = (0..20_000).map(|index| format!(r#""packages/{index}/**""#)).collect();
    site.file("repo/package.json", format!(r#"{{"name":"shop","workspaces":[{}]}}"#, members.join(",")))?;
    let imports: String =
        (0..500).map(|index| format!("import '{index}/a';\nimport 'patterns/{index}x{index}';\n")).collect();
    site.file("repo/src/main.ts", imports)?;
    site.selection(r#"["src/main.ts",9]"#)
}

fn globs(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let stars = "a*".repeat(60);
    let folders = "**/".repeat(40);
    let name = "a".repeat(240);
    let mut rules = vec![
        format!("{stars}b"),
        format!("{folders}{stars}b"),
        format!("{}b", "**/a*".repeat(30)),
        format!("{}z", "[a-z]*".repeat(40)),
        format!("a{}", "/**".repeat(60)),
        "[".repeat(1000),
        "\\".repeat(1001),
        "!".repeat(1000),
        format!("*{}", "?".repeat(200)),
    ];
    rules.extend((0..site.scale.of(2_000, 20_000)).map(|index| format!("{index}*{stars}c")));
    site.file("repo/.gitignore", rules.join("\n"))?;
    for index in 0..20 {
        site.file(&format!("repo/{}{name}{index}.ts", "a/".repeat(index)), "export {};\n")?;
    }
    let config = format!(
        "stan-core:\n  excludes:\n    - '{stars}b'\n    - '{folders}{stars}b'\n    - '{}'\n    - '{}x'\n  includes:\n    - '{}b'\n",
        "{a,b}".repeat(12),
        "{a,{b,{c,d}}}".repeat(6),
        "**/a*".repeat(20),
    );
    site.file("repo/stan.config.yml", config)?;
    site.file("given/config-braces.json", serde_json::json!({"stan-core": {"excludes": ["{a,b}".repeat(200), "{1..99999999}", "{".repeat(5000), "**/".repeat(5000)]}}).to_string())?;
    site.file(
        "repo/packages/tsconfig.json",
        serde_json::json!({"include": [format!("{folders}{stars}b"), "**/".repeat(30) + "*", format!("{}*b", "*a".repeat(60))], "exclude": [format!("{folders}{stars}c")], "compilerOptions": {"paths": {(format!("{}*", "a".repeat(300))): ["./x/*"]}}}).to_string(),
    )?;
    site.file(&format!("repo/packages/{name}.ts"), "export {};\n")?;
    site.file("repo/package.json", serde_json::json!({"name": "shop", "workspaces": [format!("{folders}{stars}b"), "**/**/**/**/**/**", format!("packages/{stars}b")]}).to_string())?;
    let template = "${v}/".repeat(60);
    let glob = format!("./{folders}{stars}b");
    site.file("repo/src/loot.ts", format!("const f = (v) => [import(`./{template}a.ts`), import(`../a${{v}}a${{v}}a${{v}}a${{v}}b`), import.meta.glob(['{glob}', './**/**/**/**/**/*', '!{glob}', '../**/*'])];\n"))?;
    site.selection(r#"["src/loot.ts",9]"#)
}

fn sources(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let count = site.scale.of(20_000, 200_000);
    let nested =
        |open: &str, close: &str| format!("export const x = {}1{};\n", open.repeat(count), close.repeat(count));
    let texts = [
        ("parens.ts", nested("(", ")")),
        ("arrays.ts", nested("[", "]")),
        ("arrows.ts", nested("a=>", "")),
        ("templates.ts", nested("`${", "}`")),
        ("ternaries.js", nested("1?2:", "")),
        ("plus.js", nested("1+", "")),
        ("generics.ts", format!("type X = {}1{};\n", "A<".repeat(count), ">".repeat(count))),
        ("elements.tsx", format!("const x = {}{};\n", "<a>".repeat(count), "</a>".repeat(count))),
        ("blocks.js", format!("{}import 'x';{}", "{".repeat(count), "}".repeat(count))),
        ("comment.ts", format!("/** {} @module */\n/*{}", "{@link ".repeat(count), "*".repeat(count))),
        ("open.vue", "<script>".repeat(count)),
        ("open.svelte", format!("<script lang='{}", "\"<script>".repeat(count))),
        ("fence.astro", "---\n".repeat(count)),
        ("jsdoc.js", format!("/** {} */", "@import {a} from 'b' {import('c').".repeat(count / 4))),
        ("imports.ts", (0..count).map(|index| format!("import a{index} from './m{index}';\n")).collect()),
        ("stars.ts", (0..2_000).map(|index| format!("export * from './s{index}';\n")).collect()),
        ("one-line.js", format!("require('./cart');{}", "a;".repeat(4 << 20))),
        ("nul.ts", "import './cart';\0\0\0".repeat(100)),
    ];
    let mut imports = String::new();
    for (name, text) in &texts {
        site.file(&format!("repo/src/{name}"), text)?;
        imports.push_str(&format!("import {{ x as x{} }} from './{name}';\n", imports.len()));
    }
    for index in 0..300 {
        // Each re-exports everything of its neighbours: the number of paths is exponential.
        let next = (index + 1) % 300;
        let other = (index * 7 + 3) % 300;
        site.file(&format!("repo/src/s{index}.ts"), format!("export * from './s{next}';\nexport * from './s{other}';\nexport {{ n{next} as n{index} }} from './s{next}';\n"))?;
    }
    imports.push_str("import { n5, nowhere } from './s0';\n");
    site.file("repo/src/main.ts", imports)?;
    site.selection(r#"["src/main.ts",99]"#)
}
