//! Text to syntax tree, as tolerant as TypeScript: several source types are tried for an ambiguous file, a tree with errors is
//! used and its errors are counted, and a panic of the parser is caught.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::{GetSpan, SourceType};
use stan_model::split_extension;

/// The syntax of a file or script block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::typescript) enum Syntax {
    /// `.js`, `.jsx` and similar. May contain JSX, Flow or TypeScript syntax.
    JavaScript,
    TypeScript,
    TypeScriptJsx,
    /// `.d.ts` and similar.
    Declaration,
}

impl Syntax {
    /// The syntax by file name; `None` for anything but a plain script.
    pub(in crate::typescript) fn of_path(path: &str) -> Option<Self> {
        let (stem, extension) = split_extension(path)?;
        match extension {
            "js" | "jsx" | "mjs" | "cjs" => Some(Self::JavaScript),
            "tsx" => Some(Self::TypeScriptJsx),
            "mts" | "cts" | "ts" if stem.ends_with(".d") => Some(Self::Declaration),
            // `style.d.css.ts` declares `style.css`.
            "ts" if split_extension(stem).is_some_and(|(stem, _)| stem.ends_with(".d")) => Some(Self::Declaration),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            _ => None,
        }
    }

    pub(in crate::typescript) fn is_javascript(self) -> bool {
        self == Self::JavaScript
    }

    /// The source types to try, best first.
    fn readings(self) -> &'static [SourceType] {
        const JS: SourceType = SourceType::unambiguous().with_jsx(true);
        const TS: SourceType = SourceType::ts();
        const TSX: SourceType = SourceType::tsx();
        const DTS: SourceType = SourceType::d_ts().with_unambiguous(true);
        const JAVASCRIPT: &[SourceType] = &[JS, TSX, TS, JS.with_module(true), JS.with_script(true)];
        const TYPESCRIPT: &[SourceType] = &[TS, TS.with_module(true), TS.with_script(true)];
        const TYPESCRIPT_JSX: &[SourceType] = &[TSX, TSX.with_module(true), TSX.with_script(true)];
        const DECLARATION: &[SourceType] = &[DTS, DTS.with_module(true), DTS.with_script(true), TS];
        match self {
            Self::JavaScript => JAVASCRIPT,
            Self::TypeScript => TYPESCRIPT,
            Self::TypeScriptJsx => TYPESCRIPT_JSX,
            Self::Declaration => DECLARATION,
        }
    }
}

/// The result of parsing.
pub(in crate::typescript) struct Parsed<'a> {
    /// `None` if no source type gave a tree.
    pub(in crate::typescript) program: Option<Program<'a>>,
    /// Whether `import.meta` occurs, which makes the file a module, as an import does.
    pub(in crate::typescript) has_import_meta: bool,
    pub(in crate::typescript) error: Option<ParseError>,
}

/// The first error with the chosen source type, and the number of further errors.
pub(in crate::typescript) struct ParseError {
    pub(in crate::typescript) position: u32,
    pub(in crate::typescript) message: String,
    pub(in crate::typescript) more: usize,
}

/// Parses once, with the first source type.
pub(in crate::typescript) fn parse_once<'a>(arena: &'a Allocator, text: &'a str, syntax: Syntax) -> usize {
    syntax.readings().first().map_or(0, |reading| {
        read(arena, text, *reading, false).map_or(0, |parsed| parsed.program.body.len() + parsed.program.comments.len())
    })
}

/// `hashed`: whether names get the hashes that scope analysis needs.
pub(in crate::typescript) fn parse<'a>(
    arena: &'a Allocator,
    text: &'a str,
    syntax: Syntax,
    hashed: bool,
) -> Parsed<'a> {
    let mut best: Option<Parsed<'a>> = None;
    for reading in syntax.readings() {
        let parsed = judge(read(arena, text, *reading, hashed));
        let errors = |parsed: &Parsed<'_>| parsed.error.as_ref().map_or(0, |error| 1 + error.more);
        let better = match &best {
            None => true,
            Some(best) => match (best.program.is_some(), parsed.program.is_some()) {
                (had, has) if had == has => has && errors(&parsed) < errors(best),
                (had, _) => !had,
            },
        };
        if better {
            best = Some(parsed);
        }
        // TypeScript parses its own files in one way only; the other source types are for files that give no tree at all.
        if let Some(best) = &best
            && best.program.is_some()
            && (best.error.is_none() || !syntax.is_javascript())
        {
            break;
        }
    }
    best.unwrap_or(Parsed { program: None, has_import_meta: false, error: None })
}

fn read<'a>(arena: &'a Allocator, text: &'a str, reading: SourceType, hashed: bool) -> Option<ParserReturn<'a>> {
    let options =
        ParseOptions { allow_return_outside_function: true, enable_ident_hashes: hashed, ..ParseOptions::default() };
    // Unwind safe: the arena is only reset as a whole, so a half-built tree in it is never read.
    catch_unwind(AssertUnwindSafe(|| Parser::new(arena, text, reading).with_options(options).parse())).ok()
}

fn judge(parsed: Option<ParserReturn<'_>>) -> Parsed<'_> {
    let Some(parsed) = parsed else {
        let message = "the parser panicked".to_owned();
        let error = Some(ParseError { position: 0, message, more: 0 });
        return Parsed { program: None, has_import_meta: false, error };
    };
    let mut errors = parsed.diagnostics.errors();
    let error = errors.next().map(|first| ParseError {
        position: first.labels.first().map_or(0, |label| label.offset()),
        message: first.message.to_string(),
        more: errors.count(),
    });
    let is_whole = !parsed.panicked && (error.is_none() || reaches_end(&parsed.program));
    Parsed {
        has_import_meta: !parsed.module_record.import_metas.is_empty(),
        program: is_whole.then_some(parsed.program),
        error,
    }
}

/// Whether only comments follow the last statement. The parser takes some characters that it cannot read for the end of the file.
fn reaches_end(program: &Program<'_>) -> bool {
    let statement = program.body.last().map(|statement| statement.span().end);
    let directive = program.directives.last().map(|directive| directive.span.end);
    let hashbang = program.hashbang.as_ref().map(|hashbang| hashbang.span.end);
    let end = statement.or(directive).or(hashbang).unwrap_or(0);
    let mut at = end;
    let is_blank = |from: u32, to: usize| {
        let between = program.source_text.get(from as usize..to).unwrap_or_default();
        between.trim_start_matches('\u{FEFF}').trim().is_empty()
    };
    for comment in program.comments.iter().filter(|comment| comment.span.start >= end) {
        if !is_blank(at, comment.span.start as usize) {
            return false;
        }
        at = comment.span.end;
    }
    is_blank(at, program.source_text.len())
}
