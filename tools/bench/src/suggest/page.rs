//! The section of docs/benchmarks.md about `stan suggest`.

use std::fmt::Write as _;

use super::cases::QueryMode;
use super::figures::{Figures, OURS, RepositoryRecall, SEARCH};

/// The section as Markdown.
pub(super) fn section(figures: &Figures, levels: &str) -> String {
    let mut text = String::from("## stan suggest\n\nWritten by `cargo xtask bench suggest --cases DIR --write`.\n\n");
    let _ = writeln!(
        text,
        "{} commits of public repositories. A case is a repository at the parent of a commit; given are one file that the commit\n\
         changed, its message without file names, or both; wanted are the other changed sources that are there already. Shown is the\n\
         mean share of them in percent within a budget of tokens beside the focus (a quarter of the bytes for each method), and among\n\
         the first ten files. The repositories are stand-ins with the same paths, sizes, words, definitions, imports and history. The\n\
         weights were fitted on these cases, so expect less on others. The\n\
         program itself is run.\n",
        figures.count(QueryMode::Focus)
    );
    table(&mut text, figures);
    let _ = write!(text, "\n{levels}");
    halves(&mut text, figures);
    losses(&mut text, figures);
    text
}

fn table(text: &mut String, figures: &Figures) {
    let titles = figures.titles();
    let _ = writeln!(text, "| given | method | {} |", titles.join(" | "));
    let _ = writeln!(text, "|---|---|{}", "--:|".repeat(titles.len()));
    let mut last = None;
    for (mode, method) in figures.keys() {
        let given = if last == Some(mode) { "" } else { mode.title() };
        last = Some(mode);
        let given = match (given, mode) {
            (given, QueryMode::Issue) if !given.is_empty() => format!("{given} ({} cases)", figures.count(mode)),
            (given, _) => given.to_owned(),
        };
        let means = figures.means((mode, method));
        let bold = |mean: &f64| if method == OURS { format!("**{mean:.1}**") } else { format!("{mean:.1}") };
        let cells: Vec<String> = means.iter().map(bold).collect();
        let _ = writeln!(text, "| {given} | {method} | {} |", cells.join(" | "));
        if method == SEARCH {
            let ahead: Vec<String> =
                figures.ahead(mode).iter().map(|(low, high)| format!("{low:+.1} … {high:+.1}")).collect();
            let _ = writeln!(text, "| | ahead of {SEARCH} by (95 %) | {} |", ahead.join(" | "));
        }
    }
}

/// Whether the result depends on one half of the repositories.
fn halves(text: &mut String, figures: &Figures) {
    let (middle, ten) = (figures.budgets.len() / 2, figures.budgets.len());
    let titles = figures.titles();
    let shown = |mode: &QueryMode, column: usize| {
        let [one, other] = figures.halves(*mode, column);
        format!("{one:.1} and {other:.1}")
    };
    let modes = [QueryMode::Focus, QueryMode::NoGit, QueryMode::Both, QueryMode::Text, QueryMode::Issue];
    let cells = modes.iter().filter(|mode| figures.count(**mode) > 0).map(|mode| {
        format!(
            "{}: {} at {}, {} in {}",
            mode.title(),
            shown(mode, middle),
            titles[middle],
            shown(mode, ten),
            titles[ten]
        )
    });
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(text, "\n{OURS} on every other repository by name, and on the others: {}.", cells.join("; "));
}

/// The cases in which a search finds more.
fn losses(text: &mut String, figures: &Figures) {
    let middle = figures.budgets.len() / 2;
    let title = figures.titles().get(middle).cloned().unwrap_or_default();
    let _ =
        writeln!(text, "\nBy repository, at {title}: {OURS}, {SEARCH}, and the cases in which {SEARCH} finds more.\n");
    let heads: Vec<&str> = QueryMode::ALL.iter().map(|mode| mode.title()).collect();
    let _ = writeln!(text, "| repository | cases | {} |", heads.join(" | "));
    let _ = writeln!(text, "|---|--:|{}", "--:|".repeat(heads.len()));
    let by_mode = QueryMode::ALL.map(|mode| figures.by_repository(mode, middle));
    for (row, RepositoryRecall { repo, cases, .. }) in by_mode[0].iter().enumerate() {
        let cell = |rows: &Vec<RepositoryRecall>| match rows.get(row) {
            Some(RepositoryRecall { ours, search, lost, .. }) => format!("{ours:.0}, {search:.0}, {lost}"),
            None => String::new(),
        };
        let _ = writeln!(text, "| {repo} | {cases} | {} |", by_mode.each_ref().map(cell).join(" | "));
    }
    let lost: Vec<String> =
        by_mode.iter().map(|rows| rows.iter().map(|row| row.lost).sum::<usize>().to_string()).collect();
    let _ = writeln!(text, "| all: cases lost | {} | {} |", figures.count(QueryMode::Focus), lost.join(" | "));
    let _ = writeln!(text, "\nThe largest losses, at {title}: {OURS} / {SEARCH}.\n");
    for mode in QueryMode::ALL {
        let worst = figures.worst(mode, middle, MAX_LOSSES);
        let cells: Vec<String> =
            worst.iter().map(|lost| format!("{} {:.0} / {:.0}", lost.case, lost.ours, lost.search)).collect();
        let _ = writeln!(text, "- {}: {}", mode.title(), cells.join(", "));
    }
}

/// The number of listed cases per kind of query.
const MAX_LOSSES: usize = 8;
