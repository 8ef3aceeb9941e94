//! Long searches: every completed state is remembered, so that no state is expanded twice in any order of queries.
//!
//! States that reach each other have the same answer, so this is Tarjan's algorithm: it completes one strongly connected
//! component at a time, and the answer of a component is the union of the definers that its states find and of the answers of the
//! components that it reaches. Answers are shared sets, because many states may each have nearly all definers. Nothing recurses.
//!
//! Barrels that see each other through stars need a state for each pair of a name and a barrel. To bound memory, everything is
//! forgotten if there are very many.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::sets::{EMPTY, SetId, Sets};
use super::stars::StarTable;
use super::{Definers, FileKey, RequestedName, Sink, Tunneller};

/// The number of states that are remembered: 150 MB at most. Ordinary repositories have some thousands.
pub(super) const MAX_CLOSED: usize = 2 << 20;

#[derive(Default)]
pub(super) struct Components<'m> {
    sets: Sets,
    closed: FxHashMap<RequestedName<'m>, Answer>,
}

/// The definers of a completed state, or, if there are none, the possible definers.
#[derive(Clone, Copy)]
struct Answer {
    certain: SetId,
    possible: SetId,
}

/// A state that is being searched, with everything found from it so far.
struct Frame<'m> {
    state: RequestedName<'m>,
    /// Entry number, and the lowest entry number of an open state that it reaches.
    order: usize,
    lowest: usize,
    next: Vec<RequestedName<'m>>,
    answer: Answer,
    deferred: Vec<(Arc<StarTable<'m>>, &'m str)>,
}

/// States that are entered but not completed.
#[derive(Default)]
struct Open<'m> {
    order: FxHashMap<RequestedName<'m>, usize>,
    stack: Vec<RequestedName<'m>>,
    frames: Vec<Frame<'m>>,
}

impl<'m> Components<'m> {
    /// The definers of a state, unless there are more than `limit`.
    pub(super) fn search(&mut self, tunneller: &Tunneller<'m>, start: RequestedName<'m>, limit: usize) -> Definers {
        // Between two searches, so that forgetting never affects an answer.
        if self.closed.len() > tunneller.max_closed {
            *self = Self::default();
        }
        let answer = match self.closed.get(&start) {
            Some(known) => *known,
            None => self.close(tunneller, start),
        };
        let set = if answer.certain == EMPTY { answer.possible } else { answer.certain };
        let count = self.sets.len(set);
        if count > limit { Definers::TooMany(count) } else { Definers::All(self.sets.files(set).into()) }
    }

    #[cfg(test)]
    pub(super) fn closed_count(&self) -> usize {
        self.closed.len()
    }

    fn close(&mut self, tunneller: &Tunneller<'m>, start: RequestedName<'m>) -> Answer {
        let mut open = Open::default();
        self.enter(tunneller, start, &mut open);
        while let Some(frame) = open.frames.last_mut() {
            let Some(next) = frame.next.pop() else {
                let answer = self.complete_frame(&mut open);
                if let Some(answer) = answer {
                    return answer;
                }
                continue;
            };
            if let Some(known) = self.closed.get(&next) {
                frame.answer = join(&mut self.sets, frame.answer, *known);
            } else if let Some(order) = open.order.get(&next) {
                frame.lowest = frame.lowest.min(*order);
            } else {
                self.enter(tunneller, next, &mut open);
            }
        }
        Answer { certain: EMPTY, possible: EMPTY }
    }

    fn enter(&mut self, tunneller: &Tunneller<'m>, state: RequestedName<'m>, open: &mut Open<'m>) {
        let order = open.order.len() + self.closed.len();
        let answer = Answer { certain: EMPTY, possible: EMPTY };
        let mut frame = Frame { state, order, lowest: order, next: Vec::new(), answer, deferred: Vec::new() };
        tunneller.expand(state, &mut SearchStep { frame: &mut frame, sets: &mut self.sets });
        open.order.insert(state, order);
        open.stack.push(state);
        open.frames.push(frame);
    }

    /// Ends the last frame: completes its component, or adds its findings to the previous frame. The answer is that of the first
    /// frame.
    fn complete_frame(&mut self, open: &mut Open<'m>) -> Option<Answer> {
        let mut frame = open.frames.pop()?;
        if frame.lowest < frame.order {
            let before = open.frames.last_mut()?;
            before.lowest = before.lowest.min(frame.lowest);
            before.answer = join(&mut self.sets, before.answer, frame.answer);
            // Keeps the longer list, so that a long component moves each table only a few times.
            if before.deferred.len() < frame.deferred.len() {
                std::mem::swap(&mut before.deferred, &mut frame.deferred);
            }
            before.deferred.append(&mut frame.deferred);
            return None;
        }
        let answer = self.answer(&frame);
        while let Some(state) = open.stack.pop() {
            open.order.remove(&state);
            self.closed.insert(state, answer);
            if state == frame.state {
                break;
            }
        }
        match open.frames.last_mut() {
            Some(before) => before.answer = join(&mut self.sets, before.answer, answer),
            None => return Some(answer),
        }
        None
    }

    fn answer(&mut self, frame: &Frame<'m>) -> Answer {
        let Answer { certain, mut possible } = frame.answer;
        if certain != EMPTY {
            // Every state that leads here has a certain definer, so nothing else counts.
            return Answer { certain, possible: EMPTY };
        }
        for (table, name) in &frame.deferred {
            table.for_each_catch_all(name, |file| possible = self.sets.with(possible, file));
        }
        Answer { certain, possible }
    }
}

fn join(sets: &mut Sets, a: Answer, b: Answer) -> Answer {
    Answer { certain: sets.union(a.certain, b.certain), possible: sets.union(a.possible, b.possible) }
}

/// The results of one step are added to its frame.
struct SearchStep<'s, 'm> {
    frame: &'s mut Frame<'m>,
    sets: &'s mut Sets,
}

impl<'m> Sink<'m> for SearchStep<'_, 'm> {
    fn visit(&mut self, state: RequestedName<'m>) {
        self.frame.next.push(state);
    }

    fn found(&mut self, file: FileKey, certain: bool) {
        let answer = &mut self.frame.answer;
        let set = if certain { &mut answer.certain } else { &mut answer.possible };
        *set = self.sets.with(*set, file);
    }

    fn defer(&mut self, table: Arc<StarTable<'m>>, name: &'m str) {
        self.frame.deferred.push((table, name));
    }
}
