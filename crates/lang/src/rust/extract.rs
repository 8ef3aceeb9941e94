//! Extraction: the bytes of one Rust file → `FileFacts` and problems. A pure function of its input.

use std::hash::BuildHasher as _;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use stan_model::facts::{Binding, Bound, ImportedName, Request, Scope};
use stan_model::{EdgeKind, FileFacts, FileProblem};

use super::form::{Form, MAX_MODULE_DEPTH};
use super::lexer::{Kind, Lexed, lex};
use super::literal;
use super::scan::{ItemCall, ModuleFile, NO_BLOCK, PathPlace, RawPath, RawUse, Scan, scan};
use crate::language::{ExtractOptions, Extraction};
use crate::name_order::{beginning, in_order};
use crate::{decode, prose};

/// The maximum length of an inline module's path. Requests of deeper modules are dropped.
const MAX_SCOPE_BYTES: usize = 512;

/// Longer paths are ignored.
const MAX_PATH_BYTES: usize = 1024;

/// The maximum number of item macro calls recorded per file: every name that a module does not declare is looked up in all of
/// them.
const MAX_MACRO_CALLS: usize = 256;

/// The maximum number of enclosing blocks with imports that are searched for a path.
const MAX_BLOCKS: usize = 64;

pub fn extract(bytes: &[u8], options: &ExtractOptions) -> Extraction {
    let decoded = decode::decode(bytes);
    let mut extraction = decoded.text.as_deref().map(|text| of_text(text, options)).unwrap_or_default();
    if let Some(problem) = decoded.problem {
        extraction.problems.insert(0, FileProblem::new(problem));
        extraction.incomplete = true;
    }
    extraction
}

/// Only parses the file, like [`extract`]: a lower bound to measure extraction against.
pub fn parse_only(text: &str) -> usize {
    let lexed = lex(text);
    let scan = scan(&lexed);
    scan.items.len() + scan.uses.len() + scan.paths.len()
}

/// Only lexes and matches brackets: a lower bound even for a parser.
pub fn tokens_only(text: &str) -> usize {
    lex(text).tokens.len()
}

fn of_text(text: &str, options: &ExtractOptions) -> Extraction {
    if u32::try_from(text.len()).is_err() {
        let problems = vec![FileProblem::new("is larger than 4 GiB; nothing was read from it")];
        return Extraction { problems, incomplete: true, ..Extraction::default() };
    }
    let lexed = lex(text);
    let scan = scan(&lexed);
    let mut builder = Builder::new(&lexed, &scan);
    builder.run();
    let mut extraction = builder.finish();
    extraction.facts.description = description(&lexed, options);
    if let Some(position) = lexed.unmatched {
        let line = line_of(text, position);
        let message = "does not parse: a bracket has no partner; what could be read of the file counts";
        extraction.problems.push(FileProblem::at(line, message));
        extraction.incomplete = true;
    }
    extraction
}

/// The module's description: the first paragraph of the doc comment at its start.
fn description(lexed: &Lexed<'_>, options: &ExtractOptions) -> Option<Box<str>> {
    let mut paragraph = String::new();
    for comment in &lexed.comments {
        let text = lexed.text.get(comment.start as usize..comment.end as usize)?;
        if lexed.tokens.first().is_some_and(|token| token.start < comment.start && paragraph.is_empty()) {
            break;
        }
        if let Some(block) = text.strip_prefix("/*!") {
            let block = block.trim_end_matches("*/").trim_start();
            paragraph.push_str(block.split("\n\n").next().unwrap_or_default());
            break;
        }
        match text.strip_prefix("//!").map(str::trim) {
            Some("") if paragraph.is_empty() => {}
            Some("") => break,
            Some(line) => {
                paragraph.push_str(line);
                paragraph.push('\n');
            }
            None if paragraph.is_empty() => {}
            None => break,
        }
        if paragraph.len() > 4 * options.description_limit + 1024 {
            break;
        }
    }
    if paragraph.is_empty() {
        return None;
    }
    let plain = prose::plain_text(&paragraph);
    (!plain.is_empty()).then(|| prose::cut(&plain, options.description_limit))
}

