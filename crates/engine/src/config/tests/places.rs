//! Where a configuration is found, and the messages of the search.

use expect_test::{Expect, expect};
use stan_repo::{MemorySystem, Owner};

use super::show;
use crate::config::{Config, FoundConfig, find};

fn check_find(fixture: &str, directory: &str, explicit: Option<&str>, expected: &Expect) {
    let system = MemorySystem::from_fixture(fixture);
    let shown = match find(&system, directory, explicit) {
        Err(error) => format!("{error}\n"),
        Ok(FoundConfig { config, root, file, hints }) => {
            let file = file.unwrap_or_else(|| "none".to_owned());
            let hints: String = hints.iter().map(|hint| format!("hint: {hint}\n")).collect();
            format!("root {root}, file {file}\n{}{hints}", show(&config))
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn the_nearest_file_upward_is_found() {
    let fixture = "
        //- /r/stan.config.yml
        stan-core: { stanPath: outer }
        //- /r/a/stan.config.json
        {\"stan-core\": {\"stanPath\": \"inner\"}}
        //- dir /r/a/b/c
        //- dir /r/x
        //- dir /elsewhere
    ";
    check_find(
        fixture,
        "/r",
        None,
        &expect![[r#"
        root /r, file /r/stan.config.yml
        stanPath: outer
    "#]],
    );
    check_find(
        fixture,
        "/r/x",
        None,
        &expect![[r#"
            root /r, file /r/stan.config.yml
            stanPath: outer
            hint: the configuration ../stan.config.yml is used, so the root is ..
        "#]],
    );
    check_find(
        fixture,
        "/r/a/b/c",
        None,
        &expect![[r#"
            root /r/a, file /r/a/stan.config.json
            stanPath: inner
            hint: the configuration ../../stan.config.json is used, so the root is ../..
        "#]],
    );
    check_find(
        fixture,
        "/elsewhere",
        None,
        &expect![[r#"
        root /elsewhere, file none
    "#]],
    );
    check_find(
        fixture,
        "/r/x",
        Some("../a/stan.config.json"),
        &expect![[r#"
        root /r/a, file /r/a/stan.config.json
        stanPath: inner
    "#]],
    );
    check_find(
        fixture,
        "/r/x",
        Some("/r/stan.config.yml"),
        &expect![[r#"
        root /r, file /r/stan.config.yml
        stanPath: outer
    "#]],
    );
    check_find(
        fixture,
        "/r",
        Some("gone.yml"),
        &expect![[r#"
        gone.yml: the configuration cannot be read, because it does not exist
    "#]],
    );
    check_find(
        fixture,
        "/r",
        Some("gone/gone.yml"),
        &expect![[r#"
        gone/gone.yml: the configuration cannot be read, because its folder does not exist
    "#]],
    );
    check_find(
        fixture,
        "/r",
        Some("a"),
        &expect![[r#"
        a: the configuration cannot be read, because it is not a file
    "#]],
    );
}

/// Finding 2: a user with write access to a folder above the repository decided what was read, and where the result went.
#[test]
fn no_configuration_above_the_work_tree_is_read() {
    let fixture = "
        //- /stan.config.yml
        stan-core: { stanPath: planted }
        //- /repo/.git/HEAD
        ref: refs/heads/main
        //- dir /repo/a/b
        //- /worktree/.git
        gitdir: /repo/.git/worktrees/x
        //- /own/.git/HEAD
        ref: refs/heads/main
        //- /own/stan.config.yml
        stan-core: { stanPath: own }
        //- dir /own/a
        //- dir /plain/a
    ";
    for (directory, root) in [
        ("/repo", "/repo"),
        ("/repo/a/b", "/repo/a/b"),
        ("/worktree", "/worktree"),
        ("/own/a", "/own"),
        ("/plain/a", "/"),
    ] {
        let found = find(&MemorySystem::from_fixture(fixture), directory, None).unwrap();
        assert_eq!(found.root, root, "{directory}");
    }
}

#[test]
fn a_configuration_of_another_user_must_be_named() {
    for (owned, what) in [("/t/stan.config.yml", "it"), ("/t", "its folder")] {
        for (owner, is_refused) in [(Owner::Caller, false), (Owner::Root, false), (Owner::Other, true)] {
            let system = MemorySystem::from_fixture("//- /t/stan.config.yml\nstan-core: {}\n//- dir /t/a\n");
            system.set_owner(owned, owner);
            let found = find(&system, "/t/a", None).map(|found| found.root).map_err(|error| error.to_string());
            let refusal = format!(
                "../stan.config.yml: the configuration is not used, because {what} belongs to another user; if you trust \
                 it, name it: --config ../stan.config.yml"
            );
            assert_eq!(found, if is_refused { Err(refusal) } else { Ok("/t".to_owned()) }, "{owned} {owner:?}");
            assert_eq!(find(&system, "/t/a", Some("../stan.config.yml")).unwrap().root, "/t");
        }
    }
}

#[test]
fn allowed_folders_are_real_folders() {
    let system = MemorySystem::from_fixture("//- /w/shared/x.ts\n//- dir /w/r\n//- link /w/link -> shared\n");
    let mut config = Config::default();
    for typed in ["../shared", "../link", "/w/shared/"] {
        config.allow_outside(&system, "/w/r", typed).unwrap();
    }
    let pairs: Vec<_> =
        config.allowed_outside.iter().map(|folder| (folder.spelled.as_str(), folder.real.as_str())).collect();
    assert_eq!(pairs, [("/w/link", "/w/shared"), ("/w/shared", "/w/shared")]);
    for (typed, reason) in [("../gone", "it does not exist"), ("../shared/x.ts", "it is not a folder")] {
        let error = config.allow_outside(&system, "/w/r", typed).unwrap_err().to_string();
        assert_eq!(error, format!("`--allow-outside {typed}` cannot be used, because {reason}; name a folder"));
    }
}

#[test]
fn two_files_in_one_folder_are_an_error() {
    let fixture = "
        //- /r/stan.config.yml
        //- /r/stan.config.json
        //- dir /r/a
    ";
    check_find(
        fixture,
        "/r/a",
        None,
        &expect![[r#"
            there is more than one configuration in ..: stan.config.yml and stan.config.json; keep one of them, or name one with `--config`
        "#]],
    );
    check_find(
        fixture,
        "/r/a",
        Some("../stan.config.yml"),
        &expect![[r#"
            root /r, file /r/stan.config.yml
            hint: ../stan.config.yml has no block `stan-core`, so the defaults hold
        "#]],
    );
}

#[test]
fn hints_say_which_root_and_configuration_are_used() {
    let fixture = "
        //- /w/.git/HEAD
        ref: refs/heads/main
        //- dir /w/a
        //- /linked/.git
        gitdir: /w/.git/worktrees/x
        //- dir /linked/a
        //- /c/stan.config.yaml
        stan-cli: {}
        //- /g/stan.config.yml
        stan-core: { excludes: [dist, a.ts], includes: [./lib] }
        //- dir /g/dist
        //- dir /g/lib
        //- dir /c/sub
    ";
    check_find(
        fixture,
        "/w",
        None,
        &expect![[r#"
        root /w, file none
    "#]],
    );
    check_find(
        fixture,
        "/w/a",
        None,
        &expect![[r#"
        root /w/a, file none
        hint: no stan.config.yml was found, so /w/a is taken for the root, although the git worktree starts at /w; put a configuration there, or run from there, if the whole of it is meant
    "#]],
    );
    check_find(
        fixture,
        "/linked/a",
        None,
        &expect![[r#"
        root /linked/a, file none
        hint: no stan.config.yml was found, so /linked/a is taken for the root, although the git worktree starts at /linked; put a configuration there, or run from there, if the whole of it is meant
    "#]],
    );
    check_find(
        fixture,
        "/c",
        None,
        &expect![[r#"
        root /c, file /c/stan.config.yaml
        hint: stan.config.yaml has no block `stan-core`, so the defaults hold
    "#]],
    );
    check_find(
        fixture,
        "/c/sub",
        None,
        &expect![[r#"
            root /c, file /c/stan.config.yaml
            hint: the configuration ../stan.config.yaml is used, so the root is ..
            hint: ../stan.config.yaml has no block `stan-core`, so the defaults hold
        "#]],
    );
    check_find(
        fixture,
        "/g",
        None,
        &expect![[r#"
        root /g, file /g/stan.config.yml
        includes: ./lib
        excludes: dist a.ts
    "#]],
    );
}

#[test]
fn files_that_cannot_be_read() {
    let check = |make: &dyn Fn(&MemorySystem), expected: Expect| {
        let system = MemorySystem::new();
        system.set_dir("/r/sub");
        make(&system);
        expected
            .assert_eq(&find(&system, "/r", None).map(|found| show(&found.config)).unwrap_or_else(|e| e.to_string()));
    };
    let path = "/r/stan.config.yml";
    check(
        &|system| {
            system.set_file(path, "x".repeat((1 << 20) + 1));
        },
        expect![
            "stan.config.yml: the configuration cannot be read, because it is larger than 1 MiB, which no configuration is"
        ],
    );
    check(
        &|system| {
            system.set_file(path, b"a: b\n\xc3\xa4\xff".to_vec());
        },
        expect!["stan.config.yml:2:2: this is not UTF-8; save the file as UTF-8"],
    );
    check(
        &|system| {
            system.set_link(path, "gone");
        },
        expect!["stan.config.yml: the configuration cannot be read, because it does not exist, or is a dangling link"],
    );
    check(
        &|system| {
            system.set_file(path, "").set_unreadable(path, true);
        },
        expect!["stan.config.yml: the configuration cannot be read, because its permissions forbid it"],
    );
    check(
        &|system| {
            system.set_dir(path);
        },
        expect![[r#""#]],
    );
    check(
        &|system| {
            system.set_file("/r/sub/real.yml", "stan-core: { stanPath: x }").set_link(path, "sub/real.yml");
        },
        expect![[r#"
            stanPath: x
        "#]],
    );
}

/// Messages quote a broken configuration, so a link must not point to a file outside the repository.
#[test]
fn a_link_out_of_the_repository_is_not_read() {
    let fixture = "
        //- /homes/secret.yml
        token: 1234
        //- /r/settings/stan.yml
        stan-core: { stanPath: inner }
        //- link /r/stan.config.yml -> ../homes/secret.yml
        //- dir /r/a
        //- link /s/stan.config.yml -> settings.yml
        //- /s/settings.yml
        stan-core: { stanPath: inner }
    ";
    let refused = expect![[r#"
        stan.config.yml: the configuration cannot be read, because it is a link that leads out of the repository; put a file in its place, or name one with `--config`
    "#]];
    check_find(fixture, "/r", None, &refused);
    check_find(
        fixture,
        "/s",
        None,
        &expect![[r#"
        root /s, file /s/stan.config.yml
        stanPath: inner
    "#]],
    );
}
