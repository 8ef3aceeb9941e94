//! The overview of a repository: the map as text that a model can read, within a budget of tokens (spec 20 §6). One line
//! for each code file below its folder, with tokens, exported names, imports, importers and tests. Pure: the caller
//! passes in the facts of the files and the token counter.
//!
//! To fit, lines lose their details: names on imports, imports and tests, descriptions, exported names; then folders become
//! one line. What is left of the budget brings details back, the nearest to the focus and the largest files first. The
//! grammar of the lines is in `docs/formats.md`; `read` reads it.

mod details;
mod fit;
mod folders;
mod levels;
mod line;
mod names;
mod ranking;
pub mod read;
mod references;
#[cfg(test)]
mod tests;
mod text;
mod unfold;

pub use levels::{Unit, aggregate};
pub use names::words;

use self::folders::Folders;
use self::references::References;

/// A file of the repository as the overview shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewFile {
    /// Root-relative.
    pub path: String,
    /// Has a line of its own. Other files are counted.
    pub is_code: bool,
    /// In bytes: what is written of large files first does not depend on the tokenizer.
    pub size: u64,
    pub tokens: u64,
    /// Names that the file declares and exports, the most used first, each with the number of files in other folders that
    /// take it.
    pub exports: Vec<(Box<str>, u32)>,
    /// Other names that it declares, in source order, each once: of what it does not export, and of methods.
    pub declared: Vec<Box<str>>,
    /// Files of the repository that it depends on, each once, ascending.
    pub imports: Vec<OverviewImport>,
    /// How many files of the repository depend on it.
    pub importers: u32,
    /// The tests that depend on it, as indices of files, the nearest first.
    pub tests: Vec<u32>,
    /// One line.
    pub description: Option<Box<str>>,
}

/// A dependency of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewImport {
    /// Index of the file.
    pub target: u32,
    /// The names that are taken.
    pub names: Vec<Box<str>>,
}

/// A package that the repository uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewPackage {
    pub name: String,
    /// Empty when it is not installed.
    pub version: String,
    /// How many files of the repository use it.
    pub importers: u32,
}

/// Everything that an overview is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewInput {
    /// Sorted by path.
    pub files: Vec<OverviewFile>,
    /// The most used first.
    pub packages: Vec<OverviewPackage>,
    /// Lines at the top, each below a `# `.
    pub header: Vec<String>,
    /// What folders are about, by their paths without the last slash (the root is empty), sorted.
    pub folders: Vec<(String, Box<str>)>,
}

/// How much is shown, and around what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewOptions {
    /// In tokens; 0 for every file and dependency.
    pub budget: u64,
    /// Without a budget: imports have names, and files all of their exported names, as long as the whole has at most this many
    /// tokens; 0 for all of them.
    pub names_within: u64,
    /// Root-relative paths of folders or files that are shown in most detail.
    pub focus: Vec<String>,
}

/// The text, and counts of its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub text: String,
    pub tokens: u64,
    /// Code files that have a line.
    pub listed: usize,
    /// Code files that are only counted in the line of a folder.
    pub folded: usize,
}

/// The part of a budget that is left free.
const MARGIN: u64 = 500;

/// How tokens are counted.
pub type CountTokens<'c> = dyn Fn(&str) -> u64 + 'c;

/// Writes the overview. It has at most as many tokens as the budget says, as `count` counts them.
pub fn overview(input: &OverviewInput, options: &OverviewOptions, count: &CountTokens<'_>) -> Overview {
    let folders = Folders::of(input);
    let references = References::of(&input.files);
    let ranked = if options.budget == 0 { Vec::new() } else { ranking::ranked(&input.files) };
    let writer = text::OverviewWriter { input, folders: &folders, references: &references, ranked: &ranked };
    if options.budget == 0 {
        let names_within = options.names_within - options.names_within / MARGIN;
        let all = fit::everything(&writer, &OverviewOptions { names_within, ..options.clone() }, count);
        return finish(&writer, writer.text(&all), &all, count);
    }
    // Implementations of a tokenizer differ by a token here and there: the text stays within the budget for all of them.
    let budget = options.budget - options.budget / MARGIN;
    let mut target = budget;
    for _ in 0..4 {
        let state = fit::fit(&writer, options, target, count);
        let text = writer.text(&state);
        let found = finish(&writer, text, &state, count);
        if found.tokens <= budget {
            return found;
        }
        // Tokens of lines do not always add up: a little less fits.
        target = target.saturating_sub(found.tokens - budget + budget / 100 + 1);
    }
    let state = fit::fit(&writer, options, target / 2, count);
    truncated(&writer.text(&state), budget, count)
}

fn finish(
    writer: &text::OverviewWriter<'_>,
    text: String,
    state: &text::DetailLevels,
    count: &CountTokens<'_>,
) -> Overview {
    let code = writer.input.files.iter().filter(|file| file.is_code).count();
    let listed = state.listed(writer);
    Overview { tokens: count(&text), text, listed, folded: code - listed }
}

/// As many lines as fit: only for budgets that are smaller than a line for each top-level folder.
fn truncated(text: &str, budget: u64, count: &CountTokens<'_>) -> Overview {
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        kept.push_str(line);
        if count(&kept) > budget {
            kept.truncate(kept.len() - line.len());
            break;
        }
    }
    Overview { tokens: count(&kept), text: kept, listed: 0, folded: 0 }
}
