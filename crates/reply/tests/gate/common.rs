//! A small workspace for the tests of the gate, and helpers for their tables.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use stan_model::document::state::{Entry, State};
use stan_reply::{ChangedFiles, CheckOptions, ClosureSize, ReplyFacts, Report, check};

pub(crate) const STATE: &str = ".stan/context/dependency.state.json";
pub(crate) const META: &str = ".stan/context/dependency.meta.json";
pub(crate) const ZOD: &str = ".stan/context/npm/zod/4.0.0/index.d.ts";
pub(crate) const ZOD_COPY: &str = ".stan/imports/zod/index.d.ts";
pub(crate) const STATEMENT: &str = "dependency.state.json: no change";

/// Archived: `src/a.ts`, `src/b.ts`, `src/ctx.md`, the system documents, the imports, map and state. Only in map and repository:
/// `src/far.ts`. Only in the repository: `ignored/x.ts`. Edges: a → b → far, z → zod.
pub(crate) struct World {
    pub(crate) archive: BTreeMap<String, Vec<u8>>,
    pub(crate) repository: BTreeSet<String>,
    pub(crate) map: BTreeMap<String, Vec<String>>,
    pub(crate) state: Option<Vec<u8>>,
    pub(crate) changed: RefCell<ChangedFiles>,
}

impl World {
    pub(crate) fn new() -> Self {
        let ten: String = (1..=10).map(|line| format!("{line}\n")).collect();
        let files = [
            ("src/a.ts", ten.as_str()),
            ("src/b.ts", ten.as_str()),
            ("src/my file.ts", ten.as_str()),
            ("src/no-newline.ts", "1\n2"),
            (".stan/system/stan.scratch.md", "why\n"),
            (".stan/system/stan.todo.md", "todo\n"),
            (".stan/system/stan.system.md", "rules\n"),
            (ZOD_COPY, "zod\n"),
            (META, "{\"v\":2,\"n\":{}}\n"),
            (STATE, "{\"v\":2,\"i\":[\"src/a.ts\"]}\n"),
        ];
        let map = [
            ("src/a.ts", vec!["src/b.ts"]),
            ("src/b.ts", vec!["src/far.ts"]),
            ("src/far.ts", vec![]),
            ("src/z.ts", vec![ZOD]),
            (ZOD, vec![]),
        ];
        let archive: BTreeMap<String, Vec<u8>> =
            files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect();
        let others = ["src/far.ts", "ignored/x.ts", ".stan/context/dependency.map.json", ".stan/output/archive.tar"];
        let repository = archive.keys().cloned().chain(others.map(str::to_owned)).collect();
        let map = map.into_iter().map(|(id, to)| (id.to_owned(), to.into_iter().map(str::to_owned).collect()));
        Self {
            state: archive.get(STATE).cloned(),
            archive,
            repository,
            map: map.collect(),
            changed: RefCell::default(),
        }
    }

    /// Without the map, so the mode is off.
    pub(crate) fn off() -> Self {
        let mut world = Self::new();
        world.archive.remove(META);
        world
    }

    pub(crate) fn report(&self, reply: &str, options: CheckOptions) -> Report {
        check(reply, self, &options)
    }

    fn closure(&self, entry: &Entry) -> BTreeSet<String> {
        let mut reached = BTreeSet::from([entry.node.clone()]);
        let mut front = vec![entry.node.clone()];
        for _ in 0..entry.depth.min(10) {
            front = front.iter().flat_map(|id| self.map.get(id).cloned().unwrap_or_default()).collect();
            reached.extend(front.iter().cloned());
        }
        reached
    }
}

impl ReplyFacts for World {
    fn stan_path(&self) -> &str {
        ".stan"
    }

    fn archived(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        self.archive.get(path).map(|bytes| Cow::Borrowed(bytes.as_slice()))
    }

    fn has_archived_below(&self, folder: &str) -> bool {
        self.archive.keys().any(|path| path.starts_with(&format!("{folder}/")))
    }

    fn exists(&self, path: &str) -> bool {
        self.repository.contains(path)
    }

    fn first_unarchived_below(&self, folder: &str) -> Option<String> {
        let folder = format!("{folder}/");
        self.repository.iter().find(|path| path.starts_with(&folder) && !self.archive.contains_key(*path)).cloned()
    }

    fn is_mapped(&self, id: &str) -> bool {
        self.map.contains_key(id)
    }

