//! What resolution just answered, for the next file: neighbours in a directory ask for the same modules. Belongs to one
//! thread and forgets everything at the next directory, so that it needs no lock and little memory.

use rustc_hash::FxHashMap;
use stan_lang::typescript::resolve::{Importer, Resolver};
use stan_model::facts::{Form, Mode, Request};

/// Where a request leads, by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// `None` for what makes no edge.
    pub(super) key: Option<u32>,
    pub(super) is_file: bool,
}

/// The importers of the last directory, one for each ending, and the answers that they got.
#[derive(Default)]
pub(super) struct Recent {
    importers: Vec<(Importer, Answers)>,
}

/// The answer to a form with a mode.
type Known = (Form, Option<Mode>, Answer);

/// Answers by specifier, and then by all else that a request says.
#[derive(Default)]
pub(super) struct Answers {
    by_specifier: FxHashMap<Box<str>, Vec<Known>>,
}

impl Recent {
    /// A file that asks for more has specifiers that no other file asks for.
    pub(super) const MOST_REQUESTS: usize = 64;

    /// A directory with files of more endings than this starts anew now and then.
    const MOST_IMPORTERS: usize = 8;

    /// The importer for a file, and the answers that hold for it; none if they hold for that file alone.
    pub(super) fn importer(&mut self, resolver: &Resolver<'_>, file: &str) -> (&Importer, Option<&mut Answers>) {
        if !self.importers.first().is_some_and(|(importer, _)| importer.is_beside(file)) {
            self.importers.clear();
        }
        let at = match self.importers.iter().position(|(importer, _)| importer.serves(file)) {
            Some(at) => at,
            None => {
                if self.importers.len() >= Self::MOST_IMPORTERS {
                    self.importers.clear();
                }
                self.importers.push((resolver.importer(file), Answers::default()));
                self.importers.len() - 1
            }
        };
        let (importer, answers) = &mut self.importers[at];
        (importer, importer.is_shared().then_some(answers))
    }
}

impl Answers {
    /// More specifiers than this are not remembered.
    const MOST: usize = 1 << 12;

    pub(super) fn get(&self, request: &Request) -> Option<Answer> {
        let answers = self.by_specifier.get(&request.specifier)?;
        let same = |(form, mode, _): &&Known| (*form, *mode) == (request.form, request.mode);
        answers.iter().find(same).map(|(_, _, answer)| *answer)
    }

    pub(super) fn remember(&mut self, request: &Request, answer: Answer) {
        if self.by_specifier.len() < Self::MOST {
            let answers = self.by_specifier.entry(request.specifier.clone()).or_default();
            answers.push((request.form, request.mode, answer));
        }
    }
}
