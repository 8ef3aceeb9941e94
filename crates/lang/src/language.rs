//! The interface between a language and the rest of stan: which files it claims, what it extracts from one file, and how the
//! imports between the files of a project resolve. The engine uses only these traits and names no language.
//!
//! A language is a folder beside this file and a row in [`Languages::all`]. Extraction is a function of the file's name
//! and bytes, so that facts can be cached and shared; everything that needs other files is resolution.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use stan_model::facts::Request;
use stan_model::names::FileUnits;
use stan_model::outline::Outline;
use stan_model::{EdgeKind, FileFacts, FileKey, FileProblem, Problem, Resolution};

use crate::go::Go;
use crate::name_links;
use crate::packages::{PackageProof, PackageVersion};
use crate::project::Project;
use crate::python::Python;
use crate::rust::Rust;
use crate::typescript::TypeScript;

/// A language. Implementations are constants without state.
pub trait Language: Sync {
    /// Short and lower-case. Part of the cache key.
    fn name(&self) -> &'static str;

    /// Must be raised if the same bytes may give other facts than before. Part of the cache key.
    fn version(&self) -> u32;

    /// Whether the file name is that of source code in this language. Called for every file, so it must check the extension
    /// first.
    fn claims(&self, path: &str) -> bool;

    /// A new extractor. Each thread has its own and reuses its memory from file to file.
    fn extractor(&self) -> Box<dyn Extract>;

    /// Opens a project: once per run, before the first file is resolved. Must be cheap: work that needs I/O belongs in
    /// [`ProjectResolver::prepare`] or is done on demand.
    fn open<'p>(&self, project: &'p Project<'p>) -> Box<dyn ProjectResolver + 'p>;

    /// Whether resolution adds implicit edges for imports of any module, not only for imports of declaration files.
    fn has_implicit_imports(&self) -> bool {
        false
    }

    /// A one-line description from the start of a file, without analysing it: for files of installed packages.
    fn describe(&self, _file: SourceFile<'_>, _options: &ExtractOptions) -> Option<Box<str>> {
        None
    }

    /// For each tag, the longest text of a doc comment that carries it, on one line, maybe empty; `None` if no comment carries
    /// it. The thread must have a stack of `WORKER_STACK`.
    fn tagged_prose(&self, _file: SourceFile<'_>, tags: &[String]) -> Vec<Option<String>> {
        vec![None; tags.len()]
    }

    /// The reader of outlines, if the language has one.
    fn declarations(&self) -> Option<&'static dyn Declare> {
        None
    }
}

/// Reads the declarations of single files, on demand: the graph does not need them, and they cost more than facts. Pure
/// functions; the thread must have a stack of `WORKER_STACK`.
pub trait Declare: Sync {
    /// The text that byte offsets refer to; `None` for bytes that are not text.
    fn text_of<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, str>>;

    /// Only the outline: about the cost of parsing.
    fn outline(&self, path: &str, text: &str) -> Outline;

    /// The outline and what the names in it refer to.
    fn declare(&self, path: &str, text: &str) -> FileUnits;

    /// For a specifier that names one item of a package: whether it resolved to the module of that name (`path`), rather than to
    /// a module that exports the name.
    fn is_module_named(&self, _path: &str, _specifier: &str) -> bool {
        false
    }
}

/// Extracts facts, one file after the other.
pub trait Extract {
    /// A pure function of name and bytes. Of the name, only the extension may matter, never the directory: files with the same
    /// extension and bytes have the same extraction, which therefore contains no path.
    fn extract(&mut self, file: SourceFile<'_>, options: &ExtractOptions) -> Extraction;
}

/// A file to extract from.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'f> {
    /// Path or name.
    pub name: &'f str,
    pub bytes: &'f [u8],
}

/// The options of extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractOptions {
    /// Tags that mark the doc comment which describes the module, with their `@`. On a tie, the earlier tag wins.
    pub description_tags: Vec<String>,
    /// Descriptions are truncated to this many characters.
    pub description_limit: usize,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self {
            description_tags: vec!["@module".to_owned(), "@packageDocumentation".to_owned()],
            description_limit: 160,
        }
    }
}

/// The facts of one file, and its problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    pub facts: FileFacts,
    pub problems: Vec<FileProblem>,
    /// The file did not parse cleanly, so facts may be missing.
    pub incomplete: bool,
}

