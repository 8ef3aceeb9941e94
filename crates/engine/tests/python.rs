//! Python repositories through the whole pipeline: edges, externals of virtual environments, mixed languages, warm runs.

mod support;

use expect_test::{Expect, expect};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_repo::MemorySystem;
use support::{ROOT, edges, fixture, json, nodes, run};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

#[test]
fn python_and_typescript_are_one_graph() {
    check(
        "
        //- /r/web/main.ts
        import './lib';
        //- /r/web/lib.ts
        //- /r/api/app/__init__.py
        //- /r/api/app/main.py
        import os
        from app.models import User
        from . import models, gone
        def lazy():
            import app.models
        //- /r/api/app/models.py
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from .main import run
        class User: ...
        //- /r/api/pyproject.toml
        ",
        expect![[r#"
            api/app/main.py -> api/app/__init__.py runtime
            api/app/main.py -> api/app/models.py dynamic
            api/app/main.py -> api/app/models.py runtime
            api/app/main.py -> python:os runtime
            api/app/models.py -> api/app/main.py type
            api/app/models.py -> python:typing runtime
            web/main.ts -> web/lib.ts runtime
        "#]],
    );
}

#[test]
fn names_lead_through_packages_to_where_they_are_defined() {
    check(
        "
        //- /r/p/__init__.py
        from .core import Thing as Other
        from .more import *
        //- /r/p/core.py
        class Thing: ...
        //- /r/p/more.py
        from .deep import extra
        //- /r/p/deep.py
        def extra(): ...
        //- /r/main.py
        from p import Other, extra
        ",
        expect![[r#"
            main.py -> p/__init__.py runtime
            main.py -> ~p/core.py runtime
            main.py -> ~p/deep.py runtime
            p/__init__.py -> p/core.py runtime
            p/__init__.py -> p/more.py runtime
            p/more.py -> p/deep.py runtime
        "#]],
    );
}

#[test]
fn virtual_environments_are_not_part_of_the_repository() {
    let outcome = fixture(
        "
        //- /r/main.py
        import dep.sub, numpy
        //- /r/.venv/pyvenv.cfg
        //- /r/.venv/bin/activate.py
        import nothing
        //- /r/.venv/lib/python3.11/site-packages/dep/__init__.py
        //- /r/.venv/lib/python3.11/site-packages/dep/sub.py
        import unseen
        ",
    );
    expect![[r#"
        external .venv/lib/python3.11/site-packages/dep/sub.py
        source main.py
        missing numpy
    "#]]
    .assert_eq(&nodes(&outcome));
}

#[test]
fn broken_files_are_named() {
    check(
        "//- /r/a.py\nimport b\ndef f(:\n//- /r/b.py\n",
        expect![[r#"
        a.py -> b.py runtime
        error: a.py:2: does not parse: Expected a parameter or the end of the parameter list (and 1 more); what could be read of the file counts
    "#]],
    );
}

/// After each edit, the answers with and without a cache must be equal.
#[test]
fn warm_runs_are_cold_runs() {
    let system = MemorySystem::from_fixture(
        "
        //- /r/pyproject.toml
        //- /r/src/p/__init__.py
        //- /r/src/p/core.py
        def core(): ...
        //- /r/src/p/other.py
        from p import core, late
        import dep, root_module
        from .gone import x
        //- /r/tests/test_p.py
        import helper
        from p import core
        //- /r/.venv/pyvenv.cfg
        ",
    );
    let options = GraphOptions::new(ROOT);
    let request =
        |cache: bool| GraphRequest { cache_directory: cache.then(|| "/cache".to_owned()), ..GraphRequest::default() };
    let site = "/r/.venv/lib/python3.11/site-packages";
    let edits: [(String, Option<&str>); 13] = [
        ("/r/src/p/core.py".to_owned(), Some("import os\ndef core(): ...\n")),
        ("/r/src/p/__init__.py".to_owned(), Some("from .core import core\n")),
        ("/r/src/p/__init__.py".to_owned(), Some("import os\n")),
        ("/r/src/p/late.py".to_owned(), Some("")),
        ("/r/src/p/gone/__init__.py".to_owned(), Some("x = 1\n")),
        ("/r/tests/helper.py".to_owned(), Some("from p import *\n")),
        (format!("{site}/dep/__init__.py"), Some("from .inner import x\n")),
        (format!("{site}/dep/inner.py"), Some("x = 1\n")),
        ("/r/src/p/core.pyi".to_owned(), Some("def core() -> None: ...\n")),
        ("/r/pyproject.toml".to_owned(), Some("[tool.pdm.build]\npackage-dir = 'lib2'\n")),
        ("/r/lib2/root_module.py".to_owned(), Some("")),
        ("/r/src/p/core.py".to_owned(), None),
        (
            "/r/src/p/other.py".to_owned(),
            Some("import p.core\nfrom importlib import import_module\nimport_module('p')\n"),
        ),
    ];
    for (number, (path, contents)) in (1..).zip([(String::new(), None)].into_iter().chain(edits)) {
        system.set_now(number * 100_000_000_000);
        if let Some(contents) = contents {
            system.set_file(&path, contents);
        } else if !path.is_empty() {
            system.remove(&path);
        }
        let cold = json(&run(&system, &options, &request(false)));
        for _ in 0..2 {
            assert_eq!(json(&run(&system, &options, &request(true))), cold, "after {path}");
        }
    }
}

/// Python runs the packages that contain a module before it; those that also contain the importer ran earlier.
#[test]
fn packages_around_a_module_are_implicit_edges() {
    check(
        "
        //- /r/a/__init__.py
        //- /r/a/b/__init__.py
        //- /r/a/b/c.py
        import a.d
        from .e import x
        //- /r/a/b/e.py
        x = 1
        //- /r/a/d.py
        //- /r/main.py
        import a.b.c
        from a.b import e
        from a import d
        def late():
            from a.b.e import x
        ",
        expect![[r#"
            a/b/c.py -> a/b/e.py runtime
            a/b/c.py -> a/d.py runtime
            main.py -> ~a/__init__.py dynamic
            main.py -> ~a/__init__.py runtime
            main.py -> ~a/b/__init__.py dynamic
            main.py -> ~a/b/__init__.py runtime
            main.py -> a/b/c.py runtime
            main.py -> a/b/e.py dynamic
            main.py -> a/b/e.py runtime
            main.py -> a/d.py runtime
        "#]],
    );
}

/// A requirements file may belong to tests; a `setup.py` in a package is just a module.
#[test]
fn folders_with_requirements_come_after_the_projects_around_them() {
    check(
        "
        //- /r/pyproject.toml
        [tool.setuptools.packages.find]
        where = ['lib']
        //- /r/lib/tool/__init__.py
        //- /r/lib/tool/core.py
        //- /r/lib/tool/setup.py
        import core
        //- /r/test/requirements.txt
        //- /r/test/tool/test_core.py
        import tool.core
        import only
        //- /r/test/only.py
        ",
        expect![[r#"
            lib/tool/setup.py -> core runtime
            test/tool/test_core.py -> ~lib/tool/__init__.py runtime
            test/tool/test_core.py -> lib/tool/core.py runtime
            test/tool/test_core.py -> test/only.py runtime
        "#]],
    );
}
