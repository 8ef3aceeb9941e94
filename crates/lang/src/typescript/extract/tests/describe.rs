//! Descriptions of modules.

use super::super::{ExtractOptions, Extractor};

#[track_caller]
fn check(source: &str, expected: Option<&str>) {
    check_limit(160, source, expected);
}

#[track_caller]
fn check_limit(description_limit: usize, source: &str, expected: Option<&str>) {
    let options = ExtractOptions { description_limit, ..ExtractOptions::default() };
    let facts = Extractor::new().extract("a.tsx", source.as_bytes(), &options).facts;
    assert_eq!(facts.description.as_deref(), expected, "{source}");
}

#[test]
fn prose_of_the_tagged_comment() {
    check("/** Prose. @module */", Some("Prose."));
    check("/**\n * Two\n *   lines.\n * @packageDocumentation\n */", Some("Two lines."));
    check("/**\n * @module name\n * Below.\n * @other x\n */", Some("Below."));
    check("/** @module name */", None);
    check("/** @packageDocumentation Beside. */", Some("Beside."));
    check("/**\n * Prose.\n * @author Me\n * @module\n */", Some("Prose."));
    check("/** Prose. */", None);
    check("/* Prose. @module */ // Prose. @module", None);
    check("/** Prose. `@module` @modules {@module} a@module */", None);
    check("/**\n * ```\n * @module\n * ```\n */", None);
    check("let a = '/** A. @module */', b = <a>/** B. @module */</a>, c = `/** C. @module */`", None);
    check("a;\n/** Late. @module */", Some("Late."));
}

#[test]
fn markup_is_reduced() {
    check("/** A {@link B|b}, {@link C c d}, {@link E}. @module */", Some("A b, c d, E."));
    check(
        "/** A `b*c*` **bold** *em* _it_ snake_case_name [text](u) ![alt](u). @module */",
        Some("A b*c* bold em it snake_case_name text alt."),
    );
    check("/** Mail a@b.c of @scope/name. @module */", Some("Mail a@b.c of @scope/name."));
    check("/** `unclosed [x {@link y. @module */", None);
}

#[test]
fn hidden_characters_are_dropped() {
    check("/** A\u{202e}b \u{200b} c\u{e0041}\u{1b}[0m. @module */", Some("Ab c[0m."));
    check(
        "/** \u{26a0}\u{fe0f} \u{1f469}\u{200D}\u{1f680} @module */",
        Some("\u{26a0}\u{fe0f} \u{1f469}\u{200D}\u{1f680}"),
    );
    check("/** \u{200b}\u{feff} @module */", None);
}

#[test]
fn the_longest_wins() {
    check("/** Short. @module */ /** Longer one. @packageDocumentation */", Some("Longer one."));
    check("/** Bb. @packageDocumentation */ /** Aa. @module */", Some("Aa."));
}

#[test]
fn cut_after_characters() {
    check_limit(4, "/** abcd @module */", Some("abcd"));
    check_limit(4, "/** abcde @module */", Some("abcd..."));
    check_limit(4, "/** äöü💡ß @module */", Some("äöü💡..."));
    check_limit(4, "/** abc def @module */", Some("abc..."));
    check_limit(4, "/** abce\u{301}f @module */", Some("abc..."));
    check_limit(4, "/** ab👩\u{200D}🚀c @module */", Some("ab..."));
}
