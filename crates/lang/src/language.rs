//! What a language is to the rest of stan: which files are its own, what it extracts from one, and how the imports
//! between the files of a project resolve. The engine works with these traits alone and names no language.
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

    /// To be raised whenever equal bytes may give other facts than before. Part of the cache key.
    fn version(&self) -> u32;

    /// Whether the name of a file says that it is source code of this language. Asked for every file, so it must check
    /// the extension first.
    fn claims(&self, path: &str) -> bool;

    /// A new extractor. Each thread has its own and reuses its memory from file to file.
    fn extractor(&self) -> Box<dyn Extract>;

    /// Opens a project: once per run, before the first file is resolved. Must be cheap: work that needs I/O belongs into
    /// [`ProjectResolver::prepare`] or is done on demand.
    fn open<'p>(&self, project: &'p Project<'p>) -> Box<dyn ProjectResolver + 'p>;

    /// Whether resolution makes implicit edges for imports of any module, and not only for those of declarations.
    fn has_implicit_imports(&self) -> bool {
        false
    }

    /// One line about a file from what it starts with, without analysing it: for files of other people's packages.
    fn describe(&self, _file: SourceFile<'_>, _options: &ExtractOptions) -> Option<Box<str>> {
        None
    }

    /// For each tag the longest words of a doc comment that carries it, on one line and maybe empty; `None` where no comment
    /// carries it. The thread must have a stack of `WORKER_STACK`.
    fn tagged_prose(&self, _file: SourceFile<'_>, tags: &[String]) -> Vec<Option<String>> {
        vec![None; tags.len()]
    }

    /// Reads outlines, if the language has them.
    fn declarations(&self) -> Option<&'static dyn Declare> {
        None
    }
}

/// Reads the declarations of single files, on demand: no graph needs them, and they cost more than facts. Pure functions; the
/// thread must have a stack of `WORKER_STACK`.
pub trait Declare: Sync {
    /// The text that positions count in; `None` for bytes that are not text.
    fn text_of<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, str>>;

    /// Only the outline: about the cost of parsing.
    fn outline(&self, path: &str, text: &str) -> Outline;

    /// The outline and what the names in it refer to.
    fn declare(&self, path: &str, text: &str) -> FileUnits;

    /// Whether a specifier that names one thing of a package resolves to the module of that name, which `path` is,
    /// rather than to a module that offers the name.
    fn is_module_named(&self, _path: &str, _specifier: &str) -> bool {
        false
    }
}

/// Extracts facts, one file after the other.
pub trait Extract {
    /// A pure function of name and bytes. Only the ending of the name may matter, never the directory: files with equal
    /// ending and bytes have equal extractions, which therefore hold no path.
    fn extract(&mut self, file: SourceFile<'_>, options: &ExtractOptions) -> Extraction;
}

/// A file to extract from.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'f> {
    /// Path or name.
    pub name: &'f str,
    pub bytes: &'f [u8],
}

/// What is configurable about extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractOptions {
    /// Tags that mark the doc comment which describes the module, with their `@`; earlier ones win ties.
    pub description_tags: Vec<String>,
    /// Characters after which a description is cut.
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

/// The facts of one file, and what was wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    pub facts: FileFacts,
    pub problems: Vec<FileProblem>,
    /// The file did not parse cleanly: the facts may not be all there is.
    pub incomplete: bool,
}

/// The files of one language in one project. Shared by all threads; answers depend on [`Project`] alone, never on the order
/// of questions.
pub trait ProjectResolver: Sync {
    /// Reads what the project as a whole declares, such as the packages of a workspace. The engine calls it while another
    /// thread does something else. A run that resolves only a few files skips it: then it is done on demand.
    fn prepare(&self) {}

    /// A resolver for one thread. Files of one directory should be given to it one after the other, because it remembers
    /// answers that neighbours share, by the keys that `table` gave them.
    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r>;

    /// The package that a file belongs to, by the directory of its manifest. Re-exports of external files are followed
    /// within one package only.
    fn package_of(&self, file: &str) -> Option<String>;

    /// The other files whose names a file sees without importing them.
    fn package_files(&self, _file: &str) -> Vec<String> {
        Vec::new()
    }

    /// The second pass, for languages in which files see names of other files without naming those files: the files that
    /// `file` depends on by name, once the facts of all files of the repository are known.
    ///
    /// The default narrows each [`Target::Files`] to the files that declare a name which `file` takes from that request. A
    /// language with package scope (Go, Java) overrides it to add the files of the own package, see [`name_links::link`]. Targets
    /// that are not files of the repository get their keys from `table`.
    fn link_by_name(&self, file: &NamedFile<'_>, facts: &dyn FactsOf, _table: &dyn TargetTable) -> Vec<NameEdge> {
        name_links::link(file, &[], facts)
    }

    /// How a lock file of the repository proves the files of a package in a store ([`crate::packages`]); `None` when
    /// none names this version. Then nothing of it may be read.
    fn proof_of(&self, _package: &PackageVersion) -> Option<PackageProof> {
        None
    }

