//! Untrusted files that are passed to a command by name: archives, replies, selections, logs, modules.

use std::io;

use super::Tree;
use crate::site::{MODULE, Site};

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new(
            "given-archives",
            "an archive leads `verify` or `check` to files outside, or takes too much",
            archives,
        ),
        Tree::new("given-replies", "a reply leads `check` to files outside, or takes too much", replies),
        Tree::new("given-states", "a selection or map on the command line leads outside, or takes too much", states),
        Tree::new("given-logs", "a log leads `suggest` to files outside, or takes too much", |site| {
            site.project()?;
            let count = site.scale.of(20_000, 200_000);
            site.file("given/log-outside.txt", "../secret.txt:1:1 error\n/etc/passwd(1,1): error\nfile:///etc/passwd:1\n src/../../vault/private.ts:3\nC:\\x.ts:1\n")?;
            site.file(
                "given/log-many.txt",
                "src/main.ts:1:1 - error\n../vault/private.ts(3,4): error\n".repeat(count),
            )?;
            site.file("given/log-line.txt", "src/main.ts:".repeat(count))?;
            site.file("given/log-slashes.txt", "/".repeat(count * 10))?;
            site.file("given/log-colons.txt", format!("a{}", ":1".repeat(count * 10)))?;
            site.file("given/log-bytes.txt", b"\xff\xfe\x00src/main.ts:1\n\x1b[31msrc/cart.ts\x1b[0m:1\n".as_slice())
        }),
        Tree::new("given-x07", "a module, diagnostic or project leads `x07` outside, or takes too much", x07),
    ]
}

