//! The laws of the reply gate: Markdown, patches and file operations written by an assistant, and their effects.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use stan_model::document::state::{Entry, State};
use stan_reply::{ChangedFiles, CheckOptions, ClosureSize, ReplyFacts, Report, check};

const STATE: &str = ".stan/context/dependency.state.json";
const META: &str = ".stan/context/dependency.meta.json";
const EXTERNAL: &str = ".stan/context/npm/zod/4.0.0/index.d.ts";
const IMPORTED: &str = ".stan/imports/zod/index.d.ts";

/// The maximum number of findings with one code.
const MAX_OF_ONE_CODE: usize = 1_000;

/// The first byte selects the options. Every finding has a position in the reply, the gate is deterministic, and patched files
/// are inside the repository and no larger than their inputs.
pub fn law(bytes: &[u8]) {
    let Some((&mode, reply)) = bytes.split_first() else { return };
    let reply = String::from_utf8_lossy(reply);
    let options = CheckOptions {
        seen: mode & 1 != 0,
        budget: (mode & 2 != 0).then_some(50),
        strict: mode & 8 != 0,
        ..CheckOptions::default()
    };
    let workspace = Workspace::new(mode & 4 == 0);
    let report = check(&reply, &workspace, &options);
    assert_eq!(report, check(&reply, &workspace, &options), "the same reply has the same report");
    check_report(&report, &reply);
    let (report, plan) = stan_reply::plan(&reply, &workspace, &options);
    check_report(&report, &reply);
    assert_eq!((report, plan.clone()), stan_reply::plan(&reply, &workspace, &options), "and the same plan");
    for path in plan.files.keys().chain(&plan.made_folders).chain(&plan.removed_folders) {
        let is_inside = !path.starts_with('/') && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        assert!(is_inside, "{path:?} would be written");
    }
    let archived: usize = workspace.archive.values().map(Vec::len).sum();
    let changed = workspace.changed.borrow();
    for (path, contents) in changed.iter() {
        let is_inside = !path.starts_with('/') && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        assert!(is_inside, "{path:?} would be changed");
        let size = contents.as_ref().map_or(0, |bytes| bytes.len());
        assert!(size <= archived + reply.len(), "{path} would have {size} bytes");
    }
}

fn check_report(report: &Report, reply: &str) {
    let lines: Vec<&str> = reply.split('\n').collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &report.findings {
        let line = (finding.line as usize).checked_sub(1).and_then(|line| lines.get(line));
        let line = line.unwrap_or_else(|| panic!("the reply has {} lines: {finding:?}", lines.len()));
        assert!((1..=line.chars().count() + 1).contains(&(finding.column as usize)), "{finding:?}");
        assert!(!finding.message.is_empty() && !finding.remedy.is_empty(), "{finding:?}");
        let excerpt = &finding.excerpt;
        assert!(excerpt.start <= excerpt.end && excerpt.end as usize <= excerpt.text.chars().count(), "{finding:?}");
        assert!(!excerpt.text.contains(char::is_control), "{finding:?}");
        let count = counts.entry(finding.code).or_default();
        *count += 1;
        assert!(*count <= MAX_OF_ONE_CODE, "{} findings of {}", count, finding.code);
    }
    assert!(report.findings.is_sorted_by_key(|finding| (finding.line, finding.code, finding.column)));
}

/// A small workspace: `src/a.ts` → `src/b.ts` → `src/far.ts`; the last one is not archived.
struct Workspace {
    archive: BTreeMap<String, Vec<u8>>,
    changed: RefCell<ChangedFiles>,
}

impl Workspace {
    fn new(has_map: bool) -> Self {
        let ten: String = (1..=10).map(|line| format!("{line}\n")).collect();
        let files = [
            ("src/a.ts", ten.as_str()),
            ("src/b.ts", ten.as_str()),
            ("src/my file.ts", "1\n2"),
            (".stan/system/stan.scratch.md", "why\n"),
            (".stan/system/stan.todo.md", "todo\n"),
            (IMPORTED, "zod\n"),
            (STATE, "{\"v\":2,\"i\":[\"src/a.ts\"]}\n"),
        ];
        let map = has_map.then_some((META, "{\"v\":2,\"n\":{}}\n"));
        let archive = files.into_iter().chain(map).map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        Self { archive: archive.collect(), changed: RefCell::default() }
    }

    fn closure(entry: &Entry) -> BTreeSet<String> {
        let chain = ["src/a.ts", "src/b.ts", "src/far.ts"];
        let start = chain.iter().position(|id| *id == entry.node);
        let reached = start.and_then(|start| chain.get(start..)).unwrap_or_default();
        let depth = usize::try_from(entry.depth).unwrap_or(usize::MAX).saturating_add(1);
        reached.iter().take(depth).map(|id| (*id).to_owned()).chain([entry.node.clone()]).collect()
    }
}

impl ReplyFacts for Workspace {
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
        path == "src/far.ts" || self.archive.contains_key(path)
    }

    fn first_unarchived_below(&self, folder: &str) -> Option<String> {
        (folder == "src").then(|| "src/far.ts".to_owned())
    }

    fn is_mapped(&self, id: &str) -> bool {
        ["src/a.ts", "src/b.ts", "src/far.ts", EXTERNAL].contains(&id)
    }

    fn state(&self) -> Option<Cow<'_, [u8]>> {
        self.archived(STATE)
    }

    fn selected(&self, state: &State) -> Vec<String> {
        let all = |entries: &[Entry]| entries.iter().flat_map(Self::closure).collect::<BTreeSet<_>>();
        all(&state.include).difference(&all(&state.exclude)).cloned().collect()
    }

    fn closure_size(&self, entry: &Entry) -> ClosureSize {
        let count = Self::closure(entry).len() as u64;
        ClosureSize { bytes: count * 100, tokens: count * 25 }
    }

    fn imported_copy(&self, external: &str) -> Option<String> {
        (external == EXTERNAL).then(|| IMPORTED.to_owned())
    }

    fn tokens_after(&self, state: &State, changed: &ChangedFiles) -> u64 {
        self.changed.borrow_mut().clone_from(changed);
        self.selected(state).len() as u64 * 10 + changed.values().flatten().map(|bytes| bytes.len() as u64).sum::<u64>()
    }
}
