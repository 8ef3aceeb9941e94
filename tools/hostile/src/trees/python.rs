//! Hostile Python repositories: manifests, environments and modules that lead out of the repository or never end.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    vec![
        Tree::new("python-roots", "a source root of a manifest lies outside, and is searched", roots),
        Tree::new("python-environment", "a virtual environment or its path files lead outside", environment),
        Tree::new(
            "python-cycles",
            "packages that import each other never end, or lies in a RECORD are believed",
            cycles,
        ),
        Tree::new("python-nesting", "deep or broken modules overflow the stack or take too long to read", nesting),
    ]
}

fn roots(site: &mut Site) -> io::Result<()> {
    site.project()?;
    site.file(
        "repo/pyproject.toml",
        "[tool.setuptools.packages.find]\nwhere = ['../vault', '/', '..', 'src/../../sibling', '~']\n\
         [tool.pdm.build]\npackage-dir = '/etc'\n[tool.hatch.build]\nsources = ['../sibling']\n",
    )?;
    site.file(
        "repo/setup.cfg",
        "[options]\npackage_dir =\n  = ../vault\n[options.packages.find]\nwhere = ../sibling\n",
    )?;
    site.file("repo/setup.py", "setup(package_dir={'': '../vault'}, packages=find_packages('/'))\nopen('ran', 'w')\n")?;
    site.link("repo/linked", "../vault")?;
    site.link("repo/src/module.py", "../../vault/key.pem")?;
    site.file(
        "repo/src/loot.py",
        "import key, linked.key, vault, etc.passwd, module, passwd\nfrom ...vault import key\nfrom .... import etc\n\
         import_module('.key', __package__)\nresources.files('linked') / 'key.pem'\n",
    )?;
    site.selection(r#"["src/loot.py",9]"#)
}

fn environment(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let packages = "repo/.venv/lib/python3.11/site-packages";
    site.file("repo/.venv/pyvenv.cfg", "home = /\n")?;
    site.file(&format!("{packages}/out.pth"), "../../../../../vault\n/\n/etc\nimport os; os.system('touch ran')\n")?;
    site.file(&format!("{packages}/__editable___x_finder.py"), "MAPPING = {'key': '/etc/key', 'x': '../../x'}\n")?;
    site.link(&format!("{packages}/vault"), "../../../../../vault")?;
    site.file(&format!("{packages}/dep/__init__.py"), "from vault import key\n")?;
    site.file(&format!("{packages}/dep-1.0.dist-info/RECORD"), "dep/__init__.py,sha256=AAAA,3\n../../../x,,\n")?;
    site.file(&format!("{packages}/..-..dist-info/RECORD"), "dep/__init__.py,sha256=AAAA,3\n")?;
    site.link("repo/venv", "../vault")?;
    site.file("repo/src/loot.py", "import vault.key, key, passwd, dep\nfrom dep import key\n")?;
    site.selection(r#"["src/loot.py",9]"#)
}

fn cycles(site: &mut Site) -> io::Result<()> {
    site.project()?;
    for index in 0..40 {
        let next = (index + 1) % 40;
        site.file(
            &format!("repo/p{index}/__init__.py"),
            format!("from p{next} import *\nfrom . import p{index}, x\n"),
        )?;
        site.file(&format!("repo/p{index}/x.py"), format!("from p{next} import x, y\nimport p{index}.x.x\n"))?;
    }
    site.link("repo/p0/p1", "../p1")?;
    site.link("repo/p1/p0", "../p0")?;
    site.link("repo/p2/p2", ".")?;
    site.file("repo/src/loot.py", "from p0 import y\nimport p2.p2.p2.p2.x, p0.p1.p0.p1.x, dep\n")?;
    let packages = "repo/.venv/lib/python3.11/site-packages";
    site.file("repo/.venv/pyvenv.cfg", "")?;
    site.file(&format!("{packages}/dep/__init__.py"), "x = 1\n")?;
    let lie = "dep/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n../../../../../vault/key.pem,,\n"
        .repeat(1000);
    site.file(&format!("{packages}/dep-1.0.dist-info/RECORD"), lie)?;
    site.selection(r#"["src/loot.py",9]"#)
}

fn nesting(site: &mut Site) -> io::Result<()> {
    site.project()?;
    let count = site.scale.of(20_000, 400_000);
    for (name, text) in [
        ("lists", "[".repeat(count)),
        ("calls", "f(".repeat(count)),
        ("not", format!("x = {}1\n", "not ".repeat(count))),
        ("lambdas", format!("x = {}1\n", "lambda: ".repeat(count))),
        ("members", format!("x{}\n", ".a".repeat(count))),
        ("sums", format!("x = 1{}\n", " + 1".repeat(count))),
        ("strings", format!("x = {}", "f'{".repeat(count.min(50_000)))),
        ("names", format!("from {} import {}\n", "a".repeat(count), "b, ".repeat(count))),
        ("blocks", (0..900).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect()),
    ] {
        site.file(&format!("repo/src/{name}.py"), format!("import os\n{text}\n"))?;
    }
    site.selection(r#"["src/lists.py",9]"#)
}
