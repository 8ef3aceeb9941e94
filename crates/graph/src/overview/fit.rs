//! What is shown within a budget. Lines lose their details first, then folders are folded; what is left of the budget brings
//! back what was removed last. Tokens of lines are added up here; whether the whole text fits is checked by the caller.

use super::CountTokens;
use super::OverviewOptions;
use super::line::{
    BARE_EDGES, EDGES, FEW_EXPORTS, FULL, HIDDEN, NAME_ONLY, NO_IMPORTS, NO_NAMES, ONLY_EDGES, TWO_EXPORTS, file_line,
    folder_line, packages_line, rest_line, summary_line,
};
use super::references::common_segments;
use super::text::{State, Writer};

/// Packages that are named within a budget; a tenth of it is the most that they may take.
const MOST_PACKAGES: usize = 40;
/// What the line about hidden files may cost.
const REST: u64 = 40;

pub(super) fn fit(writer: &Writer<'_>, options: &OverviewOptions, target: u64, count: &CountTokens<'_>) -> State {
    let mut fit = Fit::new(writer, options, target, count);
    fit.fix_frame();
    let lines: u64 = fit.costs.iter().sum();
    let with_others = fit.fixed + fit.folder_lines(true) + lines;
    let without = fit.fixed + fit.folder_lines(false) + lines;
    if without <= target {
        fit.state.with_others = with_others <= target;
        fit.refine(if with_others <= target { with_others } else { without }, &[NO_IMPORTS, NO_NAMES, FULL]);
    } else {
        fit.state.with_others = false;
        if !fit.names_fit() {
            fit.fold(without);
        }
    }
    fit.state
}

/// Every file and dependency, with names on imports as far as they are wanted.
pub(super) fn everything(writer: &Writer<'_>, options: &OverviewOptions, count: &CountTokens<'_>) -> State {
    let all = State::everything(writer.folders, writer.input.files.len());
    if options.names_within == 0 || count(&writer.text(&all)) <= options.names_within {
        return all;
    }
    let mut fit = Fit::new(writer, options, options.names_within, count);
    fit.state = State::everything(writer.folders, writer.input.files.len());
    let rising = [BARE_EDGES, ONLY_EDGES, EDGES, NO_NAMES, FULL];
    // The highest of the first two that fits, or else the lowest.
    for (index, level) in rising.into_iter().enumerate().take(2).rev() {
        fit.state.levels.fill(level);
        fit.costs = fit.costs_at(level);
        let total = count(&writer.text(&fit.state));
        if total <= options.names_within || index == 0 {
            fit.refine(total, rising.get(index + 1..).unwrap_or_default());
            break;
        }
    }
    fit.state
}

struct Fit<'a> {
    writer: &'a Writer<'a>,
    count: &'a CountTokens<'a>,
    target: u64,
    /// Tokens that are there whatever is folded.
    fixed: u64,
    /// By file: tokens of its line at the present level.
    costs: Vec<u64>,
    /// By file: how far it is from the focus.
    distances: Vec<u32>,
    /// Code files, the most wanted first.
    order: Vec<u32>,
    state: State,
}

impl<'a> Fit<'a> {
    fn new(writer: &'a Writer<'a>, options: &OverviewOptions, target: u64, count: &'a CountTokens<'a>) -> Self {
        let files = &writer.input.files;
        let distances = distances(writer, &options.focus);
        let mut order: Vec<u32> =
            (0u32..).zip(files).filter(|(_, file)| file.is_code).map(|(index, _)| index).collect();
        // Large files have the most to say, and they are what changes touch most.
        order.sort_by_key(|index| {
            let index = *index as usize;
            let size = files.get(index).map_or(0, |file| file.size);
            (distances.get(index).copied().unwrap_or(0), std::cmp::Reverse(size))
        });
        let mut state = State::everything(writer.folders, files.len());
        state.levels.fill(FEW_EXPORTS);
        let mut fit = Self { writer, count, target, fixed: 0, costs: Vec::new(), distances, order, state };
        fit.costs = fit.costs_at(FEW_EXPORTS);
        fit
    }

    fn costs_at(&self, level: u8) -> Vec<u64> {
        let Writer { input, references, .. } = self.writer;
        let cost = |file: &super::OverviewFile| match file.is_code {
            true => (self.count)(&file_line(input, references, file, level)),
            false => 0,
        };
        input.files.iter().map(cost).collect()
    }

    /// Header and packages.
    fn fix_frame(&mut self) {
        let header = (self.count)(&self.writer.header());
        self.state.with_header = header <= self.target / 3;
        let mut packages = MOST_PACKAGES.min(self.writer.input.packages.len());
        let cost = |most: usize| (self.count)(&packages_line(self.writer.input, most));
        while packages > 0 && cost(packages) > self.target / 10 {
            packages /= 2;
        }
        self.state.packages = packages;
        self.fixed = cost(packages) + if self.state.with_header { header } else { 0 };
    }

