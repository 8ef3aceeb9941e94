//! Makes one pack, from request to document.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use stan_diagnose::ColumnUnit;
use stan_lang::ProjectResolvers;
use stan_model::document::pack::{
    Pack, PackDiagnostic, PackDigests, PackFocus, PackInput, PackMissing, PackProject, PackTotals, PackTruncation,
    SCHEMA, Toolchain,
};
use stan_model::outline::{Lines, UnitId};
use stan_pack::{Closure, Focus, Limits, MissingReason, PointedPlace, Question, closure, focus_at, lines_around};
use stan_repo::{System, Universe, World};

use super::diagnostics::{
    MAX_NEAR, Placed, focus_of, place, quoted_names, unresolved_locations, written as written_diagnostic,
};
use super::files::{LoadedFile, PackFiles};
use super::fitting::{FittedItems, Fitting};
use super::items::{Counter, Draft, draft, exports_draft, file_draft, focus_draft, imports_draft};
use super::list::{check_tool, is_file};
use super::places::{LineColumn, Located, Locator, position};
use super::sources::{Sources, sources};
use super::{AskedPlace, AskedSymbol, PackOutcome, PackRequest};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::{ExcludedFiles, FoundTargets};
use crate::outline::{near_modules, near_names, scan, unknown_files};
use crate::secrets::secrets_of;

/// The most entries of `omitted` and of `missing` in the document.
const MAX_LISTED: usize = 1_000;

/// How many declarations of one name in one file a pack explains.
const MAX_OF_ONE_NAME: usize = 20;

/// Reserved unit ids: the imports and the export list of a file.
const IMPORTS: UnitId = UnitId(u32::MAX);
const EXPORTS: UnitId = UnitId(u32::MAX - 1);

/// The declarations that explain places, logs and symbols.
pub fn pack(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &PackRequest,
) -> Result<PackOutcome, EngineError> {
    check_tool(request.from.as_deref())?;
    let sources = sources(engine, repository, request)?;
    engine.parse(|| {
        let system: &dyn System = engine.system();
        let options = repository.config.graph_options(repository.root);
        let universe = scan(system, repository);
        let world = options.world(system, Some(&universe));
        let project = options.project(&world, &universe.files);
        let resolvers = ProjectResolvers::open(options.languages, &project);
        let excluded = ExcludedFiles::new(&options);
        let table = FoundTargets::new(&excluded);
        let files = PackFiles::new(system, &world, &options, &resolvers, &table);
        let run = PackRun {
            system,
            repository,
            request,
            universe: &universe,
            files: &files,
            counter: Counter { tokenizer: request.tokenizer, item: request.item_tokens },
        };
        let mut outcome = run.pack(&world, sources)?;
        outcome.problems.extend(excluded_imports(table.excluded_imports()));
        Ok(outcome)
    })
}

/// A message about imports of excluded files, as in the graph.
fn excluded_imports(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 import resolves to an excluded file".to_owned()),
        count => Some(format!("{count} imports resolve to excluded files")),
    }
}

/// One line for all files that contain a secret, each with its lines: the pack of a task may reach many.
fn held_back_problem(mut files: Vec<String>) -> Option<String> {
    const MAX_NAMED: usize = 6;
    files.sort_unstable();
    let hidden = files.len().saturating_sub(MAX_NAMED);
    let more = if hidden > 0 { format!(", +{hidden} more") } else { String::new() };
    let named = files.get(..files.len() - hidden)?.join(", ");
    (!files.is_empty())
        .then(|| format!("held back because of a secret: {named}{more}; --allow-secret PATH shows a file all the same"))
}

struct PackRun<'r, 'p> {
    system: &'r dyn System,
    repository: &'r Repository<'r>,
    request: &'r PackRequest,
    universe: &'r Universe,
    files: &'r PackFiles<'p>,
    counter: Counter,
}

