//! `cargo xtask bench suggest`: how many of the files that a real commit changed `stan suggest` finds, compared with simple ways
//! to spend the same budget.
//!
//! A case is a repository at the parent of a commit. The query is one changed file, the commit's message without file names, or
//! both; the other changed sources should be found. Measures quality, not time. The cases and repositories are not part of this
//! one: `--cases` names their folder.

mod baselines;
mod cases;
mod figures;
mod levels;
pub(crate) mod located;
mod page;

use std::path::{Path, PathBuf};

use baselines::Corpus;
use cases::{Case, Program, QueryMode};
use figures::{Figures, METHODS};
use levels::Levels;

use crate::Result;
use crate::section::Section;

/// The section that this task writes into docs/benchmarks.md.
pub(super) const SECTION: Section = Section("suggest");

#[derive(clap::Args)]
pub(crate) struct SuggestOptions {
    /// A folder with `cases.json` and a repository for each case.
    #[arg(long, value_name = "DIR")]
    cases: PathBuf,
    /// Measure this program instead of building it.
    #[arg(long, value_name = "PATH")]
    pub(super) stan: Option<PathBuf>,
    /// Budgets, in tokens of four bytes.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8000,32000,128000")]
    budgets: Vec<u64>,
    /// Only the first cases.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only every N-th case.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// Rewrite its part of docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// Texts in the style of issues, for some of the cases. Made up for this benchmark.
const ISSUES: &str = include_str!("issues.json");

/// Whether the proposals are ahead of BM25 in every mode.
pub(super) fn run(root: &Path, stan: &Path, options: &SuggestOptions) -> Result<bool> {
    let all = cases::read(&options.cases)?;
    let issues = cases::issues(ISSUES)?;
    let chosen = all.into_iter().step_by(options.every.max(1)).take(options.limit.unwrap_or(usize::MAX));
    let mut figures = Figures::new(&options.budgets);
    let mut levels = Levels::default();
    let smallest = options.budgets.first().copied().unwrap_or_default();
    for case in chosen {
        let folder = options.cases.join(&case.directory);
        let scratch = tempfile::tempdir()?;
        let (cache, copy) = (scratch.path().join("cache"), scratch.path().join("copy"));
        let program = Program { stan, folder: &folder, cache: &cache };
        let corpus = Corpus::read(&program, &case).map_err(|error| format!("{}: {error}", case.id))?;
        for mode in QueryMode::ALL {
            measure(&mut figures, &program, &corpus, &case, mode)?;
        }
        levels.add(&program, &case, &corpus.truth(&case, QueryMode::Focus), smallest)?;
        program.copy_without_git(&copy)?;
        let without_git = Program { stan, folder: &copy, cache: &scratch.path().join("other") };
        measure(&mut figures, &without_git, &corpus, &case, QueryMode::NoGit)?;
        if let Some(text) = issues.get(&case.id) {
            let issue = Case { text: text.clone(), ..case.clone() };
            measure(&mut figures, &program, &corpus, &issue, QueryMode::Issue)?;
        }
        eprintln!("{}: {}", case.id, figures.last());
    }
    let text = page::section(&figures, &levels.sentence(smallest));
    print!("{text}");
    if options.write {
        SECTION.write(root, &text)?;
    }
    Ok(figures.is_ahead())
}

/// Adds what each method finds for one case.
fn measure(figures: &mut Figures, program: &Program<'_>, corpus: &Corpus, case: &Case, mode: QueryMode) -> Result<()> {
    let truth = corpus.truth(case, mode);
    if truth.is_empty() {
        return Ok(());
    }
    for method in METHODS.iter().filter(|method| method.answers(mode)) {
        let mut lists = match method.baseline {
            None => program.proposals(case, mode, &figures.budgets)?,
            Some(baseline) => vec![baseline(corpus, case, mode); figures.budgets.len()],
        };
        if mode.has_focus() {
            // The focus is part of the query and does not count.
            lists.iter_mut().for_each(|list| list.retain(|path| *path != case.focus));
        }
        figures.add(mode, method.name, case, |budget| {
            corpus.recall(&truth, lists.get(budget.index).map_or(&[][..], Vec::as_slice), budget)
        });
    }
    Ok(())
}
