//! `cargo xtask bench suggest`: how much of a change `stan suggest` finds when it is told a third of it.
//!
//! Two consecutive releases of a package stand for a commit: the older one is the repository, and the files that differ
//! are the change. Every third of them is given as the focus; counted is the share of the others in the proposal, beside
//! two plain ways to spend the same budget. Quality is measured here, not time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::corpus::Package;
use super::fetch::Store;
use super::suggest_pairs::{PAIRS, Pair};
use crate::Result;

#[derive(clap::Args)]
pub(crate) struct SuggestOptions {
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(super) stan: Option<PathBuf>,
    /// Rewrite the part of docs/benchmarks.md about it.
    #[arg(long)]
    write: bool,
}

/// The budget, in percent of the package's tokens.
const BUDGET: u64 = 30;
const PAGE: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- bench suggest: begin -->";
const END: &str = "<!-- bench suggest: end -->";

/// Whether the proposals are ahead of all baselines.
pub(super) fn run(root: &Path, stan: &Path, options: &SuggestOptions) -> Result<bool> {
    let store = Store::open(root)?;
    let mut rows = Vec::new();
    for pair in PAIRS {
        let row = measure(&store, stan, pair).map_err(|error| format!("{}: {error}", pair.name))?;
        eprintln!("{}", row.line());
        rows.push(row);
    }
    let text = table(&rows);
    print!("{text}");
    if options.write {
        let page = root.join(PAGE);
        let old = std::fs::read_to_string(&page).unwrap_or_default();
        std::fs::write(&page, with_section(&old, &text))?;
    }
    let means = means(&rows);
    Ok(means[1..].iter().all(|baseline| means[0] > *baseline))
}

/// The page with this section instead of the one it had, or behind everything else.
fn with_section(page: &str, text: &str) -> String {
    let section = format!("{BEGIN}\n\n{text}\n{END}\n");
    match (page.find(BEGIN), page.find(END)) {
        (Some(begin), Some(end)) if begin < end => {
            let rest = page[end + END.len()..].trim_start_matches('\n');
            format!("{}{section}{rest}", &page[..begin])
        }
        _ => format!("{}\n\n{section}", page.trim_end()),
    }
}

/// A rewritten page that keeps the section of the old one.
pub(super) fn kept_section(old: &str, new: &str) -> String {
    match (old.find(BEGIN), old.find(END)) {
        (Some(begin), Some(end)) if begin < end => {
            format!("{}\n\n{}\n", new.trim_end(), &old[begin..end + END.len()])
        }
        _ => new.to_owned(),
    }
}

/// Ours first, then the baselines.
const WAYS: [&str; 4] = ["suggest", "same folder", "breadth-first", "dependencies only"];

struct Row {
    name: String,
    files: usize,
    changed: usize,
    focus: usize,
    shares: [f64; 4],
}

impl Row {
    fn line(&self) -> String {
        let shares = self.shares.map(|share| format!("{:>4.0} %", share * 100.0)).join(" | ");
        format!("| {:<47} | {:>5} | {:>7} | {:>5} | {shares} |", self.name, self.files, self.changed, self.focus)
    }
}

fn means(rows: &[Row]) -> [f64; 4] {
    std::array::from_fn(|way| rows.iter().map(|row| row.shares[way]).sum::<f64>() / rows.len().max(1) as f64)
}

fn table(rows: &[Row]) -> String {
    let means = means(rows);
    let mut text = String::from("## stan suggest\n\nWritten by `cargo xtask bench suggest --write`.\n\n");
    text.push_str(
        "Two consecutive releases of a package stand for a commit: the older one is the repository, the files that differ\n\
         are the change. Every third of them is the focus; the budget is 30 % of the package's o200k tokens. Shown is the\n\
         share of the *other* changed files in the proposal. Baselines with the same budget, both skipping what does not\n\
         fit: files of the same folder and then of the nearest ones; breadth-first over imports and importers, and over\n\
         imports alone. The pairs are the newest of each package with 50 to 1,000 sources in one folder, at least 9 and\n\
         less than 40 % of them changed. The weights of the ranking were chosen among 26 variants on 51 such pairs of other sizes\n\
         too, these among them; the same variant is the best on the 31 pairs that are not shown here.\n\n",
    );
    let _ = writeln!(text, "| {:<47} | files | changed | focus | {} |", "releases", WAYS.join(" | "));
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for row in rows {
        text.push_str(&row.line());
        text.push('\n');
    }
    let mean = means.map(|share| format!("**{:.1} %**", share * 100.0)).join(" | ");
    let _ = writeln!(text, "| mean of {} | | | | {mean} |", rows.len());
    let ratios: Vec<String> =
        (1..WAYS.len()).map(|way| format!("{:.2}× {}", means[0] / means[way], WAYS[way])).collect();
    let _ = writeln!(text, "\nsuggest holds {}.", ratios.join(", "));
    text
}

