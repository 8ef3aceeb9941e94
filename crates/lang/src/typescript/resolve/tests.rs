//! Package maps that would take exponential or quadratic time without a limit. The conformance suite tests answers for real
//! repositories.

use crate::project::{Project, ResolveOptions};
use crate::typescript::form::Form;
use crate::typescript::tsconfig::memory::Memory;
use stan_model::EdgeKind;
use stan_model::facts::Request;

use super::{Resolver, Target};

fn resolve(files: &[(&str, &str)], specifiers: &[&str]) -> Vec<String> {
    let memory = Memory::new("/r", files);
    let universe: Vec<Box<str>> = Vec::new();
    let options = ResolveOptions::default();
    let project = Project {
        root: "/r",
        files: &memory,
        universe: &universe,
        options,
        stan_folder: "/r/.stan".to_owned(),
        stores: &crate::PackageStores::NONE,
    };
    let resolver = Resolver::new(&project);
    let importer = resolver.importer("/r/a.ts");
    let ask = |specifier: &&str| {
        let (kind, form) = (EdgeKind::Runtime, Form::Static.code(None));
        match resolver.resolve(&importer, &Request { specifier: (*specifier).into(), kind, form, line: 1 }).target {
            Target::File(path) => path.to_string(),
            other => format!("{other:?}"),
        }
    };
    specifiers.iter().map(ask).collect()
}

#[test]
fn imports_that_refer_to_each_other_many_times_over_end() {
    // Ten alternatives at each of sixteen hops.
    let keys: Vec<String> = (0..16)
        .map(|key| format!(r##""#k{key}": [{}]"##, vec![format!(r##""#k{}""##, key + 1); 10].join(",")))
        .collect();
    let manifest = format!(r##"{{"imports": {{{}, "#found": "./b.ts"}}}}"##, keys.join(","));
    let files = [("package.json", manifest.as_str()), ("b.ts", "")];
    let found = resolve(&files, &["#k0", "#found"]);
    assert!(found[0].starts_with("Missing"), "{found:?}");
    assert_eq!(found[1], "/r/b.ts");
}

#[test]
fn thousands_of_lookups_in_thousands_of_patterns_are_fast() {
    const COUNT: usize = 4_000;
    let list = |line: &dyn Fn(usize) -> String| (0..COUNT).map(line).collect::<Vec<_>>().join(",");
    let exports = list(&|i| format!(r#""./f{i}/*": "./lib/{}.ts""#, if i % 2 == 0 { "a" } else { "*" }));
    let manifest = format!(r#"{{"exports": {{{exports}}}}}"#);
    let paths = list(&|i| format!(r#""@p{i}/*": ["./src/*"]"#));
    let config = format!(r#"{{"compilerOptions": {{"paths": {{{paths}}}}}}}"#);
    let files = [
        ("tsconfig.json", config.as_str()),
        ("node_modules/p/package.json", manifest.as_str()),
        ("node_modules/p/lib/a.ts", ""),
        ("node_modules/p/lib/b.ts", ""),
        ("src/c.ts", ""),
    ];
    let specifiers: Vec<String> =
        (0..COUNT).map(|i| if i % 3 == 0 { format!("@p{i}/c") } else { format!("p/f{i}/b") }).collect();
    let found = resolve(&files, &specifiers.iter().map(String::as_str).collect::<Vec<_>>());
    for (i, found) in found.iter().enumerate() {
        let expected = match (i % 3, i % 2) {
            (0, _) => "/r/src/c.ts",
            (_, 0) => "/r/node_modules/p/lib/a.ts",
            _ => "/r/node_modules/p/lib/b.ts",
        };
        assert_eq!(found, expected, "{i}");
    }
}
