//! Where a configuration is found, and what is said on the way.

use expect_test::{Expect, expect};
use stan_repo::MemorySystem;

use super::show;
use crate::config::{Found, find};

fn check_find(fixture: &str, directory: &str, explicit: Option<&str>, expected: &Expect) {
    let system = MemorySystem::from_fixture(fixture);
    let shown = match find(&system, directory, explicit) {
        Err(error) => format!("{error}\n"),
        Ok(Found { config, root, file, hints }) => {
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
    "#]],
    );
    check_find(
        fixture,
        "/r/a/b/c",
        None,
        &expect![[r#"
        root /r/a, file /r/a/stan.config.json
        stanPath: inner
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
        there is more than one configuration in /r: stan.config.yml and stan.config.json; keep one of them, or name one with `--config`
    "#]],
    );
    check_find(
        fixture,
        "/r/a",
        Some("../stan.config.yml"),
        &expect![[r#"
        root /r, file /r/stan.config.yml
        hint: /r/stan.config.yml has no block `stan-core`, so the defaults hold
    "#]],
    );
}

#[test]
fn hints() {
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
        hint: /c/stan.config.yaml has no block `stan-core`, so the defaults hold
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
        hint: `./lib` in `includes` is a folder; write `./lib/**` for the files in it
        hint: `dist` in `excludes` is a folder; write `dist/**` for the files in it
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
        expect![
            "stan.config.yml: the configuration cannot be read, because it does not exist, or is a link that leads nowhere"
        ],
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

/// Messages show what is wrong with a configuration, so that a link must not lead to a file that is none.
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
