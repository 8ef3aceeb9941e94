//! Large amounts: files in a folder, folders in folders, bytes in a file.

use std::io;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("many-files", "a folder of very many files takes more than linear time", |site| {
            site.project()?;
            for index in 0..site.scale.of(4_000, 100_000) {
                site.file(&format!("repo/many/{index}.ts"), format!("import './{}';\n", index + 1))?;
            }
            site.file("repo/src/loot.ts", "import '../many/0';\nconst f = (v) => import(`../many/${v}.ts`);\n")?;
            site.selection(r#"["src/loot.ts",3]"#)
        }),
        Tree::new("deep-folders", "folders deeper than any path end the stack or the run", deep),
        Tree::new("sparse", "a file of gigabytes is read into memory", sparse),
        Tree::new("sparse-workspace", "a huge document of stan's own is read into memory", sparse_workspace).fresh(),
    ]
}

/// A chain of folders longer than any valid path, with a module at every hundredth level.
fn deep(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.directory("repo/deep")?;
    site.directory("repo/node_modules/deep")?;
    for start in ["repo/deep", "repo/node_modules/deep"] {
        chain(&site.path(start), site.scale.of(2_500, 5_000))?;
    }
    let up = "../".repeat(3_000);
    let down = "d/".repeat(3_000);
    site.file("repo/src/loot.ts", format!("import '../deep/{down}a';\nimport '{up}secret.txt';\nimport 'deep/{down}a.js';\nimport '../deep/d/d/d/a';\n"))?;
    site.selection(&format!(r#"["src/loot.ts",9],"deep/{down}a.ts""#))
}

fn chain(start: &Path, depth: usize) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, start, flags, Mode::empty())?;
    for step in 0..depth {
        if step % 100 == 3 {
            let file =
                openat(&folder, "a.ts", OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))?;
            rustix::io::write(&file, b"import './d/a';\n")?;
        }
        mkdirat(&folder, "d", Mode::from_raw_mode(0o755))?;
        folder = openat(&folder, "d", flags, Mode::empty())?;
    }
    Ok(())
}

fn sparse(site: &mut Site) -> io::Result<()> {
    site.project()?;
    // Only two have the full size: hashing all of them in every command would take hours.
    let (size, full) = (192 << 20, site.scale.of(192 << 20, 4 << 30));
    site.sparse("repo/src/full.ts", "import './cart';\n", full)?;
    site.sparse("given/archive-full.tar", "x", full)?;
    for (path, head) in [
        ("repo/src/huge.ts", "import './cart';\n"),
        ("repo/src/huge.json", "{}"),
        ("repo/huge.md", "x"),
        ("repo/node_modules/huge/index.js", "export {};\n"),
        ("repo/node_modules/huge-manifest/package.json", "{}"),
        ("repo/packages/a/package.json", r#"{"name":"a"}"#),
        ("repo/packages/a/tsconfig.json", "{}"),
        ("repo/packages/a/.gitignore", "x\n"),
        ("repo/.stan/system/huge.md", "x"),
        ("repo/.stan/cache/graph.index", "stangrph"),
        ("repo/.stan/cache/graph.data", "x"),
        ("given/archive-huge.tar", "x"),
        ("given/reply-huge.md", "x"),
        ("given/state-huge.json", "{\"v\":2,"),
        ("given/meta-huge.json", "{\"v\":2,"),
        ("given/log-huge.txt", "x"),
        ("given/config-huge.json", "{"),
        ("given/ast-huge.json", "{"),
        ("given/diag-huge.json", "{"),
    ] {
        site.sparse(path, head, size)?;
    }
    site.file("repo/packages/a/a.ts", "import 'huge-manifest';\n")?;
    site.file("repo/src/loot.ts", "import './huge';\nimport './full';\nimport './huge.json';\nimport 'huge';\nimport 'huge-manifest/x';\nimport '../huge.md';\n")?;
    site.selection(r#"["src/loot.ts",9]"#)
}

fn sparse_workspace(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let size = site.scale.of(192 << 20, 4 << 30);
    for (path, head) in [
        ("repo/.stan/context/dependency.state.json", "{\"v\":2,"),
        ("repo/.stan/context/dependency.meta.json", "{\"v\":2,"),
        ("repo/.stan/context/dependency.map.json", "{\"v\":1,"),
        ("repo/.stan/diff/.archive.snapshot.json", "{"),
        ("repo/.stan/diff/.archive.snapshot.context.json", "{"),
        ("repo/.stan/output/archive.tar", "x"),
        ("repo/.stan/.lock", "x"),
        ("repo/package.json", r#"{"name":"a"}"#),
        ("repo/tsconfig.json", "{}"),
        ("repo/.gitignore", "x\n"),
        ("repo/AGENTS.md", "x"),
    ] {
        site.sparse(path, head, size)?;
    }
    Ok(())
}