/// A position that the pack explains.
pub(super) struct Root {
    pub(super) loaded: Rc<LoadedFile>,
    pub(super) question: Question,
    pub(super) line: u32,
    col: Option<u32>,
    diagnostic: Option<u64>,
}

/// The intermediate state of a run.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) roots: Vec<Root>,
    pub(super) diagnostics: Vec<PackDiagnostic>,
    pub(super) missing: Vec<PackMissing>,
    problems: BTreeSet<String>,
    /// Each focus once, with the indices of the roots inside it.
    pub(super) focus: Vec<(Draft, Vec<usize>)>,
    /// The items that explain them, the most important first.
    pub(super) drafts: Vec<Draft>,
}

impl Gathered {
    fn all_drafts(&mut self) -> impl Iterator<Item = &mut Draft> {
        self.focus.iter_mut().map(|(draft, _)| draft).chain(&mut self.drafts)
    }
}

impl PackRun<'_, '_> {
    fn pack(&self, world: &World<'_>, sources: Sources) -> Result<PackOutcome, EngineError> {
        let mut gathered = Gathered::default();
        self.logs(&mut gathered)?;
        for asked in &self.request.places {
            let root = self.asked_place(asked, &mut gathered.problems)?;
            gathered.roots.push(root);
        }
        for asked in &self.request.symbols {
            gathered.roots.extend(self.asked_symbol(asked)?);
        }
        self.close(&mut gathered);
        self.sources(sources, &mut gathered);
        self.hold_back_secrets(&mut gathered);
        let fitting = Fitting::new(self.request, self.files, self.counter);
        let fitted = fitting.fit(&gathered);
        let problems = std::mem::take(&mut gathered.problems);
        let pack = self.document(gathered, fitted, world);
        let PackRequest { budget, tokenizer, .. } = *self.request;
        Ok(PackOutcome { pack, budget, tokenizer, problems: problems.into_iter().collect() })
    }

    fn logs(&self, gathered: &mut Gathered) -> Result<(), EngineError> {
        if self.request.logs.is_empty() {
            return Ok(());
        }
        let is_file = |path: &str| is_file(self.system, self.repository.root, path);
        let locator = Locator::new(self.repository.root, &self.universe.files, &is_file);
        let mut placed = Vec::new();
        for log in &self.request.logs {
            placed.extend(place(stan_diagnose::parse(&log.bytes, self.request.from.as_deref()), &locator));
        }
        let chosen = self.chosen(&placed)?;
        let stale: Vec<bool> = placed.iter().map(|one| self.is_stale(one)).collect();
        for (one, stale) in placed.iter().zip(&stale) {
            gathered.diagnostics.push(written_diagnostic(&one.diagnostic, one.file(), *stale));
            if let (Located::Ambiguous(files), Some(place)) = (&one.located, &one.diagnostic.place) {
                gathered.missing.push(PackMissing {
                    name: place.file.clone(),
                    file: place.file.clone(),
                    line: place.line,
                    reason: "ambiguous-path",
                    from: None,
                    near: files.iter().take(MAX_NEAR).cloned().collect(),
                });
            }
        }
        for index in chosen {
            let Some(one) = placed.get(index) else { continue };
            if stale.get(index).is_some_and(|stale| *stale) {
                let file = one.file().unwrap_or_default();
                gathered
                    .problems
                    .insert(format!("{file}: the log shows another text for the line: it is older than the file"));
            }
            gathered.roots.extend(self.of_diagnostic(one, index, &locator, &mut gathered.problems));
        }
        Ok(())
    }

