//! Resolution of imports in small file trees.

use expect_test::{Expect, expect};
use stan_repo::{MemorySystem, World};

use super::Resolver;
use crate::language::{Answer, ProjectResolver as _, Resolved, Target, TargetTable, Wanted};
use crate::project::{Project, ResolveOptions};
use crate::python::extract::extract;
use stan_model::FileKey;
use std::cell::RefCell;

struct Table(RefCell<Vec<Target>>);

impl TargetTable for Table {
    fn answer(&self, target: &Target) -> Answer {
        self.0.borrow_mut().push(target.clone());
        Answer::Other(FileKey(self.0.borrow().len() as u32 - 1))
    }

    fn listed(&self, _: usize) -> FileKey {
        FileKey(0)
    }
}

/// Resolves every request of `importer`; the fixture's files are in `/r`.
fn check(fixture: &str, importer: &str, expected: Expect) {
    let system = MemorySystem::from_fixture(fixture);
    let world = World::new(&system, "/r", None);
    let universe: Vec<Box<str>> = Vec::new();
    let project = Project {
        root: "/r",
        files: &world,
        universe: &universe,
        options: ResolveOptions::default(),
        stan_folder: "/r/.stan".to_owned(),
        stores: &crate::PackageStores::NONE,
    };
    let resolver = Resolver::new(&project);
    let table = Table(RefCell::default());
    let path = format!("/r/{importer}");
    let bytes = world.read_file(&path).unwrap().bytes;
    let facts = extract(importer, &bytes, &crate::ExtractOptions::default()).facts;
    let mut found = Resolved::default();
    resolver.worker(&table).resolve(&path, &facts, Wanted::Everything, &mut found);
    let mut out = String::new();
    for (request, answer) in facts.requests.iter().zip(&found.answers) {
        let Answer::Other(key) = answer else {
            out += &format!("{} -> itself\n", request.specifier);
            continue;
        };
        let target = match &table.0.borrow()[key.index()] {
            Target::File(path) => path.strip_prefix("/r/").unwrap_or(path).to_owned(),
            Target::Builtin(id) => format!("builtin {id}"),
            Target::Missing { id, .. } => format!("missing {id}"),
            other => format!("{other:?}"),
        };
        out += &format!("{} -> {target}\n", request.specifier);
    }
    expected.assert_eq(&out);
}

