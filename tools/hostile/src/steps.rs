//! Every command in every form, in the order in which they run on a tree, and what each may write.
//!
//! The arguments are exactly what a user would type in the repository. Files in a tree's `given` are passed to the command for
//! their kind, by the prefix of their names.

use std::path::{Path, PathBuf};

use super::process::Machine;

/// The files that a command may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Nothing,
    /// Anything below stan's own folder.
    Own,
    /// The files that `stan init` reports.
    Setup,
    /// A file or folder named on the command line; always below `given`.
    Named,
    /// As `Named`, and anything below stan's own folder: a command that writes to the given path and has a cache.
    NamedAndOwn,
    /// Files of the repository that a reply may change, but nothing of git and nothing behind a symlink.
    Reply,
}

/// The outputs that a second run must reproduce if the first one succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    Output,
    /// Reports contain the changes since the last run, so only the archive is equal.
    Archive,
    SuccessOnly,
    /// Not run again: each run goes one step further.
    Never,
}

/// One command.
#[derive(Clone, Debug)]
pub(super) struct HostileStep {
    pub(super) is_x07: bool,
    pub(super) arguments: Vec<String>,
    pub(super) writes: Writes,
    pub(super) repeats: Repeats,
}

impl HostileStep {
    pub(super) fn program<'m>(&self, machine: &'m Machine) -> &'m Path {
        if self.is_x07 { &machine.x07 } else { &machine.stan }
    }

    /// Whether this is a documented exit code. No tree may cause 4, an internal error.
    pub(super) fn allows(&self, code: i32) -> bool {
        if self.is_x07 { matches!(code, 0 | 2 | 20) } else { (0..=3).contains(&code) }
    }

    /// Whether standard output is one JSON document.
    pub(super) fn prints_json(&self) -> bool {
        let has = |word: &str| self.arguments.iter().any(|argument| argument == word);
        let is = |word: &str| self.arguments.first().is_some_and(|first| first == word);
        let is_map = is("graph") && has("--meta");
        !is("completions") && !is("man") && (has("--json") || is_map || (self.is_x07 && !has("--out")))
    }

    pub(super) fn shown(&self) -> String {
        format!("{} {}", if self.is_x07 { "x07" } else { "stan" }, self.arguments.join(" "))
    }
}

