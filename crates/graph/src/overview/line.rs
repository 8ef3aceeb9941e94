//! Single lines of the overview. Each ends with a line break, so that their token counts can be summed.

use super::folders::{Folder, keep_top};
use super::names::{push_list, push_text, push_word, short};
use super::ranking::RankedName;
use super::references::{References, split};
use super::{OverviewFile, OverviewInput};

/// The number of names that remain when the others are removed.
pub(super) const FIRST_NAMES: usize = 5;
/// The number of named tests; the others are counted.
const MAX_TESTS: usize = 2;
/// The number of named kinds of other files; the rest is one count.
const MAX_KINDS: usize = 3;

/// How much detail the line of a file has: everything, no names on imports, no imports.
pub(super) const FULL: u8 = 0;
pub(super) const NO_NAMES: u8 = 1;
pub(super) const NO_IMPORTS: u8 = 2;
/// Some of its names, with or without its description.
pub(super) const DESCRIBED: u8 = 3;
pub(super) const SOME_NAMES: u8 = 4;
/// Only without a budget: no names on imports, and few exports.
pub(super) const EDGES: u8 = 5;
/// Only without a budget, if `EDGES` is too large: no exports.
pub(super) const ONLY_EDGES: u8 = 6;
/// Only the name.
pub(super) const NAME_ONLY: u8 = 7;
/// Only without a budget, if `ONLY_EDGES` is too large: the name and its imports.
pub(super) const BARE_EDGES: u8 = 8;
/// The file has no line.
pub(super) const HIDDEN: u8 = 9;

