//! Resolution of import paths by the rules of Go modules, in small repositories and module caches.

use std::cell::RefCell;

use expect_test::{Expect, expect};
use stan_repo::{MemorySystem, World};

use super::*;
use crate::go::extract::extract;
use crate::packages::{PackageStore, PackageStores};
use crate::project::ResolveOptions;

/// Keys are indices of targets.
struct Table(RefCell<Vec<Target>>);

impl TargetTable for Table {
    fn answer(&self, target: &Target) -> Answer {
        let mut targets = self.0.borrow_mut();
        targets.push(target.clone());
        Answer::Other(FileKey(targets.len() as u32 - 1))
    }

    fn listed(&self, index: usize) -> FileKey {
        FileKey(index as u32)
    }
}

fn stores() -> PackageStores {
    PackageStores::new(vec![PackageStore { ecosystem: Ecosystem::Go, folder: "/u/mod".to_owned() }])
}

/// Resolves the imports of `importer`, an absolute path; the repository is `/r`. Files of stores are shown by id.
fn check_with(fixture: &str, importer: &str, stores: &PackageStores, options: ResolveOptions, expected: Expect) {
    let hash = format!("h1:{}=", "A".repeat(43));
    let system = MemorySystem::from_fixture(&fixture.replace("HASH", &hash));
    let world = World::new(&system, "/r", None).with_stores(stores.iter().map(|store| store.folder.as_str()));
    let universe = stan_repo::scan(&system, std::path::Path::new("/r"), &stan_repo::ScanOptions::default());
    let stan_folder = "/r/.stan".to_owned();
    let project = Project { root: "/r", files: &world, universe: &universe.files, options, stan_folder, stores };
    let resolver = Resolver::new(&project);
    let table = Table(RefCell::default());
    let mut bytes = Vec::new();
    stan_repo::SystemExt::read_into(&system, std::path::Path::new(importer), &mut bytes).unwrap();
    let facts = extract(&bytes).facts;
    let mut found = Resolved::default();
    resolver.worker(&table).resolve(importer, &facts, Wanted::Everything, &mut found);
    let shown = |path: &str| stores.id_at(path).unwrap_or_else(|| path.strip_prefix("/r/").unwrap_or(path).to_owned());
    let mut out = String::new();
    for (request, answer) in facts.requests.iter().zip(&found.answers) {
        let Answer::Other(key) = answer else { panic!("{answer:?}") };
        let target = match &table.0.borrow()[key.index()] {
            Target::File(path) => shown(path),
            Target::Files(paths) => paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(" "),
            Target::Builtin(id) => format!("builtin {id}"),
            Target::Missing { id, .. } => format!("missing {id}"),
            Target::Nothing => "nothing".to_owned(),
        };
        out += &format!("{} -> {target}\n", request.specifier);
    }
    for problem in resolver.finish() {
        out += &format!("{problem}\n");
    }
    expected.assert_eq(&out);
}

fn check(fixture: &str, expected: Expect) {
    check_with(fixture, "/r/main.go", &stores(), ResolveOptions::default(), expected);
}

