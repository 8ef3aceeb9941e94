//! Repositories that try to include files outside of the root: by imports, symlinks, configurations and their own maps. The user
//! allows none of it, so none of the files may be opened, whatever their extension.

use std::io;

use super::Tree;
use crate::site::{CANARY, Site};

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("outside-absolute", "an absolute import is read or archived", absolute),
        Tree::new(
            "outside-relative",
            "an import of a credential file above is archived by a committed selection",
            relative,
        ),
        Tree::new("outside-imports", "`imports` of the configuration brings in keys of the user", imports),
        Tree::new("outside-package", "a committed link in `node_modules` points to a parent folder", package),
        Tree::new("outside-paths", "`paths`, `rootDirs`, `typeRoots` or `references` name modules outside", paths),
        Tree::new("outside-map", "a committed private map names files outside", map),
        Tree::new("outside-planted", "a configuration that another user put above the repository is used", |site| {
            credentials(site)?;
            planted(site)?;
            site.give_away("stan.config.yml")
        }),
        Tree::new("outside-planted-git", "a configuration above the work tree is used", |site| {
            credentials(site)?;
            site.file("repo/.git/HEAD", "ref: refs/heads/main\n")?;
            site.directory("repo/.git/objects")?;
            site.directory("repo/.git/refs")?;
            planted(site)
        }),
        Tree::new("outside-allowed", "the configuration gives the consent that only the command line can", allowed),
    ]
}

/// Modules and JSON files with secrets in the usual places of a machine.
fn credentials(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for path in ["home/.docker/config.json", "home/.config/gcloud/application_default_credentials.json"] {
        site.file(path, format!("{{\"token\": \"{CANARY}\"}}\n"))?;
    }
    site.file("home/.aws/credentials", format!("{CANARY}\n"))?;
    site.file("home/rc.js", format!("module.exports = '{CANARY}';\n"))
}

fn absolute(site: &mut Site) -> io::Result<()> {
    credentials(site)?;
    // Spelled with `/./`: the source is archived unchanged, and must not itself contain the path that `judge` searches for.
    let home = site.path("home").to_string_lossy().replacen('/', "/./", 2).replacen("/./", "/", 1);
    let text =
        [".docker/config.json", ".config/gcloud/application_default_credentials.json", "rc.js", "rc", ".docker/config"]
            .map(|name| format!("import '{home}/{name}';\nrequire('{home}/{name}');\nimport('{home}/{name}');\n"))
            .concat();
    site.file("repo/src/loot.ts", text + "import '/etc/hostname.json';\nimport '/net/host/x.json';\n")?;
    site.selection(r#"["src/loot.ts",9]"#)
}

fn relative(site: &mut Site) -> io::Result<()> {
    credentials(site)?;
    site.file(
        "repo/src/loot.ts",
        "import a from '../../home/.docker/config.json';\nimport b from '../../home/rc';\nexport * from '../../vault/private';\n\
         const c = require('../../home/.docker/config');\nconst d = new URL('../../home/rc.js', import.meta.url);\n\
         /// <reference path=\"../../vault/private.ts\" />\n/// <reference types=\"../../vault\" />\nimport '../../vault';\n",
    )?;
    site.file("repo/package.json", r##"{"name":"shop","imports":{"#a":"../home/rc.js","#cart":"./src/cart.ts"},"main":"../home/rc.js","types":"../vault/private.ts"}"##)?;
    site.file("repo/src/main.ts", "import '#a';\nimport '..';\nimport 'shop';\nimport './loot';\n")?;
    site.selection(r#"["src/loot.ts",9],["src/main.ts",9]"#)
}

fn imports(site: &mut Site) -> io::Result<()> {
    credentials(site)?;
    let home = site.path("home").to_string_lossy().into_owned();
    site.link("repo/docs/home", "../../home")?;
    site.file(
        "repo/stan.config.yml",
        format!(
            "stan-core:\n  imports:\n    keys: ['{home}/.ssh/*', '../home/*/*', '../../*/home/.aws/*']\n    docs: ['docs/home/.ssh/*']\n"
        ),
    )?;
    site.selection(r#"["src/main.ts",9],".stan/imports/keys/id_rsa""#)
}

fn package(site: &mut Site) -> io::Result<()> {
    credentials(site)?;
    for (link, target) in [
        ("home", "../../home"),
        ("above", "../.."),
        ("everything", "/"),
        ("vault", "../../vault"),
        ("@scope/vault", "../../../vault"),
    ] {
        site.link(&format!("repo/node_modules/{link}"), target)?;
    }
    // The manifest is read to check whether the symlink is a package with that name; no other file may be.
    site.readable = vec!["vault/package.json"];
    site.file(
        "repo/src/loot.ts",
        "import 'home/.docker/config.json';\nimport 'home/rc';\nimport 'above/home/rc';\nimport 'above/vault/private';\nimport 'vault';\n\
         import 'vault/private';\nimport '@scope/vault/private';\nimport 'everything/etc/hostname.json';\n",
    )?;
    site.selection(r#"["src/loot.ts",9]"#)
}

fn paths(site: &mut Site) -> io::Result<()> {
    credentials(site)?;
    site.file(
        "repo/tsconfig.json",
        r#"{"compilerOptions":{"baseUrl":"..","rootDirs":["..","../vault","./src"],"typeRoots":["..","../vault"],
            "paths":{"up/*":["../*","../../*"],"home/*":["../home/*"],"exact":["../vault/private.ts"]}},
            "references":[{"path":"../vault"}],"extends":"../vault/package.json"}"#,
    )?;
    site.file(
        "repo/src/loot.ts",
        "import 'up/home/rc';\nimport 'home/.docker/config.json';\nimport 'exact';\nimport './private';\nimport 'vault/private';\n\
         import 'vault';\n/// <reference types=\"vault\" />\nimport.meta.glob('home/*.js');\n",
    )?;
    site.selection(r#"["src/loot.ts",9]"#)
}

fn map(site: &mut Site) -> io::Result<()> {
    credentials(site)?;
    let locator = site.path("home/.docker/config.json").to_string_lossy().into_owned();
    let id = ".stan/context/abs/0000000000000000000000000000000000000000000000000000000000000000/config.json";
    let zeros = "0".repeat(64);
    let node = serde_json::json!({"id": id, "locatorAbs": locator, "size": 30, "sha256": zeros});
    site.file("repo/.stan/context/dependency.map.json", serde_json::json!({"v": 1, "nodes": {id: node}}).to_string())?;
    site.file(
        "repo/.stan/context/dependency.meta.json",
        serde_json::json!({"v": 2, "n": {id: {"k": 1, "s": 30, "h": "AAAAAAAAAAAAAAAAAAAAAA"}}}).to_string(),
    )?;
    site.selection(&format!("\"{id}\""))
}

/// If this configuration were used, the folder that contains the repository would be the root.
fn planted(site: &mut Site) -> io::Result<()> {
    site.file(
        "stan.config.yml",
        format!("# {CANARY}\nstan-core:\n  imports:\n    keys: ['home/.ssh/*', 'home/.docker/*']\n"),
    )
}

fn allowed(site: &mut Site) -> io::Result<()> {
    credentials(site)?;
    site.file(
        "repo/stan.config.yml",
        "stan-core:\n  context:\n    outsideRoot: true\nstan-cli:\n  allowOutside: ['..']\n  allow-outside: ['..']\n",
    )?;
    site.file("repo/src/loot.ts", "import '../../home/.docker/config.json';\nimport '../../home/rc';\n")?;
    site.selection(r#"["src/loot.ts",9]"#)
}
