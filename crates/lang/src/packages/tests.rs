//! Ids and paths of packages, and names that point outside a store.

use stan_repo::{MemorySystem, World};

use super::*;

fn stores() -> PackageStores {
    PackageStores::new(vec![
        PackageStore { ecosystem: Ecosystem::Go, folder: "/u/go/pkg/mod".to_owned() },
        PackageStore { ecosystem: Ecosystem::Crates, folder: "/u/.cargo/registry/src".to_owned() },
    ])
}

fn package(ecosystem: Ecosystem, name: &str, version: &str) -> PackageVersion {
    PackageVersion { ecosystem, name: name.into(), version: version.into() }
}

#[test]
fn ids_name_package_version_and_path() {
    for (path, expected) in [
        (
            "/u/go/pkg/mod/github.com/!burnt!sushi/toml@v1.2.0/decode.go",
            Some("go:github.com/BurntSushi/toml@v1.2.0/decode.go"),
        ),
        ("/u/go/pkg/mod/m.org/x@v2.0.0+incompatible/a/b.go", Some("go:m.org/x@v2.0.0+incompatible/a/b.go")),
        (
            "/u/go/pkg/mod/m.org/x@v0.0.0-20200101000000-abcdef/a.go",
            Some("go:m.org/x@v0.0.0-20200101000000-abcdef/a.go"),
        ),
        ("/u/go/pkg/mod/cache/download/m.org/x/@v/v1.0.0.zip", None),
        ("/u/go/pkg/mod/m.org/X@v1/a.go", None),
        ("/u/go/pkg/mod/m.org/x/a.go", None),
        ("/u/go/pkg/modx/m.org/x@v1/a.go", None),
        ("/u/.cargo/registry/src/index-0/md-5-0.10.6/src/lib.rs", Some("crates:md-5@0.10.6/src/lib.rs")),
        (
            "/u/.cargo/registry/src/index-0/a_b-1.0.0-alpha.1+x-2.0.0/src/lib.rs",
            Some("crates:a_b@1.0.0-alpha.1+x-2.0.0/src/lib.rs"),
        ),
        ("/u/.cargo/registry/src/index-0/nothing/src/lib.rs", None),
    ] {
        assert_eq!(stores().id_at(path).as_deref(), expected, "{path}");
        if let Some(id) = expected {
            assert_eq!(stores().file_at(path), file_of_id(id), "{id}");
        }
    }
    for id in [
        "go:fmt",
        "go:net/http",
        "node:fs",
        "go:a@v1",
        "go:a@v1/../x",
        "go:../a@v1/x",
        "go:a@../x",
        "go:/a@v1/x",
        "crates:a.b@1.0.0/x",
        "go:cache/x@v1/y",
    ] {
        assert_eq!(file_of_id(id), None, "{id}");
    }
}

const DISK: &str = r#"
    //- /u/go/pkg/mod/github.com/!up/m@v1.0.0/a.go
    //- /u/go/pkg/mod/github.com/!up/m@v1.0.0/sub/b.go
    //- link /u/go/pkg/mod/github.com/!up/m@v1.0.0/out.go -> /secret/x.go
    //- link /u/go/pkg/mod/github.com/!up/m@v1.0.0/in.go -> a.go
    //- link /u/go/pkg/mod/github.com/!up/m@v1.0.0/away -> /secret
    //- link /u/go/pkg/mod/github.com/linked@v1.0.0 -> /secret
    //- link /u/go/pkg/mod/github.com/other@v1.0.0 -> !up/m@v1.0.0
    //- /secret/x.go
    //- /u/.cargo/registry/src/one-1/a-1.0.0/src/lib.rs
    //- /u/.cargo/registry/src/two-2/b-1.0.0/src/lib.rs
    //- /r/main.go
"#;

#[test]
fn packages_are_found_by_name_and_version_and_links_are_not_followed() {
    let system = MemorySystem::from_fixture(DISK);
    let stores = stores();
    let world = World::new(&system, "/r", None).with_stores(stores.iter().map(|store| store.folder.as_str()));
    let find = |package: &PackageVersion| stores.package(&world, package).map(|folder| folder.path);
    for (ecosystem, name, version, expected) in [
        (Ecosystem::Go, "github.com/Up/m", "v1.0.0", Some("/u/go/pkg/mod/github.com/!up/m@v1.0.0")),
        (Ecosystem::Go, "github.com/up/m", "v1.0.0", None),
        (Ecosystem::Go, "github.com/Up/m", "v1.0.1", None),
        (Ecosystem::Go, "github.com/linked", "v1.0.0", None),
        (Ecosystem::Go, "github.com/other", "v1.0.0", None),
        (Ecosystem::Go, "../../../secret", "v1.0.0", None),
        (Ecosystem::Go, "github.com", "v1/../../../../secret", None),
        (Ecosystem::Go, "", "v1", None),
        (Ecosystem::Crates, "a", "1.0.0", Some("/u/.cargo/registry/src/one-1/a-1.0.0")),
        (Ecosystem::Crates, "b", "1.0.0", Some("/u/.cargo/registry/src/two-2/b-1.0.0")),
        (Ecosystem::Crates, "b", "1.0.1", None),
        (Ecosystem::Crates, "../one-1/a", "1.0.0", None),
    ] {
        assert_eq!(find(&package(ecosystem, name, version)).as_deref(), expected, "{name} {version}");
    }
    let folder = stores.package(&world, &package(Ecosystem::Go, "github.com/Up/m", "v1.0.0")).unwrap();
    let names: Vec<String> = folder.list("").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a.go", "sub"]);
    assert!(folder.is_file("sub/b.go") && !folder.is_file("out.go") && !folder.is_file("in.go"));
    assert!(!folder.is_file("away/x.go") && folder.list("away").is_empty());
    // The stores are not part of what other lookups may read.
    assert!(!world.is_file("/u/go/pkg/mod/github.com/!up/m@v1.0.0/a.go"));
}

#[test]
fn ids_lead_back_to_places() {
    let system = MemorySystem::from_fixture(DISK);
    let stores = stores();
    let world = World::new(&system, "/r", None).with_stores(stores.iter().map(|store| store.folder.as_str()));
    for (id, expected) in [
        ("go:github.com/Up/m@v1.0.0/sub/b.go", Some("/u/go/pkg/mod/github.com/!up/m@v1.0.0/sub/b.go")),
        ("go:github.com/Gone/m@v1.0.0/b.go", Some("/u/go/pkg/mod/github.com/!gone/m@v1.0.0/b.go")),
        ("crates:b@1.0.0/src/lib.rs", Some("/u/.cargo/registry/src/two-2/b-1.0.0/src/lib.rs")),
        ("src/a.go", None),
        ("go:fmt", None),
    ] {
        assert_eq!(stores.locate(&world, id).as_deref(), expected, "{id}");
    }
}
