//! A picture of a repository: one HTML file with its data and its script, without a server or network access (spec 90 §3). Pure:
//! facts of the files in, bytes out. The layout of the treemap is computed here, so that it is the same everywhere; the script
//! only scales it.
//!
//! Every name in the repository is untrusted. It is escaped as data (`data.rs`), hidden characters are shown, the script only
//! creates text nodes, and the page's content security policy allows no other script and no request.

mod data;
#[cfg(test)]
mod tests;
mod treemap;

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// A file on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewFile {
    /// Root-relative.
    pub path: String,
    /// Has its own rectangle. Other files are listed and counted.
    pub is_code: bool,
    pub tokens: u64,
    pub bytes: u64,
    /// A few of its exported names, by descending use.
    pub exports: Vec<Box<str>>,
    pub description: Option<Box<str>>,
    /// Files that it depends on: index and kinds (runtime 1, type 2, dynamic 4), ascending by index.
    pub imports: Vec<(u32, u8)>,
    /// Packages, as indices into `ViewInput::packages`, ascending.
    pub packages: Vec<u32>,
    /// Tests that depend on it, as indices of files.
    pub tests: Vec<u32>,
    /// Why it is selected; `None` if it is not.
    pub selected: Option<String>,
}

/// An import without a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewMissing {
    pub name: String,
    /// Files that import it.
    pub importers: Vec<u32>,
}

/// Files that all reach each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewCycle {
    pub members: Vec<u32>,
    /// A short path around the cycle.
    pub ring: Vec<u32>,
}

/// The contents of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewInput {
    /// Sorted by path.
    pub files: Vec<ViewFile>,
    /// Name, version (empty if not installed) and the number of files that use it; by descending use.
    pub packages: Vec<(String, String, u32)>,
    pub missing: Vec<ViewMissing>,
    /// Largest first.
    pub cycles: Vec<ViewCycle>,
    /// Root-relative path of a file or folder to open first.
    pub focus: Option<String>,
    /// The tokenizer that counted.
    pub tokenizer: String,
    /// Notes for the reader: languages that are not analysed, files that could not be read.
    pub notes: Vec<String>,
}

const PAGE: &str = include_str!("../../assets/view.html");
const STYLE: &str = include_str!("../../assets/view.css");
const SCRIPT: &str = include_str!("../../assets/view.js");

/// The whole page.
pub fn view_page(input: &ViewInput) -> String {
    let data = data::json(input, &treemap::layout(&input.files));
    // Allow only our own script, by its hash instead of `unsafe-inline`.
    let script_hash = base64(&Sha256::digest(SCRIPT.as_bytes()));
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page.push_str(before);
        page.push_str(match name {
            "script-hash" => &script_hash,
            "style" => STYLE,
            "data" => &data,
            "script" => SCRIPT,
            _ => "",
        });
        rest = after;
    }
    page.push_str(rest);
    page
}

/// RFC 4648 with padding, as content security policies require for hashes.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4usize {
            let sextet = (word >> (18 - 6 * place)) as usize & 63;
            let _ = text.write_char(if place <= chunk.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    text
}
