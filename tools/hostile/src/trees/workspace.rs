//! stan's own documents (selection, maps, snapshots, cache) as a hostile repository would commit them.

use std::io;

use sha2::{Digest as _, Sha256};

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    let mut trees = vec![
        Tree::new("maps", "the private map of a repository names files outside", maps).fresh(),
        Tree::new("snapshots", "names in a snapshot lead outside, or a large one takes too much", snapshots)
        .fresh(),
        Tree::new("snapshots-large", "a snapshot of very many names takes too much", |site| {
            site.project()?;
            let files: Vec<String> = (0..site.scale.of(100_000, 1_000_000)).map(|index| format!(r#""{index:07}":"{}""#, "0".repeat(64))).collect();
            site.file("repo/.stan/diff/.archive.snapshot.json", format!(r#"{{"v":1,"files":{{{}}}}}"#, files.join(",")))?;
            site.file("repo/.stan/diff/.archive.snapshot.context.json", format!("{{{}}}", files.join(",")))
        })
        .fresh(),
        Tree::new("selection-large", "a selection of very many entries takes too much", large_selection)
        .fresh(),
        Tree::new("left-behind", "what a killed run would leave is taken for something else", left_behind)
        .fresh(),
        Tree::new("staged", "what lies among the staged externals leads outside or is archived unproved", |site| {
            site.project()?;
            site.file("repo/.stan/context/npm/money/2.1.0/index.d.ts", "unproved\n")?;
            site.link("repo/.stan/context/npm/evil", "../../../../vault")?;
            site.link("repo/.stan/context/abs", "../../../vault")?;
            site.selection(r#"["src/main.ts",9],".stan/context/npm/evil/key.pem",".stan/context/abs/key.pem",".stan/context/npm/money/2.1.0/index.d.ts""#)
        })
        .fresh(),
        Tree::new("staged-deep", "a link among the staged externals is written through or removed behind it", |site| {
            site.project()?;
            site.link("repo/.stan/context/npm/money", "../../../../vault")?;
            site.link("repo/.stan/context/npm/above/1.0.0", "../../../../../vault")?;
            site.link("repo/.stan/imports/old", "../../../vault")?;
            site.selection(r#"["src/main.ts",9]"#)
        })
        .fresh(),
    ];
    trees.extend(STATES.map(|(name, text)| {
        Tree::new(name, "a selection leads outside", move |site: &mut Site| {
            site.project()?;
            site.file("repo/.stan/context/dependency.state.json", text)
        })
        .fresh()
    }));
    trees
}

const STATES: [(&str, &str); 4] = [
    ("state-absolute", r#"{"v":2,"i":["/etc/passwd"]}"#),
    ("state-up", r#"{"v":2,"i":["../secret.txt","a/../../secret.txt","src/..\\..\\secret.txt"]}"#),
    (
        "state-odd",
        r#"{"v":2,"i":[".","","/","src/","src//main.ts","./src/main.ts","a\u0000b",".git/config",".stan/context/dependency.map.json",".STAN/context/dependency.map.json"]}"#,
    ),
    (
        "state-private",
        r#"{"v":2,"i":["src/main.ts",".stan/context/dependency.map.json",".stan/cache/graph.data",".stan/.lock",".stan/output/archive.tar","node_modules/money/index.d.ts",".git/HEAD"]}"#,
    ),
];

/// Maps that are consistent with each other and with a secret, including its hash. Their author knew the secret already, but a
/// repository must not be able to make stan open such a path.
fn maps(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let secrets = ["secret.txt", "vault/key.pem", "home/.ssh/id_rsa"];
    let (mut meta, mut map, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for (index, secret) in secrets.iter().enumerate() {
        let path = site.path(secret);
        let bytes = std::fs::read(&path)?;
        let absolute = path.to_string_lossy().into_owned();
        let digest = Sha256::digest(&bytes);
        let name = secret.rsplit('/').next().unwrap_or(secret);
        let id = if index == 0 {
            ".stan/context/npm/loot/1.0.0/secret.txt".to_owned()
        } else {
            format!(".stan/context/abs/{}/{name}", hex(&Sha256::digest(absolute.as_bytes())))
        };
        let package =
            if index == 0 { r#","pkgName":"loot","pkgVersion":"1.0.0","pathInPackage":"secret.txt""# } else { "" };
        meta.push((id.clone(), format!(r#"{{"k":1,"s":{},"h":"{}"}}"#, bytes.len(), base64(&digest[..16]))));
        map.push((
            id.clone(),
            format!(
                r#"{{"id":"{id}","locatorAbs":"{absolute}","size":{},"sha256":"{}"{package}}}"#,
                bytes.len(),
                hex(&digest)
            ),
        ));
        entries.push(format!("\"{id}\""));
    }
    let document = |version: u8, key: &str, mut nodes: Vec<(String, String)>| {
        nodes.sort();
        let nodes: Vec<String> = nodes.into_iter().map(|(id, node)| format!("\"{id}\":{node}")).collect();
        format!("{{\"v\":{version},\"{key}\":{{{}}}}}\n", nodes.join(","))
    };
    let meta = document(2, "n", meta);
    site.file("repo/.stan/context/dependency.meta.json", &meta)?;
    site.file("repo/.stan/context/dependency.map.json", document(1, "nodes", map))?;
    site.file(
        "given/meta-outside.json",
        r#"{"v":2,"n":{"../secret.txt":{"k":0},"/etc/passwd":{"k":0},"a/../../b":{"k":1}}}"#,
    )?;
    site.file("given/meta-copy.json", meta)?;
    for (index, secret) in secrets.iter().enumerate() {
        let id = entries[index].trim_matches('"');
        let bytes = std::fs::read(site.path(secret))?;
        // The archive contains other bytes, so that reporting the difference would reveal the secret.
        site.file(
            &format!("given/archive-{index}.tar"),
            super::given::archive(&[(id, b'0', &vec![b'x'; bytes.len()])]),
        )?;
    }
    site.selection(&entries.join(","))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |shift| byte >> shift & 1)).collect();
    let six = |chunk: &[u8]| (0..6).fold(0, |sum, index| sum * 2 + chunk.get(index).copied().unwrap_or(0));
    bits.chunks(6).map(|chunk| char::from(ALPHABET[usize::from(six(chunk)) & 63])).collect()
}

fn snapshots(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.selection(r#"["src/main.ts",9]"#)?;
    let hash = "0".repeat(64);
    let names = ["../secret.txt", "/etc/passwd", "a/../../b", "src/main.ts", "a\\u0000b", ""];
    let files: Vec<String> = names.iter().map(|name| format!(r#""{name}":"{hash}""#)).collect();
    let text = format!(r#"{{"v":1,"files":{{{}}}}}"#, files.join(","));
    site.file("repo/.stan/diff/.archive.snapshot.json", &text)?;
    site.file("repo/.stan/diff/.archive.snapshot.context.json", &text)
}

fn left_behind(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for folder in ["output", "context", "cache", "diff"] {
        site.directory(&format!("repo/.stan/{folder}/.stan-tmp-1-0-folder/inner"))?;
        site.link(&format!("repo/.stan/{folder}/.stan-tmp-1-0-link"), "../../../secret.txt")?;
        site.link(&format!("repo/.stan/{folder}/.stan-tmp-1-0-vault"), "../../../vault")?;
        site.fifo(&format!("repo/.stan/{folder}/.stan-tmp-1-0-pipe"))?;
    }
    site.link("repo/.stan/context/npm", "../../../vault")
}

fn large_selection(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let count = site.scale.of(100_000, 1_000_000);
    let entries: Vec<String> = (0..count).map(|index| format!(r#"["src/{index}.ts",99]"#)).collect();
    site.selection(&entries.join(","))?;
    let same: Vec<String> = (0..count).map(|_| r#"["src/main.ts",4294967295,7]"#.to_owned()).collect();
    site.file("given/state-same.json", format!(r#"{{"v":2,"i":[{}],"x":[{}]}}"#, same.join(","), same.join(",")))
}
