//! Pipes, sockets, devices, and files without permissions: no command may block or fail because of them.

use std::io;

use super::{Owner, Tree};
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("pipes-sources", "a pipe, socket or device in place of a source is opened", pipes_for_sources),
        Tree::new("pipes-manifests", "a pipe in place of a manifest or an ignore file is opened", pipes_for_manifests),
        Tree::new("pipes-config", "a pipe in place of the configuration is opened", |site| {
            site.project()?;
            site.fifo("repo/stan.config.yml")?;
            site.socket("repo/stan.config.yaml")?;
            site.endless_device("repo/stan.config.json")
        }),
        Tree::new("pipes-config-link", "a link to a device in place of the configuration is opened", |site| {
            site.project()?;
            site.link("repo/stan.config.yml", "/dev/zero")
        }),
        Tree::new("pipes-workspace", "a pipe in place of one of stan's own files is waited for", pipes_for_documents)
            .fresh(),
        Tree::new("pipes-lock", "a pipe in place of the lock is waited for", |site| {
            site.project()?;
            site.fifo("repo/.stan/.lock")
        }),
        Tree::new("pipes-folders", "a pipe in place of one of stan's own folders is opened", |site| {
            site.project()?;
            for folder in ["output", "context", "cache", "diff", "imports", "system"] {
                site.fifo(&format!("repo/.stan/{folder}"))?;
            }
            Ok(())
        }),
        Tree::new("pipes-given", "a pipe that is named on the command line is waited for", pipes_given),
        Tree::new("unreadable", "what may not be read fails the run", unreadable).owned_by(Owner::Nobody),
        Tree::new(
            "read-only",
            "a workspace that may not be written is not reported as such, or half written",
            |site| {
                site.project()?;
                site.selection(r#"["src/main.ts",9]"#)?;
                site.directory("repo/.stan/output")?;
                for folder in ["repo/.stan/context", "repo/.stan/output", "repo/.stan", "repo"] {
                    site.mode(folder, 0o555)?;
                }
                Ok(())
            },
        )
        .owned_by(Owner::Nobody),
        Tree::new("foreign", "a repository of another user is written to, or cannot be read", |site| {
            site.project()?;
            site.selection(r#"["src/main.ts",9]"#)
        })
        .owned_by(Owner::OtherUser),
    ]
}

fn unreadable(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for (path, mode) in [
        ("repo/src/locked.ts", 0o000),
        ("repo/locked.md", 0o000),
        ("repo/a/package.json", 0o000),
        ("repo/a/tsconfig.json", 0o000),
        ("repo/a/.gitignore", 0o000),
        ("repo/node_modules/locked/package.json", 0o000),
        ("repo/node_modules/locked/index.js", 0o000),
        ("repo/node_modules/open/index.js", 0o000),
        ("repo/.stan/system/locked.md", 0o000),
        ("repo/.stan/imports/x/locked.md", 0o000),
        ("repo/.git/HEAD", 0o000),
        ("given/reply-locked.md", 0o000),
        ("given/archive-locked.tar", 0o000),
        ("given/state-locked.json", 0o000),
        ("given/config-locked.yml", 0o000),
        ("given/ast-locked.json", 0o000),
    ] {
        site.file(path, "x")?;
        site.mode(path, mode)?;
    }
    site.file("repo/a/a.ts", "import 'locked';\n")?;
    for (folder, mode) in [("none", 0o000), ("list", 0o444), ("enter", 0o111)] {
        site.file(&format!("repo/{folder}/x.ts"), "export {};\n")?;
        site.file(&format!("repo/node_modules/{folder}/index.js"), "export {};\n")?;
        site.mode(&format!("repo/{folder}"), mode)?;
        site.mode(&format!("repo/node_modules/{folder}"), mode)?;
    }
    site.file("repo/src/loot.ts", "import './locked';\nimport 'locked';\nimport 'open';\nimport '../none/x';\nimport '../list/x';\nimport '../enter/x';\nimport 'none';\nimport 'list';\nimport 'enter';\nimport '../a/a';\n")?;
    site.selection(r#"["src/loot.ts",9],"src/locked.ts","none/x.ts","list/x.ts","enter/x.ts""#)
}

fn pipes_for_sources(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for kind in ["repo/src", "repo/node_modules/pipes", "repo/.stan/system", "repo/.stan/imports/x"] {
        site.fifo(&format!("{kind}/pipe.ts"))?;
        site.socket(&format!("{kind}/socket.ts"))?;
        site.endless_device(&format!("{kind}/device.ts"))?;
        site.link(&format!("{kind}/zero.ts"), "/dev/zero")?;
        site.link(&format!("{kind}/input.ts"), "/dev/stdin")?;
        site.link(&format!("{kind}/to-pipe.ts"), "pipe.ts")?;
    }
    site.fifo("repo/pipe.md")?;
    site.fifo("repo/folder/index.ts")?;
    let names = ["pipe", "socket", "device", "zero", "input", "to-pipe"];
    let own: String = names.iter().map(|name| format!("import './{name}';\nimport 'pipes/{name}.ts';\n")).collect();
    site.file("repo/src/loot.ts", own + "import '../pipe.md';\nimport '../folder';\n")?;
    site.selection(
        r#"["src/loot.ts",9],"src/pipe.ts","src/socket.ts","src/device.ts","src/zero.ts","src/to-pipe.ts","pipe.md""#,
    )
}

fn pipes_for_manifests(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for file in ["repo/package.json", "repo/tsconfig.json", "repo/node_modules/money/package.json"] {
        std::fs::remove_file(site.path(file))?;
        site.fifo(file)?;
    }
    for file in [
        "repo/.gitignore",
        "repo/src/.gitignore",
        "repo/src/package.json",
        "repo/pnpm-workspace.yaml",
        "repo/AGENTS.md",
        "repo/.git",
    ] {
        site.fifo(file)?;
    }
    site.endless_device("repo/src/tsconfig.json")?;
    site.file(
        "repo/packages/a/tsconfig.json",
        r#"{"extends":["./pipe.json","./device.json","/dev/zero","/dev/stdin"]}"#,
    )?;
    site.fifo("repo/packages/a/pipe.json")?;
    site.endless_device("repo/packages/a/device.json")?;
    site.file("repo/packages/a/a.ts", "import 'money';\n")?;
    site.selection(r#"["src/main.ts",9]"#)
}

fn pipes_for_documents(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for file in [
        "context/dependency.state.json",
        "context/dependency.meta.json",
        "context/dependency.map.json",
        "diff/.archive.snapshot.json",
        "diff/.archive.snapshot.context.json",
        "output/archive.tar",
        "output/archive.diff.tar",
        "cache/graph.index",
        "cache/graph.data",
        "cache/.gitignore",
        "system/stan.system.md",
    ] {
        site.fifo(&format!("repo/.stan/{file}"))?;
    }
    Ok(())
}

fn pipes_given(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for (index, sort) in
        ["archive", "reply", "state", "meta", "log", "config", "ast", "diag", "project"].iter().enumerate()
    {
        site.fifo(&format!("given/{sort}-pipe"))?;
        site.directory(&format!("given/{sort}-folder"))?;
        site.link(&format!("given/{sort}-nowhere"), &format!("nowhere-{index}"))?;
        site.link(&format!("given/{sort}-circle"), &format!("{sort}-circle"))?;
        site.endless_device(&format!("given/{sort}-device"))?;
    }
    Ok(())
}
