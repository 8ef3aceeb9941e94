//! Workspaces that stan cannot work in: symlinks, folders instead of files and the reverse, permissions, unreadable archives, an
//! invalid environment. Exit code, full stderr, and nothing changed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

use expect_test::{Expect, expect};

use crate::errors::{check, check_in};
use crate::project::{ARCHIVE, EXTERNAL, META, NODE, STATE, everything, thread};
use crate::support::Repository;

const RUN: &[&str] = &["run", "--context"];
const FROZEN: &[&str] = &["run", "--context", "--frozen"];

/// Replaces a path by a symlink to a folder outside.
fn link_out(repository: &Repository, path: &str) {
    let outside = repository.root().parent().unwrap().join("outside");
    fs::create_dir_all(&outside).unwrap();
    remove(repository, path);
    symlink("../outside", repository.root().join(path)).unwrap();
}

fn remove(repository: &Repository, path: &str) {
    let path = repository.root().join(path);
    match path.symlink_metadata() {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn folder(repository: &Repository, path: &str) {
    remove(repository, path);
    fs::create_dir_all(repository.root().join(path)).unwrap();
}

#[test]
fn links_in_place_of_folders() {
    check(
        |repository| link_out(repository, ".stan"),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan` is a link; stan needs a folder there
          help: remove it, or choose another folder with --stan-path
    "#]],
    );
    check(
        |repository| link_out(repository, ".stan/output"),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/output` is a link; stan needs a folder there
          help: remove it, or choose another folder with --stan-path
    "#]],
    );
    check(
        |repository| link_out(repository, ".stan/context/npm"),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/context/npm` is a link; stan needs a folder there
          help: remove it, or choose another folder with --stan-path
    "#]],
    );
    check(
        |repository| link_out(repository, ".stan/context/npm/zed"),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/context/npm/zed` is a link in place of a folder; nothing is written through links: remove it, or make it a folder
    "#]],
    );
    check(
        |repository| link_out(repository, ".stan/.lock"),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/.lock` is a link, a folder or something else where the lock's file belongs; remove it and run again
    "#]],
    );
    check(
        |repository| link_out(repository, META),
        FROZEN,
        &expect![[r#"
        exit 1
        error: `.stan/context/dependency.meta.json` is a link; stan needs a file there
          help: links are not followed here: put the file itself in its place
    "#]],
    );
    check(
        |repository| link_out(repository, STATE),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/context/dependency.state.json` is a link; stan needs a file there
          help: links are not followed here: put the file itself in its place
    "#]],
    );
}

#[test]
fn files_and_folders_in_each_others_place() {
    check(
        |repository| {
            remove(repository, ".stan/diff");
            repository.write(".stan/diff", "mine\n");
        },
        RUN,
        &expect![[r#"
            exit 1
            error: `.stan/diff` is not a folder; stan needs a folder there
              help: remove it, or choose another folder with --stan-path
        "#]],
    );
    check(
        |repository| folder(repository, ARCHIVE),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/output/archive.tar` is a folder, and a file is to be written there; move or remove it
    "#]],
    );
    check(
        |repository| folder(repository, NODE),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/context/npm/zed/1.2.3/index.d.ts` is a folder, and a file is to be written there; move or remove it
    "#]],
    );
    check(
        |repository| folder(repository, META),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/context/dependency.meta.json` is a folder; stan needs a file there
          help: move or remove it, and run again
    "#]],
    );
    check(
        |repository| folder(repository, ".stan/.lock"),
        RUN,
        &expect![[r#"
        exit 1
        error: `.stan/.lock` is a link, a folder or something else where the lock's file belongs; remove it and run again
    "#]],
    );
    check(
        |_| {},
        &["-C", "gone", "run"],
        &expect![[r#"
        exit 1
        error: cannot enter `gone`: No such file or directory (os error 2)
          help: name an existing folder after -C
    "#]],
    );
    check(
        |_| {},
        &["-C", "package.json", "run"],
        &expect![[r#"
        exit 1
        error: `package.json` is not a folder
          help: name an existing folder after -C
    "#]],
    );
}

#[test]
fn packages_of_one_name_with_other_bytes_are_reported() {
    check(
        |repository| {
            let inner = "packages/inner/node_modules/zed";
            repository.write(
                &format!("{inner}/package.json"),
                "{\"name\":\"zed\",\"version\":\"1.2.3\",\"types\":\"index.d.ts\"}\n",
            );
            repository.write(&format!("{inner}/index.d.ts"), "export declare const z: never;\n");
            repository.write("packages/inner/index.ts", "import 'zed';\n");
        },
        RUN,
        &expect![[r#"
            exit 3
            error: the selection has node ids that denote different files
              `node_modules/zed/index.d.ts` and `packages/inner/node_modules/zed/index.d.ts` are both `.stan/context/npm/zed/1.2.3/index.d.ts`, but their contents differ (32 and 31 bytes, SHA-256 b55f978ccebe6becb59615e442adb14dfb1856dbac654c87319ac3b91ac45407 and 098a09785675f07c17054cfbdf019535cb707cf6f3b31eacd351a4a69395001a); this node cannot be selected
              help: reinstall the packages, or take the nodes out of the selection
        "#]],
    );
}

#[test]
fn a_source_date_epoch_that_is_no_number_is_refused() {
    for (value, expected) in [
        (
            "yesterday",
            expect![[r#"
            exit 1
            error: SOURCE_DATE_EPOCH is `yesterday`, which is not a number of seconds
              help: set it to whole seconds since 1970, or unset it
        "#]],
        ),
        (
            "-1",
            expect![[r#"
            exit 1
            error: SOURCE_DATE_EPOCH is `-1`, which is not a number of seconds
              help: set it to whole seconds since 1970, or unset it
        "#]],
        ),
        (
            "99999999999999999999",
            expect![[r#"
            exit 1
            error: SOURCE_DATE_EPOCH is `99999999999999999999`, which is not a number of seconds
              help: set it to whole seconds since 1970, or unset it
        "#]],
        ),
    ] {
        check_in(&thread(), RUN, &[("SOURCE_DATE_EPOCH", value)], &expected);
    }
}

#[test]
fn verify_reports_the_faults_of_an_archive() {
    let verify: &[&str] = &["verify"];
    check(
        |repository| remove(repository, ARCHIVE),
        verify,
        &expect![[r#"
        exit 1
        error: there is no archive `.stan/output/archive.tar`
          help: make a new one: stan run, or stan run --context
    "#]],
    );
    check(
        |_| {},
        &["verify", "gone.tar"],
        &expect![[r#"
        exit 1
        error: there is no archive `gone.tar`
          help: name an archive that stan wrote, or none for `.stan/output/archive.tar`
    "#]],
    );
    check(
        |_| {},
        &["verify", "package.json"],
        &expect![[r#"
        exit 1
        error: the archive `package.json` cannot be read: its size is not a multiple of 512 bytes, so it was truncated or is not a tar file
          help: name an archive that stan wrote, or none for `.stan/output/archive.tar`
    "#]],
    );
    check(
        |_| {},
        &["verify", "src"],
        &expect![[r#"
        exit 1
        error: the archive `src` cannot be read: not a regular file
          help: name an archive that stan wrote, or none for `.stan/output/archive.tar`
    "#]],
    );
    let shorten = |repository: &Repository, by: usize| {
        let path = repository.root().join(ARCHIVE);
        let bytes = fs::read(&path).unwrap();
        fs::write(path, &bytes[..bytes.len() - by]).unwrap();
    };
    check(
        |repository| shorten(repository, 1024 + 200),
        verify,
        &expect![[r#"
        exit 1
        error: the archive `.stan/output/archive.tar` cannot be read: its size is not a multiple of 512 bytes, so it was truncated or is not a tar file
          help: make a new one: stan run, or stan run --context
    "#]],
    );
    check(
        |repository| {
            let length = fs::metadata(repository.root().join(ARCHIVE)).unwrap().len();
            shorten(repository, usize::try_from(length).unwrap() - 700);
        },
        verify,
        &expect![[r#"
            exit 1
            error: the archive `.stan/output/archive.tar` cannot be read: its size is not a multiple of 512 bytes, so it was truncated or is not a tar file
              help: make a new one: stan run, or stan run --context
        "#]],
    );
    check(
        |repository| repository.write("src/helper.ts", "changed\n"),
        verify,
        &expect![[r#"
            exit 3
            differs: src/helper.ts: the tree has 8 bytes 7f8b1dfc466b…, the archive 41 bytes 643a200e32bd…
            .stan/output/archive.tar: 11 entries; 1 different, 0 gone, 0 new
            help: make a new archive with `stan run` or `stan run --context`
        "#]],
    );
}

/// Runs as a user other than root, to whom permissions do not apply; `None` if that is not possible here.
fn as_nobody(repository: &Repository, arguments: &[&str]) -> Option<String> {
    const NOBODY: u32 = 65_534;
    let mut command = repository.command(arguments);
    if fs::metadata(repository.root()).ok()?.permissions().mode() & 0o7000 == 0 && is_root(repository) {
        fs::set_permissions(repository.root().parent()?, fs::Permissions::from_mode(0o755)).ok()?;
        give(repository.root(), NOBODY);
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).replace(&repository.root().display().to_string(), "<root>");
    Some(format!("exit {}\n{said}", output.status.code().unwrap_or(-1)))
}

fn is_root(repository: &Repository) -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata(repository.root()).unwrap()) == 0
}

fn give(path: &Path, owner: u32) {
    std::os::unix::fs::lchown(path, Some(owner), Some(owner)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path(), owner));
    }
}

fn permissions(path: &str, mode: u32, arguments: &[&str], expected: Expect) {
    let repository = thread();
    let set = |mode| fs::set_permissions(repository.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    let old = fs::metadata(repository.root().join(path)).unwrap().permissions().mode();
    let before = everything(repository.root());
    set(mode);
    let said = as_nobody(&repository, arguments);
    set(old);
    match said {
        Some(said) => expected.assert_eq(&said),
        None => println!("the program cannot be run as another user here: skipped"),
    }
    assert!(everything(repository.root()) == before, "a refused run changed something");
}

#[test]
fn unreadable_and_unwritable_files_are_explained() {
    permissions(
        STATE,
        0o000,
        RUN,
        expect![[r#"
        exit 1
        error: `.stan/context/dependency.state.json` cannot be read: Permission denied (os error 13)
          help: check its permissions
    "#]],
    );
    permissions(
        META,
        0o000,
        FROZEN,
        expect![[r#"
        exit 1
        error: `.stan/context/dependency.meta.json` cannot be read: Permission denied (os error 13)
          help: check its permissions
    "#]],
    );
    permissions(
        EXTERNAL,
        0o000,
        FROZEN,
        expect![[r#"
        exit 3
        error: installed files (externals) are not what the map says; nothing was changed
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its source: expected a file of 32 bytes, found permission denied
          help: rebuild the map: stan run --context
    "#]],
    );
    permissions(
        "src/helper.ts",
        0o000,
        RUN,
        expect![[r#"
        exit 1
        error: `src/helper.ts` cannot be archived: permission denied; check who owns it and its folder
    "#]],
    );
    permissions(
        "package.json",
        0o000,
        RUN,
        expect![[r#"
        exit 1
        error: `package.json` cannot be archived: permission denied; check who owns it and its folder
    "#]],
    );
    permissions(
        ".stan/output",
        0o500,
        RUN,
        expect![[r#"
        exit 1
        error: cannot write `.stan/output/archive.tar`: permission denied; check who owns it and its folder
    "#]],
    );
    permissions(
        ".stan/context",
        0o500,
        RUN,
        expect![[r#"
        exit 1
        error: cannot write `.stan/context/dependency.map.json`: permission denied; check who owns it and its folder
    "#]],
    );
    permissions(
        "stan.config.yml",
        0o000,
        RUN,
        expect![[r#"
        exit 1
        error: stan.config.yml: the configuration cannot be read, because its permissions forbid it
    "#]],
    );
}
