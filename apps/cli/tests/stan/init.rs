//! `stan init` as users run it, on real folders. Finer cases are unit tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::Repository;
use expect_test::{Expect, expect};

/// Every path below the root; files with their bytes.
fn tree(repository: &Repository) -> BTreeMap<String, Option<Vec<u8>>> {
    fn walk(folder: &Path, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_folder = fs::symlink_metadata(&path).unwrap().is_dir();
            found.insert(path.display().to_string(), fs::read(&path).ok());
            if is_folder {
                walk(&path, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(repository.root(), &mut found);
    found
}

fn read(repository: &Repository, path: &str) -> String {
    fs::read_to_string(repository.root().join(path)).unwrap()
}

fn check(repository: &Repository, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&repository.stan(arguments));
}

#[test]
fn a_fresh_repository_without_git() {
    let repository = Repository::new(&[]);
    check(
        &repository,
        &["init", "--dry-run"],
        expect![[r#"
        exit 0
        --- stdout
        would create  stan.config.yml
        would create  .stan/system/stan.system.md
        would create  .stan/system/stan.scratch.md
        would create  .stan/system/stan.todo.md
        would create  .gitignore
        --- stderr
    "#]],
    );
    assert!(tree(&repository).is_empty(), "a dry run writes nothing");
    check(
        &repository,
        &["init"],
        expect![[r#"
        exit 0
        --- stdout
        created  stan.config.yml
        created  .stan/system/stan.system.md
        created  .stan/system/stan.scratch.md
        created  .stan/system/stan.todo.md
        created  .gitignore

        next: `stan run --context --meta` opens a thread in a chat; `stan init --agents` or `--mcp CLIENT` sets up a coding agent
        --- stderr
    "#]],
    );
    let after = tree(&repository);
    check(
        &repository,
        &["init"],
        expect![[r#"
        exit 0
        --- stdout
        kept     stan.config.yml
        kept     .stan/system/stan.system.md
        kept     .stan/system/stan.scratch.md
        kept     .stan/system/stan.todo.md
        kept     .gitignore
        --- stderr
    "#]],
    );
    assert_eq!(tree(&repository), after, "running it twice is running it once");
    expect![[r#"
        .stan/context/
        .stan/output/
        .stan/diff/
        .stan/patch/
        .stan/imports/
        .stan/cache/
        .stan/.lock
    "#]]
    .assert_eq(&read(&repository, ".gitignore"));
    assert_eq!(read(&repository, ".stan/system/stan.scratch.md"), "");
    assert!(repository.stan(&["graph"]).starts_with("exit 0"));
}

#[test]
fn git_ignores_the_files_that_stan_creates() {
    let repository = Repository::new(&[(".gitignore", "*.log\r\ndist")]);
    if repository.git(&["init", "-q"]).is_none() {
        return;
    }
    repository.stan(&["init"]);
    assert!(read(&repository, ".gitignore").starts_with("*.log\r\ndist\r\n.stan/context/\r\n"));
    for made in ["context/a", "output/a", "diff/a", "patch/a", "imports/a", "cache/a", ".lock"] {
        repository.write(&format!(".stan/{made}"), "");
    }
    let status = repository.git(&["status", "--porcelain", "-uall"]).unwrap();
    expect![[r#"
        ?? .gitignore
        ?? .stan/system/stan.scratch.md
        ?? .stan/system/stan.system.md
        ?? .stan/system/stan.todo.md
        ?? stan.config.yml
    "#]]
    .assert_eq(&status);
}

#[test]
fn an_existing_configuration_decides() {
    let repository = Repository::new(&[("stan.config.yaml", "stan-core:\n  stanPath: tools/stan\n"), ("src/a.ts", "")]);
    check(
        &repository,
        &["init", "-C", "src"],
        expect![[r#"
        exit 0
        --- stdout
        kept     stan.config.yaml
        created  tools/stan/system/stan.system.md
        created  tools/stan/system/stan.scratch.md
        created  tools/stan/system/stan.todo.md
        created  .gitignore

        next: `stan run --context --meta` opens a thread in a chat; `stan init --agents` or `--mcp CLIENT` sets up a coding agent
        --- stderr
    "#]],
    );
    assert_eq!(read(&repository, "stan.config.yaml"), "stan-core:\n  stanPath: tools/stan\n");
    check(
        &repository,
        &["init", "--stan-path", "other"],
        expect![[r#"
        exit 0
        --- stdout
        kept     stan.config.yaml
        created  other/system/stan.system.md
        created  other/system/stan.scratch.md
        created  other/system/stan.todo.md
        extended .gitignore (lines added: 7)
          +other/context/
          +other/output/
          +other/diff/
          +other/patch/
          +other/imports/
          +other/cache/
          +other/.lock

        next: `stan run --context --meta` opens a thread in a chat; `stan init --agents` or `--mcp CLIENT` sets up a coding agent
        --- stderr
        note: the configuration says `stanPath: tools/stan`; change it there too, or give `--stan-path other` to every command
    "#]],
    );
    repository.write("stan.config.yaml", "stan-core:\n  stanpath: x\n");
    check(
        &repository,
        &["init"],
        expect![[r#"
            exit 1
            --- stdout
            --- stderr
            error: stan.config.yaml:2:3: unknown key `stan-core.stanpath`; did you mean `stanPath`?
        "#]],
    );
}

#[test]
fn edited_documents_are_shown_and_kept() {
    let repository = Repository::new(&[]);
    repository.stan(&["init"]);
    let shipped = read(&repository, ".stan/system/stan.system.md");
    let edited = shipped.replace("# Working with stan:", "# Ours:") + "Be brief.\u{1b}[2J\n";
    repository.write(".stan/system/stan.system.md", &edited);
    repository.write(".stan/system/stan.todo.md", "- one\n");
    check(
        &repository,
        &["init"],
        expect![[r#"
            exit 0
            --- stdout
            kept     stan.config.yml
            differs  .stan/system/stan.system.md from the shipped text, and is left alone; --force replaces it
              @@ -1,2 +1,2 @@
              -# Ours: instructions for the assistant
              +# Working with stan: instructions for the assistant

              @@ -202,2 +202 @@
               <!-- /stan:example -->
              -Be brief.\u{1b}[2J
            kept     .stan/system/stan.scratch.md
            kept     .stan/system/stan.todo.md
            kept     .gitignore
            --- stderr
        "#]],
    );
    assert_eq!(read(&repository, ".stan/system/stan.system.md"), edited);
    check(
        &repository,
        &["init", "--force", "--dry-run", "--json"],
        expect![[r#"
            exit 0
            --- stdout
            {"stanPath":".stan","dryRun":true,"changed":true,"actions":[{"path":"stan.config.yml","action":"keep"},{"path":".stan/system/stan.system.md","action":"replace","added":1,"removed":2,"diff":["@@ -1,2 +1,2 @@","-# Ours: instructions for the assistant","+# Working with stan: instructions for the assistant"," ","@@ -202,2 +202 @@"," <!-- /stan:example -->","-Be brief.\\u{1b}[2J"],"truncated":false},{"path":".stan/system/stan.scratch.md","action":"keep"},{"path":".stan/system/stan.todo.md","action":"keep"},{"path":".gitignore","action":"keep"}]}
            --- stderr
        "#]],
    );
    assert_eq!(read(&repository, ".stan/system/stan.system.md"), edited);
    repository.stan(&["init", "--force"]);
    assert_eq!(read(&repository, ".stan/system/stan.system.md"), shipped);
    assert_eq!(read(&repository, ".stan/system/stan.todo.md"), "- one\n");
}

#[test]
fn obstacles_to_init_are_named() {
    let repository = Repository::new(&[(".stan/system", "a file"), ("AGENTS.md", "a\n<!-- stan:end -->\n")]);
    let before = tree(&repository);
    check(
        &repository,
        &["init", "--agents", "--json"],
        expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: .stan/system: this is a file where a folder is needed; move it away
        AGENTS.md:2: the block of stan ends here without having begun; leave one `<!-- stan:begin -->` and after it one `<!-- stan:end -->`, each on a line of its own, or neither
          help: nothing was written; run `stan init` again
    "#]],
    );
    assert_eq!(tree(&repository), before, "nothing was written");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_leaves_everything_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let repository = Repository::new(&[(".stan/system/notes.md", "")]);
    let folder = repository.root().join(".stan/system");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // The super-user may write everywhere, so there is nothing to test.
    let is_super_user = fs::write(folder.join("probe"), "").is_ok();
    let before = tree(&repository);
    let shown = repository.stan(&["init"]);
    let after = tree(&repository);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if !is_super_user {
        assert!(shown.starts_with("exit 1") && shown.contains("everything is as it was before"), "{shown}");
        assert_eq!(after, before);
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_written_through() {
    let repository = Repository::new(&[("CLAUDE.md", "theirs\n"), ("elsewhere/x", "")]);
    std::os::unix::fs::symlink("CLAUDE.md", repository.root().join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("elsewhere", repository.root().join(".stan")).unwrap();
    let before = tree(&repository);
    check(
        &repository,
        &["init", "--agents"],
        expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: .stan: this is a link, and stan writes through none; put a folder in its place
        AGENTS.md: this is a link, and stan writes through none; put a file in its place
          help: nothing was written; run `stan init` again
    "#]],
    );
    assert_eq!(tree(&repository), before);
}

#[test]
fn the_block_for_agents_is_added_and_removed() {
    for text in [None, Some("# Agents\r\n\r\nBe kind."), Some("x\n"), Some("")] {
        let files: Vec<(&str, &str)> = text.iter().map(|text| ("AGENTS.md", *text)).collect();
        let repository = Repository::new(&files);
        repository.stan(&["init"]);
        let before = tree(&repository);
        assert!(repository.stan(&["init", "--agents"]).starts_with("exit 0"));
        let with_block = tree(&repository);
        assert_ne!(with_block, before);
        assert!(repository.stan(&["init", "--agents=add"]).contains("kept     AGENTS.md\n"));
        assert_eq!(tree(&repository), with_block);
        repository.stan(&["init", "--agents=remove", "--dry-run"]);
        assert_eq!(tree(&repository), with_block);
        assert!(repository.stan(&["init", "--agents=remove"]).starts_with("exit 0"));
        assert_eq!(tree(&repository), before, "{text:?}");
    }
    let repository = Repository::new(&[]);
    check(
        &repository,
        &["init", "--agents=remove"],
        expect![[r#"
        exit 0
        --- stdout
        absent   AGENTS.md (there is nothing to remove)
        --- stderr
    "#]],
    );
    check(
        &repository,
        &["init", "--agents=maybe"],
        expect![[r#"
        exit 2
        --- stdout
        --- stderr
        error: invalid value 'maybe' for '--agents[=<ACTION>]'
          [possible values: add, remove]

        For more information, try '--help'.
    "#]],
    );
}