/// The files of one language in one project. Shared by all threads; answers depend only on [`Project`], never on the order of
/// calls.
pub trait ProjectResolver: Sync {
    /// Reads project-wide declarations, such as the packages of a workspace. The engine calls it while another thread is busy
    /// with other work. A run that resolves only a few files does not call it: then they are read on demand.
    fn prepare(&self) {}

    /// A resolver for one thread. Give it the files of a directory consecutively: it caches the answers that neighbours share, as
    /// keys of `table`.
    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r>;

    /// The package that a file belongs to, by the directory of its manifest. Re-exports of external files are followed
    /// within one package only.
    fn package_of(&self, file: &str) -> Option<String>;

    /// The other files whose names are in scope in a file without an import.
    fn package_files(&self, _file: &str) -> Vec<String> {
        Vec::new()
    }

    /// The second pass, for languages in which a file uses names of other files without naming those files. Returns the files
    /// that `file` depends on by name. Called once the facts of all files of the repository are known.
    ///
    /// The default narrows each [`Target::Files`] to the files that declare a name which `file` takes from that request. A
    /// language with package scope (Go, Java) overrides it to add files of the same package, see [`name_links::link`]. Targets
    /// outside the repository get their keys from `table`.
    fn link_by_name(&self, file: &NamedFile<'_>, facts: &dyn FactsOf, _table: &dyn TargetTable) -> Vec<NameEdge> {
        name_links::link(file, &[], facts)
    }

    /// How a lock file of the repository proves the contents of a package in a store ([`crate::packages`]); `None` if no lock
    /// file names this version. Then nothing in the package may be read.
    fn proof_of(&self, _package: &PackageVersion) -> Option<PackageProof> {
        None
    }

    /// Called once, after the last file. Records what the answers depended on besides the files that were read, and returns the
    /// problems of the project's configuration.
    fn finish(&self) -> Vec<Problem>;
}

/// Resolves files, one after the other, on one thread.
pub trait FileResolver {
    /// Resolves the requests of a file into `found`, which must be empty. `file` is an absolute path.
    fn resolve(&mut self, file: &str, facts: &FileFacts, wanted: Wanted, found: &mut Resolved);
}

/// Which requests of a file are to be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All requests and patterns.
    Everything,
    /// All requests, but no patterns.
    Requests,
    /// Only the requests that the file re-exports; the others are [`Answer::Nothing`].
    Reexports,
}

/// What a request resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, as an absolute real path.
    File(Arc<str>),
    /// Several files that are imported as one, such as the files of a package. The second pass adds edges to those that declare a
    /// name which the importer uses ([`ProjectResolver::link_by_name`]).
    Files(Arc<[Arc<str>]>),
    /// A module of the runtime, by its node id.
    Builtin(Box<str>),
    /// Does not exist, or was refused; `problem` then says why.
    Missing { id: Box<str>, problem: Option<Box<str>> },
    /// A form that only adds an edge if the file exists, and it does not.
    Nothing,
}

/// Assigns a key to each target. Resolvers cache the key instead of the target, so that this is called once per question that
/// neighbours share, not once per request.
pub trait TargetTable {
    fn answer(&self, target: &Target) -> Answer;

    /// The key of a file of the universe, by its index there.
    fn listed(&self, index: usize) -> FileKey;
}

/// A target as a key of the [`TargetTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Adds no edge.
    Nothing,
    /// A file that the user excluded: adds no edge, but is counted.
    Excluded,
    File(FileKey),
    Files(Arc<[FileKey]>),
    /// A builtin or a missing target.
    Other(FileKey),
}

/// What the requests of one file resolve to.
#[derive(Debug, Default)]
pub struct Resolved {
    /// One for each request.
    pub answers: Vec<Answer>,
    /// Files that patterns match.
    pub matches: Vec<(FileKey, EdgeKind)>,
    /// Implicit edges that resolution finds: the code behind declaration files that requests resolve to, and the packages that
    /// run before a module.
    pub implementations: Vec<(FileKey, EdgeKind)>,
    pub problems: Vec<FileProblem>,
}

impl Resolved {
    /// Clears all lists and keeps their capacity.
    pub fn clear(&mut self) {
        self.answers.clear();
        self.matches.clear();
        self.implementations.clear();
        self.problems.clear();
    }