/// The specifiers of imports and paths, in scan order; `None` for those without a request.
pub(super) struct Specifiers {
    pub(super) uses: Vec<Option<Box<str>>>,
    pub(super) paths: Vec<Option<Box<str>>>,
}

/// The specifiers that [`extract`] gives to the imports and paths of a scan.
pub(super) fn specifiers(lexed: &Lexed<'_>, scan: &Scan<'_>) -> Specifiers {
    let mut builder = Builder::new(lexed, scan);
    let (uses, paths) = builder.run();
    let requests = &builder.facts.requests;
    let specifier = |number: Option<u32>| Some(requests.get(number? as usize)?.specifier.clone());
    Specifiers { uses: uses.into_iter().map(specifier).collect(), paths: paths.into_iter().map(specifier).collect() }
}

struct Builder<'b, 't> {
    lexed: &'b Lexed<'t>,
    scan: &'b Scan<'t>,
    facts: FileFacts,
    /// The names of each module of the file.
    bindings: Vec<Vec<RawBinding<'t>>>,
    /// The path of each module of the file, `a::b`, and its depth; `None` if the path is too long.
    scopes: Vec<Option<(Box<str>, usize)>>,
    /// Requests by the hash of specifier and form. Linear probing: on a collision, the next free key is used.
    requests: FxHashMap<u64, u32>,
    lines: Vec<u32>,
    /// For each block, the innermost block at or around it that has imports.
    importing: Vec<u32>,
    block_uses: FxHashMap<(u32, &'t str), usize>,
    /// The remaining bytes for specifiers, limited so that facts stay proportional to the file.
    budget: usize,
    left_out: bool,
    scratch: String,
    /// The current path.
    segments: Vec<&'t str>,
    macros: FxHashSet<&'t str>,
}

/// A [`Binding`] under construction. The first bytes of names, compared as an integer, nearly always decide the order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RawBinding<'t> {
    beginning: u64,
    name: &'t str,
    bound: Bound,
    public: bool,
}

impl RawBinding<'_> {
    fn owned(self) -> Binding {
        Binding { name: self.name.into(), bound: self.bound, public: self.public }
    }
}

impl<'b, 't> Builder<'b, 't> {
    fn new(lexed: &'b Lexed<'t>, scan: &'b Scan<'t>) -> Self {
        let mut importing: Vec<u32> = vec![NO_BLOCK; scan.blocks.len()];
        let mut block_uses = FxHashMap::default();
        for (at, one) in scan.uses.iter().enumerate().filter(|(_, one)| one.block != NO_BLOCK) {
            importing[one.block as usize] = one.block;
            if let Some(name) = one.leaf.name() {
                block_uses.entry((one.block, name)).or_insert(at);
            }
        }
        for block in 0..importing.len() {
            if importing[block] == NO_BLOCK {
                importing[block] = importing.get(scan.blocks[block] as usize).copied().unwrap_or(NO_BLOCK);
            }
        }
        Self {
            lexed,
            scan,
            facts: FileFacts::default(),
            bindings: Vec::new(),
            scopes: Vec::with_capacity(scan.modules.len()),
            // Each path occurs a few times on average.
            requests: FxHashMap::with_capacity_and_hasher(scan.uses.len() + scan.paths.len() / 4, FxBuildHasher),
            lines: Vec::with_capacity(scan.uses.len() + scan.paths.len() / 4),
            importing,
            block_uses,
            budget: lexed.text.len().saturating_mul(4).saturating_add(1 << 16),
            left_out: false,
            scratch: String::new(),
            segments: Vec::new(),
            macros: FxHashSet::default(),
        }
    }

