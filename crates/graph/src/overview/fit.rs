//! Fits an overview into a budget. First removes all details. If even the names of the files are too many, folds folders
//! (`unfold`). Spends the rest of the budget on details (`details`). Sums the tokens of lines; the caller checks whether the
//! whole text fits.

use super::CountTokens;
use super::OverviewOptions;
use super::line::{
    BARE_EDGES, DESCRIBED, EDGES, FIRST_NAMES, FULL, HIDDEN, NAME_ONLY, NO_NAMES, ONLY_EDGES, SOME_NAMES, file_line,
    folder_line, packages_line, summary_line,
};
use super::references::common_segments;
use super::text::{DetailLevels, OverviewWriter};

/// The maximum number of packages with a budget. They may take a tenth of it.
const MAX_PACKAGES: usize = 40;

pub(super) fn fit(
    writer: &OverviewWriter<'_>,
    options: &OverviewOptions,
    target: u64,
    count: &CountTokens<'_>,
) -> DetailLevels {
    let mut fit = Fit::new(writer, options, target, count);
    fit.fix_frame();
    let rich = fit.fixed + fit.folder_lines(true) + fit.costs_at(SOME_NAMES).iter().sum::<u64>();
    fit.state.with_others = rich <= target;
    if !fit.state.with_others {
        fit.hide_series();
    }
    let names = fit.fixed + fit.folder_lines(false) + fit.costs.iter().sum::<u64>();
    if fit.state.with_others || names <= target {
        fit.add_details(true);
        return fit.state;
    }
    // Keep a third for details of the listed files.
    let room = target - target / 3;
    let values = fit.fold_all(target);
    // Large folders with many importers come before small folders that nothing uses.
    for shares in [Some(2), Some(8), Some(32), None] {
        if fit.text_tokens() < target / 2 {
            fit.unfold(room, shares, &values);
        }
    }
    fit.keep_shown();
    fit.add_details(false);
    if fit.text_tokens() < target - target / 8 {
        fit.unfold(target, None, &values);
        fit.keep_shown();
        fit.add_details(false);
    }
    fit.state
}

/// Lists every file and dependency, with as many names as wanted.
pub(super) fn everything(
    writer: &OverviewWriter<'_>,
    options: &OverviewOptions,
    count: &CountTokens<'_>,
) -> DetailLevels {
    let all = DetailLevels::everything(writer.folders, writer.input.files.len());
    if options.names_within == 0 || count(&writer.text(&all)) <= options.names_within {
        return all;
    }
    let mut fit = Fit::new(writer, options, options.names_within, count);
    fit.state = DetailLevels::everything(writer.folders, writer.input.files.len());
    let rising = [BARE_EDGES, ONLY_EDGES, EDGES, NO_NAMES, FULL];
    // The higher of the first two levels that fits, or else the lowest level.
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

pub(super) struct Fit<'a> {
    pub(super) writer: &'a OverviewWriter<'a>,
    pub(super) count: &'a CountTokens<'a>,
    pub(super) target: u64,
    /// The tokens of the parts that are always shown.
    fixed: u64,
    pub(super) has_focus: bool,
    /// By file: the tokens of its line at its current level.
    pub(super) costs: Vec<u64>,
    /// By file: its distance from the focus.
    pub(super) distances: Vec<u32>,
    /// Code files by descending priority.
    pub(super) order: Vec<u32>,
    pub(super) state: DetailLevels,
}

impl<'a> Fit<'a> {
    fn new(writer: &'a OverviewWriter<'a>, options: &OverviewOptions, target: u64, count: &'a CountTokens<'a>) -> Self {
        let files = &writer.input.files;
        let distances = distances(writer, &options.focus);
        let mut order: Vec<u32> =
            (0u32..).zip(files).filter(|(_, file)| file.is_code).map(|(index, _)| index).collect();
        // Large files first: they contain the most, and most changes touch them.
        order.sort_by_key(|index| {
            let index = *index as usize;
            let size = files.get(index).map_or(0, |file| file.size);
            (distances.get(index).copied().unwrap_or(0), std::cmp::Reverse(size))
        });
        let mut state = DetailLevels::everything(writer.folders, files.len());
        state.levels.fill(NAME_ONLY);
        let (has_focus, costs) = (!options.focus.is_empty(), Vec::new());
        let mut fit = Self { writer, count, target, fixed: 0, has_focus, costs, distances, order, state };
        fit.costs = fit.costs_at(NAME_ONLY);
        fit
    }

    /// Hides the files of numbered series outside of the focus: they are only counted.
    pub(super) fn hide_series(&mut self) {
        for file in self.writer.folders.all.iter().flat_map(|folder| &folder.series) {
            if self.is_counted(*file) {
                self.state.levels[*file as usize] = HIDDEN;
                self.costs[*file as usize] = 0;
            }
        }
        self.order.retain(|file| self.state.level(*file) != HIDDEN);
    }

    /// Whether a file belongs to a series and has no line.
    pub(super) fn is_counted(&self, file: u32) -> bool {
        !self.has_focus || self.distances.get(file as usize) != Some(&0)
    }

    fn costs_at(&self, level: u8) -> Vec<u64> {
        let OverviewWriter { input, references, .. } = self.writer;
        let most = if level < DESCRIBED { usize::MAX } else { FIRST_NAMES };
        let cost = |(index, file): (u32, &super::OverviewFile)| match file.is_code {
            true => (self.count)(&file_line(input, references, file, level, self.writer.ranked_names(index, most))),
            false => 0,
        };
        (0u32..).zip(&input.files).map(cost).collect()
    }

    pub(super) fn costs_now(&self) -> Vec<u64> {
        let cost = |(index, file): (u32, &super::OverviewFile)| match file.is_code {
            true => (self.count)(&self.writer.file(index, &self.state)),
            false => 0,
        };
        (0u32..).zip(&self.writer.input.files).map(cost).collect()
    }

    /// Adds the header and the packages.
    fn fix_frame(&mut self) {
        let header = (self.count)(&self.writer.header());
        self.state.with_header = header <= self.target / 3;
        let mut packages = MAX_PACKAGES.min(self.writer.input.packages.len());
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

    /// If every file has a line: adds details level by level, in the files' priority.
    pub(super) fn refine(&mut self, mut total: u64, levels: &[u8]) {
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

    /// Only listed files get details.
    fn keep_shown(&mut self) {
        let shown = self.writer.shown(&self.state);
        let files = (0u32..).zip(&self.writer.input.files).filter(|(index, _)| shown[*index as usize]);
        self.order = files.map(|(index, _)| index).collect();
    }

    pub(super) fn text_tokens(&self) -> u64 {
        (self.count)(&self.writer.text(&self.state))
    }

    pub(super) fn summary(&self, folder: usize) -> u64 {
        let found = self.writer.folders.get(folder);
        found.map_or(0, |folder| (self.count)(&summary_line(folder, self.state.with_names)))
    }
}

/// The distance of each file from the focus: by its path, or one step if it imports a file in focus or is imported by one.
fn distances(writer: &OverviewWriter<'_>, focus: &[String]) -> Vec<u32> {
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
