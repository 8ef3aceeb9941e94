//! A language unknown to the engine, added with one type and one table row. Tests the interface between the engine and languages
//! for both kinds of requests: those that name files, and names that the files of a package share (as in Go).
//!
//! A `.toy` file is a list of lines: `file PATH` imports a file, `package DIR` the files of a folder, `take NAME DIR` a name from
//! that folder, `def NAME` declares a name, and `use NAME` uses a name of the file's own folder.

mod support;

use std::sync::Arc;

use expect_test::{Expect, expect};
use stan_engine::graph::{CacheUse, GraphOptions, GraphRequest};
use stan_lang::language::{
    Extract, FactsOf, FileResolver, Language, NameEdge, NamedFile, ProjectResolver, Resolved, TargetTable, Wanted,
};
use stan_lang::typescript::TypeScript;
use stan_lang::{ExtractOptions, Extraction, Languages, Project, SourceFile, Target, name_links};
use stan_model::facts::{FormCode, ImportedName, Request};
use stan_model::{EdgeKind, FileFacts, FileKey, FileProblem, Problem};
use stan_repo::MemorySystem;
use support::{ROOT, edges, json, run};

struct Toy;

const FILE: FormCode = FormCode(0);
const PACKAGE: FormCode = FormCode(1);

impl Language for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn version(&self) -> u32 {
        1
    }

    fn claims(&self, path: &str) -> bool {
        path.ends_with(".toy")
    }

    fn extractor(&self) -> Box<dyn Extract> {
        Box::new(ToyExtractor)
    }

    fn open<'p>(&self, project: &'p Project<'p>) -> Box<dyn ProjectResolver + 'p> {
        Box::new(ToyProject { project })
    }
}

struct ToyExtractor;

impl Extract for ToyExtractor {
    fn extract(&mut self, file: SourceFile<'_>, _: &ExtractOptions) -> Extraction {
        let text = String::from_utf8_lossy(file.bytes);
        let mut extraction = Extraction::default();
        let facts = &mut extraction.facts;
        for (text, line) in text.lines().zip(1..) {
            let mut ask = |specifier: &str, form| {
                let same = |request: &Request| (&*request.specifier, request.form) == (specifier, form);
                let known = facts.requests.iter().position(same);
                let request = Request { specifier: specifier.into(), kind: EdgeKind::Runtime, form, line };
                known.unwrap_or_else(|| {
                    facts.requests.push(request);
                    facts.requests.len() - 1
                }) as u32
            };
            match text.split_whitespace().collect::<Vec<_>>()[..] {
                ["file", path] => drop(ask(path, FILE)),
                ["package", folder] => drop(ask(folder, PACKAGE)),
                ["take", name, folder] => {
                    let request = ask(folder, PACKAGE);
                    facts.imports.push(ImportedName { request, name: name.into(), kind: EdgeKind::Runtime });
                }
                ["def", name] => facts.declares.push(name.into()),
                ["use", name] => facts.uses.push(name.into()),
                [] => {}
                _ => {
                    extraction.problems.push(FileProblem::at(line, "is not toy; the line is skipped"));
                    extraction.incomplete = true;
                }
            }
        }
        facts.declares.sort();
        facts.uses.sort();
        extraction
    }
}

struct ToyProject<'p> {
    project: &'p Project<'p>,
}

impl ToyProject<'_> {
    fn absolute(&self, relative: &str) -> Arc<str> {
        format!("{}/{relative}", self.project.root).into()
    }

    /// The toy files directly in a folder of the repository.
    fn members(&self, folder: &str) -> Arc<[Arc<str>]> {
        let prefix = format!("{folder}/");
        let is_member = |path: &&str| {
            let name = path.strip_prefix(&prefix);
            name.is_some_and(|name| name.ends_with(".toy") && !name.contains('/'))
        };
        self.project.universe.iter().filter(is_member).map(|path| self.absolute(path)).collect()
    }

    fn target(&self, file: &str, request: &Request) -> Target {
        let missing = || Target::Missing { id: request.specifier.clone(), problem: None };
        if request.form == PACKAGE {
            let members = self.members(&request.specifier);
            return if members.is_empty() { missing() } else { Target::Files(members) };
        }
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = format!("{folder}/{}", request.specifier);
        match self.project.files.real_path(&path).filter(|real| self.project.files.is_file(real)) {
            Some(real) => Target::File(real.into()),
            None => missing(),
        }
    }
}