    fn folder_lines(&self, with_others: bool) -> u64 {
        let lines = self
            .writer
            .folders
            .all
            .iter()
            .filter(|folder| !folder.files.is_empty() || (with_others && !folder.others.is_empty()));
        lines.map(|folder| (self.count)(&folder_line(folder, with_others))).sum()
    }

    /// Everything has a line: gives details back, level by level, the most wanted files first.
    fn refine(&mut self, mut total: u64, levels: &[u8]) {
        for &level in levels {
            let costs = self.costs_at(level);
            for file in &self.order {
                let index = *file as usize;
                let (Some(old), Some(new)) = (self.costs.get_mut(index), costs.get(index)) else { continue };
                let changed = total + new - (*old).min(total + new);
                if changed <= self.target {
                    total = changed;
                    *old = *new;
                    if let Some(place) = self.state.levels.get_mut(index) {
                        *place = level;
                    }
                }
            }
            let is_complete =
                self.order.iter().all(|file| self.state.levels.get(*file as usize).is_some_and(|now| *now == level));
            if !is_complete {
                break;
            }
        }
    }

    /// Whether every file can at least be named: then the most wanted ones say more, and nothing is folded.
    fn names_fit(&mut self) -> bool {
        let costs = self.costs_at(NAME_ONLY);
        let total = self.fixed + self.folder_lines(false) + costs.iter().sum::<u64>();
        if total > self.target {
            return false;
        }
        self.costs = costs;
        self.state.levels.fill(NAME_ONLY);
        self.refine(total, &[TWO_EXPORTS, FEW_EXPORTS]);
        true
    }

    fn summary(&self, folder: usize) -> u64 {
        let found = self.writer.folders.get(folder);
        found.map_or(0, |folder| (self.count)(&summary_line(folder, self.state.with_names)))
    }

    /// Tokens of a folder's own lines: its path and its files.
    fn own(&self, folder: usize) -> u64 {
        let Some(found) = self.writer.folders.get(folder).filter(|folder| !folder.files.is_empty()) else { return 0 };
        let files = found.files.iter().map(|file| self.costs.get(*file as usize).copied().unwrap_or(0));
        (self.count)(&folder_line(found, false)) + files.sum::<u64>()
    }

    /// Folds folders until the rest fits, then opens the last ones again as far as there is room.
    fn fold(&mut self, mut total: u64) {
        let folders = &self.writer.folders.all;
        // Tokens of all that is shown of a folder and below it. Folders come behind those they lie in.
        let mut shown = vec![0u64; folders.len()];
        for index in (0..folders.len()).rev() {
            let own = self.own(index);
            let parent = folders.get(index).map_or(0, |folder| folder.parent);
            let all = shown.get(index).copied().unwrap_or(0) + own;
            shown[index] = all;
            if index > 0 {
                shown[parent] += all;
            }
        }
        let mut folded = Vec::new();
        for index in self.fold_order() {
            if total <= self.target {
                break;
            }
            let children = self.writer.folders.get(index).map(|folder| folder.children.as_slice()).unwrap_or_default();
            let below: u64 = children.iter().map(|child| shown.get(*child).copied().unwrap_or(0)).sum();
            let (now, summary) = (self.own(index) + below, self.summary(index));
            let is_smaller = summary < now;
            shown[index] = if is_smaller { summary } else { now };
            if is_smaller {
                self.state.folded[index] = true;
                total = total.saturating_sub(now - summary);
                folded.push(index);
            }
        }
        if total > self.target {
            self.shrink_top();
        }
        let mut left = self.target.saturating_sub((self.count)(&self.writer.text(&self.state)));
        for index in folded.into_iter().rev() {
            if left < REST / 4 {
                break;
            }
            if !self.is_within_folded(index) {
                self.open(index, &mut left, &shown);
            }
        }
    }

    /// The farthest from the focus first, then the deepest, then the least used.
    fn fold_order(&self) -> Vec<usize> {
        let folders = &self.writer.folders.all;
        let mut nearest = vec![u32::MAX; folders.len()];
        let mut used = vec![0u64; folders.len()];
        for index in (0..folders.len()).rev() {
            let Some(folder) = folders.get(index) else { continue };
            for file in &folder.files {
                let file = *file as usize;
                nearest[index] = nearest[index].min(self.distances.get(file).copied().unwrap_or(0));
                used[index] += self.writer.input.files.get(file).map_or(0, |file| u64::from(file.importers));
            }
            if index > 0 {
                nearest[folder.parent] = nearest[folder.parent].min(nearest[index]);
                used[folder.parent] += used[index];
            }
        }
        let has_code = |index: &usize| folders.get(*index).is_some_and(|folder| folder.file_count > 0);
        let mut order: Vec<usize> = (1..folders.len()).filter(has_code).collect();
        order.sort_by_key(|index| {
            let depth = folders.get(*index).map_or(0, |folder| folder.depth);
            (std::cmp::Reverse(nearest[*index]), std::cmp::Reverse(depth), used[*index], std::cmp::Reverse(*index))
        });
        order
    }

