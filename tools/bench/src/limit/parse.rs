//! The product's parsers, and nothing else.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_parser::ParseOptions;
use oxc_span::SourceType;
use ruff_python_ast::PySourceType;
use ruff_python_parser::parse_unchecked_source;

/// Whether the product would analyse a file with this name.
pub(super) fn is_analysed(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension, "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" | "py" | "pyi" | "go" | "rs")
}

pub(super) fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py" || extension == "pyi")
}

/// One arena, reused for all files.
pub(super) struct Parser {
    arena: Allocator,
    /// For Go and Rust only tokens are read, and for Go the top level: less than any parser does.
    tokens_only: bool,
}

impl Parser {
    pub(super) fn new(tokens_only: bool) -> Self {
        Self { arena: Allocator::default(), tokens_only }
    }

    /// Parses a file and counts its statements at module level.
    pub(super) fn parse(&mut self, path: &Path, bytes: &[u8]) -> u64 {
        let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
        let ending = path.extension().and_then(|extension| extension.to_str());
        let own = match (ending, self.tokens_only) {
            (Some("go"), false) => Some(stan_lang::go::extract::parse_only(text)),
            (Some("go"), true) => Some(stan_lang::go::extract::tokens_only(text)),
            (Some("rs"), false) => Some(stan_lang::rust::extract::parse_only(text)),
            (Some("rs"), true) => Some(stan_lang::rust::extract::tokens_only(text)),
            _ => None,
        };
        if let Some(count) = own {
            return count as u64;
        }
        if matches!(ending, Some("py" | "pyi")) {
            let source = if ending == Some("pyi") { PySourceType::Stub } else { PySourceType::Python };
            return parse_unchecked_source(text, source).syntax().body.len() as u64;
        }
        let kind = SourceType::from_path(path).unwrap_or_default();
        let kind = if kind.is_javascript() { kind.with_jsx(true) } else { kind };
        self.arena.reset();
        // The product's options: it needs no hashes of identifiers, so the limit must not pay for them.
        let options =
            ParseOptions { allow_return_outside_function: true, enable_ident_hashes: false, ..ParseOptions::default() };
        oxc_parser::Parser::new(&self.arena, text, kind).with_options(options).parse().program.body.len() as u64
    }
}
