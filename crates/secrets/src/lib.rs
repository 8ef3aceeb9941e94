//! Finds credentials: in text by published token formats, private keys, connection strings and random values that are
//! assigned to a name such as `api_key`; in file names by what programs call their credential files.
//!
//! Pure and linear. A hit names a line and a rule, never the secret. Nearly every credential holds a long run of token
//! characters, so one pass looks for such runs (`runs.rs`), and the rules look only at those.

mod assignment;
mod checksum;
mod file_names;
mod made_up;
mod nearby;
mod prefixes;
mod private_key;
mod randomness;
mod rules;
mod runs;
mod stream;
mod urls;
mod web_token;

pub use file_names::credential_file;
pub use rules::{RULES, Rule};
pub use stream::Stream;

/// A credential in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Counted from 1.
    pub line: u64,
    /// The id of a rule in [`RULES`].
    pub rule: &'static str,
}

/// More hits in one text add nothing: it is left out for the first one.
pub const MAX_HITS: usize = 20;

/// The credentials in a text, sorted by line, at most [`MAX_HITS`].
pub fn scan(text: &[u8]) -> Vec<Hit> {
    let mut found = Vec::new();
    stream::scan_window(text, 0..text.len(), &mut |at, rule| found.push((at, rule)));
    if found.is_empty() {
        return Vec::new();
    }
    let mut lines = stream::LineCounter::default();
    let mut hits = Vec::new();
    stream::add_hits(&mut hits, found, text, &mut lines);
    hits
}

/// As [`scan`], for the text of a file.
pub fn scan_file(path: &str, text: &[u8]) -> Vec<Hit> {
    keep_for(path, scan(text))
}

/// The hits that count in a file. One that is named as an example holds sample values, so that there a name alone does
/// not make its value a secret; tokens of a known format count everywhere.
pub fn keep_for(path: &str, mut hits: Vec<Hit>) -> Vec<Hit> {
    if !hits.is_empty() && is_example(path) {
        hits.retain(|hit| hit.rule != "assigned-secret");
    }
    hits
}

/// Whether a file is named as an example. A text without hits in any other file has none in this one, but not the other way
/// around.
pub fn is_example(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.contains("example") || name.contains("sample")
}

/// Changes whenever a text may have other hits than before: what is remembered of a text counts for one version.
pub const VERSION: u32 = 3;
