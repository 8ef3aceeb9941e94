//! Symlinks out of the repository, wherever a symlink can be, and symlinks that appear while a command runs.

use std::io;

use super::Tree;
use crate::site::{CANARY, Site};

pub(super) fn trees() -> Vec<Tree> {
    let mut trees = vec![
        Tree::new("link-files", "a link to a file outside is read, archived or written through", files),
        Tree::new("link-folders", "a link to a folder outside is entered", folders),
        Tree::new("link-packages", "a package links to files outside that are not modules", packages),
        Tree::new("link-manifests", "a manifest or compiler configuration outside is read", manifests),
        Tree::new("link-modules-folder", "`node_modules` itself is a link to another folder", |site| {
            site.project()?;
            site.file("repo/src/loot.ts", "import 'vault';\nimport '../node_modules/key.pem';\n")?;
            std::fs::remove_dir_all(site.path("repo/node_modules"))?;
            site.link("repo/node_modules", "../vault")?;
            site.selection(r#"["src/loot.ts",9]"#)
        }),
        Tree::new("link-forbidden", "with `outsideRoot: false` a module outside is read", forbidden),
        Tree::new("link-config", "a configuration outside is read and shown", |site| {
            site.project()?;
            site.file("vault/stan.config.yml", format!("stan-core:\n  {CANARY}: 1\n"))?;
            site.link("repo/stan.config.yml", "../vault/stan.config.yml")
        }),
        Tree::new(
            "link-git",
            "the git directory that a link names is shown, or more of it is read than git would",
            |site| {
                site.project()?;
                site.readable = GIT.to_vec();
                site.link("repo/.git", "../sibling/.git")
            },
        ),
        Tree::new("link-stan", "anything is written through stan's own folder", |site| {
            site.project()?;
            site.link("repo/.stan", "../vault")
        })
        .fresh(),
        Tree::new("link-stan-above", "a link above stan's own folder is written through", |site| {
            site.project()?;
            site.file("repo/stan.config.yml", "stan-core:\n  stanPath: work/context/.stan\n")?;
            site.link("repo/work", "../vault")
        })
        .fresh()
        .stan_path("work/context/.stan"),
        Tree::new(
            "link-swapped",
            "a file or folder outside is archived because it was swapped in after the check",
            swapped,
        )
        .swapping(&["src/folder", "src/file.ts", "notes.txt"]),
    ];
    trees.extend(
        FOLDERS.map(|(name, folder)| {
            Tree::new(name, "a folder of stan's own leads out", own(folder, "../../vault")).fresh()
        }),
    );
    trees.extend(FILES.map(|(name, file)| {
        Tree::new(
            name,
            "a file of stan's own is a link to a secret, which is read, shown or replaced",
            own(file, "OUT"),
        )
        .fresh()
    }));
    trees
}

/// The files that may be read in a git directory that `.git` refers to (spec 10 §4).
pub(super) const GIT: [&str; 5] =
    ["sibling/.git", "sibling/.git/HEAD", "sibling/.git/commondir", "sibling/.git/index", "sibling/.git/info/exclude"];

const FOLDERS: [(&str, &str); 9] = [
    ("link-stan-output", "output"),
    ("link-stan-context", "context"),
    ("link-stan-cache", "cache"),
    ("link-stan-diff", "diff"),
    ("link-stan-imports", "imports"),
    ("link-stan-system", "system"),
    ("link-stan-patch", "patch"),
    ("link-stan-history", "diff/history"),
    ("link-stan-baselines", "diff/history/plain"),
];

const FILES: [(&str, &str); 13] = [
    ("link-stan-state", "context/dependency.state.json"),
    ("link-stan-meta", "context/dependency.meta.json"),
    ("link-stan-map", "context/dependency.map.json"),
    ("link-stan-snapshot", "diff/.archive.snapshot.json"),
    ("link-stan-archive", "output/archive.tar"),
    ("link-stan-index", "cache/graph.index"),
    ("link-stan-data", "cache/graph.data"),
    ("link-stan-ignore", "cache/.gitignore"),
    ("link-stan-lock", ".lock"),
    ("link-stan-document", "system/stan.system.md"),
    ("link-stan-pending", "patch/pending.json"),
    ("link-stan-baseline", "diff/history/plain/00000001.json"),
    ("link-stan-order", "diff/history/plain.json"),
];

/// A path below `.stan` that is a symlink; `OUT` means an absolute symlink to the secret beside the repository.
fn own(place: &'static str, target: &'static str) -> impl Fn(&mut Site) -> io::Result<()> + Send + Sync {
    move |site| {
        site.project()?;
        let path = format!("repo/.stan/{place}");
        if target == "OUT" { site.absolute_link(&path, "secret.txt") } else { site.link(&path, target) }
    }
}

fn files(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file(
        "repo/src/loot.ts",
        "import './leak';\nimport './leak.js';\nimport './dangling';\nimport './loop-a';\nimport s from './secret.txt';\n\
         import k from './key.pem';\nconst u = new URL('./secret.txt', import.meta.url);\n",
    )?;
    for (path, target) in [
        ("src/leak.ts", "../../secret.txt"),
        ("src/secret.txt", "../../secret.txt"),
        ("src/key.pem", "../../vault/key.pem"),
        ("src/private.ts", "../../vault/private.ts"),
        ("src/dangling.ts", "../../nowhere.ts"),
        ("src/loop-a.ts", "loop-b.ts"),
        ("src/loop-b.ts", "loop-a.ts"),
        ("src/self.ts", "self.ts"),
        ("src/inside.ts", "cart.ts"),
        ("notes.md", "../secret.txt"),
        ("chain-1.md", "chain-2.md"),
        ("chain-2.md", "src/../chain-3.md"),
        ("chain-3.md", "../repo/../secret.txt"),
        ("passwd", "/etc/passwd"),
        ("environ", "/proc/self/environ"),
        ("zero", "/dev/zero"),
        ("AGENTS.md", "../secret.txt"),
        (".gitignore", "../secret.txt"),
    ] {
        site.link(&format!("repo/{path}"), target)?;
    }
    site.absolute_link("repo/absolute.md", "secret.txt")?;
    site.selection(
        r#"["src/loot.ts",9],"src/leak.ts","src/secret.txt","src/private.ts","notes.md","chain-1.md","passwd","environ","zero","absolute.md","src/inside.ts""#,
    )
}

fn folders(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file(
        "repo/src/loot.ts",
        "const a = (v) => [import(`../out/${v}.ts`), import(`./back/${v}/${v}.txt`)];\n\
         const b = import.meta.glob(['../out/*.ts', '../up/**/*.ts', './back/**']);\nimport t from '../out/key.pem';\n\
         import '../up/secret.txt';\nimport '../deep/er/key.pem';\n",
    )?;
    for (path, target) in [
        ("out", "../vault"),
        ("up", ".."),
        ("slash", "/"),
        ("home", "../home"),
        ("src/back", "../.."),
        ("src/here", "."),
        ("src/around", "../src"),
        ("deep/er", "../../vault"),
    ] {
        site.link(&format!("repo/{path}"), target)?;
    }
    site.absolute_link("repo/absolute", "vault")?;
    site.file("repo/stan.config.yml", "stan-core:\n  includes: ['out/**', '**/*.pem', 'slash/etc/*', 'up/**']\n")?;
    site.selection(
        r#"["src/loot.ts",9],"out/private.ts","out/key.pem","up/secret.txt","slash/etc/passwd","home/.ssh/id_rsa","absolute/key.pem","deep/er/key.pem","src/here/cart.ts""#
    )
}

fn packages(site: &mut Site) -> io::Result<()> {
    site.project()?;
    // A linked package is legitimate, so its manifest may be read; the files it refers to are not modules.
    site.readable = vec!["linked/package.json"];
    site.file(
        "linked/package.json",
        r#"{"name":"linked","version":"1.0.0","main":"./key.pem","types":"../secret.txt","exports":{".":"./key.pem","./*":"./*"}}"#,
    )?;
    site.file("linked/key.pem", format!("{CANARY}-linked\n"))?;
    site.link("repo/node_modules/linked", "../../linked")?;
    site.link("repo/node_modules/@scope/linked", "../../../linked")?;
    site.file("repo/node_modules/files/package.json", r#"{"name":"files","version":"1.0.0","types":"./types.d.ts"}"#)?;
    site.link("repo/node_modules/files/index.js", "../../../secret.txt")?;
    site.link("repo/node_modules/files/types.d.ts", "../../../vault/key.pem")?;
    site.file("repo/node_modules/manifest/index.js", "export {};\n")?;
    site.link("repo/node_modules/manifest/package.json", "../../../vault/package.json")?;
    site.link("repo/node_modules/chain", "chain-2")?;
    site.link("repo/node_modules/chain-2", "../node_modules/linked")?;
    site.link("repo/node_modules/circle", "circle")?;
    site.link("repo/node_modules/nowhere", "../../nowhere")?;
    site.link("repo/node_modules/device.js", "/dev/zero")?;
    site.file(
        "repo/src/loot.ts",
        "import 'linked';\nimport 'linked/key.pem';\nimport 'linked/../secret.txt';\nimport '@scope/linked';\nimport 'files';\n\
         import 'files/index.js';\nimport 'manifest';\nimport 'chain';\nimport 'circle';\nimport 'nowhere';\n\
         import '../node_modules/linked/key.pem';\nimport 'device.js';\n",
    )?;
    site.selection(r#"["src/loot.ts",9],"node_modules/files/index.js""#)
}

fn manifests(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for file in ["repo/package.json", "repo/tsconfig.json"] {
        std::fs::remove_file(site.path(file))?;
    }
    let paths =
        format!(r#"{{"compilerOptions":{{"paths":{{"x":["./{CANARY}/x"],"{CANARY}":["y"]}},"target":"{CANARY}"}},}},"#);
    site.file("vault/tsconfig.json", paths)?;
    site.link("repo/package.json", "../vault/package.json")?;
    site.link("repo/tsconfig.json", "../vault/tsconfig.json")?;
    site.link("repo/packages/a/package.json", "../../../vault/package.json")?;
    site.link("repo/packages/b/tsconfig.json", "../../../vault/tsconfig.json")?;
    site.file("repo/packages/b/b.ts", "import 'x';\n")?;
    site.link("repo/pnpm-workspace.yaml", "../secret.txt")?;
    site.file("repo/src/loot.ts", format!("import 'x';\nimport '{CANARY}-vault';\n").replace(CANARY, "vault-name"))?;
    site.selection(r#"["src/loot.ts",9],["packages/b/b.ts",3]"#)
}

fn forbidden(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file("repo/stan.config.yml", "stan-core:\n  context:\n    outsideRoot: false\n")?;
    site.link("repo/src/leak.ts", "../../vault/private.ts")?;
    site.link("repo/out", "../vault")?;
    site.link("repo/node_modules/vault", "../../vault")?;
    site.file(
        "repo/src/loot.ts",
        "import './leak';\nimport '../out/private';\nimport '../out';\nimport '../../vault/private';\nimport 'vault';\n\
         import '../../sibling/src/private.js';\nexport * from '../../sibling/src/private';\n",
    )?;
    site.selection(r#"["src/loot.ts",9],"src/leak.ts","out/private.ts""#)
}

/// Inside the repository: harmless files. Their twins, which are swapped in: symlinks to the secrets, with the same names.
fn swapped(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for name in ["private.ts", "index.ts", "key.pem", "package.json"] {
        site.file(&format!("repo/src/folder/{name}"), "{}\n")?;
    }
    site.file("repo/src/file.ts", "export const harmless = 1;\n")?;
    site.file("repo/notes.txt", "harmless\n")?;
    // The same names as inside: listing the names of a swapped folder cannot be prevented (SECURITY.md).
    for name in ["private.ts", "index.ts", "key.pem", "package.json"] {
        site.file(&format!("swapped-in/{name}"), format!("/** {CANARY} @module */\nimport '{CANARY}';\n"))?;
    }
    site.absolute_link("twins/src/folder", "swapped-in")?;
    site.absolute_link("twins/src/file.ts", "vault/private.ts")?;
    site.absolute_link("twins/notes.txt", "secret.txt")?;
    site.selection(r#"["src/main.ts",9],"src/file.ts","src/folder/private.ts","src/folder/key.pem","notes.txt""#)
}
