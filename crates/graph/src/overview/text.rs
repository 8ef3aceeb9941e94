//! The text of an overview for given levels of detail: which files have a line, and which folders are folded.

use super::OverviewInput;
use super::folders::{Folder, Folders};
use super::line::{
    DESCRIBED, FIRST_NAMES, FULL, HIDDEN, Rest, file_line, folder_line, packages_line, rest_line, summary_line,
};
use super::ranking::RankedName;
use super::references::References;

/// The level of detail of each file and folder.
pub(super) struct DetailLevels {
    /// By file; meaningless for files that are not code.
    pub(super) levels: Vec<u8>,
    /// By file: how many of its ranked names are shown, at the levels that show some.
    pub(super) names: Vec<usize>,
    /// By folder: one line for all files below it.
    pub(super) folded: Vec<bool>,
    /// By folder: not even one line; its parent counts it.
    pub(super) hidden: Vec<bool>,
    pub(super) with_others: bool,
    /// Whether summary lines have names.
    pub(super) with_names: bool,
    pub(super) packages: usize,
    pub(super) with_header: bool,
}

impl DetailLevels {
    pub(super) fn everything(folders: &Folders<'_>, files: usize) -> Self {
        Self {
            levels: vec![FULL; files],
            names: vec![FIRST_NAMES; files],
            folded: vec![false; folders.all.len()],
            hidden: vec![false; folders.all.len()],
            with_others: true,
            with_names: true,
            packages: usize::MAX,
            with_header: true,
        }
    }

    pub(super) fn level(&self, file: u32) -> u8 {
        self.levels.get(file as usize).copied().unwrap_or(HIDDEN)
    }

    pub(super) fn is_folded(&self, folder: usize) -> bool {
        self.folded.get(folder).copied().unwrap_or(false)
    }

    pub(super) fn is_hidden(&self, folder: usize) -> bool {
        self.hidden.get(folder).copied().unwrap_or(false)
    }

    /// The number of code files with a line.
    pub(super) fn listed(&self, writer: &OverviewWriter<'_>) -> usize {
        let mut listed = 0;
        writer.each_open_folder(self, &mut |folder| {
            listed += folder.files.iter().filter(|file| self.level(**file) < HIDDEN).count();
        });
        listed
    }
}

pub(super) struct OverviewWriter<'w> {
    pub(super) input: &'w OverviewInput,
    pub(super) folders: &'w Folders<'w>,
    pub(super) references: &'w References<'w>,
    /// By file: its names, most informative first. Empty without a budget.
    pub(super) ranked: &'w [Vec<RankedName<'w>>],
}

impl<'w> OverviewWriter<'w> {
    pub(super) fn header(&self) -> String {
        self.input.header.iter().map(|line| format!("# {line}\n")).collect()
    }

    pub(super) fn file(&self, file: u32, state: &DetailLevels) -> String {
        let found = self.input.files.get(file as usize);
        let shown = match state.level(file) {
            FULL..DESCRIBED => usize::MAX,
            _ => state.names.get(file as usize).copied().unwrap_or(0),
        };
        let names = self.ranked_names(file, shown);
        found.map(|found| file_line(self.input, self.references, found, state.level(file), names)).unwrap_or_default()
    }

    /// The best names of a file.
    pub(super) fn ranked_names(&self, file: u32, most: usize) -> &[RankedName<'w>] {
        self.ranked.get(file as usize).and_then(|names| names.get(..names.len().min(most))).unwrap_or_default()
    }

    /// The whole text.
    pub(super) fn text(&self, state: &DetailLevels) -> String {
        let mut out = if state.with_header { self.header() } else { String::new() };
        self.push_folders(&mut out, state);
        out.push_str(&packages_line(self.input, state.packages));
        out
    }

    fn push_folders(&self, out: &mut String, state: &DetailLevels) {
        // No recursion: folders can nest as deep as the file system allows.
        let mut pending = vec![0];
        while let Some(at) = pending.pop() {
            let Some(folder) = self.folders.get(at).filter(|_| !state.is_hidden(at)) else { continue };
            if state.is_folded(at) && folder.file_count > 0 {
                out.push_str(&summary_line(folder, state.with_names));
                continue;
            }
            if self.has_line(folder, state) {
                out.push_str(&folder_line(folder, state.with_others));
            }
            for file in folder.files.iter().filter(|file| state.level(**file) < HIDDEN) {
                out.push_str(&self.file(*file, state));
            }
            let mut rest = self.rest(folder, state);
            if rest.files > 0 {
                out.push_str(&rest_line(&mut rest, state.with_names));
            }
            pending.extend(folder.children.iter().rev());
        }
    }

    /// Whether an open folder has a line of its own. A folder without files is only a part of the paths below it.
    pub(super) fn has_line(&self, folder: &Folder<'_>, state: &DetailLevels) -> bool {
        let has_others = state.with_others && !folder.others.is_empty();
        let hides = || folder.children.iter().any(|child| state.is_hidden(*child));
        !folder.files.is_empty() || has_others || hides()
    }

    /// The hidden direct contents of an open folder.
    pub(super) fn rest(&self, folder: &Folder<'w>, state: &DetailLevels) -> Rest<'w> {
        let mut rest = Rest::default();
        for file in folder.files.iter().filter(|file| state.level(**file) >= HIDDEN) {
            let Some(file) = self.input.files.get(*file as usize) else { continue };
            rest.files += 1;
            rest.tokens += file.tokens;
            let used = file.exports.iter().filter(|(_, uses)| *uses > 0);
            rest.top.extend(used.take(2).map(|(name, uses)| (*uses, &**name)));
        }
        for child in folder.children.iter().filter(|child| state.is_hidden(**child)) {
            let Some(child) = self.folders.get(*child) else { continue };
            rest.files += child.file_count;
            rest.folders += u64::from(child.file_count > 0);
            rest.tokens += child.tokens;
            rest.top.extend(&child.top);
        }
        rest
    }

    /// By file: whether it has a line.
    pub(super) fn shown(&self, state: &DetailLevels) -> Vec<bool> {
        let mut shown = vec![false; self.input.files.len()];
        self.each_open_folder(state, &mut |folder| {
            for file in folder.files.iter().filter(|file| state.level(**file) < HIDDEN) {
                shown[*file as usize] = true;
            }
        });
        shown
    }

    fn each_open_folder(&self, state: &DetailLevels, visit: &mut dyn FnMut(&Folder<'_>)) {
        let mut pending = vec![0];
        while let Some(at) = pending.pop() {
            let Some(folder) = self.folders.get(at) else { continue };
            if state.is_hidden(at) || (state.is_folded(at) && folder.file_count > 0) {
                continue;
            }
            visit(folder);
            pending.extend(&folder.children);
        }
    }
}