    /// Called once, after the last file: records what the answers depended on beyond the files that were read, and returns
    /// what is wrong with the configuration of the project.
    fn finish(&self) -> Vec<Problem>;
}

/// Resolves files, one after the other, on one thread.
pub trait FileResolver {
    /// Resolves what a file asks for into `found`, which is empty. `file` is an absolute path.
    fn resolve(&mut self, file: &str, facts: &FileFacts, wanted: Wanted, found: &mut Resolved);
}

/// Which requests of a file are to be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All requests and patterns.
    Everything,
    /// All requests, but no patterns.
    Requests,
    /// The requests whose modules the file offers again; the others are [`Answer::Nothing`].
    Reexports,
}

/// What a request resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, as an absolute real path.
    File(Arc<str>),
    /// Several files that are imported as one, such as the files of a package. Edges are made in the second pass, to those
    /// that declare a name which the importer uses ([`ProjectResolver::link_by_name`]).
    Files(Arc<[Arc<str>]>),
    /// A module of the runtime, by its node id.
    Builtin(Box<str>),
    /// Nothing on disk. `problem` says why something that does exist was refused.
    Missing { id: Box<str>, problem: Option<Box<str>> },
    /// A form that makes an edge only when a file is there, and none is.
    Nothing,
}

/// Gives each target its key. Resolvers remember the answer instead of the target, so it is asked once for each question
/// that neighbours share, not once for each request.
pub trait TargetTable {
    fn answer(&self, target: &Target) -> Answer;

    /// The key of a file of the universe, by its index there.
    fn listed(&self, index: usize) -> FileKey;
}

/// A target by the caller's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Makes no edge.
    Nothing,
    /// A file that the user excluded: it makes no edge, and is counted.
    Excluded,
    File(FileKey),
    Files(Arc<[FileKey]>),
    /// A builtin, or something missing.
    Other(FileKey),
}

/// What the requests of one file resolve to.
#[derive(Debug, Default)]
pub struct Resolved {
    /// One for each request.
    pub answers: Vec<Answer>,
    /// Files that patterns match.
    pub matches: Vec<(FileKey, EdgeKind)>,
    /// Implicit edges that resolution itself knows: the code behind declarations that requests resolve to, and the
    /// packages that run before a module.
    pub implementations: Vec<(FileKey, EdgeKind)>,
    pub problems: Vec<FileProblem>,
}

impl Resolved {
    /// Empties all lists and keeps their memory.
    pub fn clear(&mut self) {
        self.answers.clear();
        self.matches.clear();
        self.implementations.clear();
        self.problems.clear();
    }

    /// Records why a request that resolves to a file was refused.
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
    /// The requests that resolve to several files, each with its index among the requests.
    pub packages: &'a [(u32, Arc<[FileKey]>)],
}

/// The facts of all files of the repository.
pub trait FactsOf: Sync {
    /// The key of a file by its absolute real path, if the repository has it.
    fn key_of(&self, path: &str) -> Option<FileKey>;

    fn facts(&self, file: FileKey) -> Option<&FileFacts>;
}

/// An edge that follows from a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameEdge {
    pub target: FileKey,
    pub kind: EdgeKind,
    /// Explicit where an import resolves to the package of the file, implicit within the own package.
    pub resolution: Resolution,
}

/// The languages of a run, in the order in which they are asked whether they claim a file.
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
        self.position(path).is_some()
    }

    /// See [`Language::describe`].
    pub fn describe(self, file: SourceFile<'_>, options: &ExtractOptions) -> Option<Box<str>> {
        self.iter().nth(self.position(file.name)?)?.describe(file, options)
    }

    /// See [`Language::tagged_prose`].
    pub fn tagged_prose(self, file: SourceFile<'_>, tags: &[String]) -> Vec<Option<String>> {
        let language = self.position(file.name).and_then(|position| self.iter().nth(position));
        language.map_or_else(|| vec![None; tags.len()], |language| language.tagged_prose(file, tags))
    }

    /// See [`Language::has_implicit_imports`].
    pub fn has_implicit_imports(self, path: &str) -> bool {
        let language = self.position(path).and_then(|position| self.iter().nth(position));
        language.is_some_and(|language| language.has_implicit_imports())
    }

    /// What reads the outline of a file; `None` where its language has none.
    pub fn declarations(self, path: &str) -> Option<&'static dyn Declare> {
        self.iter().nth(self.position(path)?)?.declarations()
    }

    /// Names and extractor versions, for the key of caches.
    pub fn versions(self) -> Vec<(&'static str, u32)> {
        self.0.iter().map(|language| (language.name(), language.version())).collect()
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

/// The extractors of one thread, one for each language, made when the first file needs it.
#[derive(Default)]
pub struct Extractors {
    languages: Languages,
    by_language: Vec<Option<Box<dyn Extract>>>,
}

impl Extractors {
    /// `None` for a file that none of the languages claims.
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