impl ProjectResolver for ToyProject<'_> {
    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r> {
        Box::new(ToyWorker { project: self, table })
    }

    fn package_of(&self, _: &str) -> Option<String> {
        None
    }

    fn link_by_name(&self, file: &NamedFile<'_>, facts: &dyn FactsOf, _: &dyn TargetTable) -> Vec<NameEdge> {
        let folder =
            self.project.relative(file.path).and_then(|path| path.rsplit_once('/')).map_or("", |(folder, _)| folder);
        let own: Vec<FileKey> = self.members(folder).iter().filter_map(|path| facts.key_of(path)).collect();
        name_links::link(file, &own, facts)
    }

    fn finish(&self) -> Vec<Problem> {
        Vec::new()
    }
}

struct ToyWorker<'r> {
    project: &'r ToyProject<'r>,
    table: &'r dyn TargetTable,
}

impl FileResolver for ToyWorker<'_> {
    fn resolve(&mut self, file: &str, facts: &FileFacts, _: Wanted, found: &mut Resolved) {
        found
            .answers
            .extend(facts.requests.iter().map(|request| self.table.answer(&self.project.target(file, request))));
    }
}

const LANGUAGES: Languages = Languages::new(&[&TypeScript, &Toy]);

fn options() -> GraphOptions {
    GraphOptions { languages: LANGUAGES, ..GraphOptions::new(ROOT) }
}

fn request(cache: bool) -> GraphRequest {
    let cache_directory = cache.then(|| "/cache".to_owned());
    GraphRequest { cache_directory, ..GraphRequest::default() }
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&edges(&run(&MemorySystem::from_fixture(text), &options(), &request(false))));
}

#[test]
fn files_of_two_languages_lead_to_each_other() {
    check(
        "
        //- /r/a.toy
        file b.toy
        file c.ts
        file gone.toy
        nonsense
        //- /r/b.toy
        //- /r/c.ts
        import './a.toy';
        ",
        expect![[r#"
            a.toy -> b.toy runtime
            a.toy -> c.ts runtime
            a.toy -> gone.toy runtime
            c.ts -> a.toy runtime
            error: a.toy:4: is not toy; the line is skipped
        "#]],
    );
}

#[test]
fn an_import_of_a_package_resolves_to_the_files_that_declare_its_names() {
    check(
        "
        //- /r/main/one.toy
        take A lib
        //- /r/main/all.toy
        package lib
        //- /r/main/unknown.toy
        take Z lib
        //- /r/lib/a.toy
        def A
        //- /r/lib/b.toy
        def B
        //- /r/lib/deep/c.toy
        def A
        ",
        expect![[r#"
            main/all.toy -> lib/a.toy runtime
            main/all.toy -> lib/b.toy runtime
            main/one.toy -> lib/a.toy runtime
            main/unknown.toy -> lib/a.toy runtime
            main/unknown.toy -> lib/b.toy runtime
        "#]],
    );
}

#[test]
fn files_of_a_package_are_linked_by_the_names_that_they_use() {
    check(
        "
        //- /r/lib/a.toy
        def A
        use B
        use A
        use print
        //- /r/lib/b.toy
        def B
        //- /r/lib/c.toy
        def C
        //- /r/other/b.toy
        def B
        ",
        expect![[r#"
            lib/a.toy -> ~lib/b.toy runtime
        "#]],
    );
}

#[test]
fn warm_runs_of_a_language_with_names_are_cold_runs() {
    let system = MemorySystem::from_fixture(
        "
        //- /r/main.toy
        take A lib
        //- /r/lib/a.toy
        def A
        //- /r/lib/b.toy
        def B
        ",
    );
    let warm = |system: &MemorySystem| run(system, &options(), &request(true));
    let cold = |system: &MemorySystem| json(&run(system, &options(), &request(false)));
    system.set_now(100_000_000_000);
    assert_eq!(json(&warm(&system)), cold(&system));
    // The name moves to another file, not to the one that takes it.
    system.set_now(200_000_000_000).set_file("/r/lib/a.toy", "def C\n").set_file("/r/lib/b.toy", "def A\n");
    let moved = warm(&system);
    assert_eq!(json(&moved), cold(&system));
    assert!(edges(&moved).contains("main.toy -> lib/b.toy"), "{}", edges(&moved));
    assert_eq!(moved.work, CacheUse::Compiled(2));
}

#[test]
fn a_cache_of_other_languages_is_not_used() {
    let system = MemorySystem::from_fixture("//- /r/a.toy\nfile b.toy\n//- /r/b.toy\n");
    let without = GraphOptions::new(ROOT);
    assert_eq!(edges(&run(&system, &without, &request(true))), "");
    assert_eq!(edges(&run(&system, &options(), &request(true))), "a.toy -> b.toy runtime\n");
}
