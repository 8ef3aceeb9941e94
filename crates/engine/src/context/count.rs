//! The exact tokens of archived files, read once more from where they came from. Only for runs that ask for it.

use std::collections::BTreeMap;
use std::path::Path;

use stan_archive::Written;
use stan_model::document::run_report::tokens;
use stan_repo::System;

use super::allow::Origin;
use super::assemble::Assembled;
use super::place::Place;
use super::reports::ExactTokens;
use crate::tokens::Tokenizer;

/// Larger files are estimated.
const MAX_SIZE: u64 = 64 << 20;

/// The weight of every archived file; for the estimate its bytes, because only their sum is divided.
pub(crate) struct Counts {
    tokenizer: Tokenizer,
    weights: BTreeMap<String, u64>,
}

pub(crate) fn count(
    system: &dyn System,
    place: &Place,
    assembled: &Assembled,
    written: &Written,
    tokenizer: Tokenizer,
) -> Counts {
    let read = |name: &str| -> Option<Vec<u8>> {
        let path = match &assembled.allowlist.files.get(name)?.origin {
            Origin::Bytes(bytes) => return Some(bytes.to_vec()),
            Origin::File(real) => place.absolute(real),
            Origin::Elsewhere(absolute) => absolute.clone(),
            Origin::Staged => assembled.thread.as_ref()?.integrity.nodes.get(name)?.locator.clone(),
        };
        let mut bytes = Vec::new();
        system.read_at_most(Path::new(&path), MAX_SIZE, &mut bytes).ok()?;
        Some(bytes)
    };
    let files: Vec<(&str, u64)> = written.files.iter().map(|file| (file.name.as_str(), file.size)).collect();
    let counts = match tokenizer {
        Tokenizer::Bytes4 => files.iter().map(|(_, size)| Some(*size)).collect(),
        _ => tokenizer.count_each(&files, |(name, _)| read(name)),
    };
    let weights = files
        .iter()
        .zip(counts)
        .map(|((name, size), count)| ((*name).to_owned(), count.unwrap_or_else(|| tokens(*size))));
    Counts { tokenizer, weights: weights.collect() }
}

impl Counts {
    /// The tokens of these files together.
    pub(crate) fn of<'n>(&self, names: impl Iterator<Item = &'n str>) -> ExactTokens {
        let sum = names.filter_map(|name| self.weights.get(name)).fold(0u64, |sum, weight| sum.saturating_add(*weight));
        let tokens = if self.tokenizer == Tokenizer::Bytes4 { tokens(sum) } else { sum };
        ExactTokens { tokenizer: self.tokenizer.name().to_owned(), tokens }
    }
}