    fn is_within_folded(&self, folder: usize) -> bool {
        let mut at = folder;
        while at > 0 {
            if self.state.is_hidden(at) {
                return true;
            }
            at = self.writer.folders.get(at).map_or(0, |folder| folder.parent);
            if self.state.is_folded(at) {
                return true;
            }
        }
        false
    }

    /// Even one line for each top-level folder is too much: names go, then files of the root, then the smallest folders.
    fn shrink_top(&mut self) {
        self.state.with_names = false;
        let size = |state: &State| (self.count)(&self.writer.text(state));
        let mut total = size(&self.state);
        let Some(root) = self.writer.folders.get(0) else { return };
        let is_in_root =
            |file: &u32| self.writer.input.files.get(*file as usize).is_some_and(|file| !file.path.contains('/'));
        let mut wanted: Vec<u32> = self.order.iter().copied().filter(is_in_root).collect();
        while total + REST / 2 > self.target
            && let Some(file) = wanted.pop()
        {
            self.state.levels[file as usize] = HIDDEN;
            total = total.saturating_sub(self.costs.get(file as usize).copied().unwrap_or(0));
        }
        let mut tops: Vec<usize> = root.children.clone();
        tops.sort_by_key(|index| std::cmp::Reverse(self.writer.folders.get(*index).map_or(0, |folder| folder.tokens)));
        while total + REST / 2 > self.target
            && let Some(folder) = tops.pop()
        {
            self.state.hidden[folder] = true;
            total = total.saturating_sub(self.summary(folder));
        }
    }

    /// Shows as much of a folded folder as there is room for: the folders in it, then its most wanted files.
    fn open(&mut self, index: usize, left: &mut u64, shown: &[u64]) {
        let Some(folder) = self.writer.folders.get(index) else { return };
        let frame = (self.count)(&folder_line(folder, false)) + REST;
        let Some(mut room) = (*left + self.summary(index)).checked_sub(frame) else { return };
        let mut children: Vec<usize> = folder.children.clone();
        children.retain(|child| self.writer.folders.get(*child).is_some_and(|folder| folder.file_count > 0));
        children
            .sort_by_key(|child| std::cmp::Reverse(self.writer.folders.get(*child).map_or(0, |folder| folder.tokens)));
        let mut files = folder.files.clone();
        files.sort_by_key(|file| {
            let importers = self.writer.input.files.get(*file as usize).map_or(0, |file| file.importers);
            (self.distances.get(*file as usize).copied().unwrap_or(0), std::cmp::Reverse(importers))
        });
        let mut fits = |cost: u64| {
            let fits = cost <= room;
            room -= if fits { cost } else { 0 };
            fits
        };
        let (mut added, mut hides) = (0, false);
        for child in children {
            let is_shown = fits(shown.get(child).copied().unwrap_or(0));
            self.state.hidden[child] = !is_shown;
            added += usize::from(is_shown);
            hides |= !is_shown;
        }
        for file in files {
            let is_shown = fits(self.costs.get(file as usize).copied().unwrap_or(0));
            self.state.levels[file as usize] = if is_shown { FEW_EXPORTS } else { HIDDEN };
            added += usize::from(is_shown);
            hides |= !is_shown;
        }
        if added == 0 {
            return;
        }
        self.state.folded[index] = false;
        let rest = if hides {
            (self.count)(&rest_line(&mut self.writer.rest(folder, &self.state), self.state.with_names))
        } else {
            0
        };
        *left = room + REST.saturating_sub(rest);
    }
}

/// How far each file is from the focus: by its path, or one step when it imports what is in focus or the other way round.
fn distances(writer: &Writer<'_>, focus: &[String]) -> Vec<u32> {
    let files = &writer.input.files;
    if focus.is_empty() {
        return vec![0; files.len()];
    }
    let distance = |path: &str| {
        let to = |focus: &String| {
            let common = common_segments(path, focus);
            let segments = |path: &str| path.split('/').filter(|segment| !segment.is_empty()).count();
            (segments(focus) + segments(path) - 2 * common, segments(focus) == common)
        };
        let least = focus.iter().map(|focus| match to(focus) {
            (_, true) => 0,
            (steps, false) => u32::try_from(steps).unwrap_or(u32::MAX),
        });
        least.min().unwrap_or(0)
    };
    let by_path: Vec<u32> = files.iter().map(|file| distance(&file.path)).collect();
    let mut distances = by_path.clone();
    for (index, file) in files.iter().enumerate() {
        for import in &file.imports {
            let target = import.target as usize;
            for (from, to) in [(index, target), (target, index)] {
                if by_path.get(from) == Some(&0)
                    && let Some(place) = distances.get_mut(to)
                {
                    *place = (*place).min(1);
                }
            }
        }
    }
    distances
}
