//! The laws of packs: any text, any position in it.

use std::collections::BTreeSet;
use std::rc::Rc;

use stan_lang::typescript::declare::{declare, text_of};
use stan_model::names::FileUnits;
use stan_model::outline::{LineStarts, Lines};
use stan_pack::{
    FileId, ImportTarget, Limits, Modules, Options, PointedPlace, PrunePoint, Pruning, Question, Shown, closure,
    focus_at, full, head, signature,
};

use crate::room::with_room;

/// A single file whose imports all resolve to itself.
struct Alone(Rc<FileUnits>);

impl Modules for Alone {
    fn units(&self, file: FileId) -> Option<Rc<FileUnits>> {
        (file == FileId(0)).then(|| Rc::clone(&self.0))
    }

    fn resolve(&self, _: FileId, specifier: &str) -> ImportTarget {
        match specifier.len() % 3 {
            0 => ImportTarget::Missing,
            1 => ImportTarget::Builtin,
            _ => ImportTarget::Files(vec![FileId(0)]),
        }
    }
}

/// The first byte selects the position in the text.
pub fn law(bytes: &[u8]) {
    let Some((&at, contents)) = bytes.split_first() else { return };
    let Some(text) = text_of(contents) else { return };
    with_room(|| check(&text, at));
}

fn check(text: &str, at: u8) {
    let starts = LineStarts::new(text);
    let modules = Alone(Rc::new(declare("a.ts", text)));
    let mut position = text.len() * usize::from(at) / 256;
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    let focus = focus_at(&modules.0, text, &starts, position as u32);
    assert!(focus.lines.from >= 1 && focus.lines.from <= focus.lines.to && focus.lines.to <= starts.count());
    let line = starts.line(position as u32);
    let failing = Lines { from: line, to: line };
    let related = PointedPlace { file: FileId(0), position: position as u32, how: "related" };
    let frame = PointedPlace { file: FileId(7), position: 0, how: "frame" };
    let quoted = vec!["a".to_owned(), "b".to_owned()];
    let question = Question { file: FileId(0), focus, failing, places: vec![related, frame], quoted };
    let found = closure(&modules, &question, Limits { hops: 3 });
    assert!(found.candidates.is_sorted_by_key(|one| one.rank), "the most important first");
    let outline = &modules.0.outline;
    let mut seen = BTreeSet::new();
    for candidate in &found.candidates {
        assert!(seen.insert(candidate.unit), "each unit once");
        let unit = outline.get(candidate.unit).expect("candidates are units");
        assert!(!focus.span.encloses(unit.span), "the focus is not its own explanation");
        let whole = full(text, &starts, unit, true);
        assert_eq!(whole.text, starts.span(whole.lines, text).of(text));
        let options = Options { doc: true, used: &candidate.used, keep: &candidate.keep, all_members: candidate.open };
        let shown = signature(text, &starts, outline, candidate.unit, &options);
        check_shown(text, &starts, &shown);
        check_shown(text, &starts, &head(text, &starts, outline, candidate.unit, &options));
    }
    let place = PrunePoint { range: focus.lines, head: focus.lines.from, lines: &[line], wanted: &BTreeSet::new() };
    let pruning = Pruning::new(text, &starts, place, &|text: &str| text.len() as u64);
    let steps = pruning.costs().count();
    assert!(pruning.costs().is_sorted_by(|one, next| one >= next), "less costs less");
    let (small, large) = (pruning.show(text, &starts, steps - 1), pruning.show(text, &starts, steps / 2));
    check_shown(text, &starts, &small);
    check_shown(text, &starts, &large);
    let hidden = |shown: &Shown, line: u32| shown.elided.iter().any(|lines| lines.contains(line));
    for line in focus.lines.from..=focus.lines.to {
        assert!(hidden(&small, line) || !hidden(&large, line), "more room shows no less");
    }
}

/// Omitted lines are in the range and in order; lines without a marker are unchanged.
fn check_shown(text: &str, starts: &LineStarts, shown: &Shown) {
    assert!(shown.lines.from >= 1 && shown.lines.from <= shown.lines.to && shown.lines.to <= starts.count());
    let mut next = shown.lines.from;
    for lines in &shown.elided {
        assert!(lines.from >= next && lines.from <= lines.to && lines.to <= shown.lines.to, "{shown:?}");
        next = lines.to + 1;
    }
    for line in shown.text.split('\n').map(str::trim).filter(|line| !line.contains('…')) {
        assert!(text.contains(line), "{line:?} is not in the file");
    }
}
