//! Which files imports stage, where, and which are refused.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use stan_engine::imports::{ImportError, ImportPlan, plan};
use stan_repo::{AllowedFolder, Fault, FaultySystem, MemorySystem};

/// With consent to everything by default.
fn plan_of(system: &MemorySystem, imports: &[(&str, &[&str])]) -> Result<ImportPlan, ImportError> {
    plan_allowing(system, imports, &["/"])
}

fn plan_allowing(
    system: &MemorySystem,
    imports: &[(&str, &[&str])],
    folders: &[&str],
) -> Result<ImportPlan, ImportError> {
    let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    let imports: BTreeMap<String, Vec<String>> =
        imports.iter().map(|(label, globs)| ((*label).to_owned(), owned(globs))).collect();
    let allowed: Vec<AllowedFolder> = folders
        .iter()
        .map(|folder| AllowedFolder { spelled: (*folder).to_owned(), real: (*folder).to_owned() })
        .collect();
    plan(system, "/w/r", ".stan", &imports, &allowed)
}

#[test]
fn imports_from_outside_the_root_need_consent() {
    let system = MemorySystem::from_fixture(TREE);
    system.set_link("/w/r/out", "../other").set_link("/w/r/docs/leak.md", "/srv/h.md");
    system.set_link("/link", "/w/other");
    let outcome = |globs: &[&str], folders: &[&str]| match plan_allowing(&system, &[("x", globs)], folders) {
        Ok(plan) => plan
            .files
            .iter()
            .map(|file| file.source.as_str())
            .chain(plan.warnings.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" | "),
        Err(error) => error.to_string(),
    };
    let refused = |glob: &str| {
        format!(
            "import `x`: the glob `{glob}` leads outside the root, where nothing is read without consent; \
             `--allow-outside DIR` allows a folder"
        )
    };
    for (glob, folder, is_allowed) in [
        ("/srv/*.md", "/srv", true),
        ("/srv/*.md", "/srvs", false),
        ("/srv/*.md", "/w/other", false),
        ("../other/docs/g.md", "/w/other", true),
        ("../other/docs/g.md", "/srv", false),
        ("out/docs/g.md", "/w/other", true),
        ("out/docs/g.md", "/srv", false),
        ("../../home/*/.ssh/*", "/srv", false),
        ("docs/a.md", "/srv", true),
    ] {
        let output = outcome(&[glob], &[folder]);
        assert_eq!(output == refused(glob), !is_allowed, "{glob} with {folder}: {output}");
    }
    // One glob outside the root is enough, and a link in an allowed folder does not give consent.
    assert_eq!(outcome(&["docs/a.md", "/srv/*.md"], &[]), refused("/srv/*.md"));
    expect![[r#"/w/r/docs/a.md | import `x`: the link docs/leak.md was left out, because it leads out of the folder that the glob starts in"#]]
        .assert_eq(&outcome(&["docs/*.md"], &[]));
}

/// Finding 22 for imports: a path that may not be read must not even be stat'ed.
#[test]
fn nothing_is_accessed_without_consent() {
    let system = MemorySystem::from_fixture(TREE);
    let faulty = FaultySystem::new(&system, Fault::Io, usize::MAX, false);
    let imports = [("x".to_owned(), vec!["/srv/*.md".to_owned()])].into_iter().collect();
    assert!(plan(&faulty, "/w/r", ".stan", &imports, &[]).is_err());
    assert_eq!(faulty.positions(), 0);
}

fn check(fixture: &str, imports: &[(&str, &[&str])], expected: &Expect) {
    let system = MemorySystem::from_fixture(fixture);
    let mut first = None;
    for order in [0, 1, 2] {
        system.set_order(order);
        let shown = match plan_of(&system, imports) {
            Err(error) => format!("{error}\n"),
            Ok(ImportPlan { files, warnings, .. }) => {
                let files = files.iter().map(|file| format!("{} <- {}\n", file.target, file.source));
                let warnings = warnings.iter().map(|warning| format!("warning: {warning}\n"));
                files.chain(warnings).collect()
            }
        };
        assert_eq!(first.get_or_insert_with(|| shown.clone()), &shown, "the order of listings must not matter");
    }
    expected.assert_eq(&first.unwrap_or_default());
}

const TREE: &str = "
    //- /w/r/docs/a.md
    //- /w/r/docs/deep/b.md
    //- /w/r/docs/deep/c.txt
    //- /w/r/docs/.hidden/d.md
    //- /w/r/docs/node_modules/x/e.md
    //- /w/r/docs/.git/f.md
    //- /w/r/node_modules/p/README.md
    //- /w/r/node_modules/p/lib/x.md
    //- /w/r/top.md
    //- /w/r/.stan/system/s.md
    //- /w/r/.stan/imports/old/o.md
    //- /w/other/docs/g.md
    //- /w/other/docs/[id].md
    //- /srv/h.md
";

#[test]
fn files_keep_their_path_below_the_globs_parent() {
    check(
        TREE,
        &[("docs", &["docs/**/*.md"])],
        &expect![[r#"
        .stan/imports/docs/.hidden/d.md <- /w/r/docs/.hidden/d.md
        .stan/imports/docs/a.md <- /w/r/docs/a.md
        .stan/imports/docs/deep/b.md <- /w/r/docs/deep/b.md
    "#]],
    );
    check(
        TREE,
        &[("docs", &["docs/deep/*"]), ("@a/b", &["docs/a.md"])],
        &expect![[r#"
        .stan/imports/@a/b/a.md <- /w/r/docs/a.md
        .stan/imports/docs/b.md <- /w/r/docs/deep/b.md
        .stan/imports/docs/c.txt <- /w/r/docs/deep/c.txt
    "#]],
    );
    check(
        TREE,
        &[("other", &["../other/docs/*.md"]), ("abs", &["/srv/*.md"])],
        &expect![[r#"
        .stan/imports/abs/h.md <- /srv/h.md
        .stan/imports/other/[id].md <- /w/other/docs/[id].md
        .stan/imports/other/g.md <- /w/other/docs/g.md
    "#]],
    );
    check(
        TREE,
        &[("one", &["top.md"]), ("two", &["../other/docs/\\[id\\].md"])],
        &expect![[r#"
        .stan/imports/one/top.md <- /w/r/top.md
        .stan/imports/two/[id].md <- /w/other/docs/[id].md
    "#]],
    );
    check(
        TREE,
        &[("both", &["docs/deep/*", "docs/deep/b.md", "top.md"])],
        &expect![[r#"
        .stan/imports/both/b.md <- /w/r/docs/deep/b.md
        .stan/imports/both/c.txt <- /w/r/docs/deep/c.txt
        .stan/imports/both/top.md <- /w/r/top.md
    "#]],
    );
}

#[test]
fn git_and_node_modules_are_entered_only_if_a_glob_names_them() {
    check(
        TREE,
        &[("p", &["node_modules/p/**"])],
        &expect![[r#"
        .stan/imports/p/README.md <- /w/r/node_modules/p/README.md
        .stan/imports/p/lib/x.md <- /w/r/node_modules/p/lib/x.md
    "#]],
    );
    check(
        TREE,
        &[("p", &["**/node_modules/**/*.md"])],
        &expect![[r#"
        .stan/imports/p/docs/node_modules/x/e.md <- /w/r/docs/node_modules/x/e.md
        .stan/imports/p/node_modules/p/README.md <- /w/r/node_modules/p/README.md
        .stan/imports/p/node_modules/p/lib/x.md <- /w/r/node_modules/p/lib/x.md
    "#]],
    );
    check(
        TREE,
        &[("all", &["**/*.md"])],
        &expect![[r#"
        .stan/imports/all/docs/.hidden/d.md <- /w/r/docs/.hidden/d.md
        .stan/imports/all/docs/a.md <- /w/r/docs/a.md
        .stan/imports/all/docs/deep/b.md <- /w/r/docs/deep/b.md
        .stan/imports/all/top.md <- /w/r/top.md
    "#]],
    );
    check(
        TREE,
        &[("system", &[".stan/system/*.md"])],
        &expect![[r#"
        .stan/imports/system/s.md <- /w/r/.stan/system/s.md
    "#]],
    );
    check(
        TREE,
        &[("stan", &[".stan/**"])],
        &expect![[r#"
        .stan/imports/stan/system/s.md <- /w/r/.stan/system/s.md
    "#]],
    );
}

#[test]
fn a_glob_without_matches_gives_a_warning() {
    check(
        TREE,
        &[("a", &["docs/*.rst", "gone/*.md", "docs/a.md/x"]), ("b", &[])],
        &expect![[r#"
            warning: import `a`: docs/a.md was left out: it is not a folder
            warning: import `a`: the glob `docs/*.rst` matched nothing below docs
            warning: import `a`: the glob `docs/a.md/x` matched nothing below docs/a.md
            warning: import `a`: the glob `gone/*.md` matched nothing, because the folder it starts in does not exist
        "#]],
    );
}

#[test]
fn imports_follow_links_that_stay_in_their_folder() {
    let fixture = "
        //- /w/r/docs/a.md
        //- /w/r/docs/sub/b.md
        //- link /w/r/docs/inside.md -> sub/b.md
        //- link /w/r/docs/outside.md -> ../../secret.md
        //- link /w/r/docs/absolute.md -> /w/secret.md
        //- link /w/r/docs/gone.md -> nowhere
        //- link /w/r/docs/loop.md -> loop.md
        //- link /w/r/docs/folder -> sub
        //- link /w/r/docs/up -> ..
        //- link /w/r/docs/other.txt -> ../../secret.md
        //- link /w/r/linked -> docs
        //- /w/secret.md
    ";
    check(
        fixture,
        &[("docs", &["docs/**/*.md"])],
        &expect![[r#"
            .stan/imports/docs/a.md <- /w/r/docs/a.md
            .stan/imports/docs/inside.md <- /w/r/docs/sub/b.md
            .stan/imports/docs/sub/b.md <- /w/r/docs/sub/b.md
            warning: import `docs`: the link docs/absolute.md was left out, because it leads out of the folder that the glob starts in
            warning: import `docs`: the link docs/folder was left out, because links to folders are not followed
            warning: import `docs`: the link docs/gone.md was left out, because it is a dangling or circular link
            warning: import `docs`: the link docs/loop.md was left out, because it is a dangling or circular link
            warning: import `docs`: the link docs/outside.md was left out, because it leads out of the folder that the glob starts in
            warning: import `docs`: the link docs/up was left out, because links to folders are not followed
        "#]],
    );
    check(
        fixture,
        &[("flat", &["docs/*.md"])],
        &expect![[r#"
            .stan/imports/flat/a.md <- /w/r/docs/a.md
            .stan/imports/flat/inside.md <- /w/r/docs/sub/b.md
            warning: import `flat`: the link docs/absolute.md was left out, because it leads out of the folder that the glob starts in
            warning: import `flat`: the link docs/gone.md was left out, because it is a dangling or circular link
            warning: import `flat`: the link docs/loop.md was left out, because it is a dangling or circular link
            warning: import `flat`: the link docs/outside.md was left out, because it leads out of the folder that the glob starts in
        "#]],
    );
    // The user named the folder in which the glob starts, so it may be a link.
    check(
        fixture,
        &[("linked", &["linked/a.md"])],
        &expect![[r#"
        .stan/imports/linked/a.md <- /w/r/docs/a.md
    "#]],
    );
}

#[test]
fn imports_that_overlap_or_are_missing_are_refused() {
    let fixture = "
        //- /w/r/a/x
        //- /w/r/b/x
        //- /w/r/c/x/y
    ";
    check(
        fixture,
        &[("l", &["a/*", "b/*"])],
        &expect![[r#"
            import `l`: /w/r/a/x and /w/r/b/x would both be staged as .stan/imports/l/x; give them labels of their own
        "#]],
    );
    check(
        fixture,
        &[("l", &["a/*", "c/**"])],
        &expect![[r#"
            import `l`: /w/r/a/x would be staged as .stan/imports/l/x, where /w/r/c/x/y needs a folder; give them labels of their own
        "#]],
    );
    check(
        fixture,
        &[("../l", &["a/*"])],
        &expect![[r#"
        the import label `../l` cannot be used, because it contains `..`, which would leave `<stanPath>/imports`
    "#]],
    );
    check(
        fixture,
        &[("l\0", &["a/*"])],
        &expect![[r#"
        the import label `l\u{0}` cannot be used, because it contains a control character
    "#]],
    );
    check(
        fixture,
        &[("l", &["a/*"]), ("l/m", &["b/*"])],
        &expect![[r#"
        the import label `l/m` cannot be used, because its folder is inside that of another label
    "#]],
    );
    check(
        fixture,
        &[("l", &["a/!(x)"])],
        &expect![[r#"
        import `l`: the glob `a/!(x)` cannot be used, because extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
    "#]],
    );
    check(
        TREE,
        &[("l", &[".stan/imports/**"])],
        &expect![[r#"
            import `l`: the glob `.stan/imports/**` reads from .stan/imports, where imports are staged; import from elsewhere
        "#]],
    );
}

#[test]
fn unreadable_imports_are_warnings() {
    let system = MemorySystem::from_fixture(TREE);
    system.set_unreadable("/w/r/docs/deep", true);
    system.set_other("/w/r/docs/pipe.md");
    let plan = plan_of(&system, &[("docs", &["docs/**/*.md"])]).unwrap();
    let targets: Vec<&str> = plan.files.iter().map(|file| file.target.as_str()).collect();
    assert_eq!(targets, [".stan/imports/docs/.hidden/d.md", ".stan/imports/docs/a.md"]);
    let expected = "import `docs`: docs/deep was left out: permission denied";
    assert_eq!(plan.warnings, [expected]);
}

#[test]
fn warnings_are_reported_up_to_a_limit() {
    let system = MemorySystem::new();
    for index in 0..300 {
        system.set_link(format!("/w/r/docs/{index:03}.md"), "gone");
    }
    let plan = plan_of(&system, &[("docs", &["docs/*.md"])]).unwrap();
    assert_eq!(plan.warnings.len(), 101);
    assert!(plan.warnings.contains(&"import `docs`: there are more warnings than 100".to_owned()));
}
