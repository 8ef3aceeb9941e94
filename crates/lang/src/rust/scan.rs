//! One pass over the tokens of a file: finds modules, items, imports and the paths in code. Builds no tree and does not recurse;
//! an explicit stack tracks the module or block around a token.
//!
//! Macros are not expanded. The arguments of an item macro call are scanned as items (`cfg_if!`, `bitflags!`), those of other
//! calls as code. A macro definition that declares modules is scanned as items, in a module named like the macro; in other
//! definitions only `$crate::…` is recorded.

use super::lexer::{Kind, Lexed};
use super::use_tree::{self, UseLeaf};

/// Not in a block: at module level.
pub(super) const NO_BLOCK: u32 = u32::MAX;

/// The result of the scan, in source order.
#[derive(Default)]
pub(super) struct Scan<'t> {
    /// The modules of the file; the first one is the file's own.
    pub(super) modules: Vec<RawModule<'t>>,
    pub(super) items: Vec<RawItem<'t>>,
    pub(super) files: Vec<ModuleFile<'t>>,
    pub(super) uses: Vec<RawUse<'t>>,
    pub(super) paths: Vec<RawPath>,
    pub(super) includes: Vec<Include>,
    /// Item macro calls with a single name as path.
    pub(super) calls: Vec<ItemCall>,
    /// For each block, the enclosing one.
    pub(super) blocks: Vec<u32>,
}

/// An inline module, or the file's own.
pub(super) struct RawModule<'t> {
    pub(super) name: &'t str,
    pub(super) parent: u32,
    pub(super) public: bool,
    /// The token of the literal in `#[path]`.
    pub(super) path: Option<usize>,
    /// A macro definition, not a module of the language.
    pub(super) is_expansion: bool,
}

/// An item macro call.
#[derive(Clone, Copy)]
pub(super) struct ItemCall {
    pub(super) module: u32,
    /// The name of the macro.
    pub(super) token: usize,
}

pub(super) struct RawItem<'t> {
    pub(super) module: u32,
    pub(super) name: &'t str,
    pub(super) public: bool,
    pub(super) is_macro: bool,
}

/// `mod name;`
pub(super) struct ModuleFile<'t> {
    pub(super) module: u32,
    pub(super) name: &'t str,
    pub(super) token: usize,
    pub(super) public: bool,
    /// The tokens of the literals in `#[path]` attributes.
    pub(super) paths: Vec<usize>,
    /// The file may be absent: the declaration is in a macro, or under a `cfg` attribute.
    pub(super) optional: bool,
}

/// One name of a `use` declaration, or an `extern crate`.
pub(super) struct RawUse<'t> {
    pub(super) module: u32,
    pub(super) block: u32,
    pub(super) public: bool,
    pub(super) is_extern: bool,
    pub(super) leaf: UseLeaf<'t>,
}

/// A path in code, with `words` segments, starting at token `from`.
#[derive(Clone, Copy)]
pub(super) struct RawPath {
    pub(super) module: u32,
    pub(super) block: u32,
    pub(super) from: u32,
    pub(super) words: u32,
    pub(super) place: PathPlace,
}

/// The context of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathPlace {
    Code,
    /// Before the `!` of a macro call. May be a single word.
    Macro,
    /// `$crate::…` in the definition of a macro.
    Definition,
}

/// An included file.
#[derive(Clone, Copy)]
pub(super) struct Include {
    /// The literal.
    pub(super) token: usize,
    /// Relative to the folder of the package's manifest (`CARGO_MANIFEST_DIR`).
    pub(super) from_manifest: bool,
}

pub(super) fn scan<'t>(lexed: &Lexed<'t>) -> Scan<'t> {
    let mut scan = Scan::default();
    scan.modules.push(RawModule { name: "", parent: 0, public: true, path: None, is_expansion: false });
    let place =
        ScanScope { kind: PlaceKind::Module, module: 0, block: NO_BLOCK, close: lexed.tokens.len(), ..ScanScope::NEW };
    let mut scanner = Scanner { lexed, scan, places: vec![place], at: 0, searched: 0, next_module: 0 };
    scanner.run();
    scanner.scan
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlaceKind {
    Module,
    /// The arguments of an item macro call.
    Items,
    /// The rules of a macro definition that declares modules.
    Rules,
    Body,
}

