//! Fits a pack into a budget: from the costs of every focus and candidate to the items that are shown and those that are left
//! out. The order of reduction is defined in `stan_pack::fit`.

use std::collections::BTreeSet;

use stan_model::document::pack::{PackItem, PackOmitted};
use stan_model::names::Used;
use stan_pack::{Costs, Fitted, Level, PrunePoint, Pruning, Question, fit};

use super::PackRequest;
use super::files::{LoadedFile, PackFiles};
use super::items::{Counter, Draft};
use super::run::{Gathered, Root};

/// Limits of a printed pack: the number of diagnostics, and the part of a message that is counted.
const MAX_DIAGNOSTICS: usize = 20;
const MAX_MESSAGE_CHARS: usize = 600;

/// Limits of the lists "left out" and "not found", and the cost of a line.
const MAX_LINES: usize = 30;
const LINE_TOKENS: u64 = 12;

/// The cost of a printed pack's frame: heading, digest, what was cut.
const FRAME_TOKENS: u64 = 120;

/// The lists take at most this fraction (1/12) of the budget; they are shortened to fit.
const LISTS_PART: u64 = 12;

/// The items that fit.
pub(super) struct FittedItems {
    pub(super) fitted: Fitted,
    pub(super) items: Vec<PackItem>,
    /// The items that do not fit.
    pub(super) omitted: Vec<PackOmitted>,
}

pub(super) struct Fitting<'f, 'p> {
    request: &'f PackRequest,
    files: &'f PackFiles<'p>,
    counter: Counter,
}

impl<'f, 'p> Fitting<'f, 'p> {
    pub(super) fn new(request: &'f PackRequest, files: &'f PackFiles<'p>, counter: Counter) -> Self {
        Self { request, files, counter }
    }

    pub(super) fn fit(&self, gathered: &Gathered) -> FittedItems {
        let budget = self.item_budget(gathered);
        let others: Vec<Costs> = gathered.drafts.iter().map(Draft::costs).collect();
        let whole = |(draft, _): &(Draft, _)| Shrinking::whole(draft);
        let mut focus: Vec<Shrinking> = gathered.focus.iter().map(whole).collect();
        let costs = |focus: &[Shrinking]| focus.iter().map(|one| one.costs.clone()).collect::<Vec<_>>();
        let mut fitted = fit(&costs(&focus), &others, budget);
        if fitted.before > budget.unwrap_or(u64::MAX) {
            // Prune the lines of the focus only now that it is known to be necessary.
            for (one, (draft, roots)) in focus.iter_mut().zip(&gathered.focus) {
                let roots: Vec<&Root> = roots.iter().filter_map(|index| gathered.roots.get(*index)).collect();
                one.prunable(draft, &roots, self.counter);
            }
            fitted = fit(&costs(&focus), &others, budget);
        }
        let (mut items, mut omitted) = (Vec::new(), Vec::new());
        for ((one, step), (draft, _)) in focus.iter().zip(&fitted.focus).zip(&gathered.focus) {
            match one.item(draft, *step, self.files) {
                Some(item) => items.push(item),
                None => omitted.push(draft.omitted()),
            }
        }
        for (draft, level) in gathered.drafts.iter().zip(&fitted.levels) {
            match draft.item(*level, self.files) {
                Some(item) => items.push(item),
                None => omitted.push(draft.omitted()),
            }
        }
        FittedItems { fitted, items, omitted }
    }

    /// The budget minus the cost of the lists. Monotonic in the budget.
    fn item_budget(&self, gathered: &Gathered) -> Option<u64> {
        let budget = Some(self.request.budget).filter(|budget| *budget > 0)?;
        let message = |message: &str| {
            let end = message.char_indices().nth(MAX_MESSAGE_CHARS).map_or(message.len(), |(at, _)| at);
            self.counter.text(message.get(..end).unwrap_or_default())
        };
        let diagnostics = gathered.diagnostics.iter().take(MAX_DIAGNOSTICS);
        let diagnostics: u64 = diagnostics.map(|one| message(&one.message) + 20).sum();
        let lists = gathered.missing.len().min(MAX_LINES) + gathered.drafts.len().min(MAX_LINES);
        let lists = (LINE_TOKENS * lists as u64 + diagnostics).min(budget / LISTS_PART);
        Some(budget - (FRAME_TOKENS + lists).min(budget / 2))
    }
}

/// The steps of reducing a focus: whole, without its comment, pruned.
struct Shrinking {
    costs: Vec<u64>,
    /// How many of the costs precede those of pruning.
    before: usize,
    pruning: Option<Pruning>,
}

impl Shrinking {
    fn whole(draft: &Draft) -> Self {
        let costs = draft.costs();
        let all = if draft.is_refused() { vec![0] } else { vec![costs.at(Level::Full), costs.at(Level::Signature)] };
        Self { before: all.len(), costs: all, pruning: None }
    }

    fn prunable(&mut self, draft: &Draft, roots: &[&Root], counter: Counter) {
        let Some(root) = roots.first().filter(|_| !draft.is_refused()) else { return };
        let (loaded, focus) = (&root.loaded, root.question.focus);
        let unit = focus.unit.and_then(|id| loaded.units.outline.get(id));
        let head = unit.map_or(focus.lines.from, |unit| loaded.starts.line(unit.head.end.saturating_sub(1)));
        let wanted: BTreeSet<u32> = roots.iter().flat_map(|root| lines_with_names_of(loaded, &root.question)).collect();
        let lines: Vec<u32> = roots.iter().map(|root| root.line).collect();
        let place = PrunePoint { range: focus.lines, head, lines: &lines, wanted: &wanted };
        let pruning = Pruning::new(&loaded.text, &loaded.starts, place, &|text| counter.text(text));
        let least = self.costs.last().copied().unwrap_or_default();
        // Costs must not increase from step to step, even if a pruned form costs more than the whole: cap it.
        self.costs.extend(pruning.costs().map(|cost| (cost + counter.item).min(least)));
        self.pruning = Some(pruning);
    }

    fn item(&self, draft: &Draft, step: usize, files: &PackFiles<'_>) -> Option<PackItem> {
        if draft.is_refused() || step >= self.costs.len() {
            return None;
        }
        match (&self.pruning, step.checked_sub(self.before)) {
            (Some(pruning), Some(step)) => {
                let shown = pruning.show(draft.text_of_file(), draft.line_starts(), step);
                Some(draft.written(Level::Signature, shown, files))
            }
            _ if step == 0 => draft.item(Level::Full, files),
            // Without its comment, the focus still counts as whole.
            _ => draft.bare(files),
        }
    }
}

/// Lines of the focus that use a name which the failing lines use too.
fn lines_with_names_of(loaded: &LoadedFile, question: &Question) -> BTreeSet<u32> {
    let uses = loaded.units.names.uses_in(question.focus.span);
    let name = |what: &Used| match what {
        Used::Name(symbol) => loaded.units.names.symbol(*symbol).map(|symbol| symbol.name.clone()),
        Used::Member(_, name) | Used::Global(name) => Some(name.clone()),
    };
    let failing = uses.iter().filter(|one| question.failing.contains(one.line));
    let names: BTreeSet<Box<str>> = failing.filter_map(|one| name(&one.what)).collect();
    let uses = uses.iter().filter(|one| name(&one.what).is_some_and(|name| names.contains(&name)));
    uses.map(|one| one.line).collect()
}