#[test]
fn required_modules_are_found_in_the_module_cache() {
    check(
        r#"
        //- /r/go.mod
        module example.com/app
        require (
            github.com/Acme/Tools/v2 v2.1.0
            github.com/acme/one v1.0.0 // indirect
            example.com/nested v1.0.0
            example.com/nested/inner v1.5.0
        )
        //- /r/go.sum
        github.com/Acme/Tools/v2 v2.1.0 HASH
        github.com/acme/one v1.0.0 HASH
        example.com/nested v1.0.0 HASH
        example.com/nested/inner v1.5.0 HASH
        //- /r/main.go
        package main
        import (
            "fmt"
            "github.com/Acme/Tools/v2"
            "github.com/Acme/Tools/v2/sub/pkg"
            "github.com/acme/one"
            "example.com/nested/inner/a"
            "example.com/nested/outer"
            "github.com/Acme/Tools/v2/none"
        )
        //- /u/mod/github.com/!acme/!tools/v2@v2.1.0/a.go
        //- /u/mod/github.com/!acme/!tools/v2@v2.1.0/b.go
        //- /u/mod/github.com/!acme/!tools/v2@v2.1.0/b_test.go
        //- /u/mod/github.com/!acme/!tools/v2@v2.1.0/_c.go
        //- /u/mod/github.com/!acme/!tools/v2@v2.1.0/sub/pkg/x.go
        //- /u/mod/github.com/acme/one@v1.0.0/one.go
        //- /u/mod/example.com/nested@v1.0.0/outer/o.go
        //- /u/mod/example.com/nested@v1.0.0/inner/a/wrong.go
        //- /u/mod/example.com/nested/inner@v1.5.0/a/right.go
        "#,
        expect![[r#"
            fmt -> builtin go:fmt
            github.com/Acme/Tools/v2 -> go:github.com/Acme/Tools/v2@v2.1.0/a.go go:github.com/Acme/Tools/v2@v2.1.0/b.go
            github.com/Acme/Tools/v2/sub/pkg -> go:github.com/Acme/Tools/v2@v2.1.0/sub/pkg/x.go
            github.com/acme/one -> go:github.com/acme/one@v1.0.0/one.go
            example.com/nested/inner/a -> go:example.com/nested/inner@v1.5.0/a/right.go
            example.com/nested/outer -> go:example.com/nested@v1.0.0/outer/o.go
            github.com/Acme/Tools/v2/none -> missing github.com/Acme/Tools/v2/none
        "#]],
    );
}

#[test]
fn only_modules_listed_in_go_sum_are_read() {
    check(
        r#"
        //- /r/go.mod
        module example.com/app
        require example.com/a v1.0.0
        require example.com/b v1.1.0
        require example.com/c v1.0.0
        //- /r/go.sum
        example.com/a v1.0.0/go.mod HASH
        example.com/b v1.0.0 HASH
        example.com/c v1.0.0 HASH
        //- /r/main.go
        package main
        import (
            "example.com/a"
            "example.com/b"
            "example.com/c"
            "example.com/d"
        )
        //- /u/mod/example.com/a@v1.0.0/a.go
        //- /u/mod/example.com/b@v1.1.0/b.go
        //- /u/mod/example.com/d@v1.0.0/d.go
        "#,
        expect![[r#"
            example.com/a -> missing example.com/a
            example.com/b -> missing example.com/b
            example.com/c -> missing example.com/c
            example.com/d -> missing example.com/d
            go.mod: imports cannot be resolved, because the module cache does not have example.com/c v1.0.0: `go mod download` fetches it
            go.mod: imports cannot be resolved, because go.sum has no hash of example.com/a v1.0.0, example.com/b v1.1.0: `go mod tidy` adds it
        "#]],
    );
}

#[test]
fn replacements_resolve_to_folders_and_to_other_modules() {
    check(
        r#"
        //- /r/go.mod
        module example.com/app
        require (
            example.com/local v1.0.0
            example.com/out v1.0.0
            example.com/old v1.0.0
            example.com/some v1.0.0
        )
        replace example.com/local => ./third/local
        replace example.com/out => ../outside
        replace example.com/old => example.com/fork v9.0.0
        replace example.com/some v0.9.0 => ./third/local
        //- /r/go.sum
        example.com/fork v9.0.0 HASH
        example.com/old v1.0.0 HASH
        example.com/some v1.0.0 HASH
        //- /r/third/local/sub/l.go
        //- /outside/o.go
        //- /r/main.go
        package main
        import (
            "example.com/local/sub"
            "example.com/out"
            "example.com/old"
            "example.com/some"
        )
        //- /u/mod/example.com/fork@v9.0.0/f.go
        //- /u/mod/example.com/old@v1.0.0/old.go
        //- /u/mod/example.com/some@v1.0.0/s.go
        "#,
        expect![[r#"
            example.com/local/sub -> third/local/sub/l.go
            example.com/out -> missing example.com/out
            example.com/old -> go:example.com/fork@v9.0.0/f.go
            example.com/some -> go:example.com/some@v1.0.0/s.go
        "#]],
    );
}

#[test]
fn modules_of_a_workspace_share_the_highest_versions() {
    check_with(
        r#"
        //- /r/go.work
        go 1.21
        use (
            ./one
            ./two
        )
        replace example.com/w => example.com/w2 v1.0.0
        //- /r/go.work.sum
        example.com/w2 v1.0.0 HASH
        //- /r/one/go.mod
        module example.com/one
        require example.com/dep v1.2.0
        require example.com/w v1.0.0
        //- /r/one/main.go
        package main
        import (
            "example.com/dep"
            "example.com/two"
            "example.com/w"
        )
        //- /r/two/go.mod
        module example.com/two
        require example.com/dep v1.10.0
        //- /r/two/go.sum
        example.com/dep v1.10.0 HASH
        //- /r/two/two.go
        //- /u/mod/example.com/dep@v1.2.0/old.go
        //- /u/mod/example.com/dep@v1.10.0/new.go
        //- /u/mod/example.com/w2@v1.0.0/w.go
        "#,
        "/r/one/main.go",
        &stores(),
        ResolveOptions::default(),
        expect![[r#"
            example.com/dep -> go:example.com/dep@v1.10.0/new.go
            example.com/two -> two/two.go
            example.com/w -> go:example.com/w2@v1.0.0/w.go
        "#]],
    );
}

#[test]
fn the_vendor_folder_has_precedence_over_the_module_cache() {
    check(
        r#"
        //- /r/go.mod
        module example.com/app
        require example.com/a v1.0.0
        //- /r/go.sum
        example.com/a v1.0.0 HASH
        //- /r/vendor/example.com/a/a.go
        //- /r/main.go
        package main
        import "example.com/a"
        //- /u/mod/example.com/a@v1.0.0/a.go
        "#,
        expect![[r#"
            example.com/a -> vendor/example.com/a/a.go
        "#]],
    );
}

#[test]
fn symlinks_and_invalid_names_do_not_resolve() {
    check(
        r#"
        //- /r/go.mod
        module example.com/app
        require (
            example.com/linked v1.0.0
            example.com/partly v1.0.0
            ../../secret v1.0.0
            example.com/a ../../../secret
        )
        //- /r/go.sum
        example.com/linked v1.0.0 HASH
        example.com/partly v1.0.0 HASH
        ../../secret v1.0.0 HASH
        example.com/a ../../../secret HASH
        //- /r/main.go
        package main
        import (
            "example.com/linked"
            "example.com/partly"
            "example.com/partly/out"
            "../../secret"
            "example.com/a"
            "example.com/partly/../../../../secret"
        )
        //- link /u/mod/example.com/linked@v1.0.0 -> /secret
        //- /u/mod/example.com/partly@v1.0.0/fine.go
        //- link /u/mod/example.com/partly@v1.0.0/out.go -> /secret/s.go
        //- link /u/mod/example.com/partly@v1.0.0/out -> /secret
        //- /secret/s.go
        "#,
        expect![[r#"
            example.com/linked -> missing example.com/linked
            example.com/partly -> go:example.com/partly@v1.0.0/fine.go
            example.com/partly/out -> missing example.com/partly/out
            ../../secret -> missing ../../secret
            example.com/a -> missing example.com/a
            example.com/partly/../../../../secret -> missing example.com/partly/../../../../secret
            go.mod: imports cannot be resolved, because the module cache does not have example.com/a ../../../secret, example.com/linked v1.0.0: `go mod download` fetches it
        "#]],
    );
}

#[test]
fn files_of_the_module_cache_import_their_own_module_and_those_of_the_repository() {
    check_with(
        r#"
        //- /r/go.mod
        module example.com/app
        require example.com/a v1.0.0
        require example.com/b v1.0.0
        //- /r/go.sum
        example.com/a v1.0.0 HASH
        example.com/b v1.0.0 HASH
        //- /u/mod/example.com/a@v1.0.0/a.go
        package a
        import (
            "fmt"
            "example.com/a/internal/x"
            "example.com/b"
            "example.com/unknown"
        )
        //- /u/mod/example.com/a@v1.0.0/internal/x/x.go
        //- /u/mod/example.com/b@v1.0.0/b.go
        "#,
        "/u/mod/example.com/a@v1.0.0/a.go",
        &stores(),
        ResolveOptions::default(),
        expect![[r#"
            fmt -> builtin go:fmt
            example.com/a/internal/x -> go:example.com/a@v1.0.0/internal/x/x.go
            example.com/b -> go:example.com/b@v1.0.0/b.go
            example.com/unknown -> missing example.com/unknown
        "#]],
    );
}

#[test]
fn a_forbidden_module_cache_is_reported() {
    let fixture = r#"
        //- /r/go.mod
        module example.com/app
        require example.com/a v1.0.0
        //- /r/go.sum
        example.com/a v1.0.0 HASH
        //- /r/main.go
        package main
        import "example.com/a"
        //- /u/mod/example.com/a@v1.0.0/a.go
        "#;
    let forbidden = ResolveOptions { outside_root: false };
    check_with(
        fixture,
        "/r/main.go",
        &PackageStores::NONE,
        forbidden,
        expect![[r#"
        example.com/a -> missing example.com/a
        go.mod: imports cannot be resolved, because `context.outsideRoot` forbids the module cache, which may have example.com/a v1.0.0: --allow-outside DIR allows it
    "#]],
    );
    // Without a known module cache, there is nothing to allow.
    check_with(
        fixture,
        "/r/main.go",
        &PackageStores::NONE,
        ResolveOptions::default(),
        expect![[r#"
        example.com/a -> missing example.com/a
    "#]],
    );
}

#[test]
fn many_requirements_take_linear_time() {
    let requires: String = (0..10_000).map(|at| format!("require example.com/m{at} v1.0.{at}\n")).collect();
    let sums: String = (0..10_000).map(|at| format!("example.com/m{at} v1.0.{at} HASH\n")).collect();
    let imports: String = (0..2_000).map(|at| format!("import \"example.com/m{at}/a/b/c/d/e\"\n")).collect();
    let fixture = format!(
        "//- /r/go.mod\nmodule example.com/app\n{requires}\n//- /r/go.sum\n{sums}\n//- /r/main.go\npackage main\n{imports}\n\
         //- /u/mod/example.com/m7@v1.0.7/a/b/c/d/e/x.go\n"
    );
    let hash = format!("h1:{}=", "A".repeat(43));
    let system = MemorySystem::from_fixture(&fixture.replace("HASH", &hash));
    let stores = stores();
    let world = World::new(&system, "/r", None).with_stores(stores.iter().map(|store| store.folder.as_str()));
    let universe: Vec<Box<str>> = vec!["go.mod".into(), "go.sum".into(), "main.go".into()];
    let stan_folder = "/r/.stan".to_owned();
    let options = ResolveOptions::default();
    let project = Project { root: "/r", files: &world, universe: &universe, options, stan_folder, stores: &stores };
    let resolver = Resolver::new(&project);
    let around = resolver.surroundings("/r");
    for at in 0..2_000 {
        let target = resolver.resolve("/r", around.as_deref(), &format!("example.com/m{at}/a/b/c/d/e"));
        assert_eq!(matches!(target, Target::File(_)), at == 7, "{at}");
    }
    let [problem] = &resolver.finish()[..] else { panic!("one line") };
    assert!(problem.to_string().contains("and 1996 more"), "{problem}");
}