/// The graph of the older release: tokens and neighbours of every source.
struct Sources {
    tokens: BTreeMap<String, u64>,
    imports: BTreeMap<String, BTreeSet<String>>,
    importers: BTreeMap<String, BTreeSet<String>>,
}

fn measure(store: &Store, stan: &Path, pair: &Pair) -> Result<Row> {
    let old = unpacked(store, pair, &pair.old)?;
    let new = unpacked(store, pair, &pair.new)?;
    let sources = sources(stan, &old)?;
    // Every release changes its manifest, which says nothing about the change.
    let changed: Vec<&str> = sources
        .tokens
        .keys()
        .map(String::as_str)
        .filter(|id| id.starts_with(&format!("{}/", pair.sources)))
        .filter(|id| std::fs::read(new.join(id)).ok() != std::fs::read(old.join(id)).ok())
        .collect();
    let focus: Vec<&str> = changed.iter().copied().step_by(3).collect();
    let others: Vec<&str> = changed.iter().copied().filter(|id| !focus.contains(id)).collect();
    let budget = sources.tokens.values().sum::<u64>() * BUDGET / 100;
    let proposed = suggest(stan, &old, &focus, budget)?;
    let proposed: BTreeSet<String> = proposed.into_keys().collect();
    let sets = [
        proposed,
        sources.fill(&focus, sources.by_folder(&focus), budget),
        sources.fill(&focus, sources.breadth_first(&focus, true), budget),
        sources.fill(&focus, sources.breadth_first(&focus, false), budget),
    ];
    let share = |set: &BTreeSet<String>| {
        others.iter().filter(|id| set.contains(**id)).count() as f64 / others.len().max(1) as f64
    };
    Ok(Row {
        name: format!("{} {} → {}", pair.name, pair.old.version, pair.new.version),
        files: sources.tokens.len(),
        changed: changed.len(),
        focus: focus.len(),
        shares: std::array::from_fn(|way| share(&sets[way])),
    })
}

/// The release as a repository that holds its sources and manifest alone: what is built from them changes along.
fn unpacked(store: &Store, pair: &Pair, package: &Package) -> Result<PathBuf> {
    let name = format!("{}@{}", pair.name.trim_start_matches('@').replace('/', "-"), package.version);
    let folder = store.scratch("suggest").join(name);
    if folder.join(".git").exists() {
        return Ok(folder);
    }
    let archive = store.archive(package)?;
    let whole = store.scratch("incoming-suggest");
    let _ = std::fs::remove_dir_all(&whole);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&whole)?;
    std::fs::create_dir_all(&folder)?;
    super::fetch::unpack(&archive, &whole)?;
    for kept in ["package.json", "tsconfig.json", pair.sources] {
        if whole.join(kept).exists() {
            std::fs::rename(whole.join(kept), folder.join(kept))?;
        }
    }
    remove_declarations(&folder)?;
    super::fetch::make_repository(&folder)?;
    Ok(folder)
}

