//! Decides which folders are open if not every file can have a line. All are folded at first; then folders with the highest value
//! per token are opened. The value of a folder is the number of imports of its files, and its lines may take about that share of
//! the budget. So folders that the rest of the code uses are open, and a folder of many small files (examples, samples of a
//! manual) is one line while the budget is small.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::fit::Fit;
use super::line::{HIDDEN, NAME_ONLY, folder_line, rest_line};

/// Tokens reserved for the line about hidden files.
const REST: u64 = 40;
/// The line of a folder is less informative than that of a file, so its tokens count this many times.
const FOLDED_COST: u64 = 2;

/// A folder with at least a quarter of all imports and files is opened in part if it does not fit, but a quarter of the room is
/// left.
const MAIN: u64 = 4;

/// A folded folder that can be opened: nearest to the focus first, then by value per token.
type Candidate = (Reverse<u32>, u64, Reverse<usize>);

/// A line of an open folder: a file, or a folder in it.
#[derive(Clone, Copy)]
enum FolderLine {
    File(u32),
    Folder(usize),
}

/// The value of each folder, computed before any is opened.
pub(super) struct FolderValues {
    /// By folder: the distance of its nearest file from the focus.
    nearest: Vec<u32>,
    /// By folder: the number of imports of the files below it plus the number of these files.
    below: Vec<u64>,
    /// By folder: the tokens of its line while it is folded.
    summaries: Vec<u64>,
}

