//! The overview of a repository: the map as text that a model can read, within a token budget (spec 20 §6). Each code file has
//! one line below its folder, with tokens, exported names, imports, importers and tests. Pure: the caller passes in the facts of
//! the files and the token counter.
//!
//! To fit, lines lose their details: names on imports, imports and tests, descriptions, exported names; then folders become one
//! line. The rest of the budget is spent on details again, first on files near the focus and large files. The grammar of the
//! lines is in `docs/formats.md`; `read` parses it.

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

/// A file of the repository in the overview.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewFile {
    /// Root-relative.
    pub path: String,
    /// Has a line. Other files are counted.
    pub is_code: bool,
    /// In bytes. Used to put large files first, because it does not depend on the tokenizer.
    pub size: u64,
    pub tokens: u64,
    /// Names that the file declares and exports, by descending use, each with the number of files in other folders that import
    /// it.
    pub exports: Vec<(Box<str>, u32)>,
    /// Other names that it declares (not exported, or methods), in source order, without duplicates.
    pub declared: Vec<Box<str>>,
    /// Files of the repository that it depends on, ascending, without duplicates.
    pub imports: Vec<OverviewImport>,
    /// The number of files of the repository that depend on it.
    pub importers: u32,
    /// The tests that depend on it, as indices of files, nearest first.
    pub tests: Vec<u32>,
    /// A single line.
    pub description: Option<Box<str>>,
}

/// A dependency of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewImport {
    /// Index of the file.
    pub target: u32,
    /// The imported names.
    pub names: Vec<Box<str>>,
}

/// A package that the repository uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewPackage {
    pub name: String,
    /// Empty if it is not installed.
    pub version: String,
    /// The number of files of the repository that use it.
    pub importers: u32,
}

/// The input of an overview.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewInput {
    /// Sorted by path.
    pub files: Vec<OverviewFile>,
    /// By descending use.
    pub packages: Vec<OverviewPackage>,
    /// Lines at the top, each prefixed with `# `.
    pub header: Vec<String>,
    /// Descriptions of folders, by path without the trailing slash (the root is empty), sorted.
    pub folders: Vec<(String, Box<str>)>,
}

/// How much to show, and the focus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewOptions {
    /// In tokens; 0 for every file and dependency.
    pub budget: u64,
    /// Without a budget: imports have names, and files all exported names, if the whole text has at most this many tokens; 0 for
    /// no limit.
    pub names_within: u64,
    /// Root-relative paths of folders or files to show in most detail.
    pub focus: Vec<String>,
}

/// The text, and counts of its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub text: String,
    pub tokens: u64,
    /// The number of code files with a line.
    pub listed: usize,
    /// The number of code files that are only counted in the line of a folder.
    pub folded: usize,
}

/// One in this many tokens of a budget is left free.
const MARGIN: u64 = 500;

/// Counts the tokens of a text.
pub type CountTokens<'c> = dyn Fn(&str) -> u64 + 'c;

/// Writes the overview. Its token count according to `count` is at most the budget.
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
    // Implementations of a tokenizer differ by a few tokens: leave a margin, so that the text fits for all of them.
    let budget = options.budget - options.budget / MARGIN;
    let mut target = budget;
    for _ in 0..4 {
        let state = fit::fit(&writer, options, target, count);
        let text = writer.text(&state);
        let found = finish(&writer, text, &state, count);
        if found.tokens <= budget {
            return found;
        }
        // The sum over lines is not exact, so retry with a slightly smaller target.
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

/// As many lines as fit: for budgets below one line per top-level folder.
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
