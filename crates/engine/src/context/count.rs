//! Counts the tokens of archived files, which are read from their sources a second time. Counts of unchanged contents are cached.

use std::collections::BTreeMap;
use std::path::Path;

use stan_archive::{ArchivedFile, Written};
use stan_repo::{SystemExt as _, WritableSystem};

use super::Repository;
use super::allow::Origin;
use super::assemble::Assembled;
use super::reports::{ExactTokens, Part, RunReport};
use super::run::weighed;
use crate::cache::TokenTable;
use crate::graph::{GraphRequest, open_cache};
use crate::tokens::{MAX_COUNTED_BYTES, Tokenizer};

/// Larger archives exceed the context window of many models.
const MANY_TOKENS: u64 = 200_000;

/// The sources that files are read from.
pub(crate) struct Counted<'a> {
    pub(crate) system: &'a dyn WritableSystem,
    pub(crate) repository: &'a Repository<'a>,
    pub(crate) work: &'a GraphRequest,
}

/// The token weight of each archived file. For `bytes4` that is its size, because only the sum is divided by four.
pub(crate) struct Counts {
    tokenizer: Tokenizer,
    weights: BTreeMap<String, u64>,
}

impl Counted<'_> {
    pub(crate) fn count(&self, assembled: &Assembled, written: &Written, tokenizer: Tokenizer) -> Counts {
        let weight = |file: &ArchivedFile, weight: u64| (file.name.clone(), weight);
        if tokenizer == Tokenizer::Bytes4 {
            let weights = written.files.iter().map(|file| weight(file, tokenizer.weight_of_size(file.size))).collect();
            return Counts { tokenizer, weights };
        }
        let options = self.repository.config.graph_options(self.repository.root);
        let cache = open_cache(self.system, &options, self.work);
        let known = cache.as_ref().map(|cache| cache.load_tokens(tokenizer.name())).unwrap_or_default();
        let key = |file: &ArchivedFile| TokenTable::key(&file.digest);
        let new: Vec<&ArchivedFile> = written.files.iter().filter(|file| known.get(key(file)).is_none()).collect();
        let counts = tokenizer.count_each(&new, |file| self.read(assembled, &file.name));
        let counted = new.iter().zip(&counts).filter_map(|(file, count)| Some((key(file), (*count)?)));
        let table = known.with(counted);
        if let Some(cache) = cache.filter(|_| table != known) {
            cache.store_tokens(tokenizer.name(), &table);
        }
        let of = |file: &ArchivedFile| table.get(key(file)).unwrap_or_else(|| tokenizer.weight_of_size(file.size));
        Counts { tokenizer, weights: written.files.iter().map(|file| weight(file, of(file))).collect() }
    }

    fn read(&self, assembled: &Assembled, name: &str) -> Option<Vec<u8>> {
        let path = match &assembled.allowlist.files.get(name)?.origin {
            Origin::Bytes(bytes) => return Some(bytes.to_vec()),
            Origin::File(real) => self.repository.layout().absolute(real),
            Origin::Elsewhere(absolute) => absolute.clone(),
            Origin::Staged => assembled.inputs.as_ref()?.externals_lock.nodes.get(name)?.locator.clone(),
        };
        let mut bytes = Vec::new();
        self.system.read_at_most(Path::new(&path), MAX_COUNTED_BYTES, &mut bytes).ok()?;
        Some(bytes)
    }
}

impl Counts {
    /// The token count of these files together.
    pub(crate) fn of<'n>(&self, names: impl Iterator<Item = &'n str>) -> ExactTokens {
        self.tokenizer.total(names.filter_map(|name| self.weights.get(name)).copied())
    }

    /// Replaces the estimates in a report by the counts.
    pub(crate) fn put_into(&self, report: &mut RunReport, assembled: &Assembled, written: &Written) {
        let all = self.of(written.files.iter().map(|file| file.name.as_str()));
        report.archive.tokens = all.tokens;
        if all.tokens > MANY_TOKENS {
            report.warnings.push(format!(
                "the archive has {} tokens, more than many models can read (200,000): see the largest files, and leave \
                 out what is not needed with `excludes`",
                all.tokens
            ));
            report.warnings.sort_unstable();
        }
        report.archive.exact_tokens = Some(all);
        if let Some(diff) = &mut report.diff {
            let names = diff.added.iter().chain(&diff.changed).map(String::as_str);
            let exact = self.of(names);
            diff.archive.tokens = exact.tokens;
            diff.archive.exact_tokens = Some(exact);
        }
        self.put_into_parts([&mut report.base, &mut report.closure, &mut report.overlap], assembled, written);
        let row = |file: &ArchivedFile| {
            let weight = self.weights.get(&file.name).copied().unwrap_or(0);
            (file.size, self.tokenizer.tokens_of(weight))
        };
        report.largest = weighed(written.files.iter().map(|file| {
            let (bytes, tokens) = row(file);
            (file.name.as_str(), bytes, tokens)
        }));
    }

    fn put_into_parts(&self, parts: [&mut Part; 3], assembled: &Assembled, written: &Written) {
        let mut sums = [0u64; 3];
        for file in &written.files {
            let Some(allowed) = assembled.allowlist.files.get(&file.name) else { continue };
            let part = match (allowed.in_base, allowed.in_closure) {
                (true, false) => 0,
                (false, _) => 1,
                (true, true) => 2,
            };
            sums[part] += self.weights.get(&file.name).copied().unwrap_or(0);
        }
        for (part, sum) in parts.into_iter().zip(sums) {
            part.tokens = self.tokenizer.tokens_of(sum);
        }
    }
}
