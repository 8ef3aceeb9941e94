//! What `stan pack` shows of a change: signatures of many files instead of a few whole files.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cases::{Case, Program};
use crate::Result;

/// The overhead of an item in a pack: the line with the name of its file.
const HEAD: u64 = 20;

/// The means over all cases.
#[derive(Default)]
pub(super) struct Levels {
    cases: usize,
    whole: f64,
    shown: f64,
    named: f64,
}

impl Levels {
    /// Adds a case: how much of the truth is in a pack with this budget besides the focus.
    pub(super) fn add(
        &mut self,
        program: &Program<'_>,
        case: &Case,
        truth: &BTreeSet<String>,
        budget: u64,
    ) -> Result<()> {
        let own = program.tokens_of(&case.focus);
        let arguments = ["pack", "--json", "--tokens", "bytes4", "--focus", &case.focus].map(str::to_owned);
        let with_budget = ["--budget".to_owned(), (budget + own).to_string()];
        let pack = program.json(&[&arguments[..], &with_budget[..]].concat(), "")?;
        let mut left = budget;
        let (mut whole, mut shown, mut named) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for item in pack["items"].as_array().into_iter().flatten() {
            let file = text(item, "file");
            let cost = (text(item, "text").len() as u64).div_ceil(4) + HEAD;
            if file == case.focus || cost > left {
                continue;
            }
            left -= cost;
            named.insert(file);
            match text(item, "level") {
                "full" => drop((whole.insert(file), shown.insert(file))),
                "signature" => drop(shown.insert(file)),
                _ => {}
            }
        }
        let share = |files: &BTreeSet<&str>| {
            truth.iter().filter(|path| files.contains(path.as_str())).count() as f64 / truth.len() as f64
        };
        self.cases += 1;
        self.whole += share(&whole);
        self.shown += share(&shown);
        self.named += share(&named);
        Ok(())
    }

    /// The sentence for the page.
    pub(super) fn sentence(&self, budget: u64) -> String {
        let percent = |sum: f64| 100.0 * sum / self.cases.max(1) as f64;
        format!(
            "`stan pack --focus` within {}k tokens beside the focus shows {:.1} % of the files: {:.1} % whole, the others as signatures. \
             With those that it names in one line it has {:.1} %. Tokens are those of its text, a quarter of the bytes and {HEAD} for each file.\n",
            budget / 1000,
            percent(self.shown),
            percent(self.whole),
            percent(self.named),
        )
    }
}

fn text<'v>(item: &'v Value, key: &str) -> &'v str {
    item[key].as_str().unwrap_or_default()
}