    /// The diagnostics to explain.
    fn chosen(&self, placed: &[Placed]) -> Result<Vec<usize>, EngineError> {
        let has_place = |index: &usize| placed.get(*index).is_some_and(|one| one.file().is_some());
        if self.request.all {
            let errors: Vec<usize> = (0..placed.len())
                .filter(has_place)
                .filter(|index| {
                    placed.get(*index).is_some_and(|one| one.diagnostic.severity == stan_diagnose::Severity::Error)
                })
                .collect();
            if !errors.is_empty() {
                return Ok(errors);
            }
        }
        if let Some(number) = self.request.diagnostic {
            let index = number.wrapping_sub(1);
            return if has_place(&index) {
                Ok(vec![index])
            } else {
                Err(EngineError::input(format!("diagnostic {number} has no place in the repository"))
                    .hint(format!("the log has {} of them; `stan pack --list` shows them", placed.len())))
            };
        }
        match focus_of(placed) {
            Some(index) => Ok(vec![index]),
            None if self.has_other_sources() => Ok(Vec::new()),
            None => Err(EngineError::input("no diagnostic in the log names a file of the repository")
                .details(unresolved_locations(placed, &self.universe.files))
                .hint("`stan pack --list LOG` shows what was read; -C names the folder that the log's paths are relative to")),
        }
    }

    /// Whether a pack can be made without a diagnostic.
    fn has_other_sources(&self) -> bool {
        let request = self.request;
        let is_empty = request.places.is_empty() && request.symbols.is_empty() && request.focus.is_empty();
        !(is_empty && request.changed.is_none() && request.about.is_empty())
    }

    fn is_stale(&self, one: &Placed) -> bool {
        let (Some(file), Some(place), Some(excerpt)) = (one.file(), &one.diagnostic.place, &one.diagnostic.excerpt)
        else {
            return false;
        };
        let Some(loaded) = self.files.load(self.files.id_of(file)) else { return true };
        let lines = Lines { from: place.line, to: place.line };
        let line = loaded.starts.span(lines, &loaded.text).of(&loaded.text);
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (line, excerpt) = (folded(line), folded(excerpt));
        // Tools truncate long lines, so the excerpt may be only a part of the line.
        !excerpt.is_empty() && !line.contains(excerpt.trim_matches('…').trim())
    }

    fn of_diagnostic(
        &self,
        one: &Placed,
        index: usize,
        locator: &Locator<'_>,
        problems: &mut BTreeSet<String>,
    ) -> Option<Root> {
        let (file, place) = (one.file()?, one.diagnostic.place.as_ref()?);
        let unit = one.diagnostic.unit;
        let end = one.diagnostic.end.map(|(line, _)| line);
        let mut root = self.root(file, LineColumn { line: place.line, col: place.col, unit }, end, problems)?;
        let located = |path: &str| match locator.locate(path) {
            Located::Found(file) => Some(self.files.id_of(&file)),
            _ => None,
        };
        let related = one.diagnostic.related.iter().map(|one| (&one.place, "related"));
        let frames = one.diagnostic.frames.iter().map(|one| (&one.place, "frame"));
        for (place, how) in related.chain(frames) {
            let Some(file) = located(&place.file) else { continue };
            let Some(loaded) = self.files.load(file) else { continue };
            let written = LineColumn { line: place.line, col: place.col, unit };
            let position = position(&loaded.text, &loaded.starts, written);
            root.question.places.push(PointedPlace { file, position, how });
        }
        root.question.quoted = quoted_names(&one.diagnostic.message);
        root.diagnostic = Some(index as u64);
        Some(root)
    }

    /// `end`: the last line of the range that a tool reports.
    fn root(&self, file: &str, place: LineColumn, end: Option<u32>, problems: &mut BTreeSet<String>) -> Option<Root> {
        let LineColumn { line, col, .. } = place;
        let id = self.files.id_of(file);
        let loaded = self.files.load(id)?;
        let last = loaded.starts.count();
        if line > last {
            // The newline at the end of a file does not start a further line.
            let lines = last.saturating_sub(u32::from(loaded.text.ends_with('\n'))).max(1);
            problems.insert(format!("{file}: line {line} is beyond the end; the file has {lines} lines"));
        }
        let at = position(&loaded.text, &loaded.starts, place);
        let line = line.clamp(1, last.max(1));
        let focus = if loaded.has_outline {
            focus_at(&loaded.units, &loaded.text, &loaded.starts, at)
        } else {
            lines_around(&loaded.text, &loaded.starts, line)
        };
        if focus.is_near {
            problems.insert(format!("{file}:{line}: is in no declaration; the nearest one is shown"));
        }
        let failing = Lines { from: line, to: end.map_or(line, |to| to.clamp(line, line + 20)) };
        let question = Question { file: id, focus, failing, places: Vec::new(), quoted: Vec::new() };
        Some(Root { loaded, question, line, col, diagnostic: None })
    }