    /// Collects all facts; returns the requests of imports and of paths.
    fn run(&mut self) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
        let scan = self.scan;
        self.modules();
        scan.files.iter().for_each(|file| self.module_file(file));
        let uses = scan.uses.iter().map(|one| self.use_leaf(one)).collect();
        self.items();
        self.includes();
        let before = self.facts.requests.len();
        for call in &scan.calls {
            if self.facts.requests.len() < before + MAX_MACRO_CALLS {
                self.item_call(call);
            }
        }
        let paths = scan.paths.iter().map(|path| self.path(path)).collect();
        (uses, paths)
    }

    fn modules(&mut self) {
        self.facts.scopes = self.scan.modules.iter().map(|_| Scope::default()).collect();
        self.bindings = self.scan.modules.iter().map(|_| Vec::new()).collect();
        // Nearly all bindings belong to the file's own module.
        if let Some(own) = self.bindings.first_mut() {
            own.reserve(self.scan.items.len() + self.scan.uses.len());
        }
        for (index, module) in self.scan.modules.iter().enumerate() {
            if index == 0 {
                self.scopes.push(Some(("".into(), 0)));
                continue;
            }
            let around = self.scopes.get(module.parent as usize).and_then(Option::as_ref);
            let own = around.and_then(|(path, depth)| {
                let separator = if path.is_empty() { "" } else { "::" };
                let path = [path, separator, module.name].concat();
                (path.len() <= MAX_SCOPE_BYTES && *depth < MAX_MODULE_DEPTH).then(|| (path.into(), depth + 1))
            });
            self.scopes.push(own);
            let bound = if module.is_expansion { Bound::Expansion } else { Bound::Scope };
            self.bind(module.parent, module.name, bound(index as u32), module.public);
        }
    }

    fn bind(&mut self, module: u32, name: &'t str, bound: Bound, public: bool) {
        self.bindings[module as usize].push(RawBinding { beginning: beginning(name), name, bound, public });
    }

    /// The number of the request whose specifier is in `scratch`; adds it if it is new.
    fn request(&mut self, form: Form, depth: usize, token: usize) -> Option<u32> {
        let code = form.code(depth);
        let next = self.facts.requests.len() as u32;
        if self.scratch.is_empty() || self.scratch.len() > MAX_PATH_BYTES {
            return None;
        }
        let mut hash = FxBuildHasher.hash_one((self.scratch.as_str(), code.0));
        while let Some(known) = self.requests.get(&hash) {
            let request = self.facts.requests.get(*known as usize);
            if request.is_some_and(|request| request.form == code && *request.specifier == *self.scratch) {
                return Some(*known);
            }
            hash = hash.wrapping_add(1);
        }
        // Including the character of its form.
        let length = self.scratch.len() + char::from(code.0).len_utf8();
        if self.budget < length {
            self.left_out = true;
            return None;
        }
        self.budget -= length;
        self.requests.insert(hash, next);
        let specifier: Box<str> = self.scratch.as_str().into();
        self.facts.requests.push(Request { specifier, kind: EdgeKind::Runtime, form: code, line: 0 });
        self.lines.push(self.lexed.tokens.get(token).map_or(0, |token| token.start));
        Some(next)
    }

    fn module_file(&mut self, file: &ModuleFile<'t>) {
        let literals: Vec<String> = file.paths.iter().filter_map(|token| self.literal(*token)).collect();
        let is_plain = literals.is_empty() || file.optional;
        for literal in &literals {
            let (folder, from_file) = self.folder(file.module);
            let depth = usize::from(!from_file);
            self.scratch = [&folder, literal.as_str()].concat();
            self.bind_file(file, Form::ModulePath, depth);
        }
        if is_plain {
            let (folder, from_file) = self.folder(file.module);
            // Below a module with its own `#[path]`, only the file's folder matters.
            let is_path = from_file && !folder.is_empty();
            self.scratch = [folder.as_str(), file.name, if is_path { ".rs" } else { "" }].concat();
            let form = match (is_path, file.optional) {
                (true, _) => Form::ModulePath,
                (false, true) => Form::OptionalModule,
                (false, false) => Form::Module,
            };
            self.bind_file(file, form, 0);
        }
    }

    fn bind_file(&mut self, file: &ModuleFile<'t>, form: Form, depth: usize) {
        if let Some(request) = self.request(form, depth, file.token) {
            self.bind(file.module, file.name, Bound::Request(request), file.public);
        }
    }

    /// The folder for files of an inline module, with a trailing slash, and whether it is relative to the folder of the file
    /// rather than to that of the file's module.
    fn folder(&self, module: u32) -> (String, bool) {
        let mut parts: Vec<String> = Vec::new();
        let mut from_file = true;
        let mut at = module;
        while at != 0 && parts.len() <= MAX_MODULE_DEPTH {
            let Some(raw) = self.scan.modules.get(at as usize) else { break };
            at = raw.parent;
            // The files of modules that a macro declares are relative to the caller.
            if raw.is_expansion {
                continue;
            }
            from_file = false;
            match raw.path.and_then(|token| self.literal(token)) {
                Some(path) => {
                    parts.push(path);
                    from_file = true;
                    break;
                }
                None => parts.push(raw.name.to_owned()),
            }
        }
        parts.reverse();
        let mut folder = parts.join("/");
        if !folder.is_empty() {
            folder.push('/');
        }
        (folder, from_file)
    }

    fn literal(&self, token: usize) -> Option<String> {
        literal::value(self.lexed.text_at(token)).filter(|value| value.len() <= MAX_PATH_BYTES)
    }

    fn use_leaf(&mut self, one: &RawUse<'t>) -> Option<u32> {
        let leaf = &one.leaf;
        let is_self = one.is_extern && leaf.path == ["self"];
        let path: &[&str] = if is_self { &["crate"] } else { &leaf.path };
        let (form, depth) = if one.is_extern && !is_self {
            self.scratch.clear();
            self.scratch.push_str(path.first().copied().unwrap_or_default());
            (Form::Extern, 0)
        } else {
            (Form::Use, self.write_path(one.module, path)?)
        };
        let request = self.request(form, depth, leaf.token)?;
        if leaf.is_glob {
            let globs = &mut self.facts.scopes[one.module as usize].globs;
            // A glob import in a block is recorded for the whole module. Harmless, because globs are tried only for names that
            // are not found otherwise.
            globs.push((request, one.public && one.block == NO_BLOCK));
            return Some(request);
        }
        if let Some(name) = leaf.path.last().filter(|name| !is_anchor(name) && leaf.path.len() > 1) {
            self.take(request, name);
        }
        if let Some(name) = leaf.name().filter(|_| one.block == NO_BLOCK) {
            self.bind(one.module, name, Bound::Request(request), one.public);
        }
        Some(request)
    }

    fn take(&mut self, request: u32, name: &str) {
        self.facts.imports.push(ImportedName { request, name: name.into(), kind: EdgeKind::Runtime });
    }

    /// Writes a path, as seen from the file's module, to `scratch`. Returns how many of its segments are modules of the file if
    /// it starts with a plain name.
    fn write_path(&mut self, module: u32, path: &[&str]) -> Option<usize> {
        let (scope, depth) = self.scopes.get(module as usize)?.as_ref()?;
        let out = &mut self.scratch;
        out.clear();
        let mut rest = path;
        let mut scopes = 0;
        match path.first().copied()? {
            "crate" => {}
            "" => {
                rest = path.get(1..)?;
                out.push_str("::");
            }
            "self" | "super" => {
                rest = path.strip_prefix(&["self"]).unwrap_or(path);
                let supers = rest.iter().take_while(|segment| **segment == "super").count();
                rest = rest.get(supers..)?;
                let inside = supers.min(*depth);
                let keep = scope.split("::").take(depth - inside);
                if supers > *depth {
                    (0..supers - depth).for_each(|_| push_segment(out, "super"));
                } else {
                    push_segment(out, "self");
                    keep.filter(|segment| !segment.is_empty()).for_each(|segment| push_segment(out, segment));
                }
            }
            _ if *depth > 0 => {
                out.push_str("self::");
                out.push_str(scope);
                scopes = *depth;
            }
            _ => {}
        }
        for (at, segment) in rest.iter().enumerate() {
            if at > 0 || !(out.is_empty() || out.ends_with("::")) {
                out.push_str("::");
            }
            out.push_str(segment);
            if out.len() > MAX_PATH_BYTES {
                return None;
            }
        }
        Some(scopes)
    }

    fn items(&mut self) {
        let mut declared: Vec<&str> = Vec::new();
        let scan = self.scan;
        for item in &scan.items {
            let bound = if item.is_macro { Bound::Macro } else { Bound::Item };
            self.bind(item.module, item.name, bound, item.public);
            if item.public {
                declared.push(item.name);
            }
        }
        let mut declared = in_order(declared.into_iter());
        declared.dedup();
        self.facts.declares = declared.into_iter().map(Into::into).collect();
    }

    fn includes(&mut self) {
        for include in &self.scan.includes {
            let Some(path) = self.literal(include.token).filter(|path| !path.is_empty()) else { continue };
            self.scratch = path;
            self.request(Form::Include, usize::from(include.from_manifest), include.token);
        }
    }

    /// A call of a macro that may declare modules: its names are imported like those of a glob.
    fn item_call(&mut self, call: &ItemCall) {
        let name = self.lexed.text_at(call.token);
        if is_standard_macro(name) {
            return;
        }
        self.scratch.clear();
        self.scratch.push_str(name);
        if let Some(request) = self.request(Form::Macro, 0, call.token) {
            self.facts.scopes[call.module as usize].globs.push((request, true));
        }
    }

    fn path(&mut self, raw: &RawPath) -> Option<u32> {
        let from = raw.from as usize;
        let lexed = self.lexed;
        let first = lexed.text_at(from);
        let is_global = from.checked_sub(1).and_then(|before| lexed.kind(before)) == Some(Kind::Separator);
        let is_macro = raw.place == PathPlace::Macro;
        if raw.words == 1 && !is_global {
            self.macros.insert(first);
            return None;
        }
        if !is_global && !is_macro && is_type_name(first) || raw.words as usize > MAX_MODULE_DEPTH {
            return None;
        }
        let mut path = std::mem::take(&mut self.segments);
        path.clear();
        if is_global {
            path.push("");
        }
        for at in (0..raw.words as usize).map(|word| from + 2 * word) {
            let segment = lexed.text_at(at);
            path.push(segment);
            // Anything after a type is one of its members.
            if !is_macro && is_capitalized(segment) {
                break;
            }
        }
        if !is_global && !is_anchor(first) {
            self.through_blocks(raw.block, &mut path);
        }
        let request = self.path_request(raw, &path);
        self.segments = path;
        request
    }

    fn path_request(&mut self, raw: &RawPath, path: &[&str]) -> Option<u32> {
        if path.len() < 2 {
            return None;
        }
        let depth = self.write_path(raw.module, path)?;
        let form = if raw.place == PathPlace::Macro { Form::Macro } else { Form::Path };
        let known = self.facts.requests.len();
        let request = self.request(form, depth, raw.from as usize)?;
        if let Some(name) = path.last().filter(|_| request as usize == known) {
            self.take(request, name);
        }
        Some(request)
    }

    /// If an import in a block around a path binds its first name, replaces the name by the imported path.
    fn through_blocks(&self, block: u32, path: &mut Vec<&'t str>) {
        let Some(mut at) = self.importing.get(block as usize).copied() else { return };
        for _ in 0..MAX_BLOCKS {
            if at == NO_BLOCK {
                return;
            }
            let Some(first) = path.first().copied() else { return };
            if let Some(one) = self.block_uses.get(&(at, first)).and_then(|at| self.scan.uses.get(*at)) {
                path.splice(..1, one.leaf.path.iter().copied());
                if path.first() != Some(&first) && path.len() <= MAX_MODULE_DEPTH {
                    continue;
                }
                return;
            }
            at = self
                .scan
                .blocks
                .get(at as usize)
                .and_then(|around| self.importing.get(*around as usize))
                .copied()
                .unwrap_or(NO_BLOCK);
        }
    }

    fn finish(mut self) -> Extraction {
        for (scope, mut bindings) in self.facts.scopes.iter_mut().zip(self.bindings) {
            bindings.sort_unstable();
            bindings.dedup();
            // Facts stay in memory for long: copy, so that they do not keep the larger allocation.
            scope.bindings = Vec::with_capacity(bindings.len());
            scope.bindings.extend(bindings.into_iter().map(RawBinding::owned));
            scope.globs.sort_unstable();
            scope.globs.dedup();
        }
        let own = self.scan.items.iter().filter(|item| item.is_macro);
        let mut own: Vec<&str> = own.map(|item| item.name).collect();
        own.sort_unstable();
        let is_own = |name: &str| own.binary_search(&name).is_ok();
        let used = self.macros.iter().copied().filter(|name| !is_own(name) && !is_standard_macro(name));
        self.facts.uses = in_order(used).into_iter().map(Into::into).collect();
        set_lines(self.lexed.text, &mut self.facts.requests, &self.lines);
        let mut extraction = Extraction { facts: self.facts, ..Extraction::default() };
        if self.left_out {
            let message = "its paths are far longer than its text; some of them were left out";
            extraction.problems.push(FileProblem::new(message));
        }
        extraction
    }
}