impl Fit<'_> {
    /// Folds everything but the root, and hides the root's files.
    pub(super) fn fold_all(&mut self, room: u64) -> FolderValues {
        let folders = &self.writer.folders.all;
        self.state.folded = folders.iter().map(|folder| folder.file_count > 0).collect();
        self.state.folded[0] = false;
        self.state.levels.fill(NAME_ONLY);
        for file in folders.first().map(|root| root.files.as_slice()).unwrap_or_default() {
            self.state.levels[*file as usize] = HIDDEN;
        }
        self.hide_series();
        if self.text_tokens() > room {
            self.state.with_names = false;
        }
        let values = self.folder_values();
        self.hide_tops(room, &values);
        values
    }

    /// Opens folders until the text has `room` tokens. With `shares`, folders are opened completely or not at all, and none takes
    /// more than `shares` times its share of the room. Without it, as much of each folder is shown as there is room for.
    pub(super) fn unfold(&mut self, room: u64, shares: Option<u64>, values: &FolderValues) {
        let Some(mut left) = room.checked_sub(self.text_tokens()) else { return };
        let folders = &self.writer.folders.all;
        let closed = (0..folders.len()).filter(|index| self.is_closed(*index));
        let mut candidates: BinaryHeap<Candidate> = closed.filter_map(|index| self.candidate(index, values)).collect();
        let mut deferred = VecDeque::new();
        loop {
            while let Some((Reverse(distance), _, Reverse(index))) = candidates.pop() {
                let cost = self.cost(index, values, 1);
                let is_focus = distance == 0 && self.has_focus;
                // The folder that most of the code uses must not stay folded just because its lines do not all fit.
                let is_main = index > 0 && self.value(index, values) * MAIN >= values.below[0] && left * MAIN >= room;
                if (is_focus || is_main) && cost > left {
                    let opened = self.open_in_part(index, &mut left, values, is_focus);
                    candidates.extend(opened.into_iter().filter_map(|index| self.candidate(index, values)));
                    continue;
                }
                let share = |shares: u64| shares * room * self.value(index, values) / values.below[0].max(1);
                let is_above = |shares: u64| self.cost(index, values, FOLDED_COST) > share(shares);
                if cost > left || (!is_focus && shares.is_some_and(is_above)) {
                    deferred.push_back(index);
                    continue;
                }
                left -= cost.saturating_sub(values.summaries[index]);
                let items = self.items(index);
                let opened = self.show(index, &items);
                candidates.extend(opened.into_iter().filter_map(|index| self.candidate(index, values)));
            }
            let Some(index) = deferred.pop_front().filter(|_| shares.is_none()) else { break };
            let opened = self.open_in_part(index, &mut left, values, false);
            candidates.extend(opened.into_iter().filter_map(|index| self.candidate(index, values)));
        }
    }

    fn folder_values(&self) -> FolderValues {
        let folders = &self.writer.folders.all;
        let mut nearest = vec![u32::MAX; folders.len()];
        let mut below = vec![0u64; folders.len()];
        for index in (0..folders.len()).rev() {
            let Some(folder) = folders.get(index) else { continue };
            for file in &folder.files {
                nearest[index] = nearest[index].min(self.distances.get(*file as usize).copied().unwrap_or(0));
                below[index] += self.value_of_file(*file);
            }
            if index > 0 {
                nearest[folder.parent] = nearest[folder.parent].min(nearest[index]);
                below[folder.parent] += below[index];
            }
        }
        let summaries = (0..folders.len()).map(|index| if index > 0 { self.summary(index) } else { 0 }).collect();
        FolderValues { nearest, below, summaries }
    }

    fn value_of_file(&self, file: u32) -> u64 {
        1 + self.writer.input.files.get(file as usize).map_or(0, |file| u64::from(file.importers))
    }

    fn value_of(&self, item: FolderLine, values: &FolderValues) -> u64 {
        match item {
            FolderLine::File(file) => self.value_of_file(file),
            FolderLine::Folder(folder) => values.below[folder],
        }
    }

    /// Whether a folder has one line, or is the root with hidden files.
    fn is_closed(&self, index: usize) -> bool {
        let Some(folder) = self.writer.folders.get(index) else { return false };
        let parent = folder.parent;
        let is_hidden = |file: &u32| self.state.level(*file) == HIDDEN;
        match index {
            0 => folder.files.iter().any(is_hidden),
            _ => self.state.is_folded(index) && !self.state.is_hidden(index) && self.is_open(parent),
        }
    }

    /// Whether no parent of a folder is folded or hidden.
    fn is_open(&self, folder: usize) -> bool {
        let mut at = folder;
        while at > 0 {
            if self.state.is_folded(at) || self.state.is_hidden(at) {
                return false;
            }
            at = self.writer.folders.get(at).map_or(0, |folder| folder.parent);
        }
        true
    }

    /// The lines of a folder once it is open. The root is always open; only its files can be missing.
    fn items(&self, index: usize) -> Vec<FolderLine> {
        let Some(folder) = self.writer.folders.get(index) else { return Vec::new() };
        let has_code = |child: &usize| self.writer.folders.get(*child).is_some_and(|child| child.file_count > 0);
        let children = folder.children.iter().copied().filter(|child| index > 0 && has_code(child));
        let is_listed = |file: &u32| folder.series.binary_search(file).is_err() || !self.is_counted(*file);
        folder
            .files
            .iter()
            .copied()
            .filter(is_listed)
            .map(FolderLine::File)
            .chain(children.map(FolderLine::Folder))
            .collect()
    }

    fn cost_of(&self, item: FolderLine, values: &FolderValues) -> u64 {
        match item {
            FolderLine::File(file) => self.costs.get(file as usize).copied().unwrap_or(0),
            FolderLine::Folder(folder) => values.summaries[folder],
        }
    }

    /// The tokens of an open folder; lines of folders in it count `folded` times.
    fn cost(&self, index: usize, values: &FolderValues, folded: u64) -> u64 {
        let times = |item: &FolderLine| if matches!(item, FolderLine::Folder(_)) { folded } else { 1 };
        let lines: u64 = self.items(index).into_iter().map(|item| times(&item) * self.cost_of(item, values)).sum();
        let own = self.writer.folders.get(index).filter(|folder| index > 0 && !folder.files.is_empty());
        lines + own.map_or(0, |folder| (self.count)(&folder_line(folder, false)))
    }

    fn candidate(&self, index: usize, values: &FolderValues) -> Option<Candidate> {
        let cost = self.cost(index, values, FOLDED_COST);
        let distance = |file: &u32| self.distances.get(*file as usize).copied().unwrap_or(0);
        let nearest = match index {
            0 => self.root_files().iter().map(distance).min().unwrap_or(u32::MAX),
            _ => values.nearest[index],
        };
        (cost > 0).then(|| (Reverse(nearest), self.value(index, values) * 1_000 / cost, Reverse(index)))
    }

    fn root_files(&self) -> &[u32] {
        self.writer.folders.get(0).map(|root| root.files.as_slice()).unwrap_or_default()
    }

    /// The root's value is that of its files: everything else is in other folders.
    fn value(&self, index: usize, values: &FolderValues) -> u64 {
        match index {
            0 => self.root_files().iter().map(|file| self.value_of_file(*file)).sum(),
            _ => values.below[index],
        }
    }

    /// Opens a folder with these lines; returns the folders among them.
    fn show(&mut self, index: usize, items: &[FolderLine]) -> Vec<usize> {
        self.state.folded[index] = false;
        let mut folders = Vec::new();
        for item in items {
            match *item {
                FolderLine::File(file) => self.state.levels[file as usize] = NAME_ONLY,
                FolderLine::Folder(folder) => {
                    self.state.hidden[folder] = false;
                    folders.push(folder);
                }
            }
        }
        folders
    }

    /// Shows as much of a folded folder as there is room for: first the lines with the highest value per token, or only the lines
    /// of the folders above the focus.
    fn open_in_part(&mut self, index: usize, left: &mut u64, values: &FolderValues, only_focus: bool) -> Vec<usize> {
        let Some(folder) = self.writer.folders.get(index) else { return Vec::new() };
        // The root's frame and a line for its files are included already.
        let frame = if index > 0 { (self.count)(&folder_line(folder, false)) + REST } else { 0 };
        let Some(mut room) = (*left + values.summaries[index]).checked_sub(frame) else { return Vec::new() };
        let distance = |item: &FolderLine| match *item {
            FolderLine::File(file) => self.distances.get(file as usize).copied().unwrap_or(0),
            FolderLine::Folder(folder) => values.nearest[folder],
        };
        let rank = |item: &FolderLine| {
            let value = match *item {
                FolderLine::Folder(_) => self.value_of(*item, values).isqrt(),
                FolderLine::File(_) => self.value_of(*item, values),
            };
            (distance(item), Reverse(value * 1_000 / self.cost_of(*item, values).max(1)))
        };
        let mut items = self.items(index);
        items.sort_by_cached_key(rank);
        let (shown, hidden): (Vec<FolderLine>, Vec<FolderLine>) = items.into_iter().partition(|item| {
            let cost = self.cost_of(*item, values);
            let fits = cost <= room && (!only_focus || distance(item) == 0);
            room -= if fits { cost } else { 0 };
            fits
        });
        // Opening must not hide the one folder that all others use: the line of the folded folder is better than a few of its
        // files without that.
        let sum: u64 = shown.iter().map(|item| self.value_of(*item, values)).sum();
        let largest = hidden.iter().map(|item| self.value_of(*item, values)).max().unwrap_or(0);
        if shown.is_empty() || (index > 0 && !only_focus && sum < largest) {
            return Vec::new();
        }
        let opened = self.show(index, &shown);
        for item in &hidden {
            match *item {
                FolderLine::File(file) => self.state.levels[file as usize] = HIDDEN,
                FolderLine::Folder(folder) => self.state.hidden[folder] = true,
            }
        }
        *left = room;
        if index > 0 {
            let rest = || (self.count)(&rest_line(&mut self.writer.rest(folder, &self.state), self.state.with_names));
            *left += REST.saturating_sub(if hidden.is_empty() { 0 } else { rest() });
        }
        opened
    }

    /// If even one line per top-level folder is too much: the smallest folders outside of the focus are only counted.
    fn hide_tops(&mut self, room: u64, values: &FolderValues) {
        let mut total = self.text_tokens();
        let Some(root) = self.writer.folders.get(0).filter(|_| total > room) else { return };
        let mut tops: Vec<usize> = root.children.clone();
        let tokens = |index: &usize| self.writer.folders.get(*index).map_or(0, |folder| folder.tokens);
        tops.sort_by_key(|index| (values.nearest[*index], Reverse(tokens(index))));
        while total + REST / 2 > room
            && let Some(folder) = tops.pop()
        {
            self.state.hidden[folder] = true;
            total = total.saturating_sub(values.summaries[folder]);
        }
    }
}