/// The innermost construct of the scanner, and the state of its current statement.
struct ScanScope {
    kind: PlaceKind,
    module: u32,
    block: u32,
    /// Its closing token.
    close: usize,
    /// The statement already has an item keyword.
    in_item: bool,
    public: bool,
    exported: bool,
    paths: Vec<usize>,
    /// A `path` attribute is under `cfg_attr`.
    conditional: bool,
}

impl ScanScope {
    const NEW: Self = Self {
        kind: PlaceKind::Body,
        module: 0,
        block: NO_BLOCK,
        close: 0,
        in_item: false,
        public: false,
        exported: false,
        paths: Vec::new(),
        conditional: false,
    };

    fn end_statement(&mut self) {
        self.in_item = false;
        self.public = false;
        self.exported = false;
        self.conditional = false;
        self.paths.clear();
    }
}

struct Scanner<'l, 't> {
    lexed: &'l Lexed<'t>,
    scan: Scan<'t>,
    places: Vec<ScanScope>,
    at: usize,
    /// Tokens before this one were searched for modules in macro definitions.
    searched: usize,
    /// The module that this search found last.
    next_module: usize,
}

impl<'t> Scanner<'_, 't> {
    fn run(&mut self) {
        while self.at < self.lexed.tokens.len() {
            while self.places.len() > 1 && self.top().close <= self.at {
                self.places.pop();
                self.top_mut().end_statement();
            }
            match self.lexed.tokens[self.at].kind {
                _ if self.top().kind == PlaceKind::Rules => self.rule(),
                Kind::Word => self.word(),
                Kind::Separator => self.leading_separator(),
                Kind::Mark(b'#') => self.attribute(),
                Kind::Mark(b';') => {
                    self.top_mut().end_statement();
                    self.at += 1;
                }
                Kind::Mark(b'{') => self.brace(),
                Kind::Mark(b'$') => self.variable(),
                _ => self.at += 1,
            }
        }
    }

    /// The stack is never empty, because the file itself is not popped.
    fn top(&self) -> &ScanScope {
        &self.places[self.places.len() - 1]
    }

    fn top_mut(&mut self) -> &mut ScanScope {
        let last = self.places.len() - 1;
        &mut self.places[last]
    }

    /// Enters the construct whose opening bracket is `open`.
    fn enter(&mut self, open: usize, kind: PlaceKind, module: u32) {
        let close = self.lexed.closing(open);
        let mut block = self.top().block;
        if kind == PlaceKind::Body {
            self.scan.blocks.push(block);
            block = self.scan.blocks.len() as u32 - 1;
        }
        if kind == PlaceKind::Module {
            block = NO_BLOCK;
        }
        self.places.push(ScanScope { kind, module, block, close, ..ScanScope::NEW });
        self.at = open + 1;
    }

    fn brace(&mut self) {
        let top = self.top();
        let kind = if top.kind == PlaceKind::Items && !top.in_item { PlaceKind::Items } else { PlaceKind::Body };
        self.enter(self.at, kind, top.module);
    }

    fn word(&mut self) {
        let at = self.at;
        let lexed = self.lexed;
        match lexed.text_at(at) {
            "use" if lexed.kind(at + 1) != Some(Kind::Mark(b'<')) => self.use_declaration(),
            "mod" if !lexed.word(at + 1).is_empty() => self.module(),
            "extern" if lexed.word(at + 1) == "crate" => self.extern_crate(),
            "pub" => self.visibility(),
            "fn" | "struct" | "enum" | "trait" | "type" | "static" | "const" => self.item(),
            "union" | "macro" if !lexed.word(at + 1).is_empty() => self.item(),
            "impl" => {
                self.top_mut().in_item = true;
                self.at += 1;
            }
            "Self" => self.skip_path(),
            "crate" | "super" | "self" => self.path(),
            "macro_rules" if lexed.is_mark(at + 1, b'!') && !lexed.word(at + 2).is_empty() => self.macro_rules(),
            _ => match lexed.kind(at + 1) {
                Some(Kind::Separator) => self.path(),
                Some(Kind::Mark(b'!')) if lexed.is_open(at + 2) => self.path(),
                _ => self.at += 1,
            },
        }
    }

    fn use_declaration(&mut self) {
        let (module, block, public) = {
            let top = self.top();
            (top.module, top.block, top.public)
        };
        let (leaves, end) = use_tree::leaves(self.lexed, self.at + 1);
        let uses = leaves.into_iter().map(|leaf| RawUse { module, block, public, is_extern: false, leaf });
        self.scan.uses.extend(uses);
        self.top_mut().end_statement();
        self.at = end;
    }

    fn extern_crate(&mut self) {
        let (at, lexed) = (self.at, self.lexed);
        let name = lexed.word(at + 2);
        let alias = if lexed.word(at + 3) == "as" { lexed.word(at + 4) } else { name };
        if !name.is_empty() && !alias.is_empty() {
            let top = self.top();
            let leaf =
                UseLeaf { path: vec![name], alias: Some(alias), is_glob: false, token: at + 2, name_token: at + 2 };
            let raw = RawUse { module: top.module, block: top.block, public: top.public, is_extern: true, leaf };
            self.scan.uses.push(raw);
        }
        self.at += 2;
    }

    fn module(&mut self) {
        let (at, lexed) = (self.at, self.lexed);
        let name = lexed.word(at + 1);
        let top = self.top_mut();
        let (module, public) = (top.module, top.public);
        if lexed.is_mark(at + 2, b'{') {
            let path = top.paths.first().copied();
            top.end_statement();
            self.scan.modules.push(RawModule { name, parent: module, public, path, is_expansion: false });
            self.enter(at + 2, PlaceKind::Module, self.scan.modules.len() as u32 - 1);
        } else if lexed.is_mark(at + 2, b';') {
            let optional = top.kind != PlaceKind::Module || top.conditional;
            let paths = std::mem::take(&mut top.paths);
            self.scan.files.push(ModuleFile { module, name, token: at + 1, public, paths, optional });
            self.at += 2;
        } else {
            self.at += 1;
        }
    }

    /// `pub`, `pub(crate)`, `pub(in path)`.
    fn visibility(&mut self) {
        self.top_mut().public = true;
        self.at += 1;
        if self.lexed.is_mark(self.at, b'(')
            && matches!(self.lexed.word(self.at + 1), "crate" | "self" | "super" | "in")
        {
            let is_restricted = self.lexed.kind(self.at + 2) != Some(Kind::Separator);
            if is_restricted {
                // `pub(self)` is private.
                let is_private = self.lexed.word(self.at + 1) == "self";
                self.top_mut().public = !is_private;
                self.at = self.lexed.closing(self.at) + 1;
            }
        }
    }

    fn item(&mut self) {
        let (at, lexed) = (self.at, self.lexed);
        self.at += 1;
        let keyword = lexed.text_at(at);
        let mut named = at + 1;
        match (keyword, lexed.word(named)) {
            (_, "") | ("const", "fn" | "unsafe" | "extern" | "async") => return,
            ("static", "mut" | "ref") | ("const", "mut") => named += 1,
            _ => {}
        }
        // These words are keywords only in certain positions.
        let begins = || lexed.is_open(named + 1) || lexed.is_mark(named + 1, b'<');
        if matches!(keyword, "union" | "macro") && !begins() {
            return;
        }
        let top = self.top_mut();
        if top.kind == PlaceKind::Body || top.in_item {
            return;
        }
        top.in_item = true;
        let (module, public) = (top.module, top.public);
        let name = lexed.word(named);
        if !matches!(name, "" | "_") {
            self.scan.items.push(RawItem { module, name, public, is_macro: keyword == "macro" });
            self.at = named + 1;
        }
    }

    fn macro_rules(&mut self) {
        let name = self.lexed.word(self.at + 2);
        let top = self.top_mut();
        let (module, public, is_local) = (top.module, top.exported, top.kind == PlaceKind::Body);
        self.scan.items.push(RawItem { module, name, public, is_macro: true });
        self.at += 3;
        if !self.lexed.is_open(self.at) {
            return;
        }
        let close = self.lexed.closing(self.at);
        if !is_local && self.declares_modules(self.at, close) {
            self.top_mut().end_statement();
            self.scan.modules.push(RawModule { name, parent: module, public: false, path: None, is_expansion: true });
            self.enter(self.at, PlaceKind::Rules, self.scan.modules.len() as u32 - 1);
            return;
        }
        self.definition(close);
        self.at = close + 1;
        self.top_mut().end_statement();
    }

    /// Whether there is a named module between two tokens. Each token is visited only once, however deeply definitions are
    /// nested, because `from` never decreases.
    fn declares_modules(&mut self, from: usize, to: usize) -> bool {
        let lexed = self.lexed;
        if self.next_module >= from && self.searched > from {
            return self.next_module < to;
        }
        let is_module = |at: &usize| {
            let ends = lexed.is_mark(at + 2, b';') || lexed.is_mark(at + 2, b'{');
            ends && lexed.word(*at) == "mod" && !lexed.word(at + 1).is_empty()
        };
        let found = (self.searched.max(from)..to).find(is_module);
        self.searched = found.map_or(to, |at| at + 1).max(self.searched);
        self.next_module = found.unwrap_or(self.next_module);
        found.is_some()
    }

    /// Records the paths of a macro definition up to a token.
    fn definition(&mut self, end: usize) {
        while self.at < end {
            match self.lexed.kind(self.at) {
                Some(Kind::Mark(b'$')) if self.lexed.word(self.at + 1) == "crate" => {
                    self.at += 1;
                    self.push_path(PathPlace::Definition);
                }
                _ => self.at += 1,
            }
        }
    }

    /// `(pattern) => { items }`. Skips the pattern.
    fn rule(&mut self) {
        let lexed = self.lexed;
        if !lexed.is_open(self.at) {
            self.at += 1;
            return;
        }
        self.at = lexed.closing(self.at) + 1;
        while lexed.is_mark(self.at, b'=') || lexed.is_mark(self.at, b'>') {
            self.at += 1;
        }
        if !lexed.is_open(self.at) {
            return;
        }
        let close = lexed.closing(self.at);
        if self.declares_modules(self.at, close) {
            self.enter(self.at, PlaceKind::Items, self.top().module);
        } else {
            self.definition(close);
            self.at = close + 1;
        }
    }

    /// Reads a path, and the call if it is that of a macro.
    fn path(&mut self) {
        let from = self.at;
        let lexed = self.lexed;
        let mut behind = from + 1;
        while lexed.kind(behind) == Some(Kind::Separator) && lexed.kind(behind + 1) == Some(Kind::Word) {
            behind += 2;
        }
        if !(lexed.is_mark(behind, b'!') && lexed.is_open(behind + 1)) {
            self.push_path(PathPlace::Code);
            return;
        }
        let open = behind + 1;
        let name = lexed.text_at(behind - 1);
        match name {
            "quote" | "quote_spanned" | "parse_quote" | "parse_quote_spanned" | "stringify" => {
                self.push_path(PathPlace::Macro);
                self.at = lexed.closing(open) + 1;
                return;
            }
            "include" | "include_str" | "include_bytes" => self.include(open),
            _ => {}
        }
        self.push_path(PathPlace::Macro);
        let top = self.top();
        let (module, is_item) = (top.module, top.kind != PlaceKind::Body && !top.in_item);
        if is_item {
            if behind == from + 1 {
                self.scan.calls.push(ItemCall { module, token: from });
            }
            self.enter(open, PlaceKind::Items, module);
        } else {
            self.at = behind;
        }
    }

    /// Records the path at the current token and skips it.
    fn push_path(&mut self, place: PathPlace) {
        let from = self.at as u32;
        let mut words = 1;
        self.at += 1;
        while self.lexed.kind(self.at) == Some(Kind::Separator) && self.lexed.kind(self.at + 1) == Some(Kind::Word) {
            words += 1;
            self.at += 2;
        }
        if words > 1 || place == PathPlace::Macro {
            let top = self.top();
            self.scan.paths.push(RawPath { module: top.module, block: top.block, from, words, place });
        }
    }

    fn skip_path(&mut self) {
        self.at += 1;
        while self.lexed.kind(self.at) == Some(Kind::Separator) && self.lexed.kind(self.at + 1) == Some(Kind::Word) {
            self.at += 2;
        }
    }

    /// `::` without a word before it: the start of a path, or the continuation after type arguments.
    fn leading_separator(&mut self) {
        let before = self.at.checked_sub(1).and_then(|before| self.lexed.kind(before));
        let continues = matches!(before, Some(Kind::Mark(b'>' | b')' | b']')));
        if self.lexed.kind(self.at + 1) != Some(Kind::Word) {
            self.at += 1;
        } else if continues {
            self.at += 1;
            self.skip_path();
        } else {
            // The path includes its leading separator: `words` starts at the word, so the token before it tells.
            self.at += 1;
            self.path();
        }
    }

    /// `$name` in the arguments of a macro that defines macros: its value, and so the rest of the path, is unknown.
    fn variable(&mut self) {
        self.at += 1;
        if self.lexed.word(self.at) == "crate" {
            self.path();
        } else if !self.lexed.word(self.at).is_empty() {
            self.skip_path();
        }
    }

    /// The literal in `include!("x")` or `include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/x"))`.
    fn include(&mut self, open: usize) {
        let lexed = self.lexed;
        let first = open + 1;
        if lexed.kind(first) == Some(Kind::Text) {
            self.scan.includes.push(Include { token: first, from_manifest: false });
            return;
        }
        // concat ! ( env ! ( "…" ) , "…" )
        let is_concat = lexed.word(first) == "concat" && lexed.word(first + 3) == "env";
        if is_concat && lexed.text_at(first + 6) == "\"CARGO_MANIFEST_DIR\"" && lexed.is_mark(first + 8, b',') {
            let token = first + 9;
            let ends =
                lexed.is_mark(token + 1, b')') || lexed.is_mark(token + 1, b',') && lexed.is_mark(token + 2, b')');
            if lexed.kind(token) == Some(Kind::Text) && ends {
                self.scan.includes.push(Include { token, from_manifest: true });
            }
        }
    }

    fn attribute(&mut self) {
        let lexed = self.lexed;
        let open = if lexed.is_mark(self.at + 1, b'!') { self.at + 2 } else { self.at + 1 };
        if !lexed.is_mark(open, b'[') {
            self.at += 1;
            return;
        }
        let close = lexed.closing(open);
        let name = lexed.word(open + 1);
        match name {
            "cfg" | "doc" | "allow" | "expect" | "warn" | "deny" | "forbid" | "rustfmt" | "clippy" | "diagnostic" => {
                self.at = close + 1;
                return;
            }
            "macro_export" => self.top_mut().exported = true,
            _ => {}
        }
        let mut at = open + 1;
        while at < close {
            match lexed.kind(at) {
                Some(Kind::Word) if lexed.text_at(at) == "path" && lexed.is_mark(at + 1, b'=') => {
                    if lexed.kind(at + 2) == Some(Kind::Text) {
                        self.top_mut().paths.push(at + 2);
                        self.top_mut().conditional |= name == "cfg_attr";
                    }
                    at += 2;
                }
                Some(Kind::Word) if lexed.kind(at + 1) == Some(Kind::Separator) => {
                    self.at = at;
                    self.push_path(PathPlace::Code);
                    at = self.at;
                }
                _ => at += 1,
            }
        }
        self.at = close + 1;
    }
}