/// The forms of each command, in the order of a thread: explore, archive, select, archive again, check, set up.
const STAN: &[(&str, Writes, Repeats)] = &[
    ("graph --no-cache --json", Writes::Nothing, Repeats::Output),
    ("select --json --no-cache", Writes::Nothing, Repeats::Output),
    ("run --plan --json", Writes::Nothing, Repeats::Output),
    ("run --context --plan --json", Writes::Nothing, Repeats::Output),
    ("init --dry-run --agents --json", Writes::Nothing, Repeats::Output),
    ("state validate --json", Writes::Nothing, Repeats::Output),
    ("graph", Writes::Own, Repeats::Output),
    ("graph --json", Writes::Own, Repeats::Output),
    ("graph --meta", Writes::Own, Repeats::Output),
    ("graph --meta --pretty --threads 1", Writes::Own, Repeats::Output),
    ("graph --format dot", Writes::Own, Repeats::Output),
    ("graph --format mermaid", Writes::Own, Repeats::Output),
    ("graph --cycles", Writes::Own, Repeats::Output),
    ("graph --cycles --json", Writes::Own, Repeats::Output),
    ("graph src/main.ts --json", Writes::Own, Repeats::Output),
    ("graph src/main.ts --dependents", Writes::Own, Repeats::Output),
    ("graph ../secret.txt --json", Writes::Own, Repeats::Output),
    ("run --json", Writes::Own, Repeats::Archive),
    ("verify --json", Writes::Nothing, Repeats::Output),
    ("run --context --json", Writes::Own, Repeats::Archive),
    ("verify", Writes::Nothing, Repeats::Output),
    ("select --json", Writes::Own, Repeats::Output),
    ("check ../given/reply.md --json --budget 1000", Writes::Nothing, Repeats::Output),
    ("run --context --frozen --json --tokens bytes4", Writes::Own, Repeats::Archive),
    ("run --context --meta", Writes::Own, Repeats::Archive),
    ("suggest --focus src/main.ts --budget 5000 --json", Writes::Own, Repeats::Output),
    ("suggest --changed --budget 5000 --json --tokens bytes4", Writes::Own, Repeats::Output),
    ("suggest --log ../given/build.log --budget 5000 --json --tokens bytes4", Writes::Own, Repeats::Output),
    ("suggest --focus src/main.ts:9 --budget 9000000 --write --tokens bytes4", Writes::Own, Repeats::SuccessOnly),
    ("state migrate --json", Writes::Own, Repeats::Output),
    ("run --context --pretty", Writes::Own, Repeats::Archive),
    ("select --tokens bytes4", Writes::Own, Repeats::Output),
    ("check ../given/reply.md --seen", Writes::Nothing, Repeats::Output),
    ("snap --json", Writes::Own, Repeats::SuccessOnly),
    ("init --json", Writes::Setup, Repeats::SuccessOnly),
    ("init --agents", Writes::Setup, Repeats::SuccessOnly),
    ("init --force", Writes::Setup, Repeats::SuccessOnly),
    ("init --agents=remove", Writes::Setup, Repeats::SuccessOnly),
    ("run", Writes::Own, Repeats::Archive),
    ("map", Writes::Own, Repeats::Output),
    ("map --json --focus src/main.ts --budget 2000", Writes::Own, Repeats::Output),
    ("deps src/main.ts --json", Writes::Own, Repeats::Output),
    ("dependents src/cart.ts --depth 3", Writes::Own, Repeats::Output),
    ("cycles --json", Writes::Own, Repeats::Output),
    ("export ../given/dataset --format ndjson --tokens bytes4", Writes::NamedAndOwn, Repeats::SuccessOnly),
    ("export ../given/dataset --tokens bytes4 --no-cache --json --prune", Writes::Named, Repeats::SuccessOnly),
    ("outline src/main.ts --json", Writes::Nothing, Repeats::Output),
    ("symbol total --json", Writes::Nothing, Repeats::Output),
    ("read src/main.ts package.json --level signature --json", Writes::Nothing, Repeats::Output),
    ("find total cart --json", Writes::Own, Repeats::Output),
    ("pack ../given/build.log --json", Writes::Own, Repeats::Output),
    ("pack --at src/main.ts:1 --budget 4000", Writes::Own, Repeats::Output),
    ("pack --focus src/cart.ts --changed --json", Writes::Own, Repeats::Output),
    ("suggest --about total --budget 5000 --json --tokens bytes4", Writes::Own, Repeats::Output),
    ("apply ../given/reply.md --dry-run --json", Writes::Own, Repeats::Output),
    ("mcp", Writes::Own, Repeats::SuccessOnly),
    ("apply ../given/whole.md --no-archive --json", Writes::Reply, Repeats::SuccessOnly),
    ("apply ../given/whole.md --dry-run --strict", Writes::Own, Repeats::Output),
    ("apply --undo --json", Writes::Reply, Repeats::Never),
    ("snap list --json", Writes::Own, Repeats::Output),
    ("snap undo --json", Writes::Own, Repeats::Never),
    ("snap redo --json", Writes::Own, Repeats::Never),
    ("snap set 0 --json", Writes::Own, Repeats::SuccessOnly),
    // No tree has scripts with these names, so nothing may be started.
    ("run -s evidence --json", Writes::Own, Repeats::SuccessOnly),
    ("run --context -s ../evidence -s build", Writes::Own, Repeats::SuccessOnly),
    ("completions bash", Writes::Nothing, Repeats::Output),
    ("man", Writes::Nothing, Repeats::Output),
    ("man --out ../given/man", Writes::Named, Repeats::Output),
];

const X07: &[(&str, Writes, Repeats)] = &[
    ("ast slice --in ../given/module.x07.json --ptr /decls/0", Writes::Nothing, Repeats::Output),
    ("ast slice --in ../given/module.x07.json --ptr /decls/0/body --max-bytes 300", Writes::Nothing, Repeats::Output),
    (
        "ast slice --in ../given/module.x07.json --ptr /decls/1 --out ../given/slice.json",
        Writes::Named,
        Repeats::Output,
    ),
    ("agent context --diag ../given/diagnostics.json --project ../given/x07.json", Writes::Nothing, Repeats::Output),
];