/// Declarations beside JavaScript are made by the build and change with it.
fn remove_declarations(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            remove_declarations(&entry.path())?;
        } else if [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| name.ends_with(end)) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn sources(stan: &Path, folder: &Path) -> Result<Sources> {
    let map = json(stan, folder, &["graph".into(), "--meta".into(), "--no-cache".into()])?;
    let nodes = map["n"].as_object().ok_or("the map has no nodes")?;
    let is_source = |id: &str| nodes.get(id).is_some_and(|node| node["k"] == 0);
    let ids: Vec<&str> = nodes.keys().map(String::as_str).filter(|id| is_source(id)).collect();
    // With everything as the focus and no limit the program tells the tokens of every file.
    let tokens = suggest(stan, folder, &ids, u64::MAX / 8)?;
    let (mut imports, mut importers) = (BTreeMap::new(), BTreeMap::new());
    for id in &ids {
        for edge in nodes[*id]["e"].as_array().into_iter().flatten() {
            let Some(target) = edge[0].as_str().filter(|target| is_source(target)) else { continue };
            imports.entry((*id).to_owned()).or_insert_with(BTreeSet::new).insert(target.to_owned());
            importers.entry(target.to_owned()).or_insert_with(BTreeSet::new).insert((*id).to_owned());
        }
    }
    Ok(Sources { tokens, imports, importers })
}

/// What the program proposes: sources with their tokens.
fn suggest(stan: &Path, folder: &Path, focus: &[&str], budget: u64) -> Result<BTreeMap<String, u64>> {
    let mut arguments: Vec<String> = ["suggest", "--json", "--no-cache", "--budget"].map(str::to_owned).to_vec();
    arguments.push(budget.to_string());
    arguments.push("--focus".to_owned());
    arguments.extend(focus.iter().map(|id| (*id).to_owned()));
    let report = json(stan, folder, &arguments)?;
    let nodes = report["nodes"].as_array().ok_or("the report has no nodes")?;
    let one = |node: &Value| Some((node["nodeId"].as_str()?.to_owned(), node["tokens"].as_u64()?));
    Ok(nodes.iter().filter_map(one).collect())
}

fn json(stan: &Path, folder: &Path, arguments: &[String]) -> Result<Value> {
    let output = Command::new(stan).arg("-C").arg(folder).args(arguments).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let first: Vec<String> = String::from_utf8_lossy(&output.stderr).lines().take(4).map(str::to_owned).collect();
        return Err(format!("stan {} failed: {}", arguments[0], first.join(" ")).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

impl Sources {
    /// The focus and whatever still fits, in the given order.
    fn fill(&self, focus: &[&str], order: Vec<String>, budget: u64) -> BTreeSet<String> {
        let mut taken: BTreeSet<String> = focus.iter().map(|id| (*id).to_owned()).collect();
        let mut total: u64 = taken.iter().map(|id| self.tokens[id]).sum();
        for id in order {
            let tokens = self.tokens[&id];
            if !taken.contains(&id) && total + tokens <= budget {
                total += tokens;
                taken.insert(id);
            }
        }
        taken
    }

    fn by_folder(&self, focus: &[&str]) -> Vec<String> {
        let folders: BTreeSet<Vec<&str>> = focus.iter().map(|id| folders_of(id)).collect();
        let distance = |id: &str| {
            let own = folders_of(id);
            let to = |other: &Vec<&str>| {
                let shared = own.iter().zip(other).take_while(|(left, right)| left == right).count();
                own.len() + other.len() - 2 * shared
            };
            folders.iter().map(to).min().unwrap_or(0)
        };
        let mut order: Vec<(usize, String)> = self.tokens.keys().map(|id| (distance(id), id.clone())).collect();
        order.sort();
        order.into_iter().map(|(_, id)| id).collect()
    }

    fn breadth_first(&self, focus: &[&str], both_ways: bool) -> Vec<String> {
        let mut seen: BTreeSet<&str> = focus.iter().copied().collect();
        let mut queue: VecDeque<&str> = focus.iter().copied().collect();
        let mut order = Vec::new();
        while let Some(id) = queue.pop_front() {
            let outgoing = self.imports.get(id).into_iter().flatten();
            let incoming = self.importers.get(id).filter(|_| both_ways).into_iter().flatten();
            let next: BTreeSet<&str> = outgoing.chain(incoming).map(String::as_str).collect();
            for id in next {
                if seen.insert(id) {
                    order.push(id.to_owned());
                    queue.push_back(id);
                }
            }
        }
        order
    }
}

fn folders_of(id: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = id.split('/').collect();
    parts.pop();
    parts
}
