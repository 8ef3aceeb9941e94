//! Go repositories through the whole pipeline: packages, names within a package, tests, vendored packages, warm runs.

mod support;

use expect_test::{Expect, expect};
use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_repo::MemorySystem;
use support::{ROOT, edges, fixture, json, run};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&fixture(text)));
}

#[test]
fn imports_resolve_to_the_files_that_declare_the_used_names() {
    check(
        "
        //- /r/go.mod
        module example.com/m // comment
        replace example.com/other => ./other
        //- /r/main.go
        package main
        import (
            \"fmt\"
            \"example.com/m/lib\"
            all \"example.com/m/lib\"
            _ \"example.com/m/side\"
            \"example.com/other/sub\"
            \"example.com/nested/deep\"
            \"github.com/x/y\"
            \"github.com/not/here\"
        )
        func main() { fmt.Println(lib.A(), sub.S, deep.D, y.Y) }
        //- /r/lib/a.go
        package lib
        func A() {}
        //- /r/lib/b.go
        package lib
        func B() {}
        //- /r/lib/a_test.go
        package lib
        //- /r/side/one.go
        package side
        //- /r/side/two_windows.go
        package side
        //- /r/other/go.mod
        module example.com/other
        //- /r/other/sub/s.go
        package sub
        var S = 1
        //- /r/inner/go.mod
        module example.com/nested
        //- /r/inner/deep/d.go
        package deep
        const D = 1
        //- /r/vendor/github.com/x/y/y.go
        package y
        const Y = 1
        ",
        expect![[r#"
            main.go -> github.com/not/here runtime
            main.go -> go:fmt runtime
            main.go -> inner/deep/d.go runtime
            main.go -> lib/a.go runtime
            main.go -> other/sub/s.go runtime
            main.go -> side/one.go runtime
            main.go -> side/two_windows.go runtime
            main.go -> vendor/github.com/x/y/y.go runtime
        "#]],
    );
}

#[test]
fn files_of_a_package_are_linked_by_names() {
    check(
        "
        //- /r/go.mod
        module m
        //- /r/p/a.go
        package p
        func A() { B(); local := 1; _ = local }
        //- /r/p/b.go
        package p
        func B() {}
        var local = 2
        //- /r/p/a_test.go
        package p
        func TestA() { A(); helper() }
        //- /r/p/help_test.go
        package p
        func helper() {}
        //- /r/p/x_test.go
        package p_test
        import \"m/p\"
        func TestX() { p.A(); helper() }
        ",
        expect![[r#"
            p/a.go -> ~p/b.go runtime
            p/a_test.go -> ~p/a.go runtime
            p/a_test.go -> ~p/help_test.go runtime
            p/x_test.go -> p/a.go runtime
        "#]],
    );
}

#[test]
fn warm_runs_are_cold_runs() {
    let system = MemorySystem::from_fixture(
        "
        //- /r/go.mod
        module m
        //- /r/main.go
        package main
        import \"m/p\"
        func main() { p.A() }
        //- /r/p/a.go
        package p
        func A() { B() }
        //- /r/p/b.go
        package p
        func B() {}
        ",
    );
    let options = GraphOptions::new(ROOT);
    let request =
        |cache: bool| GraphRequest { cache_directory: cache.then(|| "/cache".to_owned()), ..GraphRequest::default() };
    let edits = [
        ("/r/main.go", "package main\nimport \"m/p\"\nfunc main() { p.A() }\n"),
        ("/r/p/b.go", "package p\nfunc C() {}\n"),
        ("/r/p/a.go", "package p\nfunc A() { C() }\n"),
        ("/r/p/c.go", "package p\nfunc A() {}\n"),
        ("/r/main.go", "package main\nimport \"m/q\"\nfunc main() { q.Z() }\n"),
        ("/r/q/z.go", "package q\nfunc Z() {}\n"),
        ("/r/go.mod", "module other\n"),
    ];
    for (number, (path, contents)) in (1..).zip(edits) {
        system.set_now(number * 100_000_000_000).set_file(path, contents);
        let cold = json(&run(&system, &options, &request(false)));
        for _ in 0..2 {
            assert_eq!(json(&run(&system, &options, &request(true))), cold, "after {path}");
        }
    }
}