fn push_segment(out: &mut String, segment: &str) {
    if !out.is_empty() {
        out.push_str("::");
    }
    out.push_str(segment);
}

fn is_anchor(name: &str) -> bool {
    matches!(name, "crate" | "self" | "super" | "")
}

/// Whether the first segment of a path is a type, whose members are not modules.
fn is_type_name(name: &str) -> bool {
    is_capitalized(name)
        || matches!(
            name,
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "bool"
        )
}

fn is_capitalized(name: &str) -> bool {
    match name.as_bytes().first() {
        Some(first) if first.is_ascii() => first.is_ascii_uppercase(),
        _ => name.starts_with(char::is_uppercase),
    }
}

/// Macros of the standard library's prelude.
fn is_standard_macro(name: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: [&str; 46] = [
        "addr_of", "addr_of_mut", "assert", "assert_eq", "assert_ne", "cfg", "column", "compile_error", "concat", "concat_idents", "dbg",
        "debug_assert", "debug_assert_eq", "debug_assert_ne", "env", "eprint", "eprintln", "file", "format", "format_args",
        "include", "include_bytes", "include_str", "is_x86_feature_detected", "line", "llvm_asm", "macro_rules", "matches", "module_path",
        "option_env", "panic", "pin", "print", "println", "quote", "ready", "stringify", "thread_local", "todo", "try", "unimplemented",
        "unreachable", "vec", "write", "writeln", "yield",
    ];
    NAMES.binary_search(&name).is_ok()
}

/// The 1-based line of a byte offset.
fn line_of(text: &str, position: u32) -> u32 {
    let before = text.as_bytes().get(..position as usize).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() as u32 + 1
}

/// Sets the lines of requests from their byte offsets. Counts newlines only up to the last request, which is cheaper than an
/// index of all lines.
fn set_lines(text: &str, requests: &mut [Request], positions: &[u32]) {
    let mut order: Vec<(u32, u32)> = (0..).zip(positions).map(|(request, position)| (*position, request)).collect();
    // The offsets consist of a few ascending runs (imports, paths and so on), which a merge sort exploits.
    order.sort();
    let (mut line, mut counted) = (1, 0);
    for (position, request) in order {
        let end = (position as usize).min(text.len());
        line += memchr::memchr_iter(b'\n', text.as_bytes().get(counted..end).unwrap_or_default()).count() as u32;
        counted = end;
        if let Some(request) = requests.get_mut(request as usize) {
            request.line = line;
        }
    }
}