    fn asked_place(&self, asked: &AskedPlace, problems: &mut BTreeSet<String>) -> Result<Root, EngineError> {
        let place = LineColumn { line: asked.line, col: asked.col, unit: ColumnUnit::Utf16 };
        self.root(&asked.file.id, place, None, problems).ok_or_else(|| self.unreadable(&asked.file))
    }

    fn unreadable(&self, file: &crate::outline::AskedFile) -> EngineError {
        if self.files.is_excluded(&file.id) {
            return EngineError::input(format!("`{}` is excluded by the configuration", file.shown))
                .hint("name another file, or take it out of `excludes`");
        }
        let path = crate::outline::absolute(self.repository.root, &file.id);
        match self.system.lstat(std::path::Path::new(&path)) {
            Ok(_) => EngineError::input(format!("`{}` is not a text file that can be read", file.shown))
                .hint("name a file of source code that you may read"),
            Err(_) => unknown_files(self.universe, &[file]),
        }
    }

    /// Every declaration of the name: an interface and the value of that name, overloads, the same method of two types.
    fn asked_symbol(&self, asked: &AskedSymbol) -> Result<Vec<Root>, EngineError> {
        let file = self.files.id_of(&asked.file.id);
        let loaded = self.files.load(file).ok_or_else(|| self.unreadable(&asked.file))?;
        let outline = &loaded.units.outline;
        let found = outline.named(&asked.name);
        if found.is_empty() {
            let ids = (0..outline.units.len() as u32).map(UnitId);
            let names: Vec<String> = ids.map(|id| outline.path(id)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let near: Vec<String> = near_names(&asked.name, &names).iter().map(|near| format!("`{near}`")).collect();
            let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            return Err(EngineError::input(format!("`{}` declares no `{}`{near}", asked.file.shown, asked.name))
                .hint(format!("`stan outline {}` lists what it declares", asked.file.shown)));
        }
        let root = |id: &UnitId| {
            let unit = outline.get(*id)?;
            let focus = Focus { unit: Some(*id), span: unit.span, lines: unit.lines, is_near: false };
            let line = unit.name_line();
            let failing = Lines { from: line, to: line };
            let question = Question { file, focus, failing, places: Vec::new(), quoted: Vec::new() };
            Some(Root { loaded: Rc::clone(&loaded), question, line, col: None, diagnostic: None })
        };
        Ok(found.iter().take(MAX_OF_ONE_NAME).filter_map(root).collect())
    }

    /// Collects focus and candidates of all roots, without duplicates.
    fn close(&self, gathered: &mut Gathered) {
        let mut seen = BTreeMap::new();
        for (index, root) in gathered.roots.iter().enumerate() {
            let (file, lines) = (root.question.file, root.question.focus.lines);
            let at = *seen.entry((file, lines.from, lines.to)).or_insert(gathered.focus.len());
            match gathered.focus.get_mut(at) {
                Some((_, roots)) => roots.push(index),
                None => {
                    let draft = focus_draft(&root.loaded, file, &root.question.focus, self.counter);
                    gathered.focus.push((draft, vec![index]));
                }
            }
        }
        let mut rest: Vec<(u8, Draft)> = Vec::new();
        let mut units = BTreeSet::new();
        for root in &gathered.roots {
            let limits = Limits { hops: self.request.hops.max(2) };
            let closure = closure(self.files, &root.question, limits);
            let imports = imports_draft(&root.loaded, root.question.file, &closure, self.counter);
            rest.extend(imports.filter(|_| units.insert((root.question.file, IMPORTS))).map(|one| (1, one)));
            for (target, names) in &closure.exports {
                let is_new = units.insert((*target, EXPORTS));
                let list = exports_draft(*target, names, self.files, self.counter).filter(|_| is_new);
                rest.extend(list.map(|one| (1, one)));
            }
            for candidate in &closure.candidates {
                let is_focus = seen.contains_key(&self.lines_of(candidate.file, candidate.unit));
                if !is_focus && units.insert((candidate.file, candidate.unit)) {
                    let made = draft(candidate, self.files, root.question.file, self.request, self.counter);
                    rest.extend(made.map(|one| (candidate.rank, one)));
                }
            }
            gathered.missing.extend(self.missing(root, &closure));
        }
        // A stable sort keeps the order of discovery within a rank.
        rest.sort_by_key(|(rank, _)| *rank);
        gathered.drafts.extend(rest.into_iter().map(|(_, draft)| draft));
    }

    /// Adds requested files, between the declarations of ranks 3 and 4. A file that is the focus is not added again.
    fn sources(&self, sources: Sources, gathered: &mut Gathered) {
        gathered.problems.extend(sources.warnings);
        for one in sources.files {
            let file = self.files.id_of(&one.id);
            match self.files.load(file) {
                Some(loaded) => {
                    gathered.drafts.push(file_draft(&loaded, file, &one, sources.weights.as_ref(), self.counter))
                }
                None => drop(gathered.problems.insert(format!("{}: is not a text file that can be read", one.id))),
            }
        }
        // A stable sort keeps the order within a turn.
        gathered.drafts.sort_by_key(Draft::turn);
    }

    fn lines_of(&self, file: stan_pack::FileId, unit: UnitId) -> (stan_pack::FileId, u32, u32) {
        let lines = self.files.load(file).and_then(|loaded| loaded.units.outline.get(unit).map(|unit| unit.lines));
        let lines = lines.unwrap_or_default();
        (file, lines.from, lines.to)
    }

    fn missing(&self, root: &Root, closure: &Closure) -> Vec<PackMissing> {
        let one = |missing: &stan_pack::Missing| PackMissing {
            name: missing.name.to_string(),
            file: root.loaded.id.clone(),
            line: missing.line,
            reason: missing.reason.as_str(),
            from: missing.specifier.as_deref().map(str::to_owned),
            near: match &missing.specifier {
                Some(specifier) if missing.reason == MissingReason::UnresolvedModule => {
                    self.near_modules(&root.loaded.id, specifier)
                }
                _ => missing.near.iter().map(ToString::to_string).collect(),
            },
        };
        let mut all: Vec<&stan_pack::Missing> = closure.missing.iter().collect();
        all.sort_by_key(|missing| (missing.reason, missing.line));
        all.into_iter().map(one).collect()
    }

    /// Files that a relative import may have meant.
    fn near_modules(&self, importer: &str, specifier: &str) -> Vec<String> {
        if !specifier.starts_with('.') {
            return Vec::new();
        }
        let folder = importer.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = stan_repo::normal_path(&format!("/{folder}"), specifier);
        let near = near_modules(&self.universe.files, path.trim_start_matches('/'));
        near.into_iter().map(str::to_owned).collect()
    }

    /// Removes all items of files that contain a secret.
    fn hold_back_secrets(&self, gathered: &mut Gathered) {
        let shown: BTreeSet<_> = gathered.all_drafts().map(|draft| draft.file()).collect();
        let mut held_back = Vec::new();
        for file in shown {
            let Some(loaded) = self.files.load(file) else { continue };
            let Some(secrets) = secrets_of(self.repository.config, &loaded.id, loaded.text.as_bytes()) else {
                continue;
            };
            let lines: Vec<String> = secrets.hits.iter().filter_map(|hit| Some(hit.line?.to_string())).collect();
            let lines = if lines.is_empty() { String::new() } else { format!(" (line {})", lines.join(", ")) };
            held_back.push(format!("{}{lines}", loaded.id));
            gathered.all_drafts().filter(|draft| draft.file() == file).for_each(|draft| draft.refuse("secret"));
        }
        gathered.problems.extend(held_back_problem(held_back));
    }

    fn document(&self, gathered: Gathered, fitted: FittedItems, world: &World<'_>) -> Pack {
        let FittedItems { fitted, items, mut omitted } = fitted;
        let mut missing = gathered.missing;
        let totals = PackTotals { omitted: omitted.len() as u64, missing: missing.len() as u64, tokens: fitted.after };
        omitted.truncate(MAX_LISTED);
        missing.truncate(MAX_LISTED);
        let is_cut = fitted.after < fitted.before;
        let truncation = is_cut.then_some(PackTruncation {
            budget: self.request.budget,
            tokens_before: fitted.before,
            tokens_after: fitted.after,
            dropped: fitted.dropped,
            demoted: fitted.demoted,
        });
        Pack {
            schema_version: SCHEMA,
            toolchain: Toolchain { name: "stan", version: env!("CARGO_PKG_VERSION") },
            project: PackProject { root: "." },
            focus: gathered.roots.first().map(focus_written),
            diagnostics: gathered.diagnostics,
            items,
            omitted,
            missing,
            totals,
            truncation,
            digests: PackDigests { inputs: self.inputs(world), outputs: Vec::new() },
        }
    }

    /// Inputs of the document: logs, the files that were read, and the configuration that resolution read.
    fn inputs(&self, world: &World<'_>) -> Vec<PackInput> {
        let mut inputs: Vec<PackInput> = Vec::new();
        for loaded in self.files.all_loaded() {
            let (path, sha256) = (loaded.id.clone(), loaded.digest.to_string());
            inputs.push(PackInput { path, sha256, bytes_len: loaded.bytes });
        }
        for file in world.observations().files {
            if let (Some(digest), Some(stat)) = (file.digest, file.stat) {
                let path = stan_repo::relative_path(self.repository.root, &file.path);
                inputs.push(PackInput { path, sha256: digest.to_string(), bytes_len: stat.size });
            }
        }
        inputs.sort();
        inputs.dedup_by(|one, other| one.path == other.path);
        let logs = self.request.logs.iter().map(|log| {
            let (path, digest) = (format!("log:{}", log.name), stan_repo::sha256(&log.bytes));
            PackInput { path, sha256: digest.to_string(), bytes_len: log.bytes.len() as u64 }
        });
        logs.chain(inputs).collect()
    }
}

fn focus_written(root: &Root) -> PackFocus {
    let focus = root.question.focus;
    PackFocus {
        file: root.loaded.id.clone(),
        line: root.line,
        col: root.col,
        start_line: focus.lines.from,
        end_line: focus.lines.to,
        name: focus.unit.map_or_else(String::new, |id| root.loaded.units.outline.path(id)),
        diagnostic: root.diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::held_back_problem;

    #[test]
    fn files_with_secrets_share_one_line_that_names_six() {
        assert_eq!(held_back_problem(Vec::new()), None);
        let files = |count: usize| (1..=count).map(|number| format!("{number}.py (line 3)")).collect::<Vec<_>>();
        let one = "held back because of a secret: 1.py (line 3); --allow-secret PATH shows a file all the same";
        assert_eq!(held_back_problem(files(1)).as_deref(), Some(one));
        let eight = held_back_problem(files(8)).expect("a line");
        assert!(eight.contains("6.py (line 3), +2 more;") && !eight.contains("7.py"), "{eight}");
    }
}