    fn state(&self) -> Option<Cow<'_, [u8]>> {
        self.state.as_deref().map(Cow::Borrowed)
    }

    fn selected(&self, state: &State) -> Vec<String> {
        let all = |entries: &[Entry]| entries.iter().flat_map(|entry| self.closure(entry)).collect::<BTreeSet<_>>();
        all(&state.include).difference(&all(&state.exclude)).cloned().collect()
    }

    fn closure_size(&self, entry: &Entry) -> ClosureSize {
        let count = self.closure(entry).len() as u64;
        ClosureSize { bytes: count * 100, tokens: count * 25 }
    }

    fn imported_copy(&self, external: &str) -> Option<String> {
        (external == ZOD).then(|| ZOD_COPY.to_owned())
    }

    fn tokens_after(&self, state: &State, changed: &ChangedFiles) -> u64 {
        self.changed.borrow_mut().clone_from(changed);
        self.selected(state).len() as u64 * 100
            + changed.values().flatten().map(|bytes| bytes.len() as u64).sum::<u64>()
    }
}

/// The codes of a report: `0001 0005`.
pub(crate) fn codes(report: &Report) -> String {
    let found: BTreeSet<&str> =
        report.findings.iter().map(|finding| finding.code.trim_start_matches("STAN-REPLY-")).collect();
    found.into_iter().collect::<Vec<_>>().join(" ")
}

/// Every finding has a position and a remedy.
pub(crate) fn assert_complete(report: &Report, reply: &str) {
    let lines = u32::try_from(reply.lines().count().max(1)).unwrap_or(u32::MAX);
    for finding in &report.findings {
        assert!((1..=lines).contains(&finding.line), "{finding:?}");
        assert!(!finding.message.is_empty() && !finding.remedy.is_empty(), "{finding:?}");
        assert!(finding.excerpt.start <= finding.excerpt.end, "{finding:?}");
    }
}

pub(crate) fn expect_in(world: &World, options: CheckOptions, reply: &str, expected: &str) {
    let report = world.report(reply, options);
    assert_complete(&report, reply);
    assert_eq!(codes(&report), expected, "{reply}\n{:#?}", report.findings);
}

/// Checks a reply in the default workspace.
pub(crate) fn expect(reply: &str, expected: &str) {
    expect_in(&World::new(), CheckOptions::default(), reply, expected);
}

/// Checks a reply with the mode off.
pub(crate) fn expect_off(reply: &str, expected: &str) {
    expect_in(&World::off(), CheckOptions::default(), reply, expected);
}

/// The end of a hard-gate reply.
pub(crate) const GATE: &str =
    "Please run `stan run --context` for a new archive.\n\n## Commit Message\n\n```\nwhy\n```\n";

/// A patch block.
pub(crate) fn patch(path: &str, diff: &str) -> String {
    format!("### Patch: {path}\n\n```diff\n{diff}```\n\n")
}

/// A diff that changes line 5 of a file with ten lines.
pub(crate) fn edit_diff(path: &str) -> String {
    format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n")
}

pub(crate) fn edit(path: &str) -> String {
    patch(path, &edit_diff(path))
}

pub(crate) fn create_diff(path: &str, text: &str) -> String {
    let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let count = text.lines().count();
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{added}"
    )
}

pub(crate) fn create(path: &str) -> String {
    patch(path, &create_diff(path, "new\n"))
}

pub(crate) fn delete(path: &str) -> String {
    let removed: String = (1..=10).map(|line| format!("-{line}\n")).collect();
    let header = format!("diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n");
    patch(path, &format!("{header}@@ -1,10 +0,0 @@\n{removed}"))
}

/// Replaces the only line of the state.
pub(crate) fn state_diff(after: &str) -> String {
    let added: String = after.lines().map(|line| format!("+{line}\n")).collect();
    let count = after.lines().count();
    format!(
        "diff --git a/{STATE} b/{STATE}\n--- a/{STATE}\n+++ b/{STATE}\n@@ -1 +1,{count} @@\n-{{\"v\":2,\"i\":[\"src/a.ts\"]}}\n{added}"
    )
}

pub(crate) fn state(after: &str) -> String {
    patch(STATE, &state_diff(after))
}

pub(crate) fn scratch() -> String {
    let path = ".stan/system/stan.scratch.md";
    patch(path, &format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-why\n+because\n"))
}

/// The section with these list items.
pub(crate) fn input(bullets: &[&str]) -> String {
    let bullets: String = bullets.iter().map(|bullet| format!("- {bullet}\n")).collect();
    format!("## Input Data Changes\n\n{bullets}\n")
}

/// A section that says that the state is unchanged and that these files are present.
pub(crate) fn present(paths: &[&str]) -> String {
    let lines: Vec<String> = paths.iter().map(|path| format!("`{path}` — present: yes")).collect();
    let mut bullets: Vec<&str> = lines.iter().map(String::as_str).collect();
    bullets.push(STATEMENT);
    input(&bullets)
}

pub(crate) fn operations(lines: &str) -> String {
    format!("### File Ops\n\n```\n{lines}\n```\n\n")
}