/// A tar archive with these entries: name, type, contents.
pub(super) fn archive(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut bytes: Vec<u8> = entries.iter().flat_map(|(name, kind, contents)| entry(name, *kind, contents)).collect();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn entry(name: &str, kind: u8, contents: &[u8]) -> Vec<u8> {
    let mut header = [0u8; 512];
    let name = &name.as_bytes()[..name.len().min(100)];
    header[..name.len()].copy_from_slice(name);
    header[100..107].copy_from_slice(b"0000644");
    header[108..115].copy_from_slice(b"0000000");
    header[116..123].copy_from_slice(b"0000000");
    header[124..135].copy_from_slice(format!("{:011o}", contents.len()).as_bytes());
    header[136..147].copy_from_slice(b"00000000000");
    header[156] = kind;
    header[157..157 + 10].copy_from_slice(if matches!(kind, b'1' | b'2') { b"../secret\0" } else { &[0; 10] });
    header[257..265].copy_from_slice(b"ustar\x0000");
    seal(&mut header);
    let mut bytes = header.to_vec();
    bytes.extend_from_slice(contents);
    bytes.resize(bytes.len().div_ceil(512) * 512, 0);
    bytes
}

/// Writes the checksum into a header.
fn seal(header: &mut [u8]) {
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header[..512].iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

fn archives(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.selection(r#"["src/main.ts",9]"#)?;
    let plain: &[u8] = b"x\n";
    for (index, name) in [
        "../secret.txt",
        "/etc/passwd",
        "src/../../secret.txt",
        "./src/main.ts",
        "src//main.ts",
        "",
        "src\\main.ts",
        ".git/config",
        "a\nb",
        "node_modules/money/index.d.ts",
        ".stan/context/npm/../../../../secret.txt",
    ]
    .iter()
    .enumerate()
    {
        site.file(&format!("given/archive-name-{index}.tar"), archive(&[(name, b'0', plain)]))?;
    }
    for kind in [b'1', b'2', b'3', b'4', b'5', b'6', b'7', b'g', b'L', b'K', b'S', b'V', b'?'] {
        site.file(
            &format!("given/archive-type-{kind}.tar"),
            archive(&[("x", kind, b"../secret.txt\0"), ("src/main.ts", b'0', plain)]),
        )?;
    }
    for (index, record) in [
        "30 path=../../../secret.txt\n",
        "99999999999999999999 path=a\n",
        "17 size=99999999\n",
        "0 path=a\n",
        "11 path=a\0b\n",
        "21 linkpath=/etc/pas\n",
        "16 GNU.sparse.a=1\n",
    ]
    .iter()
    .enumerate()
    {
        site.file(
            &format!("given/archive-pax-{index}.tar"),
            archive(&[("pax", b'x', record.as_bytes()), ("src/main.ts", b'0', plain)]),
        )?;
    }
    site.file(
        "given/archive-pax-large.tar",
        archive(&[("pax", b'x', &vec![b'1'; 20 << 20]), ("src/main.ts", b'0', plain)]),
    )?;
    sizes_and_counts(site)
}

fn sizes_and_counts(site: &mut Site) -> io::Result<()> {
    let plain: &[u8] = b"x\n";
    for (index, size) in [
        b"77777777777",
        b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"-0000000001",
        b"           ",
    ]
    .iter()
    .enumerate()
    {
        let mut bytes = archive(&[("src/main.ts", b'0', plain)]);
        bytes[124..135].copy_from_slice(*size);
        seal(&mut bytes);
        site.file(&format!("given/archive-size-{index}.tar"), bytes)?;
    }
    let whole = archive(&[("src/main.ts", b'0', plain), ("src/main.ts", b'0', plain), ("src/cart.ts", b'0', plain)]);
    site.file("given/archive-twice.tar", &whole)?;
    site.file("given/archive-cut.tar", &whole[..700])?;
    site.file("given/archive-empty.tar", "")?;
    site.file("given/archive-text.tar", "not an archive\n".repeat(100))?;
    let one = entry("many/file.ts", b'0', b"");
    let mut many = Vec::new();
    for index in 0..site.scale.of(50_000, 1_000_000) {
        let mut next = one.clone();
        next[..12].copy_from_slice(format!("many/{index:07}").as_bytes());
        seal(&mut next);
        many.extend_from_slice(&next);
    }
    many.resize(many.len() + 1024, 0);
    site.file("given/archive-many.tar", many)?;
    let state = br#"{"v":2,"i":["/etc/passwd","../secret.txt"]}"#;
    let map = br#"{"v":2,"n":{"../secret.txt":{"k":0,"s":9}}}"#;
    site.file(
        "given/archive-documents.tar",
        archive(&[
            (".stan/context/dependency.meta.json", b'0', map),
            (".stan/context/dependency.state.json", b'0', state),
        ]),
    )
}

fn replies(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.selection(r#"["src/main.ts",9]"#)?;
    let paths = [
        "../secret.txt",
        "/etc/passwd",
        ".git/hooks/pre-commit",
        "src/../../secret.txt",
        "..\\secret.txt",
        "C:\\x",
        ".stan/context/dependency.map.json",
        "a\0b",
        "~/.ssh/id_rsa",
    ];
    for (index, path) in paths.iter().enumerate() {
        site.file(&format!("given/reply-path-{index}.md"), format!(
            "### Patch: {path}\n\n```diff\ndiff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n```\n\n\
             ```diff\ndiff --git a/src/main.ts b/{path}\nrename from src/main.ts\nrename to {path}\n```\n\n### File Ops\n\n```\nmv src/main.ts {path}\ncp {path} src/x\nrm {path}\nrmdir {path}\nmkdirp {path}\n```\n"
        ))?;
    }
    let count = site.scale.of(20_000, 1_000_000);
    let texts = [
        ("fences", "````\n~~~\n".repeat(count)),
        ("headings", "### Patch: src/main.ts\n".repeat(count)),
        ("checklist", format!("## Input Data Changes\n{}", "- `src/main.ts` — present: yes\n".repeat(count))),
        ("quotes", format!("{}\n", "> ".repeat(count))),
        ("lists", (0..2_000).map(|level| format!("{}- x\n", "  ".repeat(level))).collect()),
        ("hunks", format!("```diff\ndiff --git a/src/main.ts b/src/main.ts\n--- a/src/main.ts\n+++ b/src/main.ts\n{}```\n", "@@ -1,4294967295 +18446744073709551615,1 @@\n x\n".repeat(count / 10))),
        ("counts", "```diff\ndiff --git a/src/main.ts b/src/main.ts\n--- a/src/main.ts\n+++ b/src/main.ts\n@@ -99999999999999999999999,0 +0,99999999999999 @@\n@@ -0,0 @@\n@@ @@\n".to_owned()),
        ("added", format!("```diff\ndiff --git a/n.ts b/n.ts\n--- /dev/null\n+++ b/n.ts\n@@ -0,0 +1,{count} @@\n{}```\n", "+x\n".repeat(count))),
        ("line", "x".repeat(20 << 20)),
        ("html", format!("<!--{}", "<".repeat(count))),
        ("escape", "\u{1b}[31m## Input\r\r\r\n\u{202e}```diff\n".repeat(100)),
        ("operations", format!("### File Ops\n\n```\n{}```\n", "mv a b\nmv b a\n".repeat(count / 4))),
    ];
    for (name, text) in &texts {
        site.file(&format!("given/reply-{name}.md"), text)?;
    }
    let states = [
        r#"{"v":2,"i":["/etc/passwd"]}"#,
        r#"{"v":2,"i":[["src/main.ts",99999999999999999999]]}"#,
        &"[".repeat(100_000),
        "{\"v\":2,\"i\":[\"../secret.txt\"]}",
    ];
    for (index, state) in states.iter().enumerate() {
        site.file(&format!("given/reply-state-{index}.md"), format!(
            "```diff\ndiff --git a/.stan/context/dependency.state.json b/.stan/context/dependency.state.json\n--- a/.stan/context/dependency.state.json\n+++ b/.stan/context/dependency.state.json\n@@ -1 +1 @@\n-{{\"v\":2,\"i\":[[\"src/main.ts\",9]]}}\n+{state}\n```\n"
        ))?;
    }
    site.file("given/reply-bytes.md", b"\xff\xfe## \x00\n```diff\n\xf0\x28\n".as_slice())
}

fn states(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let count = site.scale.of(50_000, 1_000_000);
    let chain: Vec<String> = (0..count)
        .map(|index| format!(r#""{index:07}.ts":{{"k":0,"s":1,"e":[["{:07}.ts",7]]}}"#, (index + 1) % count))
        .collect();
    site.file("given/meta-chain.json", format!(r#"{{"v":2,"n":{{{}}}}}"#, chain.join(",")))?;
    for (name, text) in [
        (
            "meta-outside",
            r#"{"v":2,"n":{"../secret.txt":{"k":0,"s":1},"/etc/passwd":{"k":0,"s":1},"a/../../b":{"k":1},"":{"k":2},"a\u0000b":{"k":3}}}"#,
        ),
        ("meta-dangling", r#"{"v":2,"n":{"a":{"k":0,"e":[["nowhere",7]]}}}"#),
        ("meta-twice", r#"{"v":2,"n":{"a":{"k":0},"a":{"k":1}}}"#),
        ("meta-numbers", r#"{"v":2,"n":{"a":{"k":99,"s":1e999,"h":"?","e":[["a",-1,256]]}}}"#),
        ("meta-sizes", r#"{"v":2,"n":{"a":{"k":0,"s":18446744073709551615},"b":{"k":0,"s":18446744073709551615}}}"#),
        ("state-outside", r#"{"v":2,"i":["../secret.txt","/etc/passwd","a/../../b"]}"#),
        (
            "state-numbers",
            r#"{"v":2,"i":[["a",-1],["a",1.5],["a",1e999],["a",0,-1],["a",18446744073709551615,18446744073709551615]]}"#,
        ),
        ("state-twice", r#"{"v":2,"v":1,"i":[],"i":["a"],"include":[]}"#),
        ("state-old", r#"{"include":[["src/main.ts",3,["runtime","nothing"]]],"exclude":"x"}"#),
    ] {
        site.file(&format!("given/{name}.json"), text)?;
    }
    let entries = |entry: &str| vec![entry; count].join(",");
    site.file("given/state-many.json", format!(r#"{{"v":2,"i":[{}]}}"#, entries(r#"["src/main.ts",9]"#)))?;
    site.file("given/state-wrong.json", format!(r#"{{"v":2,"i":[{}]}}"#, entries(r#""/etc/passwd""#)))
}

fn x07(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let count = site.scale.of(20_000, 200_000);
    let body = |body: &str| MODULE.replace(r#"["begin",["m.g"],1]"#, body);
    for (name, text) in [
        ("ast-deep", body(&format!("{}1{}", "[\"begin\",".repeat(count), "]".repeat(count)))),
        ("ast-within", body(&format!("{}1{}", "[\"begin\",".repeat(120), "]".repeat(120)))),
        ("ast-wide", body(&format!("[\"begin\",{}1]", "[\"m.g\"],".repeat(count)))),
        ("ast-number", body(&"9".repeat(count))),
        ("ast-name", body(&format!("[\"{}\"]", "n.".repeat(count)))),
        ("ast-decls", MODULE.replace("\"decls\":[", &format!("\"decls\":[{}", (0..count).map(|index| format!(r#"{{"kind":"defn","name":"m.x{index}","params":[],"result":"i32","body":["m.x{}"]}},"#, index + 1)).collect::<String>()))),
        ("ast-imports", MODULE.replace("\"imports\":[]", "\"imports\":[\"../../secret\",\"/etc/passwd\",\"..\"]")),
        ("ast-module", MODULE.replace("\"module_id\":\"m\"", "\"module_id\":\"../../secret\"")),
        ("ast-twice", MODULE.replace("\"kind\":\"module\"", "\"kind\":\"module\",\"kind\":\"entry\"")),
        ("ast-surrogate", MODULE.replace("m.f", "m.\\ud800")),
        ("diag-outside", r#"{"schema_version":"x07.x07diag@0.1.0","ok":false,"diagnostics":[{"code":"X","severity":"error","stage":"type","message":"m","loc":{"kind":"x07ast","ptr":"/decls/0","file":"../secret.txt"}},{"code":"X","severity":"error","stage":"type","message":"m","loc":{"kind":"text","file":"/etc/passwd","ptr":"/decls/99999999999999999999"}}]}"#.to_owned()),
        ("diag-many", format!(r#"{{"schema_version":"x07.x07diag@0.1.0","ok":false,"diagnostics":[{}{{"code":"X","severity":"error","stage":"type","message":"m"}}]}}"#, r#"{"code":"X","severity":"error","stage":"type","message":"m","loc":{"kind":"x07ast","ptr":"/decls/0"}},"#.repeat(count))),
        ("diag-pointer", format!(r#"{{"schema_version":"x07.x07diag@0.1.0","ok":false,"diagnostics":[{{"code":"X","severity":"error","stage":"type","message":"m","loc":{{"kind":"x07ast","ptr":"{}"}}}}]}}"#, "/0~1~0".repeat(count))),
        ("project-outside", r#"{"schema_version":"x07.project@0.5.0","world":"solve-pure","entry":"../secret.txt","module_roots":["../..","/","../vault"]}"#.to_owned()),
        ("project-absolute", r#"{"schema_version":"x07.project@0.5.0","world":"solve-pure","entry":"/etc/passwd","module_roots":["/etc"],"lockfile":"../secret.txt"}"#.to_owned()),
    ] {
        site.file(&format!("given/{name}.json"), text)?;
    }
    Ok(())
}