    /// Records that a request was refused although it resolves to a file, and why.
    pub fn refuse(&mut self, request: &Request, reason: &str) {
        self.problems.push(FileProblem::at(request.line, format!("`{}` {reason}", request.specifier)));
    }
}

/// A file in the second pass.
#[derive(Clone, Copy, Debug)]
pub struct NamedFile<'a> {
    pub key: FileKey,
    /// Absolute path.
    pub path: &'a str,
    pub facts: &'a FileFacts,
    /// The requests that resolve to several files, each by its index among the requests.
    pub packages: &'a [(u32, Arc<[FileKey]>)],
}

/// The facts of all files of the repository.
pub trait FactsOf: Sync {
    /// The key of a file by its absolute real path, if the repository has it.
    fn key_of(&self, path: &str) -> Option<FileKey>;

    fn facts(&self, file: FileKey) -> Option<&FileFacts>;
}

/// An edge derived from a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameEdge {
    pub target: FileKey,
    pub kind: EdgeKind,
    /// Explicit if the importer imports the package of `target`, implicit if both belong to the same package.
    pub resolution: Resolution,
}

/// The languages of a run. The first one that claims a file gets it.
#[derive(Clone, Copy)]
pub struct Languages(&'static [&'static dyn Language]);

impl Languages {
    /// A table of languages; product code uses [`Self::all`].
    pub const fn new(table: &'static [&'static dyn Language]) -> Self {
        Self(table)
    }

    /// Every language that stan analyses: a new one is a row here.
    pub const fn all() -> Self {
        Self(&[&TypeScript, &Python, &Go, &Rust])
    }

    /// Whether a file is source code of any of them.
    pub fn claim(self, path: &str) -> bool {
        self.of(path).is_some()
    }

    /// See [`Language::describe`].
    pub fn describe(self, file: SourceFile<'_>, options: &ExtractOptions) -> Option<Box<str>> {
        self.of(file.name)?.describe(file, options)
    }

    /// See [`Language::tagged_prose`].
    pub fn tagged_prose(self, file: SourceFile<'_>, tags: &[String]) -> Vec<Option<String>> {
        self.of(file.name).map_or_else(|| vec![None; tags.len()], |language| language.tagged_prose(file, tags))
    }

    /// See [`Language::has_implicit_imports`].
    pub fn has_implicit_imports(self, path: &str) -> bool {
        self.of(path).is_some_and(|language| language.has_implicit_imports())
    }

    /// The reader of the file's outline; `None` if its language has none.
    pub fn declarations(self, path: &str) -> Option<&'static dyn Declare> {
        self.of(path)?.declarations()
    }

    /// Names and extractor versions, for the key of caches.
    pub fn versions(self) -> Vec<(&'static str, u32)> {
        self.0.iter().map(|language| (language.name(), language.version())).collect()
    }

    /// The language whose source code the file is.
    fn of(self, path: &str) -> Option<&'static dyn Language> {
        self.iter().find(|language| language.claims(path))
    }

    pub(crate) fn position(self, path: &str) -> Option<usize> {
        self.0.iter().position(|language| language.claims(path))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'static dyn Language> {
        self.0.iter().copied()
    }

    fn is_same_table(self, other: Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Default for Languages {
    fn default() -> Self {
        Self::all()
    }
}

impl fmt::Debug for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.versions()).finish()
    }
}

/// The extractors of one thread, one per language, created on first use.
#[derive(Default)]
pub struct Extractors {
    languages: Languages,
    by_language: Vec<Option<Box<dyn Extract>>>,
}

impl Extractors {
    /// `None` if no language claims the file.
    pub fn extract(
        &mut self,
        languages: Languages,
        file: SourceFile<'_>,
        options: &ExtractOptions,
    ) -> Option<Extraction> {
        let position = languages.position(file.name)?;
        if self.by_language.is_empty() || !self.languages.is_same_table(languages) {
            *self = Self { languages, by_language: languages.iter().map(|_| None).collect() };
        }
        let language = languages.iter().nth(position)?;
        let extractor = self.by_language.get_mut(position)?.get_or_insert_with(|| language.extractor());
        Some(extractor.extract(file, options))
    }
}