#[test]
fn absolute_names_are_searched_on_the_path() {
    check(
        "
        //- /r/src/p/__init__.py
        //- /r/src/p/m.py
        import os.path, p, p.m, p.gone, q, ns, ns.deep.x, sibling, annotationlib
        from os import path
        from p import m, other
        from ns.deep import x, y
        from ns import deep
        from gone.deep import z
        //- /r/src/p/sibling.py
        //- /r/q.py
        //- /r/src/ns/deep/x.py
        ",
        "src/p/m.py",
        expect![[r#"
            os.path -> builtin python:os.path
            p -> src/p/__init__.py
            p.m -> itself
            p.gone -> missing p.gone
            q -> q.py
            ns -> Nothing
            ns.deep.x -> src/ns/deep/x.py
            sibling -> missing sibling
            annotationlib -> builtin python:annotationlib
            os.path -> builtin python:os
            p.m -> itself
            p.other -> src/p/__init__.py
            ns.deep.x -> src/ns/deep/x.py
            ns.deep.y -> Nothing
            ns.deep -> Nothing
            gone.deep.z -> missing gone.deep
        "#]],
    );
}

#[test]
fn relative_names_start_at_the_package_of_the_file() {
    check(
        "
        //- /r/p/__init__.py
        //- /r/p/sub/m.py
        from . import n, gone
        from .n import x
        from .. import sub, attr
        from ..other import y
        from ...top import z
        from .... import beyond
        from .gone import w
        from .n import *
        //- /r/p/sub/n.py
        //- /r/p/other/__init__.py
        //- /r/top.py
        ",
        "p/sub/m.py",
        expect![[r#"
            .n -> p/sub/n.py
            .gone -> Nothing
            .n.x -> p/sub/n.py
            ..sub -> Nothing
            ..attr -> p/__init__.py
            ..other.y -> p/other/__init__.py
            ...top.z -> top.py
            ....beyond -> missing ....
            .gone.w -> missing p/sub/gone
            .n -> p/sub/n.py
        "#]],
    );
}

#[test]
fn a_package_binds_names_before_its_modules_do() {
    check(
        "
        //- /r/p/__init__.py
        from .core import core
        from .core import loads as load
        from . import same
        if x:
            cond = 1
        def func(): pass
        import typing as t
        //- /r/p/core.py
        //- /r/p/load.py
        //- /r/p/same.py
        //- /r/p/cond.py
        //- /r/p/func.py
        //- /r/p/t.py
        //- /r/p/free.py
        //- /r/main.py
        from p import core, load, same, cond, func, t, free
        ",
        "main.py",
        expect![[r#"
            p.core -> p/__init__.py
            p.load -> p/__init__.py
            p.same -> p/same.py
            p.cond -> p/__init__.py
            p.func -> p/__init__.py
            p.t -> p/__init__.py
            p.free -> p/free.py
        "#]],
    );
}

#[test]
fn the_base_folder_is_searched() {
    check(
        "
        //- /r/tests/unit/__init__.py
        //- /r/tests/unit/test_a.py
        import helper, unit, unit.test_b, conf
        //- /r/tests/unit/test_b.py
        //- /r/tests/unit/helper.py
        //- /r/tests/conf.py
        ",
        "tests/unit/test_a.py",
        expect![[r#"
            helper -> missing helper
            unit -> tests/unit/__init__.py
            unit.test_b -> tests/unit/test_b.py
            conf -> tests/conf.py
        "#]],
    );
}

#[test]
fn imports_in_stubs_resolve_to_stubs() {
    let tree = "
        //- /r/p/__init__.py
        //- /r/p/__init__.pyi
        //- /r/p/a.py
        //- /r/p/a.pyi
        //- /r/p/only.pyi
        //- /r/p/native.cpython-311-x86_64-linux-gnu.so
        //- /r/p/native.pyi
        //- /r/p/bare.pyd
        //- /r/m.py
        import p, p.a, p.only, p.native, p.bare
        //- /r/m.pyi
        import p, p.a, p.only, p.native, p.bare
        ";
    check(
        tree,
        "m.py",
        expect![[r#"
        p -> p/__init__.py
        p.a -> p/a.py
        p.only -> p/only.pyi
        p.native -> p/native.pyi
        p.bare -> p/bare.pyd
    "#]],
    );
    check(
        tree,
        "m.pyi",
        expect![[r#"
        p -> p/__init__.pyi
        p.a -> p/a.pyi
        p.only -> p/only.pyi
        p.native -> p/native.pyi
        p.bare -> p/bare.pyd
    "#]],
    );
}

#[test]
fn installed_packages_are_found_in_virtual_environments() {
    check(
        "
        //- /r/.venv/pyvenv.cfg
        //- /r/.venv/lib/python3.11/site-packages/dep/__init__.py
        //- /r/.venv/lib/python3.11/site-packages/dep/sub.py
        //- /r/.venv/lib/python3.11/site-packages/single.py
        //- /r/.venv/lib/python3.11/site-packages/local/__init__.py
        //- /r/other/.venv/pyvenv.cfg
        //- /r/other/.venv/Lib/site-packages/windows.py
        //- /r/plain/lib/python3.11/site-packages/no.py
        //- /r/local.py
        //- /r/other/m.py
        import dep, dep.sub, single, local, windows, no
        ",
        "other/m.py",
        expect![[r#"
            dep -> .venv/lib/python3.11/site-packages/dep/__init__.py
            dep.sub -> .venv/lib/python3.11/site-packages/dep/sub.py
            single -> .venv/lib/python3.11/site-packages/single.py
            local -> local.py
            windows -> other/.venv/Lib/site-packages/windows.py
            no -> missing no
        "#]],
    );
}

#[test]
fn build_backends_name_source_roots() {
    let cases = [
        ("pyproject.toml", "[tool.setuptools.packages.find]\nwhere = ['code']"),
        ("pyproject.toml", "[tool.setuptools]\npackage-dir = {'' = 'code'}"),
        ("pyproject.toml", "[tool.setuptools.package-dir]\npkg = 'code/pkg'"),
        ("pyproject.toml", "[tool.hatch.build.targets.wheel]\npackages = ['code/pkg']"),
        ("pyproject.toml", "[tool.hatch.build]\nsources = ['code']"),
        ("pyproject.toml", "[[tool.poetry.packages]]\ninclude = 'pkg'\nfrom = 'code'"),
        ("pyproject.toml", "[tool.pdm.build]\npackage-dir = 'code'"),
        ("pyproject.toml", "[tool.uv.build-backend]\nmodule-root = 'code'"),
        ("pyproject.toml", "[tool.maturin]\npython-source = './code/'"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = 'code'"),
        ("setup.cfg", "[options]\npackage_dir =\n    =code"),
        ("setup.cfg", "[options]\npackage_dir = =code"),
        ("setup.cfg", "[options.packages.find]\nwhere = code"),
        ("setup.py", "setup(package_dir={'': 'code'})"),
        ("setup.py", "setup(packages=find_packages('code'))"),
        ("setup.py", "setup(packages=setuptools.find_namespace_packages(where='code'))"),
    ];
    for (name, manifest) in cases {
        let tree = format!("//- /r/{name}\n{manifest}\n//- /r/code/pkg/__init__.py\n//- /r/t/m.py\nimport pkg\n");
        check(&tree, "t/m.py", expect!["pkg -> code/pkg/__init__.py\n"]);
        let nested =
            format!("//- /r/n/{name}\n{manifest}\n//- /r/n/code/pkg/__init__.py\n//- /r/n/t/m.py\nimport pkg\n");
        check(&nested, "n/t/m.py", expect!["pkg -> n/code/pkg/__init__.py\n"]);
    }
    for manifest in
        ["[tool.pdm.build]\npackage-dir = '../code'", "[tool.pdm.build]\npackage-dir = '/code'", "not toml ["]
    {
        let tree =
            format!("//- /r/n/pyproject.toml\n{manifest}\n//- /r/code/pkg/__init__.py\n//- /r/n/t/m.py\nimport pkg\n");
        check(&tree, "n/t/m.py", expect!["pkg -> missing pkg\n"]);
    }
}

#[test]
fn resources_are_files_that_exist() {
    check(
        "
        //- /r/p/__init__.py
        //- /r/p/data/x.txt
        //- /r/p/m.py
        from importlib import resources
        resources.files('p') / 'data' / 'x.txt'
        resources.files(__package__) / 'data/gone.txt'
        resources.files('p')
        resources.files('gone')
        ",
        "p/m.py",
        expect![[r#"
            importlib.resources -> builtin python:importlib
            p:data/x.txt -> p/data/x.txt
            .:data/gone.txt -> Nothing
            p: -> p/__init__.py
            gone: -> Nothing
        "#]],
    );
}

#[test]
fn editable_installs_resolve_to_folders_of_the_repository() {
    check(
        "
        //- /r/.venv/pyvenv.cfg
        //- /r/.venv/lib/python3.12/site-packages/one.pth
        /r/packages/one/code
        # a comment
        import os; os.system('x')
        /etc
        ../../../../packages/two
        //- /r/.venv/lib/python3.12/site-packages/__editable___three_finder.py
        MAPPING: dict[str, str] = {'three': '/r/packages/three/three', 'other': '/etc/other'}
        //- /r/.venv/lib/python3.12/site-packages/yaml-stubs/__init__.pyi
        //- /r/packages/one/code/one.py
        //- /r/packages/two/two/__init__.py
        //- /r/packages/three/three/__init__.py
        //- /etc/secret.py
        //- /r/main.py
        import one, two, three, yaml, secret, other
        ",
        "main.py",
        expect![[r#"
            one -> packages/one/code/one.py
            two -> packages/two/two/__init__.py
            three -> packages/three/three/__init__.py
            yaml -> .venv/lib/python3.12/site-packages/yaml-stubs/__init__.pyi
            secret -> missing secret
            other -> missing other
        "#]],
    );
}