/// ` name [tokens <importers exports : other names > imports ~ tests # description]`. `names` are those worth showing.
pub(super) fn file_line(
    input: &OverviewInput,
    references: &References<'_>,
    file: &OverviewFile,
    level: u8,
    names: &[RankedName<'_>],
) -> String {
    let (folder, name) = split(&file.path);
    let mut line = String::with_capacity(64);
    line.push(' ');
    push_word(&mut line, name);
    if level == BARE_EDGES {
        push_bare_imports(&mut line, references, file);
    }
    if matches!(level, NAME_ONLY | BARE_EDGES) {
        line.push('\n');
        return line;
    }
    line.push(' ');
    line.push_str(&short(file.tokens));
    if file.importers > 0 {
        line.push_str(&format!(" <{}", file.importers));
    }
    match level {
        FULL..DESCRIBED => {
            push_exports(&mut line, file, usize::MAX);
            push_declared(&mut line, names);
        }
        DESCRIBED | SOME_NAMES => push_names(&mut line, file, names),
        EDGES => push_exports(&mut line, file, FIRST_NAMES),
        _ => {}
    }
    if level < NO_IMPORTS || matches!(level, EDGES | ONLY_EDGES) {
        push_imports(&mut line, input, references, file, level == FULL);
    }
    if level < NO_IMPORTS {
        push_tests(&mut line, references, folder, &file.tests);
    }
    if level <= DESCRIBED
        && let Some(description) = &file.description
    {
        line.push_str(" # ");
        push_text(&mut line, description);
    }
    line.push('\n');
    line
}

fn push_exports(line: &mut String, file: &OverviewFile, most: usize) {
    if file.exports.is_empty() || most == 0 {
        return;
    }
    line.push(' ');
    push_list(line, file.exports.iter().take(most).map(|(name, _)| &**name));
    if file.exports.len() > most {
        line.push_str(&format!(", +{}", file.exports.len() - most));
    }
}

/// ` : names`: declarations that the file does not export.
fn push_declared(line: &mut String, names: &[RankedName<'_>]) {
    let mut declared = names.iter().filter(|name| !name.is_exported).map(|name| name.text).peekable();
    if declared.peek().is_some() {
        line.push_str(" : ");
        push_list(line, declared);
    }
}

/// ` exported, names, +3 : declared, names`
fn push_names(line: &mut String, file: &OverviewFile, names: &[RankedName<'_>]) {
    let exported = names.iter().filter(|name| name.is_exported);
    let count = exported.clone().count();
    if count > 0 {
        line.push(' ');
        push_list(line, exported.map(|name| name.text));
        if file.exports.len() > count {
            line.push_str(&format!(", +{}", file.exports.len() - count));
        }
    }
    push_declared(line, names);
}

fn push_imports(
    line: &mut String,
    input: &OverviewInput,
    references: &References<'_>,
    file: &OverviewFile,
    with_names: bool,
) {
    let folder = split(&file.path).0;
    for (index, import) in file.imports.iter().enumerate() {
        line.push_str(if index == 0 { " > " } else { "; " });
        push_word(line, &references.name(folder, import.target));
        let target = input.files.get(import.target as usize);
        // If the target has only one export, the name is redundant.
        let is_told = target
            .is_some_and(|target| matches!(target.exports.as_slice(), [(only, _)] if import.names == [only.clone()]));
        if with_names && !import.names.is_empty() && !is_told {
            line.push(' ');
            push_list(line, import.names.iter().map(|name| &**name));
        }
    }
}

/// ` >> reference reference`: imports without their names.
fn push_bare_imports(line: &mut String, references: &References<'_>, file: &OverviewFile) {
    let folder = split(&file.path).0;
    for (index, import) in file.imports.iter().enumerate() {
        line.push_str(if index == 0 { " >> " } else { " " });
        push_word(line, &references.name(folder, import.target));
    }
}

fn push_tests(line: &mut String, references: &References<'_>, folder: &str, tests: &[u32]) {
    for (index, test) in tests.iter().take(MAX_TESTS).enumerate() {
        line.push_str(if index == 0 { " ~ " } else { " " });
        push_word(line, &references.name(folder, *test));
    }
    if tests.len() > MAX_TESTS {
        line.push_str(&format!(" +{}", tests.len() - MAX_TESTS));
    }
}

fn push_folder(line: &mut String, folder: &Folder<'_>) {
    if folder.path.is_empty() {
        line.push_str("./");
    } else {
        push_word(line, &format!("{}/", folder.path));
    }
}

/// ` # description`
fn push_description(line: &mut String, folder: &Folder<'_>) {
    if let Some(description) = folder.description {
        line.push_str(" # ");
        push_text(line, description);
    }
}

/// `path/ + 3 png, 2 json # description`
pub(super) fn folder_line(folder: &Folder<'_>, with_others: bool) -> String {
    let mut line = String::new();
    push_folder(&mut line, folder);
    if with_others && !folder.others.is_empty() {
        line.push_str(" +");
        let mut kinds: Vec<(&str, u64)> = folder.others.iter().map(|(kind, count)| (*kind, *count)).collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rest: u64 = kinds.iter().skip(MAX_KINDS).map(|(_, count)| count).sum();
        kinds.truncate(MAX_KINDS);
        if rest > 0 {
            kinds.push(("more", rest));
        }
        for (index, (kind, count)) in kinds.into_iter().enumerate() {
            line.push_str(if index == 0 { " " } else { ", " });
            line.push_str(&format!("{count} "));
            push_word(&mut line, kind);
        }
    }
    if with_others {
        push_description(&mut line, folder);
    }
    line.push('\n');
    line
}

/// `path/ * 12 files 34k names # description`: a folder with everything below it.
pub(super) fn summary_line(folder: &Folder<'_>, with_names: bool) -> String {
    let mut line = String::new();
    push_folder(&mut line, folder);
    let files = if folder.file_count == 1 { "file" } else { "files" };
    line.push_str(&format!(" * {} {files} {}", folder.file_count, short(folder.tokens)));
    if with_names && !folder.top.is_empty() {
        line.push(' ');
        push_list(&mut line, folder.top.iter().map(|(_, name)| *name));
    }
    if with_names {
        push_description(&mut line, folder);
    }
    line.push('\n');
    line
}

/// The hidden contents of an open folder.
#[derive(Default)]
pub(super) struct Rest<'f> {
    pub(super) files: u64,
    pub(super) folders: u64,
    pub(super) tokens: u64,
    pub(super) top: Vec<(u32, &'f str)>,
}

/// ` * 12 more files in 3 folders 34k names`
pub(super) fn rest_line(rest: &mut Rest<'_>, with_names: bool) -> String {
    let files = if rest.files == 1 { "file" } else { "files" };
    let mut line = format!(" * {} more {files}", rest.files);
    if rest.folders > 0 {
        let folders = if rest.folders == 1 { "folder" } else { "folders" };
        line.push_str(&format!(" in {} {folders}", rest.folders));
    }
    line.push_str(&format!(" {}", short(rest.tokens)));
    keep_top(&mut rest.top);
    if with_names && !rest.top.is_empty() {
        line.push(' ');
        push_list(&mut line, rest.top.iter().map(|(_, name)| *name));
    }
    line.push('\n');
    line
}

/// `= react 19.0.0 <120, zod <14`: the packages that the repository uses.
pub(super) fn packages_line(input: &OverviewInput, most: usize) -> String {
    if input.packages.is_empty() || most == 0 {
        return String::new();
    }
    let mut line = "=".to_owned();
    for (index, package) in input.packages.iter().take(most).enumerate() {
        line.push_str(if index == 0 { " " } else { ", " });
        push_word(&mut line, &package.name);
        if !package.version.is_empty() {
            line.push(' ');
            push_word(&mut line, &package.version);
        }
        line.push_str(&format!(" <{}", package.importers));
    }
    if input.packages.len() > most {
        line.push_str(&format!(", +{}", input.packages.len() - most));
    }
    line.push('\n');
    line
}
