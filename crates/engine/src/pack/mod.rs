//! The verb `pack`: the declarations that explain a place, a log or a symbol, within a token budget. Joins the stages: logs
//! (`stan-diagnose`) → places → closure and levels (`stan-pack`) → document. Files are read on demand.

mod diagnostics;
mod files;
mod fitting;
mod items;
mod list;
mod passages;
mod places;
mod run;
mod sources;
mod verify;

pub use stan_model::document::pack::{DiagnosticsReport, Pack, PackDiagnostic};

use crate::context::NamedBytes;
use crate::graph::GraphRequest;
use crate::outline::AskedFile;
pub use crate::relevance::Since;
use crate::tokens::Tokenizer;
pub use list::list_diagnostics;
pub use run::pack;
use stan_pack::Lists;
pub use verify::verify_pack;

/// The cost of an item besides its text, in the document and in Markdown, where the items of a file share a code block.
pub const ITEM_TOKENS: u64 = 20;
/// The cost in XML.
pub const TAG_TOKENS: u64 = 72;

/// Which uses are followed from the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClosureKind {
    #[default]
    All,
    /// Only those declared in the same file.
    Locals,
    Types,
    /// Only those declared in other files.
    Imports,
    None,
}

/// Whether declarations of installed packages are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Externals {
    /// Only what the focus, and the declarations that it uses on the failing lines, need.
    #[default]
    Auto,
    None,
    All,
}

/// `FILE:LINE[:COL]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedPlace {
    pub file: AskedFile,
    pub line: u32,
    /// 1-based, in UTF-16 code units, like editors.
    pub col: Option<u32>,
}

/// `FILE#Name[.member]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedSymbol {
    pub file: AskedFile,
    pub name: String,
}

/// The options of the verb.
#[derive(Clone, Debug)]
pub struct PackRequest {
    pub logs: Vec<NamedBytes>,
    /// The tool that wrote the logs; detected by default.
    pub from: Option<String>,
    pub places: Vec<AskedPlace>,
    pub symbols: Vec<AskedSymbol>,
    /// Files, or globs over the files of the repository.
    pub focus: Vec<AskedFile>,
    /// Also the files that differ from this.
    pub changed: Option<Since>,
    /// Texts that describe the task.
    pub about: Vec<String>,
    /// In tokens; 0 for no limit.
    pub budget: u64,
    /// The cost of an item besides its text: [`ITEM_TOKENS`], or [`TAG_TOKENS`] for XML, which has more attributes.
    pub item_tokens: u64,
    pub tokenizer: Tokenizer,
    pub closure: ClosureKind,
    pub hops: u32,
    pub externals: Externals,
    /// The number of a diagnostic, from 1. Default: the first error.
    pub diagnostic: Option<usize>,
    /// All errors of the logs.
    pub all: bool,
    /// How the graph is computed, if files must be ranked.
    pub work: GraphRequest,
}

impl Default for PackRequest {
    fn default() -> Self {
        Self {
            logs: Vec::new(),
            from: None,
            places: Vec::new(),
            symbols: Vec::new(),
            focus: Vec::new(),
            changed: None,
            about: Vec::new(),
            budget: 16_000,
            item_tokens: ITEM_TOKENS,
            tokenizer: Tokenizer::default(),
            closure: ClosureKind::default(),
            hops: 2,
            externals: Externals::default(),
            diagnostic: None,
            all: false,
            work: GraphRequest::default(),
        }
    }
}

/// A pack, and the messages about it for stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackOutcome {
    pub pack: Pack,
    /// Limits the printed forms; 0 for no limit.
    pub budget: u64,
    pub tokenizer: Tokenizer,
    /// Sorted and unique.
    pub problems: Vec<String>,
}

impl PackOutcome {
    /// The canonical form: one line of JSON.
    pub fn json(&self) -> Vec<u8> {
        let mut bytes = stan_model::jcs::to_vec(&self.pack).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The form for chats.
    pub fn markdown(&self) -> Vec<u8> {
        self.rendered(&stan_pack::markdown)
    }

    /// The form for tools that prefer XML tags.
    pub fn xml(&self) -> Vec<u8> {
        self.rendered(&stan_pack::xml)
    }

    /// Renders with lists as long as the budget allows.
    fn rendered(&self, render: &dyn Fn(&Pack, &str, Lists) -> String) -> Vec<u8> {
        let digest = self.digest();
        let mut text = String::new();
        for lists in Lists::SIZES {
            text = render(&self.pack, &digest, lists);
            if self.budget == 0 || self.tokenizer.count(text.as_bytes()) <= self.budget {
                break;
            }
        }
        text.into_bytes()
    }

    /// The digest of the JSON form.
    fn digest(&self) -> String {
        stan_repo::sha256(&self.json()).to_string()
    }
}
