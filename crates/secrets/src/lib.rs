//! Finds credentials: in text by published token formats, private keys, connection strings, and random values assigned to a name
//! such as `api_key`; in file names by the names that programs give to credential files.
//!
//! Pure, and linear in the text. A hit contains a line and a rule, never the secret. Nearly every credential contains a long run
//! of token characters, so one pass finds such runs (`runs.rs`), and the rules look only at these.

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
    /// 1-based.
    pub line: u64,
    /// The id of a rule in [`RULES`].
    pub rule: &'static str,
}

/// Further hits are dropped: a text is held back because of the first one.
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

/// Like [`scan`], for the text of a file.
pub fn scan_file(path: &str, text: &[u8]) -> Vec<Hit> {
    keep_for(path, scan(text))
}

/// The hits that apply to a file. An example file contains sample values, so a random value that only its name marks as secret is
/// no hit there; tokens of a known format always are.
pub fn keep_for(path: &str, mut hits: Vec<Hit>) -> Vec<Hit> {
    if !hits.is_empty() && is_example(path) {
        hits.retain(|hit| hit.rule != "assigned-secret");
    }
    hits
}

/// Whether a file name marks an example. A text without hits in any other file has none in an example either; the reverse is not
/// true.
pub fn is_example(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.contains("example") || name.contains("sample")
}

/// Must change whenever the hits of some text change: it is part of the key of cached results.
pub const VERSION: u32 = 4;