/// The kind of files in `given`, by the prefix of their names, and the arguments around their paths.
const GIVEN: &[(&str, &str, &str, Writes)] = &[
    ("archive-", "verify", "--json", Writes::Nothing),
    ("archive-", "check ../given/reply.md --json --archive", "", Writes::Nothing),
    ("reply-", "check", "--json", Writes::Nothing),
    ("reply-", "check", "--seen --budget 10", Writes::Nothing),
    ("reply-", "apply --dry-run --json", "", Writes::Own),
    ("reply-", "apply --no-archive --json", "", Writes::Reply),
    ("state-", "state validate", "--json", Writes::Nothing),
    ("state-", "select --json --no-cache --state", "", Writes::Nothing),
    ("meta-", "select --json --no-cache --meta", "", Writes::Nothing),
    ("log-", "suggest --no-cache --budget 5000 --json --tokens bytes4 --log", "", Writes::Nothing),
    ("log-", "pack --budget 2000 --json", "", Writes::Own),
    ("config-", "graph --no-cache --json --config", "", Writes::Nothing),
    ("ast-", "x07 ast slice --ptr /decls/0 --in", "", Writes::Nothing),
    ("ast-", "x07 ast slice --json --enclosure module --ptr /decls/0/body/1 --in", "", Writes::Nothing),
    ("diag-", "x07 agent context --project ../given/x07.json --diag", "", Writes::Nothing),
    ("project-", "x07 agent context --diag ../given/diagnostics.json --project", "", Writes::Nothing),
];

/// The few commands that run while the tree is being changed.
pub(super) fn racing() -> Vec<HostileStep> {
    let words =
        ["run --json", "run --context --json", "graph --meta", "graph --no-cache --json", "run --context --plan"];
    words.iter().map(|words| step(words, Writes::Own, Repeats::SuccessOnly)).collect()
}

/// All commands for a tree; `given` is the folder of files that are passed to them.
pub(super) fn all(given: &Path) -> Vec<HostileStep> {
    let mut steps: Vec<HostileStep> =
        STAN.iter().map(|(words, writes, repeats)| step(words, *writes, *repeats)).collect();
    steps.extend(X07.iter().map(|(words, writes, repeats)| x07(words, *writes, *repeats)));
    for name in names(given) {
        for (_, before, after, writes) in GIVEN.iter().filter(|(start, ..)| name.starts_with(start)) {
            let path = format!("../given/{name}");
            let words = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let mut arguments = words(before.strip_prefix("x07 ").unwrap_or(before));
            arguments.push(path);
            arguments.extend(words(after));
            let is_x07 = before.starts_with("x07 ");
            // The wrapper of the x07 toolchain reports the elapsed time.
            let tells_time = is_x07 && arguments.iter().any(|argument| argument == "--json");
            let repeats = match (tells_time, *writes) {
                (_, Writes::Reply) => Repeats::Never,
                (true, _) => Repeats::SuccessOnly,
                (false, _) => Repeats::Output,
            };
            steps.push(HostileStep { is_x07, arguments, writes: *writes, repeats });
        }
    }
    // A user who types the name of a symlink does not know its target.
    for link in links(&given.with_file_name("repo")) {
        for words in ["read", "outline", "pack --at", "deps", "map --focus", "suggest --tokens bytes4 --focus"] {
            let mut one = step(words, Writes::Own, Repeats::Output);
            one.arguments.push(link.clone() + if words == "pack --at" { ":1" } else { "" });
            steps.push(one);
        }
    }
    steps
}

/// A few symlinks at the top of the repository and in its sources.
fn links(repository: &Path) -> Vec<String> {
    const MAX_FOUND: usize = 3;
    let found = ["", "src/"].into_iter().flat_map(|folder| {
        let is_link = move |name: &String| repository.join(folder).join(name).is_symlink();
        names(&repository.join(folder)).into_iter().filter(is_link).map(move |name| format!("{folder}{name}"))
    });
    found.take(MAX_FOUND).collect()
}

fn step(words: &str, writes: Writes, repeats: Repeats) -> HostileStep {
    let arguments = words.split_whitespace().map(str::to_owned).collect();
    HostileStep { is_x07: false, arguments, writes, repeats }
}

fn x07(words: &str, writes: Writes, repeats: Repeats) -> HostileStep {
    HostileStep { is_x07: true, ..step(words, writes, repeats) }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// The paths of the programs if none are given.
pub(super) fn released(workspace: &Path, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    target.join("release").join(name)
}
