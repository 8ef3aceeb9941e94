//! Plans and their execution on an in-memory file system, and on one with injected failures.

use std::io;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use stan_repo::{MemorySystem, System, SystemExt as _, SystemLayer, WritableLayer, WritableSystem};

use super::*;
use super::{planned as plan, write_planned as apply};

const ROOT: &str = "/r";

fn repository(files: &[(&str, &str)]) -> MemorySystem {
    let system = MemorySystem::new();
    system.set_dir(ROOT);
    for (path, text) in files {
        system.set_file(format!("{ROOT}/{path}"), *text);
    }
    system
}

fn options(force: bool, agents: Option<AgentsBlock>) -> InitOptions {
    InitOptions { force, agents, ..InitOptions::default() }
}

/// Every path below the root, with the contents of files.
fn tree(system: &dyn System) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(ROOT)];
    while let Some(folder) = folders.pop() {
        for entry in system.read_dir(&folder).unwrap() {
            let path = folder.join(entry.name);
            let mut bytes = Vec::new();
            let contents = match entry.kind {
                stan_repo::EntryKind::File => system.read_into(&path, &mut bytes).map(|_| bytes).ok(),
                _ => None,
            };
            found.push((path.to_str().unwrap().to_owned(), contents));
            if entry.kind == stan_repo::EntryKind::Dir {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(system: &MemorySystem, path: &str) -> String {
    let mut bytes = Vec::new();
    system.read_into(Path::new(&format!("{ROOT}/{path}")), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn init(system: &MemorySystem, options: &InitOptions) -> InitPlan {
    let plan = plan(system, ROOT, ".stan", options).unwrap();
    apply(system, &plan).unwrap();
    plan
}

/// The plan with one line per action, or the conflicts.
fn check(system: &MemorySystem, options: &InitOptions, expected: Expect) {
    let before = tree(system);
    let shown = match plan(system, ROOT, ".stan", options) {
        Err(error) => format!("{error}\n"),
        Ok(plan) => {
            let line = |action: &Action| {
                let kind = match &action.kind {
                    ActionKind::Create => "create".to_owned(),
                    ActionKind::Keep => "keep".to_owned(),
                    ActionKind::Absent => "absent".to_owned(),
                    ActionKind::Differs(_) => "differs".to_owned(),
                    ActionKind::Replace(_) => "replace".to_owned(),
                    ActionKind::Append { lines } => format!("append {} lines", lines.len()),
                    ActionKind::Update(_) => "update".to_owned(),
                    ActionKind::RemoveBlock => "remove block".to_owned(),
                    ActionKind::Remove => "remove".to_owned(),
                };
                let note = action.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
                format!("{} {kind}{note}\n", action.path)
            };
            plan.actions.iter().map(line).collect()
        }
    };
    expected.assert_eq(&shown);
    assert_eq!(tree(system), before, "planning writes nothing");
}

#[test]
fn a_fresh_repository_gets_configuration_documents_and_ignore_rules() {
    let system = repository(&[]);
    let plain = options(false, None);
    check(
        &system,
        &plain,
        expect![[r#"
            stan.config.yml create
            .stan/system/stan.system.md create
            .stan/system/stan.scratch.md create
            .stan/system/stan.todo.md create
            .gitignore create
        "#]],
    );
    assert!(init(&system, &plain).changes_anything());
    let after = tree(&system);
    assert_eq!(read(&system, ".stan/system/stan.system.md"), system_document(".stan"));
    assert_eq!(read(&system, ".stan/system/stan.todo.md"), "");
    assert!(!init(&system, &plain).changes_anything(), "running it twice is running it once");
    assert!(!init(&system, &options(true, None)).changes_anything(), "there is nothing to force");
    assert_eq!(tree(&system), after);
}

#[test]
fn existing_files_of_users_stay() {
    let system = repository(&[
        ("stan.config.json", "{}"),
        (".stan/system/stan.system.md", "our own rules\n"),
        (".stan/system/stan.scratch.md", "notes"),
        (".gitignore", "node_modules\n.stan/output/\n"),
    ]);
    check(
        &system,
        &options(false, None),
        expect![[r#"
            stan.config.json keep
            .stan/system/stan.system.md differs
            .stan/system/stan.scratch.md keep
            .stan/system/stan.todo.md create
            .gitignore append 6 lines
        "#]],
    );
    init(&system, &options(false, None));
    assert_eq!(read(&system, ".stan/system/stan.system.md"), "our own rules\n");
    init(&system, &options(true, None));
    assert_eq!(read(&system, ".stan/system/stan.system.md"), system_document(".stan"));
    assert_eq!(read(&system, ".stan/system/stan.scratch.md"), "notes", "force is about the system document alone");
    assert_eq!(read(&system, "stan.config.json"), "{}");
    assert!(read(&system, ".gitignore").starts_with("node_modules\n.stan/output/\n.stan/context/\n"));
}

#[test]
fn line_endings_of_other_systems_are_not_a_difference() {
    let text = format!("\u{feff}{}", system_document(".stan").replace('\n', "\r\n"));
    let system =
        repository(&[("stan.config.yaml", ""), (".stan/system/stan.system.md", &text), (".gitignore", ".stan")]);
    check(
        &system,
        &options(true, None),
        expect![[r#"
            stan.config.yaml keep
            .stan/system/stan.system.md keep
            .stan/system/stan.scratch.md create
            .stan/system/stan.todo.md create
            .gitignore keep
        "#]],
    );
}

#[test]
fn removing_the_block_leaves_no_trace() {
    for before in [None, Some(""), Some("# Agents\n"), Some("# Agents"), Some("# A\r\n\r\nb"), Some("\u{feff}x\n\n\n")]
    {
        let files: Vec<(&str, &str)> = before.iter().map(|text| ("AGENTS.md", *text)).collect();
        let system = repository(&files);
        init(&system, &options(false, None));
        let untouched = tree(&system);
        init(&system, &options(false, Some(AgentsBlock::Add)));
        assert!(read(&system, "AGENTS.md").contains("<!-- stan:begin -->"));
        assert!(!init(&system, &options(false, Some(AgentsBlock::Add))).changes_anything(), "{before:?}");
        init(&system, &options(false, Some(AgentsBlock::Remove)));
        assert_eq!(tree(&system), untouched, "{before:?}");
    }
}

#[test]
fn an_old_block_is_updated() {
    let system = repository(&[("AGENTS.md", "a\n<!-- stan:begin -->\nold\n<!-- stan:end -->\nb")]);
    init(&system, &options(false, None));
    let with_block = options(false, Some(AgentsBlock::Add));
    let plan = plan(&system, ROOT, ".stan", &with_block).unwrap();
    assert!(matches!(plan.actions.last().unwrap().kind, ActionKind::Update(_)));
    apply(&system, &plan).unwrap();
    let text = read(&system, "AGENTS.md");
    assert!(text.starts_with("a\n<!-- stan:begin -->\n\n") && text.ends_with("\n<!-- stan:end -->\nb"), "{text}");
    init(&system, &options(false, Some(AgentsBlock::Remove)));
    assert_eq!(read(&system, "AGENTS.md"), "a\nb");
}

#[test]
fn removing_the_block_does_nothing_else() {
    let system = repository(&[]);
    let remove = options(false, Some(AgentsBlock::Remove));
    check(
        &system,
        &remove,
        expect![[r#"
        AGENTS.md absent (there is nothing to remove)
    "#]],
    );
    system.set_file("/r/AGENTS.md", "x");
    check(
        &system,
        &remove,
        expect![[r#"
        AGENTS.md keep (there is no block of stan in it)
    "#]],
    );
}

#[test]
fn all_conflicts_are_reported_before_anything_is_written() {
    let system = repository(&[("AGENTS.md", "a\n<!-- stan:begin -->\n"), (".stan", "a file")]);
    system.set_dir("/r/stan.config.yml").set_link("/r/.gitignore", "elsewhere");
    check(
        &system,
        &options(false, Some(AgentsBlock::Add)),
        expect![[r#"
            stan.config.yml: this is a folder where a file is needed; move it away
            .stan: this is a file where a folder is needed; move it away
            .gitignore: this is a link, and stan writes through none; put a file in its place
            AGENTS.md:2: the block of stan begins here and never ends; leave one `<!-- stan:begin -->` and after it one `<!-- stan:end -->`, each on a line of its own, or neither
        "#]],
    );
}

#[test]
fn nothing_is_written_through_links() {
    let outside = "/elsewhere/system/stan.system.md";
    let system = repository(&[]);
    system.set_file(outside, "theirs").set_link("/r/.stan", "/elsewhere");
    check(
        &system,
        &options(true, None),
        expect![[r#"
        .stan: this is a link, and stan writes through none; put a folder in its place
    "#]],
    );
    system.remove("/r/.stan").set_link("/r/.stan/system/stan.system.md", outside);
    system.set_link("/r/.stan/system/stan.todo.md", "nowhere").set_link("/r/stan.config.yml", "nowhere");
    check(
        &system,
        &options(false, None),
        expect![[r#"
            stan.config.yml keep
            .stan/system/stan.system.md keep (it is a link, so it was not compared with the shipped text)
            .stan/system/stan.scratch.md create
            .stan/system/stan.todo.md keep (it is a link)
            .gitignore create
        "#]],
    );
    check(
        &system,
        &options(true, None),
        expect![[r#"
        .stan/system/stan.system.md: this is a link, and stan writes through none; put a file in its place
    "#]],
    );
}

#[test]
fn files_that_are_not_regular_are_conflicts() {
    let system = repository(&[(".gitignore", "a\0b"), ("AGENTS.md", "\u{feff}")]);
    system.set_file("/r/AGENTS.md", b"\xff\xfea\0".to_vec()).set_other("/r/.stan/system/stan.todo.md");
    check(
        &system,
        &options(false, Some(AgentsBlock::Add)),
        expect![[r#"
            .stan/system/stan.todo.md: not a regular file; replace it with one
            .gitignore: this is UTF-16 or binary, so no lines can be added; save it as UTF-8
            AGENTS.md: this is UTF-16 or binary, so no lines can be added; save it as UTF-8
        "#]],
    );
}

#[test]
fn invalid_workspace_folders_are_refused() {
    let system = repository(&[]);
    for stan_path in ["", ".", "..", "/tmp", ".git", "a/../.."] {
        let result = plan(&system, ROOT, stan_path, &InitOptions::default());
        assert!(matches!(result, Err(InitError::StanPath(_))), "{stan_path}");
    }
    let plan = plan(&system, ROOT, "./tools//stan/", &InitOptions::default()).unwrap();
    apply(&system, &plan).unwrap();
    assert!(read(&system, "stan.config.yml").contains("stanPath: \"tools/stan\"\n"));
    assert!(read(&system, "tools/stan/system/stan.system.md").contains("`tools/stan/context/dependency.state.json`"));
    assert!(read(&system, ".gitignore").contains("tools/stan/.lock\n"));
}

#[test]
fn files_that_change_after_the_plan_are_not_overwritten() {
    let system = repository(&[(".gitignore", "a\n")]);
    let plan = plan(&system, ROOT, ".stan", &InitOptions::default()).unwrap();
    system.set_file("/r/.gitignore", "b\n");
    let before = tree(&system);
    let error = apply(&system, &plan).unwrap_err().to_string();
    assert_eq!(
        error,
        ".gitignore: it changed while stan was at work; run `stan init` again; everything is as it was before"
    );
    assert_eq!(tree(&system), before);
}

/// Fails at one of its effects, and, if configured, at all later ones.
struct Failing {
    inner: MemorySystem,
    effects: std::sync::atomic::AtomicUsize,
    fails_at: usize,
    for_ever: bool,
}

impl Failing {
    fn effect(&self) -> io::Result<()> {
        let effect = self.effects.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let fails = effect == self.fails_at || (self.for_ever && effect > self.fails_at);
        if fails { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }
}

impl SystemLayer for Failing {
    type Inner = MemorySystem;
    fn inner(&self) -> &MemorySystem {
        &self.inner
    }
}

impl WritableLayer for Failing {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.effect()?;
        self.inner.write_atomic(path, bytes)
    }
    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
        self.effect()?;
        self.inner.write_atomic_pieces(path, pieces)
    }
    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.effect()?;
        self.inner.write_atomic_durable(path, bytes)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.effect()?;
        self.inner.create_dir_all(path)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.effect()?;
        self.inner.remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.effect()?;
        self.inner.remove_dir(path)
    }
}

#[test]
fn a_failure_is_rolled_back_or_the_rest_is_reported() {
    let with_block = options(true, Some(AgentsBlock::Add));
    let files = [("AGENTS.md", "x"), (".gitignore", "y"), (".stan/notes", "")];
    for fails_at in 0..8 {
        for for_ever in [false, true] {
            let inner = repository(&files);
            let before = tree(&inner);
            let system = Failing { inner, effects: Default::default(), fails_at, for_ever };
            let plan = plan(&system, ROOT, ".stan", &with_block).unwrap();
            match apply(&system, &plan) {
                Ok(()) => assert_eq!(fails_at, 7, "one folder and six files are seven effects"),
                Err(InitError::Failed { left, .. }) => {
                    let is_as_before = tree(&system.inner) == before;
                    assert_eq!(is_as_before, left.is_empty(), "{fails_at} {left:?}");
                    assert!(for_ever || left.is_empty(), "{fails_at} {left:?}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}
